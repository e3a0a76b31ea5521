//! What instructions do, in a few operations over 64-bit registers.
//!
//! There is one definition of the meaning of each instruction ([`crate::lift`]), and three readers: the interpreter
//! that runs code at load time ([`crate::run`]), the analysis that finds out which values are known
//! ([`crate::flow`]), and the translation to automata ([`crate::emit`]).
//!
//! A value of n bytes is kept without sign, in the low bytes of a value of 64 bits whose other bits are 0. This is
//! what the processor does to a register when its lower half is written, and what cells with a width do.

use weir_ir::{BinaryOp, Expr, UnaryOp, Value};

use crate::limit::LimitKind;

/// A register of the processor, or one that an instruction needs for itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Reg(pub(crate) u8);

impl Reg {
    pub(crate) const AX: Reg = Reg(0);
    pub(crate) const CX: Reg = Reg(1);
    pub(crate) const DX: Reg = Reg(2);
    pub(crate) const BX: Reg = Reg(3);
    pub(crate) const SP: Reg = Reg(4);
    pub(crate) const BP: Reg = Reg(5);
    pub(crate) const SI: Reg = Reg(6);
    pub(crate) const DI: Reg = Reg(7);
    /// Where vector registers begin: two halves each.
    pub(crate) const FIRST_VECTOR: u8 = 16;
    /// Where an instruction's own registers begin. They hold nothing between instructions.
    const FIRST_OWN: u8 = 48;
    /// Where the thread-local storage of the thread ends.
    pub(crate) const FS: Reg = Reg(60);
    /// How many there are.
    pub(crate) const COUNT: usize = 61;

    /// The registers that hold arguments, in order.
    pub(crate) const ARGUMENTS: [Reg; 6] = [Self::DI, Self::SI, Self::DX, Self::CX, Reg(8), Reg(9)];

    /// A register of the instruction's own.
    pub(crate) fn own(number: u8) -> Self {
        Self(Self::FIRST_OWN + number)
    }

    /// Its name.
    pub(crate) fn name(self) -> String {
        const NAMES: [&str; 16] = [
            "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
            "r15",
        ];
        match self.0 {
            number @ ..16 => NAMES[usize::from(number)].to_owned(),
            number @ 16..Self::FIRST_OWN => {
                let half = if number % 2 == 0 { "low" } else { "high" };
                format!("xmm{}.{half}", (number - Self::FIRST_VECTOR) / 2)
            }
            60 => "fs".to_owned(),
            number => format!("_t{}", number - Self::FIRST_OWN),
        }
    }
}

/// What a condition code tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Test {
    Overflow,
    /// Carry.
    Below,
    /// Zero.
    Equal,
    BelowOrEqual,
    Sign,
    Parity,
    Less,
    LessOrEqual,
}

impl Test {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Below => "below",
            Self::Equal => "equal",
            Self::BelowOrEqual => "below_or_equal",
            Self::Sign => "sign",
            Self::Parity => "parity",
            Self::Less => "less",
            Self::LessOrEqual => "less_or_equal",
        }
    }
}

/// What an expression reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Leaf {
    /// All 64 bits of a register.
    Reg(Reg),
    /// Whether a test of the flags holds: 0 or 1.
    Test(Test),
}

/// An expression over registers and flags.
pub(crate) type E = Expr<Leaf>;

/// What a locked instruction does to memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// Writes the value.
    Exchange(E),
    /// Writes the second value if memory holds the first.
    CompareExchange(E, E),
    /// Combines memory with the value; the result is cut to the size.
    Fetch(weir_ir::BinaryRmw, E),
}

/// One operation. Expressions are evaluated before anything changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    /// Writes all 64 bits of a register.
    Set(Reg, E),
    /// Writes a register if the condition is not 0.
    SetIf(E, Reg, E),
    /// Loads so many bytes; the other bits become 0.
    Load { to: Reg, address: E, size: u32 },
    /// Stores the low bytes.
    Store { address: E, value: E, size: u32 },
    /// Reads and writes memory in one step. The register receives what memory held.
    Change { to: Reg, address: E, size: u32, change: Change },
    /// Compares and exchanges 16 bytes in one step: the low half and the high half of each value. The registers receive
    /// what memory held.
    ChangePair { to: (Reg, Reg), address: E, expected: (E, E), new: (E, E) },
    /// A full fence.
    Fence,
    /// A full fence on behalf of all threads.
    Membarrier,
    /// Sets what a test of the flags tells; `None` if the processor leaves it undefined, or it is not supported.
    Flag(Test, Option<E>),
    /// Fails unless the condition holds: the processor would raise an exception.
    Check(E),
    /// The model ends unless the condition holds.
    Limit(E, LimitKind),
}

/// Where control goes after an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// On.
    Fall,
    /// There.
    Jump(u64),
    /// There if the condition is not 0, else on.
    Branch(E, u64),
    /// Wherever the value says.
    JumpTo(E),
    /// Calls; the address to return to is that of the next instruction.
    Call(E),
    Return,
    /// Raises an exception.
    Trap,
    /// Does this as often as the count register says, which is 0 afterwards, and goes on.
    Repeat(Vec<Op>),
}

/// How the accesses of an instruction belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Each is one of its own.
    Single,
    /// They are parts of a larger one, which the processor may make at once or not.
    Wide,
    /// The processor may make them in any order.
    Unordered,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Lifted {
    pub(crate) ops: Vec<Op>,
    pub(crate) next: Next,
    /// The address of the next instruction.
    pub(crate) end: u64,
    pub(crate) shape: Shape,
}

/// A constant.
pub(crate) fn constant(value: Value) -> E {
    Expr::Const(value)
}

/// A register.
pub(crate) fn register(reg: Reg) -> E {
    Expr::Leaf(Leaf::Reg(reg))
}

/// A test of the flags.
pub(crate) fn test(test: Test) -> E {
    Expr::Leaf(Leaf::Test(test))
}

/// An operation, worked out at once where both sides are known.
pub(crate) fn binary<L>(op: BinaryOp, left: Expr<L>, right: Expr<L>) -> Expr<L> {
    match (left, right) {
        (Expr::Const(left), Expr::Const(right)) => Expr::Const(op.apply(left, right)),
        (left, Expr::Const(0))
            if matches!(
                op,
                BinaryOp::Add | BinaryOp::Subtract | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::ShiftLeft
            ) =>
        {
            left
        }
        (left, right) => Expr::binary(op, left, right),
    }
}

/// All parts under one operator, as a tree that is not deep; `None` if there are none.
pub(crate) fn balanced<L>(op: BinaryOp, mut parts: Vec<Expr<L>>) -> Option<Expr<L>> {
    while parts.len() > 1 {
        let right = parts.split_off(parts.len() / 2 + parts.len() % 2);
        let mut right = right.into_iter();
        parts = parts
            .into_iter()
            .map(|left| match right.next() {
                Some(right) => Expr::binary(op, left, right),
                None => left,
            })
            .collect();
    }
    parts.pop()
}

/// `!operand`.
pub(crate) fn not<L: Clone>(operand: Expr<L>) -> Expr<L> {
    match operand {
        Expr::Const(value) => Expr::Const(UnaryOp::Not.apply(value)),
        operand => operand.negated(),
    }
}

/// Ones in the low `size` bytes.
pub(crate) fn mask(size: u32) -> Value {
    if size >= 8 { -1 } else { (1 << (8 * size)) - 1 }
}

/// The highest bit of `size` bytes.
pub(crate) fn sign_bit(size: u32) -> Value {
    1 << (8 * size.min(8) - 1)
}

/// The low `size` bytes.
pub(crate) fn cut<L>(value: Expr<L>, size: u32) -> Expr<L> {
    if size >= 8 { value } else { binary(BinaryOp::BitAnd, value, Expr::Const(mask(size))) }
}

/// The value of `size` bytes with its sign.
pub(crate) fn signed<L>(value: Expr<L>, size: u32) -> Expr<L> {
    if size >= 8 {
        return value;
    }
    let count = Value::from(64 - 8 * size);
    let shifted = binary(BinaryOp::ShiftLeft, value, Expr::Const(count));
    binary(BinaryOp::ShiftRight, shifted, Expr::Const(count))
}

/// `left < right` for values of `size` bytes, without sign.
pub(crate) fn below<L>(left: Expr<L>, right: Expr<L>, size: u32) -> Expr<L> {
    if size < 8 {
        return binary(BinaryOp::Less, left, right);
    }
    let flip = |value| binary(BinaryOp::BitXor, value, Expr::Const(Value::MIN));
    binary(BinaryOp::Less, flip(left), flip(right))
}

/// A shift to the right by a known number of bits that fills with zeros.
pub(crate) fn shift_right<L>(value: Expr<L>, count: u32) -> Expr<L> {
    if count == 0 {
        return value;
    }
    let shifted = binary(BinaryOp::ShiftRight, value, Expr::Const(count.into()));
    binary(BinaryOp::BitAnd, shifted, Expr::Const((u64::MAX >> count.min(63)) as Value))
}

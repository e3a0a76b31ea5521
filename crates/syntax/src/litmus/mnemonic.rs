//! Names of instructions.

use super::register::Flag;

/// What an instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Move,
    /// `LEA`: the address instead of what is there.
    LoadAddress,
    /// Combines the destination with the source.
    Binary(Binary),
    /// Sets flags as the operation would, and drops the result.
    Compare(Binary),
    Unary(Unary),
    /// By a constant.
    Shift(Shift),
    /// Atomic when there is memory in it.
    Exchange,
    /// Never atomic: herd's `UXCH`.
    UnlockedExchange,
    CompareExchange,
    ExchangeAdd,
    /// Reads and drops.
    Read,
    Set(Condition),
    MoveIf(Condition),
    Jump,
    JumpIf(Condition),
    /// `RET`: the thread ends.
    Return,
    Fence,
    /// Nothing that others could see: `NOP`, `PAUSE`, and the fences that order nothing under TSO.
    Nothing,
}

/// Operations on two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    Add,
    Subtract,
    And,
    Or,
    Xor,
}

/// Operations on one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unary {
    Increment,
    Decrement,
    Negate,
    Not,
}

/// Shifts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    Left,
    Right,
    ArithmeticRight,
}

/// What flags must say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Condition {
    pub(super) test: Test,
    pub(super) is_negated: bool,
}

/// The tests that the condition codes are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Test {
    /// One flag.
    Flag(Flag),
    /// Carry or zero: at most, unsigned.
    BelowOrEqual,
    /// Sign is not overflow: less, signed.
    Less,
    /// That, or zero.
    LessOrEqual,
}

impl Test {
    /// The flags it reads.
    pub(super) fn flags(self) -> &'static [Flag] {
        match self {
            Self::Flag(Flag::Zero) => &[Flag::Zero],
            Self::Flag(Flag::Sign) => &[Flag::Sign],
            Self::Flag(Flag::Carry) => &[Flag::Carry],
            Self::Flag(Flag::Overflow) => &[Flag::Overflow],
            Self::BelowOrEqual => &[Flag::Carry, Flag::Zero],
            Self::Less => &[Flag::Sign, Flag::Overflow],
            Self::LessOrEqual => &[Flag::Zero, Flag::Sign, Flag::Overflow],
        }
    }
}

impl Operation {
    /// How many operands it takes, beside the label of a jump.
    pub(super) fn arity(self) -> usize {
        match self {
            Self::Jump | Self::JumpIf(_) | Self::Return | Self::Fence | Self::Nothing => 0,
            Self::Unary(_) | Self::Set(_) | Self::Read => 1,
            _ => 2,
        }
    }

    pub(super) fn is_jump(self) -> bool {
        matches!(self, Self::Jump | Self::JumpIf(_))
    }

    /// Whether `LOCK` can stand before it.
    pub(super) fn is_lockable(self) -> bool {
        matches!(self, Self::Binary(_) | Self::Unary(_) | Self::Exchange | Self::CompareExchange | Self::ExchangeAdd)
    }

    /// Whether a letter for the size can follow its name.
    fn takes_suffix(self) -> bool {
        !self.is_jump() && !matches!(self, Self::Fence | Self::Return | Self::Set(_))
    }

    /// Whether it sets flags.
    pub(super) fn sets_flags(self) -> bool {
        matches!(
            self,
            Self::Binary(_)
                | Self::Compare(_)
                | Self::Unary(Unary::Increment | Unary::Decrement | Unary::Negate)
                | Self::Shift(_)
                | Self::CompareExchange
                | Self::ExchangeAdd
        )
    }
}

const PLAIN: [(&str, Operation); 30] = [
    ("mov", Operation::Move),
    ("lea", Operation::LoadAddress),
    ("add", Operation::Binary(Binary::Add)),
    ("sub", Operation::Binary(Binary::Subtract)),
    ("and", Operation::Binary(Binary::And)),
    ("or", Operation::Binary(Binary::Or)),
    ("xor", Operation::Binary(Binary::Xor)),
    ("cmp", Operation::Compare(Binary::Subtract)),
    ("test", Operation::Compare(Binary::And)),
    ("inc", Operation::Unary(Unary::Increment)),
    ("dec", Operation::Unary(Unary::Decrement)),
    ("neg", Operation::Unary(Unary::Negate)),
    ("not", Operation::Unary(Unary::Not)),
    ("shl", Operation::Shift(Shift::Left)),
    ("sal", Operation::Shift(Shift::Left)),
    ("shr", Operation::Shift(Shift::Right)),
    ("sar", Operation::Shift(Shift::ArithmeticRight)),
    ("xchg", Operation::Exchange),
    ("uxch", Operation::UnlockedExchange),
    ("cmpxchg", Operation::CompareExchange),
    ("xadd", Operation::ExchangeAdd),
    ("read", Operation::Read),
    ("jmp", Operation::Jump),
    ("ret", Operation::Return),
    ("endbr64", Operation::Nothing),
    ("mfence", Operation::Fence),
    ("lfence", Operation::Nothing),
    ("sfence", Operation::Nothing),
    ("nop", Operation::Nothing),
    ("pause", Operation::Nothing),
];

const CONDITIONS: [(&[&str], Test, bool); 14] = [
    (&["e", "z"], Test::Flag(Flag::Zero), false),
    (&["ne", "nz"], Test::Flag(Flag::Zero), true),
    (&["s"], Test::Flag(Flag::Sign), false),
    (&["ns"], Test::Flag(Flag::Sign), true),
    (&["c", "b", "nae"], Test::Flag(Flag::Carry), false),
    (&["nc", "nb", "ae"], Test::Flag(Flag::Carry), true),
    (&["o"], Test::Flag(Flag::Overflow), false),
    (&["no"], Test::Flag(Flag::Overflow), true),
    (&["be", "na"], Test::BelowOrEqual, false),
    (&["nbe", "a"], Test::BelowOrEqual, true),
    // `lt` and `gt` are herd's; the processor's manual says `l` and `g`.
    (&["l", "lt", "nge"], Test::Less, false),
    (&["ge", "nl"], Test::Less, true),
    (&["le", "ng"], Test::LessOrEqual, false),
    (&["g", "gt", "nle"], Test::LessOrEqual, true),
];

/// Instructions that exist, but that store buffers alone do not explain.
const NOT_TSO: [&str; 12] = [
    "movnti",
    "movntil",
    "movntiq",
    "movntdqa",
    "movntdq",
    "movntps",
    "movd",
    "movsd",
    "movt",
    "clflush",
    "clflushopt",
    "clwb",
];

/// The instruction of this name, and its size in bytes if the name says so.
pub(super) fn lookup(name: &str) -> Option<(Operation, Option<u32>)> {
    let name = name.to_ascii_lowercase();
    if let Some(operation) = unsized_operation(&name) {
        return Some((operation, None));
    }
    let (stem, size) = match name.split_at_checked(name.len().checked_sub(1)?)? {
        (stem, "b") => (stem, 1),
        (stem, "w") => (stem, 2),
        (stem, "l") => (stem, 4),
        (stem, "q") => (stem, 8),
        _ => return None,
    };
    let operation = unsized_operation(stem).filter(|operation| operation.takes_suffix())?;
    Some((operation, Some(size)))
}

fn unsized_operation(name: &str) -> Option<Operation> {
    if let Some((_, operation)) = PLAIN.iter().find(|(known, _)| *known == name) {
        return Some(*operation);
    }
    if let Some(code) = name.strip_prefix("cmov") {
        return condition(code).map(Operation::MoveIf);
    }
    if let Some(code) = name.strip_prefix("set") {
        return condition(code).map(Operation::Set);
    }
    name.strip_prefix('j').and_then(condition).map(Operation::JumpIf)
}

fn condition(code: &str) -> Option<Condition> {
    let (_, test, is_negated) = CONDITIONS.iter().find(|(names, _, _)| names.contains(&code))?;
    Some(Condition { test: *test, is_negated: *is_negated })
}

/// Whether the instruction exists, but is not about ordinary memory under TSO.
pub(super) fn is_beyond_tso(name: &str) -> bool {
    NOT_TSO.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Names for suggestions.
pub(super) fn known_names() -> impl Iterator<Item = &'static str> {
    PLAIN.iter().map(|(name, _)| *name).chain(["movl", "movq", "je", "jne", "jl", "jg", "setb", "setnb", "cmovc"])
}

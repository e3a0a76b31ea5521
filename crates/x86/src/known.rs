//! What is known about values before the program runs: some are the same in every run.

use std::collections::BTreeMap;

use weir_ir::{BinaryOp, Expr, UnaryOp, Value};

use crate::ops::{E, Leaf, Reg, Test, mask};

/// What is known about a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    /// It is always this.
    Const(Value),
    /// Some of its bits are known, perhaps none.
    Any {
        /// The bits that are known to be 1.
        ones: u64,
        /// The bits that are not known.
        open: u64,
        /// Whether it may hold an address of the thread's own stack.
        is_private: bool,
    },
}

/// Addresses have more bits than this.
const ADDRESS_BITS: u8 = 40;

/// Where the stacks of threads are.
pub(crate) const STACKS: Value = 0x7000_0000_0000;
/// How far apart they are.
const STACK_STRIDE: Value = 0x100_0000;

/// Where the stack of a thread ends.
pub(crate) fn stack_end(thread: usize) -> Value {
    STACKS + (thread as Value + 1) * STACK_STRIDE
}

/// Whether an address lies in the stack of some thread.
pub(crate) fn is_private(address: Value) -> bool {
    (STACKS..STACKS + 0x1000 * STACK_STRIDE).contains(&address)
}

impl Known {
    /// A value of at most so many bits, without sign.
    pub(crate) fn any(bits: u8, is_private: bool) -> Self {
        Self::Any { ones: 0, open: low_ones(bits), is_private }
    }

    /// The same, if it is no address of the stack.
    pub(crate) fn public(bits: u8) -> Self {
        Self::any(bits, false)
    }

    /// A value of which some bits are known.
    fn partly(ones: u64, open: u64, is_private: bool) -> Self {
        let is_private = is_private && 64 - (ones | open).leading_zeros() >= u32::from(ADDRESS_BITS);
        if open == 0 { Self::Const(ones as Value) } else { Self::Any { ones: ones & !open, open, is_private } }
    }

    /// The bits that are known to be 1, and those that are not known.
    fn parts(self) -> (u64, u64) {
        match self {
            Self::Const(value) => (value as u64, 0),
            Self::Any { ones, open, .. } => (ones, open),
        }
    }

    /// How many bits it has at most, without sign.
    pub(crate) fn bits(self) -> u8 {
        let (ones, open) = self.parts();
        (64 - (ones | open).leading_zeros()) as u8
    }

    pub(crate) fn is_private(self) -> bool {
        match self {
            Self::Const(value) => is_private(value),
            Self::Any { is_private, .. } => is_private,
        }
    }

    pub(crate) fn constant(self) -> Option<Value> {
        match self {
            Self::Const(value) => Some(value),
            Self::Any { .. } => None,
        }
    }

    /// What is known if either is the case.
    pub(crate) fn join(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let is_private = self.is_private() || other.is_private();
        if self.bits().max(other.bits()) <= 1 {
            return Self::any(1, is_private);
        }
        // Whole bytes, so that loops settle soon. A byte that is known and the same in both stays known. Few bits stay
        // few: they may be the index of a table.
        let ((ones, open), (others, other_open)) = (self.parts(), other.parts());
        let differing = open | other_open | ones ^ others;
        let whole = differing.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xFF });
        let width = (64 - differing.leading_zeros()) as u8;
        let open = if width <= FEW_BITS { low_ones(width) } else { u64::from_le_bytes(whole) };
        Self::Any { ones: ones & !open, open, is_private }
    }

    /// So many bytes of it, from a byte on.
    fn part(self, from: u32, size: u32) -> Self {
        let moved = |bits: u64| if from >= 8 { 0 } else { (bits >> (8 * from)) & mask(size) as u64 };
        let (ones, open) = self.parts();
        match self {
            Self::Const(_) => Self::Const(moved(ones) as Value),
            // A part of an address is still one: it may be put together again.
            Self::Any { is_private, .. } => match moved(open) {
                0 => Self::Const(moved(ones) as Value),
                open => Self::Any { ones: moved(ones), open, is_private },
            },
        }
    }
}

/// Indices of tables that no comparison bounds have hardly ever more bits.
const FEW_BITS: u8 = 5;

/// Ones in the low bits.
fn low_ones(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// What is known at a point of the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) registers: [Known; Reg::COUNT],
    pub(crate) flags: [Known; 8],
    /// What the stack holds: the size in bytes and the value, by address; apart from each other.
    stack: BTreeMap<Value, (u32, Known)>,
    /// Whether something was forgotten that may be an address of the stack.
    has_lost: bool,
}

impl State {
    /// Everything is 0.
    pub(crate) fn new() -> Self {
        Self {
            registers: [Known::Const(0); Reg::COUNT],
            flags: [Known::public(1); 8],
            stack: BTreeMap::new(),
            has_lost: false,
        }
    }

    pub(crate) fn register(&self, reg: Reg) -> Known {
        self.registers[usize::from(reg.0)]
    }

    pub(crate) fn set(&mut self, reg: Reg, value: Known) {
        self.registers[usize::from(reg.0)] = value;
    }

    pub(crate) fn flag(&self, test: Test) -> Known {
        self.flags[test as usize]
    }

    /// What is known about an expression.
    pub(crate) fn value(&self, expr: &E) -> Known {
        match expr {
            Expr::Const(value) => Known::Const(*value),
            Expr::Leaf(Leaf::Reg(reg)) => self.register(*reg),
            Expr::Leaf(Leaf::Test(test)) => self.flag(*test),
            Expr::Unary(op, operand) => unary(*op, self.value(operand)),
            Expr::Binary(op, left, right) => binary(*op, self.value(left), self.value(right)),
        }
    }

    /// What the stack holds at an address.
    pub(crate) fn load(&self, address: Value, size: u32) -> Known {
        let mut found: Option<Known> = None;
        let mut covered = 0;
        for (&at, &(length, value)) in self.overlapping(address, size) {
            if at <= address && at + Value::from(length) >= address + Value::from(size) {
                return value.part((address - at) as u32, size);
            }
            let (start, end) = (at.max(address), (at + Value::from(length)).min(address + Value::from(size)));
            covered += end - start;
            let is_private = found.is_some_and(Known::is_private) || value.is_private();
            found = Some(Known::any(8 * size.min(8) as u8, is_private));
        }
        let is_private = found.is_some_and(Known::is_private) || (covered < Value::from(size) && self.has_lost);
        Known::any((8 * size.min(8)) as u8, is_private)
    }

    /// Entries that share bytes with these.
    fn overlapping(&self, address: Value, size: u32) -> impl Iterator<Item = (&Value, &(u32, Known))> {
        let end = address.saturating_add(size.into());
        // No entry is longer than 8 bytes.
        self.stack
            .range(address.saturating_sub(8)..end)
            .filter(move |&(&at, &(length, _))| at.saturating_add(length.into()) > address)
    }

    /// Stores to the stack.
    pub(crate) fn store(&mut self, address: Value, size: u32, value: Known) {
        let old: Vec<(Value, u32, Known)> =
            self.overlapping(address, size).map(|(&at, &(length, value))| (at, length, value)).collect();
        let end = address + Value::from(size);
        for (at, length, known) in old {
            self.stack.remove(&at);
            if at < address {
                let kept = (address - at) as u32;
                self.stack.insert(at, (kept, known.part(0, kept)));
            }
            let rest = at + Value::from(length) - end;
            if rest > 0 {
                self.stack.insert(end, (rest as u32, known.part((end - at) as u32, rest as u32)));
            }
        }
        self.stack.insert(address, (size, value.part(0, size)));
    }

    /// What is known if control comes from either. Whether this changed anything.
    pub(crate) fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (known, other) in self.registers.iter_mut().zip(&other.registers) {
            *known = known.join(*other);
        }
        for (known, other) in self.flags.iter_mut().zip(&other.flags) {
            *known = known.join(*other);
        }
        let mut lost = self.has_lost || other.has_lost;
        let stack = std::mem::take(&mut self.stack);
        lost |= other.stack.iter().any(|(at, (_, value))| value.is_private() && !stack.contains_key(at));
        for (at, (size, value)) in stack {
            match other.stack.get(&at) {
                Some(&(length, known)) if length == size => {
                    self.stack.insert(at, (size, value.join(known)));
                }
                _ => lost |= value.is_private(),
            }
        }
        self.has_lost = lost;
        *self != before
    }
}

fn unary(op: UnaryOp, operand: Known) -> Known {
    match (op, operand) {
        (op, Known::Const(value)) => Known::Const(op.apply(value)),
        (UnaryOp::Not, _) => Known::public(1),
        (_, operand) => Known::any(64, operand.is_private()),
    }
}

fn binary(op: BinaryOp, left: Known, right: Known) -> Known {
    if let (Known::Const(left), Known::Const(right)) = (left, right) {
        return Known::Const(op.apply(left, right));
    }
    let is_private = left.is_private() || right.is_private();
    let ((l, l_open), (r, r_open)) = (left.parts(), right.parts());
    let count = right.constant().map(|count| (count & 63) as u32);
    let (ones, open) = match (op, count) {
        (BinaryOp::BitAnd, _) => {
            let both = (l | l_open) & (r | r_open);
            (l & r, both & !(l & r))
        }
        (BinaryOp::BitOr, _) => (l | r, (l_open | r_open) & !(l | r)),
        (BinaryOp::BitXor, _) => ((l ^ r) & !(l_open | r_open), l_open | r_open),
        (BinaryOp::ShiftLeft, Some(count)) => (l << count, l_open << count),
        // The sign is shifted in; if it is not known, neither is what comes of it.
        (BinaryOp::ShiftRight, Some(count)) => ((l as Value >> count) as u64, (l_open as Value >> count) as u64),
        // Carries make bits unknown from the lowest unknown one on, as far as they can get.
        (BinaryOp::Add, _) => {
            let sum = l.wrapping_add(r);
            let carries = sum.wrapping_add(l_open).wrapping_add(r_open) ^ sum;
            let open = carries | l_open | r_open;
            (sum & !open, open)
        }
        _ => (0, low_ones(bits(op, left.bits(), right.bits()))),
    };
    match op {
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or => Known::public(1),
        _ => Known::partly(ones, open, is_private),
    }
}

/// How many bits a result has at most.
fn bits(op: BinaryOp, l: u8, r: u8) -> u8 {
    match op {
        BinaryOp::Multiply => (l + r).min(64),
        BinaryOp::ShiftRight if l < 64 => l,
        BinaryOp::Divide if l < 64 && r < 64 => l,
        BinaryOp::Remainder if l < 64 && r < 64 => l.min(r),
        _ => 64,
    }
}

#[cfg(test)]
mod tests {
    use weir_testkit::Rng;

    use super::*;

    /// Whether a value is one of those that something is known about.
    fn admits(known: Known, value: Value) -> bool {
        let (ones, open) = known.parts();
        (value as u64 ^ ones) & !open == 0
    }

    #[test]
    fn what_is_known_holds_for_every_value() {
        let mut rng = Rng::new(1);
        for _ in 0..200_000 {
            let mut side = || {
                let open = match rng.below(4) {
                    0 => 0,
                    1 => low_ones(rng.below(65) as u8),
                    _ => rng.bits() & rng.bits(),
                };
                let ones = rng.bits() >> rng.below(64) & !open;
                let known =
                    if open == 0 { Known::Const(ones as Value) } else { Known::Any { ones, open, is_private: false } };
                (known, (ones | rng.bits() & open) as Value)
            };
            let ((left, a), (right, b)) = (side(), side());
            for op in BinaryOp::ALL {
                let (known, value) = (binary(op, left, right), op.apply(a, b));
                assert!(admits(known, value), "{left:?} {} {right:?} is {known:?}, not {value:x}", op.symbol());
            }
            for op in [UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement] {
                assert!(admits(unary(op, left), op.apply(a)));
            }
            assert!(admits(left.join(right), a) && admits(left.join(right), b));
            assert!(admits(left.part(2, 4), (a as u64 >> 16) as Value & mask(4)));
        }
    }
}

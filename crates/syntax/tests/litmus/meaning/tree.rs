//! Litmus tests as trees: what an assembler and the herd tools would make of the text.

/// Bytes of an access: 1, 2, 4 or 8.
pub(super) type Size = u32;

/// The names of the general registers' parts: 64, 32, 16 and 8 bits.
pub(super) const NAMES: [[&str; 4]; 10] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r15", "r15d", "r15w", "r15b"],
];

/// The second bytes of the first registers.
pub(super) const HIGH: [&str; 4] = ["ah", "bh", "ch", "dh"];

/// A register by number and part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Register {
    pub(super) number: usize,
    pub(super) size: Size,
    pub(super) is_high: bool,
}

impl Register {
    pub(super) fn new(number: usize, size: Size) -> Self {
        Self { number, size, is_high: false }
    }

    pub(super) fn name(self) -> &'static str {
        let column = match self.size {
            8 => 0,
            4 => 1,
            2 => 2,
            _ => 3,
        };
        if self.is_high { HIGH[self.number] } else { NAMES[self.number][column] }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Operand {
    Number(i64),
    /// `$x`: the address of a cell.
    AddressOf(String),
    Register(Register),
    Cell(String),
    /// `offset(base,index,scale)`
    Computed {
        base: Register,
        offset: i64,
        index: Option<(Register, i64)>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Instruction {
    pub(super) is_locked: bool,
    /// In lower case, without the letter for the size.
    pub(super) name: String,
    /// The letter for the size is written.
    pub(super) has_suffix: bool,
    pub(super) size: Size,
    /// The destination first.
    pub(super) operands: Vec<Operand>,
    /// Where a jump leads.
    pub(super) target: Option<String>,
    /// Labels before it.
    pub(super) labels: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) name: String,
    /// The elements of an array.
    pub(super) length: Option<usize>,
    /// The declared type.
    pub(super) declared: Option<&'static str>,
    pub(super) size: Size,
    pub(super) is_signed: bool,
    pub(super) initial: Vec<Initial>,
}

/// A value at the start.
#[derive(Clone, Debug)]
pub(super) enum Initial {
    Number(i64),
    Address(String),
}

/// What the initial state says of a register.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) register: Register,
    pub(super) value: Option<Initial>,
    /// The type, its size and whether it has a sign.
    pub(super) declared: Option<(&'static str, Size, bool)>,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    /// `0` for `P0`.
    pub(super) number: usize,
    pub(super) registers: Vec<Declared>,
    pub(super) code: Vec<Instruction>,
    /// Labels behind the last instruction.
    pub(super) last_labels: Vec<String>,
}

/// Something that a condition mentions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    Register(usize, Register),
    /// `zf`, `sf`, `cf`, `of`.
    Flag(usize, usize),
    Cell(String, Option<usize>),
}

#[derive(Clone, Debug)]
pub(super) enum Condition {
    Equal(Place, i64),
    IsAddress(Place, String),
    SamePlace(Place, Place),
    Elements(String, Vec<i64>),
    Not(Box<Condition>),
    /// `left != right`, which is written so.
    Differs(Place, i64),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Implies(Box<Condition>, Box<Condition>),
    True,
    False,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantifier {
    Exists,
    NotExists,
    Forall,
}

#[derive(Clone, Debug)]
pub(super) struct Test {
    /// 64 bits, the destination last.
    pub(super) is_wide: bool,
    pub(super) cells: Vec<Cell>,
    pub(super) threads: Vec<Thread>,
    pub(super) locations: Vec<Place>,
    pub(super) filter: Option<Condition>,
    pub(super) quantifier: Quantifier,
    pub(super) condition: Condition,
    /// Which of the ways to write a thing is taken.
    pub(super) style: u64,
}

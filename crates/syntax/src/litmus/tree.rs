//! A litmus test as it is written.

use weir_ir::{Span, Value};

use super::header::Header;
use super::mnemonic::Operation;
use super::register::RegisterName;
use super::types::Type;

/// A whole test.
#[derive(Debug)]
pub(super) struct Test {
    pub(super) header: Header,
    pub(super) initial: Vec<Initial>,
    pub(super) threads: Vec<Column>,
    pub(super) question: Question,
}

/// A cell: a scalar, or an element of an array.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct CellName {
    pub(super) name: String,
    pub(super) index: Option<usize>,
}

/// Something that has a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Place {
    /// A register of the thread of this number.
    Register(usize, RegisterName),
    Cell(CellName),
}

/// A value that is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Constant {
    Number(Value),
    Address(CellName),
}

/// A part of the initial state.
#[derive(Clone, Debug)]
pub(super) struct Initial {
    pub(super) place: Place,
    /// The type, if there is one.
    pub(super) declared: Option<Type>,
    /// The number of elements of an array.
    pub(super) length: Option<usize>,
    /// The values: one, or one for each element. Zero if there are none.
    pub(super) values: Vec<Constant>,
    pub(super) span: Span,
}

/// A thread: its column of the table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// `0` for `P0`.
    pub(super) number: usize,
    pub(super) span: Span,
    /// Labels, and the number of the instruction after each.
    pub(super) labels: Vec<(String, usize, Span)>,
    pub(super) instructions: Vec<Instruction>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    pub(super) operation: Operation,
    pub(super) is_locked: bool,
    /// Bytes, if the mnemonic says so.
    pub(super) suffix: Option<u32>,
    /// The destination first, whatever the syntax.
    pub(super) operands: Vec<Operand>,
    /// Where a jump leads.
    pub(super) target: Option<(String, Span)>,
    pub(super) span: Span,
}

/// What an instruction works on.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) kind: OperandKind,
    pub(super) span: Span,
}

/// The kinds of operands.
#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    Immediate(Constant),
    Register(RegisterName),
    Memory(Memory),
}

/// A place in memory.
#[derive(Clone, Debug)]
pub(super) enum Memory {
    Cell(String),
    /// `offset + base + index * scale`.
    Computed {
        base: RegisterName,
        offset: Value,
        index: Option<(RegisterName, Value)>,
    },
}

/// What the test asks about its final states.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) locations: Vec<(Place, Span)>,
    pub(super) filter: Option<Proposition>,
    pub(super) quantifier: Quantifier,
    pub(super) condition: Proposition,
    pub(super) span: Span,
}

/// How the condition of a litmus test is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantifier {
    /// `exists C`: some final state meets C.
    Exists,
    /// `~exists C`: none does.
    NotExists,
    /// `forall C`: all do.
    Forall,
}

/// A condition on a final state.
#[derive(Clone, Debug)]
pub(super) enum Proposition {
    Atom(Atom),
    Not(Box<Proposition>),
    And(Vec<Proposition>),
    Or(Vec<Proposition>),
    Implies(Box<Proposition>, Box<Proposition>),
}

/// `left = right`.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    pub(super) left: Place,
    pub(super) right: Comparand,
    pub(super) span: Span,
}

/// What a place is compared with.
#[derive(Clone, Debug)]
pub(super) enum Comparand {
    Constant(Constant),
    Place(Place),
    /// `{1, 2}`: the elements of an array.
    Elements(Vec<Constant>),
}

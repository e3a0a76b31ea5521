//! Syntax trees: what is written, with macros expanded.

use weir_ir::{Expr, Range, Span, Value};

/// A name as it is written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Name<'s> {
    pub(super) text: &'s str,
    pub(super) span: Span,
}

/// An expression over registers; conditions are expressions, too.
pub(super) type RegisterExpr<'s> = Expr<Name<'s>>;

/// A program.
#[derive(Debug)]
pub(super) struct File<'s> {
    pub(super) forbidden: Vec<Row<'s>>,
    /// Where `predicates` stands, if it does.
    pub(super) predicates: Option<Span>,
    pub(super) globals: Vec<Declaration<'s>>,
    pub(super) processes: Vec<Process<'s>>,
}

/// One combination of labels; `None` means `*`.
#[derive(Debug)]
pub(super) struct Row<'s> {
    pub(super) labels: Vec<Option<Name<'s>>>,
    pub(super) span: Span,
}

/// A memory location or register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declaration<'s> {
    pub(super) name: Name<'s>,
    /// `None` means `*`, any value.
    pub(super) initial: Option<Value>,
    /// `None` means all integers.
    pub(super) domain: Option<Range>,
    pub(super) span: Span,
}

/// A declaration of processes.
#[derive(Debug)]
pub(super) struct Process<'s> {
    pub(super) count: usize,
    pub(super) data: Vec<Declaration<'s>>,
    pub(super) registers: Vec<Declaration<'s>>,
    pub(super) text: Vec<Labelled<'s>>,
    pub(super) span: Span,
}

/// A statement, perhaps with a label.
#[derive(Debug)]
pub(super) struct Labelled<'s> {
    pub(super) label: Option<Name<'s>>,
    pub(super) statement: Statement<'s>,
}

/// A statement.
#[derive(Debug)]
pub(super) struct Statement<'s> {
    pub(super) kind: StatementKind<'s>,
    pub(super) span: Span,
}

/// What a statement does.
#[derive(Debug)]
pub(super) enum StatementKind<'s> {
    Nop,
    Assign(Name<'s>, RegisterExpr<'s>),
    Assume(RegisterExpr<'s>),
    /// `read: $r := x`.
    ReadInto(Name<'s>, Cell<'s>),
    /// `read: x = e`: waits until it is so.
    ReadEqual(Cell<'s>, RegisterExpr<'s>),
    Write(Cell<'s>, RegisterExpr<'s>),
    CompareAndSwap(Cell<'s>, RegisterExpr<'s>, RegisterExpr<'s>),
    Fence,
    If(RegisterExpr<'s>, Box<Labelled<'s>>, Option<Box<Labelled<'s>>>),
    While(RegisterExpr<'s>, Box<Labelled<'s>>),
    Goto(Name<'s>),
    Sequence(Vec<Labelled<'s>>),
    Either(Vec<Vec<Labelled<'s>>>),
    Locked(Vec<Vec<Labelled<'s>>>),
    /// Something that TSO gives for free, with the statement that it comes down to.
    Weaker(&'static str, Box<StatementKind<'s>>),
}

/// A memory location.
#[derive(Debug)]
pub(super) enum Cell<'s> {
    Global(Name<'s>),
    /// `x[my]`.
    Own(Name<'s>),
    /// `x[N]`: of the N-th of the other processes.
    Other(Name<'s>, usize),
    /// `[e]`: the global location of that number.
    Pointer(RegisterExpr<'s>, Span),
}

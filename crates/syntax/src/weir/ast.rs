//! The program as it was written. Names are slices of the source; nothing is resolved yet.
//!
//! The parser bounds the depth of these trees, so recursion over them is safe.

use weir_ir::{BinaryOp, BinaryRmw, Span, UnaryOp, Value, Width};

/// A name where it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name<'s> {
    pub(crate) text: &'s str,
    pub(crate) span: Span,
}

/// A whole file.
#[derive(Default, Debug)]
pub(crate) struct File<'s> {
    pub(crate) constants: Vec<Constant<'s>>,
    pub(crate) shared: Vec<SharedDecl<'s>>,
    /// `let a, b;` outside threads and procedures.
    pub(crate) thread_locals: Vec<Name<'s>>,
    pub(crate) threads: Vec<ThreadDecl<'s>>,
    pub(crate) procedures: Vec<ProcDecl<'s>>,
    pub(crate) properties: Vec<PropertyDecl<'s>>,
    pub(crate) costs: Vec<CostDecl<'s>>,
}

/// `const NAME = value;`
#[derive(Debug)]
pub(crate) struct Constant<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) value: Expr<'s>,
}

/// One name of a `shared` item.
#[derive(Debug)]
pub(crate) struct SharedDecl<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) size: Option<Expr<'s>>,
    pub(crate) address: Option<Expr<'s>>,
    pub(crate) range: Option<RangeExpr<'s>>,
    /// `: u8`
    pub(crate) width: Option<(Width, Span)>,
    pub(crate) initial: Option<Initial<'s>>,
    pub(crate) span: Span,
}

/// The initial value of a shared declaration.
#[derive(Debug)]
pub(crate) enum Initial<'s> {
    /// One value for all cells.
    All(Expr<'s>),
    /// One value for each cell; the span is that of the whole list.
    Each(Vec<Expr<'s>>, Span),
}

/// `low..high`, both included.
#[derive(Debug)]
pub(crate) struct RangeExpr<'s> {
    pub(crate) low: Box<Expr<'s>>,
    pub(crate) high: Box<Expr<'s>>,
    pub(crate) span: Span,
}

/// How often a thread is replicated.
#[derive(Debug)]
pub(crate) enum Replication<'s> {
    /// `[n]`
    Times(Expr<'s>),
    /// `[*]`
    Arbitrary(Span),
}

/// `thread NAME(parameter)[n] weight w { … }`
#[derive(Debug)]
pub(crate) struct ThreadDecl<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) parameter: Option<Name<'s>>,
    pub(crate) replication: Option<Replication<'s>>,
    pub(crate) weight: Option<Expr<'s>>,
    pub(crate) body: Block<'s>,
    /// The header, up to the body.
    pub(crate) span: Span,
}

/// `proc NAME(parameters) { … }`
#[derive(Debug)]
pub(crate) struct ProcDecl<'s> {
    pub(crate) name: Name<'s>,
    /// Whether `noinline` stands before it.
    pub(crate) noinline: bool,
    pub(crate) parameters: Vec<Name<'s>>,
    pub(crate) body: Block<'s>,
    /// The header, up to the body.
    pub(crate) span: Span,
}

/// The kinds of properties.
#[derive(Debug)]
pub(crate) enum PropertyForm<'s> {
    Forbid(Expr<'s>),
    ForbidDeadlock,
    Exists(Expr<'s>),
    Always(Expr<'s>),
    ForbidStuck,
    Live(Expr<'s>),
}

impl<'s> PropertyForm<'s> {
    /// What it is about, if that is a condition.
    pub(crate) fn condition(&self) -> Option<&Expr<'s>> {
        match self {
            Self::Forbid(condition) | Self::Exists(condition) | Self::Always(condition) | Self::Live(condition) => {
                Some(condition)
            }
            Self::ForbidDeadlock | Self::ForbidStuck => None,
        }
    }
}

/// A property.
#[derive(Debug)]
pub(crate) struct PropertyDecl<'s> {
    pub(crate) form: PropertyForm<'s>,
    pub(crate) span: Span,
}

/// `cost subject = cost;`
#[derive(Debug)]
pub(crate) struct CostDecl<'s> {
    pub(crate) subject: LabelRef<'s>,
    pub(crate) cost: Expr<'s>,
    pub(crate) span: Span,
}

/// `label`, or `f.label` for a label of a procedure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelRef<'s> {
    pub(crate) procedure: Option<Name<'s>>,
    pub(crate) label: Name<'s>,
}

impl LabelRef<'_> {
    /// Where it is written.
    pub(crate) fn span(&self) -> Span {
        self.procedure.map_or(self.label.span, |procedure| procedure.span.to(self.label.span))
    }
}

/// `{ … }`
#[derive(Debug)]
pub(crate) struct Block<'s> {
    pub(crate) statements: Vec<Statement<'s>>,
    /// The braces and all between.
    pub(crate) span: Span,
}

impl Block<'_> {
    /// The closing brace.
    pub(crate) fn close(&self) -> Span {
        Span { start: self.span.end.saturating_sub(1), end: self.span.end }
    }
}

/// A statement; the span leaves out the semicolon.
#[derive(Debug)]
pub(crate) struct Statement<'s> {
    pub(crate) kind: StatementKind<'s>,
    pub(crate) span: Span,
}

/// What a statement does.
#[derive(Debug)]
pub(crate) enum StatementKind<'s> {
    Let(Vec<Declarator<'s>>),
    Assign {
        target: Expr<'s>,
        operator: Option<BinaryOp>,
        value: Expr<'s>,
    },
    /// `a, b = x, y`
    Snapshot {
        targets: Vec<Expr<'s>>,
        cells: Vec<Expr<'s>>,
    },
    Evaluate(Expr<'s>),
    If {
        arms: Vec<(Expr<'s>, Block<'s>)>,
        otherwise: Option<Block<'s>>,
    },
    While(Expr<'s>, Block<'s>),
    Loop(Block<'s>),
    /// `for each other j { … }`
    ForEachOther(Name<'s>, Block<'s>),
    Break,
    Continue,
    Label(Name<'s>),
    Goto(Name<'s>),
    Jump(Name<'s>),
    Choose(Vec<Block<'s>>),
    Assume(Expr<'s>),
    /// `await e`, or `await a, b = x, y if e` with the loads of [`Snapshot`](StatementKind::Snapshot).
    Await {
        targets: Vec<Expr<'s>>,
        cells: Vec<Expr<'s>>,
        condition: Expr<'s>,
    },
    Assert(Expr<'s>),
    Fence,
    Membarrier,
    Skip,
    Lock,
    Unlock,
    Atomic(Block<'s>),
    Spawn(Name<'s>),
    Return(Option<Expr<'s>>),
    Terminate,
    End,
    Block(Block<'s>),
}

/// One name of a `let`.
#[derive(Debug)]
pub(crate) struct Declarator<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) value: Option<Expr<'s>>,
    pub(crate) span: Span,
}

/// An expression.
#[derive(Debug)]
pub(crate) struct Expr<'s> {
    pub(crate) kind: ExprKind<'s>,
    pub(crate) span: Span,
    /// Nesting depth, 1 for a leaf.
    pub(crate) depth: u32,
}

/// What an expression is.
#[derive(Debug)]
pub(crate) enum ExprKind<'s> {
    Number(Value),
    /// A number without a value; reported already.
    Malformed,
    Name(Name<'s>),
    /// `flag[e]`
    Index(Name<'s>, Box<Expr<'s>>),
    /// `mem[e]` or `*e`
    Memory(Box<Expr<'s>>),
    /// `&x` or `&flag[e]`
    AddressOf(Name<'s>, Option<Box<Expr<'s>>>),
    Unary(UnaryOp, Box<Expr<'s>>),
    Binary(BinaryOp, Box<Expr<'s>>, Box<Expr<'s>>),
    Call(Name<'s>, Vec<Expr<'s>>),
    ReadModifyWrite(RmwForm, Box<Expr<'s>>, Vec<Expr<'s>>),
    Any(RangeExpr<'s>),
    /// `T at label`
    At(Box<PlaceExpr<'s>>),
    /// `count(T at label)`
    Count(Box<PlaceExpr<'s>>),
    /// `T.r`
    Register(Box<ThreadRef<'s>>, Name<'s>),
}

/// The read-modify-writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RmwForm {
    CompareAndSwap,
    CompareExchange,
    Exchange,
    Fetch(BinaryRmw),
}

impl RmwForm {
    /// How it is written.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Self::CompareAndSwap => "cas",
            Self::CompareExchange => "cmpxchg",
            Self::Exchange => "xchg",
            Self::Fetch(BinaryRmw::Add) => "fetch_add",
            Self::Fetch(BinaryRmw::Subtract) => "fetch_sub",
            Self::Fetch(BinaryRmw::And) => "fetch_and",
            Self::Fetch(BinaryRmw::Or) => "fetch_or",
            Self::Fetch(BinaryRmw::Xor) => "fetch_xor",
        }
    }

    /// What it takes, the cell first.
    pub(crate) fn shape(self) -> &'static str {
        match self {
            Self::CompareAndSwap => "cas(cell, old, new)",
            Self::CompareExchange => "cmpxchg(cell, old, new)",
            Self::Exchange => "xchg(cell, value)",
            Self::Fetch(BinaryRmw::Add) => "fetch_add(cell, value)",
            Self::Fetch(BinaryRmw::Subtract) => "fetch_sub(cell, value)",
            Self::Fetch(BinaryRmw::And) => "fetch_and(cell, value)",
            Self::Fetch(BinaryRmw::Or) => "fetch_or(cell, value)",
            Self::Fetch(BinaryRmw::Xor) => "fetch_xor(cell, value)",
        }
    }

    /// How many values it takes beside the cell.
    pub(crate) fn operands(self) -> usize {
        match self {
            Self::CompareAndSwap | Self::CompareExchange => 2,
            Self::Exchange | Self::Fetch(_) => 1,
        }
    }
}

/// `T` or `T[1]`
#[derive(Debug)]
pub(crate) struct ThreadRef<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) index: Option<Expr<'s>>,
    pub(crate) span: Span,
}

/// `T at label`
#[derive(Debug)]
pub(crate) struct PlaceExpr<'s> {
    pub(crate) thread: ThreadRef<'s>,
    /// `None` for `T at end`.
    pub(crate) label: Option<LabelRef<'s>>,
}

//! Programs as trees: what the language's reference has, and nothing else.

pub(super) type Value = i64;

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Number(Value),
    Register(String),
    /// A `const`, or the number of a replicated thread.
    Constant(String),
    /// A scalar cell.
    Cell(String),
    /// `a[e]`
    Element(String, Box<Expr>),
    /// `mem[e]`
    Memory(Box<Expr>),
    /// `*e`
    Pointee(Box<Expr>),
    /// `&x` or `&a[e]`
    Address(String, Option<Box<Expr>>),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// `cas(cell, …)` and the like.
    Modify(&'static str, Box<Expr>, Vec<Expr>),
    Any(Value, Value),
}

pub(super) type Block = Vec<Statement>;

#[derive(Clone, Debug)]
pub(super) enum Statement {
    Let(Vec<(String, Option<Expr>)>),
    /// `target = e`, or `target op= e`.
    Assign(Expr, &'static str, Expr),
    Snapshot(Vec<String>, Vec<Expr>),
    /// `await cell op other`, or `await r = cell if r op other`. The other is a number, a register or a cell.
    Await {
        keeps: Option<String>,
        cell: Expr,
        op: &'static str,
        other: Expr,
    },
    Evaluate(Expr),
    If(Vec<(Expr, Block)>, Option<Block>),
    While(Expr, Block),
    Loop(Block),
    /// `for each other name { … }`
    ForEachOther(String, Block),
    Break,
    Continue,
    Label(String),
    Goto(String),
    Jump(String),
    Choose(Vec<Block>),
    Assume(Expr),
    Assert(Expr),
    Fence,
    Membarrier,
    Skip,
    Lock,
    Unlock,
    Atomic(Block),
    Return(Option<Expr>),
    Terminate,
    End,
    Block(Block),
}

#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) name: String,
    /// The number of cells of an array.
    pub(super) size: Option<usize>,
    pub(super) address: Option<Value>,
    pub(super) range: Option<(Value, Value)>,
    /// 8, 16 or 32 bits.
    pub(super) bits: Option<u32>,
    /// One value for all cells, or one for each; none for zeros.
    pub(super) initial: Vec<Value>,
}

#[derive(Clone, Debug)]
pub(super) struct Procedure {
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) body: Block,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) name: String,
    /// How many there are, and the name of their number.
    pub(super) copies: Option<(usize, Option<String>)>,
    pub(super) weight: Option<u32>,
    pub(super) body: Block,
}

impl Thread {
    pub(super) fn count(&self) -> usize {
        self.copies.as_ref().map_or(1, |(count, _)| *count)
    }
}

/// What a property says of one state.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Number(Value),
    Constant(String),
    Cell(String, Option<Value>),
    Memory(Value),
    Address(String),
    /// `T.r` or `T[1].r`
    Register(String, Option<usize>, String),
    /// `T at label`; no label is `end`.
    At(String, Option<usize>, Option<String>),
    Count(String, Option<String>),
    Unary(&'static str, Box<Condition>),
    Binary(&'static str, Box<Condition>, Box<Condition>),
}

#[derive(Clone, Debug)]
pub(super) enum Property {
    Forbid(Condition),
    Deadlock,
    Exists(Condition),
    Always(Condition),
}

#[derive(Clone, Debug)]
pub(super) struct Program {
    /// With the value that the command line gives in place of the one written.
    pub(super) constants: Vec<(String, Expr, Option<Value>)>,
    pub(super) shared: Vec<Shared>,
    pub(super) procedures: Vec<Procedure>,
    pub(super) threads: Vec<Thread>,
    pub(super) properties: Vec<Property>,
    pub(super) costs: Vec<(String, Value)>,
}

impl Program {
    /// The address of the first cell of each declaration, one after the other from 1 unless `@` says otherwise.
    pub(super) fn address(&self, name: &str) -> Value {
        let mut next = 1;
        for shared in &self.shared {
            let address = shared.address.unwrap_or(next);
            if shared.name == name {
                return address;
            }
            next = address + shared.size.unwrap_or(1) as Value;
        }
        panic!("no cell {name}")
    }

    /// The declaration of a cell, and which cell of it that is.
    pub(super) fn declaration(&self, address: Value) -> Option<(&Shared, usize)> {
        self.shared.iter().find_map(|shared| {
            let offset = address.checked_sub(self.address(&shared.name))?;
            let offset = usize::try_from(offset).ok()?;
            (offset < shared.size.unwrap_or(1)).then_some((shared, offset))
        })
    }
}

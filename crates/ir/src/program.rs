//! Programs: shared cells, threads as control-flow automata, properties.
//!
//! A thread is an automaton: locations, and edges that each carry one instruction; several edges out
//! of one location are a choice. Every step of a run follows one edge (or, under TSO, flushes one
//! store). A location without edges is where a thread is *done*.

use crate::expr::{BinaryOp, Expr, Value};
use crate::ids::{EdgeId, LocId, ProcId, RegId, ThreadId};
use crate::sort::sort_by_key;
use crate::span::{Source, Span};

/// The value that names a cell. Every value is an address; cells that no declaration names exist too
/// and start at 0.
pub type Address = Value;

/// An expression over the registers of one body.
pub type RegExpr = Expr<RegId>;

/// An expression over a whole state.
pub type StateExpr = Expr<StateAtom>;

/// A concurrent program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The text it was read from.
    pub source: Source,
    /// Constants with the values in force, in order of declaration.
    pub constants: Vec<(String, Value)>,
    /// What was asked of compiled code, in order: an option, and what it says.
    pub options: Vec<(String, String)>,
    /// Shared cells, in order of declaration. Their addresses do not overlap.
    pub shared: Vec<Shared>,
    /// Threads. Replicated ones are listed one by one.
    pub threads: Vec<Thread>,
    /// Procedures that threads may call.
    pub procedures: Vec<Procedure>,
    /// What must hold. Assertions are instructions, and not listed here.
    pub properties: Vec<Property>,
    /// What instructions cost, for the probabilistic analysis. Later rules override earlier ones.
    pub costs: Vec<CostRule>,
}

/// A declaration of one shared cell, or of an array of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// The address of its first cell.
    pub address: Address,
    /// Whether it was declared as an array.
    pub is_array: bool,
    /// The initial value of each cell; one for a scalar.
    pub initial: Vec<Value>,
    /// The values the cells may take. A store of any other value is blocked.
    pub range: Option<Range>,
    /// How wide the cells are, if they wrap. Cells with a width have no range.
    pub width: Option<Width>,
    /// Where it was declared.
    pub span: Span,
}

/// Cells of so many bits, without a sign: a store keeps the low bits of its value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // The names are the documentation.
pub enum Width {
    U8,
    U16,
    U32,
}

impl Width {
    /// All widths.
    pub const ALL: [Self; 3] = [Self::U8, Self::U16, Self::U32];

    /// As the source has it: `u8`.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
        }
    }

    /// The width of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.name() == name)
    }

    /// The number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::U8 => 8,
            Self::U16 => 16,
            Self::U32 => 32,
        }
    }

    /// The values a cell can hold.
    pub fn range(self) -> Range {
        Range { low: 0, high: (1 << self.bits()) - 1 }
    }

    /// What is left of a value that is stored.
    pub fn wrap(self, value: Value) -> Value {
        value & self.range().high
    }

    /// The values that are left of those in a range: exactly, if all of them wrap equally often.
    #[must_use]
    pub fn wrap_range(self, range: Range) -> Range {
        if range.low >> self.bits() == range.high >> self.bits() {
            Range { low: self.wrap(range.low), high: self.wrap(range.high) }
        } else {
            self.range()
        }
    }
}

impl Shared {
    /// The addresses of the cells.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + use<> {
        let (base, len) = (self.address, self.initial.len());
        (0..len).map(move |offset| base.wrapping_add(offset as Address))
    }

    /// The position of `address` within the declaration, if it lies there.
    pub fn offset_of(&self, address: Address) -> Option<usize> {
        let offset = usize::try_from(address.checked_sub(self.address)?).ok()?;
        (offset < self.initial.len()).then_some(offset)
    }
}

/// The values from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Range {
    /// The least value.
    pub low: Value,
    /// The greatest value; at least `low`.
    pub high: Value,
}

impl Range {
    /// Every value.
    pub const FULL: Range = Range { low: Value::MIN, high: Value::MAX };

    /// Just one value.
    pub fn single(value: Value) -> Self {
        Self { low: value, high: value }
    }

    /// Whether `value` lies in the range.
    pub fn contains(self, value: Value) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn hull(self, other: Range) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The values in both, if any.
    pub fn meet(self, other: Range) -> Option<Self> {
        let meet = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (meet.low <= meet.high).then_some(meet)
    }

    /// How many values, less one; so that it fits.
    pub fn extent(self) -> u64 {
        self.high.wrapping_sub(self.low) as u64
    }
}

/// How many threads run a body from the start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Multiplicity {
    /// One.
    One,
    /// None: only `spawn` starts it (`thread T[0]`).
    Spawned,
    /// Arbitrarily many (`thread T[*]`).
    Arbitrary,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name, unique; `Worker[1]` for an instance of a replicated thread.
    pub name: String,
    /// The name it was declared under, and which instance it is: `("Worker", Some(1))`.
    pub family: (String, Option<u32>),
    /// How many run from the start.
    pub multiplicity: Multiplicity,
    /// How likely the scheduler picks it, relative to the others; at least 1.
    pub weight: u32,
    /// What it does.
    pub body: Body,
    /// Where its header was written.
    pub span: Span,
}

/// A procedure. Its body starts with the parameters set and all other registers at 0, but for thread-local ones; control
/// that reaches a location without edges returns 0.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// The registers that receive the arguments.
    pub parameters: Vec<RegId>,
    /// What it does.
    pub body: Body,
    /// Where its header was written.
    pub span: Span,
}

/// A register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// Its name, unique in the body.
    pub name: String,
    /// Whether a pass made it up (say, for a shared read inside an expression).
    pub is_temporary: bool,
    /// Whether it is a thread-local variable: one register of the thread, which every procedure that the thread calls
    /// shares under the same name.
    pub is_thread_local: bool,
    /// Where it was declared.
    pub span: Span,
}

/// A control point.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Location {
    /// Its names in the source; often none. A label inside an inlined procedure `f` is `f.label`.
    pub labels: Vec<String>,
    /// Where it is in the source.
    pub span: Span,
}

/// An automaton: what a thread or procedure does.
#[derive(Clone, Debug)]
pub struct Body {
    /// Registers; all start at 0.
    pub registers: Vec<Register>,
    /// Control points.
    pub locations: Vec<Location>,
    /// Where control starts.
    pub entry: LocId,
    /// Where control goes when an assertion fails; it has no edges out. Present if the body asserts.
    pub failed: Option<LocId>,
    /// For each procedure of the program where its code is in this body, if it was [linked](Program::linked) into it.
    pub frames: Vec<Option<Frame>>,
    /// Edges, grouped by their source location; within a group in order of the source text.
    edges: Vec<Edge>,
    /// `edges[first[l]..first[l + 1]]` leave location `l`.
    first: Vec<u32>,
}

/// A procedure whose code is part of the body of a thread. A call saves the registers, sets the parameters and all other
/// registers to 0, and continues at the entry; a return restores them. Thread-local variables are none of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Where a call continues.
    pub entry: LocId,
    /// The registers that receive the arguments.
    pub parameters: Vec<RegId>,
    /// All registers of the procedure, with the parameters, but without thread-local variables.
    pub registers: Vec<RegId>,
    /// The first of its locations, which are consecutive.
    pub first_location: LocId,
    /// How many locations it has.
    pub location_count: usize,
}

/// One possible step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it starts.
    pub from: LocId,
    /// Where it leads.
    pub to: LocId,
    /// What it does.
    pub instruction: Instruction,
    /// The source it came from.
    pub span: Span,
}

impl Body {
    /// A body from its parts. Edges keep their order within each source location.
    ///
    /// # Panics
    /// If an edge, `entry` or `failed` names a location that is not in the list.
    pub fn new(
        registers: Vec<Register>,
        locations: Vec<Location>,
        entry: LocId,
        failed: Option<LocId>,
        mut edges: Vec<Edge>,
    ) -> Self {
        let count = locations.len();
        let known = |loc: LocId| loc.index() < count;
        assert!(known(entry) && failed.is_none_or(known), "entry and failed are locations of the body");
        assert!(edges.iter().all(|edge| known(edge.from) && known(edge.to)), "edges join locations of the body");
        sort_by_key(&mut edges, |edge| edge.from);
        let mut first = vec![0; count + 1];
        edges.iter().for_each(|edge| first[edge.from.index() + 1] += 1);
        (0..count).for_each(|loc| first[loc + 1] += first[loc]);
        Self { registers, locations, entry, failed, frames: Vec::new(), edges, first }
    }

    /// The same body with procedures linked into it: for each procedure of the program, where it is.
    #[must_use]
    pub fn with_frames(self, frames: Vec<Option<Frame>>) -> Self {
        Self { frames, ..self }
    }

    /// All edges, grouped by source location.
    #[inline]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// One edge.
    #[inline]
    pub fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge.index()]
    }

    /// The edges out of a location, in order of the source text.
    #[inline]
    pub fn edges_from(&self, loc: LocId) -> impl ExactSizeIterator<Item = (EdgeId, &Edge)> {
        let range = self.first[loc.index()]..self.first[loc.index() + 1];
        range.map(|edge| (EdgeId(edge), &self.edges[edge as usize]))
    }

    /// Whether a thread at `loc` is done: it has nothing more to do. A failed assertion is not that.
    pub fn is_done(&self, loc: LocId) -> bool {
        self.first[loc.index()] == self.first[loc.index() + 1] && Some(loc) != self.failed
    }

    /// Every location.
    pub fn location_ids(&self) -> impl Iterator<Item = LocId> + use<> {
        (0..self.locations.len()).map(LocId::new)
    }

    /// The register of this name.
    pub fn register(&self, name: &str) -> Option<RegId> {
        self.registers.iter().position(|register| register.name == name).map(RegId::new)
    }

    /// The thread-local variables, in order.
    pub fn thread_locals(&self) -> impl Iterator<Item = RegId> {
        let is_one = |at: &usize| self.registers[*at].is_thread_local;
        (0..self.registers.len()).filter(is_one).map(RegId::new)
    }

    /// The locations that carry this label: several when a procedure was inlined several times.
    pub fn labelled(&self, label: &str) -> Vec<LocId> {
        let carries = |loc: &LocId| self.locations[loc.index()].labels.iter().any(|name| name == label);
        self.location_ids().filter(carries).collect()
    }

    /// Whether the other automaton does the same, edge by edge. Names and places in the text do not count.
    pub fn does_the_same(&self, other: &Self) -> bool {
        let shape =
            |body: &Self| (body.entry, body.failed, body.registers.len(), body.locations.len(), body.edges.len());
        let same = |(left, right): (&Edge, &Edge)| {
            (left.from, left.to, &left.instruction) == (right.from, right.to, &right.instruction)
        };
        shape(self) == shape(other) && self.edges.iter().zip(&other.edges).all(same)
    }

    /// The same automaton with every edge replaced.
    #[must_use]
    pub fn map_edges(&self, change: impl FnMut(&Edge) -> Edge) -> Self {
        let edges = self.edges.iter().map(change).collect();
        Self::new(self.registers.clone(), self.locations.clone(), self.entry, self.failed, edges)
            .with_frames(self.frames.clone())
    }
}

/// What a step does. Operands are evaluated before anything changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// Nothing.
    Skip,
    /// `register = mem[address]`.
    Load {
        /// Receives the value.
        register: RegId,
        /// Where from.
        address: RegExpr,
    },
    /// Loads several cells in one step, each into the register beside it: nobody writes between the loads. As with
    /// [`Load`](Instruction::Load), a store to the cell in the own buffer is preferred, and nothing is flushed.
    /// At least two loads, into different registers.
    Snapshot(Vec<(RegId, RegExpr)>),
    /// Waits until a condition holds: loads the cells in one step, as a [`Snapshot`](Instruction::Snapshot) does, and
    /// can only be taken if the condition, over the registers with what was just loaded, is not 0. At least one load,
    /// into different registers.
    Await {
        /// The registers and the cells they receive.
        loads: Vec<(RegId, RegExpr)>,
        /// What must hold.
        condition: RegExpr,
    },
    /// `mem[address] = value`.
    Store {
        /// Where to.
        address: RegExpr,
        /// What.
        value: RegExpr,
    },
    /// Waits until the own buffer is empty.
    Fence,
    /// Waits until the buffers of all threads are empty: a fence on behalf of everyone.
    Membarrier,
    /// `register = value`.
    Assign {
        /// Receives the value.
        register: RegId,
        /// What.
        value: RegExpr,
    },
    /// Can only be taken if the condition is not 0.
    Assume(RegExpr),
    /// Goes to [`Body::failed`] if the condition is 0.
    Assert(RegExpr),
    /// Reads and writes in one step; needs the own buffer empty.
    ReadModifyWrite {
        /// Receives the result, if it is wanted.
        register: Option<RegId>,
        /// Which cell.
        address: RegExpr,
        /// What becomes of it.
        operation: Rmw,
    },
    /// Takes the global lock; needs it free and the own buffer empty.
    Lock,
    /// Gives the global lock back; needs to hold it and the own buffer empty.
    Unlock,
    /// `register` takes any value of the range.
    Havoc {
        /// Receives the value.
        register: RegId,
        /// The choice.
        range: Range,
    },
    /// Runs a procedure.
    Call {
        /// Which.
        procedure: ProcId,
        /// One for each parameter.
        arguments: Vec<RegExpr>,
        /// Receives what it returns, if that is wanted.
        register: Option<RegId>,
    },
    /// Ends a procedure. Leads to a location without edges.
    Return(RegExpr),
    /// Starts one more thread that runs this one's body. The own buffer stays as it is, that of the new thread is empty.
    /// Of the [instances](Program::instances) that a program has, the first that has not started.
    Spawn(ThreadId),
    /// Ends the thread. Leads to a location without edges.
    Terminate,
}

/// What a read-modify-write does to its cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rmw {
    /// Writes `new` if the cell holds `expected`. The result is 1 if so, else 0.
    CompareAndSwap {
        /// What the cell must hold.
        expected: RegExpr,
        /// What it then holds.
        new: RegExpr,
    },
    /// Writes `new` if the cell holds `expected`. The result is what the cell held.
    CompareExchange {
        /// What the cell must hold.
        expected: RegExpr,
        /// What it then holds.
        new: RegExpr,
    },
    /// Writes the value. The result is what the cell held.
    Exchange(RegExpr),
    /// Combines the cell with the value. The result is what the cell held.
    Fetch(BinaryRmw, RegExpr),
}

/// How [`Rmw::Fetch`] combines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // The names are the documentation.
pub enum BinaryRmw {
    Add,
    Subtract,
    And,
    Or,
    Xor,
}

impl BinaryRmw {
    /// The operator.
    pub fn operator(self) -> BinaryOp {
        match self {
            Self::Add => BinaryOp::Add,
            Self::Subtract => BinaryOp::Subtract,
            Self::And => BinaryOp::BitAnd,
            Self::Or => BinaryOp::BitOr,
            Self::Xor => BinaryOp::BitXor,
        }
    }
}

/// Something a property can observe in a state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StateAtom {
    /// How many instances of the thread are at one of the locations (0 or 1 for a single thread).
    At {
        /// Which thread.
        thread: ThreadId,
        /// The locations, ascending.
        locations: Vec<LocId>,
    },
    /// The value of a register.
    Register {
        /// Whose.
        thread: ThreadId,
        /// Which.
        register: RegId,
    },
    /// What memory holds at an address.
    Cell(Address),
}

/// What must hold. Properties are judged at drained states (all buffers empty).
#[derive(Clone, Debug)]
pub struct Property {
    /// What kind.
    pub kind: PropertyKind,
    /// Where it was written.
    pub span: Span,
}

/// The kinds of properties.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PropertyKind {
    /// No reachable state meets the condition.
    Forbid(StateExpr),
    /// In no reachable state is some thread not done while none can ever step again.
    ForbidDeadlock,
    /// Some final state (all threads done) meets the condition.
    Exists(StateExpr),
    /// Every final state meets the condition.
    Always(StateExpr),
    /// In no reachable state is some thread confined forever to a [region that it should be able to
    /// leave](crate::flow::leavable_regions).
    ForbidStuck,
    /// From every reachable state a state can be reached that meets the condition. It is judged at drained states if it
    /// mentions cells, else at all states.
    Live(StateExpr),
}

impl PropertyKind {
    /// The condition, if it has one.
    pub fn condition(&self) -> Option<&StateExpr> {
        match self {
            Self::Forbid(condition) | Self::Exists(condition) | Self::Always(condition) | Self::Live(condition) => {
                Some(condition)
            }
            Self::ForbidDeadlock | Self::ForbidStuck => None,
        }
    }

    /// The same with another condition, if it has one.
    #[must_use]
    pub fn map_condition(&self, change: impl FnOnce(&StateExpr) -> StateExpr) -> Self {
        match self {
            Self::Forbid(condition) => Self::Forbid(change(condition)),
            Self::Exists(condition) => Self::Exists(change(condition)),
            Self::Always(condition) => Self::Always(change(condition)),
            Self::Live(condition) => Self::Live(change(condition)),
            Self::ForbidDeadlock => Self::ForbidDeadlock,
            Self::ForbidStuck => Self::ForbidStuck,
        }
    }

    /// Whether it is about what can still happen after a state (AG EF), not about single states.
    pub fn is_liveness(&self) -> bool {
        match self {
            Self::ForbidStuck | Self::Live(_) => true,
            Self::Forbid(_) | Self::Exists(_) | Self::Always(_) | Self::ForbidDeadlock => false,
        }
    }
}

/// `cost what = cost;`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostRule {
    /// What it applies to.
    pub subject: CostSubject,
    /// The cost of one step.
    pub cost: Value,
    /// Where it was written.
    pub span: Span,
}

/// What a cost applies to.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names are the documentation.
pub enum CostSubject {
    Load,
    Store,
    Fence,
    ReadModifyWrite,
    Lock,
    Local,
    /// The step that leaves a location of this label.
    Label(String),
}

impl Program {
    /// A thread.
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.index()]
    }

    /// The body of a thread.
    #[inline]
    pub fn body(&self, thread: ThreadId) -> &Body {
        &self.threads[thread.index()].body
    }

    /// The same program with every thread's body replaced.
    #[must_use]
    pub fn map_bodies(&self, mut change: impl FnMut(ThreadId, &Body) -> Body) -> Self {
        let replaced = |(thread, id): (&Thread, ThreadId)| Thread {
            name: thread.name.clone(),
            family: thread.family.clone(),
            body: change(id, &thread.body),
            ..*thread
        };
        Self {
            source: self.source.clone(),
            constants: self.constants.clone(),
            options: self.options.clone(),
            shared: self.shared.clone(),
            threads: self.threads.iter().zip(self.thread_ids()).map(replaced).collect(),
            procedures: self.procedures.clone(),
            properties: self.properties.clone(),
            costs: self.costs.clone(),
        }
    }

    /// Every thread.
    pub fn thread_ids(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len()).map(ThreadId::new)
    }

    /// The threads that run from the start, in one copy or in arbitrarily many.
    pub fn initial_threads(&self) -> impl Iterator<Item = ThreadId> {
        self.thread_ids().filter(|&thread| self.thread(thread).multiplicity != Multiplicity::Spawned)
    }

    /// The threads that run in one copy, from the start or once they are spawned: all of them, unless there are
    /// arbitrarily many of some, or nobody starts them.
    pub fn running_threads(&self) -> impl Iterator<Item = ThreadId> {
        let can_be_spawned = self.can_be_spawned();
        self.thread_ids().filter(move |&thread| {
            self.thread(thread).multiplicity == Multiplicity::One || can_be_spawned[thread.index()]
        })
    }

    /// The declaration that covers an address, and the position within it.
    pub fn shared_at(&self, address: Address) -> Option<(&Shared, usize)> {
        let found = |shared| -> Option<(&Shared, usize)> { Some((shared, Shared::offset_of(shared, address)?)) };
        // Mostly they are in ascending order, but nothing depends on it.
        let near = self.shared.partition_point(|shared| shared.address <= address).checked_sub(1);
        near.and_then(|near| found(&self.shared[near])).or_else(|| self.shared.iter().find_map(found))
    }

    /// The declaration of this name.
    pub fn shared(&self, name: &str) -> Option<&Shared> {
        self.shared.iter().find(|shared| shared.name == name)
    }

    /// What a cell holds at the start.
    pub fn initial_value(&self, address: Address) -> Value {
        self.shared_at(address).map_or(0, |(shared, offset)| shared.initial[offset])
    }

    /// What a store of `value` puts into the cell at `address`: its low bits, if the cell has a width.
    /// Read-modify-writes store in the same way.
    pub fn stored(&self, address: Address, value: Value) -> Value {
        self.shared_at(address).and_then(|(shared, _)| shared.width).map_or(value, |width| width.wrap(value))
    }

    /// Whether a store of `value` to `address` is within the declared range.
    pub fn admits(&self, address: Address, value: Value) -> bool {
        self.shared_at(address).and_then(|(shared, _)| shared.range).is_none_or(|range| range.contains(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(address: Address, initial: &[Value]) -> Shared {
        Shared {
            name: format!("at{address}"),
            address,
            initial: initial.to_vec(),
            is_array: initial.len() > 1,
            range: None,
            width: None,
            span: Span::default(),
        }
    }

    /// In whatever order they are declared, with gaps between them.
    #[test]
    fn declarations_are_found_by_address() {
        let blocks = [block(-3, &[7]), block(1, &[10, 11, 12]), block(5, &[20]), block(9, &[30, 31])];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let shared: Vec<Shared> = order.iter().map(|&at: &usize| blocks[at].clone()).collect();
            let program = Program { shared, ..Program::default() };
            for address in -6..14 {
                let expected = blocks.iter().find_map(|block| Some((block, block.offset_of(address)?)));
                assert_eq!(program.shared_at(address), expected, "{address} {order:?}");
                let value = expected.map_or(0, |(block, offset)| block.initial[offset]);
                assert_eq!(program.initial_value(address), value);
            }
        }
    }
}

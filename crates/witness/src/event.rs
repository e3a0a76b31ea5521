//! What the steps of a replayed run did.

use weir_ir::{Address, EdgeId, LocId, ProcId, Program, RegId, Span, ThreadId, Value};

/// A step of a run: its place in [`Run::steps`](crate::Run::steps).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StepId(pub u32);

impl StepId {
    /// The `index`-th step, counted from 0.
    ///
    /// # Panics
    /// If the run has more than `u32::MAX` steps, which no run that fits memory has.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("more than u32::MAX steps"))
    }

    /// The place in the list, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The number people see, from 1.
    pub fn number(self) -> usize {
        self.index() + 1
    }
}

/// What one step did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Whose instruction or buffer.
    pub thread: ThreadId,
    /// The edge taken; none for a flush.
    pub edge: Option<EdgeId>,
    /// Where the thread was. A flush does not move it.
    pub from: LocId,
    /// Where it is now.
    pub to: LocId,
    /// What happened.
    pub effect: Effect,
    /// The source of the instruction; for a flush, that of its store.
    pub span: Span,
}

impl Event {
    /// The line of the instruction; for a flush, that of its store.
    pub fn line(&self, program: &Program) -> u32 {
        program.source.line(self.span)
    }

    /// The first label of the location that the step left. A flush leaves none.
    pub fn label<'p>(&self, program: &'p Program) -> Option<&'p str> {
        self.edge?;
        program.body(self.thread).locations[self.from.index()].labels.first().map(String::as_str)
    }
}

/// Where a load found its value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReadFrom {
    /// In memory.
    Memory,
    /// In the thread's own buffer, where this step put it.
    Buffer(StepId),
}

/// What a load of one cell found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Loaded {
    /// Receives the value.
    pub register: RegId,
    /// Which cell.
    pub address: Address,
    /// What was read.
    pub value: Value,
    /// Where it was.
    pub from: ReadFrom,
}

/// What a step did, with the values it used.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // Addresses, values and registers say what they are; the rest is explained.
pub enum Effect {
    Skip,
    Load(Loaded),
    /// Several loads in one step.
    Snapshot(Vec<Loaded>),
    /// Loads in one step after which the condition holds.
    Await(Vec<Loaded>),
    /// `buffered`: it went to the thread's buffer (TSO), not to memory (SC).
    Store {
        address: Address,
        value: Value,
        buffered: bool,
    },
    /// The oldest store of the buffer, which `store` put there, reached memory.
    Flush {
        address: Address,
        value: Value,
        store: StepId,
    },
    Fence,
    /// A fence on behalf of all threads.
    Membarrier,
    Assign {
        register: RegId,
        value: Value,
    },
    Assume,
    Assert {
        holds: bool,
    },
    /// `written` is none if a comparison failed. `register` receives the result, if it is wanted.
    ReadModifyWrite {
        register: Option<(RegId, Value)>,
        address: Address,
        read: Value,
        written: Option<Value>,
    },
    Lock,
    Unlock,
    Havoc {
        register: RegId,
        value: Value,
    },
    Terminate,
    /// The registers of the procedure are saved and set anew; a return leads to `back`, and sets `result`.
    Call {
        procedure: ProcId,
        registers: Vec<(RegId, Value)>,
        back: LocId,
        result: Option<RegId>,
    },
    /// `register` receives the value, if it is wanted.
    Return {
        register: Option<RegId>,
        value: Value,
    },
    /// This thread starts.
    Spawn(ThreadId),
}

impl Effect {
    /// One word for it, in lower case: `load`, `store`, `flush`, `fence`, `rmw`, ….
    pub fn name(&self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Load(_) => "load",
            Self::Snapshot(_) => "snapshot",
            Self::Await(_) => "await",
            Self::Store { .. } => "store",
            Self::Flush { .. } => "flush",
            Self::Fence => "fence",
            Self::Membarrier => "membarrier",
            Self::Assign { .. } => "assign",
            Self::Assume => "assume",
            Self::Assert { .. } => "assert",
            Self::ReadModifyWrite { .. } => "rmw",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Havoc { .. } => "havoc",
            Self::Terminate => "terminate",
            Self::Call { .. } => "call",
            Self::Return { .. } => "return",
            Self::Spawn(_) => "spawn",
        }
    }

    /// The loads it made: one or none, but for a snapshot or an await. A read-modify-write is none.
    pub fn loads(&self) -> &[Loaded] {
        match self {
            Self::Load(loaded) => std::slice::from_ref(loaded),
            Self::Snapshot(loads) | Self::Await(loads) => loads,
            _ => &[],
        }
    }

    /// The cells it accessed.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        let of_snapshot = if let Self::Snapshot(loads) | Self::Await(loads) = self { loads.as_slice() } else { &[] };
        self.address().into_iter().chain(of_snapshot.iter().map(|loaded| loaded.address))
    }

    /// The cell it is about; none if it is about several.
    pub fn address(&self) -> Option<Address> {
        match *self {
            Self::Load(Loaded { address, .. })
            | Self::Store { address, .. }
            | Self::Flush { address, .. }
            | Self::ReadModifyWrite { address, .. } => Some(address),
            _ => None,
        }
    }

    /// What it read from the cell; none if it is about several.
    pub fn read(&self) -> Option<Value> {
        match *self {
            Self::Load(Loaded { value, .. }) => Some(value),
            Self::ReadModifyWrite { read, .. } => Some(read),
            _ => None,
        }
    }

    /// What it wrote to memory or to the buffer.
    pub fn written(&self) -> Option<Value> {
        match *self {
            Self::Store { value, .. } | Self::Flush { value, .. } => Some(value),
            Self::ReadModifyWrite { written, .. } => written,
            _ => None,
        }
    }

    /// What it wrote to memory: a buffered store has not reached it.
    pub(crate) fn memory_write(&self) -> Option<(Address, Value)> {
        match *self {
            Self::Store { buffered: true, .. } => None,
            _ => Some((self.address()?, self.written()?)),
        }
    }

    /// The registers it set, and to what. What a return restores is not among them.
    pub fn registers(&self) -> impl Iterator<Item = (RegId, Value)> + '_ {
        let other = match *self {
            Self::Assign { register, value } | Self::Havoc { register, value } => Some((register, value)),
            Self::ReadModifyWrite { register, .. } => register,
            Self::Return { register, value } => register.map(|register| (register, value)),
            _ => None,
        };
        let of_call = if let Self::Call { registers, .. } = self { registers.as_slice() } else { &[] };
        let loaded = self.loads().iter().map(|loaded| (loaded.register, loaded.value));
        other.into_iter().chain(of_call.iter().copied()).chain(loaded)
    }
}

#[cfg(test)]
mod tests;

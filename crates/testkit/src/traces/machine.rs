//! Runs under SC and TSO, each kept as what makes its trace: a machine of its own, which shares nothing with an engine.

use std::collections::BTreeMap;
use std::rc::Rc;

use weir_ir::{Address, EdgeId, Instruction, LocId, Multiplicity, Program, RegExpr, RegId, Rmw, Value};

/// A traced instruction, named by its thread and its place there.
pub(super) type Name = (usize, usize);

/// A step of a thread that its trace remembers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TracedInstruction {
    pub(super) edge: EdgeId,
    /// What a `Havoc` took.
    pub(super) choice: Value,
    pub(super) accesses: Vec<Access>,
}

/// What a traced instruction does to one cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Access {
    pub(super) address: Address,
    /// If it reads: the store that it reads from, or none for the initial value.
    pub(super) source: Option<Option<Name>>,
    pub(super) written: Option<Value>,
}

/// What a run has done so far, and where that leads.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) threads: Vec<Local>,
    /// The cells that were written.
    pub(super) memory: BTreeMap<Address, Value>,
    /// For each cell, the stores that have reached it, in order.
    pub(super) landed: BTreeMap<Address, Vec<Name>>,
    /// Who holds the global lock.
    pub(super) holder: Option<usize>,
}

/// One thread of a run.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) is_present: bool,
    pub(super) location: LocId,
    pub(super) registers: Vec<Value>,
    pub(super) executed: Vec<Rc<TracedInstruction>>,
    /// Where the stores that wait are among the instructions, oldest first.
    pub(super) waiting: Vec<usize>,
}

/// What becomes of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stores {
    /// It reaches memory at once.
    Land,
    /// It waits in the buffer.
    Wait,
}

impl Local {
    fn eval(&self, expr: &RegExpr) -> Value {
        expr.eval(&mut |register| self.registers[register.index()])
    }

    /// The newest waiting store to a cell: its place, and its value.
    fn newest_waiting(&self, address: Address) -> Option<(usize, Value)> {
        let places = self.waiting.iter().rev();
        let to_cell = |&place: &usize| {
            let access = self.executed[place].accesses[0];
            Some((place, access.written.filter(|_| access.address == address)?))
        };
        places.copied().find_map(|place| to_cell(&place))
    }
}

impl Run {
    pub(super) fn is_drained(&self) -> bool {
        self.threads.iter().all(|local| local.waiting.is_empty())
    }

    /// What makes the trace, without anything that depends on the order of the run. Equal traces have equal words; and
    /// state and buffers follow from them.
    pub(super) fn trace(&self, program: &Program) -> Vec<u64> {
        let name = |(thread, place): Name| (thread as u64) << 32 | place as u64;
        let mut words = Vec::with_capacity(64);
        for (thread, local) in program.threads.iter().zip(&self.threads) {
            words.push(local.executed.len() as u64);
            for traced in &local.executed {
                words.push(u64::from(traced.edge.0));
                if matches!(thread.body.edge(traced.edge).instruction, Instruction::Havoc { .. }) {
                    words.push(traced.choice as u64);
                }
                let sources = traced.accesses.iter().filter_map(|access| access.source);
                words.extend(sources.map(|source| source.map_or(u64::MAX, name)));
            }
        }
        for (&address, stores) in &self.landed {
            words.extend([address as u64, stores.len() as u64]);
            words.extend(stores.iter().map(|&store| name(store)));
        }
        words
    }

    fn value(&self, program: &Program, address: Address) -> Value {
        self.memory.get(&address).copied().unwrap_or_else(|| program.initial_value(address))
    }

    fn land(&mut self, address: Address, value: Value, name: Name) {
        self.memory.insert(address, value);
        self.landed.entry(address).or_default().push(name);
    }

    fn is_locked_out(&self, thread: usize) -> bool {
        self.holder.is_some_and(|holder| holder != thread)
    }
}

/// A program with what is remembered of its runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    /// Whether a thread that can only take one step, a local one, takes it along with the step before. Nobody else
    /// notices, so each trace of memory accesses is still there, and there are fewer prefixes of it.
    pub(super) settles: bool,
}

/// A thread that has gone so many local steps is not settled any further: it may run in circles.
const MOST_SETTLED: usize = 64;

impl<'p> Machine<'p> {
    pub(super) fn initial(&self) -> Run {
        let local = |thread: &weir_ir::Thread| Local {
            is_present: thread.multiplicity == Multiplicity::One,
            location: thread.body.entry,
            registers: vec![0; thread.body.registers.len()],
            executed: Vec::new(),
            waiting: Vec::new(),
        };
        let threads = self.program.threads.iter().map(local).collect();
        let mut run = Run { threads, memory: BTreeMap::new(), landed: BTreeMap::new(), holder: None };
        (0..run.threads.len()).for_each(|thread| self.settle(&mut run, thread));
        run
    }

    /// The runs with one more step of the thread, which follows an edge.
    pub(super) fn executed(&self, run: &Run, thread: usize, stores: Stores) -> Vec<Run> {
        let local = &run.threads[thread];
        if !local.is_present {
            return Vec::new();
        }
        let mut next = Vec::new();
        for (edge, _) in self.program.threads[thread].body.edges_from(local.location) {
            next.extend(self.follow(run, (thread, edge), stores));
        }
        next
    }

    /// The runs with one more step, along this edge.
    pub(super) fn follow(&self, run: &Run, (thread, edge): (usize, EdgeId), stores: Stores) -> Vec<Run> {
        let step = Step { machine: *self, run, thread, edge, stores };
        let mut next = step.taken();
        next.iter_mut().for_each(|run| self.settle(run, thread));
        next
    }

    /// The run with the oldest waiting store of the thread in memory.
    pub(super) fn flushed(&self, run: &Run, thread: usize) -> Option<Run> {
        let &place = run.threads[thread].waiting.first()?;
        if run.is_locked_out(thread) {
            return None;
        }
        let mut next = run.clone();
        next.threads[thread].waiting.remove(0);
        let access = run.threads[thread].executed[place].accesses[0];
        next.land(access.address, access.written.unwrap_or(0), (thread, place));
        Some(next)
    }

    fn settle(&self, run: &mut Run, thread: usize) {
        let local = &mut run.threads[thread];
        for _ in 0..if self.settles && local.is_present { MOST_SETTLED } else { 0 } {
            match self.only_local_step(thread, local) {
                Some((to, change)) => {
                    local.location = to;
                    change.into_iter().for_each(|(register, value)| local.registers[register.index()] = value);
                }
                None => break,
            }
        }
    }

    /// If all edges here are local and just one can be taken: where it leads, and what it assigns.
    fn only_local_step(&self, thread: usize, local: &Local) -> Option<(LocId, Option<(RegId, Value)>)> {
        let body = &self.program.threads[thread].body;
        let mut only = None;
        for (_, edge) in body.edges_from(local.location) {
            let step = match &edge.instruction {
                Instruction::Skip | Instruction::Terminate => Some((edge.to, None)),
                Instruction::Assign { register, value } => Some((edge.to, Some((*register, local.eval(value))))),
                Instruction::Assume(condition) => (local.eval(condition) != 0).then_some((edge.to, None)),
                Instruction::Assert(condition) if local.eval(condition) == 0 => Some((body.failed?, None)),
                Instruction::Assert(_) => Some((edge.to, None)),
                _ => return None,
            };
            if only.is_some() && step.is_some() {
                return None;
            }
            only = only.or(step);
        }
        only
    }
}

/// A step under construction.
struct Step<'a, 'p> {
    machine: Machine<'p>,
    run: &'a Run,
    thread: usize,
    edge: EdgeId,
    stores: Stores,
}

impl Step<'_, '_> {
    fn local(&self) -> &Local {
        &self.run.threads[self.thread]
    }

    fn taken(&self) -> Vec<Run> {
        let (program, local) = (self.machine.program, self.local());
        let body = &program.threads[self.thread].body;
        let is_empty = local.waiting.is_empty();
        let may_access = !self.run.is_locked_out(self.thread);
        let if_so = |condition: bool, run: Run| if condition { vec![run] } else { Vec::new() };
        match &body.edge(self.edge).instruction {
            Instruction::Skip | Instruction::Terminate => vec![self.after(0, Vec::new(), &[])],
            Instruction::Membarrier => if_so(self.run.is_drained(), self.after(0, Vec::new(), &[])),
            Instruction::Fence => if_so(is_empty, self.after(0, Vec::new(), &[])),
            Instruction::Assign { register, value } => {
                vec![self.after(0, Vec::new(), &[(*register, local.eval(value))])]
            }
            Instruction::Assume(condition) => if_so(local.eval(condition) != 0, self.after(0, Vec::new(), &[])),
            Instruction::Assert(condition) => {
                let mut next = self.after(0, Vec::new(), &[]);
                if local.eval(condition) == 0 {
                    next.threads[self.thread].location = body.failed.unwrap_or(next.threads[self.thread].location);
                }
                vec![next]
            }
            Instruction::Havoc { register, range } => {
                (range.low..=range.high).map(|value| self.after(value, Vec::new(), &[(*register, value)])).collect()
            }
            Instruction::Load { register, address } if may_access => {
                vec![self.loaded(&[(*register, address.clone())])]
            }
            Instruction::Snapshot(loads) if may_access => vec![self.loaded(loads)],
            Instruction::Await { loads, condition } if may_access => {
                let next = self.loaded(loads);
                let holds = next.threads[self.thread].eval(condition) != 0;
                if_so(holds, next)
            }
            Instruction::Store { address, value } => self.stored(local.eval(address), local.eval(value)),
            Instruction::ReadModifyWrite { register, address, operation } if may_access && is_empty => {
                self.modified(*register, local.eval(address), operation)
            }
            Instruction::Lock if is_empty && self.run.holder.is_none() => vec![self.held(Some(self.thread))],
            Instruction::Unlock if is_empty && self.run.holder == Some(self.thread) => vec![self.held(None)],
            _ => Vec::new(),
        }
    }

    /// The run with this instruction, at the end of the edge.
    fn after(&self, choice: Value, accesses: Vec<Access>, results: &[(RegId, Value)]) -> Run {
        let mut next = self.run.clone();
        let local = &mut next.threads[self.thread];
        local.location = self.machine.program.threads[self.thread].body.edge(self.edge).to;
        results.iter().for_each(|&(register, value)| local.registers[register.index()] = value);
        local.executed.push(Rc::new(TracedInstruction { edge: self.edge, choice, accesses }));
        next
    }

    fn held(&self, holder: Option<usize>) -> Run {
        Run { holder, ..self.after(0, Vec::new(), &[]) }
    }

    /// What the thread sees in a cell, and who wrote it.
    fn seen(&self, address: Address) -> (Value, Option<Name>) {
        match self.local().newest_waiting(address) {
            Some((place, value)) => (value, Some((self.thread, place))),
            None => {
                let source = self.run.landed.get(&address).and_then(|stores| stores.last().copied());
                (self.run.value(self.machine.program, address), source)
            }
        }
    }

    fn loaded(&self, loads: &[(RegId, RegExpr)]) -> Run {
        let (mut accesses, mut results) = (Vec::new(), Vec::new());
        for (register, address) in loads {
            let address = self.local().eval(address);
            let (value, source) = self.seen(address);
            accesses.push(Access { address, source: Some(source), written: None });
            results.push((*register, value));
        }
        self.after(0, accesses, &results)
    }

    fn stored(&self, address: Address, value: Value) -> Vec<Run> {
        if !self.machine.program.admits(address, value) {
            return Vec::new();
        }
        let value = self.kept(address, value);
        let place = self.local().executed.len();
        let mut next = self.after(0, vec![Access { address, source: None, written: Some(value) }], &[]);
        match self.stores {
            Stores::Wait => next.threads[self.thread].waiting.push(place),
            Stores::Land if self.run.is_locked_out(self.thread) => return Vec::new(),
            Stores::Land => next.land(address, value, (self.thread, place)),
        }
        vec![next]
    }

    /// The low bits, if the cell has only so many.
    fn kept(&self, address: Address, value: Value) -> Value {
        let width = self.machine.program.shared_at(address).and_then(|(shared, _)| shared.width);
        width.map_or(value, |width| value.rem_euclid(1 << width.bits()))
    }

    fn modified(&self, register: Option<RegId>, address: Address, operation: &Rmw) -> Vec<Run> {
        let local = self.local();
        let (held, source) = self.seen(address);
        let (written, result) = match operation {
            Rmw::CompareAndSwap { expected, new } => {
                let succeeds = held == local.eval(expected);
                (succeeds.then(|| local.eval(new)), Value::from(succeeds))
            }
            Rmw::CompareExchange { expected, new } => ((held == local.eval(expected)).then(|| local.eval(new)), held),
            Rmw::Exchange(new) => (Some(local.eval(new)), held),
            Rmw::Fetch(combine, operand) => (Some(combine.operator().apply(held, local.eval(operand))), held),
        };
        if written.is_some_and(|value| !self.machine.program.admits(address, value)) {
            return Vec::new();
        }
        let written = written.map(|value| self.kept(address, value));
        let place = local.executed.len();
        let results: Vec<_> = register.map(|register| (register, result)).into_iter().collect();
        let mut next = self.after(0, vec![Access { address, source: Some(source), written }], &results);
        if let Some(value) = written {
            next.land(address, value, (self.thread, place));
        }
        vec![next]
    }
}

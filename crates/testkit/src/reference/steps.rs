//! The steps possible in a state, and where each leads: the semantics, one rule after the other.

use std::collections::BTreeMap;
use std::rc::Rc;

use weir_ir::{
    Address, Edge, EdgeId, Instruction, LocId, ProcId, Program, RegExpr, RegId, Rmw, ThreadId, Value, Width,
};

use super::Model;
use super::state::{Caller, State, ThreadState};

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// Follows an edge.
    Execute(EdgeId),
    /// Follows an edge of a procedure, or returns at its end.
    InProcedure(Option<EdgeId>),
    /// The thread's oldest buffered store reaches memory.
    Flush,
}

/// How far calls and spawns go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Depth {
    /// The most calls on a stack.
    pub frames: usize,
    /// How often each thread can be spawned.
    pub spawned: usize,
}

impl Depth {
    /// For programs without calls and spawns.
    pub(super) const NONE: Self = Self { frames: 0, spawned: 0 };
}

/// All steps possible in `state`: who, what, and the state after it. Of a `Havoc` at most `limit + 1` values are
/// tried: each leads to a state of its own, so that many are more than a search of `limit` states can visit.
pub(super) fn successors(
    program: &Program,
    model: Model,
    state: &State,
    limit: usize,
) -> Vec<(ThreadId, Action, State)> {
    successors_within(program, model, state, limit, Depth::NONE)
}

/// The same for a program with calls and spawns. Beyond the given depth, a call or spawn changes nothing.
pub(super) fn successors_within(
    program: &Program,
    model: Model,
    state: &State,
    limit: usize,
    depth: Depth,
) -> Vec<(ThreadId, Action, State)> {
    let mut steps = Vec::new();
    for (&thread, own) in &state.threads {
        let rules = Rules { program, model, state, thread, own, limit, depth };
        for (id, edge) in own.body(program).edges_from(own.location) {
            let action = if own.procedure.is_some() { Action::InProcedure(Some(id)) } else { Action::Execute(id) };
            steps.extend(rules.execute(edge).into_iter().map(|next| (thread, action, next)));
        }
        if own.procedure.is_some() && !own.terminated && own.body(program).is_done(own.location) {
            steps.push((thread, Action::InProcedure(None), rules.give_back(0)));
        }
        steps.extend(rules.flush().into_iter().map(|next| (thread, Action::Flush, next)));
    }
    steps
}

/// Whether some thread is about to call or spawn beyond the given depth.
pub(super) fn is_beyond(program: &Program, state: &State, depth: Depth) -> bool {
    state.threads.iter().any(|(&thread, own)| {
        let rules = Rules { program, model: Model::Sc, state, thread, own, limit: 0, depth };
        own.body(program).edges_from(own.location).any(|(_, edge)| rules.goes_beyond(edge))
    })
}

/// The edges that write memory, or will, and wait for nothing but that the value is not one the cell may take.
pub(super) fn blocked_by_range(program: &Program, model: Model, state: &State) -> Vec<(ThreadId, EdgeId)> {
    let mut blocked = Vec::new();
    for (&thread, own) in &state.threads {
        let rules = Rules { program, model, state, thread, own, limit: 0, depth: Depth::NONE };
        if own.procedure.is_none() {
            let edges = own.body(program).edges_from(own.location);
            blocked.extend(edges.filter(|(_, edge)| rules.is_blocked_by_range(edge)).map(|(id, _)| (thread, id)));
        }
    }
    blocked
}

/// One thread's view of a state.
struct Rules<'a> {
    program: &'a Program,
    model: Model,
    state: &'a State,
    thread: ThreadId,
    own: &'a ThreadState,
    limit: usize,
    depth: Depth,
}

impl Rules<'_> {
    /// The states that following `edge` can lead to: none if it is disabled.
    fn execute(&self, edge: &Edge) -> Vec<State> {
        let to = edge.to;
        match &edge.instruction {
            Instruction::Skip => vec![self.go(to)],
            Instruction::Terminate => {
                let mut next = self.go(to);
                self.own_in(&mut next).terminated = self.own.procedure.is_some();
                vec![next]
            }
            Instruction::Load { register, address } => self.load(to, *register, address).into_iter().collect(),
            Instruction::Snapshot(loads) => self.snapshot(to, loads).into_iter().collect(),
            Instruction::Await { loads, condition } => self.wait(to, loads, condition).into_iter().collect(),
            Instruction::Store { address, value } => self.store(to, address, value).into_iter().collect(),
            Instruction::Fence => only_if(self.own_buffer_is_empty(), || self.go(to)),
            Instruction::Membarrier => only_if(self.every_buffer_is_empty(), || self.go(to)),
            Instruction::Assign { register, value } => vec![self.go_with(to, *register, self.own.eval(value))],
            Instruction::Assume(condition) => only_if(self.own.eval(condition) != 0, || self.go(to)),
            Instruction::Assert(condition) => self.assert(to, condition),
            Instruction::ReadModifyWrite { register, address, operation } => {
                self.read_modify_write(to, *register, address, operation).into_iter().collect()
            }
            Instruction::Lock => self.lock(to).into_iter().collect(),
            Instruction::Unlock => self.unlock(to).into_iter().collect(),
            Instruction::Havoc { register, range } => {
                let values = (range.low..=range.high).take(self.limit.saturating_add(1));
                values.map(|value| self.go_with(to, *register, value)).collect()
            }
            _ if self.goes_beyond(edge) => vec![self.state.clone()],
            Instruction::Call { procedure, arguments, register } => {
                vec![self.call(to, *procedure, arguments, *register)]
            }
            Instruction::Return(value) => vec![self.give_back(self.own.eval(value))],
            Instruction::Spawn(thread) => vec![self.spawn(to, *thread)],
        }
    }

    fn goes_beyond(&self, edge: &Edge) -> bool {
        match edge.instruction {
            Instruction::Call { .. } => self.own.callers.len() >= self.depth.frames,
            Instruction::Spawn(thread) => self.spawned(thread) >= self.depth.spawned,
            _ => false,
        }
    }

    /// How often a thread was spawned so far.
    fn spawned(&self, template: ThreadId) -> usize {
        let first = self.program.threads.len();
        let is_spawned = |(id, own): &(&ThreadId, &Rc<ThreadState>)| id.index() >= first && own.template == template;
        self.state.threads.iter().filter(is_spawned).count()
    }

    /// A new frame: the parameters have the arguments, all other registers are at 0, but for thread-local ones.
    fn call(&self, to: LocId, procedure: ProcId, arguments: &[RegExpr], result: Option<RegId>) -> State {
        let callee = &self.program.procedures[procedure.index()];
        let mut registers: BTreeMap<RegId, Value> =
            (0..callee.body.registers.len()).map(|register| (RegId::new(register), 0)).collect();
        for (parameter, argument) in callee.parameters.iter().zip(arguments) {
            registers.insert(*parameter, self.own.eval(argument));
        }
        let mut next = self.state.clone();
        let own = self.own_in(&mut next);
        let mut kept = own.registers.clone();
        // Where they are now, they have one value; what they were here does not matter.
        own.body(self.program).thread_locals().for_each(|register| {
            kept.insert(register, 0);
        });
        let caller = Caller { procedure: own.procedure, registers: kept, back: to, result };
        own.enter(self.program, (Some(procedure), callee.body.entry), registers);
        own.callers.push(caller);
        next
    }

    /// Back to the caller.
    fn give_back(&self, value: Value) -> State {
        let mut next = self.state.clone();
        let own = self.own_in(&mut next);
        let caller = own.callers.pop().expect("only a procedure returns");
        own.enter(self.program, (caller.procedure, caller.back), caller.registers);
        if let Some(register) = caller.result {
            own.registers.insert(register, value);
        }
        next
    }

    /// One more thread, with an empty buffer; nothing else changes.
    fn spawn(&self, to: LocId, template: ThreadId) -> State {
        let mut next = self.go(to);
        let last = next.threads.keys().next_back().map_or(0, |last| last.index() + 1);
        let number = ThreadId::new(last.max(self.program.threads.len()));
        next.threads.insert(number, Rc::new(ThreadState::initial(self.program, template)));
        next
    }

    fn is_blocked_by_range(&self, edge: &Edge) -> bool {
        match &edge.instruction {
            Instruction::Store { address, value } => {
                let waits_for_the_lock = self.model == Model::Sc && self.another_holds_the_lock();
                !waits_for_the_lock && !self.program.admits(self.own.eval(address), self.own.eval(value))
            }
            Instruction::ReadModifyWrite { address, operation, .. } => {
                let waits = self.another_holds_the_lock() || !self.own_buffer_is_empty();
                let address = self.own.eval(address);
                let (written, _) = self.outcome_of(operation, self.state.read_memory(self.program, address));
                !waits && written.is_some_and(|value| !self.program.admits(address, value))
            }
            _ => false,
        }
    }

    fn flush(&self) -> Vec<State> {
        if self.another_holds_the_lock() {
            return Vec::new();
        }
        let flushed = |(address, value), rest: &dyn Fn(&mut ThreadState)| {
            let mut next = self.state.clone();
            next.write_memory(self.program, address, value);
            rest(self.own_in(&mut next));
            next
        };
        if let Some(&oldest) = self.own.buffer.first() {
            return vec![flushed(oldest, &|own| {
                own.buffer.remove(0);
            })];
        }
        let loose = match self.model {
            Model::Sc | Model::Tso => Vec::new(),
            Model::Set | Model::Coherence(_) => self.own.loose.flush_set(),
            Model::Multiset => self.own.loose.flush_multiset(),
        };
        loose.iter().map(|(store, rest)| flushed(*store, &|own| own.loose = rest.clone())).collect()
    }

    fn load(&self, to: LocId, register: RegId, address: &RegExpr) -> Option<State> {
        if self.another_holds_the_lock() {
            return None;
        }
        Some(self.go_with(to, register, self.seen(address)))
    }

    fn snapshot(&self, to: LocId, loads: &[(RegId, RegExpr)]) -> Option<State> {
        if self.another_holds_the_lock() {
            return None;
        }
        let mut next = self.go(to);
        for (register, address) in loads {
            self.own_in(&mut next).registers.insert(*register, self.seen(address));
        }
        Some(next)
    }

    /// One step: what it loads must satisfy the condition.
    fn wait(&self, to: LocId, loads: &[(RegId, RegExpr)], condition: &RegExpr) -> Option<State> {
        let next = self.snapshot(to, loads)?;
        let holds = next.threads[&self.thread].eval(condition) != 0;
        holds.then_some(next)
    }

    /// What the thread sees in the cell.
    fn seen(&self, address: &RegExpr) -> Value {
        let address = self.own.eval(address);
        let buffered = self.own.newest_buffered(address);
        buffered.unwrap_or_else(|| self.state.read_memory(self.program, address))
    }

    fn store(&self, to: LocId, address: &RegExpr, value: &RegExpr) -> Option<State> {
        let (address, value) = (self.own.eval(address), self.own.eval(value));
        if !self.program.admits(address, value) {
            return None;
        }
        let value = self.kept(address, value);
        match self.model {
            Model::Sc if self.another_holds_the_lock() => None,
            Model::Sc => Some(self.go_and_write(to, address, value)),
            _ => {
                let mut next = self.go(to);
                self.own_in(&mut next).buffer(self.model, address, value);
                Some(next)
            }
        }
    }

    fn read_modify_write(
        &self,
        to: LocId,
        register: Option<RegId>,
        address: &RegExpr,
        operation: &Rmw,
    ) -> Option<State> {
        if self.another_holds_the_lock() || !self.own_buffer_is_empty() {
            return None;
        }
        let address = self.own.eval(address);
        let held = self.state.read_memory(self.program, address);
        let (written, result) = self.outcome_of(operation, held);
        let mut next = match written {
            Some(value) if !self.program.admits(address, value) => return None,
            Some(value) => self.go_and_write(to, address, self.kept(address, value)),
            None => self.go(to),
        };
        if let Some(register) = register {
            self.own_in(&mut next).registers.insert(register, result);
        }
        Some(next)
    }

    /// What a cell keeps of a value: the remainder, if it is of 8, 16 or 32 bits.
    fn kept(&self, address: Address, value: Value) -> Value {
        match self.program.shared_at(address).and_then(|(shared, _)| shared.width) {
            None => value,
            Some(Width::U8) => value.rem_euclid(256),
            Some(Width::U16) => value.rem_euclid(65_536),
            Some(Width::U32) => value.rem_euclid(4_294_967_296),
        }
    }

    /// What a read-modify-write of a cell that holds `held` writes, if anything, and its result.
    fn outcome_of(&self, operation: &Rmw, held: Value) -> (Option<Value>, Value) {
        match operation {
            Rmw::CompareAndSwap { expected, new } if held == self.own.eval(expected) => (Some(self.own.eval(new)), 1),
            Rmw::CompareAndSwap { .. } => (None, 0),
            Rmw::CompareExchange { expected, new } if held == self.own.eval(expected) => {
                (Some(self.own.eval(new)), held)
            }
            Rmw::CompareExchange { .. } => (None, held),
            Rmw::Exchange(new) => (Some(self.own.eval(new)), held),
            Rmw::Fetch(combine, operand) => (Some(combine.operator().apply(held, self.own.eval(operand))), held),
        }
    }

    fn lock(&self, to: LocId) -> Option<State> {
        (self.state.holder.is_none() && self.own_buffer_is_empty())
            .then(|| State { holder: Some(self.thread), ..self.go(to) })
    }

    fn unlock(&self, to: LocId) -> Option<State> {
        (self.state.holder == Some(self.thread) && self.own_buffer_is_empty())
            .then(|| State { holder: None, ..self.go(to) })
    }

    /// # Panics
    /// If the body asserts but has no location for failed assertions, which makes it no valid body.
    fn assert(&self, to: LocId, condition: &RegExpr) -> Vec<State> {
        let failed = self.own.body(self.program).failed;
        let failed = || failed.expect("a body that asserts has a location for failed assertions");
        vec![self.go(if self.own.eval(condition) != 0 { to } else { failed() })]
    }

    fn own_buffer_is_empty(&self) -> bool {
        self.own.is_drained()
    }

    fn every_buffer_is_empty(&self) -> bool {
        self.state.threads.values().all(|thread| thread.is_drained())
    }

    fn another_holds_the_lock(&self) -> bool {
        self.state.holder.is_some_and(|holder| holder != self.thread)
    }

    fn own_in<'s>(&self, state: &'s mut State) -> &'s mut ThreadState {
        Rc::make_mut(state.threads.get_mut(&self.thread).expect("a step keeps every thread"))
    }

    fn go(&self, to: LocId) -> State {
        let mut next = self.state.clone();
        self.own_in(&mut next).location = to;
        next
    }

    fn go_with(&self, to: LocId, register: RegId, value: Value) -> State {
        let mut next = self.go(to);
        self.own_in(&mut next).registers.insert(register, value);
        next
    }

    fn go_and_write(&self, to: LocId, address: Address, value: Value) -> State {
        let mut next = self.go(to);
        next.write_memory(self.program, address, value);
        next
    }
}

fn only_if(condition: bool, state: impl FnOnce() -> State) -> Vec<State> {
    if condition { vec![state()] } else { Vec::new() }
}

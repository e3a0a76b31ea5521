//! Threads that share memory through store buffers, whatever the threads are: interpreters of source languages give the
//! steps of one thread, and this gives the states of all of them together, under SC and TSO.
//!
//! Written from the definitions of the two models, without the program representation, so that what a front end makes
//! of a text can be compared with what the text says.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, Value};

use crate::reference::Model;

/// Where a load leads, by the values it sees.
pub type AfterLoad<'a, L> = dyn FnOnce(&[Value]) -> L + 'a;

/// Where a wait leads, by the values it sees, if they are those it waits for.
pub type AfterWait<'a, L> = dyn FnOnce(&[Value]) -> Option<L> + 'a;

/// What a read-modify-write puts into its cell, if anything, and where it leads, by what the cell holds.
pub type AfterRead<'a, L> = dyn FnOnce(Value) -> (Option<Value>, L) + 'a;

/// What a thread does in one step, and where that leads it.
pub enum Action<'a, L> {
    /// Nothing that another thread could see.
    Local(L),
    /// Loads these cells at once; what they hold decides where it leads.
    Load(Vec<Address>, Box<AfterLoad<'a, L>>),
    /// Loads these cells at once, and goes on only if what they hold leads somewhere.
    Await(Vec<Address>, Box<AfterWait<'a, L>>),
    /// A store.
    Store(Address, Value, L),
    /// Waits for an empty buffer.
    Fence(L),
    /// Waits for all buffers to be empty.
    Membarrier(L),
    /// Reads a cell and perhaps writes it, in one step with an empty buffer.
    Modify(Address, Box<AfterRead<'a, L>>),
    /// Takes the global lock.
    Lock(L),
    /// Gives the global lock back.
    Unlock(L),
}

/// A program as its interpreter sees it.
pub trait Machine {
    /// What a thread keeps to itself: control and registers.
    type Local: Clone + Ord;

    /// Where each thread starts.
    fn initial(&self) -> Vec<Self::Local>;

    /// What a cell holds at the start.
    fn initial_value(&self, address: Address) -> Value;

    /// Whether a store of the value is possible at all.
    fn admits(&self, address: Address, value: Value) -> bool {
        let _ = (address, value);
        true
    }

    /// What is left of a value that is stored there.
    fn stored(&self, address: Address, value: Value) -> Value {
        let _ = address;
        value
    }

    /// What a thread can do next; nothing if it is done or waits forever.
    fn actions<'a>(&'a self, thread: usize, local: &Self::Local) -> Vec<Action<'a, Self::Local>>;
}

/// A state of all threads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct State<L> {
    /// Each thread's own part.
    pub locals: Vec<L>,
    /// The cells that differ from their initial value.
    pub memory: BTreeMap<Address, Value>,
    buffers: Vec<Vec<(Address, Value)>>,
    holder: Option<usize>,
}

impl<L> State<L> {
    /// Whether all buffers are empty.
    pub fn is_drained(&self) -> bool {
        self.buffers.iter().all(Vec::is_empty)
    }

    /// What memory holds.
    pub fn cell<M: Machine<Local = L>>(&self, machine: &M, address: Address) -> Value {
        self.memory.get(&address).copied().unwrap_or_else(|| machine.initial_value(address))
    }
}

/// Calls `visit` on every reachable state, with the least number of steps to it and whether no step leads on. False if
/// there are more than `limit` states.
pub fn visit_states<M: Machine>(
    machine: &M,
    model: Model,
    limit: usize,
    visit: &mut impl FnMut(&State<M::Local>, usize, bool),
) -> bool {
    let locals = machine.initial();
    let buffers = vec![Vec::new(); locals.len()];
    let initial = State { locals, memory: BTreeMap::new(), buffers, holder: None };
    let mut seen = BTreeSet::from([initial.clone()]);
    let (mut layer, mut depth) = (vec![initial], 0);
    while !layer.is_empty() {
        let mut next_layer = Vec::new();
        for state in &layer {
            let successors = successors(machine, model, state);
            visit(state, depth, successors.is_empty());
            for next in successors {
                if seen.insert(next.clone()) {
                    next_layer.push(next);
                }
            }
            if seen.len() > limit {
                return false;
            }
        }
        (layer, depth) = (next_layer, depth + 1);
    }
    true
}

fn successors<M: Machine>(machine: &M, model: Model, state: &State<M::Local>) -> Vec<State<M::Local>> {
    let mut found = Vec::new();
    for (thread, local) in state.locals.iter().enumerate() {
        let view = View { machine, model, state, thread };
        found.extend(view.flush());
        found.extend(machine.actions(thread, local).into_iter().filter_map(|action| view.take(action)));
    }
    found
}

/// One thread's view of a state.
struct View<'a, M: Machine> {
    machine: &'a M,
    model: Model,
    state: &'a State<M::Local>,
    thread: usize,
}

impl<M: Machine> View<'_, M> {
    /// The oldest store reaches memory.
    fn flush(&self) -> Option<State<M::Local>> {
        let &(address, value) = self.buffer().first()?;
        let mut next = self.unlocked()?;
        next.buffers[self.thread].remove(0);
        self.write(&mut next, address, value);
        Some(next)
    }

    fn take(&self, action: Action<'_, M::Local>) -> Option<State<M::Local>> {
        match action {
            Action::Local(local) => Some(self.at(self.state.clone(), local)),
            Action::Load(cells, then) => {
                let next = self.unlocked()?;
                let values: Vec<Value> = cells.into_iter().map(|address| self.seen(address)).collect();
                Some(self.at(next, then(&values)))
            }
            Action::Await(cells, then) => {
                let next = self.unlocked()?;
                let values: Vec<Value> = cells.into_iter().map(|address| self.seen(address)).collect();
                Some(self.at(next, then(&values)?))
            }
            Action::Store(address, value, local) => self.store(address, value, local),
            Action::Fence(local) => Some(self.at(self.drained()?, local)),
            Action::Membarrier(local) => self.state.is_drained().then(|| self.at(self.state.clone(), local)),
            Action::Modify(address, then) => {
                self.drained()?;
                let mut next = self.unlocked()?;
                let (written, local) = then(self.state.cell(self.machine, address));
                if let Some(value) = written {
                    self.admitted(address, value)?;
                    self.write(&mut next, address, self.machine.stored(address, value));
                }
                Some(self.at(next, local))
            }
            Action::Lock(local) => {
                self.state.holder.is_none().then_some(())?;
                let mut next = self.drained()?;
                next.holder = Some(self.thread);
                Some(self.at(next, local))
            }
            Action::Unlock(local) => {
                (self.state.holder == Some(self.thread)).then_some(())?;
                let mut next = self.drained()?;
                next.holder = None;
                Some(self.at(next, local))
            }
        }
    }

    fn store(&self, address: Address, value: Value, local: M::Local) -> Option<State<M::Local>> {
        self.admitted(address, value)?;
        let value = self.machine.stored(address, value);
        if self.model == Model::Sc {
            let mut next = self.unlocked()?;
            self.write(&mut next, address, value);
            return Some(self.at(next, local));
        }
        let mut next = self.state.clone();
        next.buffers[self.thread].push((address, value));
        Some(self.at(next, local))
    }

    fn buffer(&self) -> &[(Address, Value)] {
        &self.state.buffers[self.thread]
    }

    /// The newest store of its own, else what memory holds.
    fn seen(&self, address: Address) -> Value {
        let own = self.buffer().iter().rev().find(|store| store.0 == address);
        own.map_or_else(|| self.state.cell(self.machine, address), |store| store.1)
    }

    fn admitted(&self, address: Address, value: Value) -> Option<()> {
        self.machine.admits(address, value).then_some(())
    }

    /// The state, unless another thread holds the lock.
    fn unlocked(&self) -> Option<State<M::Local>> {
        self.state.holder.is_none_or(|holder| holder == self.thread).then(|| self.state.clone())
    }

    /// The state, if the own buffer is empty.
    fn drained(&self) -> Option<State<M::Local>> {
        self.buffer().is_empty().then(|| self.state.clone())
    }

    fn at(&self, mut state: State<M::Local>, local: M::Local) -> State<M::Local> {
        state.locals[self.thread] = local;
        state
    }

    fn write(&self, state: &mut State<M::Local>, address: Address, value: Value) {
        if value == self.machine.initial_value(address) {
            state.memory.remove(&address);
        } else {
            state.memory.insert(address, value);
        }
    }
}

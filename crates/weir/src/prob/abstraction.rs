//! What can happen at most: store buffers as sets.
//!
//! A buffer is known by which stores are in it and which is the newest to each address; how often a store is there and
//! in which order is forgotten, so there are finitely many such buffers if values are. Every run of the program is a
//! run here; what this cannot reach, the program cannot. That is all it is used for: it proves that something is out of
//! reach, never that it is not. (The set abstraction of G. Calin's thesis, §3.2, with the newest value for each
//! address.)
//!
//! This is not the approximation of `semantics::abstraction`, which keeps older stores until the newest to their
//! address has landed: that has the same drained states and fewer others, but a state of the program with stores under
//! way need not be among them. Here it is, so that the question can be asked about every configuration of a chain.
//!
//! A set is kept as a buffer in a normal form: the stores that are not the newest to their address, in order, then the
//! newest, in order. So loads, fences and states work as they do for real buffers.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use weir_ir::{Address, Value};

use crate::semantics::layout::Target;
use crate::semantics::machine::{Machine, MemoryModel, System};
use crate::semantics::state::{Field, Packed};
use crate::semantics::tso::Tso;
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::Session;

use super::chain::Chain;

/// Total Store Order with sets for buffers.
enum Sets {}

impl MemoryModel for Sets {
    const STORES_PASS_THE_LOCK: bool = true;

    fn load<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize, target: Target) -> Value {
        Tso::load(machine, state, thread, target)
    }

    fn store<const N: usize>(machine: &Machine, next: &mut Packed<N>, thread: usize, target: Target, value: Value) {
        Tso::store(machine, next, thread, target, value);
        if let Some(field) = machine.layout.buffers[thread] {
            normalize(machine, next, field);
        }
    }

    fn is_drained<const N: usize>(machine: &Machine, state: &Packed<N>, thread: usize) -> bool {
        Tso::is_drained(machine, state, thread)
    }

    fn flushes<const N: usize>(
        machine: &Machine,
        from: &Packed<N>,
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        for (thread, &field) in machine.layout.buffers.iter().enumerate() {
            let Some(field) = field else { continue };
            if machine.locked_out(from, thread) {
                continue;
            }
            let entries: Vec<(Address, Value)> = machine.buffers.entries(from.raw(field)).collect();
            let step = StepCode { number: machine.edge_count + thread as u32, choice: 0 };
            for (position, &(address, value)) in entries.iter().enumerate() {
                let mut next = *from;
                machine.write(&mut next, machine.layout.cells.target(address), value);
                // The same store may be in the buffer once more.
                emit(step, next);
                // The newest store to an address leaves after all others to it. Newer entries come first here.
                let is_newest = entries[..position].iter().all(|&(other, _)| other != address);
                let is_alone = entries[position + 1..].iter().all(|&(other, _)| other != address);
                if !is_newest || is_alone {
                    let rest = entries.iter().rev().filter(|&&entry| entry != (address, value));
                    put(machine, &mut next, field, rest.copied());
                    emit(step, next);
                }
            }
        }
    }
}

/// Gives a buffer these stores, the oldest first.
fn put<const N: usize>(
    machine: &Machine,
    state: &mut Packed<N>,
    field: Field,
    mut entries: impl Iterator<Item = (Address, Value)>,
) {
    let number = entries.try_fold(0, |number, entry| machine.buffers.push(number, entry));
    machine.put_number(state, field, number);
}

/// Turns a buffer into the set it stands for.
fn normalize<const N: usize>(machine: &Machine, state: &mut Packed<N>, field: Field) {
    let mut newest: BTreeMap<Address, Value> = BTreeMap::new();
    let mut older: Vec<(Address, Value)> = Vec::new();
    for (address, value) in machine.buffers.entries(state.raw(field)) {
        match newest.get(&address) {
            None => {
                newest.insert(address, value);
            }
            Some(&known) if known == value => {}
            Some(_) => older.push((address, value)),
        }
    }
    older.sort_unstable();
    older.dedup();
    put(machine, state, field, older.into_iter().chain(newest));
}

/// All that can happen at most, from the start of the program.
pub(super) struct Abstraction<const N: usize> {
    states: Vec<Packed<N>>,
    index: FxHashMap<Packed<N>, u32>,
    /// For each state, who leads to it.
    backward: Vec<Vec<u32>>,
    /// For each state, whether a target may follow or is there.
    may_reach: Vec<bool>,
}

impl<const N: usize> Abstraction<N> {
    /// Walks all abstract states; past a target only if `past_targets`. `None` if there are more than `most`, a limit
    /// is hit, or what is looked for cannot be told from an abstract state.
    pub(super) fn new(chain: &Chain<'_, N>, past_targets: bool, most: usize, session: &Session) -> Option<Self> {
        if chain.model.seeks_stuck() {
            return None;
        }
        let system = System::<Sets, N>::new(&chain.model.compiled.machine);
        let initial = system.initial();
        let mut all = Self {
            states: vec![initial],
            index: FxHashMap::from_iter([(initial, 0)]),
            backward: vec![Vec::new()],
            may_reach: Vec::new(),
        };
        let mut at = 0;
        while at < all.states.len() {
            let bytes = all.states.len() as u64 * 200;
            if all.states.len() > most || (at % 1024 == 0 && session.exceeded_with(bytes, 0).is_some()) {
                return None;
            }
            let from = all.states[at];
            if past_targets || !chain.model.is_target(&from) {
                let mut next = Vec::new();
                system.each_successor(&from, &mut |_, state| {
                    next.push(state);
                    next.len() <= most
                });
                for state in next {
                    all.lead(at as u32, state);
                }
            }
            at += 1;
        }
        let targets: Vec<bool> = all.states.iter().map(|state| chain.model.is_target(state)).collect();
        all.may_reach = all.closure(|state| targets[state]);
        Some(all)
    }

    fn lead(&mut self, from: u32, state: Packed<N>) {
        let number = self.states.len() as u32;
        let found = *self.index.entry(state).or_insert(number);
        if found == number {
            self.states.push(state);
            self.backward.push(Vec::new());
        }
        let leading = &mut self.backward[found as usize];
        if leading.last() != Some(&from) {
            leading.push(from);
        }
    }

    /// Which states may reach one of the sources.
    pub(super) fn closure(&self, sources: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut can: Vec<bool> = (0..self.states.len()).map(sources).collect();
        let mut open: Vec<usize> = (0..can.len()).filter(|&state| can[state]).collect();
        while let Some(state) = open.pop() {
            for &from in &self.backward[state] {
                if !std::mem::replace(&mut can[from as usize], true) {
                    open.push(from as usize);
                }
            }
        }
        can
    }

    /// The abstract state that stands for a state of the program; `None` if it is not reachable, even here.
    pub(super) fn number_of(&self, chain: &Chain<'_, N>, state: &Packed<N>) -> Option<usize> {
        let machine = &chain.model.compiled.machine;
        let mut normal = *state;
        for &field in machine.layout.buffers.iter().flatten() {
            normalize(machine, &mut normal, field);
        }
        self.index.get(&normal).map(|&number| number as usize)
    }

    /// Whether a target is certainly out of reach from a state of the program that the program can reach.
    pub(super) fn is_prob0(&self, chain: &Chain<'_, N>, state: &Packed<N>) -> bool {
        self.number_of(chain, state).is_some_and(|number| !self.may_reach[number])
    }

    /// The drained states, which stand for themselves, by number: every drained state that the program can reach is
    /// among them.
    pub(super) fn drained<'s>(&'s self, chain: &'s Chain<'_, N>) -> impl Iterator<Item = (usize, Packed<N>)> + 's {
        let all = self.states.iter().copied().enumerate();
        all.filter(|(_, state)| chain.model.is_drained(state))
    }
}

#[cfg(test)]
mod tests {
    use weir_testkit::random::{self, Statement, condition};
    use weir_testkit::{Rng, dump};

    use super::*;
    use crate::prob::chain::{Visitor, with_chain};
    use crate::prob::graph::Graph;
    use crate::prob::model::Model;
    use crate::prob::testing::model;
    use crate::prob::{Settings, UpdatePolicy};
    use crate::session::Session;

    #[derive(Default)]
    struct Count {
        states: usize,
        prob0: usize,
    }

    /// Whatever a chain does, the abstraction does, and it gives up no hope too early.
    struct Covers<'a> {
        past_targets: bool,
        /// How many configurations are expanded.
        most: usize,
        context: &'a str,
    }

    impl Visitor for Covers<'_> {
        type Output = Count;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Count {
            let session = Session::default();
            let Some(found) = Abstraction::new(chain, self.past_targets, 20_000, &session) else {
                return Count::default();
            };
            let mut graph = Graph::new(chain);
            let mut at = 0;
            while at < graph.len().min(self.most) {
                if self.past_targets || !graph.is_target(at) {
                    graph.expand(at);
                }
                at += 1;
            }
            let can = graph.can_reach(&graph.backward(|_| true), |number| graph.is_target(number));
            let mut count = Count::default();
            let drained: Vec<Packed<N>> = found.drained(chain).map(|(_, state)| state).collect();
            for (number, can_reach) in can.into_iter().enumerate() {
                let state = graph.config(number).state;
                // A thread that is where it is looked for is not followed to what its stores make of memory.
                let is_end = !self.past_targets && graph.is_target(number);
                assert!(is_end || found.number_of(chain, &state).is_some(), "{state:?} {}", self.context);
                assert!(!can_reach || !found.is_prob0(chain, &state), "{state:?} {}", self.context);
                assert!(is_end || !graph.is_drained(number) || drained.contains(&state), "{state:?} {}", self.context);
                count.states += 1;
                count.prob0 += usize::from(found.is_prob0(chain, &state));
            }
            count
        }
    }

    #[test]
    fn what_a_chain_can_do_is_never_ruled_out() {
        let locking = random::Config::cyclic().weighing(Statement::Atomic, 15).weighing(Statement::StrayLock, 5);
        let mut all = Count::default();
        for (seed, config) in (0..120).zip([random::Config::cyclic(), locking].iter().cycle()) {
            let program = random::program(seed, &config.clone().weighing(Statement::Store, 40));
            let target = condition(&program, &mut Rng::new(seed));
            let model = Model::new(&program, &target, &Settings::default(), &crate::session::Session::default())
                .expect("it can be handled");
            let context = format!("seed {seed}\n{}\n{}", dump(&program), program.condition_text(&target));
            let count = with_chain(&model, Covers { past_targets: seed % 3 == 0, most: 250, context: &context });
            all.states += count.states;
            all.prob0 += count.prob0;
        }
        assert!(all.states > 4_000 && all.prob0 > 500, "{} {}", all.states, all.prob0);
    }

    /// P passes its load while all of its stores wait, as Q shows; only then do they leave one by one, in any order of
    /// values.
    #[test]
    fn stores_may_leave_in_whatever_order_they_came() {
        for [a, b, c] in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
            let text = format!(
                "shared x, z; thread P {{ x = {a}; x = {b}; x = {c}; let r = z; }}
                thread Q {{ z = 1; fence; let s = x; }}
                forbid P at end && Q at end && P.r == 0 && Q.s == 0 && x == {c};"
            );
            for updates in [UpdatePolicy::Uniform, UpdatePolicy::Single] {
                let settings = Settings { updates, ..Settings::default() };
                let covers = Covers { past_targets: true, most: 2_000, context: &text };
                assert!(with_chain(&model(&text, &settings), covers).states > 40, "{text}");
            }
        }
    }

    /// How many abstract states there are, and how many of them are drained.
    struct Size(usize);

    impl Visitor for Size {
        type Output = Option<(usize, usize)>;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
            let session = Session::default();
            let found = Abstraction::new(chain, true, self.0, &session)?;
            Some((found.states.len(), found.drained(chain).count()))
        }
    }

    #[test]
    fn endless_buffers_become_finitely_many() {
        let size = |text: &str, most| {
            let settings = Settings { updates: UpdatePolicy::Single, ..Settings::default() };
            with_chain(&model(text, &settings), Size(most))
        };
        // x is 0 or 1, and a 1 waits or not; nothing waits and x is 0 only at first.
        let one = "shared x; thread P { loop { x = 1; } } forbid x == 9;";
        assert_eq!(size(one, 100), Some((4, 2)));
        assert_eq!((size(one, 4), size(one, 3)), (Some((4, 2)), None));
        // Before the second store, x is 0 or 1 and a 1 waits or not; after it, x is 0, 1 or 2, a 1 may wait, and then
        // so does a 2.
        let two = "shared x; thread P { x = 1; x = 2; } forbid x == 9;";
        assert_eq!(size(two, 100).map(|(_, drained)| drained), Some(3));
    }
}

//! The program under SC together with a monitor that looks for attacks.
//!
//! - *Before*: SC. A thread may at any store begin to delay: it becomes the attacker.
//! - *Delaying*: the attacker's stores go to a private overlay; its loads prefer that; it cannot do what needs an empty
//!   buffer. When it loads from an address of which nothing waits, it may halt there, and that begins
//! - *Path*: each helper may act only if it is on the path, or its access happens after one on the path; then it is on
//!   the path from there on. A locked section counts as one access. When an access on the path is to the address of the
//!   first delayed store, and the lock is free so that the store can land, the attack has succeeded.
//!
//! A membarrier needs all buffers empty, so nobody executes one from the first delayed store on.
//!
//! This is §5 of "Checking and Enforcing Robustness against TSO" without the instrumented program. Fewer interleavings
//! are looked at than there are, without loss:
//! - Partial order reduction: invisible steps are taken first ([`partial_order`](crate::search::partial_order)).
//! - Nobody notices what a delaying attacker does, so what helpers do between two loads of the attacker from memory may
//!   as well come just before the second, and what they do between the first delayed store and the first load from
//!   memory may come before the store. In particular the lock is free when an attack begins.
//! - On the path the attacker's registers and overlay do not matter any more.

use weir_ir::Address;
use weir_witness::Goal;

use super::covered::{NOTHING_YET, OFF};
use super::memory::{Delaying, Memory, Path};
use super::overlay::{Overlay, memory, remember};
use super::question::{Plan, Plans};
use crate::attack::AttackStep;
use crate::semantics::machine::{EdgeCode, Machine, Operation, System};
use crate::semantics::sc::Sc;
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, ThreadSteps, TransitionSystem};

/// The monitored program.
pub(super) struct Monitor<'a, const N: usize> {
    machine: &'a Machine,
    sc: System<'a, Sc, N>,
    delaying: System<'a, Overlay, N>,
    plans: &'a Plans,
    /// Whether it is enough that a helper comes onto the path.
    any_helper: bool,
    /// If only this thread may attack, and nobody else may move before it has halted: its position.
    attacker: Option<usize>,
}

/// A step of the program with what is special about it, as one number.
pub(super) fn encode(machine: &Machine, step: StepCode, kind: AttackStep) -> StepCode {
    let offset = match kind {
        AttackStep::Ordinary => 0,
        AttackStep::Begin => 1,
        AttackStep::Halt => 2,
    };
    StepCode { number: step.number + offset * machine.edge_count, ..step }
}

impl<'a, const N: usize> Monitor<'a, N> {
    pub(super) fn new(machine: &'a Machine, plans: &'a Plans) -> Self {
        Self {
            machine,
            sc: System::new(machine),
            delaying: System::new(machine),
            plans,
            any_helper: false,
            attacker: None,
        }
    }

    /// Only runs in which nobody but the attacker moves before it has halted, if one is given.
    pub(super) fn with_attacker(machine: &'a Machine, plans: &'a Plans, attacker: Option<usize>) -> Self {
        Self { attacker, ..Self::new(machine, plans) }
    }

    /// Looks for the beginnings of attacks: some helper comes onto the path, whether or not it comes round.
    pub(super) fn for_races(machine: &'a Machine, plans: &'a Plans) -> Self {
        Self { any_helper: true, ..Self::new(machine, plans) }
    }

    /// The step of the program, and what is special about it.
    pub(super) fn decode(machine: &Machine, step: StepCode) -> (StepCode, AttackStep) {
        let kind = match step.number / machine.edge_count.max(1) {
            0 => AttackStep::Ordinary,
            1 => AttackStep::Begin,
            _ => AttackStep::Halt,
        };
        (StepCode { number: step.number % machine.edge_count.max(1), ..step }, kind)
    }

    fn encode(&self, edge: &EdgeCode, kind: AttackStep) -> StepCode {
        encode(self.machine, StepCode { number: edge.number, choice: 0 }, kind)
    }

    #[inline]
    fn location(&self, state: &Packed<N>, thread: usize) -> usize {
        self.sc.location(state, thread)
    }

    #[inline]
    fn edges(&self, state: &Packed<N>, thread: usize) -> &'a [EdgeCode] {
        self.machine.threads[thread].edges_at(state)
    }

    fn lock_is_free(&self, state: &Packed<N>) -> bool {
        self.machine.layout.lock.is_none_or(|lock| state.raw(lock) == 0)
    }

    fn before(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        let may_move = |thread: usize| self.attacker.is_none_or(|attacker| thread == attacker);
        if self.plans.ample.reduce(&self.sc, from, may_move, emit) {
            return;
        }
        for thread in (0..self.plans.threads.len()).filter(|&thread| may_move(thread)) {
            for edge in self.edges(from, thread) {
                self.sc.take(from, thread, edge, emit);
                self.begin(from, thread, edge, emit);
            }
        }
    }

    /// The thread begins to delay with this edge, if it is a store past which a load can come.
    fn begin(
        &self,
        from: &Packed<N>,
        thread: usize,
        edge: &EdgeCode,
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let Operation::Store(place, value) = &edge.operation else { return };
        if !self.lock_is_free(from) {
            return;
        }
        let machine = self.machine;
        let (target, value) = (machine.target(from, place), value.eval(from));
        let mut next = edge.patch.apply(from);
        if self.goes_on(&next, thread, edge.number, edge) && machine.admits(target, value, edge.number) {
            let mark = self.plan(thread).mark_after(NOTHING_YET, self.local(thread, edge));
            let row =
                Delaying::begin(thread, edge.number, mark, (machine.address(target), machine.stored(target, value)));
            remember(machine, &mut next, &row);
            emit(self.encode(edge, AttackStep::Begin), next);
        }
    }

    /// Whether the attacker, now in `next`, can still come to a load in question.
    fn goes_on(&self, next: &Packed<N>, attacker: usize, store: u32, edge: &EdgeCode) -> bool {
        let first = self.machine.threads[attacker].first_number;
        self.plan(attacker).goes_on(store - first, edge.number - first, self.location(next, attacker))
    }

    /// Takes note of how much of the attacker's way is covered once it has taken this edge.
    fn mark(&self, next: &mut Packed<N>, before: &Delaying<'_>, edge: &EdgeCode) {
        let mark = self.plan(before.attacker).mark_after(before.mark, self.local(before.attacker, edge));
        if mark != before.mark
            && let Memory::Delaying(delaying) = memory(self.machine, next)
        {
            remember(self.machine, next, &delaying.with(delaying.has_loaded, mark));
        }
    }

    /// The number of an edge among those of its thread.
    fn local(&self, thread: usize, edge: &EdgeCode) -> u32 {
        edge.number - self.machine.threads[thread].first_number
    }

    fn plan(&self, thread: usize) -> &'a Plan {
        &self.plans.threads[thread]
    }

    fn delaying(&self, from: &Packed<N>, delaying: &Delaying<'_>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        let attacker = delaying.attacker;
        let loads_from_memory = |edge: &EdgeCode| -> Vec<Address> {
            let mut loaded = match &edge.operation {
                Operation::Load(_, place) => vec![self.machine.address(self.machine.target(from, place))],
                other => self.machine.snapshot(from, other),
            };
            loaded.retain(|&address| delaying.waiting(address).is_none());
            loaded
        };
        let may_load = self.edges(from, attacker).iter().any(|edge| !loads_from_memory(edge).is_empty());
        if may_load && delaying.has_loaded && self.attacker.is_none() {
            let is_helper = |thread| thread != attacker;
            if self.plans.ample.reduce(&self.sc, from, is_helper, emit) {
                return;
            }
            for helper in (0..self.plans.threads.len()).filter(|&thread| is_helper(thread)) {
                for edge in self.edges(from, helper).iter().filter(|edge| !waits_for_attacker(edge)) {
                    self.sc.take(from, helper, edge, emit);
                }
            }
        }
        for edge in self.edges(from, attacker) {
            let loaded = loads_from_memory(edge);
            if loaded.is_empty() {
                self.delaying.take(from, attacker, edge, &mut |step, mut next| {
                    if !self.goes_on(&next, attacker, delaying.store, edge) {
                        return true;
                    }
                    self.mark(&mut next, delaying, edge);
                    emit(step, next)
                });
            } else {
                self.load_from_memory(from, delaying, edge, &loaded, emit);
            }
        }
    }

    /// The attacker loads from memory, from these addresses: this may be the attack's load, or one on the way to it.
    fn load_from_memory(
        &self,
        from: &Packed<N>,
        delaying: &Delaying<'_>,
        edge: &EdgeCode,
        loaded: &[Address],
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let (machine, attacker) = (self.machine, delaying.attacker);
        self.delaying.take(from, attacker, edge, &mut |step, mut next| {
            let first = machine.threads[attacker].first_number;
            let plan = self.plan(attacker);
            let mark = plan.mark_after(delaying.mark, edge.number - first);
            if plan.is_in_question(delaying.store - first, edge.number - first) && mark == OFF {
                let mut halted = self.plan(attacker).forget.apply(from);
                remember(machine, &mut halted, &delaying.onto_path(loaded));
                if !emit(self.encode(edge, AttackStep::Halt), halted) {
                    return false;
                }
            }
            if !self.goes_on(&next, attacker, delaying.store, edge) {
                return true;
            }
            if !delaying.has_loaded || mark != delaying.mark {
                remember(machine, &mut next, &delaying.with(true, mark));
            }
            emit(step, next)
        });
    }

    fn path(&self, from: &Packed<N>, path: &Path<'_>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        if self.plans.ample.reduce(&self.sc, from, |thread| path.holds(thread), emit) {
            return;
        }
        for helper in (0..self.plans.threads.len()).filter(|&thread| thread != path.attacker) {
            for edge in self.edges(from, helper).iter().filter(|edge| !waits_for_attacker(edge)) {
                self.help(from, path, helper, edge, emit);
            }
        }
    }

    /// A helper takes an edge, if that keeps it on the path or puts it there.
    fn help(
        &self,
        from: &Packed<N>,
        path: &Path<'_>,
        helper: usize,
        edge: &EdgeCode,
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let machine = self.machine;
        let access = machine.access(from, &edge.operation).map(|(target, writes)| (machine.address(target), writes));
        let is_on_path = path.holds(helper);
        let in_section = || machine.layout.lock.is_some_and(|lock| from.raw(lock) == helper as u64 + 1);
        let row = match (is_on_path, access) {
            _ if matches!(edge.operation, Operation::Snapshot(_) | Operation::Await(..)) => {
                let addresses = machine.snapshot(from, &edge.operation);
                let Some(row) = path.with_snapshot(helper, &addresses, in_section()) else { return };
                Some(row)
            }
            (true, None) => None,
            (true, Some((address, writes))) => path.with_access(address, writes),
            (false, Some((address, writes))) if path.leads_to(address, writes) => {
                Some(path.joined(helper, address, writes))
            }
            // A section whose first part is not on the path must come to be there before it ends.
            (false, Some((address, writes))) if in_section() => Some(path.with_access_in_section(address, writes)),
            (false, None) if in_section() && !matches!(edge.operation, Operation::Unlock) => None,
            (false, None) if matches!(edge.operation, Operation::Lock) => None,
            (false, _) => return,
        };
        self.sc.take(from, helper, edge, &mut |step, mut next| {
            if let Some(row) = &row {
                remember(machine, &mut next, row);
            }
            emit(step, next)
        });
    }
}

/// Whether the step needs the attacker's buffer empty, so that no helper can take it during an attack.
fn waits_for_attacker(edge: &EdgeCode) -> bool {
    matches!(edge.operation, Operation::Membarrier)
}

impl<const N: usize> TransitionSystem for Monitor<'_, N> {
    type State = Packed<N>;

    fn initial(&self) -> Packed<N> {
        self.machine.initial_state()
    }

    fn successors(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        match memory(self.machine, from) {
            Memory::Before => self.before(from, emit),
            Memory::Delaying(delaying) => self.delaying(from, &delaying, emit),
            Memory::Path(path) => self.path(from, &path, emit),
        }
    }

    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        match memory(self.machine, state) {
            Memory::Path(path) if self.any_helper && path.has_helpers() => Some(Goal::NotRobust),
            Memory::Path(path) if path.is_closed() && self.lock_is_free(state) => Some(Goal::NotRobust),
            _ => None,
        }
    }

    fn deadlock_goal(&self, _state: &Packed<N>) -> Option<Goal> {
        None
    }

    fn words(&self) -> usize {
        self.sc.words()
    }

    fn step_count(&self) -> usize {
        self.machine.edge_count as usize * 3
    }

    fn thread_of(&self, step: StepCode) -> usize {
        self.sc.thread_of(Self::decode(self.machine, step).0)
    }

    fn canonical_form(&self, state: &Packed<N>) -> Vec<weir_ir::Value> {
        self.sc.canonical_form(state)
    }

    fn side_bytes(&self) -> u64 {
        self.sc.side_bytes()
    }
}

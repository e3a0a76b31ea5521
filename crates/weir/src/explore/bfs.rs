//! Breadth-first search, level by level, over as many workers as are wanted.
//!
//! Each worker owns the states whose hash falls to it: it alone stores and expands them, and posts the
//! successors that belong to others in batches. There are no locks on the set of states, and the same
//! scheme serves workers on other machines. (Taking work from one another was considered; hashing
//! spreads a level evenly, so there is nothing to gain.)
//!
//! The answer does not depend on the number of workers: a level is a set, whoever finds its members. The
//! goal state that is shown is the one with the least spelling among those of least depth, and when
//! the limit on states cuts a level short, the rest of that level is still judged, just not stored.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use weir_ir::Value;
use weir_witness::Goal;

use super::rebuild::{Levels, rebuild};
use super::store::{Scratch, Store, hash};
use super::{Found, Outcome, Shared};
use crate::control::Progress;
use crate::semantics::state::FlatState;
use crate::semantics::{StepCode, TransitionSystem};
use crate::{Control, Limit};

/// States in a batch: enough that cache misses overlap, few enough to stay in the first-level cache.
const BATCH: usize = 128;

/// Batches between two looks at clock and memory.
const BATCHES_A_CHECK: usize = 32;

/// States expanded between two looks at the mailbox.
const EXPANSIONS_A_CHECK: u32 = 256;

/// Levels smaller than this are not worth waking workers for.
const PARALLEL_LEVEL: u64 = 4096;

/// Bytes for the states that were offered last: a share of the second-level cache.
const RECENT_BYTES: usize = 1 << 18;

/// Visits all states breadth-first.
pub(crate) fn breadth_first<T: TransitionSystem>(system: &T, control: &Control, jobs: usize) -> Outcome {
    let shared = Shared::new(control);
    let mailboxes: Vec<Mailbox<T::State>> = (0..jobs).map(|_| Mutex::new(Vec::new())).collect();
    let mut workers: Vec<Worker<'_, T>> =
        (0..jobs).map(|number| Worker::new(number, system, &shared, &mailboxes)).collect();
    let initial = system.initial();
    let first = owner(hash(&initial.words()[..system.words()]), jobs);
    // The one state that is not offered: `recent` begins with it.
    workers[first].outgoing[first].push(initial);
    workers[first].settle();
    let (mut depth, mut deepest) = (0, 0);
    let found = loop {
        // An interrupted level proves nothing about which goal comes first, but a goal is a goal.
        if let Some(candidate) = best(&workers) {
            deepest = candidate.depth;
            break shown(system, &workers, candidate, &shared);
        }
        let cut = workers.iter().any(|worker| worker.cut).then_some(Limit::States);
        if let Some(limit) = shared.stopped().or(cut) {
            // What was found of the level that was cut short counts.
            deepest =
                if workers.iter().any(|worker| worker.store.len() > worker.level().end) { depth } else { deepest };
            break Found::Stopped(limit);
        }
        let open: u64 = workers.iter_mut().map(|worker| worker.open_level(depth)).sum();
        if open == 0 {
            break Found::Nothing;
        }
        deepest = depth;
        expand_level(&mut workers, open);
        depth += 1;
    };
    outcome(system, &shared, &workers, found, deepest)
}

/// Expands the current level of all workers, side by side if it is large.
fn expand_level<T: TransitionSystem>(workers: &mut [Worker<'_, T>], open: u64) {
    if workers.len() == 1 || open < PARALLEL_LEVEL {
        workers.iter_mut().for_each(Worker::expand);
        workers.iter_mut().for_each(Worker::settle);
        return;
    }
    let (count, expanded) = (workers.len(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for worker in workers {
            let expanded = &expanded;
            scope.spawn(move || {
                worker.expand();
                expanded.fetch_add(1, Ordering::Release);
                // Whoever is done early takes in what the others still post.
                while expanded.load(Ordering::Acquire) < count {
                    worker.settle();
                    std::thread::yield_now();
                }
                worker.settle();
            });
        }
    });
}

/// The candidate to show: of least depth, then of least spelling.
fn best<'w, T: TransitionSystem>(workers: &'w [Worker<'_, T>]) -> Option<&'w Candidate<T::State>> {
    let candidates = workers.iter().filter_map(|worker| worker.best.as_ref());
    candidates.min_by(|left, right| left.key().cmp(&right.key()))
}

fn shown<T: TransitionSystem>(
    system: &T,
    workers: &[Worker<'_, T>],
    candidate: &Candidate<T::State>,
    shared: &Shared<'_>,
) -> Found {
    let levels: Vec<Levels<'_>> =
        workers.iter().map(|worker| Levels { store: &worker.store, starts: &worker.levels }).collect();
    match rebuild(system, &levels, candidate.state, candidate.depth, shared) {
        Some(run) => Found::Goal(candidate.goal, run),
        None => Found::Stopped(shared.stopped().unwrap_or(Limit::Interrupted)),
    }
}

fn outcome<T: TransitionSystem>(
    system: &T,
    shared: &Shared<'_>,
    workers: &[Worker<'_, T>],
    found: Found,
    depth: u64,
) -> Outcome {
    let mut taken = vec![false; system.step_count()];
    for worker in workers {
        taken.iter_mut().zip(&worker.taken).for_each(|(all, one)| *all |= one);
    }
    Outcome {
        found,
        states: workers.iter().map(|worker| u64::from(worker.store.len())).sum(),
        transitions: workers.iter().map(|worker| worker.transitions).sum(),
        depth,
        stored_bytes: workers.iter().map(|worker| worker.store.bytes()).sum::<u64>() + system.side_bytes(),
        taken,
        elapsed: shared.watch.elapsed(),
    }
}

/// Whose state it is, by its hash.
#[inline]
fn owner(hash: u64, jobs: usize) -> usize {
    if jobs == 1 { 0 } else { (hash >> 16) as u32 as usize % jobs }
}

/// Batches posted to a worker.
type Mailbox<S> = Mutex<Vec<Vec<S>>>;

/// A state that shows a goal.
struct Candidate<S> {
    depth: u64,
    spelling: Vec<Value>,
    goal: Goal,
    state: S,
}

impl<S> Candidate<S> {
    fn key(&self) -> (u64, &[Value]) {
        (self.depth, &self.spelling)
    }
}

struct Worker<'a, T: TransitionSystem> {
    number: usize,
    system: &'a T,
    shared: &'a Shared<'a>,
    mailboxes: &'a [Mailbox<T::State>],
    store: Store,
    /// The first state of each level opened so far, and one past the last of the newest.
    levels: Vec<u32>,
    scratch: Scratch,
    /// States offered not long ago, at places given by their hashes. Two steps of different threads mostly lead to the
    /// same state in either order, soon after one another: for five threads of a mutex more than half of all look-ups end here.
    recent: Vec<T::State>,
    /// For each worker, states found but not yet handed over.
    outgoing: Vec<Vec<T::State>>,
    taken: Vec<bool>,
    transitions: u64,
    /// The depth of the states now being found.
    depth: u64,
    best: Option<Candidate<T::State>>,
    /// Whether the limit on states left some out.
    cut: bool,
    batches: usize,
    reported_bytes: u64,
}

impl<'a, T: TransitionSystem> Worker<'a, T> {
    fn new(number: usize, system: &'a T, shared: &'a Shared<'a>, mailboxes: &'a [Mailbox<T::State>]) -> Self {
        Self {
            number,
            system,
            shared,
            mailboxes,
            store: Store::new(system.words()),
            levels: vec![0],
            scratch: Scratch::default(),
            recent: vec![system.initial(); (RECENT_BYTES / size_of::<T::State>()).next_power_of_two()],
            outgoing: mailboxes.iter().map(|_| Vec::with_capacity(BATCH)).collect(),
            taken: vec![false; system.step_count()],
            transitions: 0,
            depth: 0,
            best: None,
            cut: false,
            batches: 0,
            reported_bytes: 0,
        }
    }

    /// Makes all states found since the last time the current level; their number.
    fn open_level(&mut self, depth: u64) -> u64 {
        let (start, end) = (self.level().end, self.store.len());
        self.levels.push(end);
        self.depth = depth + 1;
        u64::from(end - start)
    }

    /// The states of the current level.
    fn level(&self) -> Range<u32> {
        let [.., start, end] = self.levels[..] else { return 0..0 };
        start..end
    }

    /// Expands the current level and hands over what it leads to.
    fn expand(&mut self) {
        for number in self.level() {
            if number % EXPANSIONS_A_CHECK == 0 {
                self.take_in();
                self.look_up();
            }
            if self.shared.stop.load(Ordering::Relaxed) {
                return;
            }
            self.expand_state(number);
        }
        for to in 0..self.outgoing.len() {
            self.hand_over(to);
        }
    }

    #[inline]
    fn expand_state(&mut self, number: u32) {
        let (system, before) = (self.system, self.transitions);
        // A choice among more values than there may be states is cut short at a point that does not depend on timing.
        let most = before.saturating_add(self.shared.watch.state_limit());
        let from = self.store.state(number);
        system.successors(&from, &mut |StepCode { number, .. }, next| {
            self.transitions += 1;
            self.taken[number as usize] = true;
            self.cut |= self.transitions > most;
            self.offer(next) && self.transitions <= most
        });
        if self.transitions == before
            && let Some(goal) = system.stuck(&from)
        {
            self.candidate(&from, goal, self.depth - 1);
        }
    }

    /// Passes a state on to its owner, by and by; `false` once the search must stop.
    #[inline]
    fn offer(&mut self, state: T::State) -> bool {
        let hash = hash(&state.words()[..self.system.words()]);
        let place = hash as usize & (self.recent.len() - 1);
        if std::mem::replace(&mut self.recent[place], state) == state {
            return true;
        }
        let to = owner(hash, self.outgoing.len());
        self.outgoing[to].push(state);
        if self.outgoing[to].len() < BATCH { true } else { self.hand_over(to) }
    }

    fn hand_over(&mut self, to: usize) -> bool {
        let batch = std::mem::take(&mut self.outgoing[to]);
        if batch.is_empty() {
            return true;
        }
        if to == self.number {
            self.insert(&batch);
            self.outgoing[to] = batch;
            self.outgoing[to].clear();
        } else {
            self.outgoing[to].reserve(BATCH);
            self.mailboxes[to].lock().push(batch);
        }
        self.batches += 1;
        if self.batches.is_multiple_of(BATCHES_A_CHECK) {
            self.look_up();
        }
        !self.shared.stop.load(Ordering::Relaxed)
    }

    /// Takes in what others posted.
    fn take_in(&mut self) {
        let posted = std::mem::take(&mut *self.mailboxes[self.number].lock());
        for batch in posted {
            self.insert(&batch);
        }
    }

    /// Takes in all that is there for this worker.
    fn settle(&mut self) {
        self.hand_over(self.number);
        self.take_in();
    }

    fn insert(&mut self, batch: &[T::State]) {
        let growth = self.store.growth(batch.len());
        if growth > 0 && self.shared.must_stop(growth) {
            return;
        }
        if self.store.reserve(batch.len()).is_err() {
            self.shared.stop(Limit::Memory);
            return;
        }
        let mut store = std::mem::replace(&mut self.store, Store::vacant());
        let mut scratch = std::mem::take(&mut self.scratch);
        store.insert_batch(batch, &mut scratch, |state| self.visit(state));
        (self.store, self.scratch) = (store, scratch);
    }

    /// Judges a state that is not in the set; whether to store it.
    #[inline]
    fn visit(&mut self, state: &T::State) -> bool {
        if let Some(goal) = self.system.goal(state) {
            self.candidate(state, goal, self.depth);
        }
        let limit = self.shared.watch.state_limit();
        let admitted = limit == u64::MAX || self.shared.states.fetch_add(1, Ordering::Relaxed) < limit;
        self.cut |= !admitted;
        admitted
    }

    #[cold]
    fn candidate(&mut self, state: &T::State, goal: Goal, depth: u64) {
        let candidate = Candidate { depth, spelling: self.system.spelling(state), goal, state: *state };
        if self.best.as_ref().is_none_or(|best| candidate.key() < best.key()) {
            self.best = Some(candidate);
        }
    }

    /// Looks at clock and memory, and tells how far it has come.
    fn look_up(&mut self) {
        let side = if self.number == 0 { self.system.side_bytes() } else { 0 };
        let bytes = self.store.bytes() + side;
        self.shared.stored_bytes.fetch_add(bytes.wrapping_sub(self.reported_bytes), Ordering::Relaxed);
        self.reported_bytes = bytes;
        self.shared.must_stop(0);
        // Shards are equal to within chance, so one worker can speak for all.
        if self.number == 0 {
            let (workers, len) = (self.outgoing.len() as u64, u64::from(self.store.len()));
            let open = u64::from(self.store.len() - self.level().start);
            let depth = self.depth;
            self.shared.report(|| Progress {
                states: len * workers,
                open: open * workers,
                depth,
                ..Progress::default()
            });
        }
    }
}

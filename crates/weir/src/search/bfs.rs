//! Breadth-first search, level by level, over as many workers as are wanted.
//!
//! Each worker owns the states whose hash falls to it: it alone stores them, and the others send it what they find, in
//! batches. There are no locks on the set of states, and the same scheme serves workers on other machines.
//!
//! Which worker expands a state is a separate question. Most states are found again soon, by the same steps in another
//! order, from a parent that was found at about the same time as the first one; a cache of recently offered states
//! spares the look-up. If each worker expanded what it owns, the two parents would often be with different workers, and
//! the caches would miss. So the worker that finds a new state also expands it, even if another one stores it; and a
//! worker that has no more to expand in this level takes states from the others.
//!
//! The answer does not depend on the number of workers: a level is a set, no matter which worker finds its members. The
//! goal state that is shown is the one with the least canonical form among those of least depth, and when
//! the limit on states cuts a level short, the rest of that level is still judged, just not stored.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use weir_ir::Value;
use weir_witness::Goal;

use super::erased::{Erased, is_large};
use super::parallel::{Task, in_parallel};
use super::rebuild::{Levels, rebuild};
use super::store::{Scratch, Store, hash};
use super::{Found, Outcome, Shared};
use crate::semantics::state::FlatState;
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::{Progress, Session};
use crate::verdict::Limit;

/// States in a batch: enough that cache misses overlap, few enough to stay in the first-level cache.
const BATCH: usize = 128;

/// Batches between two looks at clock and memory.
const BATCHES_A_CHECK: usize = 32;

/// Bytes of offered states between two looks at memory: with the largest states, batches alone would let 16 MB pass.
const BYTES_A_CHECK: usize = 1 << 20;

/// States of one owner that are expanded in a row before those that another stored at the same time.
const SLICE: usize = 64;

/// Slices of each owner in a piece of a level: few enough that nobody waits long for the last piece.
const SLICES_A_PIECE: usize = 16;

/// Levels smaller than this are not worth waking workers for.
const PARALLEL_LEVEL: u64 = 4096;

/// Batches whose room is kept for later.
const MOST_SPARE: usize = 64;

/// Bytes for the states that were offered last: a share of the second-level cache.
const RECENT_BYTES: usize = 1 << 18;

/// For how many states there is room at first.
const FIRST_RECENT: usize = 64;

/// Visits all states breadth-first.
pub(crate) fn breadth_first<T: TransitionSystem>(system: &T, session: &Session, jobs: usize) -> Outcome {
    if const { is_large::<T::State>() } {
        visit_all(&Erased::new(system), session, jobs)
    } else {
        visit_all(system, session, jobs)
    }
}

fn visit_all<T: TransitionSystem>(system: &T, session: &Session, jobs: usize) -> Outcome {
    let shared = Shared::new(session);
    let mailboxes: Vec<Mailbox<T::State>> = (0..jobs).map(|_| CacheAligned(Mutex::new(Vec::new()))).collect();
    let mut workers: Vec<Worker<'_, T>> =
        (0..jobs).map(|number| Worker::new(number, system, &shared, &mailboxes)).collect();
    let initial = system.initial();
    let first = owner(hash(&initial.words()[..system.words()]), jobs);
    // The one state that is not offered: `recent` begins with it.
    workers[first].outgoing[first].0.push(initial);
    workers[first].settle();
    let mut level = Level::new(jobs);
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
            let has_found = |worker: &Worker<'_, T>| worker.found.iter().any(|states| !states.is_empty());
            deepest = if workers.iter().any(has_found) { depth } else { deepest };
            break Found::Stopped(limit);
        }
        level.open(&mut workers, depth);
        if level.len() == 0 {
            break Found::Nothing;
        }
        deepest = depth;
        expand_level(&mut workers, &level);
        depth += 1;
    };
    outcome(system, &shared, &workers, found, deepest)
}

/// The states of one level, by finder, then by owner, in the order they were stored.
struct Level<S> {
    streams: Vec<Stream<S>>,
}

/// The states of a level that one worker found.
struct Stream<S> {
    /// By owner.
    parts: Vec<Vec<S>>,
    /// The next piece that nobody has taken yet.
    next: CacheAligned<AtomicUsize>,
}

impl<S> Level<S> {
    fn new(jobs: usize) -> Self {
        let stream =
            || Stream { parts: (0..jobs).map(|_| Vec::new()).collect(), next: CacheAligned(AtomicUsize::new(0)) };
        Self { streams: (0..jobs).map(|_| stream()).collect() }
    }

    /// Becomes the level of all that was found since the last time, at this depth.
    fn open<T: TransitionSystem<State = S>>(&mut self, workers: &mut [Worker<'_, T>], depth: u64) {
        for (owner, worker) in workers.iter_mut().enumerate() {
            worker.open_level(depth, self.streams.iter_mut().map(|stream| &mut stream.parts[owner]));
        }
        for stream in &mut self.streams {
            *stream.next.0.get_mut() = 0;
        }
    }

    fn len(&self) -> usize {
        self.streams.iter().flat_map(|stream| &stream.parts).map(Vec::len).sum()
    }

    /// A piece for this worker: of what it found itself, if some is left, else of what others found.
    fn take_piece(&self, worker: usize) -> Option<impl Iterator<Item = &[S]>> {
        let (later, first) = self.streams.split_at(worker);
        first.iter().chain(later).find_map(Stream::take_piece)
    }
}

impl<S> Stream<S> {
    /// The next piece, as slices to be expanded one after the other. Each slice holds the same share of its owner's
    /// part: what was stored at about the same time.
    fn take_piece(&self) -> Option<impl Iterator<Item = &[S]>> {
        let longest = self.parts.iter().map(Vec::len).max().unwrap_or(0);
        let slices = longest.div_ceil(SLICE);
        let first = self.next.0.fetch_add(1, Ordering::Relaxed) * SLICES_A_PIECE;
        let numbers = first..slices.min(first + SLICES_A_PIECE);
        (first < slices).then(|| {
            numbers.flat_map(move |number| {
                self.parts.iter().map(move |part| {
                    let end = |slices_before: usize| part.len() * slices_before / slices;
                    &part[end(number)..end(number + 1)]
                })
            })
        })
    }
}

/// Expands a level, side by side if it is large.
fn expand_level<T: TransitionSystem>(workers: &mut [Worker<'_, T>], level: &Level<T::State>) {
    if workers.len() == 1 || (level.len() as u64) < PARALLEL_LEVEL {
        workers[0].expand(level);
        workers.iter_mut().for_each(Worker::settle);
        return;
    }
    let crew = &Crew::default();
    let task = |worker| Box::new(move || expand_with_others(worker, level, crew)) as Task<'_>;
    in_parallel(workers.iter_mut().map(task).collect());
    // A worker that began late may have posted to one that had left.
    workers.iter_mut().for_each(Worker::settle);
}

/// The workers that expand a level: how many have begun, and how many of them have finished.
#[derive(Default)]
struct Crew {
    begun: AtomicUsize,
    finished: AtomicUsize,
}

/// Counts a worker as finished when dropped, also if it panics: the others would wait for it forever.
struct Finishing<'a>(&'a Crew);

impl Drop for Finishing<'_> {
    fn drop(&mut self) {
        self.0.finished.fetch_add(1, Ordering::Release);
    }
}

/// Expands pieces of a level while others do.
fn expand_with_others<T: TransitionSystem>(worker: &mut Worker<'_, T>, level: &Level<T::State>, crew: &Crew) {
    crew.begun.fetch_add(1, Ordering::Release);
    let finishing = Finishing(crew);
    worker.expand(level);
    drop(finishing);
    // A worker that is done early takes in what the others still post.
    while crew.finished.load(Ordering::Acquire) < crew.begun.load(Ordering::Acquire) {
        worker.settle();
        std::thread::yield_now();
    }
    worker.settle();
}

/// The candidate to show: of least depth, then with the least canonical form.
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
    // Where a state costs little, the calls that this adds are nothing beside what a second copy would cost to build.
    match rebuild(&Erased::new(system), &levels, candidate.state, candidate.depth, shared) {
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
    let states = workers.iter().map(|worker| u64::from(worker.store.len())).sum();
    shared.session.spend(states);
    Outcome {
        found,
        states,
        transitions: workers.iter().map(|worker| worker.transitions).sum(),
        depth,
        stored_bytes: workers.iter().map(|worker| worker.bytes()).sum::<u64>() + system.side_bytes(),
        taken,
        elapsed: shared.elapsed(),
    }
}

/// Whose state it is, by its hash.
#[inline]
fn owner(hash: u64, jobs: usize) -> usize {
    if jobs == 1 { 0 } else { (hash >> 16) as u32 as usize % jobs }
}

/// Batches posted to a worker, each with who found it.
type Mailbox<S> = CacheAligned<Mutex<Vec<(usize, Vec<S>)>>>;

/// Something that one worker writes often, apart from what others use: on cache lines of its own (processors fetch them
/// in pairs).
#[repr(align(128))]
struct CacheAligned<T>(T);

/// A state that shows a goal.
struct Candidate<S> {
    depth: u64,
    canonical_form: Vec<Value>,
    goal: Goal,
    state: S,
}

impl<S> Candidate<S> {
    fn key(&self) -> (u64, &[Value]) {
        (self.depth, &self.canonical_form)
    }
}

#[repr(align(128))] // Like [`CacheAligned`].
struct Worker<'a, T: TransitionSystem> {
    number: usize,
    system: &'a T,
    shared: &'a Shared<'a>,
    mailboxes: &'a [Mailbox<T::State>],
    store: Store,
    /// The first state of each level opened so far, and one past the last of the newest.
    levels: Vec<u32>,
    /// The states stored since the newest level was opened, by finder.
    found: Vec<Vec<T::State>>,
    /// Bytes of this owner's part of the current level.
    part_bytes: u64,
    scratch: Scratch,
    /// States offered not long ago, at places given by their hashes. Two steps of different threads mostly lead to the
    /// same state in either order, soon after one another: for five threads of a mutex more than half of all look-ups
    /// end here.
    recent: Vec<T::State>,
    /// For each worker, states found but not yet handed over.
    outgoing: Vec<CacheAligned<Vec<T::State>>>,
    /// Room of batches that were taken in, for batches to come: memory that one worker asked for and another gave back
    /// would make them wait for each other.
    spare: Vec<Vec<T::State>>,
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
            found: mailboxes.iter().map(|_| Vec::new()).collect(),
            part_bytes: 0,
            scratch: Scratch::default(),
            recent: vec![system.initial(); FIRST_RECENT],
            outgoing: mailboxes.iter().map(|_| CacheAligned(Vec::with_capacity(BATCH))).collect(),
            spare: Vec::new(),
            taken: vec![false; system.step_count()],
            transitions: 0,
            depth: 0,
            best: None,
            cut: false,
            batches: 0,
            reported_bytes: 0,
        }
    }

    /// Makes all states stored since the last time the current level, and puts them into `parts`, by finder.
    fn open_level<'p>(&mut self, depth: u64, parts: impl Iterator<Item = &'p mut Vec<T::State>>)
    where
        T::State: 'p,
    {
        self.levels.push(self.store.len());
        self.depth = depth + 1;
        self.part_bytes = 0;
        self.grow_recent();
        for (found, part) in self.found.iter_mut().zip(parts) {
            part.clear();
            std::mem::swap(found, part);
            self.part_bytes += (part.capacity() * size_of::<T::State>()) as u64;
        }
    }

    /// Gives recent states as much room as the search has turned out to need: most searches are small.
    fn grow_recent(&mut self) {
        let most = (RECENT_BYTES / size_of::<T::State>()).next_power_of_two();
        if self.recent.len() < most && self.store.len() as usize > self.recent.len() {
            self.recent = vec![self.system.initial(); most];
        }
    }

    /// Expands pieces of a level as long as there are any, and hands over what they lead to.
    fn expand(&mut self, level: &Level<T::State>) {
        while let Some(piece) = level.take_piece(self.number) {
            for states in piece {
                self.look_up();
                if !self.expand_states(states) {
                    return;
                }
            }
        }
        for to in 0..self.outgoing.len() {
            self.hand_over(to);
        }
    }

    /// Expands these states; `false` once the search must stop.
    fn expand_states(&mut self, states: &[T::State]) -> bool {
        self.take_in();
        for from in states {
            if self.shared.stop.load(Ordering::Relaxed) {
                return false;
            }
            self.expand_state(from);
        }
        true
    }

    #[inline]
    fn expand_state(&mut self, from: &T::State) {
        let (system, before) = (self.system, self.transitions);
        // A choice among more values than there may be states is cut short at a point that does not depend on timing.
        let most = before.saturating_add(self.shared.most_states);
        system.successors(from, &mut |StepCode { number, .. }, next| {
            self.transitions += 1;
            // Written once only: the flags of several workers may share a cache line.
            if !self.taken[number as usize] {
                self.taken[number as usize] = true;
            }
            self.cut |= self.transitions > most;
            self.offer(next) && self.transitions <= most
        });
        if self.transitions == before
            && let Some(goal) = system.deadlock_goal(from)
        {
            self.candidate(from, goal, self.depth - 1);
        }
    }

    /// Passes a state on to its owner, by and by; `false` once the search must stop.
    #[inline]
    fn offer(&mut self, state: T::State) -> bool {
        let hash = hash(&state.words()[..self.system.words()]);
        let place = hash as usize & (self.recent.len() - 1);
        if self.recent[place] == state {
            return true;
        }
        self.recent[place] = state;
        let to = owner(hash, self.outgoing.len());
        let outgoing = &mut self.outgoing[to].0;
        outgoing.push(state);
        if outgoing.len() < BATCH { true } else { self.hand_over(to) }
    }

    fn hand_over(&mut self, to: usize) -> bool {
        let batch = std::mem::take(&mut self.outgoing[to].0);
        if batch.is_empty() {
            return true;
        }
        if to == self.number {
            self.insert(&batch, to);
            self.outgoing[to].0 = batch;
            self.outgoing[to].0.clear();
        } else {
            self.outgoing[to].0 = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(BATCH));
            self.mailboxes[to].0.lock().push((self.number, batch));
        }
        self.batches += 1;
        if self.batches.is_multiple_of(BATCHES_A_CHECK) {
            self.look_up();
        } else if self.batches.is_multiple_of((BYTES_A_CHECK / (BATCH * size_of::<T::State>())).max(1)) {
            self.shared.must_stop_between_checks();
        }
        !self.shared.stop.load(Ordering::Relaxed)
    }

    /// Takes in what others posted.
    fn take_in(&mut self) {
        let posted = std::mem::take(&mut *self.mailboxes[self.number].0.lock());
        for (finder, mut batch) in posted {
            self.insert(&batch, finder);
            batch.clear();
            // Where one worker finds and another stores, room would gather here without end.
            if self.spare.len() < MOST_SPARE {
                self.spare.push(batch);
            }
        }
    }

    /// Takes in all that is there for this worker.
    fn settle(&mut self) {
        self.hand_over(self.number);
        self.take_in();
    }

    fn insert(&mut self, batch: &[T::State], finder: usize) {
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
        store.insert_batch(batch, &mut scratch, |state| self.visit(state, finder));
        (self.store, self.scratch) = (store, scratch);
    }

    /// Judges a state that is not in the set; whether to store it.
    #[inline]
    fn visit(&mut self, state: &T::State, finder: usize) -> bool {
        if let Some(goal) = self.system.goal(state) {
            self.candidate(state, goal, self.depth);
        }
        let limit = self.shared.most_states;
        let admitted = limit == u64::MAX || self.shared.states.fetch_add(1, Ordering::Relaxed) < limit;
        self.cut |= !admitted;
        if admitted {
            self.found[finder].push(*state);
        }
        admitted
    }

    #[cold]
    fn candidate(&mut self, state: &T::State, goal: Goal, depth: u64) {
        let candidate = Candidate { depth, canonical_form: self.system.canonical_form(state), goal, state: *state };
        if self.best.as_ref().is_none_or(|best| candidate.key() < best.key()) {
            self.best = Some(candidate);
        }
    }

    /// Bytes held by this worker: its states, and its parts of two levels.
    fn bytes(&self) -> u64 {
        let found: usize = self.found.iter().map(Vec::capacity).sum();
        self.store.bytes() + self.part_bytes + (found * size_of::<T::State>()) as u64
    }

    /// Looks at clock and memory, and tells how far it has come.
    fn look_up(&mut self) {
        let side = if self.number == 0 { self.system.side_bytes() } else { 0 };
        let bytes = self.bytes() + side;
        self.shared.stored_bytes.fetch_add(bytes.wrapping_sub(self.reported_bytes), Ordering::Relaxed);
        self.reported_bytes = bytes;
        self.shared.must_stop(0);
        // Shards are equal to within chance, so one worker can speak for all.
        if self.number == 0 {
            let (workers, len) = (self.outgoing.len() as u64, u64::from(self.store.len()));
            let open = self.found.iter().map(Vec::len).sum::<usize>() as u64;
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

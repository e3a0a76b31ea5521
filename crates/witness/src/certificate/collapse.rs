//! Checks large closed sets with steps that states share (collapse compression).
//!
//! What a thread can do depends on that thread, on memory and on the lock, and changes nothing else. So each distinct
//! state of a thread is decoded once, and so is each distinct memory; a state is a tuple of their numbers; and the steps
//! of a thread are computed once for each memory that it meets. Whatever does not fit this scheme is left to the check
//! of states one by one, which also says what is wrong with a set that is not accepted here.

use rustc_hash::FxHashMap;
use weir_ir::{Instruction, Interrupt, Poll, ThreadId};

use super::check::{Checker, Observed, PERIOD};
use super::packed::Rows;
use super::rows::{Shared, decode_shared, decode_thread, encode_shared, encode_thread};
use super::tuples::{Finger, Tuples, TuplesBuilder};
use super::{AbstractState, AbstractThread, Fault, PackedStates};
use crate::run::Model;

/// So many parts are always kept.
const LEAST: usize = 64;

/// There must be this many times as many states as parts, and as many bytes in the set: otherwise, keeping the parts takes
/// too much memory.
const SHARING: usize = 32;

/// So many bytes of parts are always kept.
const LEAST_BYTES: usize = 1 << 14;

/// How many steps of a thread are looked up near where the corresponding ones from the state before led.
const FINGERS: usize = 4;

/// How many steps are remembered.
const MOST_STEPS: usize = 1 << 20;

/// What is known so far.
pub(super) enum Opinion {
    /// The set is closed, and shows no goal.
    Accepted,
    /// It has to be checked state by state.
    Open,
}

/// Whether this check accepts the set.
///
/// # Errors
/// [`Fault::Interrupted`].
pub(super) fn opinion(checker: &Checker<'_, &PackedStates>, interrupt: &dyn Interrupt) -> Result<Opinion, Fault> {
    let poll = Poll::every(PERIOD, interrupt);
    let accepted = Collapsed::new(checker, &poll).is_some_and(|mut collapsed| collapsed.is_closed(&poll));
    match (poll.was_over(), accepted) {
        (true, _) => Err(Fault::Interrupted),
        (_, true) => Ok(Opinion::Accepted),
        (_, false) => Ok(Opinion::Open),
    }
}

/// Parts of one kind, numbered.
struct Table<T> {
    numbers: FxHashMap<Box<[u8]>, u32>,
    parts: Vec<T>,
}

impl<T> Table<T> {
    fn new() -> Self {
        Self { numbers: FxHashMap::default(), parts: Vec::new() }
    }

    fn number(&self, part: &[u8]) -> Option<u32> {
        self.numbers.get(part).copied()
    }

    fn part(&self, number: u32) -> &T {
        &self.parts[number as usize]
    }

    /// Keeps the part if it is new, and says whether it is; `None` if it is malformed.
    fn keep(&mut self, part: &[u8], decode: impl FnOnce(&[u8]) -> Option<T>) -> Option<bool> {
        if self.numbers.contains_key(part) {
            return Some(false);
        }
        let number = u32::try_from(self.parts.len()).ok()?;
        self.parts.push(decode(part)?);
        self.numbers.insert(part.into(), number);
        Some(true)
    }
}

/// The parts of all states.
struct Parts {
    threads: Vec<Table<AbstractThread>>,
    shared: Table<Shared>,
}

impl Parts {
    /// `None` if there are too many for so many states, or if one is malformed.
    fn of(set: &PackedStates, poll: &Poll<'_>) -> Option<Self> {
        let listed = set.listed();
        let mut left = set.len() / SHARING + LEAST;
        let mut bytes_left = set.bytes().len() / SHARING + LEAST_BYTES;
        let mut parts = Self { threads: listed.iter().map(|_| Table::new()).collect(), shared: Table::new() };
        let mut rows = set.rows();
        for _ in 0..set.len() {
            let first = rows.next().filter(|_| !poll.is_over())?;
            let mut keep = |number: usize| {
                let part = rows.part(number);
                let is_new = match parts.threads.get_mut(number) {
                    Some(table) => table.keep(part, |part| decode_thread(&listed[number], part))?,
                    None => parts.shared.keep(part, decode_shared)?,
                };
                if is_new {
                    left = left.checked_sub(1)?;
                    bytes_left = bytes_left.checked_sub(part.len())?;
                }
                Some(())
            };
            (first..=listed.len()).try_for_each(&mut keep)?;
        }
        Some(parts)
    }

    fn number(&self, place: usize, part: &[u8]) -> Option<u32> {
        match self.threads.get(place) {
            Some(table) => table.number(part),
            None => self.shared.number(part),
        }
    }

    /// How many there are of each kind.
    fn counts(&self) -> Vec<u32> {
        let threads = self.threads.iter().map(|table| table.parts.len());
        threads.chain([self.shared.parts.len()]).map(|count| count as u32).collect()
    }

    fn state(&self, tuple: &[u32]) -> AbstractState {
        let view = View { parts: self, tuple };
        let threads = (0..self.threads.len()).map(|place| view.thread(place).clone()).collect();
        AbstractState { threads, memory: view.shared().memory.clone(), lock_holder: view.shared().lock_holder }
    }
}

/// A state that is a tuple of parts.
struct View<'a> {
    parts: &'a Parts,
    tuple: &'a [u32],
}

impl View<'_> {
    fn shared(&self) -> &Shared {
        self.parts.shared.part(self.tuple[self.parts.threads.len()])
    }
}

impl Observed for View<'_> {
    fn thread(&self, place: usize) -> &AbstractThread {
        self.parts.threads[place].part(self.tuple[place])
    }

    fn threads(&self) -> usize {
        self.parts.threads.len()
    }

    fn cell(&self, address: weir_ir::Address) -> Option<weir_ir::Value> {
        self.shared().memory.get(&address).copied()
    }
}

/// Where the steps of a thread lead that meets a memory.
#[derive(Clone, Copy)]
enum Leads {
    /// To these pairs of a thread and a memory, which are part of states of the set.
    To { begin: u32, end: u32 },
    /// That depends on other threads, too.
    Depends,
}

struct Collapsed<'c, 'a> {
    checker: &'c Checker<'a, &'a PackedStates>,
    parts: Parts,
    states: Tuples,
    /// For each place, by the numbers of the thread and the memory.
    steps: Vec<FxHashMap<(u32, u32), Leads>>,
    /// Pairs of a thread and a memory.
    targets: Vec<(u32, u32)>,
    /// For each place, where its first steps from the state before led.
    fingers: Vec<[Finger; FINGERS]>,
}

impl<'c, 'a> Collapsed<'c, 'a> {
    fn new(checker: &'c Checker<'a, &'a PackedStates>, poll: &Poll<'_>) -> Option<Self> {
        let set = checker.states;
        let parts = Parts::of(set, poll)?;
        let mut states = TuplesBuilder::new(&parts.counts(), set.len());
        let (mut rows, mut tuple) = (set.rows(), vec![0; parts.threads.len() + 1]);
        for _ in 0..set.len() {
            next_tuple(&mut rows, &parts, &mut tuple).filter(|()| !poll.is_over())?;
            states.insert(&tuple)?;
        }
        let steps = parts.threads.iter().map(|_| FxHashMap::default()).collect();
        let fingers = vec![[Finger::default(); FINGERS]; parts.threads.len()];
        Some(Self { checker, parts, states: states.finish(), steps, targets: Vec::new(), fingers })
    }

    /// Whether all states have only steps to others, and show no goal.
    fn is_closed(&mut self, poll: &Poll<'_>) -> bool {
        let checker = self.checker;
        let is_of_the_model = |own: &AbstractThread| checker.model() == Model::Tso || own.buffer.is_empty();
        if !self.parts.threads.iter().flat_map(|table| &table.parts).all(is_of_the_model) {
            return false;
        }
        let (mut rows, mut tuple) = (checker.states.rows(), vec![0; self.parts.threads.len() + 1]);
        let mut next = tuple.clone();
        (0..checker.states.len()).all(|_| {
            next_tuple(&mut rows, &self.parts, &mut tuple).is_some()
                && !poll.is_over()
                && checker.shows_no_goal(&View { parts: &self.parts, tuple: &tuple }).is_ok()
                && self.stays_inside(&tuple, &mut next) == Some(true)
        })
    }

    /// Whether every step leads to a state of the set, and there is one if deadlocks are ruled out. `None` if that
    /// cannot be said.
    fn stays_inside(&mut self, tuple: &[u32], next: &mut [u32]) -> Option<bool> {
        let shared = self.parts.threads.len();
        let mut can_step = false;
        next.copy_from_slice(tuple);
        for place in 0..shared {
            let Leads::To { begin, end } = self.leads(tuple, place)? else {
                return Some(self.checker.stays_inside(&self.parts.state(tuple)).is_ok());
            };
            can_step |= begin < end;
            for (number, &(own, memory)) in self.targets[begin as usize..end as usize].iter().enumerate() {
                (next[place], next[shared]) = (own, memory);
                if !self.states.contains(next, &mut self.fingers[place][number % FINGERS]) {
                    return Some(false);
                }
            }
            (next[place], next[shared]) = (tuple[place], tuple[shared]);
        }
        let all_done = || self.checker.all_done(&View { parts: &self.parts, tuple });
        Some(can_step || self.checker.deadlock().is_none() || all_done())
    }

    /// Where the steps of a thread lead. `None` if that is no part of any state, or there is a fault.
    fn leads(&mut self, tuple: &[u32], place: usize) -> Option<Leads> {
        let key = (tuple[place], tuple[self.parts.threads.len()]);
        if let Some(&leads) = self.steps[place].get(&key) {
            return Some(leads);
        }
        if self.targets.len() >= MOST_STEPS || self.steps.iter().map(FxHashMap::len).sum::<usize>() >= MOST_STEPS {
            self.targets.clear();
            self.steps.iter_mut().for_each(FxHashMap::clear);
        }
        let leads = self.computed(tuple, place)?;
        self.steps[place].insert(key, leads);
        Some(leads)
    }

    fn computed(&mut self, tuple: &[u32], place: usize) -> Option<Leads> {
        let state = self.parts.state(tuple);
        let thread = self.checker.threads[place];
        let mut edges = self.checker.program.body(thread).edges_from(state.threads[place].location);
        if edges.any(|(_, edge)| matches!(edge.instruction, Instruction::Membarrier)) {
            return Some(Leads::Depends);
        }
        let begin = self.targets.len();
        let mut all_known = true;
        let mut targets = Vec::new();
        let mut visit = |_: ThreadId, _, next: AbstractState| {
            let target = self.checker.recorded(next).and_then(|next| self.target(&state, place, &next));
            all_known &= target.is_some();
            targets.extend(target);
            all_known
        };
        self.checker.steps_of(place, &state, &mut visit).ok()?;
        self.targets.append(&mut targets);
        all_known.then_some(Leads::To { begin: begin as u32, end: self.targets.len() as u32 })
    }

    /// The thread and the memory after a step. `None` if no state of the set has them, or if another thread has changed:
    /// then where the step leads is not a matter of the thread and the memory alone.
    fn target(&self, before: &AbstractState, place: usize, after: &AbstractState) -> Option<(u32, u32)> {
        let is_same = |other: usize| other == place || before.threads[other] == after.threads[other];
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        encode_thread(&self.checker.states.listed()[place], &after.threads[place], &mut own)?;
        encode_shared(&after.memory, after.lock_holder, &mut shared);
        let found = (self.parts.threads[place].number(&own)?, self.parts.shared.number(&shared)?);
        (0..before.threads.len()).all(is_same).then_some(found)
    }
}

/// Replaces the numbers of the parts that differ from the row before.
fn next_tuple(rows: &mut Rows<'_>, parts: &Parts, tuple: &mut [u32]) -> Option<()> {
    let first = rows.next()?;
    for (place, number) in tuple.iter_mut().enumerate().skip(first) {
        *number = parts.number(place, rows.part(place))?;
    }
    Some(())
}

//! Liveness on the graph of all states: a condition can be met again and again from everywhere exactly if every bottom
//! component (strongly connected, and no step leaves it) has a state that meets it.
//!
//! States that were not expanded, since a limit was reached, belong to no bottom component that counts; so a violation
//! can be found before all states are known, and `Holds` only afterwards.

use rustc_hash::FxHashMap;
use weir_ir::flow::{Region, leavable_regions};
use weir_ir::{LocId, Program, PropertyKind};
use weir_witness::{Goal, Model};

use super::{Answer, Found, Statistics, nothing, property};
use crate::search::step_between;
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::coverage::coverage;
use crate::semantics::goals::Recurring;
use crate::semantics::machine::{MemoryModel, System};
use crate::semantics::refuse;
use crate::semantics::sc::Sc;
use crate::semantics::size::with_state_size;
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;
use crate::semantics::{StepCode, ThreadSteps, TransitionSystem};
use crate::session::Progress;
use crate::{Failure, Limit, Session};

/// Decides these goals by visiting all states.
pub(super) fn decide(program: &Program, model: Model, goals: &[Goal], session: &Session) -> Result<Found, Failure> {
    refuse::unsupported(program)?;
    let purpose =
        Purpose { keep_dead_registers: false, buffered: model == Model::Tso, monitored: false, goals, keeps_back: &[] };
    let compiled = match compile(program, purpose, session) {
        Err(Failure::Stopped(limit)) => return Ok(nothing(Answer::Stopped(limit))),
        result => result?,
    };
    let question = Question { program, compiled: &compiled, regions: Regions::new(program, &compiled, goals) };
    let found = with_state_size!(compiled.machine.layout.words, from 2, N => match model {
        Model::Sc => question.answer::<Sc, N>(session),
        Model::Tso => question.answer::<Tso, N>(session),
    });
    match compiled.machine.fault.get() {
        Some(fault) => Err(Failure::Bug(fault.clone())),
        None => Ok(found),
    }
}

struct Question<'a> {
    program: &'a Program,
    compiled: &'a Compiled,
    regions: Regions,
}

impl Question<'_> {
    fn answer<M: MemoryModel, const N: usize>(&self, session: &Session) -> Found {
        let system = System::<M, N>::new(&self.compiled.machine);
        let mut graph = StateGraph::new(&system);
        let limit = graph.explore(&system, session);
        session.spend(graph.states.len() as u64);
        let bad = self.first_bad_state(&system, &graph);
        let answer = match (bad, limit) {
            (Some(state), _) => match graph.run_to(&system, state) {
                Some(run) => Answer::Run(run.into_iter().map(|step| self.compiled.step(step)).collect()),
                None => Answer::Stopped(Limit::Interrupted),
            },
            (None, Some(limit)) => Answer::Stopped(limit),
            (None, None) => Answer::Holds,
        };
        let statistics = Statistics {
            states: graph.states.len() as u64,
            transitions: graph.successors.len() as u64,
            state_bytes: (system.words() * size_of::<u64>()) as u64,
            stored_bytes: graph.bytes() + system.side_bytes(),
            ..Statistics::default()
        };
        Found { answer, statistics, coverage: coverage(self.program, self.compiled, &graph.taken) }
    }

    /// The first state, in the order of the search, of a bottom component that fails a goal.
    fn first_bad_state<M: MemoryModel, const N: usize>(
        &self,
        system: &System<'_, M, N>,
        graph: &StateGraph<N>,
    ) -> Option<u32> {
        let recurring = &self.compiled.machine.goals.recurring;
        let mut first: Option<u32> = None;
        graph.for_each_bottom_component(|component| {
            let Some(&earliest) = component.iter().min() else { return };
            if first.is_some_and(|known| known < earliest) {
                return;
            }
            let states = || component.iter().map(|&state| &graph.states[state as usize]);
            let is_never_met =
                |goal: &Recurring| !states().any(|state| self.compiled.machine.goals.recurs(goal, state));
            let thread_is_stuck =
                |thread: usize| self.regions.confine(thread, || states().map(|state| system.location(state, thread)));
            if recurring.iter().any(is_never_met) || (0..self.regions.count()).any(thread_is_stuck) {
                first = Some(earliest);
            }
        });
        first
    }
}

/// The regions that threads should be able to leave, looked up by location.
struct Regions {
    regions: Vec<Region>,
    /// For each thread and location, the regions that it belongs to. No threads if nobody asks about them.
    around: Vec<Vec<Vec<u32>>>,
}

impl Regions {
    fn new(program: &Program, compiled: &Compiled, goals: &[Goal]) -> Self {
        let is_stuck = |goal: &Goal| property(program, *goal).is_some_and(|one| one.kind == PropertyKind::ForbidStuck);
        if !goals.iter().any(is_stuck) {
            return Self { regions: Vec::new(), around: Vec::new() };
        }
        let regions = leavable_regions(program);
        let mut around: Vec<Vec<Vec<u32>>> =
            compiled.threads.iter().map(|&thread| vec![Vec::new(); program.body(thread).locations.len()]).collect();
        for (number, region) in (0..).zip(&regions) {
            let Some(position) = compiled.threads.iter().position(|&thread| thread == region.thread) else { continue };
            region.locations.iter().for_each(|loc| around[position][loc.index()].push(number));
        }
        Self { regions, around }
    }

    /// How many threads there are to ask about.
    fn count(&self) -> usize {
        self.around.len()
    }

    /// Whether the thread is in one of its regions all the time.
    fn confine<I: Iterator<Item = usize>>(&self, thread: usize, locations: impl Fn() -> I) -> bool {
        let Some(first) = locations().next() else { return false };
        self.around[thread][first].iter().any(|&number| {
            let region = &self.regions[number as usize];
            locations().all(|loc| region.contains(LocId::new(loc)))
        })
    }
}

/// All states and steps, as far as they are known.
struct StateGraph<const N: usize> {
    /// In breadth-first order; the first so many of them were expanded.
    states: Vec<Packed<N>>,
    index: FxHashMap<Packed<N>, u32>,
    /// Who first led to each state.
    parents: Vec<u32>,
    /// `successors[first[s]..first[s + 1]]` follow the expanded state `s`.
    first: Vec<usize>,
    successors: Vec<u32>,
    taken: Vec<bool>,
}

/// How often limits are checked.
const PERIOD: usize = 1024;

impl<const N: usize> StateGraph<N> {
    fn new<M: MemoryModel>(system: &System<'_, M, N>) -> Self {
        let initial = system.initial();
        Self {
            states: vec![initial],
            index: FxHashMap::from_iter([(initial, 0)]),
            parents: vec![0],
            first: vec![0],
            successors: Vec::new(),
            taken: vec![false; system.step_count()],
        }
    }

    /// Expands all states; the limit that ended this, if one did.
    fn explore<M: MemoryModel>(&mut self, system: &System<'_, M, N>, session: &Session) -> Option<Limit> {
        let most = session.states_left();
        while self.expanded() < self.states.len() {
            let number = self.expanded();
            if number.is_multiple_of(PERIOD) {
                let limit = session.exceeded_with(self.bytes() + system.side_bytes(), 0);
                if limit.is_some() {
                    return limit;
                }
                let (states, open) = (self.states.len() as u64, (self.states.len() - number) as u64);
                session.report(Progress { states, open, ..Progress::default() });
            }
            if !self.expand(system, number as u32, most) {
                return Some(Limit::States);
            }
        }
        None
    }

    fn expanded(&self) -> usize {
        self.first.len() - 1
    }

    /// Notes what follows a state; false if there is no room for it.
    fn expand<M: MemoryModel>(&mut self, system: &System<'_, M, N>, number: u32, most: u64) -> bool {
        let from = self.states[number as usize];
        let before = self.successors.len();
        let mut has_room = true;
        system.successors(&from, &mut |step, next| {
            let fresh = self.states.len() as u32;
            let known = *self.index.entry(next).or_insert(fresh);
            if known == fresh {
                self.states.push(next);
                self.parents.push(number);
            }
            has_room = self.states.len() as u64 <= most && fresh < u32::MAX - 1;
            self.taken[step.number as usize] = true;
            self.successors.push(known);
            has_room
        });
        if has_room {
            self.first.push(self.successors.len());
        } else {
            self.successors.truncate(before);
        }
        has_room
    }

    fn of(&self, state: u32) -> &[u32] {
        match self.first.get(state as usize + 1) {
            Some(&end) => &self.successors[self.first[state as usize]..end],
            None => &[],
        }
    }

    /// Calls `visit` with each bottom component all states of which were expanded (Tarjan, without recursion).
    fn for_each_bottom_component(&self, mut visit: impl FnMut(&[u32])) {
        const UNSEEN: u32 = u32::MAX;
        const CLOSED: u32 = u32::MAX - 1;
        let mut low = vec![UNSEEN; self.states.len()];
        let (mut stack, mut path): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
        // Whether a step leaves the component of the state on the path, as far as it was followed.
        let mut leaves: Vec<bool> = Vec::new();
        let mut seen = 0;
        let mut order = vec![0_u32; self.states.len()];
        let mut enter = |state: u32, stack: &mut Vec<u32>, low: &mut [u32], order: &mut [u32]| {
            low[state as usize] = seen;
            order[state as usize] = seen;
            seen += 1;
            stack.push(state);
        };
        // Every state can be reached from the first.
        enter(0, &mut stack, &mut low, &mut order);
        path.push((0, 0));
        leaves.push(self.expanded() == 0);
        while let Some(&mut (state, ref mut next)) = path.last_mut() {
            if let Some(&successor) = self.of(state).get(*next) {
                *next += 1;
                match low[successor as usize] {
                    UNSEEN => {
                        enter(successor, &mut stack, &mut low, &mut order);
                        path.push((successor, 0));
                        leaves.push(successor as usize >= self.expanded());
                    }
                    CLOSED => *leaves.last_mut().unwrap_or(&mut false) = true,
                    _ => low[state as usize] = low[state as usize].min(order[successor as usize]),
                }
                continue;
            }
            path.pop();
            let has_left = leaves.pop().unwrap_or(true);
            let is_root = low[state as usize] == order[state as usize];
            if let Some(&(before, _)) = path.last() {
                let so_far = low[before as usize];
                low[before as usize] = if is_root { so_far } else { so_far.min(low[state as usize]) };
                // A component that was closed just now has been left to; one that is open has been joined.
                *leaves.last_mut().unwrap_or(&mut false) |= is_root || has_left;
            }
            if is_root {
                let at = stack.iter().rposition(|&open| open == state).unwrap_or(0);
                if !has_left {
                    visit(&stack[at..]);
                }
                stack.drain(at..).for_each(|closed| low[closed as usize] = CLOSED);
            }
        }
    }

    /// The steps of a shortest run to a state.
    fn run_to<M: MemoryModel>(&self, system: &System<'_, M, N>, state: u32) -> Option<Vec<StepCode>> {
        let mut run = Vec::new();
        let mut at = state;
        while at != 0 {
            let before = self.parents[at as usize];
            run.push(step_between(system, &self.states[before as usize], &self.states[at as usize])?);
            at = before;
        }
        run.reverse();
        Some(run)
    }

    /// Bytes held, roughly.
    fn bytes(&self) -> u64 {
        let state = size_of::<Packed<N>>();
        (self.states.capacity() * (state + size_of::<u32>() + size_of::<usize>())
            + self.index.capacity() * (state + size_of::<u32>() + 1)
            + self.successors.capacity() * size_of::<u32>()) as u64
    }
}

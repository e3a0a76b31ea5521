//! The search driver: explores a [`TransitionSystem`] until a goal is found, all states are visited, or a limit is
//! reached.
//!
//! States live in a [`store`]; [`bfs`] and [`dfs`] decide the order. Neither knows what a state means.
//! [`partial_order`] and [`symmetry`] are reductions: they wrap a transition system in one with fewer steps or states.

mod bfs;
pub(crate) mod by_agent;
pub(crate) mod cartesian;
mod dfs;
pub(crate) mod dynamic;
mod erased;
pub(crate) mod footprints;
pub(crate) mod fusing;
pub(crate) mod observed;
mod pages;
pub(crate) mod parallel;
pub(crate) mod partial_order;
pub(crate) mod persistent;
mod rebuild;
pub(crate) mod reduced;
pub(crate) mod scalarsets;
mod store;
mod summaries;
pub(crate) mod symmetry;
mod with_goals;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use weir_witness::Goal;

use crate::semantics::{StepCode, TransitionSystem};
use crate::session::{Progress, Session};
use crate::verdict::{Limit, Statistics};

pub(crate) use bfs::breadth_first;
pub(crate) use dfs::depth_first;
pub(crate) use with_goals::WithGoals;

/// The order in which states are visited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Search {
    /// Breadth-first: finds a shortest run; uses all workers.
    #[default]
    BreadthFirst,
    /// Depth-first: goes deep early; one worker, whatever the number of jobs.
    DepthFirst,
}

impl Search {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::BreadthFirst, Self::DepthFirst];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::BreadthFirst => "bfs",
            Self::DepthFirst => "dfs",
        }
    }

    /// What it is good for, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::BreadthFirst => "Breadth-first: finds a shortest run",
            Self::DepthFirst => "Depth-first: goes deep early",
        }
    }
}

/// Searches in this order, with this number of workers.
pub(crate) fn run<T: TransitionSystem>(system: &T, search: Search, jobs: NonZeroUsize, session: &Session) -> Outcome {
    match search {
        Search::BreadthFirst => breadth_first(system, session, jobs.get().min(MOST_WORKERS)),
        Search::DepthFirst => depth_first(system, session),
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// This run reaches this goal.
    Goal(Goal, Vec<StepCode>),
    /// All states were visited; none is a goal.
    Nothing,
    /// The search stopped early.
    Stopped(Limit),
}

/// A finished search.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) found: Found,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
    pub(crate) stored_bytes: u64,
    /// For each step number, whether it was taken.
    pub(crate) taken: Vec<bool>,
    pub(crate) elapsed: Duration,
}

/// The maximum number of workers: each keeps batches for every other one.
pub(crate) const MOST_WORKERS: usize = 256;

impl Outcome {
    /// The statistics of the search, given the words of a state.
    pub(crate) fn statistics(&self, words: usize) -> Statistics {
        Statistics {
            up_to_symmetry: false,
            reduction: crate::verdict::Reduction::None,
            states: self.states,
            transitions: self.transitions,
            depth: self.depth,
            state_bytes: (words * size_of::<u64>()) as u64,
            stored_bytes: self.stored_bytes,
            elapsed: self.elapsed,
        }
    }
}

/// State shared by all workers of one search.
pub(crate) struct Shared<'a> {
    session: &'a Session,
    /// When the search began, in the time of the session.
    began: Duration,
    /// How many states may be stored.
    most_states: u64,
    /// Set when the search must stop, with the reason in `limit`.
    stop: AtomicBool,
    limit: AtomicU64,
    /// Distinct states so far; kept exactly only if there is a limit on them.
    states: AtomicU64,
    stored_bytes: AtomicU64,
    next_report: AtomicU64,
}

impl<'a> Shared<'a> {
    fn new(session: &'a Session) -> Self {
        Self {
            session,
            began: session.elapsed(),
            most_states: session.states_left(),
            stop: AtomicBool::new(false),
            limit: AtomicU64::new(NO_LIMIT),
            states: AtomicU64::new(0),
            stored_bytes: AtomicU64::new(0),
            next_report: AtomicU64::new(0),
        }
    }

    /// Time since the search began.
    fn elapsed(&self) -> Duration {
        self.session.since(self.began)
    }

    fn stopped(&self) -> Option<Limit> {
        self.stop.load(Ordering::Relaxed).then(|| decode(self.limit.load(Ordering::Relaxed))).flatten()
    }

    fn stop(&self, limit: Limit) {
        let _ = self.limit.compare_exchange(NO_LIMIT, encode(limit), Ordering::Relaxed, Ordering::Relaxed);
        self.stop.store(true, Ordering::Release);
    }

    /// Checks time, memory and interruption; `true` if the search must stop. `wanted` bytes are about to be allocated.
    fn must_stop(&self, wanted: u64) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return true;
        }
        let exceeded = self.session.exceeded_with(self.stored_bytes.load(Ordering::Relaxed), wanted);
        if let Some(limit) = exceeded {
            self.stop(limit);
        }
        exceeded.is_some()
    }

    /// As [`Shared::must_stop`], without counting as work: how often it is called depends on the size of states.
    fn must_stop_between_checks(&self) {
        if let Some(limit) = self.session.exceeded_between_checks(self.stored_bytes.load(Ordering::Relaxed), 0) {
            self.stop(limit);
        }
    }

    /// Reports progress, at most a few times per second.
    fn report(&self, progress: impl FnOnce() -> Progress) {
        const PERIOD_MS: u64 = 200;
        let now = self.session.elapsed().as_millis() as u64;
        let due = self.next_report.load(Ordering::Relaxed);
        let claim = |due| self.next_report.compare_exchange(due, now + PERIOD_MS, Ordering::Relaxed, Ordering::Relaxed);
        if now >= due && claim(due).is_ok() {
            self.session.report(progress());
        }
    }
}

const NO_LIMIT: u64 = 0;
/// Where the number of a limit that has one begins.
const BOUND_SHIFT: u32 = 8;

fn encode(limit: Limit) -> u64 {
    match limit {
        Limit::Time => 1,
        Limit::Memory => 2,
        Limit::States => 3,
        Limit::Interrupted => 4,
        Limit::Alarm => 5,
        Limit::Extensions => 6,
        Limit::Instances => 7,
        Limit::Copies => 12,
        Limit::Rounds(bound) => 8 | u64::from(bound) << BOUND_SHIFT,
        Limit::Age(bound) => 9 | u64::from(bound) << BOUND_SHIFT,
        Limit::Frames(bound) => 10 | u64::from(bound) << BOUND_SHIFT,
        Limit::Spawned(bound) => 11 | u64::from(bound) << BOUND_SHIFT,
    }
}

fn decode(code: u64) -> Option<Limit> {
    let bound = (code >> BOUND_SHIFT) as u32;
    let plain = [Limit::Time, Limit::Memory, Limit::States, Limit::Interrupted, Limit::Alarm, Limit::Extensions];
    let plain = plain.into_iter().chain([Limit::Instances, Limit::Copies]);
    let bounded = [Limit::Rounds(bound), Limit::Age(bound), Limit::Frames(bound), Limit::Spawned(bound)];
    let mut all = plain.chain(bounded);
    all.find(|&limit| encode(limit) == code)
}

/// The first step, in the order of the system, that leads from one state to the other.
pub(crate) fn step_between<T: TransitionSystem>(system: &T, from: &T::State, to: &T::State) -> Option<StepCode> {
    let mut found = None;
    system.each_successor(from, &mut |step, next| {
        if found.is_none() && next == *to {
            found = Some(step);
        }
        found.is_none()
    });
    found
}

#[cfg(test)]
mod tests;

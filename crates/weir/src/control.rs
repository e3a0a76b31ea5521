//! Budgets, interruption and progress: what the caller holds over a running analysis.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Limit;
use crate::reach::Statistics;

/// How much an analysis may use. `None` is no limit. By default there is a limit on memory alone, [`Budget::DEFAULT_MEMORY`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Bytes of memory in use by the process, as the meter of [`Control`] tells.
    pub memory: Option<u64>,
    /// Distinct states stored.
    pub states: Option<u64>,
}

impl Budget {
    /// What an analysis may use if nothing else is said: four gibibytes.
    pub const DEFAULT_MEMORY: u64 = 4 << 30;
}

impl Default for Budget {
    fn default() -> Self {
        Self { time: None, memory: Some(Self::DEFAULT_MEMORY), states: None }
    }
}

/// How far an analysis has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Distinct states found so far.
    pub states: u64,
    /// Of these, not yet expanded.
    pub open: u64,
    /// Length of the runs now being extended.
    pub depth: u64,
    /// Since the start.
    pub elapsed: Duration,
}

/// Tells how many bytes of memory the process really uses, or `None` where that cannot be known.
pub type MemoryMeter = Arc<dyn Fn() -> Option<u64> + Send + Sync>;

/// Receives progress, at most a few times a second.
pub type ProgressSink = Arc<dyn Fn(&Progress) + Send + Sync>;

/// The caller's hold over a running analysis. Cheap to clone; clones share the interruption.
#[derive(Clone, Default)]
pub struct Control {
    /// What may be used.
    pub budget: Budget,
    /// Set it to end the analysis with a partial result.
    pub interrupt: Arc<AtomicBool>,
    /// Measures memory. Without it, only what the stores of states hold is counted.
    pub memory_meter: Option<MemoryMeter>,
    /// Receives progress.
    pub progress: Option<ProgressSink>,
    /// Counts the work done, for a race of several analyses.
    pub clock: Option<Arc<WorkClock>>,
}

/// Counts work instead of time: the same analysis always takes the same amount. So who comes first in a race does not depend on how
/// fast the machine runs whom.
#[derive(Debug)]
pub struct WorkClock {
    done: AtomicU64,
    /// Who has done more than this has lost.
    deadline: AtomicU64,
}

impl Default for WorkClock {
    fn default() -> Self {
        Self { done: AtomicU64::new(0), deadline: AtomicU64::new(u64::MAX) }
    }
}

impl WorkClock {
    /// How much was done so far.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// From now on, going beyond this ends the analysis.
    pub(crate) fn set_deadline(&self, deadline: u64) {
        self.deadline.fetch_min(deadline, Ordering::Relaxed);
    }

    fn tick(&self) -> bool {
        self.done.fetch_add(1, Ordering::Relaxed) >= self.deadline.load(Ordering::Relaxed)
    }
}

impl Control {
    /// What is left of it once some time has passed.
    #[must_use]
    pub fn after(&self, elapsed: Duration) -> Self {
        let time = self.budget.time.map(|time| time.saturating_sub(elapsed));
        Self { budget: Budget { time, ..self.budget }, ..self.clone() }
    }

    /// What is left of it for a further search, after those that took this much.
    pub(crate) fn beyond(&self, used: &Statistics) -> Self {
        let mut rest = self.after(used.elapsed);
        rest.budget.states = self.budget.states.map(|states| states.saturating_sub(used.states));
        rest
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("budget", &self.budget).finish_non_exhaustive()
    }
}

/// The clock and the limits of one analysis under way.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    control: &'a Control,
    started: Instant,
}

impl<'a> Watch<'a> {
    pub(crate) fn start(control: &'a Control) -> Self {
        Self { control, started: Instant::now() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn state_limit(&self) -> u64 {
        self.control.budget.states.unwrap_or(u64::MAX)
    }

    /// Whether to stop now, given the bytes that the stores hold and are about to ask for.
    pub(crate) fn exceeded(&self, stored_bytes: u64, wanted_bytes: u64) -> Option<Limit> {
        let has_lost = self.control.clock.as_ref().is_some_and(|clock| clock.tick());
        if has_lost || self.control.interrupt.load(Ordering::Relaxed) {
            return Some(Limit::Interrupted);
        }
        if self.control.budget.time.is_some_and(|time| self.elapsed() >= time) {
            return Some(Limit::Time);
        }
        let budget = self.control.budget.memory?;
        let used = self.control.memory_meter.as_ref().and_then(|meter| meter()).unwrap_or(stored_bytes);
        (used.saturating_add(wanted_bytes) > budget).then_some(Limit::Memory)
    }

    pub(crate) fn report(&self, progress: &Progress) {
        if let Some(sink) = &self.control.progress {
            sink(progress);
        }
    }
}

#[cfg(test)]
mod tests;

//! The session: one question asked of Weir, from reading the program to showing the answer.
//!
//! The caller creates a session and passes it by reference to every stage. It holds the start time, the limits, the
//! resources used so far and the stop flag. No stage has a clock or a budget of its own, so limits hold whichever stage
//! takes long.

mod work;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use weir_ir::Interrupt;

use crate::bounds::{Bound, Bounds};
use crate::verdict::Limit;
#[cfg(test)]
pub(crate) use work::SOON;
pub(crate) use work::WorkClock;

/// Resource limits of a session. `None` means unlimited. By default only memory is limited, to
/// [`Limits::DEFAULT_MEMORY`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Time since the session began.
    pub time: Option<Duration>,
    /// Bytes of memory in use by the process, as reported by the session's meter.
    pub memory: Option<u64>,
    /// Distinct states stored by all searches together.
    pub states: Option<u64>,
}

impl Limits {
    /// The default memory limit: four gibibytes.
    pub const DEFAULT_MEMORY: u64 = 4 << 30;
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: None, memory: Some(Self::DEFAULT_MEMORY), states: None }
    }
}

/// The progress of an analysis.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// Which engine is at work, and what it is doing: `lazy: round 2: looking for delays`. Empty if nobody said.
    pub activity: Arc<str>,
    /// Distinct states found so far.
    pub states: u64,
    /// What is counted in `states`: states unless the analysis has another word for them.
    pub unit: &'static str,
    /// Of these, not yet expanded.
    pub open: u64,
    /// Length of the runs now being extended.
    pub depth: u64,
    /// Bounds on the number that is looked for, as far as they are known: of a probability or an expected cost.
    pub interval: Option<(f64, f64)>,
    /// Since the session began.
    pub elapsed: Duration,
}

impl Default for Progress {
    fn default() -> Self {
        let (activity, elapsed) = (Arc::from(""), Duration::ZERO);
        Self { activity, states: 0, unit: "states", open: 0, depth: 0, interval: None, elapsed }
    }
}

/// Returns the time since some fixed moment.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Returns how many bytes of memory the process uses, or `None` if the system does not report it.
pub type MemoryMeter = Arc<dyn Fn() -> Option<u64> + Send + Sync>;

/// Receives progress, at most a few times per second.
pub type ProgressSink = Arc<dyn Fn(&Progress) + Send + Sync>;

/// One question asked of Weir: its start time, its limits, the resources used so far, and the way to stop it.
///
/// ```
/// # use std::time::Duration;
/// use weir::{Limits, Session};
///
/// let session = Session::new(Limits { time: Some(Duration::from_secs(60)), ..Limits::default() });
/// let stop = session.stop_handle();
/// // From anywhere, for instance from a signal handler:
/// stop.store(true, std::sync::atomic::Ordering::Relaxed);
/// assert_eq!(session.exceeded(), Some(weir::Limit::Interrupted));
/// ```
#[derive(Clone)]
pub struct Session {
    limits: Limits,
    bounds: Bounds,
    clock: Clock,
    began: Duration,
    stop: Arc<AtomicBool>,
    /// States stored so far: in this session, and in all sessions that it is part of.
    spent: Vec<Arc<AtomicU64>>,
    memory_meter: Option<MemoryMeter>,
    progress: Option<ProgressSink>,
    activity: Arc<str>,
    /// The bounds on the number that is looked for; shared, so that every stage can report them.
    interval: Arc<Mutex<Option<(f64, f64)>>>,
    work: Option<Arc<WorkClock>>,
    /// How much work lies between two checks of the limits.
    work_per_check: u64,
}

impl Default for Session {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

/// The clock of the system, where there is one.
fn system_clock() -> Clock {
    #[cfg(target_family = "wasm")]
    {
        // A library has no clock there: code that embeds Weir passes one to `Session::with_clock`.
        Arc::new(|| Duration::ZERO)
    }
    #[cfg(not(target_family = "wasm"))]
    {
        let origin = std::time::Instant::now();
        Arc::new(move || origin.elapsed())
    }
}

impl Session {
    /// A session that starts now.
    pub fn new(limits: Limits) -> Self {
        let clock = system_clock();
        let began = clock();
        let stop = Arc::new(AtomicBool::new(false));
        Self {
            limits,
            bounds: Bounds::default(),
            clock,
            began,
            stop,
            spent: vec![Arc::default()],
            memory_meter: None,
            progress: None,
            activity: Arc::from(""),
            interval: Arc::default(),
            work: None,
            work_per_check: 1,
        }
    }

    /// The same session with this clock, starting now.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        let began = clock();
        Self { clock, began, ..self }
    }

    /// The same session as if it had started this much earlier: earlier work counts towards its time.
    #[must_use]
    pub fn begun_before(self, earlier: Duration) -> Self {
        // The clock may have started later than that: it is the clock that is put forward.
        let clock = Arc::clone(&self.clock);
        Self { clock: Arc::new(move || clock() + earlier), ..self }
    }

    /// The same session, stopped by setting this flag.
    #[must_use]
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// The same session with a meter of the memory in use. Without one, only the state stores are counted.
    #[must_use]
    pub fn with_memory_meter(self, meter: MemoryMeter) -> Self {
        Self { memory_meter: Some(meter), ..self }
    }

    /// The same session, reporting its progress.
    #[must_use]
    pub fn with_progress(self, sink: ProgressSink) -> Self {
        Self { progress: Some(sink), ..self }
    }

    /// The same session with another value for a bound on one stage.
    #[must_use]
    pub fn with_bound(mut self, bound: Bound, value: u64) -> Self {
        self.bounds.set(bound, value);
        self
    }

    /// The value of a bound on one stage.
    pub fn bound(&self, bound: Bound) -> u64 {
        self.bounds.get(bound)
    }

    /// The value of a bound on the size of something in memory.
    pub(crate) fn size_bound(&self, bound: Bound) -> usize {
        usize::try_from(self.bound(bound)).unwrap_or(usize::MAX)
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The flag that [`Session::stop`] sets, for code that outlives the session, such as a signal handler.
    pub fn stop_handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Ends it early, with a partial result.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was ended early.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Time since it began.
    pub fn elapsed(&self) -> Duration {
        (self.clock)().saturating_sub(self.began)
    }

    /// Time since an earlier value of [`Session::elapsed`].
    pub fn since(&self, moment: Duration) -> Duration {
        self.elapsed().saturating_sub(moment)
    }

    /// States stored so far by all searches.
    pub fn states(&self) -> u64 {
        self.spent.last().map_or(0, |spent| spent.load(Ordering::Relaxed))
    }

    /// A part of this session that may store at most this many states, which also count for the whole.
    #[must_use]
    pub(crate) fn part(&self, states: Option<u64>) -> Self {
        let left = self.states_left();
        let states = match (left, states) {
            (u64::MAX, None) => None,
            (left, states) => Some(left.min(states.unwrap_or(u64::MAX))),
        };
        let mut part = self.clone();
        part.limits.states = states;
        part.spent.push(Arc::default());
        part
    }

    /// A session for another question of the same asker: the same limits and the same clock, and a count of states of
    /// its own.
    #[must_use]
    pub fn another(&self) -> Self {
        Self { spent: vec![Arc::default()], ..self.clone() }
    }

    /// A member of a portfolio, with its share of the memory. The caller watches the session as a
    /// whole, stops members by their flags and counts their work.
    #[must_use]
    pub(crate) fn member(&self, members: usize, work: &Arc<WorkClock>, stop: &Arc<AtomicBool>) -> Self {
        let mut member = self.part(None);
        // How far a losing member comes depends on the machine, so the portfolio itself counts the states.
        member.spent = vec![Arc::default()];
        member.limits.memory = self.limits.memory.map(|memory| memory / members.max(1) as u64);
        member.memory_meter = None;
        member.stop = Arc::clone(stop);
        member.work = Some(Arc::clone(work));
        member
    }

    /// The only member of a portfolio. The portfolio counts its states, too.
    #[must_use]
    pub(crate) fn only_member(&self) -> Self {
        let mut member = self.part(None);
        member.spent = vec![Arc::default()];
        member
    }

    /// The same session for an analysis that does so much work between two checks of the limits.
    #[must_use]
    pub(crate) fn working(&self, work_per_check: u64) -> Self {
        Self { work_per_check, ..self.clone() }
    }

    /// An equal share of the states that are left, if they are limited.
    pub(crate) fn share_of_states(&self, among: usize) -> Option<u64> {
        self.limits.states.map(|_| self.states_left() / among.max(1) as u64)
    }

    /// How many more states may be stored.
    pub(crate) fn states_left(&self) -> u64 {
        self.limits.states.map_or(u64::MAX, |states| states.saturating_sub(self.states()))
    }

    /// Whether more states were stored than may be.
    pub(crate) fn has_too_many_states(&self) -> bool {
        self.limits.states.is_some_and(|most| self.states() > most)
    }

    /// Counts states that a search has stored.
    pub(crate) fn spend(&self, states: u64) {
        for spent in &self.spent {
            spent.fetch_add(states, Ordering::Relaxed);
        }
    }

    /// The limit that has been reached, if any.
    pub fn exceeded(&self) -> Option<Limit> {
        self.exceeded_with(0, 0)
    }

    /// The limit that ended a stage that was interrupted. Memory that was too much then may be free again by now.
    pub fn ended_by(&self) -> Limit {
        self.exceeded_before_work().unwrap_or(Limit::Memory)
    }

    /// Whether to stop now, given the bytes that the stores hold and are about to ask for.
    pub(crate) fn exceeded_with(&self, stored_bytes: u64, wanted_bytes: u64) -> Option<Limit> {
        if let Some(work) = &self.work {
            if work.advance(self.work_per_check) {
                return Some(Limit::Interrupted);
            }
            work.wait_for_others(|| self.reached(stored_bytes, wanted_bytes).is_some());
        }
        self.reached(stored_bytes, wanted_bytes)
    }

    /// The limit that has been reached, if any, for stages that do not count as work: those that all members of a
    /// portfolio have in common.
    pub(crate) fn exceeded_before_work(&self) -> Option<Limit> {
        self.reached(0, 0)
    }

    /// As [`Session::exceeded_with`], for checks that do not count as work.
    pub(crate) fn exceeded_between_checks(&self, stored_bytes: u64, wanted_bytes: u64) -> Option<Limit> {
        self.reached(stored_bytes, wanted_bytes)
    }

    fn reached(&self, stored_bytes: u64, wanted_bytes: u64) -> Option<Limit> {
        if self.stop.load(Ordering::Relaxed) {
            return Some(Limit::Interrupted);
        }
        if self.limits.time.is_some_and(|time| self.elapsed() >= time) {
            return Some(Limit::Time);
        }
        let most = self.limits.memory?;
        let used = self.memory_meter.as_ref().and_then(|meter| meter()).unwrap_or(stored_bytes);
        (used.saturating_add(wanted_bytes) > most).then_some(Limit::Memory)
    }

    /// The same session, in which this is being done; part of what was being done before.
    #[must_use]
    pub(crate) fn doing(&self, what: &str) -> Self {
        let mut part = self.clone();
        if part.progress.is_some() {
            let outer = &self.activity;
            part.activity = if outer.is_empty() { what.into() } else { format!("{outer}: {what}").into() };
            part.interval = Arc::default();
        }
        part
    }

    /// Remembers bounds on the number that is looked for, to be reported as progress.
    pub(crate) fn enclose(&self, lower: f64, upper: f64) {
        *self.interval.lock() = Some((lower, upper));
    }

    /// Passes progress on, with what is being done, since when, and the bounds that are known.
    pub(crate) fn report(&self, progress: Progress) {
        if let Some(sink) = &self.progress {
            let (activity, interval) = (Arc::clone(&self.activity), *self.interval.lock());
            sink(&Progress { activity, interval, elapsed: self.elapsed(), ..progress });
        }
    }
}

impl Interrupt for Session {
    fn is_over(&self) -> bool {
        self.exceeded_before_work().is_some()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("limits", &self.limits).field("states", &self.states()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

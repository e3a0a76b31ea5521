//! Work in place of time: the same analysis always takes the same amount. Hence the winner of a portfolio does not depend
//! on the speed of the machine.
//!
//! Analyses that run side by side keep pace with each other: none goes on while it is far ahead of the slowest. What it
//! did beyond the work of the winner would be in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How much work all analyses do at the same pace: most questions are answered by then. It takes some tens of
/// milliseconds.
pub(crate) const SOON: u64 = 64;
/// How far ahead of the slowest an analysis may be: so much that threads seldom wait, and so little that the work which
/// is in vain takes some milliseconds.
const LEAD: u64 = 32;
/// How long an analysis sleeps before it looks again whether the others have caught up.
const NAP: Duration = Duration::from_micros(200);
/// How often it looks before it goes on without the slowest: some stages take long without counting as work.
const MOST_NAPS: u32 = 100;

/// Counts the work of one of several analyses.
#[derive(Debug)]
pub(crate) struct WorkClock {
    number: usize,
    /// Of all analyses that run side by side.
    lanes: Arc<[Lane]>,
    /// What a unit of work counts as after [`SOON`].
    pace: u64,
    /// An analysis that has done more work than this has lost.
    deadline: AtomicU64,
    /// The work of the slowest when waiting for it was in vain: it is not waited for until it has done more.
    in_vain: AtomicU64,
}

/// What the others know about an analysis.
#[derive(Default, Debug)]
struct Lane {
    done: AtomicU64,
    /// Nobody waits for it any more.
    has_ended: AtomicBool,
}

impl Default for WorkClock {
    fn default() -> Self {
        Self::alone(1)
    }
}

impl WorkClock {
    fn new(number: usize, lanes: Arc<[Lane]>, pace: u64) -> Self {
        Self { number, lanes, pace, deadline: AtomicU64::new(u64::MAX), in_vain: AtomicU64::new(u64::MAX) }
    }

    /// The clock of an analysis that keeps pace with no other, with what a unit of work counts as after [`SOON`].
    pub(crate) fn alone(pace: u64) -> Self {
        Self::new(0, Arc::new([Lane::default()]), pace)
    }

    /// Clocks for analyses that run side by side, by what a unit of work of each counts as after [`SOON`].
    pub(crate) fn side_by_side(paces: &[u64]) -> Vec<Arc<Self>> {
        let lanes: Arc<[Lane]> = paces.iter().map(|_| Lane::default()).collect();
        paces.iter().enumerate().map(|(number, &pace)| Arc::new(Self::new(number, Arc::clone(&lanes), pace))).collect()
    }

    /// The work done so far.
    pub(crate) fn done(&self) -> u64 {
        self.lanes[self.number].done.load(Ordering::Relaxed)
    }

    /// Sets the amount of work beyond which the analysis ends.
    pub(crate) fn set_deadline(&self, deadline: u64) {
        self.deadline.fetch_min(deadline, Ordering::Relaxed);
    }

    /// Nobody waits for the analysis any more.
    pub(crate) fn end(&self) {
        self.lanes[self.number].has_ended.store(true, Ordering::Relaxed);
    }

    /// Ends it when this is dropped, also by a panic.
    pub(crate) fn ending(&self) -> Ending<'_> {
        Ending(self)
    }

    /// Counts work; whether there was too much before.
    pub(super) fn advance(&self, work: u64) -> bool {
        let before = self.done();
        let counted = if before < SOON { work } else { work * self.pace };
        self.lanes[self.number].done.fetch_add(counted, Ordering::Relaxed);
        before >= self.deadline.load(Ordering::Relaxed)
    }

    /// Waits while the analysis is far ahead and the slowest moves.
    pub(super) fn wait_for_others(&self, is_over: impl Fn() -> bool) {
        let (mut slowest, mut naps) = (0, 0);
        while let Some(other) = self.slowest().filter(|other| self.done() > other + LEAD) {
            if other == self.in_vain.load(Ordering::Relaxed) || is_over() {
                return;
            }
            if other > slowest {
                (slowest, naps) = (other, 0);
            }
            if naps == MOST_NAPS {
                self.in_vain.store(other, Ordering::Relaxed);
                return;
            }
            naps += 1;
            std::thread::sleep(NAP);
        }
    }

    /// The work of the slowest of those that have not ended.
    fn slowest(&self) -> Option<u64> {
        let running = self.lanes.iter().filter(|lane| !lane.has_ended.load(Ordering::Relaxed));
        running.map(|lane| lane.done.load(Ordering::Relaxed)).min()
    }
}

/// See [`WorkClock::ending`].
pub(crate) struct Ending<'a>(&'a WorkClock);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests;

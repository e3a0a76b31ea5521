//! How a stage that takes long learns that it should end.

use std::cell::Cell;

/// Tells whether to end early: a limit was reached, or the answer is no longer needed. Every stage that can take long
/// checks it regularly, from reading the program on; what a stage returns when it ends early is part of its contract.
pub trait Interrupt: Sync {
    /// Whether to end now.
    fn is_over(&self) -> bool;
}

/// Asks an [`Interrupt`] once in a while, so that asking costs next to nothing. Once it says yes, the answer stays:
/// what was left unfinished is never mistaken for a result.
pub struct Poll<'i> {
    interrupt: &'i dyn Interrupt,
    period: u32,
    calls: Cell<u32>,
    is_over: Cell<bool>,
}

impl<'i> Poll<'i> {
    /// One answer serves for this many short steps.
    const PERIOD: u32 = 1024;

    /// A poll for steps that take less than a microsecond or so.
    pub fn new(interrupt: &'i dyn Interrupt) -> Self {
        Self::every(Self::PERIOD, interrupt)
    }

    /// As [`Poll::new`], but it does not ask before the first period is over. What takes fewer steps is never
    /// interrupted.
    pub fn later(interrupt: &'i dyn Interrupt) -> Self {
        Self { calls: Cell::new(1), ..Self::new(interrupt) }
    }

    /// A poll that asks once in so many steps.
    pub fn every(period: u32, interrupt: &'i dyn Interrupt) -> Self {
        Self { interrupt, period, calls: Cell::new(0), is_over: Cell::new(false) }
    }

    /// Whether to end now; to be called at every step.
    pub fn is_over(&self) -> bool {
        if self.calls.get() == 0 && !self.is_over.get() {
            self.is_over.set(self.interrupt.is_over());
        }
        self.calls.set((self.calls.get() + 1) % self.period);
        self.is_over.get()
    }

    /// Whether [`Poll::is_over`] has ever returned `true`.
    pub fn was_over(&self) -> bool {
        self.is_over.get()
    }
}

/// Never ends early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uninterrupted;

impl Interrupt for Uninterrupted {
    fn is_over(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Says yes once, at this question.
    struct Once(u32, AtomicU32);

    impl Interrupt for Once {
        fn is_over(&self) -> bool {
            self.1.fetch_add(1, Ordering::Relaxed) == self.0
        }
    }

    #[test]
    fn an_interrupt_is_asked_once_per_period_and_its_yes_stays() {
        let once = Once(2, AtomicU32::new(0));
        let poll = Poll::new(&once);
        let first = (0..10_000).position(|_| poll.is_over());
        assert_eq!((first, poll.was_over()), (Some(2 * Poll::PERIOD as usize), true));
        assert!((0..10_000).all(|_| poll.is_over()));
        assert_eq!(once.1.load(Ordering::Relaxed), 3, "it is not asked again");
    }

    #[test]
    fn a_poll_for_later_leaves_the_first_period_alone() {
        let once = Once(0, AtomicU32::new(0));
        let poll = Poll::later(&once);
        assert_eq!((0..10_000).position(|_| poll.is_over()), Some(Poll::PERIOD as usize - 1));
    }
}

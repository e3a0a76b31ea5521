//! How a stage that takes long learns that it should end.

/// Tells whether to end early: a limit was reached, or the answer is no longer needed. Every stage that can take long
/// checks it regularly, from reading the program on; what a stage returns when it ends early is part of its contract.
pub trait Interrupt: Sync {
    /// Whether to end now.
    fn is_over(&self) -> bool;
}

/// Asks an [`Interrupt`] once in a while, so that asking costs next to nothing. Once it says yes, the answer stays.
pub(crate) struct Poll<'i> {
    interrupt: &'i dyn Interrupt,
    calls: u32,
    is_over: bool,
}

impl<'i> Poll<'i> {
    /// One answer serves for this many steps.
    const PERIOD: u32 = 1024;

    pub(crate) fn new(interrupt: &'i dyn Interrupt) -> Self {
        Self { interrupt, calls: 0, is_over: false }
    }

    /// Whether to end now; to be called at every step.
    pub(crate) fn is_over(&mut self) -> bool {
        if self.calls == 0 {
            self.is_over = self.is_over || self.interrupt.is_over();
        }
        self.calls = (self.calls + 1) % Self::PERIOD;
        self.is_over
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

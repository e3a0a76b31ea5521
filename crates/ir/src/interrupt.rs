//! How a stage that takes long learns that it should end.

/// Tells whether to end early: a limit was reached, or the answer is no longer needed. Every stage that can take long
/// checks it regularly, from reading the program on; what a stage returns when it ends early is part of its contract.
pub trait Interrupt: Sync {
    /// Whether to end now.
    fn is_over(&self) -> bool;
}

/// Never ends early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uninterrupted;

impl Interrupt for Uninterrupted {
    fn is_over(&self) -> bool {
        false
    }
}

//! Weir as a library: what the store buffers of x86 can do to a concurrent program.
//!
//! It reads no files, prints nothing and never exits.

pub mod check;
mod control;
mod explore;
pub mod fences;
pub mod outcomes;
pub mod prob;
pub mod reach;
pub mod robust;
mod semantics;
pub mod transform;
mod verdict;

pub use control::{Budget, Control, MemoryMeter, Progress, ProgressSink, WorkClock};
pub use verdict::{Failure, Limit, Verdict};

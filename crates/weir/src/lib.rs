//! Weir as a library: verifies concurrent programs against the store buffers of x86.
//!
//! It reads no files, prints nothing and never exits.

pub mod check;
mod explore;
pub mod fences;
pub mod outcomes;
pub mod prob;
pub mod reach;
pub mod robust;
mod semantics;
mod session;
pub mod transform;
mod verdict;

pub use session::{Clock, Limits, MemoryMeter, Progress, ProgressSink, Session};
pub use verdict::{Failure, Limit, Verdict};

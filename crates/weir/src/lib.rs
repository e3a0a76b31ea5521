//! Weir as a library: verifies concurrent programs against the store buffers of x86.
//!
//! It reads no files, prints nothing and never exits.

mod attack;
pub mod check;
mod explicit;
pub mod fences;
pub mod outcomes;
pub mod prob;
pub mod reach;
pub mod robust;
mod search;
mod semantics;
mod session;
pub mod translate;
mod verdict;
mod wsts;

pub use session::{Clock, Limits, MemoryMeter, Progress, ProgressSink, Session};
pub use verdict::{Failure, Limit, Verdict};

//! Programs under chance, naively: the Markov chain with all its configurations, every number an exact fraction.
//!
//! Written from the definitions ("Probabilistic Total Store Ordering", §4; `docs/probability.md`): an update step is
//! the enumeration of every single
//! sequence of flushes; whether something is reached again and again is read off the bottom strongly connected
//! components;
//! expectations solve linear systems by elimination. It errs in no direction, and is slow: chains must be finite and
//! small.

mod answers;
mod chain;
mod equations;
mod odds;
mod relation;
mod runs;
mod scheduler;
mod target;
mod updates;

use weir_ir::{EdgeId, ThreadId};

pub use chain::{Chain, Move};
pub use odds::{Odds, Updates, price};
pub use runs::{Continuation, RunStep};

/// An edge of a thread.
pub type ThreadEdge = (ThreadId, EdgeId);

#[cfg(test)]
mod tests;

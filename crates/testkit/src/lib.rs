//! The judge: what the engines are compared with. Used by tests only.
//!
//! - [`mod@reference`]: a naive interpreter for SC and TSO that visits every reachable state;
//! - [`traces`]: robustness, attacks and triangular races by their definitions;
//! - [`tiny`]: every program of a small shape; [`random`]: seeded random programs;
//! - [`cycles`]: seeded random programs around a cycle that may close; [`blocks`]: threads as nested blocks;
//! - [`shrink()`]: makes a failing program small; [`dump()`]: shows it;
//! - [`sketch`]: writes programs by hand in a few words.
//!
//! Nothing here shares code with an engine, so that a mistake in one is no mistake in the other.

pub mod blocks;
pub mod cycles;
mod dump;
pub mod random;
pub mod reference;
mod rng;
mod shrink;
pub mod sketch;
pub mod tiny;
pub mod traces;

pub use dump::dump;
pub use reference::{Chance, Drained, FinalState, Goal, Model, Outcome, Unsupported, chance, drained_states, explore};
pub use rng::Rng;
pub use shrink::shrink;

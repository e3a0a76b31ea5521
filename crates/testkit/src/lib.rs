//! The judge: what the engines are compared with. Used by tests only.
//!
//! - [`mod@reference`]: a naive interpreter for SC and TSO that visits every reachable state;
//! - [`tiny`]: every program of a small shape; [`random`]: seeded random programs;
//! - [`shrink()`]: makes a failing program small; [`dump()`]: shows it;
//! - [`product`]: the states of threads whose steps an interpreter of a source language gives;
//! - [`sketch`]: writes programs by hand in a few words.
//!
//! Nothing here shares code with an engine, so that a mistake in one is no mistake in the other.

mod corpus;
mod dump;
pub mod product;
pub mod random;
pub mod reference;
mod rng;
mod shrink;
pub mod sketch;
pub mod tiny;

pub use corpus::corpus;
pub use dump::dump;
pub use reference::{Chance, Drained, FinalState, Goal, Model, Outcome, Unsupported, chance, drained_states, explore};
pub use rng::Rng;
pub use shrink::shrink;

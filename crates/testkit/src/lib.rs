//! Reference implementations that the engines are compared with. Used by tests only.
//!
//! - [`mod@reference`]: a naive interpreter for SC and TSO that visits every reachable state;
//! - [`traces`]: robustness, attacks and triangular races by their definitions;
//! - [`product`]: the states of threads whose steps an interpreter of a source language gives;
//! - [`tiny`]: every program of a small shape; [`random`]: seeded random programs;
//! - [`cycles`]: seeded random programs around a cycle that may close; [`blocks`]: threads as nested blocks;
//! - [`calls`]: texts of random programs with recursive procedures and `spawn`;
//! - [`nets`]: coverability of Petri nets by its definition, and nets;
//! - [`variants()`]: programs that are nearly the same, and may not be safe;
//! - [`shrink()`]: makes a failing program small; [`dump()`]: shows it;
//! - [`sketch`]: writes programs by hand in a few words; [`small`]: programs over three cells, as lists of
//!   instructions;
//! - [`btor2`]: a model checker for exported transition systems;
//! - [`corpus()`]: programs from elsewhere, where they are there.
//!
//! Nothing here shares code with an engine, so that a mistake in one is no mistake in the other.

pub mod blocks;
pub mod btor2;
pub mod calls;
mod corpus;
pub mod cycles;
mod dump;
mod hash;
pub mod nets;
pub mod product;
pub mod random;
pub mod reference;
mod rng;
mod shrink;
pub mod sketch;
pub mod small;
pub mod tiny;
pub mod traces;
mod variants;

pub use corpus::corpus;
pub use dump::dump;
pub use reference::{Drained, FinalState, Goal, Model, Outcome, Unsupported, View, chance, drained_states, explore};
pub use rng::Rng;
pub use shrink::shrink;
pub use variants::variants;

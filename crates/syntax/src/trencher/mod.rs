//! The language of Trencher, a checker of robustness: threads as plain automata.

mod cells;
mod numbers;
pub mod print;
mod read;
mod states;
mod words;

pub use read::parse;

//! The language of Trencher, a checker of robustness: threads as plain automata.

mod cells;
mod numbers;
mod parser;
pub mod print;
mod states;
mod tokens;

pub use parser::parse;
pub(crate) use parser::read;

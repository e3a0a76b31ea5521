//! The language of Trencher, a checker of robustness: threads as plain automata.

pub mod print;

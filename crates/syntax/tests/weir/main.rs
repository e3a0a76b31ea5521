//! The `.weir` language, from the outside.

mod docs;
mod dump;
mod errors;
mod everywhere;
mod examples;
mod format;
mod fuzz;
mod meaning;
mod others;
mod programs;
mod reports;
mod steps;
mod traces;

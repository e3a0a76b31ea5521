//! The `.weir` language, from the outside.

mod dump;
mod examples;
mod steps;

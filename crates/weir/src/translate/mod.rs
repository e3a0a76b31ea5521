//! Passes: from programs to programs, one file a pass. What a pass makes is an ordinary program, which any engine can run and any
//! printer can print; every step of it keeps the span of the source it came from.

pub mod delay;
mod insert_fences;
pub mod instrument;

pub use insert_fences::{insert_fences, insert_fences_after};

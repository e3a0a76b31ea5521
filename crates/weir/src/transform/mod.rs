//! Passes: from programs to programs.

mod insert_fences;

pub use insert_fences::insert_fences;

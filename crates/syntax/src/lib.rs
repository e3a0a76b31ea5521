//! Text in and out: the languages Weir reads and writes, one folder each.
//!
//! Nothing here reads files or prints.

pub mod dot;
pub mod litmus;
pub mod trencher;
pub mod weir;

//! Text in and out: the languages Weir reads and writes, one folder each.
//!
//! Nothing here reads files or prints.

pub mod dot;
mod fences;
mod language;
pub mod limits;
pub mod litmus;
mod parsing;
pub mod rmm;
mod sink;
pub mod trencher;
pub mod weir;

pub use fences::{FenceSite, FenceSites};
pub use language::Language;

use weir_ir::{Diagnostic, Program};

/// A program, and what there is to say about it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program.
    pub program: Program,
    /// Warnings, in order of the source.
    pub warnings: Vec<Diagnostic>,
}

//! Text in and out: the languages Weir reads and writes, one folder each; Petri nets are in [`nets`].
//!
//! Nothing here reads files or prints.

pub mod btor2;
pub mod c;
pub mod dot;
pub mod export;
mod fences;
mod language;
pub mod limits;
pub mod litmus;
pub mod nets;
mod parsed;
mod parsing;
pub mod promela;
pub mod rmm;
mod sink;
pub mod trencher;
pub mod weir;

pub use fences::{FenceSite, FenceSites};
pub use language::Language;
pub use parsed::{ParseError, Parsed};

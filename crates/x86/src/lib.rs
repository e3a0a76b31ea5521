//! Compiled x86-64 code in: ELF files as programs.
//!
//! Threads are functions of the file, called with arguments that the user gives. The code of each is followed from its
//! entry (`flow`), through all calls, and becomes one automaton (`emit`). Every instruction has one definition
//! (`lift`) in terms of a few operations (`ops`), which the interpreter for code at load time (`run`) shares.
//!
//! The stack of a thread is private, and becomes registers (`slots`); global variables are shared, and become cells
//! at their byte addresses (`cells`). What cannot be translated exactly is refused, with the instruction, its source
//! line and a way out. This crate reads no files: the caller brings their content.

mod accesses;
mod call;
mod cells;
mod config;
mod copy;
mod debug;
mod draft;
mod emit;
mod flow;
mod graph;
mod heap;
mod image;
mod known;
mod lift;
mod limit;
mod listing;
mod local;
mod models;
mod objects;
mod ops;
mod pending;
mod pointers;
mod program;
mod property;
mod refusal;
mod run;
mod simplify;
mod slots;
mod table;
mod transfer;

pub use limit::{Compiled, LimitKind, ModelLimit, limited};
pub use listing::{Files, SourceFile};
pub use models::{Outcome, Size, parse_outcome};
pub use program::{Options, ReadError, read};
pub use refusal::Refusal;

/// The extensions of files that this crate reads, in lower case.
pub const EXTENSIONS: [&str; 4] = ["o", "a", "so", "elf"];

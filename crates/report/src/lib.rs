//! What an answer of Weir is, as serializable types, and one renderer per format.
//!
//! A command of Weir builds one [`Answer`](answer::Answer) from what the library found, and [`Format`] renders it.
//! Nothing here reads or writes files, prints or exits.
//!
//! ```
//! use std::{path::Path, time::Duration};
//! use weir::{Limits, Session, robust};
//! use weir_ir::Source;
//! use weir_report::{Format, answer, text::View};
//! use weir_syntax::Language;
//!
//! let text = "shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; let s = x; }";
//! let program = Language::Weir.parse(&Source::new("sb.weir", text), &[]).expect("no errors").program;
//! let options = robust::Options::default();
//! let report = robust::robust(&program, &options, &Session::default()).expect("it is supported");
//! let subject = answer::Subject {
//!     file: Path::new("sb.weir"),
//!     program: &program,
//!     language: Language::Weir,
//!     warnings: &[],
//!     limits: Limits::default(),
//!     elapsed: Duration::ZERO,
//!     peak_memory: None,
//!     copies: None,
//! };
//! let answer = answer::RobustAnswer::new(subject, options.method, Ok(report));
//! let answer = answer::Answer::Robust(Box::new(answer));
//! let view = View { width: 100, is_wrapped: false, is_quiet: true, is_verbose: false };
//! assert!(Format::Text.render(&answer, &view).contains("can delay its store to"));
//! assert!(Format::Json.render(&answer, &view).contains(r#""verdict":"not-robust""#));
//! assert!(Format::Dot.render(&answer, &view).starts_with("digraph happens_before"));
//! ```

pub mod answer;
pub mod automaton;
pub mod csv;
mod dot;
mod format;
mod herd;
mod json;
mod limits;
pub mod run;
pub mod saved;
mod schema;
pub mod svg;
#[cfg(test)]
mod testing;
pub mod text;
mod version;
pub mod wording;

pub use format::Format;
pub use limits::limits;
pub use schema::SCHEMA;
#[cfg(feature = "schema")]
pub use schema::generated_schema;
pub use version::VERSION;

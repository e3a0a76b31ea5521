//! Weir as a library: verifies concurrent programs against the store buffers of x86.
//!
//! It reads no files, prints nothing and never exits.
//!
//! ```
//! use weir::{Language, Program, Session, Verdict, describe};
//!
//! let text = "shared x, y;
//!             thread P { x = 1; let r = y; }
//!             thread Q { y = 1; let s = x; }";
//! let program = Program::parse(text, Language::Weir)?;
//! if let Verdict::Violated(run) = program.robust(&Session::default())?.verdict {
//!     println!("not robust:\n{}", describe(&program, &run));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In tests, [`assert_robust!`] and [`assert_safe!`] fail with such a run.
//!
//! The default feature `syntax` brings the languages; without it, programs are built as [`ir::Program`].

#[cfg(feature = "syntax")]
mod assertions;
mod attack;
mod bounds;
pub mod certify;
pub mod check;
pub mod dynamic;
mod explicit;
pub mod fences;
mod fixed_limits;
pub mod outcomes;
pub mod parameterized;
pub mod petri;
pub mod prob;
#[cfg(feature = "syntax")]
mod program;
pub mod reach;
pub mod robust;
pub mod run_text;
mod search;
mod semantics;
mod session;
mod summaries;
pub mod translate;
mod verdict;
mod wsts;

pub use bounds::Bound;
pub use fixed_limits::FIXED_LIMITS;
pub use run_text::describe;
pub use session::{Clock, Limits, MemoryMeter, Progress, ProgressSink, Session};
pub use verdict::{Failure, Limit, Verdict};
pub use weir_ir as ir;
pub use weir_witness as witness;

#[cfg(feature = "syntax")]
#[doc(hidden)]
pub use assertions::{robust as __robust, safe as __safe};
#[cfg(feature = "syntax")]
pub use program::{Program, ReadError, Repair, SourceError};
#[cfg(feature = "syntax")]
pub use weir_syntax::{self as syntax, Language};

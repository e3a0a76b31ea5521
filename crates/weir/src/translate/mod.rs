//! Passes: translations from programs to programs, one file or folder per pass.
//!
//! The result of a pass is an ordinary program, which any engine can run and any printer can print; every edge keeps
//! the span of the source it came from. Every pass keeps what it takes to map a run back: [`Translation`].
//!
//! The passes, in the order in which they may be applied:
//!
//! 1. [`instantiate`](mod@instantiate): a fixed number of copies of each thread of which there are arbitrarily many. The
//!    result is to be run under the same memory model.
//! 2. [`slice`](mod@slice): the program without what no goal depends on. The result is to be run under the same memory
//!    model.
//! 3. [`value_classes`](mod@value_classes): fewer values to choose from, where the program cannot tell more apart. Again
//!    for the same memory model.
//! 4. [`fuse_waits`](mod@fuse_waits): waiting loops with each load and its tests in one step. Again for the same memory
//!    model.
//! 5. [`insert_fences`](mod@insert_fences): fences at chosen places. The result is again a program to be run under TSO.
//! 6. [`instrument`](mod@instrument): robustness as reachability under SC. The result decides the question about one
//!    attack or about all, and has no other properties.
//! 7. [`delay`]: TSO along chosen paths, under SC. It can be applied again to its own result (`delay_first`).
//! 8. [`bounded`](mod@bounded): TSO within a bound on rounds or on the age of stores, under SC.
//! 9. [`start`](mod@start): threads started at run time as threads that wait, under SC.
//!
//! After the last four passes a program must be run under SC; nothing but [`unroll`](mod@unroll) and `start` can follow
//! `instrument` or `bounded`.

pub mod bounded;
pub mod delay;
pub mod fuse_waits;
pub mod insert_fences;
pub mod instantiate;
pub mod instrument;
pub mod slice;
pub mod start;
pub mod unroll;
pub mod value_classes;

use weir_ir::Program;
use weir_witness::Run;

pub use insert_fences::{Fenced, insert_fences, insert_fences_after};

/// The result of a pass.
pub trait Translation {
    /// The translated program.
    fn program(&self) -> &Program;

    /// Maps a run of the translated program back: the run of `original` that it stands for. For the passes whose result
    /// is to be run under SC ([`instrument`](mod@instrument), [`delay`], [`bounded`](mod@bounded)), the original's run
    /// is under TSO.
    fn map_back(&self, original: &Program, run: &Run) -> Run;
}

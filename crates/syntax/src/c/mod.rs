//! A program in C.
//!
//! - [`Purpose::Hardware`]: threads, C11 atomics and a loop that counts outcomes, to be compiled and run. Plain loads
//!   and stores become single `mov` instructions on x86, in program order, so that the processor does what Weir models
//!   as TSO.
//! - [`Purpose::Cbmc`], [`Purpose::Esbmc`]: the program under SC, with the primitives of these bounded model checkers
//!   for atomic steps, choices, blocking and assertions.
//!
//! Values are `int64_t`, as in Weir; arithmetic that may overflow, and division by zero, go through functions that give
//! what Weir gives.

mod cells;
mod code;
mod expressions;
mod hardware;
mod scope;
mod verifier;
mod words;

use weir_ir::{Diagnostic, Interrupt, Program};

use crate::export::Export;

/// What C is written for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Purpose {
    /// A C11 compiler and a real processor.
    Hardware,
    /// The bounded model checker CBMC.
    Cbmc,
    /// The bounded model checker ESBMC.
    Esbmc,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Hardware, Self::Cbmc, Self::Esbmc];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hardware => "hardware",
            Self::Cbmc => "cbmc",
            Self::Esbmc => "esbmc",
        }
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Hardware => "C11 atomics and threads, with a loop that runs the program and counts its outcomes",
            Self::Cbmc => "The program under SC, for the bounded model checker CBMC",
            Self::Esbmc => "The program under SC, for the bounded model checker ESBMC",
        }
    }
}

/// The program in C, or what stands in the way.
///
/// # Errors
/// Everything that cannot be expressed, in order of the source.
pub fn print(program: &Program, purpose: Purpose, interrupt: &dyn Interrupt) -> Result<Export, Vec<Diagnostic>> {
    match purpose {
        Purpose::Hardware => hardware::print(program, interrupt),
        Purpose::Cbmc => verifier::print(program, verifier::Checker::Cbmc, interrupt),
        Purpose::Esbmc => verifier::print(program, verifier::Checker::Esbmc, interrupt),
    }
}

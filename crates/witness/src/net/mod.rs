//! Petri nets: replays firing sequences, and checks proofs that no target can be covered.
//!
//! Everything here works on plain vectors with one number per place, and follows the definition of a net step by step.

mod firing;
mod linear;
mod marking;
mod proof;
mod structure;
#[cfg(test)]
mod tests;

pub use firing::{CheckedFiring, Firing, FiringError, FiringStep, check_firing};
pub use linear::{LinearFact, Trap};
pub use marking::{Ideal, MinimalMarking};
pub use proof::{CoverProof, ProofFault, check_cover_proof};
pub use structure::NeverMarked;

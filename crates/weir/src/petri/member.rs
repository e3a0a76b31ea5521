//! Methods that take turns.

use weir_witness::net::{CoverProof, Firing};

use crate::session::Session;
use crate::verdict::Limit;

/// What a turn of a method resulted in.
pub(super) enum Turn {
    /// No target can be covered.
    Proof(CoverProof),
    /// A way to cover a target, or a marking above it.
    Firing(Firing),
    /// A limit was reached.
    Stopped(Limit),
    /// The method has nothing more to say.
    Spent,
}

/// A method that takes turns.
pub(super) trait Member {
    /// Expands up to so many configurations; `None` if it can go on.
    fn turn(&mut self, session: &Session, expansions: u32) -> Option<Turn>;

    /// How many configurations it has.
    fn size(&self) -> u64;
}

//! Places for fences in a source text, what they cost, and the text with fences in it.

mod costs;
mod sites;
mod write;

pub(crate) use costs::Costs;
pub(crate) use sites::{Chosen, Sites};
pub(crate) use write::{in_own_language, inserted};

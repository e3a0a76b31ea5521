//! What fences cost, and how answers name their places.

mod candidates;
mod costs;
mod places;

pub(crate) use candidates::candidates;
pub(crate) use costs::Costs;
pub(crate) use places::{copies, places, removed};

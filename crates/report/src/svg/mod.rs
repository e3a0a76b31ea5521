//! Pictures that need no other files.

mod curve;
mod cycle;

pub use curve::curve;
pub use cycle::cycle;

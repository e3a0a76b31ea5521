//! Recursive procedures and `spawn`: answers within bounds agree with the reference interpreter, and runs are replayed
//! with their calls, returns and spawns.

mod compare;
mod coverage;
mod examples;
mod large;
mod random;
mod shapes;
mod start;
mod summaries;
mod witness;

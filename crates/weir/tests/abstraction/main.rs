//! The engines that approximate buffers: what they reach is what the rules say, it is never less than TSO reaches, and
//! their verdicts agree with the reference interpreter, with known answers and with each other.
//!
//! With `WEIR_SEEDS=5000`, each test looks at so many random programs.

mod corpus;
mod inclusion;
mod separating;
mod support;
mod verdicts;

//! Why an answer about a chain is less precise than requested.

use crate::verdict::Limit;

/// Why an interval is wider than requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// A limit was reached.
    Limit(Limit),
    /// A configuration has too many successors.
    Choices,
    /// In some configuration there are too many sequences of flushes, or the weights exceed the range of integers.
    Odds,
    /// Too many configurations, or too large loops, for exact fractions.
    Fractions,
    /// Rounding: the interval is as narrow as the arithmetic allows.
    Precision,
    /// Even the set abstraction of buffers could not bound what happens with large buffers.
    Unbounded,
}

/// A limit as an obstacle.
impl From<Limit> for Obstacle {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

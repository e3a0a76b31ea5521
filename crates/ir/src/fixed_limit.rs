//! Limits that are built in.

/// A limit on the size of something, which no option changes. Inputs beyond it would exhaust the machine, or need a
/// representation that Weir does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FixedLimit {
    /// What is limited.
    pub what: &'static str,
    /// The largest value.
    pub value: u64,
    /// What happens beyond it.
    pub beyond: &'static str,
}

impl FixedLimit {
    /// A row of a table of limits.
    pub const fn new(what: &'static str, value: u64, beyond: &'static str) -> Self {
        Self { what, value, beyond }
    }
}

//! How far the checker goes. Beyond these limits it rejects what it was given: it never accepts what it has not
//! checked.

/// How many nodes may be visited before the search for a still shorter cycle is given up. Only traces with thousands of
/// overtaken stores come near it.
pub const CYCLE_EFFORT: usize = 20_000_000;

/// How many states that follow the last one of a run are visited to show that something can no longer happen.
pub const MOST_FOLLOWED: usize = 200_000;

/// How many of them are distinguished by all values, if there are values on which nothing depends.
pub const FEW_FOLLOWED: usize = 20_000;

/// How many stores may wait in the buffers of such a state together; beyond, buffers are taken as sets.
pub const LONGEST_FOLLOWED: usize = 64;

/// How many cases the goals of a backward proof may be split into.
pub const MOST_CASES: usize = 20_000_000;

/// How many values of a cell are tried for a load in a backward proof.
pub const MOST_VALUES: usize = 10_000;

/// Numbers of copies of a thread are compared with constants below this one in a backward proof.
pub const MOST_COUNTED: i64 = 8;

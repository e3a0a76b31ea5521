//! How far the analyses go. Beyond these limits they over-approximate: everything is live, every value is possible.

/// Ranges of registers that the value analysis keeps for all bodies together (16 bytes each).
pub const MOST_RANGES: usize = 1 << 22;

/// The cells of longer arrays share one range. An access that may touch more cells is taken to touch all, so that no
/// access costs more than this.
pub const LONGEST_SPLIT_ARRAY: usize = 128;

/// Ranges of cells that the value analysis keeps. Arrays that would take more share one range, and whatever still does
/// not fit shares that of undeclared cells.
pub const MOST_CELL_RANGES: usize = 4096;

/// Pairs of a location and a register for which one body's live registers are computed, in words of 64.
pub const MOST_LIVENESS_WORDS: usize = 1 << 22;

/// Pairs of a location and a live register for which the live ranges of one body's registers are distinguished.
pub const MOST_LIVE_PLACES: usize = 5_000_000;

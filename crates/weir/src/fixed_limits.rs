//! The limits that no option changes, in one table.

use weir_ir::FixedLimit;
use weir_ir::flow::limits;

use crate::prob::{MOST_CHOICES, MOST_COST};
use crate::reach::MOST_TIMES;
use crate::reach::dual::{MOST_MESSAGES, MOST_SNAPSHOT_CELLS, MOST_THREADS};
use crate::search::MOST_WORKERS;
use crate::semantics::size::MOST_WORDS;
use crate::translate::bounded::{MOST_CELLS, MOST_ROUNDS};
use crate::translate::instrument::MOST_LOCKERS;

/// Limits of the analyses that no option changes. Those that options change are [`Bound`](crate::Bound)s, and
/// [`Limits`](crate::Limits) apply to sessions as a whole.
pub const FIXED_LIMITS: [FixedLimit; 22] = [
    FixedLimit::new("bytes of a state", 8 * MOST_WORDS as u64, "refused; `dual` and `lazy` may still answer"),
    FixedLimit::new("worker threads", MOST_WORKERS as u64, "no more are started"),
    FixedLimit::new("threads in `dual`", MOST_THREADS as u64, "refused"),
    FixedLimit::new("kinds of messages in `dual`", MOST_MESSAGES as u64, "refused"),
    FixedLimit::new("cells that one step reads in `dual`", MOST_SNAPSHOT_CELLS as u64, "refused"),
    FixedLimit::new("iterations of a loop in `lazy --lazy-form first`", MOST_TIMES as u64, "unknown"),
    FixedLimit::new("as the bound of `rounds` and `age`", MOST_ROUNDS as u64, "refused"),
    FixedLimit::new("cells that one address may name in `rounds` and `age`", MOST_CELLS, "refused"),
    FixedLimit::new("threads that lock in instrumented programs", MOST_LOCKERS as u64, "refused"),
    FixedLimit::new("successors of a configuration in `prob`", MOST_CHOICES as u64, "unknown"),
    FixedLimit::new("as the cost of a step in `prob`", MOST_COST as u64, "refused"),
    FixedLimit::new("levels of nesting in an expression", weir_ir::MAX_EXPRESSION_DEPTH as u64, "an error"),
    FixedLimit::new(
        "ranges of registers in the value analysis",
        limits::MOST_RANGES as u64,
        "registers of the largest threads may have any value",
    ),
    FixedLimit::new(
        "ranges of cells in the value analysis",
        limits::MOST_CELL_RANGES as u64,
        "the remaining cells share one range",
    ),
    FixedLimit::new(
        "cells of an array with ranges of their own",
        limits::LONGEST_SPLIT_ARRAY as u64,
        "the cells of the array share one range",
    ),
    FixedLimit::new(
        "pairs of a location and a register of one thread, for live registers",
        64 * limits::MOST_LIVENESS_WORDS as u64,
        "every register of the thread counts as live",
    ),
    FixedLimit::new(
        "pairs of a location and a live register of one thread, for slicing",
        limits::MOST_LIVE_PLACES as u64,
        "a register is kept or cut away as a whole",
    ),
    FixedLimit::new(
        "states after the end of a run, when checking that something can no longer happen",
        weir_witness::limits::MOST_FOLLOWED as u64,
        "unknown",
    ),
    FixedLimit::new(
        "buffered stores of such a state",
        weir_witness::limits::LONGEST_FOLLOWED as u64,
        "buffers are over-approximated as sets",
    ),
    FixedLimit::new(
        "steps to find a shortest cycle of a run",
        weir_witness::limits::CYCLE_EFFORT as u64,
        "a longer cycle is shown",
    ),
    FixedLimit::new(
        "cases when checking the goals of a backward proof",
        weir_witness::limits::MOST_CASES as u64,
        "rejected",
    ),
    FixedLimit::new(
        "values tried per load when checking a backward proof",
        weir_witness::limits::MOST_VALUES as u64,
        "rejected",
    ),
];

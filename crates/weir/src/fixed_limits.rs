//! The limits that no option changes, in one table.

use weir_ir::FixedLimit;

use crate::prob::{MOST_CHOICES, MOST_COST};
use crate::reach::MOST_TIMES;
use crate::reach::dual::{MOST_MESSAGES, MOST_SNAPSHOT_CELLS, MOST_THREADS};
use crate::search::MOST_WORKERS;
use crate::semantics::size::MOST_WORDS;
use crate::translate::instrument::MOST_LOCKERS;

/// Limits of the analyses that no option changes. Those that options change are [`Bound`](crate::Bound)s, and
/// [`Limits`](crate::Limits) apply to sessions as a whole.
pub const FIXED_LIMITS: [FixedLimit; 14] = [
    FixedLimit::new("bytes of a state", 8 * MOST_WORDS as u64, "refused; `dual` and `lazy` may still answer"),
    FixedLimit::new("worker threads", MOST_WORKERS as u64, "no more are started"),
    FixedLimit::new("threads in `dual`", MOST_THREADS as u64, "refused"),
    FixedLimit::new("kinds of messages in `dual`", MOST_MESSAGES as u64, "refused"),
    FixedLimit::new("cells that one step reads in `dual`", MOST_SNAPSHOT_CELLS as u64, "refused"),
    FixedLimit::new("turns of a loop in `lazy --lazy-form first`", MOST_TIMES as u64, "unknown"),
    FixedLimit::new("threads that lock in instrumented programs", MOST_LOCKERS as u64, "refused"),
    FixedLimit::new("successors of a configuration in `prob`", MOST_CHOICES as u64, "unknown"),
    FixedLimit::new("as the cost of a step in `prob`", MOST_COST as u64, "refused"),
    FixedLimit::new("depth of an expression", weir_ir::MAX_EXPRESSION_DEPTH as u64, "an error"),
    FixedLimit::new(
        "steps to find a shortest cycle of a run",
        weir_witness::limits::CYCLE_EFFORT as u64,
        "a longer cycle is shown",
    ),
    FixedLimit::new(
        "states that follow a run when checking a hang",
        weir_witness::limits::MOST_FOLLOWED as u64,
        "unknown",
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

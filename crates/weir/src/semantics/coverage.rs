//! What a search executed of the program.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use weir_ir::{Gather, Program, ThreadId};

use super::compile::Compiled;
use crate::verdict::Coverage;

/// The coverage of a search, given for each step number whether it was taken.
pub(crate) fn coverage(program: &Program, compiled: &Compiled, taken: &[bool]) -> Coverage {
    let edge_count = compiled.machine.edge_count;
    let was_taken = |number: u32| taken.get(number as usize).copied().unwrap_or(false);
    let unexecuted: Vec<_> =
        (0..edge_count).filter(|&number| !was_taken(number)).map(|number| compiled.edge(number)).collect();
    let moved: BTreeSet<ThreadId> =
        (0..edge_count).filter(|&number| was_taken(number)).map(|number| compiled.edge(number).0).gather();
    let has_edges = |thread: &ThreadId| !program.body(*thread).edges().is_empty();
    let immobile = compiled.threads.iter().copied().filter(has_edges).filter(|thread| !moved.contains(thread));
    let blocked = |number: &u32| compiled.machine.blocked_by_range[*number as usize].load(Ordering::Relaxed);
    let out_of_range = (0..edge_count).filter(blocked).map(|number| compiled.edge(number)).collect();
    let immobile = immobile.collect();
    Coverage { unexecuted, immobile, out_of_range, unexamined: Vec::new(), approximate: false }
}

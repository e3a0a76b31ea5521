//! What was found in an unrolled program, in terms of the program itself.

use std::collections::BTreeSet;

use weir_ir::{EdgeId, Gather, Program, ThreadId};
use weir_witness::{Checked, Goal};

use crate::reach::mapped_coverage;
use crate::translate::Translation;
use crate::translate::unroll::Unrolled;
use crate::verdict::{Coverage, Failure};

/// The run of the linked program that a run of the unrolled one stands for.
pub(super) fn original(linked: &Program, unrolled: &Unrolled, found: &Checked) -> Result<Checked, Failure> {
    again(linked, unrolled.map_back(linked, found.run()), found.goal())
}

pub(super) fn again(linked: &Program, run: weir_witness::Run, goal: Goal) -> Result<Checked, Failure> {
    Checked::new(linked, run, goal)
        .map_err(|error| Failure::Bug(format!("a run with calls or spawns cannot be replayed: {error}")))
}

/// What a search of the unrolled program executed of the program.
pub(super) fn coverage((program, linked): (&Program, &Program), unrolled: &Unrolled, seen: &Coverage) -> Coverage {
    of_first_instances((program, linked), &of_linked(linked, unrolled, seen))
}

/// The same for the threads of the program: what one instance of a thread executes, that thread does.
pub(super) fn of_first_instances((program, linked): (&Program, &Program), seen: &Coverage) -> Coverage {
    let count = program.threads.len();
    let instances = |thread: ThreadId| {
        let further = linked.instances(thread).filter(move |instance| instance.index() >= count);
        [thread].into_iter().chain(further)
    };
    let unexecuted: BTreeSet<(ThreadId, EdgeId)> = seen.unexecuted.iter().copied().gather();
    let immobile: BTreeSet<ThreadId> = seen.immobile.iter().copied().gather();
    let blocked: BTreeSet<(ThreadId, EdgeId)> = seen.out_of_range.iter().copied().gather();
    let edges = |thread: ThreadId| (0..linked.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge)));
    let all = || (0..count).map(ThreadId::new);
    let is_unexecuted = |&(thread, edge): &(ThreadId, EdgeId)| {
        unexecuted.contains(&(thread, edge)) && instances(thread).all(|instance| unexecuted.contains(&(instance, edge)))
    };
    let is_immobile = |thread: &ThreadId| instances(*thread).all(|instance| immobile.contains(&instance));
    let is_blocked =
        |&(thread, edge): &(ThreadId, EdgeId)| instances(thread).any(|instance| blocked.contains(&(instance, edge)));
    Coverage {
        unexecuted: all().flat_map(edges).filter(is_unexecuted).collect(),
        immobile: all().filter(is_immobile).collect(),
        out_of_range: all().flat_map(edges).filter(is_blocked).collect(),
        unexamined: seen.unexamined.iter().copied().filter(|thread| thread.index() < count).collect(),
        approximate: seen.approximate,
    }
}

pub(super) fn of_linked(linked: &Program, unrolled: &Unrolled, seen: &Coverage) -> Coverage {
    Coverage { approximate: seen.approximate, ..mapped_coverage(linked, unrolled.executes(), seen) }
}

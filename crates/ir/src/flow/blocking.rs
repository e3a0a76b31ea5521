//! Threads that cannot be kept from stepping: which steps can block forever, which threads never do, and which always
//! end.
//!
//! Direction of error: a thread that is named never blocks, or always ends; others may do so as well. What conditions
//! tell is only used where two edges cover all cases (`if`, `while`) or the value ranges decide.

use super::{Cfg, Ranges, strongly_connected_components};
use crate::ids::{EdgeId, LocId, ThreadId};
use crate::instruction::Hindrance;
use crate::program::{Edge, Instruction, Program, Range, RegExpr, Rmw};

impl Ranges {
    /// The addresses that an operand may name at the source of an edge; nothing if no run gets there.
    fn addresses(&self, thread: ThreadId, edge: &Edge) -> Option<Range> {
        self.value_at(thread, edge.from, edge.instruction.accesses().next()?)
    }

    /// Whether a store or read-modify-write may be blocked because the value is outside the declared range of its cell.
    pub fn may_leave_range(&self, program: &Program, thread: ThreadId, edge: &Edge) -> bool {
        let written = match &edge.instruction {
            Instruction::Store { value, .. } => Some(value),
            Instruction::ReadModifyWrite { operation, .. } => match operation {
                Rmw::Exchange(new) | Rmw::CompareAndSwap { new, .. } | Rmw::CompareExchange { new, .. } => Some(new),
                Rmw::Fetch(..) => None,
            },
            _ => return false,
        };
        let Some(addresses) = self.addresses(thread, edge) else { return false };
        // What an addition leaves is not computed here: it may be anything.
        let values = written.map_or(Some(Range::FULL), |value| self.value_at(thread, edge.from, value));
        let fits = |allowed: Range| values.is_none_or(|values| allowed.meet(values) == Some(values));
        program.shared.iter().filter(|shared| !shared.initial.is_empty()).any(|shared| {
            let last = shared.address.saturating_add(shared.initial.len() as i64 - 1);
            let is_meant = addresses.meet(Range { low: shared.address, high: last }).is_some();
            is_meant && shared.range.is_some_and(|allowed| !fits(allowed))
        })
    }
}

/// Whether a thread can always step until it is done, whatever the others do: it, or the flush of a store for which it
/// waits.
pub fn never_blocks(program: &Program, ranges: &Ranges, thread: ThreadId) -> bool {
    let is_free = |edge: &Edge| edge.instruction.is_local() || !has_locks(program);
    let body = program.body(thread);
    body.edges().iter().all(is_free) && steps_alone(program, ranges, thread)
}

/// Whether a thread that runs alone from the beginning always comes to its end.
pub fn ends_alone(program: &Program, ranges: &Ranges, thread: ThreadId) -> bool {
    let body = program.body(thread);
    let locks = |edge: &Edge| matches!(edge.instruction, Instruction::Lock | Instruction::Unlock);
    !body.edges().iter().any(locks) && is_acyclic(program, thread) && steps_alone(program, ranges, thread)
}

/// Whether a thread never ends: no location where it would be done is within its reach.
pub fn never_ends(program: &Program, ranges: &Ranges, thread: ThreadId) -> bool {
    let body = program.body(thread);
    body.location_ids().all(|loc| !ranges.is_reachable(thread, loc) || body.edges_from(loc).len() > 0)
}

fn has_locks(program: &Program) -> bool {
    program.threads.iter().any(|thread| thread.body.takes_lock())
}

fn is_acyclic(program: &Program, thread: ThreadId) -> bool {
    let body = program.body(thread);
    let cfg = Cfg::of(body);
    let successors: Vec<Vec<usize>> =
        body.location_ids().map(|loc| cfg.successors(loc).iter().map(|next| next.index()).collect()).collect();
    let is_loop = |component: &[usize]| component.len() > 1 || component.iter().any(|&at| successors[at].contains(&at));
    let reached = |component: &[usize]| component.iter().any(|&at| cfg.is_reachable(LocId::new(at)));
    !strongly_connected_components(&successors).iter().any(|component| is_loop(component) && reached(component))
}

/// Whether a thread has a step at every location that it may get to, unless it is done there; where others hold no
/// lock.
fn steps_alone(program: &Program, ranges: &Ranges, thread: ThreadId) -> bool {
    let body = program.body(thread);
    let is_fine = |loc: LocId| {
        let edges: Vec<(EdgeId, &Edge)> = body.edges_from(loc).collect();
        body.is_done(loc)
            || edges.iter().any(|(_, edge)| always_steps(program, ranges, thread, edge))
            || covers_all_cases(edges.iter().map(|(_, edge)| &edge.instruction))
    };
    body.location_ids().all(|loc| !ranges.is_reachable(thread, loc) || is_fine(loc))
}

/// Whether the edge can be taken whenever the thread is at its source and no store of its own waits.
fn always_steps(program: &Program, ranges: &Ranges, thread: ThreadId, edge: &Edge) -> bool {
    match (edge.instruction.hindrance(), &edge.instruction) {
        (Hindrance::Nothing, _) => true,
        (Hindrance::Range, _) => !ranges.may_leave_range(program, thread, edge),
        (Hindrance::Condition, Instruction::Assume(condition)) => {
            ranges.value_at(thread, edge.from, condition).is_none_or(|values| !values.contains(0))
        }
        _ => false,
    }
}

/// Whether one of these edges tests the opposite of another.
fn covers_all_cases<'p>(edges: impl Iterator<Item = &'p Instruction>) -> bool {
    let tested: Vec<&RegExpr> = edges
        .filter_map(|instruction| match instruction {
            Instruction::Assume(condition) => Some(condition),
            _ => None,
        })
        .collect();
    tested.iter().any(|one| tested.iter().any(|other| one.is_opposite_of(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{Automaton, constant, load, not, program, reg, shared, store};
    use crate::program::{Body, Shared};

    const P: ThreadId = ThreadId(0);

    fn one_cell(range: Option<(i64, i64)>) -> Vec<Shared> {
        vec![shared("x", 1, 1, range)]
    }

    fn automaton(locations: usize, edges: Vec<(usize, usize, Instruction)>) -> Automaton {
        let mut automaton = Automaton::new(locations);
        automaton.register("r");
        edges.into_iter().for_each(|(from, to, instruction)| automaton.edge(from, to, instruction));
        automaton
    }

    fn body(locations: usize, edges: Vec<(usize, usize, Instruction)>) -> Body {
        automaton(locations, edges).body()
    }

    /// Never blocks, never ends, ends if it runs alone.
    fn facts(shared: Vec<Shared>, bodies: Vec<Body>) -> (bool, bool, bool) {
        let program = program(shared, bodies);
        let ranges = Ranges::of(&program);
        (never_blocks(&program, &ranges, P), never_ends(&program, &ranges, P), ends_alone(&program, &ranges, P))
    }

    #[test]
    fn accesses_and_fences_wait_for_nobody_without_locks() {
        let access = |instruction: Instruction| facts(one_cell(None), vec![body(2, vec![(0, 1, instruction)])]);
        for free in [load(0, constant(1)), store(constant(1), constant(7)), Instruction::Fence, Instruction::Skip] {
            assert_eq!(access(free.clone()), (true, false, true), "{free:?}");
        }
        for blocking in [Instruction::Lock, Instruction::Unlock] {
            assert_eq!(access(blocking.clone()), (false, false, false), "{blocking:?}");
        }
        // Register and cell are 0, so these are never passed.
        let awaits = Instruction::Await { loads: vec![(crate::ids::RegId(0), constant(1))], condition: reg(0) };
        for hopeless in [Instruction::Assume(reg(0)), awaits] {
            assert_eq!(access(hopeless.clone()), (false, true, false), "{hopeless:?}");
        }
    }

    #[test]
    fn a_range_that_is_kept_does_not_block() {
        let stores = |value: i64| {
            facts(one_cell(Some((0, 7))), vec![body(2, vec![(0, 1, store(constant(1), constant(value)))])])
        };
        assert_eq!((stores(7), stores(8)), ((true, false, true), (false, true, false)));
    }

    #[test]
    fn opposite_tests_cover_all_cases() {
        let tests = |condition: RegExpr, other: RegExpr| {
            let edges = vec![
                (0, 1, load(0, constant(1))),
                (1, 2, Instruction::Assume(condition)),
                (1, 3, Instruction::Assume(other)),
            ];
            let writer = body(2, vec![(0, 1, store(constant(1), constant(3)))]);
            facts(one_cell(None), vec![body(4, edges), writer])
        };
        assert_eq!(tests(reg(0), not(reg(0))), (true, false, true));
        assert_eq!(tests(not(reg(0)), reg(0)), (true, false, true));
        assert_eq!(tests(reg(0), reg(0)), (false, false, false));
    }

    #[test]
    fn loops_need_not_end_and_failed_assertions_stop() {
        let spin = facts(one_cell(None), vec![body(1, vec![(0, 0, Instruction::Skip)])]);
        assert_eq!(spin, (true, true, false));
        let may_leave = vec![(0, 0, Instruction::Skip), (0, 1, Instruction::Skip)];
        assert_eq!(facts(one_cell(None), vec![body(2, may_leave)]), (true, false, false));
        let edges = vec![(0, 1, load(0, constant(1))), (1, 0, Instruction::Assert(not(reg(0))))];
        let mut asserts = automaton(2, edges);
        asserts.failed();
        let asserts = asserts.body();
        let writer = body(2, vec![(0, 1, store(constant(1), constant(3)))]);
        assert_eq!(facts(one_cell(None), vec![asserts, writer]), (false, false, false));
    }

    /// Others can hold the lock forever; then only local steps are free.
    #[test]
    fn with_locks_only_local_steps_are_free() {
        let locks = body(2, vec![(0, 1, Instruction::Lock)]);
        let with =
            |instruction: Instruction| facts(one_cell(None), vec![body(1, vec![(0, 0, instruction)]), locks.clone()]);
        assert_eq!(with(Instruction::Skip), (true, true, false));
        assert_eq!(with(load(0, constant(1))), (false, true, false));
    }
}

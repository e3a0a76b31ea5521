//! Symmetric threads: they run the same code, and no goal distinguishes them.
//!
//! Then states that differ only in which of them is where (an orbit) can reach the same, so that one of them stands for
//! all.

use std::collections::BTreeSet;

use weir_ir::flow::observed_registers;
use weir_ir::{BinaryOp, Expr, Gather, Program, PropertyKind, StateAtom, StateExpr, ThreadId};
use weir_witness::Goal;

/// Groups of two or more of `threads`, by position, that are symmetric.
pub(crate) fn symmetric_threads(program: &Program, threads: &[ThreadId], goals: &[Goal]) -> Vec<Vec<usize>> {
    // Threads start in the order of their numbers.
    if program.spawns() {
        return Vec::new();
    }
    let claims = claims(program, goals);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, &thread) in threads.iter().enumerate() {
        // If neighbours can change places, any two of a group can.
        let fits = |group: &&mut Vec<usize>| {
            let last = group.last().map_or(thread, |&last| threads[last]);
            same_code(program, last, thread) && swapped(&claims, last, thread) == claims
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(position),
            None => groups.push(vec![position]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn same_code(program: &Program, one: ThreadId, other: ThreadId) -> bool {
    program.body(one).does_the_same(program.body(other))
        && observed_registers(program, one) == observed_registers(program, other)
}

/// What a goal says: its kind, and the parts of its condition, all of which must hold.
type Claim = (u8, BTreeSet<StateExpr>);

fn claims(program: &Program, goals: &[Goal]) -> BTreeSet<Claim> {
    let claim = |goal: &Goal| match *goal {
        Goal::Assertion(thread) => {
            let locations = program.body(thread).failed.into_iter().collect();
            (0, [Expr::Leaf(StateAtom::At { thread, locations })].into())
        }
        Goal::Property(property) => match &program.properties[property.index()].kind {
            PropertyKind::Forbid(condition) => (1, parts(condition)),
            PropertyKind::Exists(condition) => (2, parts(condition)),
            // What must hold, not what must not: its parts are alternatives of the goal, but just as free in their
            // order.
            PropertyKind::Always(condition) => (3, parts(condition)),
            PropertyKind::ForbidDeadlock => (4, BTreeSet::new()),
            PropertyKind::ForbidStuck => (6, BTreeSet::new()),
            PropertyKind::Live(condition) => (7, parts(condition)),
        },
        Goal::NotRobust => (5, BTreeSet::new()),
    };
    goals.iter().map(claim).gather()
}

/// The operands of a conjunction.
fn parts(condition: &StateExpr) -> BTreeSet<StateExpr> {
    let mut parts = BTreeSet::new();
    let mut open = vec![condition];
    while let Some(next) = open.pop() {
        match next {
            Expr::Binary(BinaryOp::And, left, right) => open.extend([&**left, &**right]),
            part => {
                parts.insert(part.clone());
            }
        }
    }
    parts
}

/// The claims with two threads in each other's place.
fn swapped(claims: &BTreeSet<Claim>, one: ThreadId, other: ThreadId) -> BTreeSet<Claim> {
    let swap = |thread: ThreadId| match thread {
        thread if thread == one => other,
        thread if thread == other => one,
        thread => thread,
    };
    let atom = |atom: &StateAtom| {
        Expr::Leaf(match atom {
            StateAtom::At { thread, locations } => {
                StateAtom::At { thread: swap(*thread), locations: locations.clone() }
            }
            StateAtom::Register { thread, register } => {
                StateAtom::Register { thread: swap(*thread), register: *register }
            }
            cell @ StateAtom::Cell(_) => cell.clone(),
        })
    };
    let part = |part: &StateExpr| part.map(&mut |leaf| atom(leaf));
    claims.iter().map(|(kind, parts)| (*kind, parts.iter().map(part).gather())).gather()
}

#[cfg(test)]
mod tests;

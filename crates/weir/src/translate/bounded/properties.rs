//! Properties of the translated program.

use std::collections::BTreeSet;

use weir_ir::{
    Address, BinaryOp, Expr, LocId, Program, Property, PropertyKind, StateAtom, StateExpr, ThreadId, UnaryOp,
};

use super::thread::Marks;

/// The properties: about the same places, registers and cells, in states in which nothing is kept and no thread is in
/// the middle of a step of the original. All threads can have ended only in such a state.
pub(super) fn translated(program: &Program, stands_for: &[Vec<Option<LocId>>], marks: &[Marks]) -> Vec<Property> {
    let quiet = quiet(program, marks);
    let places = Places { stands_for, marks };
    let translate = |property: &Property| {
        let kind = property.kind.map_condition(|condition| places.condition(condition));
        let kind = match kind {
            PropertyKind::Forbid(condition) => PropertyKind::Forbid(
                quiet.iter().cloned().fold(condition, |both, quiet| Expr::binary(BinaryOp::And, both, quiet)),
            ),
            other => other,
        };
        Property { kind, span: property.span }
    };
    program.properties.iter().map(translate).collect()
}

/// The cells that properties mention.
pub(super) fn observed_cells(program: &Program) -> BTreeSet<Address> {
    let mut cells = BTreeSet::new();
    for condition in program.properties.iter().filter_map(|property| property.kind.condition()) {
        condition.for_each_leaf(&mut |atom| {
            if let StateAtom::Cell(address) = atom {
                cells.insert(*address);
            }
        });
    }
    cells
}

/// That no thread keeps anything or is in the middle of a step: few conjuncts, each a balanced sum.
fn quiet(program: &Program, marks: &[Marks]) -> Option<StateExpr> {
    let of_thread = |thread: ThreadId| {
        let zero = move |&register: &weir_ir::RegId| {
            Expr::binary(BinaryOp::Equal, Expr::Leaf(StateAtom::Register { thread, register }), Expr::Const(0))
        };
        marks[thread.index()].registers.iter().map(zero)
    };
    let mut level: Vec<StateExpr> = program.running_threads().flat_map(of_thread).collect();
    // In pairs, so that the condition is not as deep as there are threads.
    while level.len() > 1 {
        let both = |pair: &[StateExpr]| match pair {
            [left, right] => Expr::binary(BinaryOp::And, left.clone(), right.clone()),
            _ => pair[0].clone(),
        };
        level = level.chunks(2).map(both).collect();
    }
    level.pop()
}

struct Places<'a> {
    stands_for: &'a [Vec<Option<LocId>>],
    marks: &'a [Marks],
}

impl Places<'_> {
    /// The condition about the places that stand for those of the original.
    fn condition(&self, condition: &StateExpr) -> StateExpr {
        // Where a condition can only become true by a thread being somewhere, it is enough to look when a step is
        // complete: that is far fewer places.
        let all = !is_monotone(condition);
        condition.map(&mut |atom| {
            Expr::Leaf(match atom {
                StateAtom::At { thread, locations } => {
                    StateAtom::At { thread: *thread, locations: self.places(*thread, locations, all) }
                }
                other => other.clone(),
            })
        })
    }

    fn places(&self, thread: ThreadId, locations: &[LocId], all: bool) -> Vec<LocId> {
        let stands_for = &self.stands_for[thread.index()];
        let is_meant = |at: &LocId| stands_for[at.index()].is_some_and(|original| locations.contains(&original));
        if all {
            return (0..stands_for.len()).map(LocId::new).filter(is_meant).collect();
        }
        let mut places: Vec<LocId> = self.marks[thread.index()].main.iter().copied().filter(is_meant).collect();
        places.sort_unstable();
        places
    }
}

/// Whether places occur only as conjuncts and disjuncts.
fn is_monotone(condition: &StateExpr) -> bool {
    match condition {
        Expr::Leaf(_) | Expr::Const(_) => true,
        Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => is_monotone(left) && is_monotone(right),
        Expr::Unary(UnaryOp::Not | UnaryOp::Negate | UnaryOp::Complement, _) | Expr::Binary(..) => {
            !speaks_of_places(condition)
        }
    }
}

fn speaks_of_places(condition: &StateExpr) -> bool {
    let mut found = false;
    condition.for_each_leaf(&mut |atom| found |= matches!(atom, StateAtom::At { .. }));
    found
}

//! Properties of the translated program.

use std::collections::BTreeSet;

use weir_ir::{
    Address, BinaryOp, Expr, Gather, LocId, Program, Property, PropertyKind, StateAtom, StateExpr, ThreadId, UnaryOp,
};

use super::thread::Marks;

/// What tells whether a state is one of the original in which nothing is kept.
#[derive(Clone, Copy)]
pub(super) struct Quiet<'a> {
    pub(super) marks: &'a [Marks],
    /// For each thread and location, the location of the original that it stands for, if any.
    pub(super) stands_for: &'a [Vec<Option<LocId>>],
    /// For each thread, whether there may be several instances of it, so that registers do not tell.
    pub(super) several: &'a [bool],
    /// The cell that counts the threads that keep stores back, if there is one.
    pub(super) pending: Option<Address>,
}

/// The properties: about the same places, registers and cells, in states in which nothing is kept and no thread is in
/// the middle of a step of the original. All threads can have ended only in such a state.
pub(super) fn translated(program: &Program, quiet: &Quiet<'_>) -> Vec<Property> {
    let conjuncts = quiet.conjuncts(program);
    let places = Places { stands_for: quiet.stands_for, marks: quiet.marks };
    let translate = |property: &Property| {
        let kind = property.kind.map_condition(|condition| places.condition(condition));
        let kind = match kind {
            PropertyKind::Forbid(condition) => PropertyKind::Forbid(
                conjuncts.iter().cloned().fold(condition, |both, one| Expr::binary(BinaryOp::And, both, one)),
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

impl Quiet<'_> {
    /// That no thread keeps anything or is in the middle of a step: few conjuncts, each a balanced sum.
    fn conjuncts(&self, program: &Program) -> Option<StateExpr> {
        let none = |atom: StateAtom| Expr::binary(BinaryOp::Equal, Expr::Leaf(atom), Expr::Const(0));
        let mut level: Vec<StateExpr> = Vec::new();
        for thread in program.running_threads() {
            let at = thread.index();
            if self.several[at] {
                let main: BTreeSet<LocId> = self.marks[at].main.iter().copied().gather();
                let all = (0..self.stands_for[at].len()).map(LocId::new);
                let locations: Vec<LocId> = all.filter(|location| !main.contains(location)).collect();
                level.push(none(StateAtom::At { thread, locations }));
            } else {
                let registers = self.marks[at].registers.iter();
                level.extend(registers.map(|&register| none(StateAtom::Register { thread, register })));
            }
        }
        if self.several.contains(&true) {
            level.extend(self.pending.map(|cell| none(StateAtom::Cell(cell))));
        }
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

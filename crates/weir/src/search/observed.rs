//! What goals observe of the places of a thread, and which moves they let pass.
//!
//! `forbid P at critical && Q at critical` can be made true by a move into `critical`, and false only by one out of it.
//! A move that can make no goal false need not wait for other threads: whatever state shows the goal before the move
//! shows it after the move as well. So only the direction in which a condition depends on a place matters.

use weir_ir::{BinaryOp, LocId, Program, PropertyKind, StateAtom, StateExpr, ThreadId, UnaryOp, Value};
use weir_witness::Goal;

/// The places of one thread that goals observe.
pub(crate) struct ObservedPlaces {
    places: Vec<Place>,
}

struct Place {
    locations: Vec<LocId>,
    direction: Direction,
}

/// How a condition can change if a thread enters a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    /// It cannot become false.
    Rising,
    /// It cannot become true.
    Falling,
    Either,
}

impl Direction {
    fn reversed(self) -> Self {
        match self {
            Self::Rising => Self::Falling,
            Self::Falling => Self::Rising,
            Self::Either => Self::Either,
        }
    }
}

impl ObservedPlaces {
    /// What these goals observe of the thread.
    pub(crate) fn new(program: &Program, thread: ThreadId, goals: &[Goal]) -> Self {
        let mut places = Vec::new();
        for goal in goals {
            let Goal::Property(property) = goal else { continue };
            // Final states have no steps, so they are preserved whatever is observed there.
            let PropertyKind::Forbid(condition) = &program.properties[property.index()].kind else { continue };
            truth(condition, Direction::Rising, &mut |atom, direction| match atom {
                StateAtom::At { thread: other, locations } if *other == thread => {
                    places.push(Place { locations: locations.clone(), direction });
                }
                StateAtom::At { .. } | StateAtom::Register { .. } | StateAtom::Cell(_) => {}
            });
        }
        Self { places }
    }

    /// Whether no goal that holds before the thread moves fails to hold afterwards.
    pub(crate) fn let_pass(&self, from: LocId, to: LocId) -> bool {
        self.places.iter().all(|place| match (place.locations.contains(&from), place.locations.contains(&to)) {
            (false, true) => place.direction == Direction::Rising,
            (true, false) => place.direction == Direction::Falling,
            (true, true) | (false, false) => true,
        })
    }
}

/// Visits the leaves of a condition, with the direction in which its truth depends on each.
fn truth(condition: &StateExpr, direction: Direction, visit: &mut impl FnMut(&StateAtom, Direction)) {
    match condition {
        StateExpr::Const(_) => {}
        StateExpr::Leaf(atom) => visit(atom, direction),
        StateExpr::Unary(UnaryOp::Not, operand) => truth(operand, direction.reversed(), visit),
        StateExpr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            truth(left, direction, visit);
            truth(right, direction, visit);
        }
        StateExpr::Binary(op, left, right) if is_count(left) && is_count(right) => {
            let (left_direction, right_direction) = match op {
                BinaryOp::Greater | BinaryOp::GreaterEqual => (direction, direction.reversed()),
                BinaryOp::Less | BinaryOp::LessEqual => (direction.reversed(), direction),
                BinaryOp::Add => (direction, direction),
                _ => (Direction::Either, Direction::Either),
            };
            count(left, left_direction, visit);
            count(right, right_direction, visit);
        }
        StateExpr::Unary(..) | StateExpr::Binary(..) => {
            condition.for_each_leaf(&mut |atom| visit(atom, Direction::Either));
        }
    }
}

/// As [`truth`], for the value of a sum.
fn count(sum: &StateExpr, direction: Direction, visit: &mut impl FnMut(&StateAtom, Direction)) {
    match sum {
        StateExpr::Binary(BinaryOp::Add, left, right) => {
            count(left, direction, visit);
            count(right, direction, visit);
        }
        _ => truth(sum, direction, visit),
    }
}

/// Whether the expression is a sum of small constants and of numbers of threads, which cannot overflow.
fn is_count(expr: &StateExpr) -> bool {
    const LARGEST: Value = 1 << 32;
    match expr {
        StateExpr::Const(value) => (0..=LARGEST).contains(value),
        StateExpr::Leaf(StateAtom::At { .. }) => true,
        StateExpr::Binary(BinaryOp::Add, left, right) => is_count(left) && is_count(right),
        StateExpr::Leaf(_) | StateExpr::Unary(..) | StateExpr::Binary(..) => false,
    }
}

#[cfg(test)]
mod tests;

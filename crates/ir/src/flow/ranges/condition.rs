//! Which conditions on states the values that registers and cells can hold rule out.

use super::Ranges;
use super::interval::{binary, unary};
use crate::expr::{BinaryOp, Expr};
use crate::ids::{LocId, ThreadId};
use crate::program::{Body, Multiplicity, Program, Range, StateAtom, StateExpr};

/// In which states a condition is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// In all of them.
    Ever,
    /// In those in which all threads are done.
    AtTheEnd,
}

impl Ranges {
    /// Whether a condition may hold in a state that some run reaches. It errs towards `true`.
    pub fn may_hold(&self, program: &Program, condition: &StateExpr, moment: Moment) -> bool {
        let mut open = vec![condition];
        while let Some(part) = open.pop() {
            match part {
                Expr::Binary(BinaryOp::Or, left, right) => open.extend([&**left, &**right]),
                part if self.may_hold_together(program, &conjuncts(part), moment) => return true,
                _ => {}
            }
        }
        false
    }

    fn may_hold_together(&self, program: &Program, conjuncts: &[&StateExpr], moment: Moment) -> bool {
        let mut places = Places::new(self, program, moment);
        for part in conjuncts {
            if let Expr::Leaf(StateAtom::At { thread, locations }) = part {
                places.0[thread.index()].retain(|loc| locations.contains(loc));
            }
        }
        let runs = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::One;
        let is_somewhere = |thread: ThreadId| !places.0[thread.index()].is_empty();
        program.thread_ids().filter(runs).all(is_somewhere)
            && conjuncts.iter().all(|part| self.eval(program, &places, part) != Range::single(0))
    }

    /// The values of a condition while threads are at these places.
    fn eval(&self, program: &Program, places: &Places, expr: &StateExpr) -> Range {
        match expr {
            Expr::Const(value) => Range::single(*value),
            Expr::Leaf(atom) => self.eval_atom(program, places, atom),
            Expr::Unary(op, operand) => unary(*op, self.eval(program, places, operand)),
            Expr::Binary(op, left, right) => {
                binary(*op, self.eval(program, places, left), self.eval(program, places, right))
            }
        }
    }

    fn eval_atom(&self, program: &Program, places: &Places, atom: &StateAtom) -> Range {
        let runs = |thread: ThreadId| program.thread(thread).multiplicity == Multiplicity::One;
        match atom {
            StateAtom::Cell(address) => self.cell(*address),
            StateAtom::At { thread, locations } if runs(*thread) => {
                let own = &places.0[thread.index()];
                let is_inside = |loc: &LocId| locations.contains(loc);
                Range { low: own.iter().all(is_inside).into(), high: own.iter().any(is_inside).into() }
            }
            StateAtom::Register { thread, register } if runs(*thread) => {
                let values =
                    places.0[thread.index()].iter().filter_map(|&loc| self.register_at(*thread, loc, *register));
                values.reduce(Range::hull).unwrap_or(Range::FULL)
            }
            StateAtom::At { .. } | StateAtom::Register { .. } => Range::FULL,
        }
    }
}

/// Where each thread may be.
struct Places(Vec<Vec<LocId>>);

impl Places {
    fn new(ranges: &Ranges, program: &Program, moment: Moment) -> Self {
        let is_possible = |thread: ThreadId, body: &Body, loc: LocId| {
            ranges.is_reachable(thread, loc) && (moment == Moment::Ever || body.is_done(loc))
        };
        let of = |thread: ThreadId| {
            let body = program.body(thread);
            body.location_ids().filter(|&loc| is_possible(thread, body, loc)).collect()
        };
        Self(program.thread_ids().map(of).collect())
    }
}

/// What `&&` joins.
fn conjuncts(condition: &StateExpr) -> Vec<&StateExpr> {
    let mut open = vec![condition];
    let mut found = Vec::new();
    while let Some(part) = open.pop() {
        match part {
            Expr::Binary(BinaryOp::And, left, right) => open.extend([&**left, &**right]),
            other => found.push(other),
        }
    }
    found
}

//! Does a property hold for the wrong reason? `always P` says nothing if no run ends, `forbid P` nothing if no run
//! reaches a place that P needs, and an assertion nothing if no run reaches it. One that can never hold is another
//! matter: it says that no run gets there.
//!
//! What a complete search never executed, no run executes; what an exact one executed, some run does. Where that leaves
//! the question open, a short search without store buffers looks for a run: it is one with them, too. Only if it visits
//! everything in vain, which hardly ever happens, the portfolio is asked. Direction of error: none; where a bound ends
//! this, nothing is said.

use std::collections::BTreeSet;

use weir_ir::{
    BinaryOp, Edge, EdgeId, Expr, Gather, Instruction, LocId, Program, Property, PropertyId, PropertyKind, Span,
};
use weir_ir::{Multiplicity, StateAtom, StateExpr, ThreadId, Value};
use weir_witness::{Goal, Model};

use super::member::Found;
use super::round::{self, Asked};
use super::{Judgement, PropertyReport, Vacuity};
use crate::bounds::Bound;
use crate::reach::{self, Coverage, Search};
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::slice::Slicer;
use crate::verdict::{Failure, Verdict};

/// Fills in which of these properties are vacuous.
pub(super) fn examine(
    program: &Program,
    model: Model,
    properties: &mut [PropertyReport],
    coverage: Option<&Coverage>,
    session: &Session,
) -> Result<(), Failure> {
    let examiner = Examiner { program, model, coverage, session };
    for one in properties {
        one.vacuity = match one.judgement {
            Judgement::Holds => examiner.of(one.goal)?,
            Judgement::Violated(_) => missing_thread(program, one.goal).map_or(Vacuity::No, Vacuity::NoThread),
            Judgement::Met(_) | Judgement::NotMet => Vacuity::No,
            Judgement::Unknown(_) => Vacuity::Unknown,
        };
    }
    Ok(())
}

/// A place of a thread, which may be several locations.
type Place = (ThreadId, Vec<LocId>);

struct Examiner<'a> {
    program: &'a Program,
    model: Model,
    /// What a complete search executed.
    coverage: Option<&'a Coverage>,
    session: &'a Session,
}

impl Examiner<'_> {
    fn of(&self, goal: Goal) -> Result<Vacuity, Failure> {
        match goal {
            Goal::Assertion(thread) => self.assertion(thread),
            Goal::Property(property) => match &self.program.properties[property.index()].kind {
                PropertyKind::Forbid(condition) => self.forbid(condition),
                PropertyKind::Always(_) => self.always(),
                // There is always a state that could be deadlocked.
                PropertyKind::ForbidDeadlock | PropertyKind::ForbidStuck => Ok(Vacuity::No),
                // That it can be met from everywhere includes that it can be met at all.
                PropertyKind::Live(_) => Ok(Vacuity::No),
                PropertyKind::Exists(_) => Ok(Vacuity::Unknown),
            },
            Goal::NotRobust => Ok(Vacuity::Unknown),
        }
    }

    fn always(&self) -> Result<Vacuity, Failure> {
        let ends = |thread: ThreadId| {
            let body = self.program.body(thread);
            (thread, body.location_ids().filter(|&location| body.is_done(location)).collect())
        };
        let is_there = |thread: &ThreadId| self.program.thread(*thread).multiplicity == Multiplicity::One;
        let mut threads = self.program.running_threads().filter(is_there);
        if threads.any(|thread| self.known(&ends(thread)) == Some(false)) {
            return Ok(Vacuity::NoRunEnds);
        }
        Ok(match self.is_reachable(PropertyKind::Exists(Expr::Const(1)), Search::DepthFirst)? {
            Some(true) => Vacuity::No,
            Some(false) => Vacuity::NoRunEnds,
            None => Vacuity::Unknown,
        })
    }

    fn assertion(&self, thread: ThreadId) -> Result<Vacuity, Failure> {
        let body = self.program.body(thread);
        if body.edges().iter().any(|edge| edge.instruction == Instruction::Assert(Expr::Const(0))) {
            return Ok(Vacuity::No);
        }
        let asserting = body.edges().iter().filter(|edge| asserts(edge));
        let places: BTreeSet<LocId> = asserting.map(|edge| edge.from).gather();
        Ok(match self.is_reached(&(thread, places.into_iter().collect()))? {
            Some(true) => Vacuity::No,
            Some(false) => Vacuity::NoAssertion(thread),
            None => Vacuity::Unknown,
        })
    }

    /// A `forbid` is vacuous if its condition is false wherever the places are not reached that no run reaches.
    fn forbid(&self, condition: &StateExpr) -> Result<Vacuity, Failure> {
        let mut places: Vec<Place> = Vec::new();
        condition.for_each_leaf(&mut |atom| {
            if let StateAtom::At { thread, locations } = atom
                && !places.contains(&(*thread, locations.clone()))
            {
                places.push((*thread, locations.clone()));
            }
        });
        let (mut unreached, mut is_known) = (Vec::new(), true);
        for place in places {
            match self.is_reached(&place)? {
                Some(true) => {}
                Some(false) => unreached.push(place),
                None => is_known = false,
            }
        }
        let at = |atom: &StateAtom| match atom {
            StateAtom::At { thread, locations } => unreached.contains(&(*thread, locations.clone())).then_some(0),
            StateAtom::Register { .. } | StateAtom::Cell(_) => None,
        };
        let is_false = value(condition, &at) == Some(0);
        Ok(match (is_false && !unreached.is_empty(), is_known) {
            (true, _) => Vacuity::Unreached(unreached),
            (false, true) => Vacuity::No,
            (false, false) => Vacuity::Unknown,
        })
    }

    /// Whether some run reaches a place, if that can be found out with little effort.
    fn is_reached(&self, place: &Place) -> Result<Option<bool>, Failure> {
        if let Some(known) = self.known(place) {
            return Ok(Some(known));
        }
        let (thread, locations) = place.clone();
        let there = Expr::Leaf(StateAtom::At { thread, locations });
        self.is_reachable(PropertyKind::Forbid(there), Search::BreadthFirst)
    }

    /// Whether some run reaches a place, as far as the searches tell that were made anyway.
    fn known(&self, (thread, locations): &Place) -> Option<bool> {
        if !self.program.running_threads().any(|running| running == *thread) {
            return Some(false);
        }
        let body = self.program.body(*thread);
        if locations.contains(&body.entry) {
            // A thread that is spawned gets there if it is.
            return (self.program.thread(*thread).multiplicity == Multiplicity::One).then_some(true);
        }
        let coverage = self.coverage.filter(|coverage| !coverage.unexamined.contains(thread))?;
        let unexecuted: BTreeSet<EdgeId> =
            coverage.unexecuted.iter().filter(|(of, _)| of == thread).map(|&(_, edge)| edge).gather();
        let fails_there = body.failed.is_some_and(|failed| locations.contains(&failed));
        let leads_there = |edge: &Edge| locations.contains(&edge.to) || asserts(edge) && fails_there;
        let executed = body.edges().iter().enumerate().filter(|(at, _)| !unexecuted.contains(&EdgeId::new(*at)));
        let ways: Vec<&Edge> = executed.map(|(_, edge)| edge).filter(|edge| leads_there(edge)).collect();
        // An assertion that was executed may have led to either place.
        let is_sure = |edge: &&Edge| !coverage.approximate && !asserts(edge);
        if ways.is_empty() { Some(false) } else { ways.iter().any(is_sure).then_some(true) }
    }

    /// Whether a run reaches this goal.
    fn is_reachable(&self, goal: PropertyKind, search: Search) -> Result<Option<bool>, Failure> {
        let mut program = self.program.clone();
        program.properties.push(Property { kind: goal, span: Span::default() });
        let goals = vec![Goal::Property(PropertyId::new(program.properties.len() - 1))];
        let session = self.session.part(Some(self.session.bound(Bound::CheckVacuityStates)));
        let options = reach::Options { model: Model::Sc, search, goals: goals.clone(), ..reach::Options::default() };
        let slicer = Slicer::new(&program, &session);
        match reach::reach_with_spawn(slicer.slice(&goals).program(), &options, &session) {
            Ok(report) => match report.verdict {
                Verdict::Violated(_) => return Ok(Some(true)),
                Verdict::Holds if self.model == Model::Sc => return Ok(Some(false)),
                Verdict::Holds => {}
                Verdict::Unknown(_) => return Ok(None),
            },
            Err(Failure::Bug(what)) => return Err(Failure::Bug(what)),
            Err(_) => return Ok(None),
        }
        let asked = Asked { number: 1, model: self.model, goals: &goals };
        let round = round::run(&slicer, asked, &session)?;
        Ok(round.decided.first().map(|(_, found)| matches!(found, Found::Reached(_))))
    }
}

/// A thread that a `live` is about, but that never starts.
fn missing_thread(program: &Program, goal: Goal) -> Option<ThreadId> {
    let Goal::Property(property) = goal else { return None };
    let PropertyKind::Live(condition) = &program.properties[property.index()].kind else { return None };
    let mut missing = None;
    condition.for_each_leaf(&mut |atom| {
        if let StateAtom::At { thread, .. } | StateAtom::Register { thread, .. } = atom
            && !program.running_threads().any(|running| running == *thread)
        {
            missing = Some(*thread);
        }
    });
    missing
}

fn asserts(edge: &Edge) -> bool {
    matches!(edge.instruction, Instruction::Assert(_))
}

/// The value of a condition, as far as what is known about its atoms determines it.
fn value(condition: &StateExpr, known: &impl Fn(&StateAtom) -> Option<Value>) -> Option<Value> {
    match condition {
        Expr::Const(value) => Some(*value),
        Expr::Leaf(atom) => known(atom),
        Expr::Unary(op, operand) => value(operand, known).map(|operand| op.apply(operand)),
        Expr::Binary(op, left, right) => match (op, value(left, known), value(right, known)) {
            (op, Some(left), Some(right)) => Some(op.apply(left, right)),
            (BinaryOp::And, Some(0), _) | (BinaryOp::And, _, Some(0)) => Some(0),
            (BinaryOp::Or, Some(one), _) | (BinaryOp::Or, _, Some(one)) if one != 0 => Some(1),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests;

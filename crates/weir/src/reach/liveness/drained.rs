//! Liveness for unbounded buffers, by backward coverability over drained states.
//!
//! If the lock is always released, a drained state can be reached from every state, and what can no longer happen after
//! a state can no longer happen after that one either. So it is enough to look at drained states: [over-approximate]
//! them with buffers as sets; by one backward search per condition, run to saturation, find those from which it cannot
//! be met; and by one more search find out whether the program reaches any of these. (The paper's algorithm for "almost
//! surely, again and again": "Probabilistic Total Store Ordering", §6.)
//!
//! A condition on places counts wherever it is met, not at drained states only. That is no difference if it is about
//! one thread: the others need not have taken the steps whose stores still wait, since no one has noticed them.
//!
//! [over-approximate]: crate::semantics::abstraction

use rustc_hash::FxHashSet;
use weir_ir::flow::{Region, leavable_regions};
use weir_ir::{
    Body, Diagnostic, Edge, Expr, Hindrance, Instruction, Program, Property, PropertyId, PropertyKind, StateAtom,
    StateExpr, UnaryOp,
};
use weir_witness::Goal;

use super::{Answer, Found, Statistics, nothing, property};
use crate::reach::Coverage;
use crate::reach::dual::{Backwards, Drained};
use crate::semantics::abstraction::Abstract;
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::locks::longest_section;
use crate::semantics::machine::System;
use crate::semantics::size::with_state_size;
use crate::semantics::state::Packed;
use crate::semantics::{TransitionSystem, refuse};
use crate::session::Session;
use crate::verdict::{Failure, Limit};

/// Decides these goals for unbounded buffers.
pub(super) fn decide(program: &Program, goals: &[Goal], session: &Session) -> Result<Found, Failure> {
    refuse::unsupported(program)?;
    let (judged, conditions) = with_conditions(program, goals);
    let backwards = match Backwards::new(&judged, &conditions, &[], session.states_left(), session) {
        Err(Failure::Stopped(limit)) => return Ok(nothing(Answer::Stopped(limit))),
        backwards => backwards?,
    };
    let purpose =
        Purpose { keep_dead_registers: false, buffered: true, monitored: false, goals: &conditions, keeps_back: &[] };
    let compiled = match compile(&judged, purpose, session) {
        Err(Failure::Stopped(limit)) => return Ok(nothing(Answer::Stopped(limit))),
        result => result?,
    };
    let question = Question { backwards: &backwards, compiled: &compiled, conditions: &conditions, session };
    let (answer, states) = with_state_size!(compiled.machine.layout.words, from 16, N => question.answer::<N>());
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    let statistics = Statistics { states, ..Statistics::default() };
    Ok(Found { answer, statistics, coverage: Coverage { approximate: true, ..Coverage::default() } })
}

/// While a thread keeps the lock, others do not drain.
pub(super) fn refuse_locks(program: &Program, goals: &[Goal]) -> Result<(), Failure> {
    let refused = |what: &str, span| {
        let help = "use `--engine explicit` for this property, and select the others with `--goal`";
        Err(Failure::Refused(Box::new(Diagnostic::error("liveness-lock", what, span).help(help))))
    };
    let asked = || goals.iter().filter_map(|&goal| property(program, goal));
    if longest_section(program).is_none() {
        let what =
            "`dual` cannot decide `forbid stuck` and `live` if a thread may wait, loop or end while it holds the lock";
        return refused(what, asked().next().map(|property| property.span).unwrap_or_default());
    }
    let is_joint = |property: &&Property| property.kind.condition().is_some_and(is_about_places_of_several_threads);
    match asked().find(is_joint).filter(|_| program.uses_lock()) {
        Some(joint) => refused(
            "`dual` cannot decide a `live` about places of several threads in a program that uses the lock",
            joint.span,
        ),
        None => Ok(()),
    }
}

fn is_about_places_of_several_threads(condition: &StateExpr) -> bool {
    let (mut threads, mut has_cells) = (FxHashSet::default(), false);
    condition.for_each_leaf(&mut |atom| match atom {
        StateAtom::At { thread, .. } | StateAtom::Register { thread, .. } => drop(threads.insert(*thread)),
        StateAtom::Cell(_) => has_cells = true,
    });
    !has_cells && threads.len() > 1
}

/// The program with one `forbid` for each condition that must be able to be met from everywhere, and these as goals.
fn with_conditions(program: &Program, goals: &[Goal]) -> (Program, Vec<Goal>) {
    let mut judged = program.clone();
    let mut conditions = Vec::new();
    for property in goals.iter().filter_map(|&goal| property(program, goal)) {
        let found = match &property.kind {
            PropertyKind::Live(condition) => vec![condition.clone()],
            _ => leavable_regions(program).into_iter().filter(|region| may_stay(program, region)).map(left).collect(),
        };
        for condition in found {
            conditions.push(Goal::Property(PropertyId::new(judged.properties.len())));
            judged.properties.push(Property { kind: PropertyKind::Forbid(condition), span: property.span });
        }
    }
    (judged, conditions)
}

/// The thread is elsewhere.
fn left(region: Region) -> StateExpr {
    let Region { thread, locations, .. } = region;
    Expr::unary(UnaryOp::Not, Expr::Leaf(StateAtom::At { thread, locations }))
}

/// Whether control flow alone does not tell that the region can be left: a loop, or a location where every way on may
/// be blocked, even with an empty buffer and the lock free.
fn may_stay(program: &Program, region: &Region) -> bool {
    region.is_loop || !is_never_blocked(program, program.body(region.thread), region)
}

fn is_never_blocked(program: &Program, body: &Body, region: &Region) -> bool {
    let edges: Vec<&Edge> = body.edges_from(region.entry).map(|(_, edge)| edge).collect();
    if let [one, other] = edges[..]
        && let (Instruction::Assume(left), Instruction::Assume(right)) = (&one.instruction, &other.instruction)
    {
        return left.is_opposite_of(right) && !region.contains(one.to) && !region.contains(other.to);
    }
    edges.iter().any(|edge| !region.contains(edge.to) && always_goes_on(program, &edge.instruction))
}

fn always_goes_on(program: &Program, instruction: &Instruction) -> bool {
    match instruction.hindrance() {
        Hindrance::Nothing | Hindrance::Held => true,
        Hindrance::Range => program.shared.iter().all(|shared| shared.range.is_none()),
        Hindrance::Condition | Hindrance::NotHeld | Hindrance::Elsewhere => false,
    }
}

struct Question<'a> {
    backwards: &'a Backwards,
    compiled: &'a Compiled,
    conditions: &'a [Goal],
    session: &'a Session,
}

/// How often limits are checked.
const PERIOD: usize = 1024;

impl Question<'_> {
    /// The answer, and how many states were visited for it.
    fn answer<const N: usize>(&self) -> (Answer, u64) {
        match self.bad_states::<N>() {
            Err(limit) => (Answer::Stopped(limit), 0),
            Ok((bad, states)) => (self.decide(&bad), states),
        }
    }

    fn decide<const N: usize>(&self, bad: &[Packed<N>]) -> Answer {
        if bad.is_empty() {
            return Answer::Holds;
        }
        let bad: Vec<Drained<'_>> = bad.iter().map(|state| Drained::of(self.compiled, state)).collect();
        match self.backwards.run_to(&bad, self.session) {
            None => Answer::Stopped(self.limit()),
            Some(None) => Answer::Holds,
            Some(Some(run)) => Answer::Run(run),
        }
    }

    /// The drained states, among them all that can be reached, from which some condition cannot be met.
    fn bad_states<const N: usize>(&self) -> Result<(Vec<Packed<N>>, u64), Limit> {
        let (drained, states) = self.drained_states::<N>()?;
        let mut bad = FxHashSet::default();
        for &condition in self.conditions {
            let region = self.backwards.to_goal(condition, self.session).ok_or_else(|| self.limit())?;
            for (at, state) in drained.iter().enumerate() {
                if at.is_multiple_of(PERIOD)
                    && let Some(limit) = self.session.exceeded()
                {
                    return Err(limit);
                }
                // What no run makes is not reached.
                if self.backwards.is_in(&region, &Drained::of(self.compiled, state)) == Some(false) {
                    bad.insert(*state);
                }
            }
        }
        // In the order in which they were found, so that the answer is always the same.
        Ok((drained.into_iter().filter(|state| bad.contains(state)).collect(), states))
    }

    /// The drained states that can be reached with buffers as sets, and how many states there are in all.
    fn drained_states<const N: usize>(&self) -> Result<(Vec<Packed<N>>, u64), Limit> {
        let system = System::<Abstract, N>::new(&self.compiled.machine);
        let initial = system.initial();
        let mut known = FxHashSet::from_iter([initial]);
        let mut found = vec![initial];
        let mut at = 0;
        while let Some(&state) = found.get(at) {
            if at.is_multiple_of(PERIOD) {
                let held = (found.len() * 3 * size_of::<Packed<N>>()) as u64 + system.side_bytes();
                self.session.exceeded_with(held, 0).map_or(Ok(()), Err)?;
            }
            let most = self.session.states_left();
            system.each_successor(&state, &mut |_, next| {
                if known.insert(next) {
                    found.push(next);
                }
                found.len() as u64 <= most
            });
            if found.len() as u64 > most {
                return Err(Limit::States);
            }
            at += 1;
        }
        let states = found.len() as u64;
        self.session.spend(states);
        let is_drained = |state: &Packed<N>| self.compiled.machine.goals.all_drained.holds(state);
        Ok((found.into_iter().filter(is_drained).collect(), states))
    }

    /// Why a backward search ended early.
    fn limit(&self) -> Limit {
        self.session.exceeded().unwrap_or(Limit::States)
    }
}

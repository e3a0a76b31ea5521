//! What is beside `reach`: final states, robustness, fences, probability; each compared with the reference as far as it
//! can tell.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use dashu_ratio::RBig;
use weir::fences::{self, Aim, Fences, at_locations};
use weir::outcomes::{End, outcomes};
use weir::prob::{self, Almost, Certainty, Fraction, Question, Settings, Simulation, UpdatePolicy};
use weir::robust::{self, Method, robust, triangular_races};
use weir::translate::{insert_fences, insert_fences_after};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{Expr, Program, Property, PropertyKind, Span, StateAtom, StateExpr, Value};
use weir_testkit::chance::{Chain, Odds, Updates};
use weir_testkit::reference::{Drained, Goal, Model, drained_states, explore};
use weir_testkit::{Rng, random};

use crate::exactly::LIMITS;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beside {
    OutcomesSc,
    OutcomesTso,
    RobustAttacks,
    RobustInstrumented,
    RobustSingle,
    RobustWorkers,
    TriangularRaces,
    FencesRobust,
    FencesRaceFree,
    FencesSafe,
    Probability,
    ProbabilitySingle,
    ProbabilityGeometric,
    ProbabilitySticky,
    ProbabilityRepeated,
    ExactProbability,
    ExpectedCost,
    AlmostSurely,
    AlmostNever,
    Simulation,
}

/// A program, the condition that its probability is asked for, and what the reference says about them, which is found
/// out when it is needed.
pub(super) struct Asked<'a> {
    program: &'a Program,
    seed: u64,
    target: StateExpr,
    is_reachable: OnceCell<Option<bool>>,
    has_same_states: OnceCell<Option<bool>>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(program: &'a Program, seed: u64) -> Self {
        let target = random::condition(program, &mut Rng::new(seed));
        Self { program, seed, target, is_reachable: OnceCell::new(), has_same_states: OnceCell::new() }
    }

    fn is_reachable(&self) -> Option<bool> {
        *self.is_reachable.get_or_init(|| reachable(self.program, &self.target))
    }

    fn has_same_states(&self) -> Option<bool> {
        *self.has_same_states.get_or_init(|| same_states(self.program))
    }
}

/// `None` if nothing was answered.
type Compared = Result<Option<()>, String>;

impl Beside {
    pub(super) const ALL: [Self; 20] = [
        Self::OutcomesSc,
        Self::OutcomesTso,
        Self::RobustAttacks,
        Self::RobustInstrumented,
        Self::RobustSingle,
        Self::RobustWorkers,
        Self::TriangularRaces,
        Self::FencesRobust,
        Self::FencesRaceFree,
        Self::FencesSafe,
        Self::Probability,
        Self::ProbabilitySingle,
        Self::ProbabilityGeometric,
        Self::ProbabilitySticky,
        Self::ProbabilityRepeated,
        Self::ExactProbability,
        Self::ExpectedCost,
        Self::AlmostSurely,
        Self::AlmostNever,
        Self::Simulation,
    ];

    /// Whether there was an answer; an error says what is wrong with it.
    pub(super) fn compare(self, asked: &Asked<'_>) -> Result<bool, String> {
        let program = asked.program;
        let compared = match self {
            Self::OutcomesSc => final_states(program, weir_witness::Model::Sc),
            Self::OutcomesTso => final_states(program, weir_witness::Model::Tso),
            Self::RobustAttacks => robustness(asked, Method::Attacks, 1),
            Self::RobustInstrumented => robustness(asked, Method::Instrumented, 1),
            Self::RobustSingle => robustness(asked, Method::Single, 1),
            Self::RobustWorkers => robustness(asked, Method::Attacks, 3),
            Self::TriangularRaces => races(asked),
            Self::FencesRobust => fenced(program, Aim::Robust),
            Self::FencesRaceFree => fenced(program, Aim::RaceFree),
            Self::FencesSafe => fenced(program, Aim::Safe),
            _ => self.chances(asked),
        };
        compared.map(|answered| answered.is_some())
    }

    fn settings(self) -> Settings {
        let stickiness = (self == Self::ProbabilitySticky).then_some(Fraction { numerator: 9, denominator: 1 });
        let updates = match self {
            Self::ProbabilitySingle => UpdatePolicy::Single,
            Self::ProbabilityGeometric => UpdatePolicy::Geometric(Fraction { numerator: 4, denominator: 5 }),
            _ => UpdatePolicy::Uniform,
        };
        Settings { stickiness, updates, ..Settings::default() }
    }

    /// The probability by the naive chain, if that is small.
    fn naive_probability(self, program: &Program, target: &StateExpr) -> Option<RBig> {
        let odds = Odds {
            stickiness: if self == Self::ProbabilitySticky { RBig::from(9) } else { RBig::ONE },
            updates: match self {
                Self::ProbabilitySingle => Updates::Single,
                Self::ProbabilityGeometric => Updates::Geometric(RBig::from_parts(4.into(), 5_u32.into())),
                _ => Updates::Uniform,
            },
        };
        let chain = Chain::new(program, target, &odds, 60)?;
        Some(if self == Self::ProbabilityRepeated { chain.again_and_again() } else { chain.probability() })
    }

    /// Places and registers are looked for: whether they can be reached does not depend on when stores land, unless a
    /// lock is never given back.
    fn chances(self, asked: &Asked<'_>) -> Compared {
        let &Asked { program, seed, ref target, .. } = asked;
        let (settings, session) = (self.settings(), session());
        let question = Question {
            target: target.clone().into(),
            repeated: self == Self::ProbabilityRepeated,
            settings: settings.clone(),
        };
        match self {
            Self::ExactProbability => {
                let exact = answered(prob::exact_probability(program, &question, &session))?;
                let Some(exact) = exact.and_then(prob::ExactAnswer::known) else {
                    return Ok(None);
                };
                let is_right = self
                    .naive_probability(program, target)
                    .is_none_or(|naive| naive.to_string() == exact.probability.to_string());
                judged(is_right && possible(asked.is_reachable(), exact.probability.to_string() != "0"), || {
                    format!("{exact:?}")
                })
            }
            Self::ExpectedCost => {
                let Some(cost) = answered(prob::cost(program, target, &settings, 1e-4, &session))? else {
                    return Ok(None);
                };
                judged(possible(asked.is_reachable(), cost.cost.is_some()), || format!("{cost:?}"))
            }
            Self::AlmostSurely | Self::AlmostNever => {
                let which = if self == Self::AlmostNever { Almost::Never } else { Almost::Surely };
                let Some(found) = answered(prob::almost(program, &question, which, &session))? else { return Ok(None) };
                let is_right = match found.certainty {
                    Certainty::Unknown(_) => return Ok(None),
                    Certainty::Holds { .. } => possible(asked.is_reachable(), which == Almost::Surely),
                    Certainty::Fails(_) => which == Almost::Surely || possible(asked.is_reachable(), true),
                };
                judged(is_right, || format!("{which:?} holds; reachable is {:?}", asked.is_reachable()))
            }
            Self::Simulation => {
                let simulation = Simulation { runs: 50, seed, most_steps: 500, doubt: 1e-9, jobs: NonZeroUsize::MIN };
                let Some(found) = answered(prob::simulate(program, target, &settings, &simulation, &session))? else {
                    return Ok(None);
                };
                judged(found.hits == 0 || possible(asked.is_reachable(), true), || format!("{found:?}"))
            }
            _ => {
                let Some(found) = answered(prob::probability(program, &question, 1e-4, &session))? else {
                    return Ok(None);
                };
                if found.obstacle.is_some() {
                    return Ok(None);
                }
                let interval = found.interval;
                let end = |end: f64| RBig::try_from(end).expect("finite");
                let holds = |naive: RBig| end(interval.lower) <= naive && naive <= end(interval.upper);
                let is_right = self.naive_probability(program, target).is_none_or(holds);
                judged(is_right && (interval.lower == 0.0 || possible(asked.is_reachable(), true)), || {
                    format!("{found:?}")
                })
            }
        }
    }
}

fn session() -> Session {
    let limits = Limits { states: Some(1_500), time: Some(std::time::Duration::from_secs(2)), ..Limits::default() };
    Session::new(limits)
}

fn answered<T>(result: Result<T, Failure>) -> Result<Option<T>, String> {
    match result {
        Ok(answer) => Ok(Some(answer)),
        Err(Failure::Refused(_) | Failure::TooLarge(_)) => Ok(None),
        Err(failure) => Err(failure.to_string()),
    }
}

fn judged(is_right: bool, what: impl Fn() -> String) -> Compared {
    if is_right { Ok(Some(())) } else { Err(what()) }
}

/// Whether it may be said that something has a chance, or has none.
fn possible(is_reachable: Option<bool>, said: bool) -> bool {
    is_reachable.is_none_or(|is_reachable| is_reachable == said)
}

/// Whether the target can be reached, if that is known and does not depend on whose stores have landed.
fn reachable(program: &Program, target: &StateExpr) -> Option<bool> {
    let locks = |edge: &weir_ir::Edge| edge.instruction == weir_ir::Instruction::Lock;
    if program.threads.iter().any(|thread| thread.body.edges().iter().any(locks)) {
        return None;
    }
    let asking = Program {
        properties: vec![Property { kind: PropertyKind::Forbid(target.clone()), span: Span::default() }],
        ..program.clone()
    };
    let outcome = explore(&asking, Model::Tso, LIMITS.0).ok()?;
    let seen = outcome.goals.keys().any(|goal| matches!(goal, weir_testkit::Goal::Property(_)));
    (seen || outcome.complete).then_some(seen)
}

/// The values of all registers and declared cells at the end are those of the reference.
fn final_states(program: &Program, model: weir_witness::Model) -> Compared {
    let mut observed: Vec<StateAtom> = Vec::new();
    for thread in program.thread_ids() {
        if program.thread(thread).multiplicity == weir_ir::Multiplicity::One {
            let registers = (0..program.body(thread).registers.len()).map(weir_ir::RegId::new);
            observed.extend(registers.map(|register| StateAtom::Register { thread, register }));
        }
    }
    observed.extend(program.shared.iter().flat_map(|shared| shared.addresses()).map(StateAtom::Cell));
    let leaves: Vec<StateExpr> = observed.iter().cloned().map(Expr::Leaf).collect();
    let Some(report) = answered(outcomes(program, &leaves, model, &session()))? else { return Ok(None) };
    let reference = if model == weir_witness::Model::Sc { Model::Sc } else { Model::Tso };
    let naive = explore(program, reference, LIMITS.0).expect("the reference can");
    if let End::AssertionFailed(thread, _) = report.end {
        let fails = naive.goals.contains_key(&weir_testkit::Goal::Assertion(thread));
        return judged(fails || !naive.complete, || format!("{thread:?} fails no assertion"));
    }
    if report.end != End::Complete || !naive.complete {
        return Ok(None);
    }
    let value = |state: &weir_testkit::FinalState, atom: &StateAtom| -> Value {
        match atom {
            StateAtom::Register { thread, register } => state.registers[thread][register],
            StateAtom::Cell(cell) => state.memory.get(cell).copied().unwrap_or_else(|| program.initial_value(*cell)),
            StateAtom::At { .. } => 0,
        }
    };
    let expected: BTreeSet<Vec<Value>> =
        naive.final_states.iter().map(|state| observed.iter().map(|atom| value(state, atom)).collect()).collect();
    judged(report.outcomes == expected, || format!("{:?} instead of {expected:?}", report.outcomes))
}

fn drained(program: &Program, model: Model) -> Option<BTreeSet<Drained>> {
    drained_states(program, model, LIMITS.0).ok().flatten()
}

/// A robust program has the same drained states with and without store buffers.
fn same_states(program: &Program) -> Option<bool> {
    Some(drained(program, Model::Sc)? == drained(program, Model::Tso)?)
}

fn robustness(asked: &Asked<'_>, method: Method, jobs: usize) -> Compared {
    let options = robust::Options { method, jobs: NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN) };
    let Some(report) = answered(robust(asked.program, &options, &session()))? else { return Ok(None) };
    match report.verdict {
        Verdict::Holds => judged(asked.has_same_states() != Some(false), || "robust, but new states".to_owned()),
        // The run was replayed, and its cycle found.
        Verdict::Violated(_) => Ok(Some(())),
        Verdict::Unknown(_) => Ok(None),
    }
}

fn races(asked: &Asked<'_>) -> Compared {
    let Some(report) = answered(triangular_races(asked.program, NonZeroUsize::MIN, &session()))? else {
        return Ok(None);
    };
    match report.verdict {
        Verdict::Holds => judged(asked.has_same_states() != Some(false), || "no race, but new states".to_owned()),
        Verdict::Violated(_) => Ok(Some(())),
        Verdict::Unknown(_) => Ok(None),
    }
}

/// Whether the goal is that of an `exists`, which no fence is placed for.
fn asks_for_runs(program: &Program, goal: Goal) -> bool {
    matches!(goal, Goal::Property(id) if matches!(program.properties[id.index()].kind, PropertyKind::Exists(_)))
}

/// The program with the fences that were found has the same drained states with and without store buffers, or no goal
/// that can be reached.
fn fenced(program: &Program, aim: Aim) -> Compared {
    let mut program = program.clone();
    program.properties.retain(|property| property.kind != PropertyKind::ForbidDeadlock);
    let program = &program;
    let sites = at_locations(program);
    let places: Vec<_> = sites.iter().map(|site| site.place.clone()).collect();
    let options = fences::Options { aim, ..fences::Options::default() };
    let Some(report) = answered(fences::fences(program, &places, &options, &session()))? else { return Ok(None) };
    let Fences::Cheapest(sets) = &report.fences else {
        let is_answer = !matches!(report.fences, Fences::Stopped(_));
        return Ok(is_answer.then_some(()));
    };
    if aim == Aim::Safe {
        // Properties may ask where a thread is: one that waits at a fence counts as being where its step leads.
        let after = sets[0].iter().flat_map(|&site| sites[site].place.after.iter().copied()).collect();
        let mended = insert_fences_after(program, &after).program;
        let outcome = explore(&mended, Model::Tso, LIMITS.0).expect("the reference can");
        let violated: Vec<Goal> = outcome.goals.into_keys().filter(|&goal| !asks_for_runs(program, goal)).collect();
        return judged(violated.is_empty(), || format!("{violated:?} are reached all the same"));
    }
    let chosen = sets[0].iter().map(|&site| (sites[site].thread, sites[site].location)).collect();
    let mended = insert_fences(program, &chosen).program;
    judged(same_states(&mended) != Some(false), || "fenced, but new states".to_owned())
}

//! Certificates of positive answers, whichever engine found them.
//!
//! An engine may have decided a property by means that leave nothing to check: reductions, a slice of the program, a
//! robustness argument. What is certified is always the whole program, without any of these: first by the kind of proof
//! that fits the engine, then by the others. `weir-witness` checks every proof before it counts as one, so this module
//! may fail to find a proof, but never returns a wrong one.

use weir_ir::flow::{RegisterSet, live_registers, observed_registers};
use weir_ir::{Multiplicity, Program, ThreadId};
use weir_witness::{
    BackwardFault, BackwardProof, Buffering, CertificateError, ClosedSet, CopiesProof, Fault, Goal, ListedRegisters,
    Model, PackedStates, attack_closure, check_attack_proof, check_backward_proof_until, check_closed_set,
    check_copies_proof,
};

use crate::bounds::Bound;
use crate::check;
use crate::parameterized::{NoProof, is_parameterized, prove};
use crate::reach::dual::certify_any_number;
use crate::reach::{self, Engine, Options};
use crate::session::Session;
use crate::verdict::{Failure, Limit, Verdict};

/// A proof that goals cannot be reached, checked.
#[derive(Clone, Debug)]
pub enum Proof {
    /// States that no step leaves.
    Forward(ClosedSet),
    /// Configurations that no step enters.
    Backward(BackwardProof),
    /// States of the program with a monitor for attacks, that no step leaves: the program is robust.
    Attacks(PackedStates),
    /// States of the counter abstraction: what can occur with any number of copies, and what cannot.
    Copies(CopiesProof),
}

impl Proof {
    /// What it shows to be out of reach.
    pub fn goals(&self) -> &[Goal] {
        match self {
            Self::Forward(set) => &set.goals,
            Self::Backward(proof) => &proof.goals,
            Self::Attacks(_) => &[Goal::NotRobust],
            Self::Copies(proof) => &proof.goals,
        }
    }
}

/// Goals that one engine has decided, and how it did so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decided {
    /// The goals.
    pub goals: Vec<Goal>,
    /// The engine, if it was one.
    pub engine: Option<Engine>,
    /// How it over-approximated buffers, if it did.
    pub buffering: Option<Buffering>,
    /// Whether the engine was one of a portfolio, so that the user has not chosen it.
    pub is_portfolio: bool,
}

/// Why there is no proof.
#[derive(Clone, Debug)]
pub enum Unproved {
    /// This limit was reached first.
    Stopped(Limit),
    /// No kind of proof fits, for this reason.
    Unsuitable(String),
}

/// A kind of proof to try.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// All states, with buffers as given.
    States(Buffering),
    /// All states, with the buffers that the refinement of `coherence` finds to be enough.
    Refined,
    /// The minimal basis of the exact engine.
    Backward,
    /// The counter abstraction.
    Copies,
}

impl Decided {
    /// What the portfolio has proved.
    pub fn by_portfolio(report: &check::Report) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for one in &report.properties {
            if !matches!(one.judgement, check::Judgement::Holds | check::Judgement::NotMet) {
                continue;
            }
            let engine = one.member.and_then(|member| match member {
                check::Member::Engine(engine) => Some(engine),
                check::Member::DepthFirst | check::Member::Dynamic => Some(Engine::Explicit),
                check::Member::Sc | check::Member::Robust | check::Member::Cover | check::Member::Summaries => None,
            });
            match all.iter_mut().find(|group| (group.engine, group.buffering) == (engine, one.buffering)) {
                Some(group) => group.goals.push(one.goal),
                None => all.push(Self { goals: vec![one.goal], engine, buffering: one.buffering, is_portfolio: true }),
            }
        }
        all
    }

    /// Goals about what can still happen need proofs of their own.
    fn split(&self, program: &Program) -> impl Iterator<Item = Self> {
        let (liveness, others): (Vec<Goal>, Vec<Goal>) = self.goals.iter().partition(|goal| goal.is_liveness(program));
        let part = |goals: Vec<Goal>| Self { goals, ..self.clone() };
        [part(others), part(liveness)].into_iter().filter(|part| !part.goals.is_empty())
    }
}

/// The proofs that were found, and what has none.
#[derive(Clone, Debug, Default)]
pub struct Certified {
    /// The proofs, each checked by `weir-witness`.
    pub proofs: Vec<Proof>,
    /// Goals without a proof.
    pub unproved: Vec<(Vec<Goal>, Unproved)>,
}

impl Certified {
    /// There is no proof that the program is robust.
    fn without(why: Unproved) -> Self {
        Self { proofs: Vec::new(), unproved: vec![(vec![Goal::NotRobust], why)] }
    }
}

/// Proves that goals cannot be reached, after engines have decided so.
///
/// # Errors
/// If an invariant of Weir is broken.
pub fn certify(program: &Program, model: Model, decided: &[Decided], session: &Session) -> Result<Certified, Failure> {
    let session = &session.doing("writing out the proof");
    let mut certified = Certified::default();
    for group in decided.iter().flat_map(|group| group.split(program)) {
        match one(program, model, &group, session)? {
            Ok(proof) => certified.proofs.push(proof),
            Err(why) => certified.unproved.push((group.goals, why)),
        }
    }
    Ok(certified)
}

/// Proves that the program is robust, after an engine has decided so.
///
/// # Errors
/// If an invariant of Weir is broken: the checker finds an attack where the engine found none.
pub fn certify_robust(program: &Program, session: &Session) -> Result<Certified, Failure> {
    let session = &session.doing("writing out the proof");
    if is_parameterized(program) {
        let most = session.states_left().min(session.bound(Bound::CoverStates));
        return Ok(match copies(program, (Model::Tso, &[Goal::NotRobust]), most, session) {
            Ok(proof) => Certified { proofs: vec![proof], unproved: Vec::new() },
            Err(why) => Certified::without(why),
        });
    }
    let most = session.states_left().min(session.bound(Bound::CertifyStates));
    let checked = |states| match states {
        Some(states) => check_attack_proof(program, &states, session).map(|()| Some(states)),
        None => Ok(None),
    };
    match attack_closure(program, live(program, false), most, session).and_then(checked) {
        Ok(Some(states)) => Ok(Certified { proofs: vec![Proof::Attacks(states)], unproved: Vec::new() }),
        Ok(None) => Ok(Certified::without(too_many_states(session))),
        Err(error) => match error.fault {
            Fault::Interrupted => Ok(Certified::without(Unproved::Stopped(session.ended_by()))),
            Fault::ShowsGoal(_) => Err(Failure::Bug("the checker finds an attack that the engine did not".to_owned())),
            _ => Ok(Certified::without(Unproved::Unsuitable(error.to_string()))),
        },
    }
}

/// A proof would take more states than may be enumerated.
fn too_many_states(session: &Session) -> Unproved {
    let most = session.bound(Bound::CertifyStates);
    if session.states_left() < most {
        return Unproved::Stopped(Limit::States);
    }
    Unproved::Unsuitable(format!("it would take more than {most} states; `--limit certify-states=N` allows more"))
}

/// The registers of each thread that runs which may still be read, for each of its locations; by properties, too, if
/// these count.
pub(crate) fn live(program: &Program, by_properties: bool) -> ListedRegisters {
    let runs = |thread: &ThreadId| program.thread(*thread).multiplicity != Multiplicity::Spawned;
    let live = |thread: ThreadId| {
        let body = program.body(thread);
        let observed = if by_properties { observed_registers(program, thread) } else { RegisterSet::new() };
        let live = live_registers(body, &observed);
        body.location_ids().map(|location| live.at(location).iter().collect()).collect()
    };
    program.thread_ids().filter(runs).map(live).collect()
}

/// A proof by the counter abstraction, checked.
fn copies(
    program: &Program,
    (model, goals): (Model, &[Goal]),
    most: u64,
    session: &Session,
) -> Result<Proof, Unproved> {
    let failed = |error: CertificateError| match error.fault {
        Fault::Interrupted => Unproved::Stopped(session.ended_by()),
        _ => Unproved::Unsuitable(error.to_string()),
    };
    let listed = live(program, goals.iter().any(|goal| *goal != Goal::NotRobust));
    match prove(program, (model, goals), &listed, most, session) {
        Ok(proof) => match check_copies_proof(program, &proof, session) {
            Ok(()) => Ok(Proof::Copies(proof)),
            Err(error) => Err(failed(error)),
        },
        Err(NoProof::Refused(error)) => Err(failed(error)),
        Err(NoProof::Stopped(limit)) => Err(Unproved::Stopped(limit)),
        Err(NoProof::Reachable) => Err(Unproved::Unsuitable("the counter abstraction finds no proof".to_owned())),
    }
}

/// One proof for all of these goals.
fn one(
    program: &Program,
    model: Model,
    decided: &Decided,
    session: &Session,
) -> Result<Result<Proof, Unproved>, Failure> {
    // Only the explicit engine knows that there are finitely many states.
    let is_liveness = decided.goals.iter().any(|goal| goal.is_liveness(program));
    let may_be_endless = is_liveness && decided.engine != Some(Engine::Explicit);
    let mut reason = Unproved::Unsuitable("no engine has a proof of this that can be saved".to_owned());
    for (number, way) in ways(program, model, decided).into_iter().enumerate() {
        let options = Options { model, goals: decided.goals.clone(), ..Options::default() };
        let most = (number > 0 || may_be_endless).then(|| session.bound(Bound::CertifyStates));
        match attempt(program, &options, way, &session.part(most)) {
            Ok(Ok(proof)) => return Ok(Ok(proof)),
            Ok(Err(why)) => reason = why,
            Err(Failure::Stopped(Limit::States)) if most.is_some() => reason = too_many_states(session),
            Err(Failure::Stopped(limit)) => reason = Unproved::Stopped(limit),
            Err(Failure::Refused(diagnostic) | Failure::TooLarge(diagnostic)) => {
                reason = Unproved::Unsuitable(diagnostic.message);
            }
            Err(failure) => return Err(failure),
        }
        if let Some(limit) = session.exceeded() {
            return Ok(Err(Unproved::Stopped(limit)));
        }
    }
    Ok(Err(reason))
}

/// What to try, in this order.
fn ways(program: &Program, model: Model, decided: &Decided) -> Vec<Way> {
    if is_parameterized(program) {
        // There is no set of states for every number of copies.
        return match (model, decided.engine) {
            (Model::Sc, _) => vec![Way::Copies],
            (Model::Tso, Some(Engine::Dual)) => vec![Way::Backward],
            (Model::Tso, _) => vec![Way::Copies, Way::Backward],
        };
    }
    let exact = Way::States(Buffering::EXACT);
    if model == Model::Sc {
        return vec![exact];
    }
    if decided.goals.iter().any(|goal| goal.is_liveness(program)) {
        // Only exact buffers show what can still happen.
        return vec![exact];
    }
    let first = match (decided.engine, decided.buffering) {
        (_, Some(buffering)) => Some(Way::States(buffering)),
        (Some(Engine::Explicit), _) => Some(exact),
        (Some(Engine::Dual), _) if !decided.is_portfolio => Some(Way::Backward),
        _ => None,
    };
    // Sets of states come before configurations, since more checkers can read them. Over-approximations terminate for
    // finite data; there may be infinitely many exact states.
    let mut ways: Vec<Way> = first.into_iter().collect();
    for way in [Way::Refined, exact, Way::Backward] {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

fn attempt(
    program: &Program,
    options: &Options,
    way: Way,
    session: &Session,
) -> Result<Result<Proof, Unproved>, Failure> {
    let unsuitable = |why: String| Ok(Err(Unproved::Unsuitable(why)));
    let buffering = match way {
        Way::States(buffering) => buffering,
        Way::Refined => {
            let options = Options { engine: Engine::Coherence, ..options.clone() };
            let report = reach::reach(program, &options, session)?;
            match (report.verdict, report.buffering) {
                (Verdict::Holds, Some(buffering)) => buffering,
                (Verdict::Unknown(limit), _) if limit != Limit::Alarm => return Ok(Err(Unproved::Stopped(limit))),
                _ => return unsuitable("the over-approximations of buffers are too coarse".to_owned()),
            }
        }
        Way::Copies => {
            let most = session.states_left().min(session.bound(Bound::CoverStates));
            return Ok(copies(program, (options.model, &options.goals), most, session));
        }
        Way::Backward => {
            let options = Options { engine: Engine::Dual, ..options.clone() };
            let proof = if is_parameterized(program) {
                let most = session.states_left().min(session.bound(Bound::CoverStates));
                certify_any_number(program, &options.goals, most, session)?
            } else {
                reach::certify_backward(program, &options, session)?
            };
            let Some(proof) = proof else {
                return unsuitable("the exact engine finds no proof".to_owned());
            };
            return match check_backward_proof_until(program, &proof, session) {
                Ok(()) => Ok(Ok(Proof::Backward(proof))),
                Err(error) if error.fault == BackwardFault::Interrupted => Err(Failure::Stopped(session.ended_by())),
                Err(error) => unsuitable(format!("the checker rejects the proof: {error}")),
            };
        }
    };
    let set = reach::closed_set(program, options, buffering, session)?;
    match check_closed_set(program, &set, session) {
        Ok(()) => Ok(Ok(Proof::Forward(set))),
        Err(error) if error.fault == Fault::Interrupted => Err(Failure::Stopped(session.ended_by())),
        Err(error) => unsuitable(format!("the checker rejects the proof: {error}")),
    }
}

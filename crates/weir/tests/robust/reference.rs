//! One program, looked at from all sides: everything that is said of its robustness, compared with the definitions.

use std::collections::BTreeSet;

use weir::certify::{Certified, Proof, certify_robust};
use weir::fences::feasible_attacks;
use weir::robust::{Attack, Attacks, Method, Options, Race, Report, robust, triangular_races};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{EdgeId, Instruction, Multiplicity, Program, ThreadId, Uninterrupted};
use weir_testkit::traces::{self, Bounds, Move, executed, feasible, is_robust, is_sc_trace};
use weir_witness::{Action, Model, Packer, Run, check_attack_proof};

/// Runs are followed as far as this by default.
pub(crate) const LIMITS: Bounds = Bounds { instructions: 24, ways: 12_000 };

/// What the definitions say; `None` where that is too much work.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) robust: Option<bool>,
    pub(crate) feasible: Option<BTreeSet<Attack>>,
    pub(crate) race_free: Option<bool>,
}

/// How many programs were judged, and how many of them got an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Count {
    pub(crate) programs: usize,
    /// How many the definition decided.
    pub(crate) decided: usize,
    /// How many of those are not robust.
    pub(crate) not_robust: usize,
    /// How many each method answered.
    pub(crate) answered: [usize; 3],
    /// For how many all feasible attacks are known, by definition.
    pub(crate) feasible: usize,
    /// How many are known to have a race, and how many not.
    pub(crate) races: [usize; 2],
    /// For how many what they execute was compared.
    pub(crate) covered: usize,
    /// How many have a proof of robustness.
    pub(crate) proved: usize,
}

pub(crate) const METHODS: [Method; 3] = [Method::Attacks, Method::Instrumented, Method::Single];

/// Enough for all programs here; and an end for a search that has none.
pub(crate) fn session() -> Session {
    within(100_000)
}

/// A limit on the states of each search, and some seconds for all of them together.
pub(crate) fn within(states: u64) -> Session {
    let time = Some(std::time::Duration::from_secs(20));
    Session::new(Limits { states: Some(states), time, ..Limits::default() })
}

/// What a method says; `None` if the instrumentation says that it has no room for the addresses of the program.
pub(crate) fn report(program: &Program, method: Method, jobs: usize) -> Result<Option<Report>, String> {
    let options = Options { method, jobs: jobs.try_into().expect("some workers") };
    match robust(program, &options, &session()) {
        Ok(report) => Ok(Some(report)),
        Err(Failure::Refused(diagnostic) | Failure::TooLarge(diagnostic))
            if ["no-room", "state-too-large"].contains(&diagnostic.code) =>
        {
            Ok(None)
        }
        Err(failure) => Err(failure.to_string()),
    }
}

/// What the definitions say of a program.
pub(crate) fn truth(program: &Program, limits: Bounds) -> Truth {
    let robust = is_robust(program, limits);
    let found = feasible(program, limits, false);
    let attack = |&(thread, store, load): &(ThreadId, EdgeId, EdgeId)| Attack { thread, store, load };
    let begins = !found.begun.is_empty();
    let race = traces::races(program, limits.ways);
    let race_free = match race {
        Some(true) => Some(false),
        Some(false) if begins => Some(false),
        Some(false) if found.is_complete => Some(true),
        _ => None,
    };
    let feasible = found.is_complete.then(|| found.attacks.iter().map(attack).collect());
    Truth { robust, feasible, race_free }
}

/// Compares all that is said of a program with the definitions, and counts it.
pub(crate) fn judge(program: &Program, limits: Bounds, count: &mut Count) -> Result<(), String> {
    let truth = truth(program, limits);
    count.programs += 1;
    count.decided += usize::from(truth.robust.is_some());
    count.not_robust += usize::from(truth.robust == Some(false));
    if let (Some(robust), Some(feasible)) = (truth.robust, &truth.feasible) {
        same("the theorem: robust exactly if no attack is feasible", robust, feasible.is_empty())?;
    }
    for (method, answered) in METHODS.into_iter().zip(&mut count.answered) {
        let Some(report) = report(program, method, 1)? else { continue };
        *answered += usize::from(!matches!(report.verdict, Verdict::Unknown(_)));
        judge_report(program, &report, truth.robust).map_err(|why| format!("{method:?}: {why}"))?;
        if method == Method::Attacks && !report.attacks.open.is_empty() {
            judge_workers(program, &report)?;
        }
        if method == Method::Attacks && matches!(report.verdict, Verdict::Holds) {
            count.covered += usize::from(judge_coverage(program, &report, limits)?);
        }
    }
    judge_proof(program, truth.robust, count)?;
    judge_feasible(program, &truth, count)?;
    judge_race(program, &truth, count)
}

/// There is a proof exactly of what is true, and none is left of one without one of its states.
fn judge_proof(program: &Program, truth: Option<bool>, count: &mut Count) -> Result<(), String> {
    match (certify_robust(program, &within(2_000)), truth) {
        (Err(Failure::Bug(_)), Some(false) | None) => Ok(()),
        (Err(failure), _) => Err(format!("no proof: {failure}")),
        (Ok(Certified { proofs, .. }), _) if proofs.is_empty() => Ok(()),
        (Ok(_), Some(false)) => Err("there is a proof that it is robust, and it is not".into()),
        (Ok(Certified { proofs, .. }), _) => {
            let [Proof::Attacks(states)] = &proofs[..] else { return Err("proofs of another kind".into()) };
            let mut packer = Packer::new(states.listed().clone());
            let left_out = count.programs % states.len();
            let kept = states.iter().enumerate().filter(|&(number, _)| number != left_out);
            kept.for_each(|(_, state)| packer.add(&state));
            count.proved += 1;
            let is_accepted = check_attack_proof(program, &packer.finish(), &Uninterrupted).is_ok();
            same("a proof with a hole is accepted", false, is_accepted)
        }
    }
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, truth: T, said: T) -> Result<(), String> {
    if truth == said { Ok(()) } else { Err(format!("{what}: by definition {truth:?}, but {said:?} is said")) }
}

/// A verdict with its witness, and the attacks that were considered.
fn judge_report(program: &Program, report: &Report, truth: Option<bool>) -> Result<(), String> {
    same("attacks", pairs(program), report.attacks.clone())?;
    match (&report.verdict, truth) {
        (Verdict::Unknown(_), _) => Ok(()),
        (Verdict::Holds, Some(false)) => Err("robust is said, and it is not".into()),
        (Verdict::Holds, _) => Ok(()),
        (Verdict::Violated(_), Some(true)) => Err("not robust is said, and it is".into()),
        (Verdict::Violated(found), _) => judge_witness(program, found.run()),
    }
}

/// Two workers say the same, and show the same run.
fn judge_workers(program: &Program, one: &Report) -> Result<(), String> {
    let run = |report: &Report| match &report.verdict {
        Verdict::Violated(found) => Some(found.run().clone()),
        Verdict::Holds | Verdict::Unknown(_) => None,
    };
    let two = report(program, Method::Attacks, 2)?.ok_or("refused with two workers")?;
    same("two workers", std::mem::discriminant(&one.verdict), std::mem::discriminant(&two.verdict))?;
    same("the run that two workers show", run(one), run(&two))
}

/// A run under TSO whose trace no run under SC has.
pub(crate) fn judge_witness(program: &Program, run: &Run) -> Result<(), String> {
    same("the witness has the trace of a run under SC", Ok(false), is_sc_trace(program, &moves(run)))
}

pub(crate) fn moves(run: &Run) -> Vec<Move> {
    let moved = |step: &weir_witness::Step| match step.action {
        Action::Execute { edge, choice } => (step.thread, Some((edge, choice))),
        Action::Flush => (step.thread, None),
    };
    run.steps.iter().map(moved).collect()
}

/// All pairs of a store and a load of one thread, and those with a way from one to the other on which nothing drains
/// the buffer: by going along edges again and again until nothing changes.
pub(crate) fn pairs(program: &Program) -> Attacks {
    let mut pairs = Attacks::default();
    for thread in program.thread_ids().filter(|&thread| program.thread(thread).multiplicity == Multiplicity::One) {
        let edges = program.body(thread).edges();
        let numbered = || (0..edges.len()).map(EdgeId::new).zip(edges);
        let is_load = |instruction: &Instruction| {
            matches!(instruction, Instruction::Load { .. } | Instruction::Snapshot(_) | Instruction::Await { .. })
        };
        for (store, from) in numbered().filter(|(_, edge)| matches!(edge.instruction, Instruction::Store { .. })) {
            let mut reached = BTreeSet::from([from.to]);
            for _ in 0..edges.len() {
                let passed = edges.iter().filter(|edge| reached.contains(&edge.from) && !drains(&edge.instruction));
                let passed: Vec<_> = passed.map(|edge| edge.to).collect();
                reached.extend(passed);
            }
            for (load, edge) in numbered().filter(|(_, edge)| is_load(&edge.instruction)) {
                pairs.total += 1;
                if reached.contains(&edge.from) {
                    pairs.open.push(Attack { thread, store, load });
                }
            }
        }
    }
    pairs
}

fn drains(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Fence
            | Instruction::Membarrier
            | Instruction::ReadModifyWrite { .. }
            | Instruction::Lock
            | Instruction::Unlock
    )
}

/// The attacks that are feasible, each by itself.
fn judge_feasible(program: &Program, truth: &Truth, count: &mut Count) -> Result<(), String> {
    let Some(expected) = &truth.feasible else { return Ok(()) };
    let (attacks, found, limit) =
        feasible_attacks(program, &Options::default(), &session()).map_err(|failure| failure.to_string())?;
    same("attacks", pairs(program), attacks)?;
    if limit.is_none() {
        count.feasible += 1;
        same("feasible attacks", expected, &found)?;
    }
    Ok(())
}

fn judge_race(program: &Program, truth: &Truth, count: &mut Count) -> Result<(), String> {
    let found = match triangular_races(program, std::num::NonZeroUsize::MIN, &session()) {
        Ok(report) => report.verdict,
        Err(Failure::Refused(diagnostic)) if diagnostic.code == "state-too-large" => return Ok(()),
        Err(failure) => return Err(failure.to_string()),
    };
    let free = match &found {
        Verdict::Unknown(_) => return Ok(()),
        Verdict::Holds => true,
        Verdict::Violated(race) => {
            judge_race_itself(program, race)?;
            false
        }
    };
    if let Some(expected) = truth.race_free {
        count.races[usize::from(expected)] += 1;
        same("free of triangular races", expected, free)?;
    }
    if free { same("robust, since there is no race", truth.robust.unwrap_or(true), true) } else { Ok(()) }
}

/// The store, the load and the write that are named are what they are said to be.
fn judge_race_itself(program: &Program, race: &Race) -> Result<(), String> {
    let instruction = |step: weir_witness::StepId| {
        let step = race.run().steps[step.index()];
        match step.action {
            Action::Execute { edge, .. } => (step.thread, Some(&program.body(step.thread).edge(edge).instruction)),
            Action::Flush => (step.thread, None),
        }
    };
    let (store, load, write) = (instruction(race.store()), instruction(race.load()), instruction(race.write()));
    let is_store = matches!(store.1, Some(Instruction::Store { .. }));
    let is_load = matches!(load.1, Some(instruction) if instruction.is_load());
    let is_write = matches!(write.1, None | Some(Instruction::Store { .. } | Instruction::ReadModifyWrite { .. }));
    let is_loaded = race.replay().events()[race.load().index()].effect.addresses().any(|at| at == race.address());
    let is_last = race.write().index() + 1 == race.run().steps.len();
    let is_right = is_store && is_load && is_write && is_loaded && is_last;
    let is_lock = |edge: &weir_ir::Edge| matches!(edge.instruction, Instruction::Lock);
    let locks = program.threads.iter().any(|thread| thread.body.edges().iter().any(is_lock));
    same("a race that needs a buffer to be shown", false, race.run().model == Model::Tso && !locks)?;
    same("a race", true, is_right && store.0 == load.0 && load.0 != write.0)
}

/// What no run executes, and which stores are blocked; whether that could be told.
fn judge_coverage(program: &Program, report: &Report, limits: Bounds) -> Result<bool, String> {
    let (Some(expected), Some(said)) = (executed(program, limits.ways), &report.coverage) else { return Ok(false) };
    let present = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::One;
    let edges_of =
        |thread: ThreadId| (0..program.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge)));
    let all = || program.thread_ids().filter(present).flat_map(edges_of);
    let unexecuted: Vec<_> = all().filter(|edge| !expected.edges.contains(edge)).collect();
    same("not executed", &unexecuted, &said.unexecuted)?;
    let moves = |thread: &ThreadId| expected.edges.iter().any(|(of, _)| of == thread);
    let immobile = program.thread_ids().filter(present).filter(|thread| edges_of(*thread).len() > 0 && !moves(thread));
    same("immobile", &immobile.collect::<Vec<_>>(), &said.immobile)?;
    same("out of range", &expected.blocked.into_iter().collect::<Vec<_>>(), &said.out_of_range)?;
    Ok(true)
}

/// The answer of the default method, with its number of workers; `None` for "unknown".
pub(crate) fn verdict(program: &Program, jobs: usize) -> Option<bool> {
    let report = report(program, Method::Attacks, jobs).unwrap_or_else(|failure| panic!("{failure}"))?;
    match report.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

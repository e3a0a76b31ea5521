//! The engines that approximate store buffers from above, and the refinement that combines them.
//!
//! After G. Calin, *Verification techniques for TSO-relaxed programs* (2016), section 3.2. Direction of error: more can
//! be reached than under TSO. So `Holds` is a proof; a run that is found is only an alarm until a run under TSO is
//! found that follows it, which `weir-witness` replays as always. Without one the answer is `Unknown`.
//!
//! The multiset is decided by expand, enlarge and check (G. Geeraerts, J.-F. Raskin, L. Van Begin, 2006): counters are
//! exact up to a bound and beyond it any number, which is finite and errs towards more; the bound grows until nothing
//! is found or what is found is possible with exact counters. SOUNDNESS.md says why that ends.

mod concretize;
mod exact;
mod refuse;
mod states;

use std::sync::atomic::Ordering;
use std::time::Duration;

use weir_ir::Program;
use weir_witness::{Buffering, Certificate, Checked, ClosedSet, Goal, Model, Run};

use self::exact::Event;
use super::{Coverage, Engine, Options, Report, Search, Statistics};
use crate::bounds::Bound;
use crate::search::symmetry::Symmetric;
use crate::search::{self, Found, Outcome};
use crate::semantics::StepCode;
use crate::semantics::abstraction::Abstract;
use crate::semantics::abstraction::buffer::EXACT_MULTISET;
use crate::semantics::abstraction::pool::Pool;
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::coverage::coverage;
use crate::semantics::machine::Machine;
use crate::semantics::refuse::{Who, unsupported_but_spawn, unsupported_by};
use crate::semantics::sc::Sc;
use crate::semantics::size::with_state_size;
use crate::semantics::symmetry::symmetric_threads;
use crate::session::Session;
use crate::verdict::{Failure, Limit, Verdict};

/// How far counters go within the refinement loop before queues are tried.
const MOST_COUNTED: u32 = 1;

/// Looks for a run of `program` that reaches a goal, with buffers approximated.
pub(super) fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let began = session.elapsed();
    unsupported_but_spawn(program, options.engine.name())?;
    refuse::unanswerable(options)?;
    let goals = super::goals(program, options);
    if let Some(limit) = session.exceeded() {
        return Ok(Report::unknown(limit));
    }
    let compiled = compiled(program, options, &goals, session)?;
    let groups = groups(program, &compiled, &goals);
    let refinement = Refinement {
        program,
        options,
        session,
        compiled,
        groups,
        began,
        used: Statistics::default(),
        buffering: Buffering::Coherence(0),
        taken: Vec::new(),
    };
    refinement.run()
}

/// Symmetric threads, by position, for which also the analysis of values found the same, so that what one holds
/// fits the other.
fn groups(program: &Program, compiled: &Compiled, goals: &[Goal]) -> Vec<Vec<usize>> {
    let mut groups = symmetric_threads(program, &compiled.threads, goals);
    for group in &mut groups {
        let first = group[0];
        group.retain(|&position| compiled.have_same_layout(first, position));
    }
    groups
}

/// The states that a proof with these buffers rests on.
pub(super) fn certify(
    program: &Program,
    options: &Options,
    buffering: Buffering,
    session: &Session,
) -> Result<Certificate, Failure> {
    unsupported_by(program, Who::Engine(options.engine.name()))?;
    let goals = super::goals(program, options);
    let mut compiled = compiled(program, options, &goals, session)?;
    compiled.machine.abstraction = Pool::new(buffering);
    let states =
        with_state_size!(compiled.machine.layout.words, from 16, N => states::all::<N>(program, &compiled, session));
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    let states = states.map_err(Failure::Stopped)?;
    Ok(Certificate { model: Model::Tso, buffering, goals, states })
}

/// The same, packed; also without buffers, if that is the memory model.
pub(super) fn closed_set(
    program: &Program,
    options: &Options,
    buffering: Buffering,
    session: &Session,
) -> Result<ClosedSet, Failure> {
    unsupported_by(program, Who::Engine(options.engine.name()))?;
    let (model, goals) = (options.model, super::goals(program, options));
    let purpose = Purpose {
        keep_dead_registers: options.keep_dead_registers,
        buffered: model == Model::Tso,
        monitored: false,
        goals: &goals,
        keeps_back: &[],
    };
    let mut compiled = compile(program, purpose, session)?;
    compiled.machine.abstraction = Pool::new(buffering);
    let (compiled, words) = (&compiled, compiled.machine.layout.words);
    let states = with_state_size!(words, from 16, N => match model {
        Model::Sc => states::packed::<Sc, N>(program, compiled, session),
        Model::Tso => states::packed::<Abstract, N>(program, compiled, session),
    });
    if let Some(fault) = compiled.machine.fault.get() {
        return Err(Failure::Bug(fault.clone()));
    }
    Ok(ClosedSet { model, buffering, goals, states: states.map_err(Failure::Stopped)? })
}

fn compiled(program: &Program, options: &Options, goals: &[Goal], session: &Session) -> Result<Compiled, Failure> {
    let keep_dead_registers = options.keep_dead_registers;
    let purpose = Purpose { keep_dead_registers, buffered: true, monitored: false, goals, keeps_back: &[] };
    compile(program, purpose, session)
}

/// One question, asked again and again with different buffers.
struct Refinement<'a> {
    program: &'a Program,
    options: &'a Options,
    session: &'a Session,
    compiled: Compiled,
    /// Symmetric threads, by position.
    groups: Vec<Vec<usize>>,
    began: Duration,
    used: Statistics,
    /// The buffers of the last search.
    buffering: Buffering,
    /// Which steps it took.
    taken: Vec<bool>,
}

/// The answer with one kind of buffers.
enum Answer {
    /// Nothing is found, so there is nothing.
    Safe,
    /// This run under TSO reaches this goal.
    Real(Goal, Vec<StepCode>),
    /// Something is found for this goal, but no run under TSO that follows it.
    Alarm(Goal, Vec<Event>),
    Stopped(Limit),
}

impl Refinement<'_> {
    fn run(mut self) -> Result<Report, Failure> {
        let answer = match (self.options.engine, self.options.bound) {
            (Engine::Multiset, most) => self.count(most),
            (Engine::Coherence, None) => self.refine(),
            (Engine::Coherence, Some(bound)) => self.attempt(Buffering::Coherence(bound)),
            _ => self.attempt(Buffering::Coherence(0)),
        };
        self.report(answer)
    }

    /// Algorithm 3.2: the multiset first, then longer and longer queues.
    fn refine(&mut self) -> Answer {
        let mut answer = self.count(Some(MOST_COUNTED));
        // Longer queues hardly ever prove what these do not, and a loop that stores one value again and again could go
        // on forever.
        let longest = u32::try_from(self.session.bound(Bound::CoherenceStores)).unwrap_or(u32::MAX);
        for bound in 1..=longest {
            if !matches!(answer, Answer::Alarm(..)) {
                break;
            }
            answer = self.attempt(Buffering::Coherence(bound));
        }
        answer
    }

    /// The multiset, with counters that go further and further, but not beyond `most`.
    fn count(&mut self, most: Option<u32>) -> Answer {
        let mut counted = 0;
        loop {
            let answer = self.attempt(Buffering::Multiset(counted));
            let Answer::Alarm(_, events) = &answer else { return answer };
            if most.is_some_and(|most| counted >= most) || self.is_exact(events) {
                return answer;
            }
            counted = counted.saturating_mul(2).clamp(1, most.unwrap_or(u32::MAX).max(1));
        }
    }

    fn attempt(&mut self, buffering: Buffering) -> Answer {
        self.compiled.machine.abstraction = Pool::new(buffering);
        self.buffering = buffering;
        for blocked in &self.compiled.machine.blocked_by_range {
            blocked.store(false, Ordering::Relaxed);
        }
        let session = self.session;
        let (machine, groups, options) = (&self.compiled.machine, self.groups.as_slice(), self.options);
        let (outcome, answer) =
            with_state_size!(machine.layout.words, from 16, N => attempt_sized::<N>(machine, groups, options, session));
        self.note(&outcome);
        answer
    }

    fn is_exact(&mut self, events: &[Event]) -> bool {
        self.compiled.machine.abstraction = Pool::new(EXACT_MULTISET);
        let machine = &self.compiled.machine;
        with_state_size!(machine.layout.words, from 16, N => exact::admits::<N>(machine, events))
    }

    fn note(&mut self, outcome: &Outcome) {
        self.used.add(&outcome.statistics(self.compiled.machine.layout.words));
        self.taken.clone_from(&outcome.taken);
        for group in &self.groups {
            share(&self.compiled.machine, &mut self.taken, group);
        }
    }

    fn report(self, answer: Answer) -> Result<Report, Failure> {
        if let Some(fault) = self.compiled.machine.fault.get() {
            return Err(Failure::Bug(fault.clone()));
        }
        let alarm = if let Answer::Alarm(goal, _) = &answer { Some(*goal) } else { None };
        let verdict = match answer {
            Answer::Safe => Verdict::Holds,
            Answer::Stopped(limit) => Verdict::Unknown(limit),
            Answer::Alarm(..) => Verdict::Unknown(Limit::Alarm),
            Answer::Real(goal, steps) => {
                let steps = steps.into_iter().map(|step| self.compiled.step(step)).collect();
                let checked = Checked::new(self.program, Run { model: self.options.model, steps }, goal)
                    .map_err(|error| Failure::Bug(format!("a run that was found cannot be replayed: {error}")))?;
                Verdict::Violated(Box::new(checked))
            }
        };
        let executed = coverage(self.program, &self.compiled, &self.taken);
        let coverage = Coverage { approximate: true, ..executed };
        let statistics = Statistics { elapsed: self.session.since(self.began), ..self.used };
        Ok(Report { buffering: Some(self.buffering), alarm, ..Report::new(verdict, statistics, coverage) })
    }
}

/// What one thread of a group did, each of them can do.
fn share(machine: &Machine, taken: &mut [bool], group: &[usize]) {
    let firsts: Vec<usize> = group.iter().map(|&at| machine.threads[at].first_number as usize).collect();
    let edges = group.first().map_or(0, |&at| machine.threads[at].edges.len());
    for edge in 0..edges {
        let any_taken = firsts.iter().any(|first| taken.get(first + edge) == Some(&true));
        let blocked = |first: &usize| &machine.blocked_by_range[first + edge];
        let any_blocked = firsts.iter().any(|first| blocked(first).load(Ordering::Relaxed));
        for first in &firsts {
            if let Some(taken) = taken.get_mut(first + edge) {
                *taken = any_taken;
            }
            blocked(first).store(any_blocked, Ordering::Relaxed);
        }
    }
}

/// Explores with approximated buffers, and looks for a run under TSO that follows what is found.
fn attempt_sized<const N: usize>(
    machine: &Machine,
    groups: &[Vec<usize>],
    options: &Options,
    session: &Session,
) -> (Outcome, Answer) {
    let system = Symmetric::<Abstract, N>::new(machine, groups);
    // Only a shortest run tells in the end that counters were not to blame.
    let search = if options.engine == Engine::Multiset { Search::BreadthFirst } else { options.search };
    let outcome = search::run(&system, search, options.jobs, session);
    let answer = match &outcome.found {
        Found::Nothing => Answer::Safe,
        Found::Stopped(limit) => Answer::Stopped(*limit),
        Found::Goal(goal, run) => assess::<N>(machine, &system, (*goal, run), session).unwrap_or_else(|| {
            machine.broken("a run with over-approximated buffers cannot be followed");
            Answer::Stopped(Limit::Alarm)
        }),
    };
    (outcome, answer)
}

/// What a run that was found is worth.
fn assess<const N: usize>(
    machine: &Machine,
    system: &Symmetric<'_, Abstract, N>,
    (goal, run): (Goal, &[StepCode]),
    session: &Session,
) -> Option<Answer> {
    let run = system.unpermuted(run)?;
    match concretize::concretize::<N>(machine, &run, session) {
        Some((goal, steps)) => Some(Answer::Real(goal, steps)),
        None => exact::events::<N>(machine, &run).map(|events| Answer::Alarm(goal, events)),
    }
}

#[cfg(test)]
mod tests;

//! Does the program behave under TSO only as it can under SC?
//!
//! By attacks ("Checking and Enforcing Robustness against TSO"): a program is not robust exactly if some thread can
//! delay one of its stores past one of its loads while the others build up happens-before from that load to that store.
//! Whether this can be is a question about runs under SC, which `monitor` asks for all attacks in one search: they
//! share the runs before the attack, those of one store share what is delayed, and once the attacker has halted all
//! that matters is two addresses.
//!
//! Direction of error: none. `Holds` means that all states of the monitored program were visited; a violation is a run
//! that `weir-witness` has replayed, with a cycle of happens-before.

mod attacks;
mod covered;
mod helpers;
mod images;
mod instrumented;
mod memory;
mod monitor;
mod observed;
mod overlay;
mod partners;
mod question;
mod race;
mod races;
mod run;
mod stages;
mod states;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use weir_ir::flow::Ranges;
use weir_ir::{Gather, Program};
use weir_witness::Checked;

pub use crate::attack::{Attack, Attacks, ThreadEdge};
pub(crate) use attacks::enumerate as attacks_of;
pub(crate) use covered::{Covered, Effect};
pub(crate) use question::{Question, leads_to_load};
pub use race::Race;
pub use races::{RaceReport, triangular_races};
pub(crate) use run::AttackRun;
pub(crate) use states::compare;
pub use states::{Compared, same_states};

use crate::bounds::Bound;
use crate::search::{Found, Outcome};
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::coverage::coverage;
use crate::semantics::{StepCode, refuse};
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::slice::{Growth, Slicer};
use crate::translate::value_classes::value_classes;
use crate::verdict::{Coverage, Failure, Limit, Statistics, Verdict};
use images::Images;
use monitor::Monitor;
use partners::{Chains, Partners};
use question::Plans;

/// Methods of deciding robustness. All give the same answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Method {
    /// One search for all attacks, with a monitor beside the program.
    #[default]
    Attacks,
    /// One search under SC per attack, in the [instrumented](crate::translate::instrument) program of the paper.
    Instrumented,
    /// One search under SC in one instrumented program for all attacks.
    Single,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Attacks, Self::Instrumented, Self::Single];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attacks => "attacks",
            Self::Instrumented => "instrumented",
            Self::Single => "single",
        }
    }

    /// What it does, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Attacks => {
                "One search under SC for all attacks: pairs of a store and a later load that it could be delayed past"
            }
            Self::Instrumented => {
                "One search per attack, in a program that simulates the delay. Slower; for comparison"
            }
            Self::Single => "One search in a single program that simulates every delay. Slower; for comparison",
        }
    }
}

/// What must not change with store buffers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Criterion {
    /// The traces: see [`robust`].
    #[default]
    Traces,
    /// The drained states that are reached: see [`same_states`].
    States,
}

impl Criterion {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Traces, Self::States];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::States => "states",
        }
    }

    /// What it means, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Traces => "Every run with store buffers has the happens-before relation of a run without them",
            Self::States => "Every state with empty buffers is also reached without store buffers. Weaker than traces",
        }
    }
}

/// Options of the check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// Number of workers. The answer does not depend on it.
    pub jobs: NonZeroUsize,
}

impl Default for Options {
    fn default() -> Self {
        Self { method: Method::default(), jobs: NonZeroUsize::MIN }
    }
}

/// The answer, and how it was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// `Holds`: every run under TSO has the trace of a run under SC. `Violated`: this run does not.
    pub verdict: Verdict<Box<Checked>>,
    /// The attacks that were considered.
    pub attacks: Attacks,
    /// Statistics of the search.
    pub statistics: Statistics,
    /// If the verdict is unknown: what may grow without bound among what control flow and addresses depend on.
    pub growth: Vec<Growth>,
    /// If the program is robust: what runs under SC execute of it; no other runs matter then. `None` if exploring them
    /// takes too many states.
    pub coverage: Option<Coverage>,
    /// If the traces differ and states were compared by exploring them: how many. See [`same_states`].
    pub compared: Option<Compared>,
}

impl Report {
    fn of(verdict: Verdict<Box<Checked>>, attacks: Attacks, statistics: Statistics) -> Self {
        Self { verdict, attacks, statistics, growth: Vec::new(), coverage: None, compared: None }
    }

    /// No attack is feasible.
    pub(crate) fn holding(attacks: Attacks, statistics: Statistics) -> Self {
        Self::of(Verdict::Holds, attacks, statistics)
    }

    /// An inconclusive answer.
    pub(crate) fn unknown(limit: Limit, elapsed: Duration) -> Self {
        let statistics = Statistics { elapsed, ..Statistics::default() };
        Self::of(Verdict::Unknown(limit), Attacks::default(), statistics)
    }
}

/// The attacks of a program.
///
/// # Errors
/// The limit that was reached.
pub fn attacks(program: &Program, session: &Session) -> Result<Attacks, Limit> {
    attacks::enumerate(program, &program.running_threads().collect::<Vec<_>>(), session)
}

/// Checks whether `program` is robust.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
pub fn robust(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let session = &session.doing("robust: looking for observable delays");
    let mut report = match options.method {
        Method::Attacks => by_attacks(program, options, session),
        Method::Instrumented => instrumented::one_by_one(program, options, session),
        Method::Single => instrumented::all_at_once(program, options, session),
    }?;
    if matches!(report.verdict, Verdict::Holds) {
        report.coverage = match Checker::new(program, session) {
            Err(Failure::Stopped(_)) => None,
            checker => checker?.coverage(options, session),
        };
    }
    Ok(report)
}

/// The same by attacks, without what is executed of a robust program.
///
/// # Errors
/// As [`robust`].
pub(crate) fn by_attacks(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let began = session.elapsed();
    let checker = match Checker::new(program, session) {
        Err(Failure::Stopped(limit)) => return Ok(Report::unknown(limit, session.since(began))),
        checker => checker?,
    };
    let attacks = match checker.attacks(session) {
        Ok(attacks) => attacks,
        Err(limit) => return Ok(Report::unknown(limit, session.since(began))),
    };
    let question = Question { attacks: attacks.open.iter().copied().gather(), ..Question::default() };
    let (answer, mut statistics) = checker.decide(question, options, session)?;
    statistics.elapsed = session.since(began);
    let verdict = match answer {
        Answer::Infeasible => Verdict::Holds,
        Answer::Stopped(limit) => Verdict::Unknown(limit),
        Answer::Feasible(attack_run) => Verdict::Violated(Box::new(attack_run.checked(program, session)?)),
    };
    let growth = if matches!(verdict, Verdict::Unknown(_)) { checker.growth } else { Vec::new() };
    Ok(Report { growth, ..Report::of(verdict, attacks, statistics) })
}

/// Whether control flow and addresses alone rule out all attacks, so that the program is robust without any search.
///
/// # Errors
/// If the engine does not support the program, or if a limit is reached.
pub(crate) fn is_ruled_out(program: &Program, session: &Session) -> Result<bool, Failure> {
    refuse::unsupported_by(program, BY)?;
    let attacks = attacks(program, session).map_err(Failure::Stopped)?;
    if attacks.open.is_empty() {
        return Ok(true);
    }
    let partners = Partners::new(program, &Ranges::of_until(program, session));
    let mut chains = Chains::new();
    Ok(!attacks.open.iter().any(|&attack| partners.can_complete(attack, &mut chains)))
}

/// Who refuses a program.
const BY: refuse::Who<'_> = refuse::Who::Other("the analysis of robustness");

/// A program prepared for questions about attacks.
pub(crate) struct Checker {
    program: Program,
    compiled: Compiled,
    partners: Partners,
    images: Images,
    /// What may grow without bound.
    growth: Vec<Growth>,
}

/// The answer to such a question.
pub(crate) enum Answer {
    /// None of the attacks is feasible.
    Infeasible,
    /// One is feasible, shown by this.
    Feasible(AttackRun),
    /// Inconclusive.
    Stopped(Limit),
}

impl Checker {
    /// Prepares a program.
    ///
    /// # Errors
    /// If the engine does not support it.
    pub(crate) fn new(program: &Program, session: &Session) -> Result<Self, Failure> {
        Self::compiled(program, &[], session)
    }

    /// Prepares a program that was extended: for each thread and location, whether stores may be delayed there.
    ///
    /// # Errors
    /// If the engine does not support it.
    pub(crate) fn of_extended(program: &Program, keeps_back: &[Vec<bool>], session: &Session) -> Result<Self, Failure> {
        Self::compiled(program, keeps_back, session)
    }

    fn compiled(program: &Program, keeps_back: &[Vec<bool>], session: &Session) -> Result<Self, Failure> {
        refuse::unsupported_by(program, BY)?;
        // What properties observe need not be kept, and neither need values that decide nothing.
        let bare = Program { properties: Vec::new(), ..program.clone() };
        let slicer = Slicer::new(&bare, session);
        let partners = Partners::new(&bare, slicer.ranges());
        let sliced = slicer.without_values();
        let growth = slicer.growth(&sliced);
        let bare = match value_classes(sliced.program(), slicer.ranges()) {
            Some(classes) => classes.program().clone(),
            None => sliced.program().clone(),
        };
        let purpose = Purpose { keep_dead_registers: false, buffered: false, monitored: true, goals: &[], keeps_back };
        let compiled = compile(&bare, purpose, session)?;
        let images = Images::new(&bare, &compiled);
        Ok(Self { program: bare, compiled, partners, images, growth })
    }

    /// For each edge by its number, whether it is one of these.
    fn numbers(&self, edges: &BTreeSet<ThreadEdge>) -> Vec<bool> {
        (0..self.compiled.machine.edge_count).map(|number| edges.contains(&self.compiled.edge(number))).collect()
    }

    /// The attacks there are.
    ///
    /// # Errors
    /// The limit that came first.
    pub(crate) fn attacks(&self, session: &Session) -> Result<Attacks, Limit> {
        let attacks = attacks::enumerate(&self.program, &self.compiled.threads, session)?;
        // Whoever asks about them makes a set of them at once: a copy, room to sort it, and the nodes.
        let held = size_of_val(&attacks.open[..]) as u64;
        session.exceeded_between_checks(held, 3 * held).map_or(Ok(attacks), Err)
    }

    /// Whether one of some attacks is feasible.
    ///
    /// # Errors
    /// If an invariant of Weir breaks.
    pub(crate) fn decide(
        &self,
        mut question: Question,
        options: &Options,
        session: &Session,
    ) -> Result<(Answer, Statistics), Failure> {
        self.rule_out(&mut question);
        if question.attacks.is_empty() {
            return Ok((Answer::Infeasible, Statistics::default()));
        }
        let machine = &self.compiled.machine;
        let outcome = self.look_for_attack(&question, options, session);
        if let Some(fault) = machine.fault.get() {
            return Err(Failure::Bug(fault.clone()));
        }
        let statistics = self.statistics(&outcome);
        let answer = match outcome.found {
            Found::Nothing => Answer::Infeasible,
            Found::Stopped(limit) => Answer::Stopped(limit),
            Found::Goal(_, steps) => Answer::Feasible(self.attack_run(&steps)),
        };
        Ok((answer, statistics))
    }

    /// Leaves out the attacks that control flow and addresses rule out, and all but one of those that are images of each
    /// other.
    fn rule_out(&self, question: &mut Question) {
        question.narrow(&self.program);
        let mut chains = Chains::new();
        question.attacks.retain(|&attack| self.partners.can_complete(attack, &mut chains));
        self.images.ask_one_each(question);
    }

    /// What runs under SC execute, if exploring them takes few states. A program that cannot move is robust for the
    /// wrong reason, and users who ask only about robustness should be told.
    fn coverage(&self, options: &Options, session: &Session) -> Option<Coverage> {
        let session = session.part(Some(session.bound(Bound::CoverageStates)));
        let plans = Plans::new(&self.program, &self.compiled, &Question::default());
        let outcome = self.search(&plans, None, options, &session);
        let is_complete = matches!(outcome.found, Found::Nothing) && self.compiled.machine.fault.get().is_none();
        is_complete.then(|| coverage(&self.program, &self.compiled, &outcome.taken))
    }

    fn statistics(&self, outcome: &Outcome) -> Statistics {
        outcome.statistics(self.compiled.machine.layout.words)
    }

    fn attack_run(&self, steps: &[StepCode]) -> AttackRun {
        let decode = |&code: &StepCode| {
            let (step, kind) = Monitor::<1>::decode(&self.compiled.machine, code);
            (self.compiled.step(step), kind)
        };
        AttackRun { steps: steps.iter().map(decode).collect() }
    }
}

#[cfg(test)]
mod tests;

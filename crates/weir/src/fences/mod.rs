//! The cheapest fences that make a program robust, keep its states, or make it safe or free of triangular races.
//!
//! By implicit hitting sets. A run that shows an attack also shows where fences help against it: after any of the
//! attacker's steps from the delayed store on, before the load. These places are a *core*: every set of fences that
//! makes the program robust contains one of them. So: take the cheapest set of places that hits all cores known so far,
//! and check whether the program with these fences is robust. If not, the run that shows it yields a core that the set
//! does not hit. When no such run is left, the set is robust, and no cheaper one is, since each misses a core.
//!
//! The paper ("Checking and Enforcing Robustness against TSO", §7) first computes all irreducible eliminating sets of
//! every feasible attack, which takes a search for each of exponentially many sets. Those sets are the minimal hitting
//! sets of the attack's cores. The optimum is the same, with one search per core.

mod cores;
mod costs;
mod every_number;
mod hitting_set;
mod lower_bound;
mod needs;
mod places;
mod preference;
mod proof;
mod reasons;
mod recheck;
mod solver;
#[cfg(feature = "syntax")]
pub mod text;

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Diagnostic, Gather, Program, Span};
use weir_witness::{Goal, Run};

use crate::check::{self, is_exists};
use crate::reach::{Statistics, all_goals};
use crate::robust::{Answer, Attack, Attacks, Checker, Options as RobustOptions, Question, ThreadEdge};
use crate::session::Session;
use crate::verdict::{Failure, Limit};
pub use costs::{FrequencyCosts, LoopCosts, unit_cost};
pub use every_number::fences_for_every_number;
pub use needs::{Need, needs, needs_of_robust};
pub use places::{AtLocation, at_locations};
pub use proof::{FencesProof, certify_fences};
pub use reasons::{Access, Reason};
#[cfg(feature = "syntax")]
use recheck::achieves;
pub use recheck::{Recheck, recheck};

/// A candidate place for a fence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The steps that the fence would follow: one per thread that runs this code and per path to it.
    pub after: Vec<ThreadEdge>,
    /// What a fence there costs; at least 1.
    pub cost: u64,
}

/// What the fences must achieve.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Aim {
    /// Every run under TSO has the trace of a run under SC.
    #[default]
    Robust,
    /// Every drained state under TSO is one that is reached under SC as well: see [`crate::robust::same_states`]. Never
    /// takes more fences than robustness.
    States,
    /// No triangular races remain: stricter, and easier to see in a program.
    RaceFree,
    /// Every property holds under TSO. This may take fewer fences than robustness, and may be impossible. `exists` does
    /// not count: fences only remove runs.
    Safe,
}

impl Aim {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Robust, Self::States, Self::Safe, Self::RaceFree];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Robust => "robust",
            Self::States => "states",
            Self::Safe => "safe",
            Self::RaceFree => "trf",
        }
    }

    /// What it means, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Robust => "Store buffers do not change the program's behaviour",
            Self::States => "The program reaches the same states as without store buffers; may take fewer fences",
            Self::Safe => "Every property holds; often takes fewer fences than robustness",
            Self::RaceFree => {
                "No triangular races remain; may take more fences than robustness, but is easier to see in the code"
            }
        }
    }
}

/// Options of the search for fences.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The aim.
    pub aim: Aim,
    /// How to check robustness.
    pub robust: RobustOptions,
    /// Whether to find all cheapest sets, not just one.
    pub all: bool,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fences {
    /// The cheapest sets of places, by number: one, or all there are. The first is empty if the program is robust as it
    /// is.
    Cheapest(Vec<BTreeSet<usize>>),
    /// There is no place between the store and the load of this attack.
    Nowhere(Attack),
    /// This goal can be reached without store buffers, so no fence helps.
    NotByFences(Goal),
    /// Asked which fences of the program are not needed: even with all of them, it does not meet the aim.
    TooFew,
    /// This goal can be reached by a run that delays stores, but only where there is no place for a fence. For
    /// [`Aim::States`], the goal is [`Goal::NotRobust`].
    NoPlace(Goal),
    /// The search was stopped.
    Stopped(Limit),
}

/// The answer, and how it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Report {
    /// What was found.
    pub fences: Fences,
    /// The cost of each cheapest set.
    pub cost: u64,
    /// The attacks that were considered.
    pub attacks: Attacks,
    /// The attacks found feasible along the way. There may be more.
    pub seen_feasible: BTreeSet<Attack>,
    /// For each cheapest set, why each of its fences is needed, by place. Absent where that could not be told.
    pub reasons: Vec<BTreeMap<usize, Reason>>,
    /// Runs of the program without further fences, under TSO, and what each shows. None of them may be possible with
    /// fences that are enough, and no cheaper set stops them all.
    pub demands: Vec<(Run, Goal)>,
    /// Whether the program without further fences was searched as it was read, without a step for each place: to check
    /// that it needs no fences would be to do the same again.
    pub is_as_read: bool,
    /// Number of searches made.
    pub searches: u32,
    /// Their statistics: sums, and the maxima of depth and bytes.
    pub statistics: Statistics,
}

impl Report {
    /// Before any search.
    fn new(fences: Fences, attacks: Attacks) -> Self {
        let (seen_feasible, statistics) = (BTreeSet::new(), Statistics::default());
        let (reasons, demands) = (Vec::new(), Vec::new());
        let (is_as_read, searches) = (false, 0);
        Self { fences, cost: 0, attacks, seen_feasible, reasons, demands, is_as_read, searches, statistics }
    }
}

/// Finds the cheapest fences at the given places that make `program` robust.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
pub fn fences(program: &Program, places: &[Place], options: &Options, session: &Session) -> Result<Report, Failure> {
    let session = &session.doing("fences");
    let began = session.elapsed();
    let checker = match Checker::new(program, session) {
        Err(Failure::Stopped(limit)) => return Ok(Report::new(Fences::Stopped(limit), Attacks::default())),
        checker => checker?,
    };
    let (attacks, stopped) = match checker.attacks(session) {
        Ok(attacks) => (attacks, None),
        Err(limit) => (Attacks::default(), Some(limit)),
    };
    let mut report = Report::new(Fences::Cheapest(Vec::new()), attacks);
    match stopped {
        Some(limit) => report.fences = Fences::Stopped(limit),
        None => solver::Solver::new(program, &checker, places, options, session, &mut report).solve()?,
    }
    report.statistics.elapsed = session.since(began);
    Ok(report)
}

/// What fences must achieve for safety: every property but `exists`, which asks for runs, and fences only take runs
/// away.
///
/// # Errors
/// If the program has no such property.
pub fn safe_goals(program: &Program) -> Result<Vec<Goal>, Box<Diagnostic>> {
    let mut goals = all_goals(program);
    if goals.is_empty() {
        return Err(Box::new(check::no_property()));
    }
    goals.retain(|&goal| !is_exists(program, goal));
    if goals.is_empty() {
        let what = "the only properties of the program are `exists`, which no fence can establish, since fences only \
                    remove runs; making the program robust (see `weir robust`) needs no property";
        let help = "write `forbid` for what must not happen, or leave out `--for safe`";
        return Err(Box::new(Diagnostic::error("no-property", what, Span::default()).help(help)));
    }
    Ok(goals)
}

/// The feasible attacks of `program`, each shown by a search; `None` for the rest if a limit was reached first.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
pub fn feasible_attacks(
    program: &Program,
    options: &RobustOptions,
    session: &Session,
) -> Result<(Attacks, BTreeSet<Attack>, Option<Limit>), Failure> {
    let stopped = |limit| (Attacks::default(), BTreeSet::new(), Some(limit));
    let checker = match Checker::new(program, session) {
        Err(Failure::Stopped(limit)) => return Ok(stopped(limit)),
        checker => checker?,
    };
    let attacks = match checker.attacks(session) {
        Ok(attacks) => attacks,
        Err(limit) => return Ok(stopped(limit)),
    };
    let mut open: BTreeSet<Attack> = attacks.open.iter().copied().gather();
    let mut feasible = BTreeSet::new();
    loop {
        let question = Question { attacks: open.clone(), ..Question::default() };
        match checker.decide(question, options, session)?.0 {
            Answer::Infeasible => return Ok((attacks, feasible, None)),
            Answer::Stopped(limit) => return Ok((attacks, feasible, Some(limit))),
            Answer::Feasible(attack_run) => {
                let attack = attack_run.attack().ok_or_else(solver::no_attack)?;
                open.remove(&attack);
                feasible.insert(attack);
            }
        }
    }
}

//! The cheapest fences that make a program robust, free of triangular races, or safe.
//!
//! By implicit hitting sets. A run that shows an attack also shows where fences help against it: after any of the attacker's
//! steps from the delayed store on, before the load. These places are a *core*: every set of fences that makes the program
//! robust contains one of them. So: take the cheapest set of places that hits all cores known so far, and check whether the
//! program with these fences is robust. If not, the run that shows it yields a core that the set does not hit. When no such
//! run is left, the set is robust, and no cheaper one is, since each misses a core.
//!
//! The paper ("Checking and Enforcing Robustness against TSO", §7) first computes all irreducible eliminating sets of every
//! feasible attack, which takes a search for each of exponentially many sets. Those sets are the minimal hitting sets of the
//! attack's cores. The optimum is the same, with one search per core.

mod costs;
mod hitting_set;
mod places;
mod safe;
#[cfg(feature = "syntax")]
pub mod text;

use std::collections::BTreeSet;

use weir_ir::{Diagnostic, Program, Span};
use weir_witness::Goal;

use crate::check::{self, Violation, check, is_exists};
use crate::reach::{Statistics, all_goals};
use crate::robust::{
    Answer, Attack, Attacks, Checker, Options as RobustOptions, Question, ThreadEdge, robust, triangular_races,
};
use crate::translate::insert_fences_after;
use crate::{Failure, Limit, Session, Verdict};
pub use costs::{FrequencyCosts, LoopCosts, unit_cost};
use hitting_set::{Choice, HittingSets};
pub use places::{AtLocation, at_locations};

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
    /// No triangular races remain: stricter, and easier to see in a program.
    RaceFree,
    /// Every property holds under TSO. This may take fewer fences than robustness, and may be impossible. `exists` does not
    /// count: fences only take runs away.
    Safe,
}

impl Aim {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Robust, Self::Safe, Self::RaceFree];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Robust => "robust",
            Self::Safe => "safe",
            Self::RaceFree => "trf",
        }
    }

    /// What it means, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Robust => "Store buffers do not change the program's behaviour",
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
    /// The cheapest sets of places, by number: one, or all there are. The first is empty if the program is robust as it is.
    Cheapest(Vec<BTreeSet<usize>>),
    /// There is no place between the store and the load of this attack.
    Nowhere(Attack),
    /// This goal can be reached without store buffers, so no fence helps.
    NotByFences(Goal),
    /// This goal can be reached by a run that delays stores, but only where there is no place for a fence.
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
    /// Number of searches made.
    pub searches: u32,
    /// Their statistics: sums, and the maxima of depth and bytes.
    pub statistics: Statistics,
}

impl Report {
    /// Before any search.
    fn new(fences: Fences, attacks: Attacks) -> Self {
        let (seen_feasible, statistics) = (BTreeSet::new(), Statistics::default());
        Self { fences, cost: 0, attacks, seen_feasible, searches: 0, statistics }
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
    let mut solver = Solver {
        program,
        checker: &checker,
        places,
        options,
        session,
        open: attacks.open.iter().copied().collect(),
        hitting_sets: HittingSets {
            costs: places.iter().map(|place| place.cost.max(1)).collect(),
            ..HittingSets::default()
        },
        report: Report::new(Fences::Cheapest(Vec::new()), attacks),
    };
    solver.report.fences = stopped.map_or_else(|| solver.run(), |limit| Ok(Fences::Stopped(limit)))?;
    let mut report = solver.report;
    report.statistics.elapsed = session.since(began);
    Ok(report)
}

struct Solver<'a> {
    program: &'a Program,
    checker: &'a Checker,
    places: &'a [Place],
    options: &'a Options,
    session: &'a Session,
    open: BTreeSet<Attack>,
    hitting_sets: HittingSets,
    report: Report,
}

/// Whether a choice of places suffices.
enum Trial {
    Robust,
    /// It is not; the core that it does not hit has been added.
    Refuted,
    /// It is not, and no place would help.
    Nowhere(Attack),
    NotByFences(Goal),
    NoPlace(Goal),
    Stopped(Limit),
}

impl Solver<'_> {
    fn run(&mut self) -> Result<Fences, Failure> {
        let mut found: Vec<Choice> = Vec::new();
        while let Some(choice) = self.hitting_sets.cheapest().map_err(Failure::Bug)? {
            let cost = self.hitting_sets.cost(&choice);
            if !found.is_empty() && cost > self.report.cost {
                break;
            }
            match self.try_out(&choice)? {
                Trial::Refuted => {}
                Trial::Nowhere(attack) => return Ok(Fences::Nowhere(attack)),
                Trial::NotByFences(goal) => return Ok(Fences::NotByFences(goal)),
                Trial::NoPlace(goal) => return Ok(Fences::NoPlace(goal)),
                Trial::Stopped(limit) => return Ok(Fences::Stopped(limit)),
                Trial::Robust => {
                    self.report.cost = cost;
                    found.push(choice.clone());
                    if !self.options.all || choice.is_empty() {
                        break;
                    }
                    self.hitting_sets.excluded.push(choice);
                }
            }
        }
        Ok(Fences::Cheapest(found))
    }

    fn try_out(&mut self, choice: &Choice) -> Result<Trial, Failure> {
        if self.options.aim == Aim::Safe {
            return self.try_safe(choice);
        }
        let fenced = choice.iter().flat_map(|&place| &self.places[place].after).copied().collect();
        let question = Question { attacks: self.open.clone(), fenced, ..Question::default() };
        let (found, statistics) = match self.options.aim {
            Aim::Robust => self.attack(question)?,
            Aim::RaceFree | Aim::Safe => self.race(question)?,
        };
        self.report.searches += 1;
        self.report.statistics.add(&statistics);
        let (attack, overtaken) = match found {
            Verdict::Holds => return Ok(Trial::Robust),
            Verdict::Unknown(limit) => return Ok(Trial::Stopped(limit)),
            Verdict::Violated(found) => found,
        };
        self.report.seen_feasible.insert(attack);
        Ok(if self.add_core(&overtaken) { Trial::Refuted } else { Trial::Nowhere(attack) })
    }

    /// Adds a core: one of these steps needs a fence after it. False if there is no place for one.
    fn add_core(&mut self, after: &BTreeSet<ThreadEdge>) -> bool {
        let helps = |place: &Place| place.after.iter().any(|edge| after.contains(edge));
        let core: Choice = (0..self.places.len()).filter(|&place| helps(&self.places[place])).collect();
        let is_possible = !core.is_empty();
        if is_possible {
            self.hitting_sets.cores.push(core);
        }
        is_possible
    }

    /// Whether the properties hold with these fences; if not, the run that violates one yields a core.
    fn try_safe(&mut self, choice: &Choice) -> Result<Trial, Failure> {
        let after = choice.iter().flat_map(|&place| &self.places[place].after).copied().collect();
        let fenced = insert_fences_after(self.program, &after).program;
        let answer = check(&fenced, &safe_options(&fenced)?, &self.trying())?;
        self.report.searches += 1;
        self.report.statistics.add(&answer.statistics);
        let found = match answer.verdict {
            Verdict::Holds => return Ok(Trial::Robust),
            Verdict::Unknown(limit) => return Ok(Trial::Stopped(limit)),
            Verdict::Violated(Violation::Run(found)) => safe::with_early_flushes(&fenced, *found, self.session),
            Verdict::Violated(Violation::NotMet(_)) => return Err(Failure::Bug("`exists` is no aim of fences".into())),
        };
        let counts: Vec<usize> = self.program.threads.iter().map(|thread| thread.body.edges().len()).collect();
        let stopped = safe::core_steps(&fenced, &found, &counts);
        Ok(if self.add_core(&stopped) {
            Trial::Refuted
        } else if found.happens_before().is_cyclic() {
            Trial::NoPlace(found.goal())
        } else {
            // A run without store buffers does the same.
            Trial::NotByFences(found.goal())
        })
    }

    /// The session of one search.
    fn trying(&self) -> Session {
        self.session.doing(&format!("search {}", self.report.searches + 1))
    }

    fn attack(&self, question: Question) -> Result<(Found, Statistics), Failure> {
        let (answer, statistics) = self.checker.decide(question, &self.options.robust, &self.trying())?;
        let found = match answer {
            Answer::Infeasible => Verdict::Holds,
            Answer::Stopped(limit) => Verdict::Unknown(limit),
            Answer::Feasible(attack_run) => {
                Verdict::Violated((attack_run.attack().ok_or_else(no_attack)?, attack_run.overtaken()))
            }
        };
        Ok((found, statistics))
    }

    fn race(&self, question: Question) -> Result<(Found, Statistics), Failure> {
        let report = self.checker.race(question, self.options.robust.jobs, &self.trying())?;
        let found = match report.verdict {
            Verdict::Holds => Verdict::Holds,
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
            Verdict::Violated(race) => Verdict::Violated((race.attack().ok_or_else(no_attack)?, race.overtaken())),
        };
        Ok((found, report.statistics))
    }
}

/// An attack that still is possible, and the steps after one of which a fence must come.
type Found = Verdict<(Attack, BTreeSet<ThreadEdge>)>;

fn no_attack() -> Failure {
    Failure::Bug("an attack without store and load".to_owned())
}

/// Whether a set of fences does what is claimed of it, checked on the programs themselves, each parsed again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recheck {
    /// The program with the fences meets the aim, and does not if any one of them is removed.
    Confirmed,
    /// A limit was reached first.
    Stopped(Limit),
}

/// Checks a set of fences: `fenced` has all of them, each of `reduced` lacks one.
///
/// # Errors
/// If the fences do not suffice, or one is not needed: that would be a bug.
pub fn recheck(
    fenced: &Program,
    reduced: impl IntoIterator<Item = Program>,
    options: &Options,
    session: &Session,
) -> Result<Recheck, Failure> {
    let session = &session.doing("checking the fences");
    let check = |program: &Program| achieves(program, options, session);
    match check(fenced)? {
        Verdict::Holds => {}
        Verdict::Violated(()) => return Err(Failure::Bug("the fences that were found are not enough".into())),
        Verdict::Unknown(limit) => return Ok(Recheck::Stopped(limit)),
    }
    for program in reduced {
        match check(&program)? {
            Verdict::Violated(()) => {}
            Verdict::Holds => return Err(Failure::Bug("one of the fences that were found is not needed".into())),
            Verdict::Unknown(limit) => return Ok(Recheck::Stopped(limit)),
        }
    }
    Ok(Recheck::Confirmed)
}

/// Whether a program already meets the aim.
fn achieves(program: &Program, options: &Options, session: &Session) -> Result<Verdict<()>, Failure> {
    Ok(match options.aim {
        Aim::Robust => without_run(robust(program, &options.robust, session)?.verdict),
        Aim::Safe => without_run(check(program, &safe_options(program)?, session)?.verdict),
        Aim::RaceFree => without_run(triangular_races(program, options.robust.jobs, session)?.verdict),
    })
}

/// What fences must achieve for safety: every property but `exists`, which asks for runs, and fences only take runs away.
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
        let what = "`exists` is the only property of the program, and no fence can establish it, since fences only take \
                    runs away; to make the program robust, as `weir robust` checks, needs no property";
        let help = "write `forbid` for what must not happen, or leave out `--for safe`";
        return Err(Box::new(Diagnostic::error("no-property", what, Span::default()).help(help)));
    }
    Ok(goals)
}

fn safe_options(program: &Program) -> Result<check::Options, Failure> {
    let goals = safe_goals(program).map_err(Failure::Refused)?;
    Ok(check::Options { goals, first_failure_only: true, ..check::Options::default() })
}

fn without_run<R>(verdict: Verdict<R>) -> Verdict<()> {
    match verdict {
        Verdict::Holds => Verdict::Holds,
        Verdict::Violated(_) => Verdict::Violated(()),
        Verdict::Unknown(limit) => Verdict::Unknown(limit),
    }
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
    let mut open: BTreeSet<Attack> = attacks.open.iter().copied().collect();
    let mut feasible = BTreeSet::new();
    loop {
        let question = Question { attacks: open.clone(), ..Question::default() };
        match checker.decide(question, options, session)?.0 {
            Answer::Infeasible => return Ok((attacks, feasible, None)),
            Answer::Stopped(limit) => return Ok((attacks, feasible, Some(limit))),
            Answer::Feasible(attack_run) => {
                let attack = attack_run.attack().ok_or_else(no_attack)?;
                open.remove(&attack);
                feasible.insert(attack);
            }
        }
    }
}

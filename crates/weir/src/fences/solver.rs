//! The loop: the cheapest set that hits all cores, tried out; if it is not enough, the run that shows it is the next
//! core.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Gather, Program};
use weir_witness::{Checked, Goal, Run};

use super::cores::{core_steps, with_early_flushes};
use super::hitting_set::{Choice, HittingSets};
use super::reasons::{Reason, reason};
use super::recheck::safe_options;
use super::{Aim, Fences, Options, Place, Report, preference};
use crate::check::{Violation, check};
use crate::robust::{Answer, Attack, Checker, Question, ThreadEdge, compare};
use crate::session::Session;
use crate::translate::{Fenced, Translation, insert_fences_after};
use crate::verdict::{Failure, Limit, Statistics, Verdict};

pub(super) struct Solver<'a> {
    program: &'a Program,
    checker: &'a Checker,
    places: &'a [Place],
    options: &'a Options,
    session: &'a Session,
    open: BTreeSet<Attack>,
    hitting_sets: HittingSets,
    /// What each core comes from.
    origins: Vec<Origin>,
    report: &'a mut Report,
}

/// What a core comes from.
enum Origin {
    /// A run under TSO of the program without further fences, and what it shows.
    Run(Run, Goal),
    /// A triangular race.
    Race(Reason),
}

/// Whether a choice of places suffices.
enum Trial {
    Enough,
    /// It does not; the core that it does not hit has been added.
    Refuted,
    /// It does not, and no place would help.
    Nowhere(Attack),
    NotByFences(Goal),
    NoPlace(Goal),
    Stopped(Limit),
}

/// An attack that still is possible, the steps after one of which a fence must come, and what shows that.
type Found = Verdict<(Attack, BTreeSet<ThreadEdge>, Origin)>;

impl<'a> Solver<'a> {
    pub(super) fn new(
        program: &'a Program,
        checker: &'a Checker,
        places: &'a [Place],
        options: &'a Options,
        session: &'a Session,
        report: &'a mut Report,
    ) -> Self {
        let costs: Vec<u64> = places.iter().map(|place| place.cost.max(1)).collect();
        let hitting_sets = HittingSets { costs, ..HittingSets::default() };
        let open = report.attacks.open.iter().copied().gather();
        Self { program, checker, places, options, session, open, hitting_sets, origins: Vec::new(), report }
    }

    pub(super) fn solve(mut self) -> Result<(), Failure> {
        self.report.fences = self.run()?;
        if let Fences::Cheapest(sets) = &self.report.fences {
            self.report.reasons = sets.iter().map(|set| self.reasons(set)).collect();
        }
        let demand = |origin| match origin {
            Origin::Run(run, goal) => Some((run, goal)),
            Origin::Race(_) => None,
        };
        self.report.demands = self.origins.into_iter().filter_map(demand).collect();
        Ok(())
    }

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
                Trial::Enough => {
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
        let after: BTreeSet<ThreadEdge> = choice.iter().flat_map(|&place| &self.places[place].after).copied().gather();
        let question = Question { attacks: self.open.clone(), fenced: after.clone(), ..Question::default() };
        match self.options.aim {
            Aim::Robust => self.try_attacks(question, Self::attack),
            Aim::RaceFree => self.try_attacks(question, Self::race),
            Aim::States => self.try_states(question, &after),
            Aim::Safe => self.try_safe(&after),
        }
    }

    fn try_attacks(
        &mut self,
        question: Question,
        ask: impl Fn(&Self, Question) -> Result<(Found, Statistics), Failure>,
    ) -> Result<Trial, Failure> {
        let (found, statistics) = ask(self, question)?;
        self.count(&statistics);
        let (attack, overtaken, origin) = match found {
            Verdict::Holds => return Ok(Trial::Enough),
            Verdict::Unknown(limit) => return Ok(Trial::Stopped(limit)),
            Verdict::Violated(found) => found,
        };
        self.report.seen_feasible.insert(attack);
        Ok(if self.add_core(&overtaken, origin) { Trial::Refuted } else { Trial::Nowhere(attack) })
    }

    /// Whether the states are those under SC with these fences. If no attack is feasible, they are: see
    /// [`crate::robust::same_states`].
    ///
    /// The states under SC are those of the program without the fences: under SC a fence is a step that does nothing,
    /// and a thread that waits at one counts as being behind it. So every set of fences is judged by the same set of
    /// states.
    fn try_states(&mut self, question: Question, after: &BTreeSet<ThreadEdge>) -> Result<Trial, Failure> {
        let (answer, statistics) = self.checker.decide(question, &self.options.robust, &self.trying())?;
        self.count(&statistics);
        match answer {
            Answer::Infeasible => return Ok(Trial::Enough),
            Answer::Stopped(limit) => return Ok(Trial::Stopped(limit)),
            Answer::Feasible(_) => {}
        }
        let fenced = insert_fences_after(self.program, after);
        let comparison = compare(&fenced.program, &fenced.waits(), self.options.robust.jobs, &self.trying())?;
        self.count(&comparison.statistics);
        let found = match comparison.verdict {
            Verdict::Holds => return Ok(Trial::Enough),
            Verdict::Unknown(limit) => return Ok(Trial::Stopped(limit)),
            Verdict::Violated(found) => *found,
        };
        let same_end = |one: &Checked, other: &Checked| one.replay().last() == other.replay().last();
        let found = with_early_flushes(&fenced.program, found, same_end, self.session);
        Ok(if self.add_core_of(&fenced, &found) { Trial::Refuted } else { Trial::NoPlace(found.goal()) })
    }

    /// Whether the properties hold with these fences; if not, the run that violates one yields a core.
    fn try_safe(&mut self, after: &BTreeSet<ThreadEdge>) -> Result<Trial, Failure> {
        let fenced = insert_fences_after(self.program, after);
        let answer = check(&fenced.program, &safe_options(&fenced.program)?, &self.trying())?;
        self.count(&answer.statistics);
        let found = match answer.verdict {
            Verdict::Holds => return Ok(Trial::Enough),
            Verdict::Unknown(limit) => return Ok(Trial::Stopped(limit)),
            Verdict::Violated(Violation::Run(found)) => {
                with_early_flushes(&fenced.program, *found, |_, _| true, self.session)
            }
            Verdict::Violated(Violation::NotMet(_)) => return Err(Failure::Bug("`exists` is no aim of fences".into())),
        };
        Ok(if self.add_core_of(&fenced, &found) {
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

    fn count(&mut self, statistics: &Statistics) {
        self.report.searches += 1;
        self.report.statistics.add(statistics);
    }

    /// Adds the core of a run of a program with fences. False if there is no place for one that would stop it.
    fn add_core_of(&mut self, fenced: &Fenced, found: &Checked) -> bool {
        let counts: Vec<usize> = self.program.threads.iter().map(|thread| thread.body.edges().len()).collect();
        let origin = Origin::Run(fenced.map_back(self.program, found.run()), found.goal());
        self.add_core(&core_steps(&fenced.program, found, &counts), origin)
    }

    /// Adds a core: one of these steps needs a fence after it. False if there is no place for one.
    fn add_core(&mut self, after: &BTreeSet<ThreadEdge>, origin: Origin) -> bool {
        let helps = |place: &Place| place.after.iter().any(|edge| after.contains(edge));
        let core: Choice = (0..self.places.len()).filter(|&place| helps(&self.places[place])).gather();
        let is_possible = !core.is_empty();
        if is_possible {
            if self.hitting_sets.cores.is_empty() {
                self.hitting_sets.preferences = preference::preferences(self.program, self.places);
            }
            self.hitting_sets.cores.push(core);
            self.origins.push(origin);
        }
        is_possible
    }

    fn attack(&self, question: Question) -> Result<(Found, Statistics), Failure> {
        let (answer, statistics) = self.checker.decide(question, &self.options.robust, &self.trying())?;
        let found = match answer {
            Answer::Infeasible => Verdict::Holds,
            Answer::Stopped(limit) => Verdict::Unknown(limit),
            Answer::Feasible(attack_run) => {
                let attack = attack_run.attack().ok_or_else(no_attack)?;
                let origin = Origin::Run(attack_run.run_under_tso(self.program), Goal::NotRobust);
                Verdict::Violated((attack, attack_run.overtaken(), origin))
            }
        };
        Ok((found, statistics))
    }

    fn race(&self, question: Question) -> Result<(Found, Statistics), Failure> {
        let report = self.checker.race(question, self.options.robust.jobs, &self.trying())?;
        let found = match report.verdict {
            Verdict::Holds => Verdict::Holds,
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
            Verdict::Violated(race) => {
                let attack = race.attack().ok_or_else(no_attack)?;
                let reason = Reason::of_race(&race).ok_or_else(no_attack)?;
                Verdict::Violated((attack, race.overtaken(), Origin::Race(reason)))
            }
        };
        Ok((found, report.statistics))
    }

    /// Why each place of a set is needed: there is a core that no other place of the set hits, else the set would not
    /// be a cheapest one.
    fn reasons(&self, set: &Choice) -> BTreeMap<usize, Reason> {
        let because = |&place: &usize| {
            let alone = Choice::from([place]);
            let cores = self.hitting_sets.cores.iter().zip(&self.origins);
            let mut own = cores.filter(|(core, _)| core.intersection(set).copied().gather::<Choice>() == alone);
            let reason = own.find_map(|(_, origin)| match origin {
                Origin::Race(reason) => Some(reason.clone()),
                Origin::Run(run, _) => reason(self.program, run, &self.places[place].after),
            });
            Some((place, reason?))
        };
        set.iter().filter_map(because).gather()
    }
}

pub(super) fn no_attack() -> Failure {
    Failure::Bug("an attack without store and load".to_owned())
}

//! What a check knows after some searches.

use std::time::Duration;

use weir_ir::Program;
use weir_witness::Goal;

use super::images;
use super::mapped::{again, of_first_instances, of_linked, original};
use crate::check::{self, Attempt, End, Judgement, Member, PropertyReport, Vacuity, is_exists};
use crate::summaries::Summarized;
use crate::translate::unroll::Unrolled;
use crate::verdict::{Coverage, Failure, Limit, Statistics};

/// What the searches of a check have found so far.
#[derive(Default)]
pub(super) struct Found {
    /// The properties for which there is a run.
    pub(super) shown: Vec<PropertyReport>,
    /// The last report on the others.
    pub(super) last: Vec<PropertyReport>,
    pub(super) attempts: Vec<check::Attempt>,
    pub(super) statistics: Statistics,
    /// What the last search executed of the linked program with instances.
    pub(super) coverage: Option<Coverage>,
}

impl Found {
    pub(super) fn has(&self, goal: Goal) -> bool {
        self.shown.iter().any(|one| one.goal == goal)
    }

    /// Whether something is proved if no run goes beyond the bounds.
    pub(super) fn depends_on_bounds(&self) -> bool {
        self.last.iter().any(|one| !matches!(one.judgement, Judgement::Unknown(_)))
    }

    /// Whether something was too hard already. Larger bounds make nothing easier.
    pub(super) fn is_exhausted(&self) -> bool {
        self.last.iter().any(|one| matches!(one.judgement, Judgement::Unknown(_)))
    }

    pub(super) fn add(&mut self, linked: &Program, unrolled: &Unrolled, report: check::Report) -> Result<(), Failure> {
        self.statistics.add(&report.statistics);
        self.forget_attempts();
        self.attempts.extend(report.attempts);
        self.coverage = report.coverage.map(|seen| of_linked(linked, unrolled, &seen));
        self.last.clear();
        for mut one in report.properties {
            // Its places are those of the unrolled program.
            if let Vacuity::Unreached(_) = one.vacuity {
                one.vacuity = Vacuity::Unknown;
            }
            match &mut one.judgement {
                Judgement::Violated(checked) | Judgement::Met(checked) => {
                    **checked = original(linked, unrolled, checked)?;
                    self.shown.push(one);
                }
                Judgement::Holds | Judgement::NotMet | Judgement::Unknown(_) => self.last.push(one),
            }
        }
        Ok(())
    }

    /// What was tried with smaller bounds tells nothing, unless it has shown something.
    fn forget_attempts(&mut self) {
        if self.shown.is_empty() {
            self.attempts.clear();
        }
    }

    /// What summaries say about open goals; whether that decides all of them.
    pub(super) fn take_summaries(&mut self, linked: &Program, open: &[Goal], summarized: Summarized) -> bool {
        let Summarized { reached, limit, statistics, coverage } = summarized;
        self.statistics.add(&statistics);
        let report = |goal, judgement| PropertyReport {
            judgement,
            member: Some(Member::Summaries),
            elapsed: statistics.elapsed,
            ..PropertyReport::open(goal)
        };
        let is_complete = limit.is_none();
        let end = match limit {
            None => End::Answered,
            Some(limit) => End::Stopped(limit),
        };
        self.forget_attempts();
        self.attempts.push(Attempt { round: 1, member: Member::Summaries, end, statistics });
        let shown: Vec<PropertyReport> = reached
            .into_iter()
            .map(|(goal, checked)| match is_exists(linked, goal) {
                true => report(goal, Judgement::Met(Box::new(checked))),
                false => report(goal, Judgement::Violated(Box::new(checked))),
            })
            .collect();
        if is_complete {
            let others = open.iter().filter(|goal| shown.iter().all(|one| one.goal != **goal));
            let judgement = |goal| if is_exists(linked, goal) { Judgement::NotMet } else { Judgement::Holds };
            self.last = others.map(|&goal| report(goal, judgement(goal))).collect();
            self.coverage = Some(coverage);
        }
        self.shown.extend(shown);
        is_complete
    }

    /// The report on these goals of the program, if what seems to hold is not proved because of this limit.
    pub(super) fn report(
        mut self,
        (program, linked): (&Program, &Program),
        goals: &[Goal],
        limit: Option<Limit>,
        elapsed: Duration,
    ) -> Result<check::Report, Failure> {
        let mut properties = Vec::new();
        for &goal in goals {
            let images = images(program, linked, &[goal]);
            let reports = images.iter().map(|&image| self.about(linked, image, limit));
            let reports: Vec<PropertyReport> = reports.collect::<Result<_, _>>()?;
            properties.extend(check::worst(&reports).cloned());
        }
        self.statistics.elapsed = elapsed;
        if let Some(limit) = limit.filter(|_| self.shown.is_empty()) {
            self.attempts.retain(|attempt| attempt.end != End::Overtaken);
            let answered = self.attempts.iter_mut().filter(|attempt| attempt.end == End::Answered);
            answered.for_each(|attempt| attempt.end = End::Stopped(limit));
        }
        let seen = self.coverage.filter(|_| limit.is_none());
        let coverage = seen.map(|seen| of_first_instances((program, linked), &seen));
        let report = check::Report::of(properties, self.attempts, self.statistics);
        Ok(check::Report { coverage, ..report })
    }

    /// What is known about one goal. A run that was found with fewer instances is one with more.
    fn about(&self, linked: &Program, goal: Goal, limit: Option<Limit>) -> Result<PropertyReport, Failure> {
        let known = self.shown.iter().chain(&self.last).find(|one| one.goal == goal);
        let mut one = known.cloned().unwrap_or_else(|| PropertyReport::open(goal));
        match (&mut one.judgement, limit) {
            (Judgement::Violated(checked) | Judgement::Met(checked), _) => {
                **checked = again(linked, checked.run().clone(), goal)?;
            }
            (Judgement::Holds | Judgement::NotMet, Some(limit)) => {
                one = PropertyReport { judgement: Judgement::Unknown(limit), ..PropertyReport::open(goal) };
            }
            // Nobody was asked, since the program is too large.
            (Judgement::Unknown(Limit::Interrupted), Some(limit)) => one.judgement = Judgement::Unknown(limit),
            (Judgement::Holds | Judgement::NotMet | Judgement::Unknown(_), _) => {}
        }
        Ok(one)
    }
}

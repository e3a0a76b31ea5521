//! Which states show a goal.

use std::collections::BTreeSet;

use weir_ir::{PropertyKind, StateExpr, ThreadId};

use super::super::{AbstractState, Fault};
use super::rules::Rules;
use super::system::CopiesSystem;
use super::{CopyState, Minimal};
use crate::counts::{Count, Counts};
use crate::run::{Goal, Model};

/// Minimal states such that all states that can occur and show one of these goals are above one. Under TSO, robustness is
/// a goal in any case: properties are looked at before any attack.
pub(super) fn targets(
    rules: &Rules<'_, '_>,
    (model, goals): (Model, &[Goal]),
    system: &CopiesSystem,
) -> Result<BTreeSet<Minimal>, Fault> {
    if goals.is_empty() || (model == Model::Sc && goals.contains(&Goal::NotRobust)) {
        return Err(Fault::UnknownGoal);
    }
    let goals = goals.iter().map(|&goal| Kind::of(rules, goal)).collect::<Result<Vec<_>, Fault>>()?;
    let mut targets = BTreeSet::new();
    for (number, shared) in system.shared.iter().enumerate() {
        let (is_before, succeeded) = rules.progress(shared)?;
        let mut found = BTreeSet::new();
        if succeeded {
            found.insert(Vec::new());
        }
        for goal in goals.iter().filter(|_| is_before) {
            goal.shown_by(rules, (shared, number), system, &mut found)?;
        }
        let is_possible = |copies: &Vec<usize>| rules.all_fit(shared, copies.iter().map(|&copy| &system.copies[copy]));
        for mut copies in found.into_iter().filter(is_possible) {
            copies.retain(|copy| !system.fresh.contains(copy));
            copies.sort_unstable();
            targets.insert(Minimal { shared: number, copies });
        }
    }
    Ok(targets)
}

/// A goal, prepared.
enum Kind<'p> {
    /// No attack succeeds: that is looked at anyway.
    Robust,
    Assertion(ThreadId),
    Forbid {
        condition: &'p StateExpr,
        counts: Counts,
        goal: Goal,
    },
}

impl<'p> Kind<'p> {
    fn of(rules: &Rules<'_, 'p>, goal: Goal) -> Result<Self, Fault> {
        let program = rules.checker.program;
        match goal {
            Goal::NotRobust => Ok(Self::Robust),
            Goal::Assertion(thread) if thread.index() < program.threads.len() => Ok(Self::Assertion(thread)),
            Goal::Assertion(_) => Err(Fault::UnknownGoal),
            Goal::Property(property) => match program.properties.get(property.index()).map(|found| &found.kind) {
                Some(PropertyKind::Forbid(condition)) => {
                    let counts = Counts::of(program, condition).map_err(|_| Fault::Unsuitable(goal))?;
                    Ok(Self::Forbid { condition, counts, goal })
                }
                Some(_) => Err(Fault::Unsuitable(goal)),
                None => Err(Fault::UnknownGoal),
            },
        }
    }

    /// Adds copies, by number, such that the goal is shown by the shared state with at least these beside it.
    fn shown_by(
        &self,
        rules: &Rules<'_, 'p>,
        (shared, number): (&AbstractState, usize),
        system: &CopiesSystem,
        found: &mut BTreeSet<Vec<usize>>,
    ) -> Result<(), Fault> {
        let (program, threads) = (rules.checker.program, &rules.checker.threads);
        let beside: Vec<usize> = system.beside[number].iter().copied().collect();
        match self {
            Self::Robust => {}
            Self::Assertion(thread) => {
                let failed = program.body(*thread).failed;
                let is_template = |place: &usize| rules.templates.contains(place);
                let mut singles = (0..rules.running).filter(|place| !is_template(place));
                let has_failed = |copy: &CopyState| threads[copy.of] == *thread && failed == Some(copy.location);
                if singles.any(|place| threads[place] == *thread && failed == Some(shared.threads[place].location)) {
                    found.insert(Vec::new());
                }
                found.extend(beside.iter().filter(|&&copy| has_failed(&system.copies[copy])).map(|&copy| vec![copy]));
            }
            Self::Forbid { condition, counts, goal } => {
                let unsuitable = |_| Fault::Unsuitable(*goal);
                let kind = |&copy: &usize| {
                    let copy = &system.copies[copy];
                    (threads[copy.of], vec![copy.location])
                };
                let kinds: Vec<Count> = beside.iter().map(kind).collect();
                for numbers in counts.numbers().map_err(unsuitable)? {
                    if rules.checker.holds(shared, &counts.fixed(program, condition, &numbers))? {
                        let choices = counts.choices(&numbers, &kinds).map_err(unsuitable)?;
                        found.extend(choices.iter().map(|choice| choice.iter().map(|&kind| beside[kind]).collect()));
                    }
                }
            }
        }
        Ok(())
    }
}

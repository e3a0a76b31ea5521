//! How many fences other aims take: robustness, and just the properties.

use std::collections::BTreeSet;

use weir_ir::Program;
use weir_witness::Model;

use super::{Aim, Fences, Options, Place, fences, safe_goals};
use crate::bounds::Bound;
use crate::check::{self, Violation, check, follows_from_robustness};
use crate::session::Session;
use crate::verdict::{Failure, Verdict};

/// The fences that an aim takes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Need {
    /// The aim.
    pub aim: Aim,
    /// What was found.
    pub fences: Fences,
    /// The cost of a cheapest set.
    pub cost: u64,
}

/// How many fences robustness takes, and how many the properties, if there are some: what was not asked anyway. These
/// are asides, so each takes only so many states ([`Bound::FencesAsideStates`]).
///
/// # Errors
/// If an invariant of Weir is broken. An aim that the engines do not support is left out.
pub fn needs(program: &Program, places: &[Place], asked: &Options, session: &Session) -> Result<Vec<Need>, Failure> {
    let mut needs = Vec::new();
    for aim in [Aim::Robust, Aim::Safe].into_iter().filter(|&aim| aim != asked.aim) {
        if aim == Aim::Safe && safe_goals(program).is_err() {
            continue;
        }
        let options = Options { aim, robust: asked.robust.clone(), all: false };
        let session = session.part(Some(session.bound(Bound::FencesAsideStates)));
        match fences(program, places, &options, &session) {
            Ok(report) => needs.push(Need { aim, fences: report.fences, cost: report.cost }),
            Err(Failure::Refused(_) | Failure::TooLarge(_) | Failure::Stopped(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(needs)
}

/// The same for a program that is robust as it is: what its properties take shows without store buffers. None if they
/// are not only about what is reached.
///
/// # Errors
/// As [`needs`].
pub fn needs_of_robust(program: &Program, session: &Session) -> Result<Option<Vec<Need>>, Failure> {
    let Ok(goals) = safe_goals(program) else { return Ok(Some(Vec::new())) };
    if !goals.iter().all(|&goal| follows_from_robustness(program, goal)) {
        return Ok(None);
    }
    let options = check::Options { model: Model::Sc, goals, first_failure_only: true };
    let session = session.part(Some(session.bound(Bound::FencesAsideStates)));
    let fences = match check(program, &options, &session) {
        Ok(report) => match report.verdict {
            Verdict::Holds => Fences::Cheapest(vec![BTreeSet::new()]),
            Verdict::Violated(Violation::Run(found)) => Fences::NotByFences(found.goal()),
            Verdict::Violated(Violation::NotMet(_)) => return Err(Failure::Bug("`exists` is no aim of fences".into())),
            Verdict::Unknown(limit) => Fences::Stopped(limit),
        },
        Err(Failure::Refused(_) | Failure::TooLarge(_) | Failure::Stopped(_)) => return Ok(Some(Vec::new())),
        Err(failure) => return Err(failure),
    };
    Ok(Some(vec![Need { aim: Aim::Safe, fences, cost: 0 }]))
}

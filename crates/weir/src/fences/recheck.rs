//! A second look at a set of fences, on the programs themselves.

use weir_ir::Program;

use super::{Aim, Options, safe_goals};
use crate::check::{self, check};
use crate::parameterized::{self, is_parameterized};
use crate::robust::{Method, by_attacks, robust, same_states, triangular_races};
use crate::session::Session;
use crate::verdict::{Failure, Limit, Verdict};

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
pub(super) fn achieves(program: &Program, options: &Options, session: &Session) -> Result<Verdict<()>, Failure> {
    Ok(match options.aim {
        Aim::Robust if is_parameterized(program) => {
            without_run(parameterized::robust(program, &options.robust, session)?.report.verdict)
        }
        // What the program executes is not asked.
        Aim::Robust if options.robust.method == Method::Attacks => {
            without_run(by_attacks(program, &options.robust, session)?.verdict)
        }
        Aim::Robust => without_run(robust(program, &options.robust, session)?.verdict),
        Aim::States => without_run(same_states(program, &options.robust, session)?.verdict),
        Aim::Safe => without_run(check(program, &safe_options(program)?, session)?.verdict),
        Aim::RaceFree => without_run(triangular_races(program, options.robust.jobs, session)?.verdict),
    })
}

pub(super) fn safe_options(program: &Program) -> Result<check::Options, Failure> {
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

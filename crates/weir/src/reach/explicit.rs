//! The explicit engine: an [explicit-state search](crate::explicit) under the given memory model.

use weir_ir::Program;

use super::{Options, Report, goals};
use crate::explicit::{Exploration, Explored, explore};
use crate::session::Session;
use crate::verdict::Failure;

/// Looks for a run of `program` that reaches a goal. Without any goal, just visits all states.
pub(super) fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    reach_with(program, &[], options, session)
}

/// The same for a program that a translation made: for each thread and location, whether stores may be delayed there.
pub(super) fn reach_with(
    program: &Program,
    keeps_back: &[Vec<bool>],
    options: &Options,
    session: &Session,
) -> Result<Report, Failure> {
    let goals = goals(program, options);
    let Options { model, search, jobs, keep_dead_registers, symmetry, reduction, .. } = *options;
    let exploration =
        Exploration { model, goals: &goals, search, jobs, keep_dead_registers, keeps_back, symmetry, reduction };
    let Explored { verdict, statistics, coverage, symmetry } = explore(program, exploration, session)?;
    Ok(Report { symmetry, ..Report::new(verdict, statistics, coverage) })
}

//! Robustness by searches under SC in instrumented programs, as the paper does it.

use weir_ir::{Program, PropertyId};
use weir_witness::{Checked, Goal, Model, Run};

use super::run::checked;
use super::{Options, Report};
use crate::explicit::{Exploration, Explored, explore};
use crate::search::Search;
use crate::semantics::refuse;
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::instrument::{Instrumented, instrument, instrument_all};
use crate::verdict::{Failure, Statistics, Verdict};

/// One search for each attack.
pub(super) fn one_by_one(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    refuse::unsupported_by(program, refuse::Who::Other("the analysis of robustness"))?;
    let began = session.elapsed();
    let attacks = match super::attacks(program, session) {
        Ok(attacks) => attacks,
        Err(limit) => return Ok(Report::unknown(limit, session.since(began))),
    };
    let mut sum = Report::of(Verdict::Holds, attacks, Statistics::default());
    for index in 0..sum.attacks.open.len() {
        let instrumented = instrument(program, sum.attacks.open[index])?;
        let report = search(&instrumented, options, session)?;
        sum.statistics.add(&report.statistics);
        match report.verdict {
            Verdict::Holds => {}
            Verdict::Violated(found) => {
                sum.verdict = violated(program, &instrumented, found.run(), session)?;
                break;
            }
            Verdict::Unknown(limit) => {
                sum.verdict = Verdict::Unknown(limit);
                break;
            }
        }
    }
    Ok(sum)
}

/// One search for all attacks.
pub(super) fn all_at_once(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    refuse::unsupported_by(program, refuse::Who::Other("the analysis of robustness"))?;
    let began = session.elapsed();
    let attacks = match super::attacks(program, session) {
        Ok(attacks) => attacks,
        Err(limit) => return Ok(Report::unknown(limit, session.since(began))),
    };
    if attacks.open.is_empty() {
        return Ok(Report::of(Verdict::Holds, attacks, Statistics::default()));
    }
    let instrumented = instrument_all(program, &attacks.open)?;
    let report = search(&instrumented, options, session)?;
    let verdict = match report.verdict {
        Verdict::Holds => Verdict::Holds,
        Verdict::Violated(found) => violated(program, &instrumented, found.run(), session)?,
        Verdict::Unknown(limit) => Verdict::Unknown(limit),
    };
    Ok(Report::of(verdict, attacks, report.statistics))
}

fn search(instrumented: &Instrumented, options: &Options, session: &Session) -> Result<Explored, Failure> {
    let exploration = Exploration {
        model: Model::Sc,
        goals: &[Goal::Property(PropertyId(0))],
        search: Search::BreadthFirst,
        jobs: options.jobs,
        keep_dead_registers: false,
        keeps_back: &[],
        symmetry: false,
        reduction: crate::verdict::Reduction::None,
    };
    explore(&instrumented.program, exploration, session)
}

/// The run under TSO that a run of the instrumented program stands for, replayed.
fn violated(
    program: &Program,
    instrumented: &Instrumented,
    found: &Run,
    session: &Session,
) -> Result<Verdict<Box<Checked>>, Failure> {
    Ok(Verdict::Violated(Box::new(checked(program, instrumented.map_back(program, found), session)?)))
}

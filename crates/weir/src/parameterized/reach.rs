//! Can a goal be reached under TSO in some instance?

use super::safety::images;
use super::{Decided, instances, most, smallest};
use crate::bounds::Bound;
use crate::reach::dual::{EveryNumber, reach_any_number};
use crate::reach::{self, Engine, all_goals};
use crate::semantics::refuse;
use crate::session::Session;
use crate::translate::Translation;
use crate::verdict::{Failure, Limit, Verdict};

use weir_ir::Program;
use weir_witness::Model;

/// Decides with the exact engine whether some instance of `program` can reach a goal.
///
/// # Errors
/// For any other engine, if the engine does not support the program, or if an invariant of Weir is broken.
pub fn reach(
    program: &Program,
    options: &reach::Options,
    session: &Session,
) -> Result<Decided<reach::Report>, Failure> {
    refuse::dynamic_templates(program)?;
    refuse::unsupported_templates(program)?;
    if options.engine != Engine::Dual || options.model != Model::Tso {
        refuse::unsupported_by(program, refuse::Who::Engine(options.engine.name()))?;
    }
    let goals = if options.goals.is_empty() { all_goals(program) } else { options.goals.clone() };
    let doing = session.doing("dual: searching backward");
    let (found, statistics) = match reach_any_number(program, &goals, most(&doing), &doing) {
        Ok(found) => found,
        Err(Failure::Stopped(limit)) => return Ok(undecided(program, limit)),
        Err(failure) => return Err(failure),
    };
    let EveryNumber::Reachable(copies) = found else {
        let report = reach::Report { verdict: Verdict::Holds, statistics, ..reach::Report::unknown(Limit::States) };
        return Ok(Decided { instance: smallest(program), for_every_number: true, report });
    };
    for instance in instances(program, copies as u32) {
        let goals: Vec<_> = goals.iter().flat_map(|&goal| images(&instance, goal)).collect();
        if goals.is_empty() {
            continue;
        }
        let options = reach::Options { goals, ..options.clone() };
        let report = match reach::reach(instance.program(), &options, session) {
            // Numbers of copies are sums, of which an instance may have too many.
            Err(Failure::Refused(_) | Failure::TooLarge(_)) => {
                let options = reach::Options { engine: Engine::Explicit, ..options };
                reach::reach(instance.program(), &options, &session.part(Some(session.bound(Bound::InstanceStates))))?
            }
            report => report?,
        };
        if !matches!(report.verdict, Verdict::Holds) {
            return Ok(Decided { instance, for_every_number: false, report });
        }
    }
    Ok(undecided(program, Limit::Instances))
}

fn undecided(program: &Program, limit: Limit) -> Decided<reach::Report> {
    super::undecided(program, reach::Report::unknown(limit))
}

//! Whether an answer about compiled code, or about a litmus test, goes beyond what is modelled of it.
//!
//! Runs of the program end at an assertion where the model ends. An answer that relies on what no run does says nothing
//! about the code unless no run gets there.

use weir::check::{Judgement, Options, Report, check};
use weir::{Session, Verdict};
use weir_ir::PropertyKind;
use weir_witness::{Action, Checked, Goal, Model};
use weir_x86::limited;

use crate::error::Error;
use crate::load::{Loaded, ModelLimit};

/// Ends with an error unless every run stays within what is modelled.
pub(super) fn no_run_passes(loaded: &Loaded, model: Model, session: &Session) -> Result<(), Error> {
    if loaded.model_limits.is_empty() {
        return Ok(());
    }
    let places: Vec<_> = loaded.model_limits.iter().map(|limit| (limit.thread, limit.edge)).collect();
    let program = limited(&loaded.program, &places);
    let options = Options { model, first_failure_only: true, ..Options::default() };
    let report = check(&program, &options, session).map_err(|failure| Error::of(&program, failure))?;
    match &report.verdict {
        Verdict::Holds => Ok(()),
        Verdict::Unknown(limit) => Err(Error::Stopped(*limit)),
        Verdict::Violated(violation) => {
            let passed = violation.run().and_then(|checked| passed(loaded, checked));
            let passed = passed.ok_or_else(|| Error::Bug("a run passes no limit of the model".to_owned()))?;
            Err(Error::Source(program.source.clone(), vec![passed.diagnostic.clone()]))
        }
    }
}

/// The same for an answer of `weir check`, if it relies on it.
pub(super) fn no_run_of_check_passes(
    loaded: &Loaded,
    report: &Report,
    model: Model,
    session: &Session,
) -> Result<(), Error> {
    let holds =
        |goal: Goal| report.properties.iter().any(|one| one.goal == goal && matches!(one.judgement, Judgement::Holds));
    if loaded.model_limits.iter().all(|limit| holds(Goal::Assertion(limit.thread))) {
        return Ok(());
    }
    let relies = report.properties.iter().any(|one| match &one.judgement {
        Judgement::Holds | Judgement::NotMet => true,
        Judgement::Violated(checked) => relies(loaded, checked),
        Judgement::Met(_) | Judgement::Unknown(_) => false,
    });
    if relies { no_run_passes(loaded, model, session) } else { Ok(()) }
}

/// Whether this violation is none if a run gets where the model ends.
pub(super) fn relies(loaded: &Loaded, checked: &Checked) -> bool {
    let is_deadlock = |id| {
        let properties = &loaded.program.properties;
        properties.get(weir_ir::PropertyId::index(id)).is_some_and(|one| one.kind == PropertyKind::ForbidDeadlock)
    };
    match checked.goal() {
        Goal::Property(id) => checked.goal().is_liveness(&loaded.program) || is_deadlock(id),
        Goal::Assertion(_) => passed(loaded, checked).is_some(),
        Goal::NotRobust => false,
    }
}

/// Where the model ends, if that is the assertion that fails in this run.
fn passed<'l>(loaded: &'l Loaded, checked: &Checked) -> Option<&'l ModelLimit> {
    let Goal::Assertion(failing) = checked.goal() else { return None };
    let last = checked.run().steps.iter().rev().find_map(|step| match step.action {
        Action::Execute { edge, .. } if step.thread == failing => Some(edge),
        _ => None,
    });
    loaded.model_limits.iter().find(|limit| limit.thread == failing && Some(limit.edge) == last)
}

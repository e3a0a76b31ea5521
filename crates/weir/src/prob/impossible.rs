//! Targets that no run reaches, proved on the part of the program that they depend on.
//!
//! The chain and its [abstraction](super::abstraction) consist of whole configurations: a counter that nobody reads
//! makes them infinite. Here everything that the target does not depend on is [cut away](crate::translate::slice), and
//! the rest is searched with buffers as sets, up to [`Bound::ProbImpossibleStates`] states.
//!
//! Direction of error: only what is impossible is called so.

use weir_ir::{Program, PropertyId};
use weir_witness::Goal;

use crate::bounds::Bound;
use crate::reach::{self, Engine};
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::slice::Slicer;
use crate::verdict::{Failure, Verdict};

use super::target::{Alternative, Target};

/// Whether it is proved that no run reaches the target.
///
/// # Errors
/// If an invariant of Weir is broken.
pub(super) fn is_impossible(program: &Program, target: &Target, session: &Session) -> Result<bool, Failure> {
    // Where others are locked out, a condition can be met with stores under way that never arrive, and a search that
    // judges drained states does not see it. Deadlocks are judged as they are.
    let is_seen =
        |wanted: &Alternative| !matches!(wanted, Alternative::Condition(_)) || wanted.is_judged_when_drained();
    if program.uses_lock() && !target.alternatives().iter().all(is_seen) {
        return Ok(false);
    }
    let judged = Program { properties: target.properties(), ..program.clone() };
    let slicer = Slicer::new(&judged, session);
    for (number, alternative) in target.alternatives().iter().enumerate() {
        let goals = vec![Goal::Property(PropertyId::new(number))];
        let sliced = slicer.slice(&goals);
        let engine = if *alternative == Alternative::Stuck { Engine::Explicit } else { Engine::Set };
        let options = reach::Options { engine, goals, ..reach::Options::default() };
        let part = session.part(Some(session.bound(Bound::ProbImpossibleStates)));
        match reach::reach(sliced.program(), &options, &part) {
            Ok(report) if report.verdict == Verdict::Holds => {}
            Ok(_) | Err(Failure::Refused(_) | Failure::TooLarge(_) | Failure::Stopped(_)) => return Ok(false),
            Err(bug @ Failure::Bug(_)) => return Err(bug),
        }
    }
    Ok(true)
}

//! What may keep a chain from being finite, other than buffers.

use weir_ir::{Program, PropertyId};
use weir_witness::Goal;

use crate::session::Session;
use crate::translate::slice::{Growth, Slicer};

use super::target::Target;

/// What may grow without bound among what the target, control flow and addresses depend on. Nothing if the session ends
/// first.
pub fn growth(program: &Program, target: impl Into<Target>, session: &Session) -> Vec<Growth> {
    let target = target.into();
    let judged = Program { properties: target.properties(), ..program.clone() };
    let goals: Vec<Goal> = (0..judged.properties.len()).map(|at| Goal::Property(PropertyId::new(at))).collect();
    let slicer = Slicer::new(&judged, session);
    slicer.growth(&slicer.without_values_but_of(&goals))
}

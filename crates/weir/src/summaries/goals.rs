//! Which goals a state shows.

use weir_ir::{PropertyKind, StateAtom, StateExpr, ThreadId};
use weir_witness::Goal;

use crate::parameterized::state::{Control, Local};
use crate::parameterized::step::Code;

/// Whether a state shows a goal, which may be a deadlock if no thread can step there.
pub(super) fn shows(code: &Code<'_>, control: &Control, goal: Goal, is_final_step: bool) -> bool {
    let property = match goal {
        Goal::Assertion(thread) => {
            let failed = code.program.body(thread).failed;
            return local(code, control, thread).is_some_and(|local| Some(local.location) == failed);
        }
        Goal::Property(property) => property,
        Goal::NotRobust => return false,
    };
    match code.program.properties.get(property.index()).map(|property| &property.kind) {
        Some(PropertyKind::Forbid(condition)) => holds(code, control, condition),
        Some(PropertyKind::Exists(condition)) => all_done(code, control) && holds(code, control, condition),
        Some(PropertyKind::Always(condition)) => all_done(code, control) && !holds(code, control, condition),
        Some(PropertyKind::ForbidDeadlock) => is_final_step && !all_done(code, control),
        Some(PropertyKind::ForbidStuck | PropertyKind::Live(_)) | None => false,
    }
}

fn local<'c>(code: &Code<'_>, control: &'c Control, thread: ThreadId) -> Option<&'c Local> {
    let at = code.single.iter().position(|&single| single == thread)?;
    control.single[at].as_ref()
}

fn all_done(code: &Code<'_>, control: &Control) -> bool {
    let is_done = |local: &Local| code.program.body(local.thread).is_done(local.location);
    control.single.iter().flatten().all(is_done)
}

fn holds(code: &Code<'_>, control: &Control, condition: &StateExpr) -> bool {
    let value = condition.eval(&mut |atom| match atom {
        StateAtom::Cell(address) => code.cell(control, *address),
        StateAtom::Register { thread, register } => {
            local(code, control, *thread).map_or(0, |local| local.registers[register.index()])
        }
        StateAtom::At { thread, locations } => {
            local(code, control, *thread).is_some_and(|local| locations.contains(&local.location)).into()
        }
    });
    value != 0
}

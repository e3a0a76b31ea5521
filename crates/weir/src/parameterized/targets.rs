//! What violates a property, as upward-closed sets of states.

use weir_ir::{LocId, Program, StateAtom, StateExpr, ThreadId, Value};

use super::cover::Configuration;
use super::state::Control;
use super::step::Code;
use super::system::{ControlId, LocalId, System};
use crate::reach::counts::{Counts, MOST_CHOICES, Obstacle};

/// A condition on states, split into what it says about numbers of copies and about everything else.
pub(super) struct Condition<'p> {
    expr: &'p StateExpr,
    counts: Counts,
}

impl<'p> Condition<'p> {
    pub(super) fn new(program: &Program, expr: &'p StateExpr) -> Result<Self, Obstacle> {
        Ok(Self { expr, counts: Counts::of(program, expr)? })
    }

    /// The locations that the condition looks at.
    pub(super) fn observes(&self, thread: ThreadId, location: LocId) -> bool {
        let mut observes = false;
        self.expr.for_each_leaf(&mut |atom| {
            if let StateAtom::At { thread: own, locations } = atom {
                observes |= *own == thread && locations.contains(&location);
            }
        });
        observes
    }

    fn holds(&self, code: &Code<'_>, control: &Control, numbers: &[Value]) -> bool {
        let single = |thread: ThreadId| {
            let place = code.single.iter().position(|&single| single == thread)?;
            control.single[place].as_ref()
        };
        let value = self.expr.eval(&mut |atom| match atom {
            StateAtom::Cell(address) => code.cell(control, *address),
            StateAtom::Register { thread, register } => {
                single(*thread).map_or(0, |local| local.registers[register.index()])
            }
            StateAtom::At { thread, locations } => match self.counts.number(code.program, atom, numbers) {
                Some(number) => number,
                None => single(*thread).is_some_and(|local| locations.contains(&local.location)).into(),
            },
        });
        value != 0
    }

    /// All minimal states that satisfy the condition.
    pub(super) fn targets(&self, code: &Code<'_>, system: &System) -> Result<Vec<Configuration>, Obstacle> {
        let is_at = |local: LocalId, thread: ThreadId, locations: &[LocId]| {
            let local = system.locals.get(local);
            local.thread == thread && locations.contains(&local.location)
        };
        let mut targets = Vec::new();
        for control in 0..system.controls.len() as ControlId {
            let present: Vec<LocalId> = system.present(control).collect();
            let holds = |numbers: &[Value]| self.holds(code, system.controls.get(control), numbers);
            for numbers in self.counts.minimal_numbers(holds) {
                let choices = self.counts.choices(&numbers, &present, is_at)?;
                targets.extend(choices.into_iter().map(|copies| Configuration { control, copies }));
                if targets.len() > MOST_CHOICES {
                    return Err(Obstacle::TooMany);
                }
            }
        }
        Ok(targets)
    }
}

/// States in which an assertion of this thread has failed.
pub(super) fn failed_assertions(code: &Code<'_>, system: &System, of: ThreadId) -> Vec<Configuration> {
    let failed = code.program.body(of).failed;
    let has_failed = |thread: ThreadId, location: LocId| thread == of && failed == Some(location);
    let mut targets = Vec::new();
    for control in 0..system.controls.len() as ControlId {
        let mut single = system.controls.get(control).single.iter().flatten();
        if single.any(|local| has_failed(local.thread, local.location)) {
            targets.push(Configuration { control, copies: Vec::new() });
            continue;
        }
        for local in system.present(control) {
            let own = system.locals.get(local);
            if has_failed(own.thread, own.location) {
                targets.push(Configuration { control, copies: vec![local] });
            }
        }
    }
    targets
}

/// States in which an attack has succeeded.
pub(super) fn attacks(system: &System) -> Vec<Configuration> {
    let controls =
        (0..system.controls.len() as ControlId).filter(|&control| system.controls.get(control).shows_attack());
    controls.map(|control| Configuration { control, copies: Vec::new() }).collect()
}

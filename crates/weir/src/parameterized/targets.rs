//! What violates a property, as upward-closed sets of states.

use std::collections::BTreeSet;

use weir_ir::{BinaryOp, Expr, LocId, Multiplicity, Program, StateAtom, StateExpr, ThreadId, UnaryOp, Value};

use super::cover::Configuration;
use super::state::Control;
use super::step::Code;
use super::system::{ControlId, LocalId, System};

/// A number of copies: those of a thread at one of some locations.
type Count = (ThreadId, Vec<LocId>);

/// Numbers are distinguished up to this one.
const MOST_COUNTED: Value = 8;

/// More targets than this are too many.
const MOST_TARGETS: usize = 100_000;

/// A condition on states, split into what it says about numbers of copies and about everything else.
pub(super) struct Condition<'p> {
    expr: &'p StateExpr,
    counts: Vec<Count>,
    /// Numbers from this one on satisfy the same comparisons.
    enough: Value,
}

/// Why a condition cannot be decided for all instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Obstacle {
    /// It computes with numbers of copies, or compares them with large or unknown ones.
    Arithmetic,
    /// There are too many ways to satisfy it.
    TooMany,
}

impl<'p> Condition<'p> {
    pub(super) fn new(program: &Program, expr: &'p StateExpr) -> Result<Self, Obstacle> {
        let mut condition = Self { expr, counts: Vec::new(), enough: 1 };
        condition.read(program, expr, true)?;
        condition.counts.sort();
        condition.counts.dedup();
        Ok(condition)
    }

    /// Collects the numbers of copies. Each must be compared with a constant, or taken for a truth value.
    fn read(&mut self, program: &Program, expr: &StateExpr, is_truth_value: bool) -> Result<(), Obstacle> {
        match expr {
            Expr::Leaf(atom) => match count(program, atom) {
                Some(count) if is_truth_value => self.counts.push(count),
                Some(_) => return Err(Obstacle::Arithmetic),
                None => {}
            },
            Expr::Const(_) => {}
            Expr::Unary(op, operand) => self.read(program, operand, *op == UnaryOp::Not)?,
            Expr::Binary(op, left, right) => {
                use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
                let is_comparison = matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual);
                match (&**left, &**right) {
                    (Expr::Leaf(atom), Expr::Const(bound)) | (Expr::Const(bound), Expr::Leaf(atom))
                        if is_comparison && count(program, atom).is_some() =>
                    {
                        self.counts.extend(count(program, atom));
                        if *bound >= MOST_COUNTED {
                            return Err(Obstacle::Arithmetic);
                        }
                        self.enough = self.enough.max(bound.saturating_add(1));
                    }
                    _ => {
                        let is_logical = matches!(op, BinaryOp::And | BinaryOp::Or);
                        self.read(program, left, is_logical)?;
                        self.read(program, right, is_logical)?;
                    }
                }
            }
        }
        Ok(())
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

    /// The minimal numbers of copies that satisfy the condition beside a control state.
    ///
    /// If more copies can make it false again, these are the minimal numbers of the least upward-closed set around those
    /// that satisfy it.
    fn minimal_numbers(&self, code: &Code<'_>, control: &Control) -> Vec<Vec<Value>> {
        let mut minimal: Vec<Vec<Value>> = Vec::new();
        let mut numbers = vec![0; self.counts.len()];
        loop {
            let is_above = |least: &Vec<Value>| least.iter().zip(&numbers).all(|(least, number)| least <= number);
            if !minimal.iter().any(is_above) && self.holds(code, control, &numbers) {
                minimal.retain(|other| !numbers.iter().zip(other).all(|(least, number)| least <= number));
                minimal.push(numbers.clone());
            }
            let Some(at) = numbers.iter().position(|&number| number < self.enough) else { return minimal };
            numbers[at] += 1;
            numbers[..at].fill(0);
        }
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
            StateAtom::At { thread, locations } => match count(code.program, atom) {
                Some(count) => self.counts.iter().position(|other| *other == count).map_or(0, |at| numbers[at]),
                None => single(*thread).is_some_and(|local| locations.contains(&local.location)).into(),
            },
        });
        value != 0
    }

    /// All minimal states that satisfy the condition.
    pub(super) fn targets(&self, code: &Code<'_>, system: &System) -> Result<Vec<Configuration>, Obstacle> {
        if (self.enough + 1).checked_pow(self.counts.len() as u32).is_none_or(|ways| ways > 10_000) {
            return Err(Obstacle::TooMany);
        }
        let mut targets = Vec::new();
        for control in 0..system.controls.len() as ControlId {
            for numbers in self.minimal_numbers(code, system.controls.get(control)) {
                let choices = self.choices(system, control, &numbers)?;
                targets.extend(choices.into_iter().map(|copies| Configuration { control, copies }));
                if targets.len() > MOST_TARGETS {
                    return Err(Obstacle::TooMany);
                }
            }
        }
        Ok(targets)
    }

    /// The minimal ways to have these numbers of copies beside a control state.
    fn choices(
        &self,
        system: &System,
        control: ControlId,
        numbers: &[Value],
    ) -> Result<BTreeSet<Vec<LocalId>>, Obstacle> {
        let counts = |(thread, locations): &Count, local: LocalId| {
            let local = system.locals.get(local);
            local.thread == *thread && locations.contains(&local.location)
        };
        let (mut complete, mut partial) = (BTreeSet::new(), BTreeSet::from([Vec::new()]));
        while let Some(copies) = partial.pop_first() {
            let missing = self.counts.iter().zip(numbers).find(|(count, number)| {
                (copies.iter().filter(|&&local| counts(count, local)).count() as Value) < **number
            });
            let Some((missing, _)) = missing else {
                complete.insert(copies);
                continue;
            };
            for local in system.present(control).filter(|&local| counts(missing, local)) {
                let mut more: Vec<LocalId> = copies.clone();
                more.insert(more.partition_point(|&other| other < local), local);
                partial.insert(more);
            }
            if partial.len() + complete.len() > MOST_TARGETS {
                return Err(Obstacle::TooMany);
            }
        }
        Ok(complete)
    }
}

/// The number of copies that an atom stands for, if it does.
fn count(program: &Program, atom: &StateAtom) -> Option<Count> {
    match atom {
        StateAtom::At { thread, locations } if program.thread(*thread).multiplicity == Multiplicity::Arbitrary => {
            Some((*thread, locations.clone()))
        }
        _ => None,
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

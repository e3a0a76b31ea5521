//! What counts of a drained state when the states of two memory models are compared.
//!
//! All locations, memory and the holder of the global lock count. Registers are what the comparison must choose among:
//! one that nothing will look at any more makes no difference to anybody, and in the store buffering test the
//! registers at the end are all that matters. So a register counts if
//!
//! 1. its thread may read it before it sets it again (it is live), or
//! 2. a `forbid` depends on it in this state (not where the locations alone make the condition true or false), or
//! 3. all threads are done, and the register is in the program as it was written.
//!
//! Which registers count depends on locations alone, which are compared themselves. So two states look the same
//! exactly if they agree in locations, memory, lock and the registers that count there.
//!
//! A thread that waits at a fence that was put in counts as being behind it: the question must not change with the
//! fences.

use weir_ir::flow::{RegisterSet, live_registers};
use weir_ir::{BinaryOp, Expr, LocId, Program, PropertyKind, RegId, StateAtom, StateExpr, ThreadId, Value};

use crate::semantics::compile::Compiled;
use crate::semantics::goals::Goals;
use crate::semantics::state::{Field, Packed, Patch};

/// For each thread, the locations that a translation added to wait at, and where the thread counts as being then.
pub(crate) type Waits = Vec<Vec<(LocId, LocId)>>;

/// What counts of the states of a compiled program. Dead registers must have been kept.
pub(super) struct Observed<'a> {
    threads: Vec<ThreadView>,
    /// The conditions that must not hold in any drained state.
    forbidden: Vec<&'a StateExpr>,
    goals: &'a Goals,
}

struct ThreadView {
    thread: ThreadId,
    location: Field,
    registers: Vec<(RegId, Field)>,
    /// Where the thread counts as being, by location.
    counts_as: Vec<LocId>,
    /// Clears the registers that are dead there, by location.
    dead: Vec<Patch>,
    /// Clears the registers that are not in the text.
    temporaries: Patch,
}

impl<'a> Observed<'a> {
    pub(super) fn new(program: &'a Program, compiled: &'a Compiled, waits: &Waits) -> Self {
        let threads = compiled.threads.iter().enumerate();
        let forbidden = program.properties.iter().filter_map(|property| match &property.kind {
            PropertyKind::Forbid(condition) if mentions_registers(condition) => Some(condition),
            _ => None,
        });
        Self {
            threads: threads
                .map(|(position, &thread)| {
                    let waits = waits.get(thread.index()).map_or(&[][..], Vec::as_slice);
                    ThreadView::new(program, compiled, position, thread, waits)
                })
                .collect(),
            forbidden: forbidden.collect(),
            goals: &compiled.machine.goals,
        }
    }

    /// The state without what does not count: two states look the same if and only if these are equal.
    pub(super) fn of<const N: usize>(&self, state: &Packed<N>) -> Packed<N> {
        let mut seen = *state;
        for view in &self.threads {
            let at = view.counts_as[state.raw(view.location) as usize];
            seen.set_raw(view.location, at.index() as u64);
        }
        if self.goals.all_done(&seen) {
            return self.threads.iter().fold(seen, |seen, view| view.temporaries.apply(&seen));
        }
        for view in &self.threads {
            seen = view.dead[seen.raw(view.location) as usize].apply(&seen);
        }
        for condition in &self.forbidden {
            self.keep_read(condition, state, &mut seen);
        }
        seen
    }

    /// Puts the registers back on which the condition depends.
    fn keep_read<const N: usize>(&self, condition: &StateExpr, state: &Packed<N>, seen: &mut Packed<N>) {
        let at = |thread: ThreadId, locations: &[LocId]| {
            let view = self.threads.iter().find(|view| view.thread == thread);
            view.is_some_and(|view| locations.contains(&LocId::new(seen.raw(view.location) as usize)))
        };
        let mut read = Vec::new();
        by_locations(condition, &at, &mut read);
        for (thread, register) in read {
            let view = self.threads.iter().find(|view| view.thread == thread);
            let field = view.and_then(|view| view.registers.iter().find(|(other, _)| *other == register));
            if let Some(&(_, field)) = field {
                seen.set_raw(field, state.raw(field));
            }
        }
    }
}

impl ThreadView {
    fn new(
        program: &Program,
        compiled: &Compiled,
        position: usize,
        thread: ThreadId,
        waits: &[(LocId, LocId)],
    ) -> Self {
        let body = program.body(thread);
        let registers: Vec<(RegId, Field)> = compiled.live_fields(position, body.entry).collect();
        let live = live_registers(body, &RegisterSet::new());
        let without = |kept: &dyn Fn(RegId) -> bool| {
            let mut patch = Patch::default();
            registers.iter().filter(|(register, _)| !kept(*register)).for_each(|&(_, field)| patch.clear(field));
            patch
        };
        let mut counts_as: Vec<LocId> = body.location_ids().collect();
        waits.iter().for_each(|&(wait, to)| counts_as[wait.index()] = to);
        Self {
            thread,
            location: compiled.machine.layout.threads[position].0,
            counts_as,
            dead: body.location_ids().map(|loc| without(&|register| live.at(loc).contains(register))).collect(),
            temporaries: without(&|register| !body.registers[register.index()].is_temporary),
            registers,
        }
    }
}

fn mentions_registers(condition: &StateExpr) -> bool {
    let mut found = false;
    condition.for_each_leaf(&mut |atom| found |= matches!(atom, StateAtom::Register { .. }));
    found
}

/// The value of a condition if locations alone decide it. Else the registers that it reads are added to `read`.
fn by_locations(
    condition: &StateExpr,
    at: &impl Fn(ThreadId, &[LocId]) -> bool,
    read: &mut Vec<(ThreadId, RegId)>,
) -> Option<Value> {
    match condition {
        Expr::Const(value) => Some(*value),
        Expr::Leaf(StateAtom::At { thread, locations }) => Some(Value::from(at(*thread, locations))),
        Expr::Leaf(StateAtom::Register { thread, register }) => {
            read.push((*thread, *register));
            None
        }
        Expr::Leaf(StateAtom::Cell(_)) => None,
        Expr::Unary(op, operand) => by_locations(operand, at, read).map(|value| op.apply(value)),
        Expr::Binary(op, left, right) => {
            let before = read.len();
            let (left, right) = (by_locations(left, at, read), by_locations(right, at, read));
            let value = match (op, left, right) {
                (_, Some(left), Some(right)) => Some(op.apply(left, right)),
                (BinaryOp::And, Some(0), None) | (BinaryOp::And, None, Some(0)) => Some(0),
                (BinaryOp::Or, Some(known), None) | (BinaryOp::Or, None, Some(known)) if known != 0 => Some(1),
                _ => None,
            };
            if value.is_some() {
                read.truncate(before);
            }
            value
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Registers are read only where what is known of places does not decide.
    #[test]
    fn one_operand_may_decide() {
        let thread = ThreadId(0);
        let register = || Expr::Leaf(StateAtom::Register { thread, register: RegId(0) });
        let decided = |op, known: Value, is_first: bool| {
            let known = Expr::Const(known);
            let (left, right) = if is_first { (known, register()) } else { (register(), known) };
            let mut read = vec![(ThreadId(7), RegId(7))];
            let value = by_locations(&Expr::binary(op, left, right), &|_, _| false, &mut read);
            assert_eq!(read.len(), if value.is_some() { 1 } else { 2 });
            value
        };
        for is_first in [true, false] {
            assert_eq!([-2, 0, 3].map(|known| decided(BinaryOp::Or, known, is_first)), [Some(1), None, Some(1)]);
            assert_eq!([-2, 0, 3].map(|known| decided(BinaryOp::And, known, is_first)), [None, Some(0), None]);
        }
        let there = Expr::Leaf(StateAtom::At { thread, locations: vec![LocId(3)] });
        assert_eq!(by_locations(&there, &|_, locations| locations == [LocId(3)], &mut Vec::new()), Some(1));
    }
}

//! What a test sees of a final state, and whether its condition holds there.

use std::collections::{BTreeMap, BTreeSet};

use weir_testkit::Model;
use weir_testkit::product::{State, visit_states};

use super::cpu::{low, signed};
use super::machine::{Cpu, Local};
use super::text;
use super::tree::{Condition, Instruction, Operand, Place, Quantifier, Register, Size, Test};

/// What is observed, by name, and whether the condition holds.
pub(super) type Seen = (BTreeMap<String, String>, bool);

/// The final states that count, and whether the test is met.
pub(super) struct Answer {
    pub(super) states: BTreeSet<Seen>,
    pub(super) is_met: bool,
}

/// Runs a test; nothing if there are too many states.
pub(super) fn answer(test: &Test, model: Model, limit: usize) -> Option<Answer> {
    let cpu = Cpu::new(test);
    let mut states = BTreeSet::new();
    let is_whole = visit_states(&cpu, model, limit, &mut |state, _, _| {
        let is_done = |(thread, local): (usize, &Local)| cpu.is_done(thread, local);
        let is_final = state.is_drained() && state.locals.iter().enumerate().all(is_done);
        let counts = |filter: &Condition| holds(&cpu, state, filter);
        if is_final && test.filter.as_ref().is_none_or(counts) {
            states.insert((observed(&cpu, state), holds(&cpu, state, &test.condition)));
        }
    });
    let positive = states.iter().filter(|(_, holds)| *holds).count();
    let is_met = match test.quantifier {
        Quantifier::Exists => positive > 0,
        Quantifier::NotExists => positive == 0,
        Quantifier::Forall => positive == states.len(),
    };
    is_whole.then_some(Answer { states, is_met })
}

/// How the bits of a place are shown.
#[derive(Clone, Copy)]
struct Shown {
    bits: u64,
    size: Size,
    is_signed: bool,
}

impl Shown {
    fn value(self) -> i128 {
        if self.is_signed { signed(self.bits, self.size) } else { i128::from(low(self.bits, self.size)) }
    }
}

fn shown(cpu: &Cpu<'_>, state: &State<Local>, place: &Place) -> Shown {
    let thread = |number: usize| cpu.test.threads.iter().position(|thread| thread.number == number).expect("a thread");
    match place {
        Place::Cell(name, index) => {
            let cell = cpu.declaration(name);
            let (address, size) = cpu.cells[&(name.clone(), *index)];
            Shown { bits: state.cell(cpu, address) as u64, size, is_signed: cell.is_signed }
        }
        Place::Flag(number, flag) => {
            let bits = u64::from(state.locals[thread(*number)].flags.nth(*flag));
            Shown { bits, size: 8, is_signed: true }
        }
        Place::Register(number, register) => {
            let at = thread(*number);
            let (size, is_signed) = kind(cpu.test, at, *register);
            let local = &state.locals[at];
            let bits = if register.size <= 2 { local.read(*register) } else { local.registers[register.number] };
            Shown { bits, size, is_signed }
        }
    }
}

/// Registers are ints, as litmus7 prints them, unless a part is named, a type says otherwise or more was written.
fn kind(test: &Test, at: usize, register: Register) -> (Size, bool) {
    let thread = &test.threads[at];
    let declared = thread.registers.iter().filter(|one| one.register.number == register.number);
    let declared = declared.filter_map(|one| one.declared).next_back();
    let is_wide = thread.code.iter().any(|instruction| instruction.size == 8 && writes(instruction, register.number));
    match (register.size, declared) {
        (1 | 2, _) => (register.size, true),
        (_, Some((_, size, is_signed))) => (size, is_signed),
        (4, None) => (4, true),
        _ if is_wide => (8, true),
        _ => (4, true),
    }
}

/// Whether an instruction can write the register.
fn writes(instruction: &Instruction, number: usize) -> bool {
    let count = match instruction.name.as_str() {
        "xchg" | "uxch" | "xadd" => 2,
        "cmp" | "test" | "read" | "nop" => 0,
        "cmpxchg" => return number == 0,
        _ => 1,
    };
    let is_it = |operand: &Operand| matches!(operand, Operand::Register(register) if register.number == number);
    instruction.operands.iter().take(count).any(is_it)
}

/// A value as results show it: by the name of the cell, if it is an address.
fn shown_text(cpu: &Cpu<'_>, shown: Shown) -> String {
    let value = shown.value();
    let name = cpu.cells.iter().find(|(_, (address, _))| i128::from(*address) == value).map(|(name, _)| name);
    match name {
        Some((name, None)) => name.clone(),
        Some((name, Some(index))) => format!("{name}[{index}]"),
        None => value.to_string(),
    }
}

/// What the condition and `locations` mention, all elements of an array one by one.
fn observed(cpu: &Cpu<'_>, state: &State<Local>) -> BTreeMap<String, String> {
    let mut places = cpu.test.locations.clone();
    collect(&cpu.test.condition, &mut places);
    let each = |place: Place| match &place {
        Place::Cell(name, None) => match cpu.declaration(name).length {
            Some(length) => (0..length).map(|at| Place::Cell(name.clone(), Some(at))).collect(),
            None => vec![place],
        },
        _ => vec![place],
    };
    let places = places.into_iter().flat_map(each);
    places.map(|it| (text::place(cpu.test, &it), shown_text(cpu, shown(cpu, state, &it)))).collect()
}

fn collect(condition: &Condition, places: &mut Vec<Place>) {
    match condition {
        Condition::Equal(left, _) | Condition::Differs(left, _) | Condition::IsAddress(left, _) => {
            places.push(left.clone());
        }
        Condition::SamePlace(left, right) => places.extend([left.clone(), right.clone()]),
        Condition::Elements(name, _) => places.push(Place::Cell(name.clone(), None)),
        Condition::Not(inner) => collect(inner, places),
        Condition::And(parts) | Condition::Or(parts) => parts.iter().for_each(|part| collect(part, places)),
        Condition::Implies(left, right) => [left, right].into_iter().for_each(|part| collect(part, places)),
        Condition::True | Condition::False => {}
    }
}

fn holds(cpu: &Cpu<'_>, state: &State<Local>, condition: &Condition) -> bool {
    let equals = |place: &Place, value: i64| {
        let found = shown(cpu, state, place);
        found.value() == Shown { bits: value as u64, ..found }.value()
    };
    let part = |condition: &Condition| holds(cpu, state, condition);
    match condition {
        Condition::Equal(place, value) => equals(place, *value),
        Condition::Differs(place, value) => !equals(place, *value),
        Condition::IsAddress(place, name) => equals(place, cpu.address(name)),
        Condition::SamePlace(left, right) => {
            shown(cpu, state, left).value() as i64 == shown(cpu, state, right).value() as i64
        }
        Condition::Elements(name, values) => {
            let element = |(at, value): (usize, &i64)| equals(&Place::Cell(name.clone(), Some(at)), *value);
            values.iter().enumerate().all(element)
        }
        Condition::Not(inner) => !part(inner),
        Condition::And(parts) => parts.iter().all(part),
        Condition::Or(parts) => parts.iter().any(part),
        Condition::Implies(left, right) => !part(left) || part(right),
        Condition::True => true,
        Condition::False => false,
    }
}

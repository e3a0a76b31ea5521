//! Registers that are read before they are set, or set and never read.

use super::Unit;
use crate::diagnostic::{Diagnostic, Severity};
use crate::flow::{Cfg, RegisterSet, Worklist, live_registers, targets};
use crate::ids::{EdgeId, RegId};
use crate::program::{Body, Instruction, Register};
use crate::span::Span;
use std::borrow::Cow;
use std::collections::HashMap;

/// How many registers of one body are reported as read before they are set; more would help nobody.
const MOST_REPORTS: usize = 256;

/// Registers that some path reads before it sets them: for each, the first such read. Paths that the values
/// there can be rule out do not count, nor do registers that a pass made up.
pub(super) fn read_before_set(units: &[Unit]) -> Vec<Diagnostic> {
    units.iter().flat_map(read_before_set_in).collect()
}

fn read_before_set_in(unit: &Unit) -> Vec<Diagnostic> {
    let body = possible_body(unit);
    let body = &*body;
    let liveness = live_registers(body, &RegisterSet::new());
    if !liveness.is_precise() {
        return Vec::new();
    }
    let is_own = |register: &Register| !register.is_temporary && !register.is_thread_local;
    let is_reported = |&id: &RegId| !unit.parameters.contains(id) && is_own(&body.registers[id.index()]);
    let suspects: Vec<RegId> = liveness.at(body.entry).iter().filter(is_reported).take(MOST_REPORTS).collect();
    let set = set_registers(unit);
    let mut found = Vec::new();
    for batch in suspects.chunks(64) {
        for (&id, span) in batch.iter().zip(first_reads(body, batch)) {
            found.extend(span.map(|span| unset_read(&body.registers[id.index()], span, set.contains(id))));
        }
    }
    found
}

/// The body without the edges that no run takes.
fn possible_body<'p>(unit: &Unit<'p>) -> Cow<'p, Body> {
    let body = unit.body;
    let possible = || (0..).map(EdgeId).zip(body.edges()).filter(|(edge, _)| unit.ranges.can_take(*edge));
    if possible().count() == body.edges().len() {
        return Cow::Borrowed(body);
    }
    let edges = possible().map(|(_, edge)| edge.clone()).collect();
    Cow::Owned(Body::new(body.registers.clone(), body.locations.clone(), body.entry, body.failed, edges))
}

/// For each of at most 64 registers, the first place in the source that may read it before it is set.
fn first_reads(body: &Body, registers: &[RegId]) -> Vec<Option<Span>> {
    let mut bit_of = vec![0u64; body.registers.len()];
    for (bit, register) in registers.iter().enumerate() {
        bit_of[register.index()] = 1 << bit;
    }
    let unset = unset_at(body, &bit_of);
    let mut first: Vec<Option<Span>> = vec![None; registers.len()];
    for edge in body.edges() {
        edge.instruction.uses(&mut |register| {
            let bit = bit_of[register.index()] & unset[edge.from.index()];
            if bit != 0 {
                let first = &mut first[bit.trailing_zeros() as usize];
                *first = Some(first.map_or(edge.span, |span| span.min(edge.span)));
            }
        });
    }
    first
}

/// For each location, the bits of the registers that some path to it has not set.
fn unset_at(body: &Body, bit_of: &[u64]) -> Vec<u64> {
    let mut unset = vec![0; body.locations.len()];
    unset[body.entry.index()] = u64::MAX;
    let mut worklist = Worklist::new(body.locations.len(), Cfg::of(body).reverse_postorder().iter().copied());
    worklist.push(body.entry);
    while let Some(loc) = worklist.pop() {
        for (_, edge) in body.edges_from(loc) {
            let set = edge.instruction.defines().fold(0, |set, register| set | bit_of[register.index()]);
            let after = unset[loc.index()] & !set;
            for to in targets(body, edge) {
                if after & !unset[to.index()] != 0 {
                    unset[to.index()] |= after;
                    worklist.push(to);
                }
            }
        }
    }
    unset
}

fn unset_read(register: &Register, span: Span, is_set: bool) -> Diagnostic {
    let name = &register.name;
    let message = match is_set {
        true => format!("`{name}` may be read before it is set"),
        false => format!("`{name}` is read but never set"),
    };
    Diagnostic::warning("read-before-set", message, span)
        .also(register.span, "declared here")
        .help(format!("registers start at 0; write `let {name} = 0;` if that is intended"))
}

/// The registers that some instruction sets, or that hold arguments.
fn set_registers(unit: &Unit) -> RegisterSet {
    let defined = unit.body.edges().iter().flat_map(|edge| edge.instruction.defines());
    defined.chain(unit.parameters.iter()).collect()
}

/// What becomes of a register in the copies of its body.
#[derive(Default)]
struct Life {
    is_read: bool,
    is_set: bool,
    /// Set by an instruction that matters for more than the value: a load is seen by others in the trace.
    is_set_by_access: bool,
    is_observed: bool,
}

/// Registers whose value nobody looks at, and registers that properties look at but nothing sets.
pub(super) fn unused(units: &[Unit]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut lives: HashMap<(Span, &str), Life> = HashMap::new();
    for unit in units {
        note_lives(unit, &mut lives);
    }
    // Through the registers rather than the map: the order must not depend on hashing.
    for register in units.iter().flat_map(|unit| &unit.body.registers) {
        let key = (register.span, register.name.as_str());
        if let Some(life) = lives.remove(&key).filter(|_| !register.is_temporary) {
            found.extend(life.verdict(register));
        }
    }
    found
}

fn note_lives<'p>(unit: &Unit<'p>, lives: &mut HashMap<(Span, &'p str), Life>) {
    let body = unit.body;
    let mut read = RegisterSet::new();
    let mut accessed = RegisterSet::new();
    for edge in body.edges() {
        edge.instruction.uses(&mut |register| {
            read.insert(register);
        });
        if let Instruction::Await { condition, .. } = &edge.instruction {
            // The condition also reads what the same step loads.
            condition.for_each_leaf(&mut |&register| {
                read.insert(register);
            });
        }
        if !matches!(edge.instruction, Instruction::Assign { .. }) {
            for register in edge.instruction.defines() {
                accessed.insert(register);
            }
        }
    }
    let set = set_registers(unit);
    for (at, register) in body.registers.iter().enumerate() {
        let id = RegId::new(at);
        let life = lives.entry((register.span, register.name.as_str())).or_default();
        life.is_read |= read.contains(id);
        life.is_set |= set.contains(id);
        life.is_set_by_access |= accessed.contains(id);
        life.is_observed |= unit.observed.contains(id);
    }
}

impl Life {
    fn verdict(&self, register: &Register) -> Option<Diagnostic> {
        let name = &register.name;
        if self.is_observed && !self.is_set {
            let message = format!("a property observes `{name}`, but it is never set: its value is always 0");
            return Some(Diagnostic::warning("never-set", message, register.span));
        }
        if self.is_read || self.is_observed || name.starts_with('_') {
            return None;
        }
        let (severity, message) = match (self.is_set, self.is_set_by_access) {
            (false, _) => (Severity::Warning, format!("`{name}` is never used")),
            (true, false) => (Severity::Warning, format!("`{name}` is set but never read")),
            (true, true) => (Severity::Note, format!("`{name}` is set but never read")),
        };
        let help = format!("rename it to `_{name}` if that is intended");
        Some(Diagnostic::new(severity, "unused-register", message, register.span).help(help))
    }
}

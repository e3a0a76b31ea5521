//! Properties as `bad` states.

use weir_ir::{Diagnostic, Multiplicity, PropertyKind, Range, StateAtom, StateExpr, ThreadId, Value};

use super::System;
use super::expressions::{Valued, write};
use super::nodes::{Node, Nodes};
use crate::export::lines::{comment, place};
use crate::export::memory::Form;
use crate::export::observed::done_locations;
use crate::export::refusal::left_out;

impl System<'_> {
    /// One `bad` per property, in order; then one for assertions, and one for accesses that the file does not cover.
    pub(super) fn properties(&mut self) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        let (mut all_done, mut deadlock) = (None, None);
        for (at, property) in self.program.properties.iter().enumerate() {
            let name = self.program.property_text(property);
            if property.kind.is_liveness() {
                let message = format!("`{name}` is not exported: a `bad` state cannot say what can still happen");
                warnings.push(left_out(message, "`weir check` decides it", property.span));
                continue;
            }
            let line = place(self.program, property.span);
            let meaning = if matches!(property.kind, PropertyKind::Exists(_)) { "met" } else { "violated" };
            self.nodes.comment(&format!("{line}{} (reached: {meaning})", comment(&name)));
            let condition = property.kind.condition().map(|condition| self.condition(condition));
            let node = match (&property.kind, condition) {
                (PropertyKind::Forbid(_), Some(condition)) => condition,
                (PropertyKind::Exists(_), Some(condition)) => {
                    let done = *all_done.get_or_insert_with(|| self.all_done());
                    self.nodes.test("and", &[done, condition])
                }
                (PropertyKind::Always(_), Some(condition)) => {
                    let done = *all_done.get_or_insert_with(|| self.all_done());
                    let fails = self.nodes.not(condition);
                    self.nodes.test("and", &[done, fails])
                }
                _ => {
                    let done = *all_done.get_or_insert_with(|| self.all_done());
                    *deadlock.get_or_insert_with(|| self.deadlock(done))
                }
            };
            self.nodes.line(&format!("bad {} property_{}", node.id, at + 1));
        }
        self.assertions();
        let outside = std::mem::take(&mut self.outside);
        if let Some(node) = self.nodes.or(&outside) {
            self.nodes.comment("An address is not that of a declared cell (reached: nothing is known from here on).");
            self.nodes.line(&format!("bad {} outside", node.id));
        }
        warnings
    }

    fn assertions(&mut self) {
        let mut failed = Vec::new();
        for thread in self.program.running_threads() {
            let location = self.program.body(thread).failed;
            if let (Some(location), Some(place)) = (location, &self.places[thread.index()]) {
                failed.push(self.nodes.equals(place.state, Value::from(location.0)));
            }
        }
        if let Some(node) = self.nodes.or(&failed) {
            self.nodes.comment("The assertions of the program (reached: violated).");
            self.nodes.line(&format!("bad {} assertions", node.id));
        }
    }

    /// Some thread is not done, and no step is possible.
    fn deadlock(&mut self, done: Node) -> Node {
        let enabled = self.enabled.clone();
        let none = self.nodes.truth_constant(false);
        let can_move = self.nodes.or(&enabled).unwrap_or(none);
        let either = self.nodes.test("or", &[can_move, done]);
        self.nodes.not(either)
    }

    fn all_done(&mut self) -> Node {
        let threads: Vec<ThreadId> = self.program.running_threads().collect();
        let each: Vec<Node> = threads
            .into_iter()
            .map(|thread| {
                let done = done_locations(self.program, thread);
                self.at(thread, done.iter().map(|loc| loc.0))
            })
            .collect();
        let none = self.nodes.truth_constant(true);
        self.nodes.and(&each).unwrap_or(none)
    }

    /// Whether a thread is at one of these locations.
    fn at(&mut self, thread: ThreadId, locations: impl Iterator<Item = u32>) -> Node {
        at(&mut self.nodes, self.places[thread.index()].as_ref().map(|place| place.state), locations)
    }

    fn condition(&mut self, condition: &StateExpr) -> Node {
        let (program, memory) = (self.program, self.memory);
        let (cells, registers, places) = (&self.cells, &self.registers, &self.places);
        let valued = write(&mut self.nodes, condition, &mut |nodes, atom| match atom {
            StateAtom::At { thread, locations } => {
                let place = places[thread.index()].as_ref().map(|place| place.state);
                Valued { node: at(nodes, place, locations.iter().map(|loc| loc.0)), range: Range { low: 0, high: 1 } }
            }
            StateAtom::Register { thread, register } => match program.thread(*thread).multiplicity {
                Multiplicity::One => {
                    Valued { node: registers[thread.index()][register.index()].state, range: Range::FULL }
                }
                Multiplicity::Spawned | Multiplicity::Arbitrary => {
                    Valued { node: nodes.number(0), range: Range::single(0) }
                }
            },
            StateAtom::Cell(address) => {
                let at = memory.observed(*address);
                let (segment, state) = (memory.segment(at), cells[at].state);
                if segment.form == Form::Scalar {
                    return Valued { node: state, range: segment.values };
                }
                let index = address.wrapping_sub(segment.first);
                let index = nodes.constant(index, super::bits_for(segment.len()));
                Valued { node: nodes.op("read", state.width, &[state, index]), range: segment.values }
            }
        });
        self.nodes.truth(valued.node)
    }
}

/// Whether a place is one of these locations; never, if there is no such thread.
fn at(nodes: &mut Nodes, place: Option<Node>, locations: impl Iterator<Item = u32>) -> Node {
    let tests: Vec<Node> =
        place.map_or(Vec::new(), |place| locations.map(|loc| nodes.equals(place, Value::from(loc))).collect());
    let never = nodes.truth_constant(false);
    nodes.or(&tests).unwrap_or(never)
}

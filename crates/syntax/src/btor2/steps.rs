//! What a step needs, and what it changes.

use weir_ir::{Edge, EdgeId, Instruction, LocId, Range, RegExpr, RegId, Rmw, ThreadId, Value};

use super::expressions::{Valued, binary, write};
use super::nodes::Node;
use super::{System, bits_for};
use crate::export::memory::{Access, Constraint, Form, limit};
use crate::export::refusal::Refusal;

/// A cell that an instruction accesses.
#[derive(Clone, Copy)]
struct Cell {
    segment: usize,
    /// The place in an array.
    index: Option<Node>,
    constraint: Constraint,
}

/// What a step does.
#[derive(Default)]
struct Effect {
    /// What must hold, beside that the thread is at its place.
    guards: Vec<Node>,
    /// What must hold of the chosen value.
    chosen: Vec<Node>,
    registers: Vec<(RegId, Node)>,
    cells: Vec<(Cell, Node)>,
    lock: Option<Value>,
    /// Where the step leads, if that depends on a condition: where it leads if the condition does not hold.
    branch: Option<(Node, LocId)>,
}

impl System<'_> {
    /// One step, with its number.
    pub(super) fn step(&mut self, thread: ThreadId, id: EdgeId, edge: &Edge, number: usize) -> Result<(), Refusal> {
        let Some(place) = self.places[thread.index()].as_ref().map(|place| place.state) else { return Ok(()) };
        let here = self.nodes.equals(place, Value::from(edge.from.0));
        let effect = self.effect(thread, id, edge, here)?;
        let guards: Vec<Node> = std::iter::once(here).chain(effect.guards).collect();
        let Some(enabled) = self.nodes.and(&guards) else { return Ok(()) };
        self.enabled.push(enabled);
        let is_chosen = self.nodes.constant(number as Value, self.choice.width);
        let is_chosen = self.nodes.test("eq", &[self.choice, is_chosen]);
        let all: Vec<Node> = [is_chosen, enabled].into_iter().chain(effect.chosen).collect();
        let Some(taken) = self.nodes.and(&all) else { return Ok(()) };
        for (register, value) in effect.registers {
            let width = self.registers[thread.index()][register.index()].state.width;
            let value = self.nodes.sized(value, width);
            self.registers[thread.index()][register.index()].changes.push((taken, value));
        }
        for (cell, value) in effect.cells {
            let (state, sort) = (self.cells[cell.segment].state, self.cells[cell.segment].sort);
            let value = self.nodes.sized(value, state.width);
            let value = match cell.index {
                Some(index) => {
                    let id = self.nodes.line(&format!("write {sort} {} {} {}", state.id, index.id, value.id));
                    Node { id, ..state }
                }
                None => value,
            };
            self.cells[cell.segment].changes.push((taken, value));
        }
        let to = self.nodes.constant(Value::from(edge.to.0), place.width);
        let to = match effect.branch {
            Some((condition, otherwise)) => {
                let otherwise = self.nodes.constant(Value::from(otherwise.0), place.width);
                self.nodes.choice(condition, to, otherwise)
            }
            None => to,
        };
        if let Some(place) = &mut self.places[thread.index()] {
            place.changes.push((taken, to));
        }
        if let (Some(holder), Some(width)) = (effect.lock, self.lock.as_ref().map(|lock| lock.state.width)) {
            let holder = self.nodes.constant(holder, width);
            if let Some(lock) = &mut self.lock {
                lock.changes.push((taken, holder));
            }
        }
        Ok(())
    }

    fn effect(&mut self, thread: ThreadId, id: EdgeId, edge: &Edge, here: Node) -> Result<Effect, Refusal> {
        let accesses = self.memory.accesses(thread, id).to_vec();
        let from = edge.from;
        let own = thread.index() as Value + 1;
        let mut effect = Effect::default();
        if let Some(lock) = self.lock.as_ref().map(|lock| lock.state).filter(|_| !accesses.is_empty()) {
            let (is_free, is_own) = (self.nodes.equals(lock, 0), self.nodes.equals(lock, own));
            effect.guards.extend(self.nodes.or(&[is_free, is_own]));
        }
        self.check_addresses(thread, edge, &accesses, here, &mut effect);
        match &edge.instruction {
            Instruction::Skip | Instruction::Terminate | Instruction::Fence | Instruction::Membarrier => {}
            Instruction::Load { register, address } => {
                let cell = self.cell(thread, from, address, accesses[0]);
                effect.registers.push((*register, self.read(cell).node));
            }
            Instruction::Snapshot(loads) => {
                for ((register, address), access) in loads.iter().zip(&accesses) {
                    let cell = self.cell(thread, from, address, *access);
                    effect.registers.push((*register, self.read(cell).node));
                }
            }
            Instruction::Await { loads, condition } => {
                let mut loaded = Vec::new();
                for ((register, address), access) in loads.iter().zip(&accesses) {
                    let cell = self.cell(thread, from, address, *access);
                    loaded.push((*register, self.read(cell)));
                }
                let condition = self.expr_with(thread, from, condition, &loaded);
                effect.guards.push(self.nodes.truth(condition.node));
                effect.registers.extend(loaded.iter().map(|(register, value)| (*register, value.node)));
            }
            Instruction::Store { address, value } => {
                let cell = self.cell(thread, from, address, accesses[0]);
                let value = self.expr(thread, from, value);
                effect.guards.extend(self.admitted(cell, value)?);
                let kept = self.kept(cell, value);
                effect.cells.push((cell, kept));
            }
            Instruction::Assign { register, value } => {
                let value = self.expr(thread, from, value);
                effect.registers.push((*register, value.node));
            }
            Instruction::Assume(condition) => {
                let condition = self.expr(thread, from, condition);
                effect.guards.push(self.nodes.truth(condition.node));
            }
            Instruction::Assert(condition) => {
                let condition = self.expr(thread, from, condition);
                let failed = self.program.body(thread).failed.unwrap_or(edge.to);
                effect.branch = Some((self.nodes.truth(condition.node), failed));
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                let cell = self.cell(thread, from, address, accesses[0]);
                self.read_modify_write(&mut effect, (thread, from), *register, cell, operation)?;
            }
            Instruction::Lock | Instruction::Unlock => {
                let is_lock = edge.instruction == Instruction::Lock;
                let (needed, then) = if is_lock { (0, own) } else { (own, 0) };
                match self.lock.as_ref().map(|lock| lock.state) {
                    Some(lock) => effect.guards.push(self.nodes.equals(lock, needed)),
                    None => effect.guards.push(self.nodes.truth_constant(false)),
                }
                effect.lock = Some(then);
            }
            Instruction::Havoc { register, range } => {
                if range.low > range.high {
                    effect.guards.push(self.nodes.truth_constant(false));
                }
                if let Some(any) = self.any {
                    let chosen = Valued { node: any, range: full(any.width) };
                    effect.chosen.extend(self.between(chosen, *range));
                    effect.registers.push((*register, any));
                }
            }
            Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => {
                return Err(Refusal::new("procedures and `spawn` cannot be exported to BTOR2", "inline them"));
            }
        }
        Ok(effect)
    }

    /// Where an address may not be that of a cell, the step needs that it is, and a `bad` state says so if it is not.
    fn check_addresses(&mut self, thread: ThreadId, edge: &Edge, accesses: &[Access], here: Node, effect: &mut Effect) {
        for (address, access) in edge.instruction.accesses().zip(accesses).filter(|(_, access)| access.is_checked) {
            let segment = self.memory.segment(access.segment);
            let within = Range { low: segment.first, high: segment.last };
            let address = self.expr(thread, edge.from, address);
            if let Some(inside) = self.between(address, within) {
                let beyond = self.nodes.not(inside);
                let needed: Vec<Node> = [here, beyond].into_iter().chain(effect.guards.iter().copied()).collect();
                self.outside.extend(self.nodes.and(&needed));
                effect.guards.push(inside);
            }
        }
    }

    fn expr(&mut self, thread: ThreadId, from: LocId, expr: &RegExpr) -> Valued {
        self.expr_with(thread, from, expr, &[])
    }

    /// An expression, with other values for some registers.
    fn expr_with(&mut self, thread: ThreadId, from: LocId, expr: &RegExpr, instead: &[(RegId, Valued)]) -> Valued {
        let (ranges, registers) = (self.ranges, &self.registers[thread.index()]);
        write(&mut self.nodes, expr, &mut |_, register| {
            if let Some((_, value)) = instead.iter().find(|(replaced, _)| replaced == register) {
                return *value;
            }
            let node = registers[register.index()].state;
            let range = ranges.register_at(thread, from, *register).unwrap_or(full(node.width));
            Valued { node, range }
        })
    }

    fn cell(&mut self, thread: ThreadId, from: LocId, address: &RegExpr, access: Access) -> Cell {
        let segment = self.memory.segment(access.segment);
        let constant = address.constant().or((segment.first == segment.last).then_some(segment.first));
        let constraint = match constant {
            Some(constant) => self.program.shared_at(constant).map_or(Constraint::Free, |(shared, _)| limit(shared)),
            None => segment.constraint(self.program),
        };
        let bits = bits_for(segment.len());
        let index = match (segment.form, constant) {
            (Form::Scalar, _) => None,
            (_, Some(constant)) => Some(self.nodes.constant(constant.wrapping_sub(segment.first), bits)),
            (_, None) => {
                let first = segment.first;
                let address = self.expr(thread, from, address);
                let first = Valued { node: self.nodes.number(first), range: Range::single(first) };
                let offset = binary(&mut self.nodes, weir_ir::BinaryOp::Subtract, address, first);
                // With a sign bit to spare, so that there is something to cut off.
                let wide = offset.node.width.max(bits + 1);
                let offset = self.nodes.sized(offset.node, wide);
                Some(self.nodes.sized(offset, bits))
            }
        };
        Cell { segment: access.segment, index, constraint }
    }

    /// What a cell holds.
    fn read(&mut self, cell: Cell) -> Valued {
        let state = self.cells[cell.segment].state;
        let range = self.memory.segment(cell.segment).values;
        let node = match cell.index {
            Some(index) => self.nodes.op("read", state.width, &[state, index]),
            None => state,
        };
        Valued { node, range }
    }

    /// The condition that a value lies in a range; none if it always does.
    fn between(&mut self, value: Valued, range: Range) -> Option<Node> {
        let mut tests = Vec::new();
        for (bound, op, is_needed) in [
            (range.low, weir_ir::BinaryOp::GreaterEqual, value.range.low < range.low),
            (range.high, weir_ir::BinaryOp::LessEqual, value.range.high > range.high),
        ] {
            if is_needed {
                let bound = Valued { node: self.nodes.number(bound), range: Range::single(bound) };
                tests.push(binary(&mut self.nodes, op, value, bound).node);
            }
        }
        self.nodes.and(&tests)
    }

    /// The condition under which a cell takes a value; none if it always does.
    fn admitted(&mut self, cell: Cell, value: Valued) -> Result<Option<Node>, Refusal> {
        match cell.constraint {
            Constraint::Within(range) => Ok(self.between(value, range)),
            Constraint::Differing => {
                let message = "a computed address may be that of cells with different ranges or widths";
                Err(Refusal::new(message, "declare these cells alike"))
            }
            Constraint::Free | Constraint::Wrapping(_) => Ok(None),
        }
    }

    /// What a cell keeps of a value.
    fn kept(&mut self, cell: Cell, value: Valued) -> Node {
        match cell.constraint {
            Constraint::Wrapping(width) => self.nodes.low_bits(value.node, width.bits()),
            _ => value.node,
        }
    }

    fn read_modify_write(
        &mut self,
        effect: &mut Effect,
        (thread, from): (ThreadId, LocId),
        register: Option<RegId>,
        cell: Cell,
        operation: &Rmw,
    ) -> Result<(), Refusal> {
        let held = self.read(cell);
        let (value, is_equal) = match operation {
            Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
                let (expected, new) = (self.expr(thread, from, expected), self.expr(thread, from, new));
                let is_equal = binary(&mut self.nodes, weir_ir::BinaryOp::Equal, held, expected);
                (new, Some(is_equal.node))
            }
            Rmw::Exchange(value) => (self.expr(thread, from, value), None),
            Rmw::Fetch(op, operand) => {
                let operand = self.expr(thread, from, operand);
                (binary(&mut self.nodes, op.operator(), held, operand), None)
            }
        };
        if let Some(admitted) = self.admitted(cell, value)? {
            effect.guards.push(match is_equal {
                Some(is_equal) => {
                    let differs = self.nodes.not(is_equal);
                    self.nodes.test("or", &[differs, admitted])
                }
                None => admitted,
            });
        }
        let kept = self.kept(cell, value);
        let width = self.cells[cell.segment].state.width;
        let kept = self.nodes.sized(kept, width);
        let stored = match is_equal {
            Some(is_equal) => {
                let held = self.nodes.sized(held.node, width);
                self.nodes.choice(is_equal, kept, held)
            }
            None => kept,
        };
        effect.cells.push((cell, stored));
        let result = match (operation, is_equal) {
            (Rmw::CompareAndSwap { .. }, Some(is_equal)) => is_equal,
            _ => held.node,
        };
        effect.registers.extend(register.map(|register| (register, result)));
        Ok(())
    }
}

/// All values of so many bits, with a sign.
fn full(width: u32) -> Range {
    match width {
        64.. => Range::FULL,
        width => Range { low: -(1 << (width - 1)), high: (1 << (width - 1)) - 1 },
    }
}

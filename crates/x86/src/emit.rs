//! The automaton of a thread, from its code and what is known about it.

mod memory;

use std::collections::{HashMap, HashSet};

use weir_ir::{BinaryOp, Expr, Instruction, RegExpr, RegId, Register, Span, Value};

use crate::accesses::{is_constant, of};
use crate::cells::Cells;
use crate::draft::{Draft, Finished};
use crate::graph::{Exit, Flow, Node, Target};
use crate::image::Image;
use crate::known::{Known, State, is_private};
use crate::limit::LimitKind;
use crate::ops::{E, Leaf, Op, Reg, Shape, Test};
use crate::pending::waiting;
use crate::refusal::Refusal;
use crate::run::undefined_flag;
use crate::simplify::simplify;
use crate::slots::{Slot, Slots};
use crate::transfer::apply;

/// Translates the code of a thread.
pub(crate) fn emit(
    image: &Image,
    flow: &Flow,
    cells: &Cells,
    (private, checks_blocks): (&[(Value, u32)], bool),
    span: &dyn Fn(usize) -> Span,
    observed: &[Reg],
) -> Result<Finished, Refusal> {
    let mut emitter = Emitter {
        image,
        cells,
        slots: Slots::new(private.iter().copied()),
        draft: Draft::new(flow.nodes.len()),
        names: HashMap::new(),
        registers: Vec::new(),
        bits: Vec::new(),
        waiting: waiting(image, flow, cells)?,
        checks_blocks,
        at: 0,
        code: 0,
        place: Span::default(),
    };
    emitter.place = span(0);
    emitter.prologue(flow);
    for (number, node) in flow.nodes.iter().enumerate() {
        emitter.place = span(number);
        let refused = |refusal: Refusal| refusal.at(node.address).called_from(&flow.callers[node.context]);
        emitter.node(flow, number).map_err(refused)?;
    }
    let observed: Vec<RegId> = observed.iter().map(|&reg| emitter.register(Place::Reg(reg))).collect();
    let Emitter { draft, registers, .. } = emitter;
    draft.finish(registers, &observed).map_err(|(test, code)| undefined_flag(test).at(code))
}

/// What a register of the automaton stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Reg(Reg),
    Test(Test),
    /// Bytes of the stack, by address.
    Slot(Value),
    /// Whether a block was freed.
    Freed,
    /// What was loaded to take a part of it, or to put it together: by its place in the access.
    Part(usize),
}

struct Emitter<'a> {
    image: &'a Image,
    cells: &'a Cells,
    slots: Slots,
    draft: Draft,
    names: HashMap<Place, RegId>,
    registers: Vec<Register>,
    /// How many bits each register has at most at the current point.
    bits: Vec<u8>,
    /// Loads that wait until the buffer is empty: points and operations.
    waiting: HashSet<(usize, usize)>,
    /// Whether accesses to allocated memory must find it not freed.
    checks_blocks: bool,
    /// The current location.
    at: usize,
    /// The current instruction.
    code: u64,
    place: Span,
}

impl Emitter<'_> {
    /// Puts the arguments into registers.
    fn prologue(&mut self, flow: &Flow) {
        (self.at, self.code) = (self.draft.entry(), flow.nodes[0].address);
        for (reg, &value) in Reg::ARGUMENTS.into_iter().zip(&flow.arguments) {
            let register = self.register(Place::Reg(reg));
            self.push(Instruction::Assign { register, value: Expr::Const(value) });
        }
        self.draft.edge(self.at, 0, Instruction::Skip, self.place, self.code);
    }

    fn register(&mut self, place: Place) -> RegId {
        if let Some(&id) = self.names.get(&place) {
            return id;
        }
        let name = match place {
            Place::Reg(reg) => reg.name(),
            Place::Test(test) => format!("_{}", test.name()),
            Place::Slot(address) => {
                let below = (address | 0xFF_FFFF) + 1 - address;
                format!("stack_{below:x}")
            }
            Place::Freed => "_freed".to_owned(),
            Place::Part(0) => "_whole".to_owned(),
            Place::Part(number) => format!("_whole{number}"),
        };
        let is_temporary = name.starts_with('_');
        let id = RegId::new(self.registers.len());
        self.registers.push(Register { name, is_temporary, is_thread_local: false, span: Span::default() });
        self.bits.push(64);
        self.names.insert(place, id);
        id
    }

    fn slot(&mut self, slot: Slot) -> RegId {
        let id = self.register(Place::Slot(slot.address));
        self.bits[id.index()] = (8 * slot.size) as u8;
        id
    }

    /// The next step.
    fn push(&mut self, instruction: Instruction) {
        let next = self.draft.location();
        self.draft.edge(self.at, next, instruction, self.place, self.code);
        self.at = next;
    }

    fn assign(&mut self, register: RegId, value: RegExpr) {
        self.push(Instruction::Assign { register, value });
    }

    fn node(&mut self, flow: &Flow, number: usize) -> Result<(), Refusal> {
        let (node, exits): (&Node, &[Exit]) = (&flow.nodes[number], &flow.exits[number]);
        (self.at, self.code) = (number, node.address);
        let mut state = node.state.clone();
        let mut is_half_done = false;
        for (part, op) in node.lifted.ops.iter().enumerate() {
            let is_half = self.is_half(node, op, &state);
            if self.waiting.contains(&(number, part)) && !is_half {
                self.push(Instruction::Fence);
            }
            match flow.tables.get(&(number, part)) {
                Some(entries) => self.look_up(op, entries, &state),
                None if is_half => {
                    // The first half does both, in either order.
                    if !is_half_done {
                        self.halves(&node.lifted.ops[part..part + 2], (number, part), &state)?;
                    }
                    is_half_done = !is_half_done;
                }
                None => {
                    self.check_blocks(op, &state);
                    self.op(op, &state)?;
                }
            }
            apply(self.image, op, &mut state)?;
        }
        let from = self.at;
        for exit in exits {
            self.at = from;
            if let Some(condition) = &exit.condition {
                let condition = self.value(condition, &state);
                self.push(Instruction::Assume(condition));
            }
            let mut state = state.clone();
            for effect in &exit.effects {
                self.op(effect, &state)?;
                apply(self.image, effect, &mut state)?;
            }
            let (to, instruction) = match exit.to {
                Target::Node(to) => (to, Instruction::Skip),
                Target::End => (self.draft.end(), Instruction::Skip),
                Target::Fail => (self.draft.end(), Instruction::Assert(Expr::Const(0))),
            };
            self.draft.edge(self.at, to, instruction, self.place, self.code);
        }
        Ok(())
    }

    /// Whether an operation accesses half of 16 bytes of shared memory.
    fn is_half(&self, node: &Node, op: &Op, state: &State) -> bool {
        let is_shared = |(address, size, _): (E, u32, _)| match state.value(&address) {
            Known::Const(address) => !is_private(address) && !is_constant(self.image, address, size),
            Known::Any { .. } => true,
        };
        let accesses = || node.lifted.ops.iter().flat_map(of);
        node.lifted.shape == Shape::Wide && !of(op).is_empty() && accesses().all(is_shared)
    }

    /// Both halves of an access to 16 bytes: the processor may make it at once, or each half on its own.
    fn halves(&mut self, ops: &[Op], (number, part): (usize, usize), state: &State) -> Result<(), Refusal> {
        for (address, ..) in of(&ops[0]) {
            // No half is made in parts if it does not cross a multiple of 8.
            let address = self.value(&address, state);
            if address.constant().is_none() {
                let rest = Expr::binary(BinaryOp::BitAnd, address, Expr::Const(7));
                self.limit(Expr::binary(BinaryOp::Equal, rest, Expr::Const(0)), LimitKind::Access(16));
            }
        }
        let (from, joined) = (self.at, self.draft.location());
        for order in [[0, 1], [1, 0]] {
            self.at = from;
            for half in order {
                if self.waiting.contains(&(number, part + half)) {
                    self.push(Instruction::Fence);
                }
                self.check_blocks(&ops[half], state);
                self.op(&ops[half], state)?;
            }
            self.draft.edge(self.at, joined, Instruction::Skip, self.place, self.code);
        }
        self.at = joined;
        Ok(())
    }

    /// An expression over the registers of the automaton.
    fn value(&mut self, expr: &E, state: &State) -> RegExpr {
        let mapped = expr.map(&mut |leaf| {
            let (place, known) = match leaf {
                Leaf::Reg(reg) => (Place::Reg(*reg), state.register(*reg)),
                Leaf::Test(test) => (Place::Test(*test), state.flag(*test)),
            };
            match known {
                Known::Const(value) => Expr::Const(value),
                Known::Any { .. } => {
                    let id = self.register(place);
                    self.bits[id.index()] = known.bits();
                    Expr::Leaf(id)
                }
            }
        });
        simplify(&mapped, &|reg| self.bits[reg.index()])
    }

    fn op(&mut self, op: &Op, state: &State) -> Result<(), Refusal> {
        match op {
            // It is known everywhere.
            Op::Set(Reg::SP, _) => {}
            Op::Set(to, value) => {
                let value = self.value(value, state);
                let register = self.register(Place::Reg(*to));
                self.assign(register, value);
            }
            Op::SetIf(condition, to, value) => {
                let condition = self.value(condition, state);
                let value = self.value(value, state);
                let register = self.register(Place::Reg(*to));
                self.choose(&condition, Instruction::Assign { register, value });
            }
            Op::Load { to, address, size } => self.load(*to, address, *size, state),
            Op::Store { address, value, size } => {
                let value = self.value(value, state);
                self.store(address, &value, *size, state);
            }
            Op::Change { to, address, size, change } => self.change(*to, (address, *size), change, state),
            Op::ChangePair { to, address, expected, new } => self.change_pair(*to, address, expected, new, state),
            Op::Fence => self.push(Instruction::Fence),
            Op::Membarrier => self.push(Instruction::Membarrier),
            Op::Flag(test, value) => {
                let register = self.register(Place::Test(*test));
                match value {
                    Some(value) => {
                        let value = self.value(value, state);
                        self.assign(register, value);
                    }
                    None => {
                        let next = self.draft.location();
                        self.draft.undefined(self.at, next, register, *test, self.code);
                        self.at = next;
                    }
                }
            }
            Op::Limit(condition, why) => {
                let condition = self.value(condition, state);
                if condition.constant().is_none_or(|value| value == 0) {
                    self.limit(condition, *why);
                }
            }
            Op::Check(condition) => {
                let condition = self.value(condition, state);
                if condition.constant().is_none_or(|value| value == 0) {
                    self.push(Instruction::Assert(condition));
                }
            }
        }
        Ok(())
    }

    /// A step that is only taken if a condition holds.
    fn choose(&mut self, condition: &RegExpr, instruction: Instruction) {
        match condition.constant() {
            Some(0) => {}
            Some(_) => self.push(instruction),
            None => {
                let (from, joined) = (self.at, self.draft.location());
                let span = self.place;
                self.push(Instruction::Assume(condition.clone()));
                self.draft.edge(self.at, joined, instruction, span, self.code);
                self.draft.edge(from, joined, Instruction::Assume(condition.negated()), span, self.code);
                self.at = joined;
            }
        }
    }
}

//! The automaton of a thread, from its code and what is known about it.

use std::collections::HashMap;

use weir_ir::{Body, Expr, Instruction, RegExpr, RegId, Register, Rmw, Span, Value};

use crate::cells::{Access, Cells, Kind};
use crate::draft::Draft;
use crate::flow::{Exit, Flow, Node, Target};
use crate::image::Image;
use crate::known::{Known, State, is_private};
use crate::ops::{Change, E, Leaf, Op, Reg, Test, cut, shift_right};
use crate::refusal::Refusal;
use crate::run::undefined_flag;
use crate::simplify::simplify;
use crate::slots::{Slot, Slots};
use crate::transfer::apply;

/// What a thread accesses.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    pub(crate) shared: Vec<Access>,
    /// Address and size.
    pub(crate) private: Vec<(Value, u32)>,
}

/// All accesses of a thread.
pub(crate) fn accesses(image: &Image, flow: &Flow) -> Result<Accesses, Refusal> {
    let mut found = Accesses::default();
    for node in &flow.nodes {
        let mut state = node.state.clone();
        for op in &node.lifted.ops {
            let access = match op {
                Op::Load { address, size, .. } => Some((address, size, Kind::Load)),
                Op::Store { address, size, .. } => Some((address, size, Kind::Store)),
                Op::Change { address, size, .. } => Some((address, size, Kind::Change)),
                _ => None,
            };
            if let Some((address, &size, kind)) = access {
                match state.value(address) {
                    Known::Const(address) if is_private(address) => found.private.push((address, size)),
                    _ if node.lifted.is_wide => return Err(wide(node)),
                    known => {
                        let address = known.constant();
                        found.shared.push(Access { code: node.address, address, size, kind });
                    }
                }
            }
            apply(image, op, &mut state).map_err(|refusal| refusal.at(node.address))?;
        }
    }
    Ok(found)
}

fn wide(node: &Node) -> Refusal {
    Refusal::new("wide-access", "this instruction accesses 16 bytes of shared memory at once, which is not supported")
        .help("compile with `-O1`, or with `-O2 -fno-tree-vectorize -fno-store-merging -mgeneral-regs-only`")
        .at(node.address)
}

/// Translates the code of a thread.
pub(crate) fn emit(
    image: &Image,
    flow: &Flow,
    cells: &Cells,
    private: &[(Value, u32)],
    span: &dyn Fn(u64) -> Span,
    observed: &[Reg],
) -> Result<Body, Refusal> {
    let mut emitter = Emitter {
        image,
        cells,
        slots: Slots::new(private.iter().copied()),
        span,
        draft: Draft::new(flow.nodes.len()),
        names: HashMap::new(),
        registers: Vec::new(),
        bits: Vec::new(),
        at: 0,
        code: 0,
    };
    emitter.prologue(flow);
    for (number, node) in flow.nodes.iter().enumerate() {
        emitter.node(number, node, &flow.exits[number]).map_err(|refusal| refusal.at(node.address))?;
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
    /// What was loaded for a narrower load.
    Whole,
}

struct Emitter<'a> {
    image: &'a Image,
    cells: &'a Cells,
    slots: Slots,
    span: &'a dyn Fn(u64) -> Span,
    draft: Draft,
    names: HashMap<Place, RegId>,
    registers: Vec<Register>,
    /// How many bits each register has at most at the current point.
    bits: Vec<u8>,
    /// The current location.
    at: usize,
    /// The current instruction.
    code: u64,
}

impl Emitter<'_> {
    /// Puts the arguments into registers.
    fn prologue(&mut self, flow: &Flow) {
        (self.at, self.code) = (self.draft.entry(), flow.nodes[0].address);
        for (reg, &value) in Reg::ARGUMENTS.into_iter().zip(&flow.arguments) {
            let register = self.register(Place::Reg(reg));
            self.push(Instruction::Assign { register, value: Expr::Const(value) });
        }
        self.draft.edge(self.at, 0, Instruction::Skip, (self.span)(self.code), self.code);
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
            Place::Whole => "_whole".to_owned(),
        };
        let is_temporary = name.starts_with('_');
        let id = RegId::new(self.registers.len());
        self.registers.push(Register { name, is_temporary, span: Span::default() });
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
        self.draft.edge(self.at, next, instruction, (self.span)(self.code), self.code);
        self.at = next;
    }

    fn assign(&mut self, register: RegId, value: RegExpr) {
        self.push(Instruction::Assign { register, value });
    }

    fn node(&mut self, number: usize, node: &Node, exits: &[Exit]) -> Result<(), Refusal> {
        (self.at, self.code) = (number, node.address);
        let mut state = node.state.clone();
        for op in &node.lifted.ops {
            self.op(op, &state)?;
            apply(self.image, op, &mut state)?;
        }
        let from = self.at;
        for exit in exits {
            self.at = from;
            if let Some(condition) = &exit.condition {
                let condition = self.value(condition, &state);
                self.push(Instruction::Assume(condition));
            }
            if let Some(effect) = &exit.effect {
                self.op(effect, &state)?;
            }
            let (to, instruction) = match exit.to {
                Target::Node(to) => (to, Instruction::Skip),
                Target::End => (self.draft.end(), Instruction::Skip),
                Target::Fail => (self.draft.end(), Instruction::Assert(Expr::Const(0))),
            };
            self.draft.edge(self.at, to, instruction, (self.span)(self.code), self.code);
        }
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
            Op::Load { to, address, size } => self.load(*to, address, *size, state)?,
            Op::Store { address, value, size } => {
                let value = self.value(value, state);
                self.store(address, value, *size, state)?;
            }
            Op::Change { to, address, size, change } => self.change(*to, address, *size, change, state)?,
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
                let span = (self.span)(self.code);
                self.push(Instruction::Assume(condition.clone()));
                self.draft.edge(self.at, joined, instruction, span, self.code);
                self.draft.edge(from, joined, Instruction::Assume(condition.negated()), span, self.code);
                self.at = joined;
            }
        }
    }

    fn load(&mut self, to: Reg, address: &E, size: u32, state: &State) -> Result<(), Refusal> {
        let register = self.register(Place::Reg(to));
        match state.value(address) {
            Known::Const(address) if is_private(address) => {
                let slots = self.slots.clone();
                let value = slots.load(address, size, &mut |slot| self.slot(slot));
                let value = simplify(&value, &|reg| self.bits[reg.index()]);
                self.assign(register, value);
            }
            Known::Const(address) => {
                let constant = self.image.region(address as u64, size as usize).filter(|region| !region.is_writable);
                if let Some(value) = constant.and_then(|_| self.image.value(address as u64, size)) {
                    self.assign(register, Expr::Const(value as Value));
                    return Ok(());
                }
                let Some(cell) = self.cells.containing(address, size) else {
                    self.push(Instruction::Assert(Expr::Const(0)));
                    return Ok(());
                };
                let (base, whole) = (cell.address, cell.size);
                if whole == size {
                    self.push(Instruction::Load { register, address: Expr::Const(base) });
                } else {
                    let loaded = self.register(Place::Whole);
                    self.push(Instruction::Load { register: loaded, address: Expr::Const(base) });
                    let part = shift_right(Expr::Leaf(loaded), 8 * (address - base) as u32);
                    self.assign(register, cut(part, size));
                }
            }
            Known::Any { .. } => {
                let address = self.valid(address, size, Kind::Load, state);
                self.push(Instruction::Load { register, address });
            }
        }
        self.bits[register.index()] = (8 * size) as u8;
        Ok(())
    }

    /// A computed address, after the step that checks it.
    fn valid(&mut self, address: &E, size: u32, kind: Kind, state: &State) -> RegExpr {
        let address = self.value(address, state);
        let is_valid = self.cells.is_valid(&address, size, kind);
        self.push(Instruction::Assert(is_valid));
        address
    }

    fn store(&mut self, address: &E, value: RegExpr, size: u32, state: &State) -> Result<(), Refusal> {
        match state.value(address) {
            Known::Const(address) if is_private(address) => {
                let slots = self.slots.clone();
                let assigned = slots.store(address, size, &value, &mut |slot| self.slot(slot));
                for (register, value) in assigned {
                    let value = simplify(&value, &|reg| self.bits[reg.index()]);
                    self.assign(register, value);
                }
            }
            Known::Const(address) => {
                let instruction = match self.writable(address, size) {
                    Some(address) => Instruction::Store { address: Expr::Const(address), value },
                    None => Instruction::Assert(Expr::Const(0)),
                };
                self.push(instruction);
            }
            Known::Any { .. } => {
                let address = self.valid(address, size, Kind::Store, state);
                self.push(Instruction::Store { address, value });
            }
        }
        Ok(())
    }

    /// The cell at a known address, if it can be written.
    fn writable(&self, address: Value, size: u32) -> Option<Value> {
        self.image.region(address as u64, size as usize).filter(|region| region.is_writable)?;
        self.cells.containing(address, size).filter(|cell| cell.address == address && cell.size == size)?;
        Some(address)
    }

    fn change(&mut self, to: Reg, address: &E, size: u32, change: &Change, state: &State) -> Result<(), Refusal> {
        let known = state.value(address);
        if known.constant().is_some_and(is_private) {
            return self.change_private(to, address, size, change, state);
        }
        let address = match known {
            Known::Const(address) => match self.writable(address, size) {
                Some(address) => Expr::Const(address),
                None => {
                    self.push(Instruction::Assert(Expr::Const(0)));
                    return Ok(());
                }
            },
            Known::Any { .. } => self.valid(address, size, Kind::Change, state),
        };
        let operation = match change {
            Change::Exchange(value) => Rmw::Exchange(self.value(value, state)),
            Change::CompareExchange(expected, new) => {
                Rmw::CompareExchange { expected: self.value(expected, state), new: self.value(new, state) }
            }
            Change::Fetch(kind, value) => Rmw::Fetch(*kind, self.value(value, state)),
        };
        let register = Some(self.register(Place::Reg(to)));
        self.push(Instruction::ReadModifyWrite { register, address, operation });
        Ok(())
    }

    /// A locked access to the own stack: a fence, since nobody sees the rest.
    fn change_private(
        &mut self,
        to: Reg,
        address: &E,
        size: u32,
        change: &Change,
        state: &State,
    ) -> Result<(), Refusal> {
        self.push(Instruction::Fence);
        self.load(to, address, size, state)?;
        let old = Expr::Leaf(self.register(Place::Reg(to)));
        let new = match change {
            Change::Exchange(value) => self.value(value, state),
            Change::CompareExchange(expected, new) => {
                // The new value where they are equal, else the old one.
                let is_equal = Expr::binary(weir_ir::BinaryOp::Equal, self.value(expected, state), old.clone());
                let difference = Expr::binary(weir_ir::BinaryOp::Subtract, self.value(new, state), old.clone());
                let change = Expr::binary(weir_ir::BinaryOp::Multiply, difference, is_equal);
                Expr::binary(weir_ir::BinaryOp::Add, old, change)
            }
            Change::Fetch(kind, value) => Expr::binary(kind.operator(), old, self.value(value, state)),
        };
        self.store(address, cut(new, size), size, state)
    }
}

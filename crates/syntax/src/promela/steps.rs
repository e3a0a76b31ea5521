//! What a step of a thread is in Promela: conditions under which it is enabled, and assignments.

use weir_ir::{Address, Edge, EdgeId, Instruction, LocId, Range, RegExpr, RegId, Rmw, ThreadId};

use super::cells::index_of;
use super::values::{INT, Ints, fitting, includes};
use super::{Model, number};
use crate::export::memory::{Access, Constraint, limit};
use crate::export::refusal::Refusal;
use crate::export::term::{Operators as _, Term, write};

/// One way to take an edge.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// All of these must hold.
    pub(super) guards: Vec<String>,
    /// Done one after the other.
    pub(super) effects: Vec<String>,
}

/// A step and where it leads.
pub(super) type Move = (Step, LocId);

/// What is needed to write the steps of one edge.
pub(super) struct Writer<'m, 'p> {
    pub(super) model: &'m Model<'p>,
    pub(super) thread: ThreadId,
    /// The names of all registers of the thread.
    pub(super) registers: &'m [String],
    pub(super) from: LocId,
    pub(super) ints: &'m mut Ints,
}

/// A cell that an instruction accesses.
struct Cell {
    term: Term,
    segment: usize,
    /// The only address it can have.
    constant: Option<Address>,
    address: String,
}

impl Writer<'_, '_> {
    /// All ways to take the edge.
    pub(super) fn moves(&mut self, id: EdgeId, edge: &Edge) -> Result<Vec<Move>, Refusal> {
        let accesses = self.model.memory.accesses(self.thread, id).to_vec();
        let mut step = Step::default();
        if edge.instruction.accesses().next().is_some() {
            step.guards.extend(self.lock_is_free());
        }
        let mut moves = self.outside(edge, &accesses, &mut step)?;
        match &edge.instruction {
            Instruction::Skip | Instruction::Terminate | Instruction::Fence | Instruction::Membarrier => {}
            Instruction::Load { register, address } => {
                let cell = self.cell(address, accesses[0])?;
                self.set(&mut step, *register, &cell.term);
            }
            Instruction::Snapshot(loads) => self.loads(&mut step, loads, &accesses)?,
            Instruction::Await { loads, condition } => {
                step.guards.push(self.awaited(loads, condition, &accesses)?);
                self.loads(&mut step, loads, &accesses)?;
            }
            Instruction::Store { address, value } => {
                let cell = self.cell(address, accesses[0])?;
                let value = self.expr(value)?;
                self.guard_store(&mut step, &cell, &value, None)?;
                self.store(&mut step, &cell, &value)?;
            }
            Instruction::Assign { register, value } => {
                let value = self.expr(value)?;
                self.set(&mut step, *register, &value);
            }
            Instruction::Assume(condition) => step.guards.push(self.expr(condition)?.text),
            Instruction::Assert(condition) => {
                let condition = self.expr(condition)?;
                let failed = self.model.program.body(self.thread).failed.unwrap_or(edge.to);
                let effects = vec!["assert(!CHECKS_ASSERTIONS)".to_owned()];
                moves.push((Step { guards: vec![format!("!{}", condition.operand())], effects }, failed));
                step.guards.push(condition.text);
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                let cell = self.cell(address, accesses[0])?;
                self.read_modify_write(&mut step, *register, &cell, operation)?;
            }
            Instruction::Lock => {
                let lock = self.model.lock.as_deref().unwrap_or("0");
                step.guards.push(format!("{lock} == 0"));
                step.effects.push(format!("{lock} = {}", self.number()));
            }
            Instruction::Unlock => match &self.model.lock {
                Some(lock) => {
                    step.guards.push(format!("{lock} == {}", self.number()));
                    step.effects.push(format!("{lock} = 0"));
                }
                None => step.guards.push("false".to_owned()),
            },
            Instruction::Havoc { register, range } => return self.choice(*register, *range, edge.to),
            Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => {
                return Err(Refusal::new("procedures and `spawn` cannot be exported to Promela", "inline them"));
            }
        }
        moves.push((step, edge.to));
        Ok(moves)
    }

    /// The number of the thread as a holder of the lock.
    fn number(&self) -> usize {
        self.thread.index() + 1
    }

    fn lock_is_free(&self) -> Option<String> {
        let lock = self.model.lock.as_ref()?;
        Some(format!("({lock} == 0 || {lock} == {})", self.number()))
    }

    /// Steps that say so if an address is not that of a declared cell; the step itself then needs that it is.
    fn outside(&mut self, edge: &Edge, accesses: &[Access], step: &mut Step) -> Result<Vec<Move>, Refusal> {
        let mut moves = Vec::new();
        for (address, access) in edge.instruction.accesses().zip(accesses).filter(|(_, access)| access.is_checked) {
            let address = self.address(address)?;
            let segment = self.model.memory.segment(access.segment);
            let within = Range { low: segment.first, high: segment.last };
            let Some(inside) = between(&address, within) else { continue };
            let mut guards: Vec<String> = step.guards.clone();
            guards.push(format!("!({inside})"));
            moves.push((Step { guards, effects: vec!["assert(OUTSIDE)".to_owned()] }, self.from));
            step.guards.push(format!("({inside})"));
        }
        Ok(moves)
    }

    pub(super) fn expr(&mut self, expr: &RegExpr) -> Result<Term, Refusal> {
        let (model, thread, from, registers) = (self.model, self.thread, self.from, self.registers);
        let leaf = |register: &RegId| {
            Ok(Term::simple(&registers[register.index()], model.values.register_at(thread, from, *register)))
        };
        fitting(write(self.ints, expr, &mut { leaf })?)
    }

    /// An address, which need not fit an `int` if it is constant.
    fn address(&mut self, address: &RegExpr) -> Result<Term, Refusal> {
        match address.constant() {
            Some(value) => Ok(Term::simple(value.to_string(), Range::single(value))),
            None => self.expr(address),
        }
    }

    fn cell(&mut self, address: &RegExpr, access: Access) -> Result<Cell, Refusal> {
        let model = self.model;
        let range = model.values.cell(access.segment).range;
        let segment = model.memory.segment(access.segment);
        let constant = address.constant().or((segment.first == segment.last).then_some(segment.first));
        let (text, address) = match constant {
            Some(constant) => {
                (model.cells.at(model.program, model.memory, access.segment, constant), constant.to_string())
            }
            None => {
                let computed = self.expr(address)?;
                let index = index_of(segment, address).map(|index| self.expr(&index)).transpose()?;
                let index = index.as_ref().map(|index| index.text.as_str());
                let text = model.cells.computed(model.memory, access.segment, &computed.operand(), index);
                (text, computed.text)
            }
        };
        Ok(Cell { term: Term::simple(text, range), segment: access.segment, constant, address })
    }

    fn set(&mut self, step: &mut Step, register: RegId, value: &Term) {
        let held = self.model.values.register(self.thread, register);
        if held.is_checked
            && let Some(inside) = between(value, held.range)
        {
            step.effects.push(format!("assert(({inside}) || OUTSIDE)"));
        }
        step.effects.push(format!("{} = {}", self.registers[register.index()], value.text));
    }

    /// Loads of several cells. Addresses are evaluated before any register changes: where an address depends on a
    /// register that the same step loads, all values are read before the first is kept.
    fn loads(&mut self, step: &mut Step, loads: &[(RegId, RegExpr)], accesses: &[Access]) -> Result<(), Refusal> {
        let mut cells = Vec::new();
        for ((_, address), access) in loads.iter().zip(accesses) {
            cells.push(self.cell(address, *access)?.term);
        }
        if loads_depend(loads) {
            for (nth, cell) in cells.iter_mut().enumerate() {
                let kept = format!("{}[{nth}]", self.model.loaded);
                step.effects.push(format!("{kept} = {}", cell.text));
                cell.text = kept;
            }
        }
        for ((register, _), cell) in loads.iter().zip(&cells) {
            self.set(step, *register, cell);
        }
        Ok(())
    }

    /// The condition of an await, over the cells themselves.
    fn awaited(
        &mut self,
        loads: &[(RegId, RegExpr)],
        condition: &RegExpr,
        accesses: &[Access],
    ) -> Result<String, Refusal> {
        let mut cells = Vec::new();
        for ((register, address), access) in loads.iter().zip(accesses) {
            cells.push((*register, self.cell(address, *access)?.term));
        }
        let (model, thread, from, registers) = (self.model, self.thread, self.from, self.registers);
        let leaf = |register: &RegId| match cells.iter().find(|(loaded, _)| loaded == register) {
            Some((_, cell)) => Ok(cell.clone()),
            None => Ok(Term::simple(&registers[register.index()], model.values.register_at(thread, from, *register))),
        };
        Ok(fitting(write(self.ints, condition, &mut { leaf })?)?.text)
    }

    /// What limits the values of a cell.
    fn constraint(&self, cell: &Cell) -> Constraint {
        let (program, memory) = (self.model.program, self.model.memory);
        match cell.constant {
            Some(address) => program.shared_at(address).map_or(Constraint::Free, |(shared, _)| limit(shared)),
            None => memory.segment(cell.segment).constraint(program),
        }
    }

    /// A store of a value that the cell does not take is blocked. If `unless` holds, nothing is stored.
    fn guard_store(&mut self, step: &mut Step, cell: &Cell, value: &Term, unless: Option<&str>) -> Result<(), Refusal> {
        let admitted = match self.constraint(cell) {
            Constraint::Within(range) => between(value, range),
            Constraint::Differing => {
                let name = self.model.cells.admits_macro(cell.segment);
                Some(format!("{name}({}, {})", cell.address, value.text))
            }
            Constraint::Free | Constraint::Wrapping(_) => None,
        };
        step.guards.extend(admitted.map(|admitted| match unless {
            Some(unless) => format!("({unless} || ({admitted}))"),
            None => format!("({admitted})"),
        }));
        Ok(())
    }

    fn store(&mut self, step: &mut Step, cell: &Cell, value: &Term) -> Result<(), Refusal> {
        let kept = match self.constraint(cell) {
            Constraint::Wrapping(width) if !includes(width.range(), value.range) => {
                let mask = width.range().high;
                if INT.contains(mask) {
                    Term::compound(format!("{} & {mask}", value.operand()), width.wrap_range(value.range))
                } else {
                    // Only values that are not negative stay within 32 bits.
                    step.effects.push(format!("assert({} >= 0 || OUTSIDE)", value.operand()));
                    Term { range: Range { low: value.range.low.max(0), ..value.range }, ..value.clone() }
                }
            }
            Constraint::Differing if self.model.has_wide_cells(cell.segment) => {
                let message = "a computed address may be that of a `u32` cell or of one with another range or width";
                return Err(Refusal::new(message, "declare these cells without `u32`"));
            }
            Constraint::Differing => {
                let name = self.model.cells.keep_macro(cell.segment);
                let range = value.range.hull(Range { low: 0, high: 65_535 });
                Term::simple(format!("{name}({}, {})", cell.address, value.text), range)
            }
            _ => value.clone(),
        };
        let held = self.model.values.cell(cell.segment);
        if held.is_checked
            && let Some(inside) = between(&kept, held.range)
        {
            step.effects.push(format!("assert(({inside}) || OUTSIDE)"));
        }
        step.effects.push(format!("{} = {}", cell.term.text, kept.text));
        Ok(())
    }

    fn read_modify_write(
        &mut self,
        step: &mut Step,
        register: Option<RegId>,
        cell: &Cell,
        operation: &Rmw,
    ) -> Result<(), Refusal> {
        let held = Term::simple(&self.model.held, cell.term.range);
        let old = format!("{} = {}", held.text, cell.term.text);
        match operation {
            Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
                let is_exchange = matches!(operation, Rmw::CompareExchange { .. });
                let (expected, new) = (self.expr(expected)?, self.expr(new)?);
                let differs = format!("{} != {}", cell.term.text, expected.operand());
                self.guard_store(step, cell, &new, Some(&differs))?;
                let (mut met, mut unmet) = (Step::default(), Step::default());
                self.store(&mut met, cell, &new)?;
                if let Some(register) = register.filter(|_| !is_exchange) {
                    self.set(&mut met, register, &Term::simple("1", Range::single(1)));
                    self.set(&mut unmet, register, &Term::simple("0", Range::single(0)));
                }
                let unmet = if unmet.effects.is_empty() { "skip".to_owned() } else { unmet.effects.join("; ") };
                step.effects.push(old);
                let equal = format!("{} == {}", held.text, expected.operand());
                step.effects.push(format!("if :: {equal} -> {} :: else -> {unmet} fi", met.effects.join("; ")));
                if let Some(register) = register.filter(|_| is_exchange) {
                    self.set(step, register, &held);
                }
            }
            Rmw::Exchange(value) => {
                let value = self.expr(value)?;
                self.guard_store(step, cell, &value, None)?;
                step.effects.push(old);
                self.store(step, cell, &value)?;
                if let Some(register) = register {
                    self.set(step, register, &held);
                }
            }
            Rmw::Fetch(op, operand) => {
                let operand = self.expr(operand)?;
                let op = op.operator();
                let range = weir_ir::flow::values_of_binary(op, cell.term.range, operand.range);
                let value = self.ints.binary(op, &cell.term, &operand, range)?;
                self.guard_store(step, cell, &value, None)?;
                step.effects.push(old);
                self.store(step, cell, &value)?;
                if let Some(register) = register {
                    self.set(step, register, &held);
                }
            }
        }
        Ok(())
    }

    /// Any value of a range: one way for each, if they are few.
    fn choice(&mut self, register: RegId, range: Range, to: LocId) -> Result<Vec<Move>, Refusal> {
        if range.low > range.high {
            return Ok(Vec::new());
        }
        if range.extent() >= super::thread::MOST_CHOICES {
            let message = format!("a choice among more than {} values", super::thread::MOST_CHOICES);
            return Err(Refusal::new(message, "narrow the range; each value is an alternative of its own"));
        }
        let mut moves = Vec::new();
        for value in range.low..=range.high {
            let mut step = Step::default();
            let value = self.expr(&RegExpr::Const(value))?;
            self.set(&mut step, register, &value);
            moves.push((step, to));
        }
        Ok(moves)
    }
}

impl Model<'_> {
    /// Whether a segment has cells whose values may not fit.
    fn has_wide_cells(&self, segment: usize) -> bool {
        let shared = self.memory.segment(segment).shared.iter().map(|&at| &self.program.shared[at]);
        shared.filter_map(|shared| shared.width).any(|width| !INT.contains(width.range().high))
    }
}

/// Whether some address depends on a register that the same step loads.
pub(super) fn loads_depend(loads: &[(RegId, RegExpr)]) -> bool {
    let mut depends = false;
    for (_, address) in loads {
        address.for_each_leaf(&mut |leaf| depends |= loads.iter().any(|(loaded, _)| loaded == leaf));
    }
    depends
}

/// The condition that a value lies in a range; none if it always does.
fn between(value: &Term, range: Range) -> Option<String> {
    if value.range.meet(range).is_none() {
        return Some("false".to_owned());
    }
    let low = (value.range.low < range.low).then(|| format!("{} >= {}", value.operand(), number(range.low)));
    let high = (value.range.high > range.high).then(|| format!("{} <= {}", value.operand(), number(range.high)));
    let both: Vec<String> = low.into_iter().chain(high).collect();
    (!both.is_empty()).then(|| both.join(" && "))
}

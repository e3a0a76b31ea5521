//! From a column of instructions to the automaton of a thread.

use std::collections::{BTreeSet, HashMap};

use weir_ir::{
    BinaryOp, BinaryRmw, Diagnostic, Expr, Instruction as Step, LocId, Multiplicity, RegExpr, RegId, Rmw, Thread,
    Value, nearest,
};

use super::super::Refused;
use super::super::header::Architecture;
use super::super::mnemonic::{Binary, Operation, Unary};
use super::super::register::{ACCUMULATOR, Base, Flag, Part, RegisterName};
use super::super::tree::{CellName, Column, Instruction, Memory, Operand, OperandKind};
use super::access::{bytes, explicit_size, memory, part, written, written_operands};
use super::bits::{any, binary, signed};
use super::cells::{Cells, cell_text, implied_size};
use super::chain::Chain;
use super::flags::{Cause, condition};
use super::initial::InitialRegisters;
use super::registers::{Registers, Usage};

/// What all threads share while they are lowered.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) architecture: Architecture,
    pub(super) cells: &'a Cells,
    pub(super) registers: &'a InitialRegisters,
    /// Whether locked additions take the global lock, since their result may not fit the cell. An atomic step would
    /// keep what does not fit.
    pub(super) locks_additions: bool,
}

/// A thread made ready, and where its registers are.
pub(super) struct Lowered {
    pub(super) thread: Thread,
    pub(super) registers: Registers,
    pub(super) usage: Usage,
    /// Whether there is a locked addition.
    pub(super) adds_atomically: bool,
}

/// Lowers one thread. `observed` are the registers that the question looks at.
pub(super) fn lower(context: Context<'_>, column: &Column, observed: BTreeSet<Base>) -> Result<Lowered, Refused> {
    let usage = usage(context, column, observed)?;
    let initial =
        |base: &Base| context.registers.value(column.number, base).map_or(0, |constant| context.cells.value(constant));
    let is_upper = context.architecture == Architecture::X86;
    let registers = Registers::new(&usage, is_upper, column.span, initial);
    let mut lowering = Lowering { context, registers, chain: Chain::default(), adds_atomically: false };
    let entry = lowering.column(column, &usage, initial)?;
    let Lowering { mut registers, chain, adds_atomically, .. } = lowering;
    let body = chain.into_body(std::mem::take(&mut registers.list), entry);
    let name = format!("P{}", column.number);
    let family = (name.clone(), None);
    let thread = Thread { name, family, multiplicity: Multiplicity::One, weight: 1, body, span: column.span };
    Ok(Lowered { thread, registers, usage, adds_atomically })
}

fn usage(context: Context<'_>, column: &Column, observed: BTreeSet<Base>) -> Result<Usage, Refused> {
    let mut usage = Usage { written: written(column), observed, ..Usage::default() };
    let word = context.architecture.word();
    for base in &usage.observed {
        // All 64 bits are shown, so all are kept.
        if context.registers.declared(column.number, base).is_some_and(|kind| kind.size == 8) {
            usage.parts.entry(base.clone()).or_default().insert(Part::Quad);
        }
    }
    for instruction in &column.instructions {
        let size = context.size(instruction)?;
        let mut note = |base: &Base, part: Part| {
            usage.parts.entry(base.clone()).or_default().insert(part);
        };
        for operand in &instruction.operands {
            match &operand.kind {
                OperandKind::Register(register) => note(&register.base, part(register, size)),
                OperandKind::Memory(Memory::Computed { base, index, .. }) => {
                    note(&base.base, pointer_part(base, word));
                    if let Some((index, _)) = index {
                        note(&index.base, pointer_part(index, word));
                    }
                }
                _ => {}
            }
        }
        if instruction.operation == Operation::CompareExchange {
            note(&Base::General(ACCUMULATOR), Part::of_size(size));
            usage.note_write(&Base::General(ACCUMULATOR), size);
        }
        for register in written_operands(instruction) {
            usage.note_write(&register.base, size);
        }
        if let Operation::Set(test) | Operation::MoveIf(test) | Operation::JumpIf(test) = instruction.operation {
            usage.observed.extend(test.test.flags().iter().map(|flag| Base::Flag(*flag)));
        }
    }
    Ok(usage)
}

impl Usage {
    fn note_write(&mut self, base: &Base, size: u32) {
        let widest = self.widest_write.entry(base.clone()).or_insert(size);
        *widest = size.max(*widest);
    }
}

fn pointer_part(register: &RegisterName, word: u32) -> Part {
    register.part.unwrap_or(Part::of_size(word))
}

impl Context<'_> {
    /// Bytes that an instruction works on.
    fn size(&self, instruction: &Instruction) -> Result<u32, Refused> {
        if let Some(size) = explicit_size(instruction)?.or(implied_size(self.architecture)) {
            return Ok(size);
        }
        match memory(instruction) {
            Some((Memory::Cell(name), _)) => {
                let name = CellName { name: name.clone(), index: None };
                Ok(self.cells.find(&name).map_or(4, |cell| cell.kind.size))
            }
            Some((Memory::Computed { .. }, operand)) => {
                let error = Diagnostic::error("operand-sizes", "how many bytes does this access?", operand.span);
                Err(error.help("say it with a letter behind the instruction's name, as in `movl` or `movq`").into())
            }
            None => Ok(self.architecture.word()),
        }
    }
}

struct Lowering<'a> {
    context: Context<'a>,
    registers: Registers,
    chain: Chain,
    adds_atomically: bool,
}

/// A place in memory with a size.
struct Target {
    address: RegExpr,
    size: u32,
}

impl Lowering<'_> {
    fn column(&mut self, column: &Column, usage: &Usage, initial: impl Fn(&Base) -> Value) -> Result<LocId, Refused> {
        let count = column.instructions.len();
        let span_at = |at: usize| column.instructions.get(at).map_or(column.span, |instruction| instruction.span);
        let starts: Vec<LocId> = (0..=count).map(|at| self.chain.location(span_at(at))).collect();
        let mut labels = HashMap::new();
        for (name, at, _) in &column.labels {
            self.chain.label(starts[*at], name);
            labels.insert(name.as_str(), starts[*at]);
        }
        for (at, instruction) in column.instructions.iter().enumerate() {
            match &instruction.target {
                Some((label, span)) => {
                    let target = labels.get(label.as_str()).copied();
                    let target = target.ok_or_else(|| unknown_label(column, label, *span))?;
                    self.jump(instruction, starts[at], starts[at + 1], target);
                }
                None if instruction.operation == Operation::Return => {
                    self.chain.edge(starts[at], starts[count], Step::Skip, instruction.span);
                }
                None => {
                    self.chain.start(starts[at], starts[at + 1], instruction.span);
                    self.instruction(instruction)?;
                    self.chain.finish();
                }
            }
        }
        Ok(self.initialize(column, usage, initial, starts[0]))
    }

    /// Registers start at 0; others are set before the first instruction. Where the thread then starts.
    fn initialize(&mut self, column: &Column, usage: &Usage, initial: impl Fn(&Base) -> Value, start: LocId) -> LocId {
        let mut entry = start;
        for base in &usage.written {
            let part = if self.registers.direct(base, Part::Long).is_some() { Part::Long } else { Part::Quad };
            let value = signed(Expr::Const(initial(base)), part.size());
            if value == Expr::Const(0) {
                continue;
            }
            if let Some((register, value)) = self.registers.write(base, part, value) {
                let before = self.chain.location(column.span);
                self.chain.edge(before, entry, Step::Assign { register, value }, column.span);
                entry = before;
            }
        }
        entry
    }

    fn jump(&mut self, instruction: &Instruction, from: LocId, next: LocId, target: LocId) {
        let Operation::JumpIf(test) = instruction.operation else {
            self.chain.edge(from, target, Step::Skip, instruction.span);
            return;
        };
        let taken = condition(test, &self.registers);
        let passed = super::bits::not(taken.clone());
        self.chain.edge(from, target, Step::Assume(taken), instruction.span);
        self.chain.edge(from, next, Step::Assume(passed), instruction.span);
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let size = self.context.size(instruction)?;
        match (instruction.operation, instruction.operands.as_slice()) {
            (Operation::Fence, _) => self.chain.push(Step::Fence),
            (Operation::Move, [to, from]) => self.move_to(to, from, size)?,
            (Operation::LoadAddress, [to, from]) => {
                let OperandKind::Memory(memory) = &from.kind else { return Ok(()) };
                let address = signed(self.address(memory), size);
                self.write_register(to, size, address);
            }
            (Operation::Binary(operation), [to, from]) => self.combine(instruction, operation, to, from, size)?,
            (Operation::Compare(operation), [left, right]) => {
                let left = self.value(left, size)?;
                let right = self.value(right, size)?;
                self.set_flags(&Cause::Binary(operation, left, right), size, instruction)?;
            }
            (Operation::Unary(operation), [to]) => self.change(instruction, operation, to, size)?,
            (Operation::Shift(shift), [to, by]) => {
                let OperandKind::Immediate(constant) = &by.kind else { return Ok(()) };
                let count = self.context.cells.value(constant) & if size == 8 { 63 } else { 31 };
                if count == 0 || count >= Value::from(8 * size) {
                    return Err(bad_shift(by, size).into());
                }
                let cause = |value| Cause::Shift(shift, value, count as u32);
                self.modify(instruction, to, size, cause)?;
            }
            (Operation::Exchange, [left, right]) => self.exchange(left, right, size, true)?,
            (Operation::UnlockedExchange, [left, right]) => self.exchange(left, right, size, false)?,
            (Operation::ExchangeAdd, [to, register]) => self.exchange_add(instruction, to, register, size)?,
            (Operation::CompareExchange, [to, new]) => self.compare_exchange(instruction, to, new, size)?,
            (Operation::Read, [from]) => {
                self.value(from, size)?;
            }
            (Operation::Set(test), [to]) => {
                let value = condition(test, &self.registers);
                self.write(to, size, value)?;
            }
            (Operation::MoveIf(test), [to, from]) => {
                let value = self.value(from, size)?;
                let test = condition(test, &self.registers);
                let OperandKind::Register(register) = &to.kind else { return Ok(()) };
                // A 32-bit register is written back even if the condition does not hold, which clears the upper half.
                let kept = self.registers.read(&register.base, part(register, size));
                let (then, otherwise) = (self.assignment(register, size, value), self.assignment(register, size, kept));
                self.chain.branch(&test, then, otherwise);
            }
            _ => {}
        }
        Ok(())
    }

    fn move_to(&mut self, to: &Operand, from: &Operand, size: u32) -> Result<(), Refused> {
        if let (OperandKind::Register(register), OperandKind::Memory(_)) = (&to.kind, &from.kind)
            && let Some(id) = self.registers.direct(&register.base, part(register, size))
        {
            let target = self.target(from, size)?;
            self.chain.push(Step::Load { register: id, address: target.address });
            return Ok(());
        }
        let value = self.value(from, size)?;
        self.write(to, size, value)
    }

    fn combine(
        &mut self,
        instruction: &Instruction,
        operation: Binary,
        to: &Operand,
        from: &Operand,
        size: u32,
    ) -> Result<(), Refused> {
        // `XOR EAX,EAX` is how zero is written.
        if let (OperandKind::Register(left), OperandKind::Register(right)) = (&to.kind, &from.kind)
            && left == right
            && matches!(operation, Binary::Xor | Binary::Subtract)
        {
            let cause = Cause::Binary(operation, Expr::Const(0), Expr::Const(0));
            self.set_flags(&cause, size, instruction)?;
            return self.write(to, size, Expr::Const(0));
        }
        let source = self.value(from, size)?;
        self.modify(instruction, to, size, |old| Cause::Binary(operation, old, source.clone()))
    }

    fn change(&mut self, instruction: &Instruction, operation: Unary, to: &Operand, size: u32) -> Result<(), Refused> {
        self.modify(instruction, to, size, |old| Cause::Unary(operation, old))
    }

    /// Reads the destination, works out the result, sets flags, and writes it back; in one step if it is locked.
    fn modify(
        &mut self,
        instruction: &Instruction,
        to: &Operand,
        size: u32,
        cause: impl Fn(RegExpr) -> Cause,
    ) -> Result<(), Refused> {
        let OperandKind::Memory(_) = &to.kind else {
            let cause = cause(self.value(to, size)?);
            self.set_flags_of(instruction, &cause, size)?;
            return self.write(to, size, cause.result(size));
        };
        let target = self.target(to, size)?;
        let old = self.registers.temporary(instruction.span);
        let cause = cause(Expr::Leaf(old));
        if instruction.is_locked {
            self.modify_atomically(&target, old, &cause);
            return self.set_flags_of(instruction, &cause, size);
        }
        self.chain.push(Step::Load { register: old, address: target.address.clone() });
        self.set_flags_of(instruction, &cause, size)?;
        self.chain.push(Step::Store { address: target.address, value: cause.result(size) });
        Ok(())
    }

    /// What the cell held goes to `old`.
    fn modify_atomically(&mut self, target: &Target, old: RegId, cause: &Cause) {
        let fetch = match cause {
            Cause::Binary(Binary::And, _, value) => Some((BinaryRmw::And, value.clone())),
            Cause::Binary(Binary::Or, _, value) => Some((BinaryRmw::Or, value.clone())),
            Cause::Binary(Binary::Xor, _, value) => Some((BinaryRmw::Xor, value.clone())),
            Cause::Unary(Unary::Not, _) => Some((BinaryRmw::Xor, Expr::Const(-1))),
            Cause::Binary(Binary::Add, _, value) => Some((BinaryRmw::Add, value.clone())),
            Cause::Binary(Binary::Subtract, _, value) => Some((BinaryRmw::Subtract, value.clone())),
            Cause::Unary(Unary::Increment, _) => Some((BinaryRmw::Add, Expr::Const(1))),
            Cause::Unary(Unary::Decrement, _) => Some((BinaryRmw::Subtract, Expr::Const(1))),
            Cause::Unary(Unary::Negate, _) | Cause::Shift(..) => None,
        };
        let adds = matches!(fetch, Some((BinaryRmw::Add | BinaryRmw::Subtract, _)));
        self.adds_atomically |= adds;
        let address = target.address.clone();
        match fetch.filter(|_| !(adds && self.context.locks_additions)) {
            Some((operation, value)) => {
                let operation = Rmw::Fetch(operation, value);
                self.chain.push(Step::ReadModifyWrite { register: Some(old), address, operation });
            }
            None => {
                self.chain.push(Step::Lock);
                self.chain.push(Step::Load { register: old, address: address.clone() });
                self.chain.push(Step::Store { address, value: cause.result(target.size) });
                self.chain.push(Step::Unlock);
            }
        }
    }

    fn exchange(&mut self, left: &Operand, right: &Operand, size: u32, is_atomic: bool) -> Result<(), Refused> {
        let (cell, other) = match (&left.kind, &right.kind) {
            (OperandKind::Memory(_), _) => (left, right),
            (_, OperandKind::Memory(_)) => (right, left),
            _ => return self.exchange_registers(left, right, size),
        };
        let value = self.value(other, size)?;
        let target = self.target(cell, size)?;
        let direct = self.direct(other, size);
        let old = direct.filter(|_| is_atomic).unwrap_or_else(|| self.registers.temporary(cell.span));
        if is_atomic {
            let operation = Rmw::Exchange(value);
            self.chain.push(Step::ReadModifyWrite { register: Some(old), address: target.address, operation });
        } else {
            self.chain.push(Step::Load { register: old, address: target.address.clone() });
            self.chain.push(Step::Store { address: target.address, value });
        }
        if Some(old) == direct {
            return Ok(());
        }
        self.write(other, size, Expr::Leaf(old))
    }

    /// The register, if a value of this size can be put there as it is.
    fn direct(&self, operand: &Operand, size: u32) -> Option<RegId> {
        let OperandKind::Register(register) = &operand.kind else { return None };
        self.registers.direct(&register.base, part(register, size))
    }

    fn exchange_registers(&mut self, left: &Operand, right: &Operand, size: u32) -> Result<(), Refused> {
        let old = self.registers.temporary(left.span);
        let value = self.value(left, size)?;
        self.chain.push(Step::Assign { register: old, value });
        let value = self.value(right, size)?;
        self.write(left, size, value)?;
        self.write(right, size, Expr::Leaf(old))
    }

    fn exchange_add(
        &mut self,
        instruction: &Instruction,
        to: &Operand,
        register: &Operand,
        size: u32,
    ) -> Result<(), Refused> {
        let added = self.registers.temporary(instruction.span);
        let value = self.value(register, size)?;
        self.chain.push(Step::Assign { register: added, value });
        let target = self.target(to, size)?;
        let old = self.registers.temporary(instruction.span);
        let cause = Cause::Binary(Binary::Add, Expr::Leaf(old), Expr::Leaf(added));
        if instruction.is_locked {
            self.modify_atomically(&target, old, &cause);
        } else {
            self.chain.push(Step::Load { register: old, address: target.address.clone() });
            self.chain.push(Step::Store { address: target.address, value: cause.result(size) });
        }
        self.set_flags(&cause, size, instruction)?;
        self.write(register, size, Expr::Leaf(old))
    }

    /// Writes `new` if the cell holds what the accumulator does; else the accumulator takes what the cell holds.
    fn compare_exchange(
        &mut self,
        instruction: &Instruction,
        to: &Operand,
        new: &Operand,
        size: u32,
    ) -> Result<(), Refused> {
        let accumulator = RegisterName { base: Base::General(ACCUMULATOR), part: Some(Part::of_size(size)) };
        let expected = self.registers.read(&accumulator.base, Part::of_size(size));
        let new = self.value(new, size)?;
        let target = self.target(to, size)?;
        let old = self.registers.temporary(instruction.span);
        let cause = Cause::Binary(Binary::Subtract, expected.clone(), Expr::Leaf(old));
        let equal = binary(BinaryOp::Equal, expected.clone(), Expr::Leaf(old));
        let mut then = Vec::new();
        if instruction.is_locked {
            let operation = Rmw::CompareExchange { expected, new };
            self.chain.push(Step::ReadModifyWrite { register: Some(old), address: target.address, operation });
        } else {
            self.chain.push(Step::Load { register: old, address: target.address.clone() });
            then.push(Step::Store { address: target.address, value: new });
        }
        self.set_flags(&cause, size, instruction)?;
        let otherwise = self.assignment(&accumulator, size, Expr::Leaf(old));
        match self.registers.direct(&accumulator.base, Part::of_size(size)) {
            // If they are equal, the accumulator holds it already.
            Some(_) if then.is_empty() => otherwise.into_iter().for_each(|step| self.chain.push(step)),
            _ => self.chain.branch(&equal, then, otherwise),
        }
        Ok(())
    }

    fn set_flags_of(&mut self, instruction: &Instruction, cause: &Cause, size: u32) -> Result<(), Refused> {
        if instruction.operation.sets_flags() { self.set_flags(cause, size, instruction) } else { Ok(()) }
    }

    /// Sets those flags that anything looks at.
    fn set_flags(&mut self, cause: &Cause, size: u32, instruction: &Instruction) -> Result<(), Refused> {
        for flag in [Flag::Zero, Flag::Sign, Flag::Carry, Flag::Overflow] {
            let base = Base::Flag(flag);
            if self.registers.direct_flag(&base).is_none() {
                continue;
            }
            let value = cause.flag(flag, size, instruction.span)?;
            let Some((register, value)) = value.and_then(|value| self.registers.write(&base, Part::Quad, value)) else {
                continue;
            };
            self.chain.push(Step::Assign { register, value });
        }
        Ok(())
    }

    /// The value of an operand, with its sign. A cell is loaded first.
    fn value(&mut self, operand: &Operand, size: u32) -> Result<RegExpr, Refused> {
        Ok(match &operand.kind {
            OperandKind::Immediate(constant) => signed(Expr::Const(self.context.cells.value(constant)), size),
            OperandKind::Register(register) => self.registers.read(&register.base, part(register, size)),
            OperandKind::Memory(_) => {
                let target = self.target(operand, size)?;
                let register = self.registers.temporary(operand.span);
                self.chain.push(Step::Load { register, address: target.address });
                Expr::Leaf(register)
            }
        })
    }

    fn write(&mut self, operand: &Operand, size: u32, value: RegExpr) -> Result<(), Refused> {
        if let OperandKind::Memory(_) = &operand.kind {
            let target = self.target(operand, size)?;
            self.chain.push(Step::Store { address: target.address, value });
        } else {
            self.write_register(operand, size, value);
        }
        Ok(())
    }

    fn write_register(&mut self, operand: &Operand, size: u32, value: RegExpr) {
        if let OperandKind::Register(register) = &operand.kind {
            for step in self.assignment(register, size, value) {
                self.chain.push(step);
            }
        }
    }

    fn assignment(&self, register: &RegisterName, size: u32, value: RegExpr) -> Vec<Step> {
        let write = self.registers.write(&register.base, part(register, size), value);
        write.into_iter().map(|(register, value)| Step::Assign { register, value }).collect()
    }

    fn address(&self, memory: &Memory) -> RegExpr {
        let word = self.context.architecture.word();
        match memory {
            Memory::Cell(name) => {
                let name = CellName { name: name.clone(), index: None };
                Expr::Const(self.context.cells.find(&name).map_or(0, |cell| cell.address))
            }
            Memory::Computed { base, offset, index } => {
                let read = |register: &RegisterName| self.registers.read(&register.base, pointer_part(register, word));
                let mut address = read(base);
                if *offset != 0 {
                    address = binary(BinaryOp::Add, address, Expr::Const(*offset));
                }
                if let Some((index, scale)) = index {
                    let scaled = binary(BinaryOp::Multiply, read(index), Expr::Const(*scale));
                    address = binary(BinaryOp::Add, address, scaled);
                }
                address
            }
        }
    }

    /// Where an operand in memory is. An address that is computed is checked when it is used: it must be that of a cell of
    /// this size.
    fn target(&mut self, operand: &Operand, size: u32) -> Result<Target, Refused> {
        let OperandKind::Memory(memory) = &operand.kind else {
            return Ok(Target { address: Expr::Const(0), size });
        };
        let address = self.address(memory);
        let cells = self.context.cells;
        match (memory, &address) {
            (Memory::Cell(_), _) => {}
            (Memory::Computed { .. }, Expr::Const(fixed)) => match cells.at(*fixed) {
                None => return Err(no_cell(*fixed, operand).into()),
                Some(cell) if cell.kind.size != size => {
                    let (name, whole) = (cell_text(&cell.name), bytes(cell.kind.size));
                    let message = format!("mixed sizes: `{name}` has {whole}, and is accessed with {}", bytes(size));
                    let help =
                        "Weir models whole cells: access each with one size, and declare it so, as in `uint64_t x`";
                    return Err(Diagnostic::error("mixed-size", message, operand.span).help(help).into());
                }
                Some(_) => {}
            },
            (Memory::Computed { .. }, _) => {
                let fitting = cells.iter().filter(|cell| cell.kind.size == size);
                let is = |cell: i64| binary(BinaryOp::Equal, address.clone(), Expr::Const(cell));
                self.chain.assert(any(fitting.map(|cell| is(cell.address)).collect()));
            }
        }
        Ok(Target { address, size })
    }
}

impl Registers {
    /// The register of a flag, if anything looks at it.
    fn direct_flag(&self, base: &Base) -> Option<RegId> {
        self.write(base, Part::Quad, Expr::Const(0)).map(|(register, _)| register)
    }
}

fn unknown_label(column: &Column, label: &str, span: weir_ir::Span) -> Diagnostic {
    let message = format!("P{} has no label `{label}`", column.number);
    let error = Diagnostic::error("unknown-label", message, span);
    match nearest(label, column.labels.iter().map(|(name, _, _)| name.as_str())) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("write `{label}:` before the instruction to jump to")),
    }
}

fn bad_shift(by: &Operand, size: u32) -> Diagnostic {
    let most = 8 * size - 1;
    Diagnostic::error("wrong-shift", format!("shifts of {} are by 1 to {most} bits", bytes(size)), by.span)
        .help("leave the instruction out, or move 0 into the register")
}

fn no_cell(address: Value, operand: &Operand) -> Diagnostic {
    let message = format!("there is no cell at this address ({address})");
    Diagnostic::error("no-cell", message, operand.span)
        .help("let the register hold the address of a cell at first, as in `0:rax=x`")
}

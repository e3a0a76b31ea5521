//! Runs the instructions of a test one by one, with registers of 64 bits, flags and store buffers.

use std::collections::BTreeMap;

use weir_testkit::product::{Action, Machine};

use super::cpu::{Flags, binary, holds, low, shift, signed, unary};
use super::tree::{Cell, Initial, Instruction, Operand, Register, Size, Test};

/// What a thread holds. An instruction that reads memory before it does anything else is at its second part once it
/// has.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Local {
    pub(super) at: usize,
    loaded: Option<u64>,
    pub(super) registers: Vec<u64>,
    pub(super) flags: Flags,
    is_stuck: bool,
}

impl Local {
    pub(super) fn read(&self, register: Register) -> u64 {
        let whole = self.registers[register.number];
        low(if register.is_high { whole >> 8 } else { whole }, register.size)
    }

    fn write(&mut self, register: Register, value: u64) {
        let whole = &mut self.registers[register.number];
        let shift = if register.is_high { 8 } else { 0 };
        *whole = match register.size {
            8 => value,
            // The processor clears the upper half.
            4 => low(value, 4),
            size => *whole & !(low(u64::MAX, size) << shift) | low(value, size) << shift,
        };
    }

    fn next(mut self) -> Self {
        (self.at, self.loaded) = (self.at + 1, None);
        self
    }
}

/// A test, and where its cells are.
pub(super) struct Cpu<'t> {
    pub(super) test: &'t Test,
    /// Address, size and initial value of each cell, by name and element.
    pub(super) cells: BTreeMap<(String, Option<usize>), (i64, Size)>,
}

impl<'t> Cpu<'t> {
    pub(super) fn new(test: &'t Test) -> Self {
        let mut cells = BTreeMap::new();
        for (nth, cell) in test.cells.iter().enumerate() {
            let base = 0x2345_6700 + 0x100 * nth as i64;
            match cell.length {
                None => drop(cells.insert((cell.name.clone(), None), (base, cell.size))),
                Some(length) => (0..length).for_each(|at| {
                    let address = base + at as i64 * i64::from(cell.size);
                    cells.insert((cell.name.clone(), Some(at)), (address, cell.size));
                }),
            }
        }
        Self { test, cells }
    }

    /// The address of a cell; of an array that of its first element.
    pub(super) fn address(&self, name: &str) -> i64 {
        let found = self.cells.get(&(name.to_string(), None)).or(self.cells.get(&(name.to_string(), Some(0))));
        found.unwrap_or_else(|| panic!("no cell {name}")).0
    }

    pub(super) fn declaration(&self, name: &str) -> &Cell {
        self.test.cells.iter().find(|cell| cell.name == name).expect("declared")
    }

    fn initial_of(&self, initial: &Initial) -> i64 {
        match initial {
            Initial::Number(value) => *value,
            Initial::Address(name) => self.address(name),
        }
    }

    fn named_address(&self, operand: &Operand, local: &Local) -> Option<i64> {
        match operand {
            Operand::Cell(name) => Some(self.address(name)),
            Operand::Computed { base, offset, index } => {
                // Registers hold addresses with their sign.
                let value = |register: &Register| signed(local.read(*register), register.size) as i64;
                let index = index.as_ref().map_or(0, |(register, scale)| value(register).wrapping_mul(*scale));
                Some(value(base).wrapping_add(*offset).wrapping_add(index))
            }
            _ => None,
        }
    }
}

impl Machine for Cpu<'_> {
    type Local = Local;

    fn initial(&self) -> Vec<Local> {
        let start = |thread: &super::tree::Thread| {
            let mut registers = vec![0; super::tree::NAMES.len()];
            for one in &thread.registers {
                if let Some(value) = &one.value {
                    registers[one.register.number] = self.initial_of(value) as u64;
                }
            }
            Local { at: 0, loaded: None, registers, flags: Flags::default(), is_stuck: false }
        };
        self.test.threads.iter().map(start).collect()
    }

    fn initial_value(&self, address: i64) -> i64 {
        let (name, index) =
            self.cells.iter().find(|(_, (at, _))| *at == address).map(|(name, _)| name).expect("a cell");
        let cell = self.declaration(name);
        let value = match cell.initial.as_slice() {
            [] => 0,
            values => self.initial_of(&values[index.unwrap_or(0)]),
        };
        signed(value as u64, cell.size) as i64
    }

    fn actions<'a>(&'a self, thread: usize, local: &Local) -> Vec<Action<'a, Local>> {
        let code = &self.test.threads[thread].code;
        match code.get(local.at) {
            Some(instruction) if !local.is_stuck => vec![self.execute(thread, instruction, local.clone())],
            _ => Vec::new(),
        }
    }
}

impl Cpu<'_> {
    /// Whether a thread has nothing more to do.
    pub(super) fn is_done(&self, thread: usize, local: &Local) -> bool {
        !local.is_stuck && local.at >= self.test.threads[thread].code.len()
    }

    fn execute<'a>(&'a self, thread: usize, instruction: &Instruction, local: Local) -> Action<'a, Local> {
        if let Some(target) = &instruction.target {
            return Action::Local(self.jump(thread, instruction, target, local));
        }
        let size = instruction.size;
        let uses_memory = !matches!(instruction.name.as_str(), "lea" | "nop");
        let address = instruction.operands.iter().filter(|_| uses_memory);
        let address = address.filter_map(|operand| self.named_address(operand, &local)).next();
        let is_cell = |address: &i64| self.cells.values().any(|cell| *cell == (*address, size));
        match (instruction.name.as_str(), address) {
            ("mfence", _) => Action::Fence(local.next()),
            ("lfence" | "sfence" | "nop" | "pause", _) => Action::Local(local.next()),
            ("ret", _) => Action::Local(Local { at: usize::MAX, ..local }),
            (_, Some(address)) if !is_cell(&address) => Action::Local(Local { is_stuck: true, ..local }),
            (name, Some(address)) => self.on_memory(instruction, name, address, local),
            (name, None) => {
                let mut local = local;
                let values: Vec<u64> =
                    instruction.operands.iter().map(|operand| self.value(operand, size, &local, 0)).collect();
                let (first, second) = (values[0], values.get(1).copied().unwrap_or(0));
                self.compute(instruction, name, first, second, &mut local);
                Action::Local(local.next())
            }
        }
    }

    fn jump(&self, thread: usize, instruction: &Instruction, target: &str, local: Local) -> Local {
        let is_taken = match instruction.name.strip_prefix('j') {
            Some("mp") => true,
            Some(code) => holds(code, local.flags),
            None => panic!("{} is no jump", instruction.name),
        };
        if !is_taken {
            return local.next();
        }
        let code = &self.test.threads[thread].code;
        let at = code.iter().position(|one| one.labels.iter().any(|label| label == target));
        Local { at: at.unwrap_or(code.len()), ..local }
    }

    /// The value of an operand; `held` is what the cell of the instruction holds.
    fn value(&self, operand: &Operand, size: Size, local: &Local, held: u64) -> u64 {
        match operand {
            Operand::Number(value) => low(*value as u64, size),
            Operand::AddressOf(name) => low(self.address(name) as u64, size),
            Operand::Register(register) => local.read(part(*register, size)),
            Operand::Cell(_) | Operand::Computed { .. } => held,
        }
    }

    fn on_memory<'a>(&'a self, instruction: &Instruction, name: &str, address: i64, local: Local) -> Action<'a, Local> {
        let size = instruction.size;
        let stored = move |value: u64| signed(value, size) as i64;
        let is_memory = |operand: &Operand| matches!(operand, Operand::Cell(_) | Operand::Computed { .. });
        let is_destination = is_memory(&instruction.operands[0]);
        if name == "mov" && is_destination {
            let value = self.value(&instruction.operands[1], size, &local, 0);
            return Action::Store(address, stored(value), local.next());
        }
        if let Some(code) = name.strip_prefix("set") {
            let value = i64::from(holds(code, local.flags));
            return Action::Store(address, value, local.next());
        }
        let instruction = instruction.clone();
        if instruction.is_locked || name == "xchg" {
            return Action::Modify(
                address,
                Box::new(move |held| {
                    let mut local = local;
                    let written = self.with_held(&instruction, held as u64, &mut local);
                    (written.map(stored), local.next())
                }),
            );
        }
        match local.loaded {
            None => Action::Load(
                vec![address],
                Box::new(move |values| {
                    let held = low(values[0] as u64, size);
                    let mut after = local.clone();
                    if self.with_held(&instruction, held, &mut after).is_some() {
                        Local { loaded: Some(held), ..local }
                    } else {
                        after.next()
                    }
                }),
            ),
            Some(held) => {
                let mut local = local;
                let written = self.with_held(&instruction, held, &mut local).expect("it writes");
                Action::Store(address, stored(written), local.next())
            }
        }
    }

    /// Carries an instruction out whose cell holds `held`; what it writes there, if anything.
    fn with_held(&self, instruction: &Instruction, held: u64, local: &mut Local) -> Option<u64> {
        let size = instruction.size;
        let held = low(held, size);
        let values: Vec<u64> =
            instruction.operands.iter().map(|operand| self.value(operand, size, local, held)).collect();
        let (first, second) = (values[0], values.get(1).copied().unwrap_or(0));
        self.compute(instruction, &instruction.name, first, second, local)
    }

    /// Carries an instruction out on values; what it writes to memory, if its destination is there.
    fn compute(
        &self,
        instruction: &Instruction,
        name: &str,
        first: u64,
        second: u64,
        local: &mut Local,
    ) -> Option<u64> {
        let (size, before) = (instruction.size, local.flags);
        let mut written = None;
        let mut put = |local: &mut Local, nth: usize, value: u64| match &instruction.operands[nth] {
            Operand::Register(register) => local.write(part(*register, size), value),
            _ => written = Some(low(value, size)),
        };
        match name {
            "mov" => put(local, 0, second),
            "lea" => {
                let address = self.named_address(&instruction.operands[1], local).expect("an address");
                put(local, 0, address as u64);
            }
            "add" | "sub" | "and" | "or" | "xor" => {
                let (result, flags) = binary(name, first, second, size);
                local.flags = flags;
                put(local, 0, result);
            }
            "cmp" | "test" => local.flags = binary(name, first, second, size).1,
            "inc" | "dec" | "neg" | "not" => {
                let (result, flags) = unary(name, first, size, before);
                local.flags = flags;
                put(local, 0, result);
            }
            "shl" | "sal" | "shr" | "sar" => {
                let Operand::Number(count) = instruction.operands[1] else { panic!("shifts are by a number") };
                let (result, flags) = shift(name, first, count as u32, size);
                local.flags = flags;
                put(local, 0, result);
            }
            "xchg" | "uxch" => {
                put(local, 0, second);
                put(local, 1, first);
            }
            "xadd" => {
                let (sum, flags) = binary(name, first, second, size);
                local.flags = flags;
                // The sum counts where both are one register; here the first is a cell.
                put(local, 1, first);
                put(local, 0, sum);
            }
            "cmpxchg" => {
                let accumulator = Register::new(0, size);
                let expected = local.read(accumulator);
                local.flags = binary(name, expected, first, size).1;
                if expected == first {
                    put(local, 0, second);
                } else {
                    local.write(accumulator, first);
                }
            }
            "read" => {}
            _ if name.starts_with("set") => put(local, 0, u64::from(holds(&name[3..], before))),
            _ if name.starts_with("cmov") => {
                // A 32-bit register is written back in any case, which clears its upper half.
                put(local, 0, if holds(&name[4..], before) { second } else { first });
            }
            _ => panic!("no instruction {name}"),
        }
        written
    }
}

/// The part of a register that an instruction of this size means.
pub(super) fn part(register: Register, size: Size) -> Register {
    if register.size == size { register } else { Register::new(register.number, size) }
}

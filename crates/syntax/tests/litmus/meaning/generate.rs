//! Random tests: one thread that computes, or two that meet in memory.

use std::collections::BTreeSet;

use weir_testkit::Rng;

use super::cpu::CODES;
use super::questions;
use super::text::SYMBOLIC;
use super::tree::{Cell, Condition, Declared, Initial, Instruction, Operand, Quantifier, Register, Size, Test, Thread};

/// Values at the edges of the widths.
pub(super) const EDGES: [i64; 17] = [
    0,
    1,
    -1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    -0x80,
    -0x8000_0000,
    i64::MAX,
    i64::MIN,
];

/// Types with their sizes and whether they have a sign.
const TYPES: [(&str, Size, bool); 14] = [
    ("char", 1, true),
    ("int8_t", 1, true),
    ("uint8_t", 1, false),
    ("short", 2, true),
    ("int16_t", 2, true),
    ("uint16_t", 2, false),
    ("ushort", 2, false),
    ("int", 4, true),
    ("int32_t", 4, true),
    ("uint32_t", 4, false),
    ("unsigned", 4, false),
    ("uint", 4, false),
    ("int64_t", 8, true),
    ("uint64_t", 8, false),
];

/// Registers that hold addresses, and the one that counts elements.
const POINTER: usize = 4;
const ARRAY: usize = 5;
const INDEX: usize = 6;

pub(super) fn test(seed: u64) -> Test {
    let mut rng = Rng::new(seed);
    let is_wide = rng.chance(65);
    let uses_pointers = rng.chance(50);
    let cells = cells(&mut rng, is_wide, uses_pointers);
    let count = rng.between(1, 2);
    let numbers = if count == 2 && rng.chance(20) { vec![1, 3] } else { (0..count).collect() };
    let threads = numbers.into_iter().map(|number| {
        let length = if count == 1 { rng.between(3, 6) } else { rng.between(1, 3) };
        Maker { rng: &mut rng, is_wide, uses_pointers, cells: &cells }.thread(number, length)
    });
    let threads = threads.collect();
    let (quantifier, condition) = (Quantifier::Exists, Condition::True);
    let style = rng.bits();
    let mut test = Test { is_wide, cells, threads, locations: Vec::new(), filter: None, quantifier, condition, style };
    settle_undeclared(&mut test);
    questions::add(&mut test, &mut rng);
    test
}

/// A cell without a type is as large as the instructions that name it work on, by its name or by a register that holds
/// its address for good; if none does, as large as all accesses by way of registers; else it has 4 bytes. Where the
/// accesses made up here are of another size, it gets a type after all.
fn settle_undeclared(test: &mut Test) {
    if test.cells[0].declared.is_some() {
        return;
    }
    let (mut named, mut computed, mut is_direct) = (BTreeSet::new(), BTreeSet::new(), false);
    for thread in &test.threads {
        let writes_pointer = thread
            .code
            .iter()
            .any(|one| matches!(one.operands.first(), Some(Operand::Register(to)) if to.number == POINTER));
        let holds_x = thread.registers.iter().any(|one| {
            one.register.number == POINTER && matches!(&one.value, Some(Initial::Address(name)) if name == "x")
        });
        for instruction in thread.code.iter().filter(|one| one.name != "lea") {
            let is_register = |operand: &Operand| matches!(operand, Operand::Register(_));
            let is_set = instruction.name.starts_with("set");
            let is_sized =
                !test.is_wide || instruction.has_suffix || is_set || instruction.operands.iter().any(is_register);
            for operand in &instruction.operands {
                match operand {
                    Operand::Cell(name) if name == "x" => {
                        is_direct = true;
                        named.extend(is_sized.then_some(instruction.size));
                    }
                    Operand::Computed { base, offset: 0, index: None } if base.number == POINTER => {
                        computed.insert(instruction.size);
                        named.extend((holds_x && !writes_pointer).then_some(instruction.size));
                    }
                    Operand::Computed { .. } => drop(computed.insert(instruction.size)),
                    _ => {}
                }
            }
        }
    }
    let found = match (named.len(), computed.len()) {
        (1, _) => named.first(),
        (0, 1) => computed.first(),
        (0, _) => Some(&4),
        _ => None,
    };
    let cell = &mut test.cells[0];
    match found {
        Some(&size) if size == cell.size || !is_direct => cell.size = size,
        _ => {
            cell.declared = TYPES.iter().find(|(_, size, is_signed)| *size == cell.size && *is_signed).map(|one| one.0)
        }
    }
}

fn some_type(rng: &mut Rng, is_wide: bool) -> (&'static str, Size, bool) {
    let count = if is_wide { TYPES.len() } else { TYPES.len() - 2 };
    match rng.below(8) {
        0 => ("long", if is_wide { 8 } else { 4 }, true),
        1 => ("uintptr_t", if is_wide { 8 } else { 4 }, false),
        _ => TYPES[rng.below(count)],
    }
}

fn cells(rng: &mut Rng, is_wide: bool, uses_pointers: bool) -> Vec<Cell> {
    let scalar = |rng: &mut Rng, name: &str| {
        let (declared, size, is_signed) = some_type(rng, is_wide);
        let initial = if rng.chance(50) { vec![Initial::Number(*rng.pick(&EDGES))] } else { Vec::new() };
        Cell { name: name.into(), length: None, declared: Some(declared), size, is_signed, initial }
    };
    let mut x = scalar(rng, "x");
    if rng.chance(50) {
        (x.declared, x.is_signed) = (None, true);
    }
    let mut array = scalar(rng, "t");
    array.length = Some(2);
    array.initial = if rng.chance(50) { vec![Initial::Number(1), Initial::Number(-1)] } else { Vec::new() };
    let mut cells = vec![x, scalar(rng, "y"), array];
    if uses_pointers {
        let (size, target) = (if is_wide { 8 } else { 4 }, rng.pick(&["x", "y"]).to_string());
        let declared = rng.chance(50).then_some("int *");
        let initial = vec![Initial::Address(target)];
        cells.push(Cell { name: "p".into(), length: None, declared, size, is_signed: true, initial });
    }
    cells
}

struct Maker<'r> {
    rng: &'r mut Rng,
    is_wide: bool,
    uses_pointers: bool,
    cells: &'r [Cell],
}

impl Maker<'_> {
    fn address_size(&self) -> Size {
        if self.is_wide { 8 } else { 4 }
    }

    fn thread(&mut self, number: usize, length: usize) -> Thread {
        let mut registers = Vec::new();
        for register in 0..3 {
            if self.rng.chance(60) {
                let declared = if self.rng.chance(25) { Some(some_type(self.rng, self.is_wide)) } else { None };
                let value = Initial::Number(*self.rng.pick(&EDGES));
                registers.push(Declared {
                    register: Register::new(register, self.address_size()),
                    value: Some(value),
                    declared,
                });
            }
        }
        if self.uses_pointers {
            let target = Initial::Address(self.rng.pick(&["x", "y"]).to_string());
            let index = Initial::Number(self.rng.below(2) as i64);
            for (number, value) in [(POINTER, target), (ARRAY, Initial::Address("t".into())), (INDEX, index)] {
                let register = Register::new(number, self.address_size());
                registers.push(Declared { register, value: Some(value), declared: None });
            }
        }
        let mut code: Vec<Instruction> = (0..length).map(|_| self.instruction()).collect();
        let mut last_labels = Vec::new();
        if self.rng.chance(40) {
            self.jump(&mut code, &mut last_labels);
        }
        Thread { number, registers, code, last_labels }
    }

    /// Adds a jump to somewhere behind it.
    fn jump(&mut self, code: &mut Vec<Instruction>, last_labels: &mut Vec<String>) {
        let from = self.rng.below(code.len());
        let name = if self.rng.chance(20) { "jmp".to_string() } else { format!("j{}", self.code()) };
        let mut jump = plain(&name, 4, Vec::new());
        jump.target = Some("L0".into());
        code.insert(from, jump);
        let to = self.rng.between(from + 1, code.len());
        match code.get_mut(to) {
            Some(instruction) => instruction.labels.push("L0".into()),
            None => last_labels.push("L0".into()),
        }
    }

    fn code(&mut self) -> &'static str {
        let (names, _) = *self.rng.pick(&CODES);
        self.rng.pick::<&'static str>(names)
    }

    /// A register for values.
    fn register(&mut self, size: Size) -> Register {
        let choices: &[usize] = if self.is_wide { &[0, 0, 1, 2, 3, 7, 9] } else { &[0, 0, 1, 2, 3, SYMBOLIC] };
        let number = *self.rng.pick(choices);
        let is_high = size == 1 && number < 4 && self.rng.chance(30);
        Register { number, size, is_high }
    }

    fn any_size(&mut self) -> Size {
        *self.rng.pick(if self.is_wide { &[1, 2, 4, 4, 8, 8] } else { &[1, 2, 4, 4, 4, 4] })
    }

    /// A place in memory and its size.
    fn memory(&mut self) -> (Operand, Size) {
        let cell = self.cells[self.rng.below(3)].clone();
        let size = cell.size;
        let address_size = self.address_size();
        let base = |number| Register::new(number, address_size);
        if self.uses_pointers && self.rng.chance(50) {
            if cell.length.is_none() {
                // It may point to a cell of another size, and then the thread gets stuck.
                return (Operand::Computed { base: base(POINTER), offset: 0, index: None }, size);
            }
            let element = self.rng.below(2) as i64 * i64::from(size);
            let by_index =
                Operand::Computed { base: base(ARRAY), offset: 0, index: Some((base(INDEX), i64::from(size))) };
            let by_offset = Operand::Computed { base: base(ARRAY), offset: element, index: None };
            return (if self.rng.chance(50) { by_index } else { by_offset }, size);
        }
        (Operand::Cell(cell.name), size)
    }

    fn source(&mut self, size: Size) -> Operand {
        if self.rng.chance(45) {
            return Operand::Number(*self.rng.pick(&EDGES));
        }
        Operand::Register(self.register(size))
    }

    fn instruction(&mut self) -> Instruction {
        match self.rng.below(32) {
            0..=3 => self.two("mov"),
            4..=9 => {
                let name = *self.rng.pick(&["add", "sub", "and", "or", "xor"]);
                self.lockable(name)
            }
            10..=12 => {
                let name = *self.rng.pick(&["cmp", "test"]);
                self.two(name)
            }
            13..=15 => self.one(),
            16 | 17 => self.shift(),
            18 | 19 => self.exchange(),
            20 | 21 => self.with_cell_and_register("xadd"),
            22 | 23 => self.with_cell_and_register("cmpxchg"),
            24 | 25 => self.set(),
            26 => self.move_if(),
            27 => plain("mfence", 4, Vec::new()),
            28 => self.of_address(),
            29 => {
                let (memory, size) = self.memory();
                self.sized(plain("read", size, vec![memory]))
            }
            30 if self.rng.chance(30) => plain("ret", 4, Vec::new()),
            _ => {
                let name = *self.rng.pick(&["nop", "lfence", "sfence", "pause"]);
                plain(name, 4, Vec::new())
            }
        }
    }

    /// Says how many bytes are meant, if nothing else does or by chance.
    fn sized(&mut self, mut instruction: Instruction) -> Instruction {
        // A register without a name of the processor is as wide as it needs to be.
        let is_own = |register: &Register| !self.is_wide && register.number == SYMBOLIC;
        let is_register = |operand: &Operand| matches!(operand, Operand::Register(register) if !is_own(register));
        let has_register = instruction.operands.iter().any(is_register);
        // Without a letter, tests of 32 bits mean 4 bytes, and those of 64 bits what the cell has.
        let is_direct = instruction.operands.iter().any(|operand| matches!(operand, Operand::Cell(_)));
        let is_known = has_register || if self.is_wide { is_direct } else { instruction.size == 4 };
        instruction.has_suffix = !is_known || self.rng.chance(40);
        // `movl (x),%rax` means `%eax`.
        if self.is_wide && instruction.has_suffix && instruction.size == 4 && self.rng.chance(20) {
            for operand in &mut instruction.operands {
                if let Operand::Register(register) = operand {
                    register.size = 8;
                }
            }
        }
        instruction
    }

    /// Register and register or number, or memory on one side.
    fn two(&mut self, name: &str) -> Instruction {
        let operands = match self.rng.below(3) {
            0 => {
                let size = self.any_size();
                let operands = vec![Operand::Register(self.register(size)), self.source(size)];
                return self.sized(plain(name, size, operands));
            }
            1 => {
                let (memory, size) = self.memory();
                (size, vec![memory, self.source(size)])
            }
            _ => {
                let (memory, size) = self.memory();
                (size, vec![Operand::Register(self.register(size)), memory])
            }
        };
        self.sized(plain(name, operands.0, operands.1))
    }

    fn lockable(&mut self, name: &str) -> Instruction {
        let mut instruction = self.two(name);
        if self.rng.chance(15) && instruction.size >= 4 {
            // How zero is written.
            let register = Operand::Register(self.register(instruction.size));
            instruction = self.sized(plain(name, instruction.size, vec![register.clone(), register]));
        }
        self.perhaps_locked(instruction)
    }

    fn perhaps_locked(&mut self, mut instruction: Instruction) -> Instruction {
        let is_memory = matches!(instruction.operands[0], Operand::Cell(_) | Operand::Computed { .. });
        instruction.is_locked = is_memory && self.rng.chance(50);
        instruction
    }

    fn one(&mut self) -> Instruction {
        let name = *self.rng.pick(&["inc", "dec", "neg", "not"]);
        let (operand, size) = if self.rng.chance(50) {
            let size = self.any_size();
            (Operand::Register(self.register(size)), size)
        } else {
            self.memory()
        };
        let instruction = self.sized(plain(name, size, vec![operand]));
        self.perhaps_locked(instruction)
    }

    fn shift(&mut self) -> Instruction {
        let name = *self.rng.pick(&["shl", "sal", "shr", "sar"]);
        let (operand, size) = if self.rng.chance(70) {
            let size = self.any_size();
            (Operand::Register(self.register(size)), size)
        } else {
            self.memory()
        };
        let most = 8 * size as usize - 1;
        let count = if self.rng.chance(60) { 1 } else { self.rng.between(1, most) };
        self.sized(plain(name, size, vec![operand, Operand::Number(count as i64)]))
    }

    fn exchange(&mut self) -> Instruction {
        let name = *self.rng.pick(&["xchg", "xchg", "uxch"]);
        if self.rng.chance(30) {
            let size = self.any_size();
            let operands = vec![Operand::Register(self.register(size)), Operand::Register(self.register(size))];
            return self.sized(plain(name, size, operands));
        }
        let (memory, size) = self.memory();
        let mut operands = vec![memory, Operand::Register(self.register(size))];
        if self.rng.chance(50) {
            operands.reverse();
        }
        let mut instruction = self.sized(plain(name, size, operands));
        instruction.is_locked = name == "xchg" && self.rng.chance(30);
        instruction
    }

    fn with_cell_and_register(&mut self, name: &str) -> Instruction {
        let (memory, size) = self.memory();
        let operands = vec![memory, Operand::Register(self.register(size))];
        let instruction = self.sized(plain(name, size, operands));
        self.perhaps_locked(instruction)
    }

    fn set(&mut self) -> Instruction {
        let name = format!("set{}", self.code());
        let (memory, size) = self.memory();
        let operand = if size == 1 && self.rng.chance(50) { memory } else { Operand::Register(self.register(1)) };
        plain(&name, 1, vec![operand])
    }

    fn move_if(&mut self) -> Instruction {
        let name = format!("cmov{}", self.code());
        let (from, size) = if self.rng.chance(50) {
            self.memory()
        } else {
            let size = self.any_size();
            (Operand::Register(self.register(size)), size)
        };
        // One of the processor's, which says how many bytes are meant.
        let mut to = self.register(size);
        if to.number == SYMBOLIC && !self.is_wide {
            to.number = 1;
        }
        plain(&name, size, vec![Operand::Register(to), from])
    }

    /// Puts an address into the register for addresses.
    fn of_address(&mut self) -> Instruction {
        if !self.uses_pointers {
            return plain("nop", 4, Vec::new());
        }
        let to = Operand::Register(Register::new(POINTER, self.address_size()));
        let name = self.rng.pick(&["x", "y"]).to_string();
        let (instruction, from) = match self.rng.below(4) {
            0 => ("mov", Operand::AddressOf(name)),
            1 => ("mov", Operand::Cell("p".into())),
            2 => ("lea", Operand::Cell(name)),
            _ => {
                let base = Register::new(ARRAY, self.address_size());
                let index = Some((Register::new(INDEX, self.address_size()), i64::from(self.cells[2].size)));
                ("lea", Operand::Computed { base, offset: 0, index })
            }
        };
        plain(instruction, self.address_size(), vec![to, from])
    }
}

fn plain(name: &str, size: Size, operands: Vec<Operand>) -> Instruction {
    let (is_locked, has_suffix, target, labels) = (false, false, None, Vec::new());
    Instruction { is_locked, name: name.into(), has_suffix, size, operands, target, labels }
}

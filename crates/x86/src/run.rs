//! Runs code at load time, on one thread and without store buffers: what a function like `setup(&q)` does before the
//! threads begin.

use std::collections::HashMap;

use weir_ir::{BinaryRmw, Interrupt, Poll, Value};

use crate::heap;
use crate::image::{Image, SymbolKind};
use crate::lift::{LONGEST, decode, lift};
use crate::local;
use crate::models::{Outcome, built_in, system_call};
use crate::ops::{Change, E, Leaf, Lifted, Next, Op, Reg, Test, mask};
use crate::refusal::Refusal;

/// More instructions than this are refused: the code does not seem to end.
const MOST_STEPS: u64 = 100_000_000;
/// Where the stack ends, and how large it is.
const STACK_END: u64 = 0x7ffe_0000_0000;
const STACK_SIZE: u64 = 1 << 20;
/// Returning there ends the run.
const FINISH: u64 = 0x10;

/// Runs a function until it returns. Memory stays as it leaves it.
///
/// # Errors
/// If it does something that is not supported, fails, or does not end.
pub(crate) fn call(
    image: &mut Image,
    entry: u64,
    arguments: &[Value],
    interrupt: &dyn Interrupt,
) -> Result<Value, Refusal> {
    let mut machine = Machine {
        image,
        stack: vec![0; STACK_SIZE as usize],
        registers: [0; Reg::COUNT],
        flags: [None; 8],
        lifted: HashMap::new(),
    };
    for (reg, &argument) in Reg::ARGUMENTS.into_iter().zip(arguments) {
        machine.registers[usize::from(reg.0)] = argument;
    }
    machine.registers[usize::from(Reg::FS.0)] = local::end(local::PREPARATION) as Value;
    // As after a call: a multiple of 16 less 8.
    let top = (STACK_END - 72) as Value;
    machine.registers[usize::from(Reg::SP.0)] = top;
    machine.store(top, 8, FINISH as Value).map_err(|refusal| refusal.at(entry))?;
    let poll = Poll::later(interrupt);
    let mut at = entry;
    for _ in 0..MOST_STEPS {
        if poll.is_over() {
            return Err(Refusal::new("interrupted", "reading was interrupted"));
        }
        if at == FINISH {
            return Ok(machine.registers[usize::from(Reg::AX.0)]);
        }
        at = machine.step(at).map_err(|refusal| refusal.at(at))?;
    }
    Err(Refusal::new("endless-init", "the code that prepares memory takes more than 100 million instructions")
        .help("give `--init` a function that ends"))
}

struct Machine<'i> {
    image: &'i mut Image,
    stack: Vec<u8>,
    registers: [Value; Reg::COUNT],
    /// What each test tells; `None` if it is undefined.
    flags: [Option<bool>; 8],
    lifted: HashMap<u64, Lifted>,
}

impl Machine<'_> {
    /// Executes one instruction; the address of the next one.
    fn step(&mut self, at: u64) -> Result<u64, Refusal> {
        if let Some(name) = self.image.externals.get(&at).cloned().or_else(|| self.allocator(at)) {
            self.external(&name)?;
            return self.pop().map(|to| to as u64);
        }
        let lifted = match self.lifted.get(&at) {
            Some(lifted) => lifted.clone(),
            None => {
                let lifted = instruction(self.image, at)?;
                self.lifted.insert(at, lifted.clone());
                lifted
            }
        };
        for op in &lifted.ops {
            self.execute(op)?;
        }
        Ok(match lifted.next {
            Next::Fall => lifted.end,
            Next::Jump(to) => to,
            Next::Branch(condition, to) => {
                if self.value(&condition)? != 0 {
                    to
                } else {
                    lifted.end
                }
            }
            Next::JumpTo(to) => self.value(&to)? as u64,
            Next::Call(to) => {
                let to = self.value(&to)? as u64;
                let below = self.registers[usize::from(Reg::SP.0)].wrapping_sub(8);
                self.registers[usize::from(Reg::SP.0)] = below;
                self.store(below, 8, lifted.end as Value)?;
                to
            }
            Next::Return => self.pop()? as u64,
            Next::Repeat(ops) => {
                // The instruction is executed again until the count is 0, so that the limit of steps holds.
                if self.registers[usize::from(Reg::CX.0)] == 0 {
                    return Ok(lifted.end);
                }
                for op in &ops {
                    self.execute(op)?;
                }
                at
            }
            Next::Trap => return Err(failed("the code raises an exception")),
        })
    }

    fn pop(&mut self) -> Result<Value, Refusal> {
        let top = self.registers[usize::from(Reg::SP.0)];
        self.registers[usize::from(Reg::SP.0)] = top.wrapping_add(8);
        self.load(top, 8)
    }

    /// Executes one operation.
    fn execute(&mut self, op: &Op) -> Result<(), Refusal> {
        match op {
            Op::Set(to, value) => self.registers[usize::from(to.0)] = self.value(value)?,
            Op::SetIf(condition, to, value) => {
                if self.value(condition)? != 0 {
                    self.registers[usize::from(to.0)] = self.value(value)?;
                }
            }
            Op::Load { to, address, size } => {
                let address = self.value(address)?;
                self.registers[usize::from(to.0)] = self.load(address, *size)?;
            }
            Op::Store { address, value, size } => {
                let (address, value) = (self.value(address)?, self.value(value)?);
                self.store(address, *size, value)?;
            }
            Op::Change { to, address, size, change } => {
                let address = self.value(address)?;
                let old = self.load(address, *size)?;
                let new = match change {
                    Change::Exchange(value) => self.value(value)?,
                    Change::CompareExchange(expected, new) => {
                        if self.value(expected)? == old {
                            self.value(new)?
                        } else {
                            old
                        }
                    }
                    Change::Fetch(kind, value) => BinaryRmw::operator(*kind).apply(old, self.value(value)?),
                };
                self.store(address, *size, new)?;
                self.registers[usize::from(to.0)] = old;
            }
            Op::ChangePair { to, address, expected, new } => {
                let address = self.value(address)?;
                let old = (self.load(address, 8)?, self.load(address.wrapping_add(8), 8)?);
                if old == (self.value(&expected.0)?, self.value(&expected.1)?) {
                    let (low, high) = (self.value(&new.0)?, self.value(&new.1)?);
                    self.store(address, 8, low)?;
                    self.store(address.wrapping_add(8), 8, high)?;
                }
                self.registers[usize::from(to.0.0)] = old.0;
                self.registers[usize::from(to.1.0)] = old.1;
            }
            Op::Fence | Op::Membarrier => {}
            Op::Flag(test, value) => {
                // What is undefined may depend on what is undefined.
                let value = value.as_ref().and_then(|value| self.value(value).ok());
                self.flags[*test as usize] = value.map(|value| value != 0);
            }
            Op::Limit(..) => {}
            Op::Check(condition) => {
                if self.value(condition)? == 0 {
                    return Err(failed("the code divides by zero, or raises another exception,"));
                }
            }
        }
        Ok(())
    }

    fn value(&self, expr: &E) -> Result<Value, Refusal> {
        let mut undefined = None;
        let value = expr.eval(&mut |leaf| match leaf {
            Leaf::Reg(reg) => self.registers[usize::from(reg.0)],
            Leaf::Test(test) => match self.flags[*test as usize] {
                Some(flag) => flag.into(),
                None => {
                    undefined = Some(*test);
                    0
                }
            },
        });
        undefined.map_or(Ok(value), |test| Err(undefined_flag(test)))
    }

    fn load(&self, address: Value, size: u32) -> Result<Value, Refusal> {
        let bytes = match self.stack_range(address, size) {
            Some(range) => &self.stack[range],
            None => self.image.bytes(address as u64, size as usize).ok_or_else(|| no_memory(address))?,
        };
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | Value::from(byte)))
    }

    fn store(&mut self, address: Value, size: u32, value: Value) -> Result<(), Refusal> {
        let bytes = match self.stack_range(address, size) {
            Some(range) => &mut self.stack[range],
            None => {
                let is_writable =
                    self.image.region(address as u64, size as usize).is_some_and(|region| region.is_writable);
                if is_writable && heap::RANGE.contains(&(address as u64)) {
                    self.note_write(address as u64, size);
                }
                let bytes = self.image.bytes_mut(address as u64, size as usize).filter(|_| is_writable);
                bytes.ok_or_else(|| no_memory(address))?
            }
        };
        bytes.copy_from_slice(&(value & mask(size)).to_le_bytes()[..size as usize]);
        Ok(())
    }

    /// Remembers how allocated memory is used: the latest use counts.
    fn note_write(&mut self, address: u64, size: u32) {
        let near = self.image.written.range(address.saturating_sub(8)..address + u64::from(size));
        let replaced: Vec<u64> =
            near.filter(|&(&at, &length)| at + u64::from(length) > address).map(|(&at, _)| at).collect();
        for at in replaced {
            self.image.written.remove(&at);
        }
        self.image.written.insert(address, size);
    }

    fn stack_range(&self, address: Value, size: u32) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from((address as u64).checked_sub(STACK_END - STACK_SIZE)?).ok()?;
        let end = start.checked_add(size as usize)?;
        (end <= self.stack.len()).then_some(start..end)
    }

    /// The name of a function in the file that allocates or frees: what it does in detail is of no interest.
    fn allocator(&self, at: u64) -> Option<String> {
        // What has been executed before is none.
        let is_new = !self.lifted.contains_key(&at);
        let symbol = self.image.symbol_at(at, SymbolKind::Function).filter(|symbol| is_new && symbol.address == at)?;
        let outcome = built_in(&symbol.name);
        matches!(outcome, Some(Outcome::Allocates(_) | Outcome::Frees)).then(|| symbol.name.clone())
    }

    /// A function with a model; what it returns.
    fn modelled(&mut self, name: &str, outcome: &Outcome, arguments: [Value; 2]) -> Result<Value, Refusal> {
        match outcome {
            Outcome::Returns(value) => Ok(*value),
            Outcome::Fence | Outcome::Membarrier => Ok(0),
            Outcome::Fails => Err(failed(&format!("the code calls `{name}`"))),
            Outcome::System => {
                let outcome = system_call(arguments[0], Some(arguments[1]));
                let outcome = outcome.ok_or_else(|| failed("the code makes a system call that is not known"))?;
                self.modelled(name, &outcome, arguments)
            }
            Outcome::Allocates(which) => {
                let size = heap::size(*which, arguments.map(Some)).and_then(|size| Value::try_from(size).ok());
                heap::allocate(self.image, size.unwrap_or(-1)).map(|address| address as Value)
            }
            Outcome::FindsLocal => {
                local::find(self.image).iter().try_for_each(|op| self.execute(op))?;
                Ok(self.registers[usize::from(Reg::AX.0)])
            }
            // These are done byte by byte.
            Outcome::Copies | Outcome::Sets => Err(failed(&format!("the code calls `{name}`"))),
            Outcome::Frees if arguments[0] == 0 => Ok(0),
            Outcome::Frees => {
                self.registers[usize::from(Reg::DI.0)] = arguments[0];
                heap::free().iter().try_for_each(|op| self.execute(op))?;
                Ok(0)
            }
        }
    }

    /// A function that is not in the file.
    fn external(&mut self, name: &str) -> Result<(), Refusal> {
        let arguments = Reg::ARGUMENTS.map(|reg| self.registers[usize::from(reg.0)]);
        let argument = |number: usize| arguments[number];
        let result = match name {
            "memset" => {
                // This says nothing about how the memory is used.
                let written = self.image.written.clone();
                for at in 0..argument(2) {
                    self.store(argument(0).wrapping_add(at), 1, argument(1))?;
                }
                self.image.written = written;
                argument(0)
            }
            "memcpy" | "memmove" => {
                let (to, from) = (argument(0), argument(1));
                let bytes: Vec<Value> =
                    (0..argument(2)).map(|at| self.load(from.wrapping_add(at), 1)).collect::<Result<_, _>>()?;
                for (at, byte) in (0..).zip(bytes) {
                    self.store(to.wrapping_add(at), 1, byte)?;
                }
                to
            }
            name => match built_in(name) {
                Some(outcome) => self.modelled(name, &outcome, [argument(0), argument(1)])?,
                None => {
                    return Err(Refusal::new(
                        "unknown-function",
                        format!("the code that prepares memory calls `{name}`, which is not in the file"),
                    )
                    .help("link it in (`ld -r`), or prepare memory without it"));
                }
            },
        };
        self.registers[usize::from(Reg::AX.0)] = result;
        Ok(())
    }
}

/// The instruction at an address.
pub(crate) fn instruction(image: &Image, at: u64) -> Result<Lifted, Refusal> {
    let code = image
        .code(at, LONGEST)
        .ok_or_else(|| Refusal::new("no-code", format!("control goes to {at:#x}, where there is no code")))?;
    let instruction = decode(code, at).ok_or_else(|| {
        Refusal::new("unsupported-instruction", "this is no instruction that Weir knows")
            .help("compile for plain x86-64 without vector code (`-O1`, or `-O2 -fno-tree-vectorize -mno-avx`)")
    });
    let instruction = instruction.map_err(|refusal| refusal.at(at))?;
    let covered = at..at.saturating_add(instruction.len() as u64);
    if let Some((_, reason)) = image.unsupported.range(covered).next() {
        return Err(Refusal::new(
            "unsupported-relocation",
            format!("the instruction uses {reason}, which is not supported"),
        )
        .help("make the variable an ordinary one, and give each thread its own")
        .at(at));
    }
    lift(&instruction)
}

/// A test of a flag that nothing has set.
pub(crate) fn undefined_flag(test: Test) -> Refusal {
    let message =
        format!("the instruction looks at a flag (for \"{}\") that the code before it leaves undefined", test.name());
    Refusal::new("undefined-flag", message)
}

fn no_memory(address: Value) -> Refusal {
    failed(&format!("the code accesses address {address:#x}, where there is no memory of that kind"))
}

fn failed(what: &str) -> Refusal {
    Refusal::new("init-failed", format!("{what} while it prepares memory"))
}

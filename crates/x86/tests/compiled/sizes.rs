//! Accesses of several sizes to the same bytes, against a naive machine with store buffers that knows only bytes.
//! `WEIR_SEEDS=5000` tries more programs.

use std::collections::BTreeSet;

use weir_testkit::{Model, Rng, explore};
use weir_x86::{Options, ReadError};

use crate::compiler::{Folder, gcc};

/// One access. Offsets are bytes in two variables of 8 bytes, one behind the other.
#[derive(Clone, Copy, Debug)]
enum Step {
    Store {
        at: usize,
        size: usize,
        value: u64,
    },
    Load {
        at: usize,
        size: usize,
    },
    Exchange {
        at: usize,
        size: usize,
        value: u64,
    },
    /// Compares 16 bytes with 0, and exchanges them.
    Pair {
        low: u64,
        high: u64,
    },
    Fence,
}

type Thread = Vec<Step>;

/// The machine: memory, buffers of stores, and what each thread has loaded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    memory: [u8; 16],
    buffers: [Vec<(usize, Vec<u8>)>; 2],
    at: [usize; 2],
    loaded: [Vec<u64>; 2],
}

fn bytes_of(value: u64, size: usize) -> Vec<u8> {
    value.to_le_bytes()[..size].to_vec()
}

fn value_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

impl State {
    /// What a thread loads; `None` if it must wait.
    fn load(&self, thread: usize, at: usize, size: usize) -> Option<u64> {
        for (start, bytes) in self.buffers[thread].iter().rev() {
            let end = start + bytes.len();
            if *start <= at && at + size <= end {
                return Some(value_of(&bytes[at - start..at - start + size]));
            }
            if *start < at + size && at < end {
                return None;
            }
        }
        Some(value_of(&self.memory[at..at + size]))
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.memory[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The state after the next step of a thread, if it can be taken.
    fn step(&self, thread: usize, step: Step) -> Option<State> {
        let mut next = self.clone();
        let is_empty = self.buffers[thread].is_empty();
        match step {
            Step::Store { at, size, value } => next.buffers[thread].push((at, bytes_of(value, size))),
            Step::Load { at, size } => {
                let value = self.load(thread, at, size)?;
                next.loaded[thread].push(value);
            }
            Step::Exchange { .. } | Step::Pair { .. } | Step::Fence if !is_empty => return None,
            Step::Exchange { at, size, value } => {
                next.loaded[thread].push(value_of(&self.memory[at..at + size]));
                next.write(at, &bytes_of(value, size));
            }
            Step::Pair { low, high } => {
                next.loaded[thread].push(value_of(&self.memory[..8]));
                if self.memory == [0; 16] {
                    next.write(0, &bytes_of(low, 8));
                    next.write(8, &bytes_of(high, 8));
                }
            }
            Step::Fence => {}
        }
        next.at[thread] += 1;
        Some(next)
    }

    fn flush(&self, thread: usize) -> Option<State> {
        let mut next = self.clone();
        if next.buffers[thread].is_empty() {
            return None;
        }
        let (at, bytes) = next.buffers[thread].remove(0);
        next.write(at, &bytes);
        Some(next)
    }
}

/// What the threads can have loaded when both are done, and what memory then holds.
fn naive(threads: &[Thread; 2]) -> BTreeSet<Vec<u64>> {
    let start = State { memory: [0; 16], buffers: Default::default(), at: [0, 0], loaded: Default::default() };
    let mut seen: BTreeSet<State> = [start.clone()].into();
    let mut work = vec![start];
    let mut last = BTreeSet::new();
    while let Some(state) = work.pop() {
        let mut next = Vec::new();
        for (thread, steps) in threads.iter().enumerate() {
            next.extend(steps.get(state.at[thread]).and_then(|&step| state.step(thread, step)));
            next.extend(state.flush(thread));
        }
        if next.is_empty() {
            assert!(threads.iter().enumerate().all(|(thread, steps)| state.at[thread] == steps.len()));
            let mut values: Vec<u64> = state.loaded.concat();
            values.extend([value_of(&state.memory[..8]), value_of(&state.memory[8..])]);
            last.insert(values);
        }
        for state in next {
            if seen.insert(state.clone()) {
                work.push(state);
            }
        }
    }
    last
}

/// Registers by size.
fn register(number: usize, size: usize) -> String {
    let suffix = match size {
        8 => "",
        4 => "d",
        2 => "w",
        _ => "b",
    };
    format!("r{}{suffix}", 8 + number)
}

const WORDS: [(usize, &str); 4] = [(8, "qword"), (4, "dword"), (2, "word"), (1, "byte")];

fn word(size: usize) -> &'static str {
    WORDS.iter().find(|(known, _)| *known == size).map_or("", |(_, word)| word)
}

/// A function. What it loads goes to variables in the end.
fn assembly(name: &str, prefix: &str, thread: &Thread) -> String {
    let mut lines = vec!["push rbx".to_owned()];
    let mut loaded = 0;
    for step in thread {
        let place = |at: usize, size: usize| format!("{} ptr [rip + both + {at}]", word(size));
        match *step {
            Step::Store { at, size, value } => {
                lines.push(format!("mov rax, {value}"));
                let register =
                    ["rax", "eax", "ax", "al"][WORDS.iter().position(|(known, _)| *known == size).unwrap_or(0)];
                lines.push(format!("mov {}, {register}", place(at, size)));
            }
            Step::Load { at, size } => {
                let (mnemonic, to) = match size {
                    8 | 4 => ("mov", register(loaded, size)),
                    _ => ("movzx", register(loaded, 4)),
                };
                lines.push(format!("{mnemonic} {to}, {}", place(at, size)));
                loaded += 1;
            }
            Step::Exchange { at, size, value } => {
                lines.push(format!("mov {}, {value}", register(loaded, 8)));
                lines.push(format!("xchg {}, {}", place(at, size), register(loaded, size)));
                if size < 4 {
                    lines.push(format!("movzx {}, {}", register(loaded, 4), register(loaded, size)));
                }
                loaded += 1;
            }
            Step::Pair { low, high } => {
                lines.extend(["xor eax, eax".to_owned(), "xor edx, edx".to_owned()]);
                lines.extend([format!("mov rbx, {low}"), format!("mov rcx, {high}")]);
                lines.push("lock cmpxchg16b xmmword ptr [rip + both]".to_owned());
                lines.push(format!("mov {}, rax", register(loaded, 8)));
                loaded += 1;
            }
            Step::Fence => lines.push("mfence".to_owned()),
        }
    }
    (0..loaded).for_each(|number| lines.push(format!("mov [rip + {prefix}{number}], {}", register(number, 8))));
    lines.push("pop rbx".to_owned());
    format!(".globl {name}\n.type {name}, @function\n{name}:\n{}\nret\n.size {name}, . - {name}\n", lines.join("\n"))
}

fn thread(rng: &mut Rng, first: u64, sizes: &[usize], offsets: &[usize]) -> Thread {
    let mut value = first;
    let steps = rng.between(2, 4);
    let mut thread = Vec::new();
    for _ in 0..steps {
        let size = *rng.pick(sizes);
        let places: Vec<usize> = offsets.iter().copied().filter(|at| at % size == 0 && at + size <= 16).collect();
        let at = *rng.pick(&places);
        value = value.wrapping_add(0x0101_0101_0101_0101);
        let cut = value & (u64::MAX >> (64 - 8 * size));
        thread.push(match rng.below(10) {
            0..4 => Step::Store { at, size, value: cut },
            4..8 => Step::Load { at, size },
            8 => *rng.pick(&[Step::Exchange { at, size, value: cut }, Step::Pair { low: value, high: value }]),
            _ => Step::Fence,
        });
    }
    thread
}

#[test]
fn accesses_of_several_sizes_behave_as_in_a_machine_that_knows_only_bytes() {
    let Some(folder) = Folder::with_gcc() else { return };
    let seeds: usize = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut rng = Rng::new(11);
    let (mut accepted, mut weak, mut refused) = (0, 0, 0);
    for round in 0..seeds.div_ceil(200) {
        let programs: Vec<[Thread; 2]> = (0..seeds.min(200))
            .map(|_| {
                let sizes = *rng.pick(&[&[8, 4][..], &[8, 4, 4], &[4, 2], &[4, 1, 1], &[8, 1]]);
                // Often one thread writes to one variable only, as a lock's owner does.
                let offsets: Vec<usize> = if rng.chance(50) { vec![0, 4, 8, 12] } else { (0..16).collect() };
                [thread(&mut rng, 0x10, sizes, &offsets), thread(&mut rng, 0x80, &[8, 4], &[0, 4, 8])]
            })
            .collect();
        let mut code = String::from(".intel_syntax noprefix\n.data\n.balign 16\n");
        code += ".globl both\n.type both, @object\n.size both, 16\nboth: .skip 16\n";
        for name in ["a", "b"].into_iter().flat_map(|prefix| (0..4).map(move |number| format!("{prefix}{number}"))) {
            code += &format!(".globl {name}\n.type {name}, @object\n.size {name}, 8\n{name}: .skip 8\n");
        }
        code += ".text\n";
        for (number, [left, right]) in programs.iter().enumerate() {
            code += &assembly(&format!("left{number}"), "a", left);
            code += &assembly(&format!("right{number}"), "b", right);
        }
        folder.write("code.s", &code);
        gcc(&folder, &["-c", "code.s", "-o", "code.o"]);
        let bytes = folder.read("code.o");
        for (number, threads) in programs.iter().enumerate() {
            let options =
                Options { threads: vec![format!("left{number}()"), format!("right{number}()")], ..Options::default() };
            let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
            let program = match weir_x86::read("code.o", &bytes, &options, &files, &weir_ir::Uninterrupted) {
                Ok(compiled) => compiled.program,
                Err(ReadError::Invalid(_, diagnostic)) if diagnostic.message.starts_with("mixed sizes") => {
                    refused += 1;
                    continue;
                }
                Err(error) => panic!("round {round}, {threads:?}: {error:#?}"),
            };
            let found = explore(&program, Model::Tso, 5_000_000).expect("supported");
            assert!(found.complete);
            let results = |found: weir_testkit::Outcome| -> BTreeSet<Vec<u64>> {
                found.final_states.iter().map(|last| outcome(&program, threads, &last.memory)).collect()
            };
            let under_tso = results(found);
            assert_eq!(under_tso, naive(threads), "{threads:#?}\n{}", weir_testkit::dump(&program));
            let under_sc = results(explore(&program, Model::Sc, 5_000_000).expect("supported"));
            weak += usize::from(under_tso != under_sc);
            accepted += 1;
        }
    }
    assert!(accepted * 4 > seeds && refused > 0 && weak > 0, "{accepted} read, {refused} refused, {weak} weak");
}

/// What the threads loaded and what memory holds, in the order of the naive machine.
fn outcome(
    program: &weir_ir::Program,
    threads: &[Thread; 2],
    memory: &std::collections::BTreeMap<i64, i64>,
) -> Vec<u64> {
    let is_load = |step: &&Step| !matches!(step, Step::Store { .. } | Step::Fence);
    let mut values = Vec::new();
    for (thread, prefix) in threads.iter().zip(["a", "b"]) {
        for number in 0..thread.iter().filter(is_load).count() {
            let name = format!("{prefix}{number}");
            let cell = program.shared.iter().find(|cell| cell.name == name).expect("a result");
            values.push(memory.get(&cell.address).copied().unwrap_or(0) as u64);
        }
    }
    let mut bytes = [0; 16];
    for cell in program.shared.iter().filter(|cell| cell.name.starts_with("both")) {
        let offset = cell.name.split_once("+0x").map_or(0, |(_, at)| usize::from_str_radix(at, 16).expect("an offset"));
        let size = cell.width.map_or(8, |width| width.bits() as usize / 8);
        let value = memory.get(&cell.address).copied().unwrap_or(0) as u64;
        bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
    values.extend([value_of(&bytes[..8]), value_of(&bytes[8..])]);
    values
}

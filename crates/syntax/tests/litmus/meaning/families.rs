//! Small families of tests, all of them: what must be atomic is, at every width, and what need not be is not.

use super::compare;
use super::tree::{
    Cell, Condition, Declared, Initial, Instruction, Operand, Place, Quantifier, Register, Size, Test, Thread,
};

fn instruction(name: &str, size: Size, is_locked: bool, operands: Vec<Operand>) -> Instruction {
    let (has_suffix, target, labels) = (true, None, Vec::new());
    Instruction { is_locked, name: name.into(), has_suffix, size, operands, target, labels }
}

fn cell(name: &str) -> Operand {
    Operand::Cell(name.into())
}

fn register(number: usize, size: Size) -> Operand {
    Operand::Register(Register::new(number, size))
}

/// Everything that reads and writes `x`.
fn modifications(size: Size) -> Vec<Instruction> {
    let mut all = Vec::new();
    for is_locked in [false, true] {
        for name in ["add", "sub", "and", "or", "xor"] {
            all.push(instruction(name, size, is_locked, vec![cell("x"), Operand::Number(3)]));
        }
        for name in ["inc", "dec", "neg", "not"] {
            all.push(instruction(name, size, is_locked, vec![cell("x")]));
        }
        for name in ["xadd", "cmpxchg"] {
            all.push(instruction(name, size, is_locked, vec![cell("x"), register(1, size)]));
        }
        all.push(instruction("xchg", size, is_locked, vec![cell("x"), register(1, size)]));
        all.push(instruction("xchg", size, is_locked, vec![register(1, size), cell("x")]));
    }
    all.push(instruction("uxch", size, false, vec![register(1, size), cell("x")]));
    all.push(instruction("shl", size, false, vec![cell("x"), Operand::Number(1)]));
    all
}

fn test(size: Size, initial: i64, codes: [Vec<Instruction>; 2], style: u64) -> Test {
    let declared = match size {
        1 => "int8_t",
        2 => "int16_t",
        4 => "int32_t",
        _ => "int64_t",
    };
    let scalar = |name: &str, initial: i64| Cell {
        name: name.into(),
        length: None,
        declared: Some(declared),
        size,
        is_signed: true,
        initial: vec![Initial::Number(initial)],
    };
    let thread = |(number, code): (usize, Vec<Instruction>)| {
        let first = |at: usize, value| Declared {
            register: Register::new(at, 8),
            value: Some(Initial::Number(value)),
            declared: Some(("int64_t", 8, true)),
        };
        let registers = vec![first(0, initial), first(1, 5 + number as i64)];
        Thread { number, registers, code, last_labels: Vec::new() }
    };
    let threads: Vec<Thread> = codes.into_iter().enumerate().map(thread).collect();
    let shown = |thread| [0, 1, 2].map(|at| Place::Register(thread, Register::new(at, 8)));
    let mut locations: Vec<Place> = shown(0).into_iter().chain(shown(1)).collect();
    locations.extend([
        Place::Cell("x".into(), None),
        Place::Cell("y".into(), None),
        Place::Flag(0, 0),
        Place::Flag(1, 2),
    ]);
    let cells = vec![scalar("x", initial), scalar("y", 0)];
    let (filter, quantifier, condition) = (None, Quantifier::Forall, Condition::True);
    Test { is_wide: true, cells, threads, locations, filter, quantifier, condition, style }
}

#[test]
fn locked_instructions_lose_no_update_and_others_may() {
    let mut compared = 0;
    for size in [1, 2, 4, 8] {
        // A value that an addition takes out of what the cell can hold, and one that it does not.
        for initial in [(1_i64 << (8 * size - 1)).wrapping_sub(2), 1] {
            for first in modifications(size) {
                let load =
                    |to: usize, from: &str| instruction("mov", size, false, vec![register(to, size), cell(from)]);
                let store = |to: &str| instruction("mov", size, false, vec![cell(to), Operand::Number(1)]);
                let others = [
                    vec![first.clone()],
                    vec![store("x")],
                    vec![store("y"), instruction("mfence", 4, false, Vec::new()), load(2, "x")],
                ];
                for (style, other) in others.into_iter().enumerate() {
                    // A store before shows who waits for the buffer, and a load behind who may overtake it.
                    let own = vec![first.clone(), load(2, "y")];
                    let fence_has_no_size = |mut code: Vec<Instruction>| {
                        code.iter_mut().filter(|one| one.operands.is_empty()).for_each(|one| one.has_suffix = false);
                        code
                    };
                    let test = test(size, initial, [own, fence_has_no_size(other)], style as u64);
                    assert!(compare(style as u64, &test), "{size} bytes from {initial}: {first:?}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 4 * 2 * 28 * 3);
}

#[test]
fn shifts_by_every_count_set_the_flags_that_the_manual_gives_them() {
    let mut compared = 0;
    for size in [1, 2, 4, 8] {
        for name in ["shl", "shr", "sar"] {
            for count in 1..8 * i64::from(size) {
                // Patterns in which neighbours differ, in which those next but one do, and with either sign.
                for value in [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, !0x3333_3333_3333_3333] {
                    let shift = instruction(name, size, false, vec![register(0, size), Operand::Number(count)]);
                    let other = instruction("mov", size, false, vec![cell("y"), Operand::Number(1)]);
                    let mut test = test(size, value, [vec![shift], vec![other]], 0);
                    // The overflow flag is only defined for one bit.
                    let defined = if count == 1 { 1..4 } else { 1..3 };
                    test.locations.extend(defined.map(|flag| Place::Flag(0, flag)));
                    assert!(compare(0, &test), "{name} of {size} bytes by {count}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 3 * 3 * (7 + 15 + 31 + 63));
}

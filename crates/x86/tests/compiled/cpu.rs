//! The translation against the processor: random functions, compiled at several levels, run natively and translated.
//!
//! Each function reads global inputs and writes global outputs, so that nothing about its values is known beforehand.
//! `WEIR_FUNCTIONS=1000` and `WEIR_SEED=7` make the test longer or different.

use std::collections::BTreeMap;

use weir_ir::Program;
use weir_testkit::{Model, Rng, explore};

use crate::compiler::{Folder, gcc, run};
use crate::execute::execute;
use crate::generate::{self, INPUTS, OUTPUTS, functions};
use crate::read;

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Values that are likely to make a difference.
fn input(rng: &mut Rng) -> u64 {
    match rng.below(5) {
        0 => rng.bits(),
        1 => rng.below(10) as u64,
        2 => (rng.below(10) as u64).wrapping_neg(),
        3 => (1_u64 << rng.below(64)).wrapping_sub(rng.below(2) as u64),
        _ => rng.bits() >> rng.below(64),
    }
}

/// What the outputs are after running a function natively, for each set of inputs.
fn natively(folder: &Folder, object: &str, count: usize, inputs: &[Vec<u64>]) -> Vec<Vec<Vec<u64>>> {
    let mut driver = String::from("#include <stdio.h>\n#include \"shared.h\"\n");
    for number in 0..count {
        driver += &format!("void f{number}(void);\n");
    }
    driver += &format!("static const unsigned long given[{}][{}] = {{\n", inputs.len(), INPUTS.len());
    for set in inputs {
        let set: Vec<String> = set.iter().map(|value| format!("{value}UL")).collect();
        driver += &format!("{{ {} }},\n", set.join(", "));
    }
    driver += "};\nstatic void (*const all[])(void) = {";
    driver += &(0..count).map(|number| format!("f{number}")).collect::<Vec<_>>().join(", ");
    driver += "};\nint main(void) {\n";
    driver += &format!("for (int f = 0; f < {count}; f++) for (int i = 0; i < {}; i++) {{\n", inputs.len());
    for (at, (name, _)) in INPUTS.iter().enumerate() {
        driver += &format!("{name} = given[i][{at}];\n");
    }
    OUTPUTS.iter().for_each(|(name, _)| driver += &format!("{name} = 0;\n"));
    driver += "all[f]();\n";
    OUTPUTS.iter().for_each(|(name, _)| driver += &format!("printf(\"%lu \", (unsigned long){name});\n"));
    driver += "printf(\"\\n\"); }\nreturn 0; }\n";
    folder.write("driver.c", &driver);
    gcc(folder, &["-O0", "driver.c", object, "-o", "driver"]);
    let text = run(folder, "driver");
    let rows: Vec<Vec<u64>> = text
        .lines()
        .map(|line| line.split_whitespace().map(|word| word.parse().expect("a number")).collect())
        .collect();
    rows.chunks(inputs.len()).map(<[Vec<u64>]>::to_vec).collect()
}

/// What the outputs are after executing the translated function.
fn translated(program: &Program, set: &[u64]) -> Vec<u64> {
    let program = with_inputs(program, set);
    let memory = execute(&program, 2_000_000);
    outputs(&program, &memory)
}

/// The program with these inputs. A cell can be a part of one: `i64a+0x4`.
fn with_inputs(program: &Program, set: &[u64]) -> Program {
    let mut program = program.clone();
    for cell in &mut program.shared {
        let (name, offset) = cell.name.split_once("+0x").unwrap_or((&cell.name, "0"));
        let offset = u32::from_str_radix(offset, 16).expect("an offset");
        if let Some(at) = INPUTS.iter().position(|(input, _)| *input == name) {
            let size = cell.width.map_or(8, |width| width.bits() / 8);
            cell.initial = vec![((set[at] & mask(INPUTS[at].1)) >> (8 * offset) & mask(size)) as i64];
        }
    }
    program
}

fn outputs(program: &Program, memory: &BTreeMap<i64, i64>) -> Vec<u64> {
    let value = |(name, size): &(&str, u32)| {
        let cell = program.shared.iter().find(|shared| shared.name == *name);
        let value = cell.map_or(0, |cell| memory.get(&cell.address).copied().unwrap_or(cell.initial[0]));
        value as u64 & mask(*size)
    };
    OUTPUTS.iter().map(value).collect()
}

fn mask(size: u32) -> u64 {
    if size == 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

fn compare(levels: &[&str], seed: u64, count: usize, sets: usize) {
    let Some(folder) = Folder::with_gcc() else { return };
    let mut rng = Rng::new(seed);
    let code = functions(&mut rng, count);
    folder.write("shared.h", &generate::header());
    folder.write("functions.c", &code);
    let inputs: Vec<Vec<u64>> = (0..sets).map(|_| INPUTS.iter().map(|_| input(&mut rng)).collect()).collect();
    for level in levels {
        // Code for shared libraries loads addresses from a table.
        let position = if *level == "-O1" { "-fPIC" } else { "-fPIE" };
        gcc(&folder, &[level, position, "-fno-tree-vectorize", "-c", "functions.c", "-o", "functions.o"]);
        let native = natively(&folder, "functions.o", count, &inputs);
        let bytes = folder.read("functions.o");
        for (number, expected) in native.iter().enumerate() {
            let call = format!("f{number}()");
            let program = read("functions.o", &bytes, &weir_x86::Options { threads: vec![call], ..Default::default() });
            for (set, expected) in inputs.iter().zip(expected) {
                let found = translated(&program, set);
                assert_eq!(
                    found,
                    *expected,
                    "f{number} at {level} (seed {seed}) on {set:?}, outputs {OUTPUTS:?}\n{}\n{}",
                    generate::source_of(&code, number),
                    weir_testkit::dump(&program)
                );
            }
        }
    }
}

#[test]
fn translated_functions_compute_what_the_processor_does() {
    let count = setting("WEIR_FUNCTIONS", 12) as usize;
    let seed = setting("WEIR_SEED", 1);
    compare(&["-O0", "-O1", "-O2", "-O3"], seed, count, 12);
}

/// The interpreter for code at load time, and the naive interpreter of automata, on a few.
#[test]
fn code_at_load_time_computes_what_the_processor_does() {
    let Some(folder) = Folder::with_gcc() else { return };
    let count = setting("WEIR_FUNCTIONS", 12) as usize;
    let mut rng = Rng::new(setting("WEIR_SEED", 1) + 1_000_000);
    let code = functions(&mut rng, count);
    folder.write("shared.h", &generate::header());
    let set: Vec<u64> = INPUTS.iter().map(|_| input(&mut rng)).collect();
    folder.write("functions.c", &(code.clone() + "void nothing(void) { }\n"));
    let mut definitions = String::from("#include \"shared.h\"\n");
    for ((name, size), value) in INPUTS.iter().zip(&set) {
        definitions += &format!("{} {name} = {value}UL;\n", generate::type_of(*size));
    }
    folder.write("inputs.c", &definitions);
    for level in ["-O0", "-O2"] {
        gcc(&folder, &[level, "-fno-tree-vectorize", "-c", "functions.c", "-o", "plain.o"]);
        gcc(&folder, &[level, "-fno-tree-vectorize", "-DEXTERNAL_INPUTS", "-c", "functions.c", "-o", "functions.o"]);
        gcc(&folder, &["-c", "inputs.c", "-o", "inputs.o"]);
        gcc(&folder, &["-r", "-nostdlib", "functions.o", "inputs.o", "-o", "all.o"]);
        let native = natively(&folder, "plain.o", count, std::slice::from_ref(&set));
        let bytes = folder.read("all.o");
        for (number, expected) in native.iter().enumerate() {
            let claims = OUTPUTS.iter().map(|(name, _)| format!("exists {name} == 0")).collect();
            let options = weir_x86::Options {
                threads: vec!["nothing()".into()],
                init: vec![format!("f{number}()")],
                properties: claims,
                ..Default::default()
            };
            let program = read("all.o", &bytes, &options);
            let found = outputs(&program, &BTreeMap::new());
            assert_eq!(found, expected[0], "f{number} at {level}\n{}", generate::source_of(&code, number));
        }
        for (number, expected) in native.iter().enumerate().take(4) {
            let options = weir_x86::Options { threads: vec![format!("f{number}()")], ..Default::default() };
            let program = with_inputs(&read("plain.o", &folder.read("plain.o"), &options), &set);
            let found = explore(&program, Model::Sc, 100_000).expect("supported");
            assert!(found.complete && found.final_states.len() == 1 && found.goals.is_empty(), "{number}");
            let last = found.final_states.first().expect("one");
            assert_eq!(outputs(&program, &last.memory), expected[0], "f{number} at {level}");
        }
    }
}

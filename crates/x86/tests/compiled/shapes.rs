//! Small concurrent programs from C11 atomics against the same in assembly, as the front end for litmus tests reads it:
//! for every shape, every order of stores, loads and fences, and two levels of optimisation.

use std::collections::BTreeSet;

use weir_ir::{Program, Source};
use weir_syntax::Language;
use weir_testkit::{Model, explore};

use crate::compiler::{Folder, gcc};
use crate::read;

#[derive(Clone, Copy)]
enum Access {
    /// A store of this value.
    Write(&'static str, u32),
    /// A load into a variable for results.
    Read(&'static str, &'static str),
}

use Access::{Read, Write};

/// Two threads of two accesses each.
const SHAPES: [(&str, [[Access; 2]; 2]); 6] = [
    ("sb", [[Write("x", 1), Read("y", "r0")], [Write("y", 1), Read("x", "r1")]]),
    ("mp", [[Write("x", 1), Write("y", 1)], [Read("y", "r0"), Read("x", "r1")]]),
    ("lb", [[Read("x", "r0"), Write("y", 1)], [Read("y", "r1"), Write("x", 1)]]),
    ("r", [[Write("x", 1), Write("y", 1)], [Write("y", 2), Read("x", "r0")]]),
    ("s", [[Write("x", 2), Write("y", 1)], [Read("y", "r0"), Write("x", 1)]]),
    ("w", [[Write("x", 1), Write("y", 2)], [Write("y", 1), Write("x", 2)]]),
];

const STORES: [&str; 3] = ["relaxed", "release", "seq_cst"];
const LOADS: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const FENCES: [&str; 3] = ["", "acq_rel", "seq_cst"];

/// All choices of orders.
fn orders() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    STORES
        .into_iter()
        .flat_map(|store| LOADS.into_iter().flat_map(move |load| FENCES.map(|fence| (store, load, fence))))
}

fn in_c(access: Access, store: &str, load: &str) -> String {
    match access {
        Write(cell, value) => format!("atomic_store_explicit(&{cell}, {value}, memory_order_{store});\n"),
        Read(cell, result) => format!("{result} = atomic_load_explicit(&{cell}, memory_order_{load});\n"),
    }
}

fn function(name: &str, [first, second]: [Access; 2], (store, load, fence): (&str, &str, &str)) -> String {
    let fence = if fence.is_empty() { String::new() } else { format!("atomic_thread_fence(memory_order_{fence});\n") };
    format!("void {name}(void) {{\n{}{fence}{}}}\n", in_c(first, store, load), in_c(second, store, load))
}

/// The instructions that the memory model of C needs on x86: sequentially consistent stores and fences are the only
/// ones that are not plain.
fn in_assembly(accesses: [Access; 2], (store, _, fence): (&str, &str, &str)) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, access) in accesses.into_iter().enumerate() {
        if at == 1 && fence == "seq_cst" {
            lines.push("MFENCE".to_owned());
        }
        match access {
            Write(cell, value) if store == "seq_cst" => {
                lines.extend([format!("MOV EAX,${value}"), format!("XCHG [{cell}],EAX")]);
            }
            Write(cell, value) => lines.push(format!("MOV [{cell}],${value}")),
            Read(cell, result) => lines.extend([format!("MOV EAX,[{cell}]"), format!("MOV [{result}],EAX")]),
        }
    }
    lines
}

fn litmus(threads: [[Access; 2]; 2], orders: (&str, &str, &str)) -> Program {
    let [mut left, mut right] = threads.map(|thread| in_assembly(thread, orders));
    let rows = left.len().max(right.len());
    left.resize(rows, String::new());
    right.resize(rows, String::new());
    let rows: String = left.iter().zip(&right).map(|(left, right)| format!(" {left} | {right} ;\n")).collect();
    let text = format!("X86 shape\n{{ x=0; y=0; r0=0; r1=0; }}\n P0 | P1 ;\n{rows}exists (x=0)\n");
    let parsed = Language::Litmus.parse(&Source::new("shape.litmus", text.as_str()), &[]);
    parsed.unwrap_or_else(|errors| panic!("{text}\n{errors:#?}")).program
}

/// The final values of the variables.
fn results(program: &Program, model: Model) -> BTreeSet<[i64; 4]> {
    let found = explore(program, model, 2_000_000).expect("supported");
    assert!(found.complete);
    let value = |memory: &std::collections::BTreeMap<i64, i64>, name: &str| {
        let Some(cell) = program.shared.iter().find(|cell| cell.name == name) else { return 0 };
        memory.get(&cell.address).copied().unwrap_or(cell.initial[0])
    };
    found.final_states.iter().map(|last| ["x", "y", "r0", "r1"].map(|name| value(&last.memory, name))).collect()
}

#[test]
fn shapes_in_c_behave_as_in_assembly() {
    let Some(folder) = Folder::with_gcc() else { return };
    let mut code = String::from("#include <stdatomic.h>\natomic_int x, y;\nint r0, r1;\n");
    for (shape, threads) in SHAPES {
        for (at, orders) in orders().enumerate() {
            for (number, thread) in threads.into_iter().enumerate() {
                code += &function(&format!("{shape}_{at}_{number}"), thread, orders);
            }
        }
    }
    folder.write("shapes.c", &code);
    let mut weak = 0;
    for level in ["-O0", "-O2"] {
        gcc(&folder, &["-g", level, "-c", "shapes.c", "-o", "shapes.o"]);
        let bytes = folder.read("shapes.o");
        for (shape, threads) in SHAPES {
            for (at, orders) in orders().enumerate() {
                let calls = [0, 1].map(|number| format!("{shape}_{at}_{number}()")).to_vec();
                let program = read("shapes.o", &bytes, &weir_x86::Options { threads: calls, ..Default::default() });
                let assembly = litmus(threads, orders);
                for model in Model::ALL {
                    let (found, expected) = (results(&program, model), results(&assembly, model));
                    assert_eq!(found, expected, "{shape} with {orders:?} at {level} under {model:?}");
                }
                weak += usize::from(results(&program, Model::Tso) != results(&program, Model::Sc));
            }
        }
    }
    // Store buffering shows, unless the store or the fence is sequentially consistent: 2 of 3 orders of stores, 3 of
    // loads, 2 of 3 fences. The same in `r`, at both levels.
    assert_eq!(weak, 2 * 2 * (2 * 3 * 2));
}

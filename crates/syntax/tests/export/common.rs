//! What holds for all exports: linear size, the same text every time, names that the targets accept, refusals with a
//! place and a way out.

use std::fmt::Write as _;

use weir_ir::{Diagnostic, Program, Uninterrupted};
use weir_syntax::c::{self, Purpose};
use weir_syntax::export::Export;
use weir_syntax::{btor2, litmus, promela};
use weir_testkit::random::{self, Config};

use crate::support::{Folder, have, read};

type Print = fn(&Program) -> Result<Export, Vec<Diagnostic>>;

const EXPORTS: [(&str, Print); 6] = [
    ("promela", |program| promela::print(program, &Uninterrupted)),
    ("hardware", |program| c::print(program, Purpose::Hardware, &Uninterrupted)),
    ("cbmc", |program| c::print(program, Purpose::Cbmc, &Uninterrupted)),
    ("esbmc", |program| c::print(program, Purpose::Esbmc, &Uninterrupted)),
    ("litmus", |program| litmus::print::print(program, &Uninterrupted)),
    ("btor2", |program| btor2::print(program, &Uninterrupted)),
];

/// Programs that grow in one respect.
fn growing(kind: &str, size: usize) -> String {
    let mut text = String::new();
    match kind {
        "statements" => {
            text.push_str("shared x, y;\nthread P {\n    let r;\n");
            (0..size).for_each(|_| text.push_str("    x = 1;\n    r = y;\n"));
            text.push_str("}\nexists x == 1;\n");
        }
        "threads" => {
            text.push_str("shared x;\n");
            (0..size).for_each(|at| writeln!(text, "thread P{at} {{ x = {at}; let r = x; }}").expect("a string"));
            text.push_str("always x != 7;\nforbid deadlock;\n");
        }
        "cells" => {
            (0..size).for_each(|at| writeln!(text, "shared x{at}: 0..{};", at % 5 + 1).expect("a string"));
            text.push_str("thread P {\n    let r, i;\n");
            (0..size).for_each(|at| writeln!(text, "    r = x{at};\n    x{at} = r;").expect("a string"));
            text.push_str("}\nforbid x0 == 3;\n");
        }
        "pointers" => {
            (0..size).for_each(|at| writeln!(text, "shared x{at}: 0..{};", at % 5 + 1).expect("a string"));
            writeln!(text, "thread P {{\n    let i = any 1..{};", size.min(200)).expect("a string");
            (0..size).for_each(|_| text.push_str("    mem[i] = 1;\n"));
            text.push_str("}\nforbid x0 == 3;\n");
        }
        _ => {
            text.push_str("shared x;\nthread P { a: x = 1; b: x = 2; }\nthread Q { a: x = 3; }\n");
            let properties = ["forbid P at a && x == 3;", "always x != 4;", "forbid deadlock;", "exists x == 2;"];
            (0..size).for_each(|at| writeln!(text, "{}", properties[at % 4]).expect("a string"));
        }
    }
    text
}

#[test]
fn exports_grow_linearly() {
    for kind in ["statements", "threads", "cells", "pointers", "properties"] {
        let (small, large) = (read(&growing(kind, 60)), read(&growing(kind, 240)));
        for (name, print) in EXPORTS {
            let (Ok(small), Ok(large)) = (print(&small), print(&large)) else { continue };
            // A litmus test is a table of threads and instructions.
            let factor = if name == "litmus" { 17 } else { 5 };
            let (small, large) = (small.text.len(), large.text.len());
            assert!(large < factor * small, "{name}, {kind}: {small} and {large} bytes");
        }
    }
}

#[test]
fn the_same_program_gives_the_same_text_and_refusals_show_a_way_out() {
    let configs = [Config::everything(), Config::synchronizing(), Config::wild_data(), Config::small()];
    for seed in 0..200 {
        let program = random::program(seed, &configs[seed as usize % configs.len()]);
        for (name, print) in EXPORTS {
            let first = print(&program);
            assert_eq!(first, print(&program), "{name}");
            match first {
                Ok(export) => {
                    assert!(export.text.ends_with('\n'), "{name}");
                    assert!(export.warnings.iter().all(|warning| !warning.is_error()));
                }
                Err(errors) => {
                    assert!(!errors.is_empty() && errors.iter().all(Diagnostic::is_error), "{name}");
                    assert!(errors.iter().all(|error| error.help.is_some()), "{name}: {errors:?}");
                }
            }
        }
    }
}

/// Names that mean something in Promela, C, SPIN's verifier or in the exports themselves.
const CLASHING: &str = "\
shared int, chan, printf, main, link, now, PROPERTY, THREADS, held, lock_holder, uchar, y0, SAFETY;
thread proctype {
    let char = int;
    let load = chan;
    let od = printf;
    let self = 1;
end_of_it:
    main = char + load + od + self;
accept:
    link = 1;
}
thread Monitor {
    let PMonitor = main;
    let store = now;
    let P = PROPERTY + THREADS + held + lock_holder + uchar + y0 + SAFETY;
    let c = link;
}
always main == 1 && link == 1 && proctype.self == 1;
forbid proctype at end_of_it && link == 1;
";

#[test]
fn names_of_the_target_language_are_replaced() {
    let program = read(CLASHING);
    for (name, print) in EXPORTS {
        assert!(name == "litmus" || print(&program).is_ok(), "{name}");
    }
    if !have(&[("gcc", "--version")]) {
        return;
    }
    for (name, print) in &EXPORTS[1..4] {
        let folder = Folder::new();
        let text = print(&program).expect("it can be exported").text;
        folder.write("program.c", &text);
        let options = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread", "-c", "program.c"];
        folder.run_quietly("gcc", &options, &format!("{name}\n{text}"));
    }
    if have(&[("spin", "-V")]) {
        let text = EXPORTS[0].1(&program).expect("it can be exported").text;
        assert_eq!(crate::spin::spin(&text, 0, true), crate::spin::spin(&text, 1, true), "{text}");
    }
}

#[test]
fn properties_that_a_tool_cannot_check_are_named() {
    let program = read("shared x;\nthread P { await x == 1; }\nthread Q { x = 1; }\nforbid stuck;\nlive x == 1;\n");
    for (name, print) in EXPORTS {
        if let Ok(export) = print(&program) {
            assert_eq!(export.warnings.len(), 2, "{name}");
            assert!(export.warnings.iter().all(|warning| warning.help.is_some()));
        }
    }
}

//! C for hardware compiles without a warning, and its runs never show what the reference interpreter rules out.

use std::collections::BTreeSet;

use weir_ir::{Program, RegId, ThreadId, Uninterrupted, Value};
use weir_syntax::c::{Purpose, print};
use weir_testkit::random::{self, Config, Statement};
use weir_testkit::{Model, explore};

use crate::support::{Folder, count, examples, have, read};

const WARNINGS: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"];

fn tools() -> bool {
    have(&[("gcc", "--version")])
}

/// Compiles; the result is `test` in the folder.
fn compile(text: &str, optimization: &str) -> Folder {
    let folder = Folder::new();
    folder.write("test.c", text);
    let mut arguments = WARNINGS.to_vec();
    arguments.extend([optimization, "-pthread", "-o", "test", "test.c"]);
    folder.run_quietly("gcc", &arguments, text);
    folder
}

/// The outcomes that were observed: names with values.
fn outcomes(folder: &Folder, runs: &str) -> BTreeSet<Vec<(String, Value)>> {
    let output = folder.run("test", &[runs]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code().is_some_and(|code| code < 2), "{text}");
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| line.starts_with(' ')) {
        let values = line.split_whitespace().skip(1).map(|part| {
            let (name, value) = part.rsplit_once('=').expect("a name and a value");
            (name.to_owned(), value.parse().expect("a value"))
        });
        found.insert(values.collect());
    }
    found
}

/// What the reference says about the same names.
fn possible(program: &Program, names: &[String], limit: usize) -> Option<BTreeSet<Vec<Value>>> {
    let outcome = explore(program, Model::Tso, limit).ok()?;
    let register = |name: &str| -> Option<(ThreadId, RegId)> {
        let (thread, register) = name.rsplit_once('.')?;
        let thread = program.thread_ids().find(|id| program.thread(*id).name == thread)?;
        Some((thread, program.body(thread).register(register)?))
    };
    let cell = |name: &str| {
        program.shared.iter().flat_map(|shared| shared.addresses()).find(|address| program.cell_name(*address) == name)
    };
    let mut found = BTreeSet::new();
    for state in &outcome.final_states {
        let value = |name: &String| match (register(name), cell(name)) {
            (Some((thread, register)), _) => state.registers[&thread][&register],
            (None, Some(address)) => {
                state.memory.get(&address).copied().unwrap_or_else(|| program.initial_value(address))
            }
            (None, None) => {
                let address = name.strip_prefix("mem[").and_then(|rest| rest.strip_suffix(']'));
                let address: Value = address.and_then(|text| text.parse().ok()).expect("an address");
                state.memory.get(&address).copied().unwrap_or(0)
            }
        };
        found.insert(names.iter().map(value).collect());
    }
    outcome.complete.then_some(found)
}

/// Runs a program and compares; says how many outcomes were seen. Nothing if there is nothing to compare.
fn compare(name: &str, program: &Program, runs: &str) -> Option<usize> {
    let export = print(program, Purpose::Hardware, &Uninterrupted).ok()?;
    let folder = compile(&export.text, "-O2");
    let seen = outcomes(&folder, runs);
    let names: Vec<String> = seen.first()?.iter().map(|(name, _)| name.clone()).collect();
    if names.iter().any(|name| name.ends_with(".place")) {
        return None;
    }
    let possible = possible(program, &names, 30_000)?;
    for outcome in &seen {
        let values: Vec<Value> = outcome.iter().map(|(_, value)| *value).collect();
        assert!(possible.contains(&values), "{name}: {outcome:?} was observed\n{}", export.text);
    }
    Some(seen.len())
}

/// The classical shapes: SB, MP, LB, R and 2+2W; and SB with fences, which shows if a fence is none.
#[test]
fn litmus_tests_show_no_outcome_that_weir_rules_out() {
    if !tools() {
        return;
    }
    let runs = count("WEIR_HARDWARE_RUNS", 20_000).to_string();
    let mut compared = 0;
    for (name, program) in examples() {
        if ["sb.weir", "mp.weir", "lb.weir", "r.weir", "2+2w.weir", "sb-fenced.weir"].contains(&name.as_str()) {
            let seen = compare(&name, &program, &runs);
            assert!(seen.is_some_and(|seen| seen > 0), "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 6);
}

#[test]
fn random_programs_compile_and_show_no_outcome_that_the_reference_rules_out() {
    if !tools() {
        return;
    }
    let no_lock = |config: Config| {
        [Statement::Atomic, Statement::StrayLock, Statement::Snapshot, Statement::Membarrier]
            .into_iter()
            .fold(config, |config, statement| config.weighing(statement, 0))
    };
    let configs = [Config::acyclic(), Config::wrapping(), Config::crowded(), Config::small(), Config::wild_data()];
    let wanted = count("WEIR_HARDWARE_PROGRAMS", 10);
    let mut compared = 0;
    for seed in 0..wanted {
        let config = no_lock(configs[seed as usize % configs.len()].clone());
        compared += u64::from(compare(&format!("seed {seed}"), &random::program(seed, &config), "100").is_some());
    }
    eprintln!("{compared} random programs compared");
    assert!(compared * 4 >= wanted, "{compared}");
}

#[test]
fn what_no_processor_does_is_refused() {
    let cases = [
        ("shared x;\nthread P { atomic { x = 1; } }\nexists x == 1;", "the global lock"),
        ("shared x, y;\nthread P { let a, b; a, b = x, y; }\nexists x == 0;", "several cells in one step"),
        ("shared x, y;\nthread P { await x == y; }\nexists x == 0;", "waits for several cells"),
        ("shared x;\nthread P { membarrier; }\nexists x == 0;", "`membarrier`"),
        ("shared x;\nthread P[*] { x = 1; }\nforbid x == 2;", "[*]"),
    ];
    for (text, part) in cases {
        let errors = print(&read(text), Purpose::Hardware, &Uninterrupted).unwrap_err();
        assert!(errors[0].message.contains(part), "{errors:?}");
        assert!(errors.iter().all(|error| error.help.is_some()));
    }
}

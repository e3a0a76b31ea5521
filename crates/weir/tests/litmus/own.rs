//! Our own tests: `tests/litmus/*.litmus`, each with what it gives beside it. To accept what they give now:
//! `WEIR_BLESS=1 cargo test -p weir --test litmus`, and read the difference.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use weir_ir::{Program, StateAtom, StateExpr, Value};
use weir_syntax::litmus::Litmus;
use weir_testkit::{FinalState, explore};
use weir_witness::Model;

use crate::support::{MODELS, read, run, summary};

pub(crate) fn tests() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/litmus");
    let entries = fs::read_dir(folder).expect("tests/litmus is there").map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension() == Some("litmus".as_ref())).collect();
    files.sort();
    assert!(files.len() > 30, "{}", files.len());
    files
}

fn read_file(path: &Path) -> Litmus {
    read(&path.display().to_string(), &fs::read_to_string(path).expect("readable"))
}

/// What a test gives, under both models.
fn report(test: &Litmus) -> String {
    let mut text = String::new();
    for (model, _) in MODELS {
        let results = run(test, model);
        let verdict = if test.is_met_by(&results) { "ok" } else { "no" };
        let _ = writeln!(text, "{model:?} {} {verdict}", summary(&results));
        for (values, holds) in &results.states {
            let pairs = test.observed.iter().zip(values);
            let shown: Vec<String> = pairs
                .map(|(observable, &value)| format!("{}={}", observable.name, test.value_text(observable, value)))
                .collect();
            let _ = writeln!(text, "  {} {}", if *holds { '*' } else { ' ' }, shown.join(" "));
        }
    }
    text
}

#[test]
fn each_of_our_tests_gives_what_is_written_beside_it() {
    let is_blessing = std::env::var_os("WEIR_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in tests() {
        let found = report(&read_file(&path));
        let beside = path.with_extension("expected");
        if is_blessing {
            fs::write(&beside, &found).expect("writable");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{}:\n{found}instead of\n{expected}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every one of our tests is written so that it is `ok` under TSO.
#[test]
fn our_tests_state_what_is_true_under_tso() {
    for path in tests() {
        let test = read_file(&path);
        assert!(test.is_met_by(&run(&test, Model::Tso)), "{}", path.display());
    }
}

/// What the naive interpreter says the final states are.
fn judged(program: &Program, observed: &[StateExpr], model: weir_testkit::Model) -> BTreeSet<Vec<Value>> {
    let outcome = explore(program, model, 1_000_000).expect("supported");
    assert!(outcome.complete);
    outcome.final_states.iter().map(|state| values(program, state, observed)).collect()
}

/// The values of expressions in a final state of the naive interpreter.
pub(crate) fn values(program: &Program, state: &FinalState, observed: &[StateExpr]) -> Vec<Value> {
    let value = |expr: &StateExpr| {
        expr.eval(&mut |atom| match atom {
            StateAtom::Cell(address) => {
                state.memory.get(address).copied().unwrap_or_else(|| program.initial_value(*address))
            }
            // A thread that never ran has no registers.
            StateAtom::Register { thread, register } => {
                state.registers.get(thread).and_then(|registers| registers.get(register)).copied().unwrap_or(0)
            }
            StateAtom::At { .. } => panic!("litmus tests do not speak of places"),
        })
    };
    observed.iter().map(value).collect()
}

#[test]
fn the_naive_interpreter_finds_the_same_final_states() {
    for path in tests() {
        let test = read_file(&path);
        for (model, judge) in MODELS {
            let results = test.results(&judged(&test.program, &test.expressions(), judge));
            assert_eq!(run(&test, model), results, "{} {model:?}", path.display());
        }
    }
}

//! A litmus test printed as `.weir` and read again is the same program.

use std::path::Path;

use weir::reach::{Options, Report, reach};
use weir::{Session, Verdict};
use weir_ir::{Program, Source};
use weir_syntax::weir as text;
use weir_witness::Model;

use crate::support::{MODELS, read};
use crate::{corpus, own};

fn explored(program: &Program, model: Model, keep_dead_registers: bool) -> Report {
    let options = Options { model, keep_dead_registers, ..Options::default() };
    reach(program, &options, &Session::default()).expect("the engine can run it")
}

fn check(path: &Path) {
    let name = path.display().to_string();
    let program = read(&name, &std::fs::read_to_string(path).expect("readable")).program;
    let printed = text::print::print(&program);
    let source = Source::new(name.clone(), printed.clone());
    let again = text::parse(&source, &text::Options::default())
        .unwrap_or_else(|errors| panic!("{name}: {}\n{printed}", errors[0].message))
        .program;
    for (model, _) in MODELS {
        for keep_dead_registers in [false, true] {
            let [first, second] = [&program, &again].map(|program| explored(program, model, keep_dead_registers));
            let reached = |report: &Report| matches!(report.verdict, Verdict::Violated(_));
            assert_eq!(reached(&first), reached(&second), "{name} {model:?}\n{printed}");
            assert_eq!(first.statistics.states, second.statistics.states, "{name} {model:?}\n{printed}");
        }
    }
}

#[test]
fn our_tests_read_back_from_weir_text_with_the_same_verdicts_and_numbers_of_states() {
    own::tests().iter().for_each(|path| check(path));
}

#[test]
fn the_collections_read_back_from_weir_text_with_the_same_verdicts_and_numbers_of_states() {
    let Some(corpus) = corpus::corpus() else { return };
    let files = corpus::files(&corpus);
    assert!(files.len() >= 258);
    files.iter().for_each(|path| check(path));
}

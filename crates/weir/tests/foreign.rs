//! Programs in the languages of Memorax and Trencher do what they should: our own (`tests/rmm`, `tests/trencher`),
//! whose comments say what Weir should answer, and those of the corpus beside the repository, where it is there.
//!
//! Printing a program as `.weir` and reading it again changes neither the answer nor the number of states.

use std::path::{Path, PathBuf};

use weir::reach::{Options, Report, reach};
use weir::{Limits, Session, Verdict};
use weir_ir::{Program, Source};
use weir_testkit::random::{self, Config};
use weir_testkit::{corpus, reference};
use weir_witness::Model;

const MODELS: [(Model, &str); 2] = [(Model::Sc, "sc"), (Model::Tso, "tso")];

/// States that the reference interpreter may visit.
const REFERENCE_STATES: usize = 10_000;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| is_program(path)).collect();
    files.sort();
    files
}

fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rmm" || extension == "txt")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> Program {
    let name = path.display().to_string();
    let source = Source::new(name.clone(), std::fs::read_to_string(path).expect("readable"));
    let parsed = match path.extension().and_then(|extension| extension.to_str()) {
        Some("rmm") => weir_syntax::rmm::parse(&source),
        _ => weir_syntax::trencher::parse(&source),
    };
    let program = parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).program;
    assert_eq!(weir_ir::validate(&program), [], "{name}");
    program
}

fn again(name: &str, program: &Program) -> Program {
    let text = weir_syntax::weir::print::print(program);
    let parsed = weir_syntax::weir::parse(&Source::new(name, text.clone()), &weir_syntax::weir::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}\n{text}")).program
}

fn search(program: &Program, model: Model, states: u64) -> Report {
    let limits = Limits { states: Some(states), ..Limits::default() };
    // Registers that were made up count as others do, so that numbers of states can be compared.
    let options = Options { model, keep_dead_registers: true, ..Options::default() };
    let report = reach(program, &options, &Session::new(limits));
    report.unwrap_or_else(|failure| panic!("{}: {failure}", program.source.name()))
}

fn word(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Holds => "unreachable",
        Verdict::Violated(_) => "reachable",
        Verdict::Unknown(_) => "unknown",
    }
}

/// What the reference interpreter can say within its means.
fn reference_answer(program: &Program, model: Model) -> Option<&'static str> {
    let model = if model == Model::Sc { reference::Model::Sc } else { reference::Model::Tso };
    let outcome = reference::explore(program, model, REFERENCE_STATES).expect("supported");
    if !outcome.goals.is_empty() {
        return Some("reachable");
    }
    outcome.complete.then_some("unreachable")
}

/// Printing and reading changes nothing that can be seen.
fn reads_back(name: &str, program: &Program, states: u64) {
    let again = again(name, program);
    for (model, _) in MODELS {
        let (before, after) = (search(program, model, states), search(&again, model, states));
        assert_eq!(word(&before), word(&after), "{name} {model:?}");
        assert_eq!(before.statistics.states, after.statistics.states, "{name} {model:?}: states");
    }
}

#[test]
fn own_programs_answer_as_their_comments_say() {
    let mut checked = 0;
    for path in files(&root().join("tests/rmm")).into_iter().chain(files(&root().join("tests/trencher"))) {
        let name = path.display();
        let text = std::fs::read_to_string(&path).expect("readable");
        let program = read(&path);
        for (model, model_name) in MODELS {
            let expected = text.lines().find_map(|line| line.split_once(&format!("expect {model_name}: ")));
            let expected =
                expected.unwrap_or_else(|| panic!("{name} does not say what to expect under {model_name}")).1;
            let report = search(&program, model, 1_000_000);
            assert_eq!(word(&report), expected, "{name} {model_name}");
            let judged = reference_answer(&program, model);
            assert_eq!(judged, Some(expected), "{name} {model_name}: the reference interpreter");
            checked += 1;
        }
        reads_back(&name.to_string(), &program, 1_000_000);
    }
    assert!(checked > 40, "only {checked} answers");
}

#[test]
fn the_corpus_is_read_and_reads_back() {
    for folder in ["memorax", "trencher"] {
        let Some(folder) = corpus(folder) else { continue };
        let files = files(&folder);
        assert!(files.len() > 10);
        for path in files {
            reads_back(&path.display().to_string(), &read(&path), 3_000);
        }
    }
}

#[test]
fn the_corpus_of_memorax_answers_as_known() {
    let Some(folder) = corpus("memorax") else { return };
    let known = std::fs::read_to_string(folder.join("expected.tsv")).expect("expected.tsv is there");
    let mut answered = 0;
    for line in known.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (Some(file), Some(expected)) = (fields.next(), fields.next()) else { panic!("{line}") };
        let program = read(&folder.join(file));
        let under_tso = search(&program, Model::Tso, 20_000);
        let under_sc = search(&program, Model::Sc, 20_000);
        let is_known = expected != "-";
        if is_known && word(&under_tso) != "unknown" {
            assert_eq!(word(&under_tso), expected, "{file}");
            answered += 1;
        }
        // Whatever can be reached without buffers can be reached with them.
        let contradicts =
            word(&under_sc) == "reachable" && (expected == "unreachable" || word(&under_tso) == "unreachable");
        assert!(!contradicts, "{file}: reachable under SC");
    }
    assert!(answered >= 10, "only {answered} answers");
}

#[test]
fn random_programs_in_trenchers_language_read_back() {
    let mut compared = 0;
    for seed in 0..300 {
        let config = if seed % 2 == 0 { Config::locking() } else { Config::acyclic() };
        let Ok(text) = weir_syntax::trencher::print::print(&random::program(seed, &config)) else { continue };
        let source = Source::new(format!("random {seed}"), text.clone());
        let parsed = weir_syntax::trencher::parse(&source).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
        reads_back(&format!("random {seed}"), &parsed.program, 2_000);
        // What is printed once more is the same program.
        let once_more = weir_syntax::trencher::print::print(&parsed.program).expect("it was printed before");
        let again = weir_syntax::trencher::parse(&Source::new("again", once_more)).expect("it was read before");
        for (model, _) in MODELS {
            let counts =
                [&parsed.program, &again.program].map(|program| search(program, model, 2_000).statistics.states);
            assert_eq!(counts[0], counts[1], "random {seed} {model:?}");
        }
        compared += 1;
    }
    assert!(compared > 100, "only {compared} programs");
}

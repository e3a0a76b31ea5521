//! The examples with recursion and `spawn` answer what their headers say, as others do.

use std::path::{Path, PathBuf};

use weir::{Limits, Session, Verdict, dynamic, reach};
use weir_ir::{Program, Source, Value};
use weir_testkit::reference::Depth;
use weir_witness::Model;

use super::compare::expected;

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/dynamic");
    let folders = std::fs::read_dir(root).expect("examples/dynamic is there");
    let entries = folders.flat_map(|folder| std::fs::read_dir(folder.expect("readable").path()).expect("readable"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

/// Constants with other values.
type Defines = Vec<(String, Value)>;

/// The constants, the model and the answer of a line of the header.
fn expectation(line: &str) -> Option<(Defines, Model, &str)> {
    let (left, answer) = line.strip_prefix("// expect")?.split_once(": ")?;
    let mut words: Vec<&str> = left.trim_start_matches("-with").split_whitespace().collect();
    let model = if words.pop()? == "sc" { Model::Sc } else { Model::Tso };
    let define =
        |word: &&str| word.split_once('=').map(|(name, value)| (name.to_owned(), value.parse().expect("a value")));
    Some((words.iter().filter_map(define).collect(), model, answer))
}

fn parse(path: &Path, text: &str, defines: Defines) -> Program {
    let source = Source::new(path.display().to_string(), text);
    let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options { defines });
    parsed.unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display())).program
}

#[test]
fn examples_answer_as_their_headers_say() {
    let (mut checked, mut judged) = (0, 0);
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("readable");
        for (defines, model, answer) in text.lines().filter_map(expectation) {
            let context = format!("{} {defines:?} {model:?}", path.display());
            let program = parse(&path, &text, defines);
            let limits = Limits { states: Some(100_000), ..Limits::default() };
            let options = reach::Options { model, ..reach::Options::default() };
            let report = dynamic::reach(&program, &options, &Session::new(limits)).expect(&context).report;
            let got = match report.verdict {
                Verdict::Holds => "unreachable",
                Verdict::Violated(_) => "reachable",
                Verdict::Unknown(_) => "unknown",
            };
            assert_eq!(got, answer, "{context}");
            checked += 1;
            if let Some((goals, beyond)) = expected(&program, model, Depth { frames: 5, spawned: 4 }) {
                assert!(goals.is_empty() || answer == "reachable", "{context}");
                assert!(!goals.is_empty() || beyond || answer == "unreachable", "{context}");
                judged += 1;
            }
        }
    }
    assert!(checked >= 20 && judged >= 8, "{checked} {judged}");
}

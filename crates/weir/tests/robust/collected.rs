//! The examples of the repository, and the corpus beside it where it is there: all methods give the answer that is
//! known.

use std::path::{Path, PathBuf};

use weir::Verdict;
use weir::robust::{Method, triangular_races};
use weir_ir::{Program, Source};

use crate::reference::{METHODS, judge_witness, report, session};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All `.weir` files under `examples/` with a fixed number of threads, in alphabetical order.
fn examples() -> Vec<PathBuf> {
    let mut open = vec![root().join("examples")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.ends_with("parameterized") || path.ends_with("dynamic") {
                // Every number of threads is asked about elsewhere.
            } else if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "weir") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn source(path: &Path) -> Source {
    Source::new(path.display().to_string(), std::fs::read_to_string(path).expect("readable"))
}

fn race_free(program: &Program) -> Option<bool> {
    match triangular_races(program, std::num::NonZeroUsize::MIN, &session()).ok()?.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// What a method says. A witness must have a trace that no run under SC has.
fn verdict_by(program: &Program, method: Method) -> Option<bool> {
    let report = report(program, method, 2).unwrap_or_else(|failure| panic!("{failure}"))?;
    match report.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated(found) => {
            judge_witness(program, found.run()).unwrap_or_else(|why| panic!("{}: {why}", program.source.name()));
            Some(false)
        }
        Verdict::Unknown(_) => None,
    }
}

/// Checks that the methods agree; returns how many knew, and what they said.
fn compare(program: &Program) -> (usize, Option<bool>) {
    let name = program.source.name();
    let answers: Vec<_> = METHODS.map(|method| verdict_by(program, method)).into_iter().flatten().collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {answers:?}");
    let verdict = answers.first().copied();
    assert!(!(verdict == Some(false) && race_free(program) == Some(true)), "{name}: not robust, and free of races");
    (answers.len(), verdict)
}

#[test]
fn methods_agree_on_the_examples() {
    let (mut all, mut known, mut not_robust) = (0, 0, 0);
    for path in examples() {
        let parsed = weir_syntax::weir::parse(&source(&path), &weir_syntax::weir::Options::default());
        let program = parsed.unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display())).program;
        let (answers, verdict) = compare(&program);
        all += 3;
        known += answers;
        not_robust += usize::from(verdict == Some(false));
    }
    assert!(known * 100 >= all * 95, "{known} answers of {all}");
    assert!(not_robust >= 29, "{not_robust} examples are not robust");
}

#[test]
fn methods_agree_on_the_corpus_of_trencher() {
    let Some(folder) = weir_testkit::corpus("trencher") else { return };
    let known = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus says what is known");
    let (mut robust, mut races) = (0, 0);
    for line in known.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, verdict, _, free, ..] = fields[..] else { panic!("{line}") };
        let parsed = weir_syntax::trencher::parse(&source(&folder.join(file)));
        let program = parsed.unwrap_or_else(|errors| panic!("{file}: {errors:#?}")).program;
        if let (_, Some(answer)) = compare(&program) {
            assert_eq!(if answer { "robust" } else { "not-robust" }, verdict, "{file}");
            robust += 1;
        }
        if let Some(answer) = race_free(&program) {
            assert_eq!(if answer { "free" } else { "not-free" }, free, "{file}");
            races += 1;
        }
    }
    assert!(robust >= 19 && races >= 19, "{robust} and {races} answers");
}

//! Examples, our programs in other languages, and the corpus: wherever both engines know, they say the same.

use std::path::{Path, PathBuf};

use weir::reach::{Form, Options, reach};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{Program, Source};

use crate::compare::FORMS;

fn word<E>(verdict: &Verdict<E>) -> Option<&'static str> {
    match verdict {
        Verdict::Holds => Some("unreachable"),
        Verdict::Violated(_) => Some("reachable"),
        Verdict::Unknown(_) => None,
    }
}

fn lazy(program: &Program, form: Form, states: u64) -> Option<&'static str> {
    let lazy = weir::reach::LazyOptions { form, rounds: 40 };
    let options = Options { engine: weir::reach::Engine::Lazy, lazy, ..Options::default() };
    let session = Session::new(Limits { states: Some(states), ..Limits::default() });
    match reach(program, &options, &session) {
        Ok(report) => word(&report.verdict),
        Err(Failure::Refused(refusal) | Failure::TooLarge(refusal))
            if ["deadlock-with-locks", "liveness-not-supported", "several-loads"].contains(&refusal.code) =>
        {
            None
        }
        Err(failure) => panic!("{}: {failure}", program.source.name()),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let fits = |path: &PathBuf| path.extension().is_some_and(|found| extensions.iter().any(|known| found == *known));
    let mut files: Vec<PathBuf> = entries.filter(fits).collect();
    files.sort();
    files
}

fn read(path: &Path) -> Program {
    let name = path.display().to_string();
    let source = Source::new(name.clone(), std::fs::read_to_string(path).expect("readable"));
    let parsed = match path.extension().and_then(|extension| extension.to_str()) {
        Some("rmm") => weir_syntax::rmm::parse(&source),
        Some("txt") => weir_syntax::trencher::parse(&source),
        _ => weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()),
    };
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).program
}

/// How many of these have an answer in each form; all of them the right one.
fn check(programs: impl Iterator<Item = (PathBuf, Option<String>)>, states: u64) -> [usize; 2] {
    let mut answered = [0; 2];
    for (path, expected) in programs {
        let program = read(&path);
        for (form, answered) in FORMS.into_iter().zip(&mut answered) {
            let found = lazy(&program, form, states);
            if let (Some(found), Some(expected)) = (found, &expected) {
                assert_eq!(found, expected, "{}, {form:?}", path.display());
                *answered += 1;
            }
        }
    }
    answered
}

#[test]
fn examples_agree() {
    let folders = ["litmus", "mutex", "papers", "structures"].map(|folder| root().join("examples").join(folder));
    let programs = folders.iter().flat_map(|folder| files(folder, &["weir"])).map(|path| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let expected = text.lines().find_map(|line| line.strip_prefix("// expect tso: ")).map(str::to_owned);
        (path, expected.filter(|expected| expected != "unknown"))
    });
    let answered = check(programs, 60_000);
    assert!(answered[0] >= 40, "{answered:?} answers");
}

#[test]
fn own_programs_in_other_languages_agree() {
    let folders = ["rmm", "trencher"].map(|folder| root().join("tests").join(folder));
    let programs = folders.iter().flat_map(|folder| files(folder, &["rmm", "txt"])).map(|path| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let expected = text.lines().find_map(|line| line.split_once("expect tso: ")).map(|(_, word)| word.to_owned());
        (path, expected)
    });
    let answered = check(programs, 60_000);
    assert!(answered[0] >= 15, "{answered:?} answers");
}

#[test]
fn the_corpus_of_memorax_agrees() {
    let Some(folder) = weir_testkit::corpus("memorax") else { return };
    let known = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus says what is known");
    let programs = known.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        let (file, expected) = (fields.next()?, fields.next()?);
        Some((folder.join(file), (expected != "-").then(|| expected.to_owned())))
    });
    let answered = check(programs, 40_000);
    assert!(answered[0] >= 15, "{answered:?} answers");
}

//! The collections in `../shared/corpus`, which are not part of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use weir::robust::{Options, robust};
use weir::{Session, Verdict};
use weir_witness::Model;

use crate::support::{read, run, summary};

/// Where the collections are.
pub(crate) fn corpus() -> Option<PathBuf> {
    weir_testkit::corpus("litmus")
}

/// The tests in a collection.
pub(crate) fn files(corpus: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(corpus).expect("readable").map(|entry| entry.expect("readable").path());
    let mut files = Vec::new();
    for folder in folders.filter(|path| path.is_dir()) {
        files.extend(fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path()));
    }
    files.retain(|path| path.extension() == Some("litmus".as_ref()));
    files.sort();
    files
}

#[test]
fn every_test_of_the_collections_has_the_observation_and_the_counts_that_are_known() {
    let Some(corpus) = corpus() else { return };
    let expected = fs::read_to_string(corpus.join("expected.tsv")).expect("the corpus has expectations");
    let (mut checked, mut wrong) = (0, Vec::new());
    for line in expected.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let columns: Vec<&str> = line.split('\t').collect();
        let file = columns[0];
        let test = read(file, &fs::read_to_string(corpus.join(file)).expect("the test is there"));
        for (model, known) in [(Model::Tso, &columns[1..4]), (Model::Sc, &columns[4..7])] {
            let found = summary(&run(&test, model));
            if found != known.join(" ") {
                wrong.push(format!("{file} {model:?}: {found}, known: {}", known.join(" ")));
            }
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked >= 258, "{checked}");
}

#[test]
fn every_test_of_the_collections_is_robust_or_not_as_is_known() {
    let Some(corpus) = corpus() else { return };
    let expected = fs::read_to_string(corpus.join("expected.tsv")).expect("the corpus has expectations");
    let mut wrong = Vec::new();
    for line in expected.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let columns: Vec<&str> = line.split('\t').collect();
        let test = read(columns[0], &fs::read_to_string(corpus.join(columns[0])).expect("the test is there"));
        let report = robust(&test.program, &Options::default(), &Session::default()).expect("the engine can run it");
        let found = if matches!(report.verdict, Verdict::Holds) { "robust" } else { "not-robust" };
        if found != columns[7] {
            wrong.push(format!("{} is {found}, known: {}", columns[0], columns[7]));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

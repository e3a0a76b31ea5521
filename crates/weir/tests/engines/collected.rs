//! The exact engine on all examples, beside the explicit one, and on Memorax' programs in `../shared/corpus`, which are
//! not part of the repository.

use std::path::{Path, PathBuf};
use std::time::Duration;

use weir::Limits;
use weir::reach::Engine;
use weir_ir::{Program, Source};

use crate::{answer_within, state_goals};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether some goal that is a condition on states can be reached, if the engine can tell with so many states at most.
fn verdict(program: &Program, engine: Engine, most: u64) -> Option<bool> {
    let limits = Limits { time: Some(Duration::from_secs(5)), states: Some(most), ..Limits::default() };
    answer_within(program, engine, state_goals(program), limits)
}

#[test]
fn dual_agrees_on_the_examples() {
    let (mut both, mut dual_alone) = (0, 0);
    for family in ["litmus", "mutex", "papers", "structures"] {
        let entries = std::fs::read_dir(root().join("examples").join(family)).expect("the examples are there");
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let text = std::fs::read_to_string(&path).expect("it can be read");
            let source = Source::new(path.display().to_string(), text);
            let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
            let program = parsed.expect("examples are correct").program;
            if state_goals(&program).is_empty() {
                continue;
            }
            match (verdict(&program, Engine::Dual, 10_000), verdict(&program, Engine::Explicit, 10_000)) {
                (Some(dual), Some(explicit)) => {
                    assert_eq!(dual, explicit, "{}", path.display());
                    both += 1;
                }
                (Some(_), None) => dual_alone += 1,
                _ => {}
            }
        }
    }
    assert!(both > 30 && dual_alone > 0, "{both} by both, {dual_alone} by dual alone");
}

#[test]
fn dual_agrees_on_the_corpus() {
    let Some(folder) = weir_testkit::corpus("memorax") else { return };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus says what is known");
    let mut answered = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (Some(name), Some(expected)) = (fields.next(), fields.next()) else { continue };
        let text = std::fs::read_to_string(folder.join(name)).expect("it can be read");
        let program = weir_syntax::rmm::parse(&Source::new(name, text)).expect("it parses").program;
        let found = verdict(&program, Engine::Dual, 30_000);
        answered += u64::from(found.is_some());
        match expected {
            "reachable" => assert_eq!(found, Some(true), "{name}"),
            "unreachable" => assert_eq!(found, Some(false), "{name}"),
            _ => {}
        }
    }
    assert!(answered >= 50, "{answered} answers");
}

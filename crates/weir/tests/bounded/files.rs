//! The examples, and the programs of the paper's Table 1.

use std::path::{Path, PathBuf};

use weir::reach::{Engine, Options, reach};
use weir::translate::bounded::RunBound;
use weir::{Failure, Limit, Limits, Session, Verdict};
use weir_ir::{Program, Source};

use crate::compare::{Tally, compare, supported};
use crate::engine::{ask, ask_within};

fn parse(path: &Path) -> (String, Program) {
    let text = std::fs::read_to_string(path).expect("readable");
    let source = Source::new(path.display().to_string(), text.clone());
    let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    (text, parsed.unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display())).program)
}

fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).expect("examples/ is there").flatten().map(|entry| entry.path()) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        files.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "weir")));
    }
    files.sort();
    files
}

fn mutex(name: &str) -> Program {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mutex");
    supported(parse(&root.join(format!("{name}.weir"))).1)
}

/// Table 1: without fences they are unsafe within small bounds, with fences they are not.
#[test]
fn the_mutexes_of_the_paper_are_unsafe_within_small_bounds() {
    for name in ["dekker", "lamport", "peterson", "szymanski"] {
        let finds = |bound: RunBound| matches!(ask(&mutex(name), bound, Vec::new()), Ok(Verdict::Violated(())));
        assert!(finds(RunBound::Age(1)) && finds(RunBound::Age(2)), "{name}");
        assert!(!finds(RunBound::Age(0)), "{name}: that is SC");
        assert!(finds(RunBound::Rounds(2)), "{name}");
        for bound in [RunBound::Age(1), RunBound::Age(2), RunBound::Rounds(2)] {
            let fenced = ask(&mutex(&format!("{name}-fenced")), bound, Vec::new());
            let is_open = matches!(fenced, Ok(Verdict::Holds | Verdict::Unknown(Limit::Rounds(_) | Limit::Age(_))));
            assert!(is_open, "{name}-fenced, {bound:?}: {fenced:?}");
        }
    }
}

/// Raises the bound until there is an answer.
fn ask_auto(name: &str, engine: Engine, states: u64) -> Verdict<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let program = supported(parse(&root.join(format!("{name}.weir"))).1);
    let options = Options { engine, ..Options::default() };
    let session = Session::new(Limits { states: Some(states), ..Limits::default() });
    reach(&program, &options, &session).unwrap_or_else(|failure| panic!("{name}: {failure}")).verdict.map(|_| ())
}

#[test]
fn the_bound_is_raised_until_there_is_an_answer() {
    for engine in [Engine::Rounds, Engine::Age] {
        assert_eq!(ask_auto("mutex/peterson", engine, 100_000), Verdict::Violated(()), "{engine:?}");
        // No run of these exceeds some bound.
        for name in ["litmus/mp", "litmus/2+2w", "litmus/sb-fenced"] {
            assert_eq!(ask_auto(name, engine, 100_000), Verdict::Holds, "{name}, {engine:?}");
        }
        // One thread stores in a loop, without a fence.
        let endless = ask_auto("papers/endless-stores", engine, 20_000);
        assert_eq!(endless, Verdict::Unknown(Limit::States), "{engine:?}");
    }
    // In each of its loops there is a fence behind each store.
    assert_eq!(ask_auto("mutex/dekker-simple-fenced", Engine::Age, 100_000), Verdict::Holds);
    assert_eq!(ask_auto("mutex/dekker-simple-fenced", Engine::Rounds, 20_000), Verdict::Unknown(Limit::States));
}

/// The reason names the bound.
#[test]
fn nothing_within_a_bound_is_unknown() {
    for (bound, limit) in [(RunBound::Rounds(2), Limit::Rounds(2)), (RunBound::Age(1), Limit::Age(1))] {
        let verdict = ask(&mutex("peterson-fenced"), bound, Vec::new());
        assert_eq!(verdict.expect("supported"), Verdict::Unknown(limit));
        assert!(limit.to_string().contains(&bound.number().to_string()), "{limit}");
    }
}

/// Whatever a small bound finds in an example, its header says so; and small examples agree with the definition. With
/// `WEIR_EXAMPLE_STATES=20000`, also larger ones do.
#[test]
fn examples_agree() {
    let limit = std::env::var("WEIR_EXAMPLE_STATES").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let mut tally = Tally::default();
    let mut found = 0;
    for path in examples() {
        let name = path.display();
        let (text, program) = parse(&path);
        let program = supported(program);
        for bound in [RunBound::Rounds(2), RunBound::Age(1)] {
            let verdict = match ask_within(&program, bound, Vec::new(), 25_000) {
                Ok(verdict) => verdict,
                Err(Failure::Refused(_) | Failure::TooLarge(_)) => continue,
                Err(failure) => panic!("{name}: {failure}"),
            };
            found += u64::from(matches!(verdict, Verdict::Violated(())));
            let says = |answer: &str| text.lines().any(|line| line == format!("// expect tso: {answer}"));
            assert!(!(matches!(verdict, Verdict::Violated(())) && says("unreachable")), "{name}: {bound:?}");
            assert!(!(matches!(verdict, Verdict::Holds) && says("reachable")), "{name}: {bound:?}");
            tally.add(compare(&program, bound, limit).unwrap_or_else(|what| panic!("{name}: {what}")));
        }
    }
    assert!(tally.compared > 15 && found > 20, "{tally:?}, {found}");
}

//! Advice that is true: whoever follows it, again and again, ends with a robust program, and is never told to put a
//! fence where something already drains the buffer.

use std::path::Path;

use weir::robust::{Options, robust};
use weir::translate::insert_fences_after;
use weir::{Limits, Session, Verdict};
use weir_ir::Source;
use weir_testkit::cycles;

use super::*;

/// Follows the advice until the program is robust; how many times that took, or none if a limit was reached.
fn rounds(name: &str, mut program: Program) -> Option<usize> {
    let time = Some(std::time::Duration::from_secs(5));
    let session = || Session::new(Limits { states: Some(20_000), time, ..Limits::default() });
    for round in 0.. {
        let Ok(report) = robust(&program, &Options::default(), &session()) else { return None };
        let found = match report.verdict {
            Verdict::Holds => return Some(round),
            Verdict::Unknown(_) => return None,
            Verdict::Violated(found) => found,
        };
        let evidence = Evidence::new(found);
        let stores = evidence.stores_to_fence(&program);
        assert!(!stores.is_empty(), "{name}: nothing is advised in round {round}");
        for &(thread, edge) in &stores {
            let body = program.body(thread);
            assert!(body.edge(edge).instruction.is_store(), "{name}: after something that is no store");
            // Where control branches, a fence on one of the branches does not help on the others.
            let mut next = body.edges_from(body.edge(edge).to);
            let is_fenced = next.len() > 0 && next.all(|(_, next)| next.instruction.drains());
            assert!(!is_fenced, "{name}: a fence is there in round {round}");
        }
        program = insert_fences_after(&program, &stores.into_iter().collect()).program;
    }
    None
}

fn files(folder: &str, language: Language) -> Vec<(String, Program)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> =
        std::fs::read_dir(&root).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).ok()?;
        let name = path.display().to_string();
        let extension = path.extension()?.to_str()?;
        let fits = Language::by_extension(extension) == Some(language);
        Some((name.clone(), language.parse(&Source::new(name, text), &[]).ok().filter(|_| fits)?.program))
    };
    paths.iter().filter_map(read).collect()
}

#[test]
fn following_the_advice_makes_programs_robust() {
    let folders = [
        ("examples/litmus", Language::Weir, 2),
        ("examples/mutex", Language::Weir, 6),
        ("examples/structures", Language::Weir, 6),
        ("tests/litmus", Language::Litmus, 2),
        ("tests/rmm", Language::Rmm, 1),
        ("tests/trencher", Language::Trencher, 1),
    ];
    for (folder, language, least) in folders {
        let repaired = files(folder, language).into_iter().filter_map(|(name, program)| rounds(&name, program));
        let repaired = repaired.filter(|&rounds| rounds > 0).count();
        assert!(repaired >= least, "{folder}: {repaired} programs were repaired");
    }
}

#[test]
fn following_the_advice_makes_random_programs_robust() {
    let config = cycles::Config { helpers: 2, noise: 2, loops: 30, locks: 30, data: 20 };
    let repaired = (0..150).filter_map(|seed| rounds(&format!("seed {seed}"), cycles::program(seed, &config)));
    let repaired = repaired.filter(|&rounds| rounds > 0).count();
    assert!(repaired > 30, "{repaired} programs were repaired");
}

/// With one side fenced, or a read-modify-write in between, only the other side needs a fence.
#[test]
fn nothing_is_advised_where_the_buffer_is_drained() {
    let (left, right) = ("in P after `z = 1` (line 2)", "in Q after `y = 1` (line 3)");
    for (code, expected) in [
        ("x = 1; fence; let r = y;", vec![right]),
        ("xchg(x, 1); let r = y;", vec![right]),
        ("x = 1; fetch_add(z, 1); let r = y;", vec![right]),
        ("x = 1; z = 1; let r = y;", vec![left, right]),
    ] {
        let text = format!("shared x, y, z;\nthread P {{ {code} }}\nthread Q {{ y = 1; let s = x; }}\n");
        let program = Language::Weir.parse(&Source::new("test.weir", text), &[]).expect("a program").program;
        let report = robust(&program, &Options::default(), &Session::default()).expect("an answer");
        let Verdict::Violated(found) = report.verdict else { panic!("{code}: not violated") };
        let advice = Evidence::new(found).advice(&program, Language::Weir).expect("some advice");
        let places = advice.strip_prefix("to rule this cycle out, put a `fence;` ").expect("how it begins");
        let mut places: Vec<&str> = places.split(" and ").collect();
        places.sort_unstable();
        assert_eq!(places, expected, "{code}");
    }
}

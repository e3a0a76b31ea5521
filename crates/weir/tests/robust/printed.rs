//! Instrumented programs are programs of the language: printed and read again, they answer the same.

use weir::robust::attacks;
use weir::translate::instrument::instrument_all;
use weir::{Limits, Session, Verdict, reach};
use weir_ir::{Program, Source};
use weir_testkit::random::{Config, program};
use weir_witness::Model;

/// Whether the instrumented program, printed and read again, answers differently.
fn reads_back(program: &Program) -> Result<bool, String> {
    let Ok(instrumented) = instrument_all(program, &attacks(program, &Session::default()).expect("no limit").open)
    else {
        return Ok(false);
    };
    let text = weir_syntax::weir::print::print(&instrumented.program);
    let source = Source::new("instrumented", text.clone());
    let again = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    let again = again.map_err(|errors| format!("{errors:#?}\n{text}"))?.program;
    let [before, after] = [&instrumented.program, &again].map(|program| {
        let session = Session::new(Limits { states: Some(50_000), ..Limits::default() });
        let options = reach::Options { model: Model::Sc, ..reach::Options::default() };
        match reach::reach(program, &options, &session) {
            Ok(report) => match report.verdict {
                Verdict::Holds => Some(true),
                Verdict::Violated(_) => Some(false),
                Verdict::Unknown(_) => None,
            },
            Err(_) => None,
        }
    });
    if before == after { Ok(before.is_some()) } else { Err(format!("{before:?}, again {after:?}\n{text}")) }
}

#[test]
fn instrumented_programs_read_back() {
    let mut answered = 0;
    for seed in 0..150 {
        let config = if seed % 2 == 0 { Config::locking() } else { Config::cyclic() };
        let program = program(seed, &config);
        answered += usize::from(reads_back(&program).unwrap_or_else(|how| panic!("seed {seed}: {how}")));
    }
    assert!(answered > 100, "{answered} programs");
}

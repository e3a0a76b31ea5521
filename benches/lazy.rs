//! Lazy reachability on the programs of Figures 5.1, 5.3 and 5.4 of the thesis, beside the explicit engine.
//!
//! `cargo bench --bench lazy` runs it; `-- --quick` leaves the largest instances out. One worker, so that wall-clock
//! time is CPU time. Columns: rounds in which the program was extended, states of all searches, milliseconds; then
//! states and milliseconds of the explicit engine, which stops at a limit on states.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use weir::reach::{Engine, Options, Report, reach};
use weir::{Limits, Session, Verdict};
use weir_ir::{Program, Source, Value};

/// Where the explicit engine stops.
const MOST_STATES: u64 = 2_000_000;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    println!("{:<24}{:>6}{:>14}{:>12}{:>12}   explicit", "", "rounds", "", "states", "ms");
    for name in
        ["structures/parker", "mutex/peterson", "mutex/dekker", "mutex/lamport", "mutex/mcs", "structures/treiber"]
    {
        show(name, &example(name, None));
    }
    for count in [10, 50, 100, 200] {
        show(&format!("branching {count}"), &branching(count));
    }
    for count in [10, 25, 50, 100] {
        if count <= 25 || !quick {
            show(&format!("unwinding {count}"), &example("papers/dekker-unwinding", Some(count)));
        }
    }
}

fn show(name: &str, program: &Program) {
    let (lazy, time) = run(program, Engine::Lazy, None);
    let (explicit, explicit_time) = run(program, Engine::Explicit, Some(MOST_STATES));
    println!(
        "{name:<24}{:>6}{:>14}{:>12}{time:>12.1}   {}, {} states, {explicit_time:.1} ms",
        lazy.rounds.len(),
        word(&lazy),
        lazy.statistics.states,
        word(&explicit),
        explicit.statistics.states,
    );
}

fn run(program: &Program, engine: Engine, states: Option<u64>) -> (Report, f64) {
    let session = Session::new(Limits { states, ..Limits::default() });
    let started = Instant::now();
    let report = reach(program, &Options { engine, ..Options::default() }, &session).expect("an answer");
    (report, started.elapsed().as_secs_f64() * 1000.0)
}

fn word(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Holds => "unreachable",
        Verdict::Violated(_) => "reachable",
        Verdict::Unknown(_) => "unknown",
    }
}

fn example(name: &str, count: Option<Value>) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.weir"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(name, text, count)
}

fn parse(name: &str, text: String, count: Option<Value>) -> Program {
    let defines = count.map(|count| ("N".to_owned(), count)).into_iter().collect();
    let options = weir_syntax::weir::Options { defines };
    weir_syntax::weir::parse(&Source::new(name, text), &options).expect("it is correct").program
}

/// Figure 5.3 with a branch of its own for each value, as it is drawn.
fn branching(count: usize) -> Program {
    let mut text = String::from("shared x, y, a, b;\n");
    for (name, own, other, counter) in [("T1", "x", "y", "a"), ("T2", "y", "x", "b")] {
        let _ = write!(text, "thread {name} {{\n    let r;\n    {own} = 1;\n    r = {counter};\n    choose ");
        let branches: Vec<String> = (0..count)
            .map(|value| format!("{{ assume r == {value}; {counter} = {}; }}", (value + 1) % count))
            .collect();
        let _ = writeln!(text, "{}\n    r = {other};\n    assume r == 0;\ngoal:\n    skip;\n}}", branches.join(" or "));
    }
    parse("branching", text + "forbid T1 at goal && T2 at goal;\n", None)
}

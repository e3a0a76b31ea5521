//! Robustness and fences on the programs of Table 2 of "Checking and Enforcing Robustness against TSO", as our examples
//! have them, and on larger instances; beside Trencher where it is installed.
//!
//! `cargo bench --bench robust` runs it; `-- --quick` leaves the largest instances out. Columns as in the paper:
//! threads, labels, instructions, questions (pairs of a store and a load), of which ruled out by control flow, ruled
//! out by search, feasible; and fences. Then the CPU time that finding the cheapest fences took, all searches and the
//! solver included (the fastest of three runs), with the number of states that these searches visited.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use weir::Session;
use weir::fences::{Fences, Options, Report, at_locations, feasible_attacks, fences};
use weir_ir::{Program, Source};

/// A program, with its name in the table of the paper if it is there.
struct Row {
    name: &'static str,
    file: &'static str,
    threads: Option<i64>,
    is_large: bool,
}

const fn row(name: &'static str, file: &'static str) -> Row {
    Row { name, file, threads: None, is_large: false }
}

const fn sized(name: &'static str, file: &'static str, threads: i64, is_large: bool) -> Row {
    Row { name, file, threads: Some(threads), is_large }
}

const ROWS: &[Row] = &[
    row("Peterson", "mutex/peterson"),
    row("Peterson, fenced", "mutex/peterson-fenced"),
    row("Dekker", "mutex/dekker"),
    row("Dekker, fenced", "mutex/dekker-fenced"),
    sized("Lamport 3", "mutex/lamport", 3, false),
    sized("Lamport 3, fenced", "mutex/lamport-fenced", 3, false),
    sized("CLH lock 3", "mutex/clh", 3, false),
    sized("MCS lock 3", "mutex/mcs", 3, false),
    row("Lock-free stack", "structures/treiber"),
    row("Cilk's THE queue", "structures/cilk-the-unfenced"),
    row("NBW2", "structures/nbw-w-wr"),
    row("NBW3", "structures/nbw-w-wr-fenced"),
    row("NBW4", "structures/nbw-w-lr-rl"),
    row("Parker", "structures/parker"),
    row("Parker, fenced", "structures/parker-fenced"),
    row("Cilk, wrong use", "structures/cilk-the-wrong"),
    sized("Lamport 4", "mutex/lamport", 4, false),
    sized("Lamport 5", "mutex/lamport", 5, false),
    sized("Lamport 6", "mutex/lamport", 6, false),
    sized("Lamport 7", "mutex/lamport", 7, true),
    sized("CLH lock 4", "mutex/clh", 4, false),
    sized("CLH lock 5", "mutex/clh", 5, false),
    sized("MCS lock 4", "mutex/mcs", 4, false),
    sized("MCS lock 5", "mutex/mcs", 5, true),
];

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let trencher = trencher();
    println!(
        "{:<20}{:>3}{:>5}{:>5}{:>5}{:>5}{:>5}{:>5}{:>4}{:>12}{:>12}  trencher",
        "", "T", "L", "I", "RQ", "NR1", "NR2", "R", "F", "CPU ms", "states"
    );
    for row in ROWS.iter().filter(|row| !(quick && row.is_large)) {
        show(row, trencher.as_deref());
    }
    if trencher.is_none() {
        println!("\ntrencher is not installed: no comparison in this run");
    }
}

fn show(row: &Row, trencher: Option<&Path>) {
    let program = read(row);
    let labels: usize = program.threads.iter().map(|thread| thread.body.locations.len()).sum();
    let instructions: usize = program.threads.iter().map(|thread| thread.body.edges().len()).sum();
    let (report, time) = mend(&program);
    let attacks = &report.attacks;
    let (infeasible, feasible) = if row.is_large { unjudged() } else { judged(&program) };
    let Fences::Cheapest(sets) = &report.fences else { panic!("{}: {:?}", row.name, report.fences) };
    println!(
        "{:<20}{:>3}{labels:>5}{instructions:>5}{:>5}{:>5}{infeasible:>5}{feasible:>5}{:>4}{:>12.2}{:>12}  {}",
        row.name,
        program.threads.len(),
        attacks.total,
        attacks.total - attacks.open.len(),
        sets[0].len(),
        time.as_secs_f64() * 1000.0,
        report.statistics.states,
        trencher.map_or_else(String::new, |trencher| compare(&program, trencher, time)),
    );
}

/// How many attacks are ruled out by search, and how many are feasible.
fn judged(program: &Program) -> (String, String) {
    let (attacks, feasible, stopped) =
        feasible_attacks(program, &weir::robust::Options::default(), &Session::default()).expect("an answer");
    match stopped {
        Some(_) => unjudged(),
        None => ((attacks.open.len() - feasible.len()).to_string(), feasible.len().to_string()),
    }
}

/// Finding the cheapest fences does not take judging every attack of the program without them.
fn unjudged() -> (String, String) {
    ("-".to_owned(), "-".to_owned())
}

fn read(row: &Row) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{}.weir", row.file));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let defines = row.threads.map(|threads| ("N".to_owned(), threads)).into_iter().collect();
    let options = weir_syntax::weir::Options { defines };
    weir_syntax::weir::parse(&Source::new(row.file, text), &options).expect("examples are correct").program
}

/// The cheapest fences at locations, as the paper counts them, with one worker: then wall-clock time is CPU time. The
/// fastest of three runs.
fn mend(program: &Program) -> (Report, Duration) {
    let places: Vec<_> = at_locations(program).into_iter().map(|at| at.place).collect();
    let run = || {
        let started = Instant::now();
        let report = fences(program, &places, &Options::default(), &Session::default()).expect("an answer");
        (report, started.elapsed())
    };
    (0..3).map(|_| run()).min_by_key(|(_, time)| *time).expect("three runs")
}

fn trencher() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("trencher")).find(|file| file.is_file())
}

/// Trencher's time on the same program, if its language has it all.
fn compare(program: &Program, trencher: &Path, ours: Duration) -> String {
    let Ok(text) = weir_syntax::trencher::print::print(program) else { return "not in its language".to_owned() };
    let file = std::env::temp_dir().join(format!("weir-bench-{}.txt", std::process::id()));
    if std::fs::write(&file, text).is_err() {
        return "no temporary file".to_owned();
    }
    let started = Instant::now();
    let ran = Command::new(trencher).arg("-f").arg(&file).output().is_ok_and(|output| output.status.success());
    let theirs = started.elapsed();
    let _ = std::fs::remove_file(&file);
    if ran {
        let times = theirs.as_secs_f64() / ours.as_secs_f64();
        format!("{:.2} ms, {times:.0} times ours", theirs.as_secs_f64() * 1000.0)
    } else {
        "failed".to_owned()
    }
}

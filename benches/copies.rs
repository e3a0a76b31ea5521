//! Arbitrarily many threads: the answer for every number of copies beside the answers for 1 to 8 copies, one by one, on
//! the examples.
//!
//! `cargo bench --bench copies` runs it. Wall-clock milliseconds of `check` under TSO, the fastest of three runs. Each
//! `[*]` thread has as many copies as the column says; a number with `+` ran into the limit of ten seconds. A violation
//! ends the row: there is nothing to ask about larger numbers.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weir::translate::Translation;
use weir::translate::instantiate::{instantiate, templates};
use weir::{Limits, Session, Verdict, check, parameterized};
use weir_ir::{Program, Source};

/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest number of copies that is asked about.
const MOST: u32 = 8;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/parameterized");
    print!("{:<38}{:>10}{:>9}", "", "verdict", "every");
    (1..=MOST).for_each(|copies| print!("{copies:>9}"));
    println!("{:>10}", "1 to 8");
    let (mut cheaper, mut total) = (0, 0);
    for file in files(&folder) {
        let name = file.strip_prefix(&folder).unwrap_or(&file).with_extension("");
        cheaper += usize::from(show(&name.display().to_string(), &read(&file)));
        total += 1;
    }
    println!("the answer for every number costs less than those for 1 to 8 together for {cheaper} of {total}");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
    };
    let mut found: Vec<PathBuf> = list(folder).iter().flat_map(|folder| list(folder)).collect();
    found.sort();
    found
}

fn read(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let parsed = weir::Language::Weir.parse(&Source::new(path.display().to_string(), text), &[]);
    parsed.unwrap_or_else(|error| panic!("{}: {error:?}", path.display())).program
}

fn session() -> Session {
    Session::new(Limits { time: Some(PATIENCE), ..Limits::default() })
}

/// One row; whether the answer for every number costs less than all others together.
fn show(name: &str, program: &Program) -> bool {
    let options = check::Options::default();
    let (every, verdict) = timed(|| match parameterized::check(program, &options, &session()) {
        Ok(decided) => described(&decided.report.verdict),
        Err(error) => panic!("{name}: {error}"),
    });
    print!("{name:<38}{verdict:>10}{:>9.1}", milliseconds(every));
    let mut sum = Duration::ZERO;
    for copies in 1..=MOST {
        let instance = instantiate(program, &vec![copies; templates(program).count()]);
        let (time, verdict) = timed(|| match check::check(instance.program(), &options, &session()) {
            Ok(report) => described(&report.verdict),
            Err(error) => panic!("{name} with {copies}: {error}"),
        });
        sum += time;
        let mark = if verdict == "unknown" { "+" } else { "" };
        print!("{:>9}", format!("{:.1}{mark}", milliseconds(time)));
        if verdict == "unsafe" {
            (copies..MOST).for_each(|_| print!("{:>9}", ""));
            break;
        }
    }
    println!("{:>10.1}", milliseconds(sum));
    every < sum
}

fn described<R>(verdict: &Verdict<R>) -> &'static str {
    match verdict {
        Verdict::Holds => "safe",
        Verdict::Violated(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The fastest of three runs; one is enough if it takes long.
fn timed(run: impl Fn() -> &'static str) -> (Duration, &'static str) {
    let once = || {
        let began = Instant::now();
        let verdict = run();
        (began.elapsed(), verdict)
    };
    let first = once();
    if first.0 > Duration::from_secs(1) {
        return first;
    }
    [first, once(), once()].into_iter().min().unwrap_or(first)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

//! `weir check` beside each of its engines alone, on all examples.
//!
//! `cargo bench --bench check` runs it; `cargo bench --bench check -- FOLDER` takes the `.rmm` programs of a folder
//! instead. Wall-clock milliseconds; each engine alone may use all cores. The last column says whether `check` took at
//! most twice as long as the best engine, and a second.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weir::check::check;
use weir::reach::{Engine, Options, reach};
use weir::{Limits, Session, Verdict};
use weir_ir::{Program, Source};

const ENGINES: [Engine; 6] =
    [Engine::Explicit, Engine::Lazy, Engine::Dual, Engine::Set, Engine::Multiset, Engine::Coherence];

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let (folder, extension) = match folder {
        Some(folder) => (PathBuf::from(folder), "rmm"),
        None => (Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), "weir"),
    };
    print!("{:<44}{:>10}", "", "check");
    ENGINES.iter().for_each(|engine| print!("{:>12}", engine.name()));
    println!();
    let (mut held, mut total) = (0, 0);
    for file in files(&folder, extension) {
        let Some(program) = read(&file) else { continue };
        let is_good = show(file.strip_prefix(&folder).unwrap_or(&file), &program);
        held += usize::from(is_good);
        total += 1;
    }
    println!("{held} of {total} within twice the best engine's time and a second");
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut open = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Option<Program> {
    let source = Source::new(path.display().to_string(), std::fs::read_to_string(path).ok()?);
    let read = if path.extension().is_some_and(|found| found == "rmm") {
        weir_syntax::rmm::parse(&source).map(|parsed| parsed.program).ok()
    } else {
        weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).map(|parsed| parsed.program).ok()
    };
    read.filter(|program| !weir::reach::all_goals(program).is_empty())
}

fn session() -> Session {
    Session::new(Limits { time: Some(PATIENCE), ..Limits::default() })
}

fn show(name: &Path, program: &Program) -> bool {
    let started = Instant::now();
    let answer = check(program, &weir::check::Options::default(), &session());
    let together = started.elapsed();
    let winner = answer.ok().and_then(|answer| answer.member()).map_or("-", |winner| winner.name());
    print!("{:<36}{winner:>8}{:>10.1}", name.display(), together.as_secs_f64() * 1e3);
    let mut best: Option<Duration> = None;
    let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    for engine in ENGINES {
        let started = Instant::now();
        let report = reach(program, &Options { engine, jobs, ..Options::default() }, &session());
        let alone = started.elapsed();
        let is_sure = report.is_ok_and(|report| !matches!(report.verdict, Verdict::Unknown(_)));
        if is_sure {
            best = Some(best.map_or(alone, |best| best.min(alone)));
            print!("{:>12.1}", alone.as_secs_f64() * 1e3);
        } else {
            print!("{:>12}", "-");
        }
    }
    let is_good = best.is_none_or(|best| together <= 2 * best + Duration::from_secs(1));
    println!("  {}", if is_good { "yes" } else { "NO" });
    is_good
}

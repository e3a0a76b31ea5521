//! How fast and how compact exploration is, beside SPIN where it is installed.
//!
//! `cargo bench` runs it; `cargo bench --bench explore -- --quick` leaves the largest instance out. Each measurement is
//! a process of its own, so that its peak of resident memory is its own too; seconds are those of the whole process,
//! from start to end, for Weir as for SPIN. The fastest of three runs counts, for each: other work on the machine only
//! ever slows a run down. Ratios are taken within one run of this program, on one machine.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use weir::reach::{Options, Search, reach};
use weir::{Session, Verdict};
use weir_ir::{Program, Source};
use weir_witness::Model;

/// Set for a process that makes one measurement: what to measure.
const CHILD: &str = "WEIR_BENCH_CHILD";

fn main() {
    match std::env::var(CHILD) {
        Ok(what) => measure_here(&what),
        Err(_) => compare(std::env::args().any(|argument| argument == "--quick")),
    }
}

/// One exploration of Lamport's fast mutex.
#[derive(Clone, Copy)]
struct Case {
    threads: i64,
    jobs: usize,
    search: Search,
    model: Model,
}

impl Case {
    fn encode(self) -> String {
        let search = if self.search == Search::BreadthFirst { "bfs" } else { "dfs" };
        format!("{} {} {search} {}", self.threads, self.jobs, self.model.name())
    }

    fn decode(text: &str) -> Self {
        let parts: Vec<&str> = text.split(' ').collect();
        Self {
            threads: parts[0].parse().expect("number of threads"),
            jobs: parts[1].parse().expect("number of jobs"),
            search: if parts[2] == "bfs" { Search::BreadthFirst } else { Search::DepthFirst },
            model: if parts[3] == "sc" { Model::Sc } else { Model::Tso },
        }
    }
}

/// What one process measured.
#[derive(Clone, Copy)]
struct Measured {
    states: u64,
    seconds: f64,
    peak_bytes: u64,
}

impl Measured {
    fn rate(self) -> f64 {
        self.states as f64 / self.seconds
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split_whitespace();
        let states = parts.next()?.parse().ok()?;
        Some(Self { states, seconds: parts.next()?.parse().ok()?, peak_bytes: parts.next()?.parse().ok()? })
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lamport(threads: i64) -> Program {
    let path = root().join("examples/mutex/lamport.weir");
    let text = std::fs::read_to_string(&path).expect("the example is there");
    let options = weir_syntax::weir::Options { defines: vec![("N".into(), threads)] };
    let source = Source::new("lamport.weir", text);
    let mut program = weir_syntax::weir::parse(&source, &options).expect("the example is correct").program;
    // Visit all states: look for nothing.
    program.properties.clear();
    program
}

fn measure_here(what: &str) {
    let case = Case::decode(what);
    let program = lamport(case.threads);
    let options = Options {
        model: case.model,
        search: case.search,
        jobs: NonZeroUsize::new(case.jobs).expect("at least one job"),
        symmetry: false,
        ..Options::default()
    };
    let before = resident("VmHWM");
    let report = reach(&program, &options, &Session::default()).expect("the engine takes the example");
    assert!(matches!(report.verdict, Verdict::Holds));
    let peak = resident("VmHWM") - before;
    println!("{} {} {peak}", report.statistics.states, report.statistics.elapsed.as_secs_f64());
}

/// A figure of this process's memory, in bytes; 0 where the system does not tell.
fn resident(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|text| text.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Runs of each measurement.
const RUNS: usize = 3;

/// The fastest of several runs.
fn fastest(run: impl Fn() -> Option<Measured>) -> Option<Measured> {
    (0..RUNS).filter_map(|_| run()).min_by(|left, right| left.seconds.total_cmp(&right.seconds))
}

fn measure(case: Case) -> Measured {
    let run = || {
        let program = std::env::current_exe().expect("this program has a path");
        let started = Instant::now();
        let output = Command::new(program).env(CHILD, case.encode()).output().expect("this program can run itself");
        let seconds = started.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&output.stdout);
        Measured::parse(&text).map(|measured| Measured { seconds, ..measured })
    };
    fastest(run).expect("the measuring process succeeds")
}

fn compare(quick: bool) {
    let sizes: &[i64] = if quick { &[4] } else { &[4, 5] };
    println!("Lamport's fast mutex, all SC states, dead registers cleared, no other reduction\n");
    println!("{:<28}{:>12}{:>10}{:>14}{:>14}", "", "states", "seconds", "states/s", "bytes/state");
    for &threads in sizes {
        let case = Case { threads, jobs: 1, search: Search::BreadthFirst, model: Model::Sc };
        let one = measure(case);
        show(&format!("N={threads} weir, 1 worker"), one);
        let two = measure(Case { jobs: 2, ..case });
        show(&format!("N={threads} weir, 2 workers"), two);
        show(&format!("N={threads} weir, depth-first"), measure(Case { search: Search::DepthFirst, ..case }));
        println!("{:<28}{:>12}{:>10.2} times as fast as with 1", "", "", two.rate() / one.rate());
        match spin(threads) {
            Some(peer) => {
                show(&format!("N={threads} SPIN"), peer);
                println!("{:<28}{:>12}{:>10.2} times the rate of SPIN", "", "", one.rate() / peer.rate());
            }
            None => println!("SPIN or a C compiler is not installed: no comparison"),
        }
        println!();
    }
}

fn show(name: &str, measured: Measured) {
    let bytes = measured.peak_bytes as f64 / measured.states as f64;
    let Measured { states, seconds, .. } = measured;
    println!("{name:<28}{states:>12}{seconds:>10.2}{:>14.0}{bytes:>14.1}", measured.rate());
}

/// SPIN's generated verifier on the same automaton, without reduction; `None` where it cannot be had.
fn spin(threads: i64) -> Option<Measured> {
    let folder = std::env::temp_dir().join(format!("weir-bench-spin-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let model = root().join("benches/spin/lamport.pml").canonicalize().ok()?;
    let done =
        |command: &mut Command| command.current_dir(&folder).output().is_ok_and(|output| output.status.success());
    let built = done(Command::new("spin").arg(format!("-DN={threads}")).arg("-a").arg(model))
        && done(Command::new("cc").args(["-O2", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"]));
    // A hash table with about as many slots as there are states, which is what SPIN's manual advises.
    let slots = if threads < 5 { "-w19" } else { "-w24" };
    let measured = built.then(|| fastest(|| run_spin(&folder, slots))).flatten();
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn run_spin(folder: &Path, slots: &str) -> Option<Measured> {
    let started = Instant::now();
    let output = Command::new(folder.join("pan")).args(["-m1000000", slots, "-n"]).current_dir(folder).output().ok()?;
    let wall: Duration = started.elapsed();
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |line: &str| line.split_whitespace().next()?.parse::<f64>().ok();
    let states = number(text.lines().find(|line| line.contains("states, stored"))?)?;
    let megabytes = number(text.lines().find(|line| line.contains("total actual memory usage"))?)?;
    Some(Measured { states: states as u64, seconds: wall.as_secs_f64(), peak_bytes: (megabytes * 1_048_576.0) as u64 })
}

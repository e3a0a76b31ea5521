//! Are limits kept? Every command and engine on programs that would take far longer than they may.
//!
//! `cargo bench -p weir-cli --bench limits` runs all of it (about twenty minutes); words after `--` select rows that
//! contain them. The time and the memory that a process took stand beside its limits. The exit status is 1 if one took
//! more than 1.3 times the time or 1.1 times the memory.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const COMMANDS: [&str; 20] = [
    "check",
    "robust",
    "robust --method instrumented",
    "robust --method single",
    "robust --method trf",
    "fences",
    "fences --for safe",
    "fences --cost frequency",
    "reach",
    "reach --model sc",
    "reach --search dfs",
    "reach --engine lazy",
    "reach --engine lazy --lazy-form first",
    "reach --engine dual",
    "reach --engine set",
    "reach --engine multiset",
    "reach --engine coherence",
    "prob --target false",
    "prob --target false --question almost-never",
    "prob --target false --question simulate --runs 1000000000",
];

struct Limits {
    options: [&'static str; 2],
    /// Which of the options is meant to end it.
    decisive: usize,
    time: Duration,
    bytes: u64,
}

/// First the time is what ends it, then the memory.
const LIMITS: [Limits; 2] = [
    Limits { options: ["--timeout=1s", "--memory=4GiB"], decisive: 0, time: Duration::from_secs(1), bytes: 4 << 30 },
    Limits {
        options: ["--timeout=5s", "--memory=500MB"],
        decisive: 1,
        time: Duration::from_secs(5),
        bytes: 500_000_000,
    },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let mut failed = 0;
    println!("{:<22}{:<58}{:>5}  {:<16}{:>16}{:>18}", "program", "command", "jobs", "limit", "time", "memory");
    for (name, file, options) in programs() {
        for command in COMMANDS {
            for jobs in ["1", "2"] {
                for limits in &LIMITS {
                    let row = format!("{name:<22}{command:<58}{jobs:>5}  {:<16}", limits.options[limits.decisive]);
                    if words.iter().any(|word| !row.contains(word.as_str())) {
                        continue;
                    }
                    let arguments = command.split(' ').chain(limits.options).chain(["--jobs", jobs]);
                    let (time, bytes) = run(arguments.chain(options.iter().copied()), &file);
                    let is_kept = time <= limits.time.mul_f64(1.3) && bytes <= limits.bytes / 10 * 11;
                    failed += usize::from(!is_kept);
                    let time = format!("{:.2} of {:.0} s", time.as_secs_f64(), limits.time.as_secs_f64());
                    let memory = format!("{} of {} MB", bytes / 1_000_000, limits.bytes / 1_000_000);
                    println!("{row}{time:>16}{memory:>18}{}", if is_kept { "" } else { "  EXCEEDED" });
                }
            }
        }
    }
    println!("{failed} limits were exceeded");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The wall-clock time and the most memory of a process.
fn run<'a>(arguments: impl Iterator<Item = &'a str>, file: &Path) -> (Duration, u64) {
    let started = Instant::now();
    let mut weir = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(arguments)
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("weir runs");
    let status = format!("/proc/{}/status", weir.id());
    let mut bytes = 0;
    while weir.try_wait().expect("it can be waited for").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB"));
        bytes = bytes.max(peak.and_then(|peak| peak.trim().parse::<u64>().ok()).unwrap_or(0) * 1024);
        std::thread::sleep(Duration::from_millis(2));
    }
    (started.elapsed(), bytes)
}

/// Name, file and options of each program.
fn programs() -> Vec<(&'static str, PathBuf, Vec<&'static str>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let examples = root.join("examples");
    let written = |name: &str, text: String| {
        let folder = root.join("target/limits");
        std::fs::create_dir_all(&folder).expect("a folder in target");
        let path = folder.join(name).with_extension("weir");
        std::fs::write(&path, text).expect("a file in target");
        path
    };
    let mut threads = String::from("shared x, y[100];\n");
    for number in 0..100 {
        let next = (number + 1) % 100;
        let _ = writeln!(threads, "thread T{number} {{ loop {{ y[{number}] = 1; let r = y[{next}]; x = r; }} }}");
    }
    let ticket = "shared next, serving;\nthread P[3] { loop { let mine = fetch_add(next, 1); while serving != mine { } \
                  critical: skip; serving = mine + 1; } }\nforbid count(P at critical) >= 2;\n";
    vec![
        (
            "300,000 stores",
            written(
                "stores",
                format!(
                    "shared x, y;\nthread A {{\n{}let r = y;\n}}\nthread B {{ y = 1; let s = x; }}\nforbid x == 7;\n",
                    "    x = 1;\n".repeat(300_000)
                ),
            ),
            vec![],
        ),
        ("100 threads", written("threads", threads + "forbid x == 7;\n"), vec![]),
        ("Lamport, N = 7", examples.join("mutex/lamport-fenced.weir"), vec!["-D", "N=7"]),
        ("Indexer, 16 threads", examples.join("papers/indexer.weir"), vec!["-D", "N=16"]),
        ("growing ticket lock", written("ticket", ticket.to_owned()), vec![]),
    ]
}

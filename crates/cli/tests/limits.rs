//! Are limits kept? Every command and engine on programs that would take far longer than they may.
//!
//! The table shows the time and the memory that each process took beside its limits. A row fails if it took more than
//! 1.3 times the time or 1.1 times the memory, twice: another process may have been in the way of the first attempt.
//!
//! `cargo test` runs a part: each command on some of the programs. Other tests may run at the same time, and the
//! command line is not optimised there, so it allows for half a second more. The rest takes twenty minutes:
//!
//! ```text
//! cargo test --release -p weir-cli --test limits -- --full
//! ```
//!
//! Other words after `--` select rows that contain them.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Commands that do not search, so that there is no number of workers.
const NO_SEARCH: [&str; 3] = ["fmt --check", "translate --to weir", "translate --to weir --pass instrument=all"];

const COMMANDS: [&str; 23] = [
    NO_SEARCH[0],
    NO_SEARCH[1],
    NO_SEARCH[2],
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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Other programs ask every test binary for its list of tests.
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let is_full = arguments.iter().any(|argument| argument == "--full");
    let words: Vec<&String> = arguments.iter().filter(|word| !word.starts_with("--")).collect();
    let chosen: Vec<Row> = rows(is_full).into_iter().filter(|row| words.iter().all(|&word| row.has(word))).collect();
    println!("{:<22}{:<58}{:>5}  {:<16}{:>16}{:>18}", "program", "command", "jobs", "limit", "time", "memory");
    let failed = chosen.iter().filter(|row| !row.is_kept()).count();
    println!("{failed} of {} rows exceeded a limit", chosen.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One command on one program.
struct Row {
    program: Rc<Program>,
    command: &'static str,
    jobs: &'static str,
    limits: &'static Limits,
    /// How much more time is accepted.
    slack: Duration,
}

/// All rows, or about a third of those that time ends.
fn rows(is_full: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    let slack = if is_full { Duration::ZERO } else { Duration::from_millis(500) };
    for (column, program) in programs().into_iter().map(Rc::new).enumerate() {
        for (line, command) in COMMANDS.into_iter().enumerate() {
            for (number, jobs) in ["1", "2"].into_iter().enumerate() {
                for limits in &LIMITS {
                    if is_full || limits.decisive == 0 && (column + line + number) % 4 == 0 {
                        rows.push(Row { program: Rc::clone(&program), command, jobs, limits, slack });
                    }
                }
            }
        }
    }
    rows
}

impl Row {
    fn title(&self) -> String {
        let limit = self.limits.options[self.limits.decisive];
        format!("{:<22}{:<58}{:>5}  {limit:<16}", self.program.name, self.command, self.jobs)
    }

    fn has(&self, word: &str) -> bool {
        self.title().contains(word)
    }

    /// Whether the limits were kept, after printing what was used of them.
    fn is_kept(&self) -> bool {
        self.attempt("  (another attempt follows)") || self.attempt("  EXCEEDED")
    }

    fn attempt(&self, remark: &str) -> bool {
        let Limits { options, time: most_time, bytes: most_bytes, .. } = self.limits;
        let given = self.program.options.iter().copied().filter(|_| !self.command.starts_with("fmt"));
        let arguments = self.command.split(' ').chain(options.iter().copied()).chain(given);
        let jobs = ["--jobs", self.jobs].into_iter().filter(|_| !NO_SEARCH.contains(&self.command));
        let (time, bytes) = run(arguments.chain(jobs), &self.program.file);
        let is_kept = time <= most_time.mul_f64(1.3) + self.slack && bytes <= most_bytes / 10 * 11;
        let time = format!("{:.2} of {:.0} s", time.as_secs_f64(), most_time.as_secs_f64());
        let memory = format!("{} of {} MB", bytes / 1_000_000, most_bytes / 1_000_000);
        println!("{}{time:>16}{memory:>18}{}", self.title(), if is_kept { "" } else { remark });
        is_kept
    }
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

/// A program that is too much for the limits.
struct Program {
    name: &'static str,
    file: PathBuf,
    options: &'static [&'static str],
}

fn programs() -> Vec<Program> {
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
    let stores = format!(
        "shared x, y;\nthread A {{\n{}let r = y;\n}}\nthread B {{ y = 1; let s = x; }}\nforbid x == 7;\n",
        "    x = 1;\n".repeat(300_000)
    );
    let program = |name, file, options| Program { name, file, options };
    vec![
        program("300,000 stores", written("stores", stores), &[]),
        program("100 threads", written("threads", threads + "forbid x == 7;\n"), &[]),
        program("Lamport, N = 7", examples.join("mutex/lamport-fenced.weir"), &["-D", "N=7"]),
        program("Indexer, 16 threads", examples.join("papers/indexer.weir"), &["-D", "N=16"]),
        program("growing ticket lock", written("ticket", ticket.to_owned()), &[]),
    ]
}

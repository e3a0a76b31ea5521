//! Are limits kept? Every command and engine on programs that would take far longer than they may.
//!
//! The table shows the time and the memory that each process took beside its limits. A row fails if it took more than
//! 1.3 times the time or 1.1 times the memory, twice: another process may have been in the way of the first attempt. On
//! a busy machine a process waits for its turn, so its processor time is what counts if there were enough workers for
//! the limit to be on that. A limit on states fails if a single state more was visited.
//!
//! `cargo test` runs a sample. Other tests may run at the same time, and the command line is not optimised there, so it
//! allows for half a second more. All of them take more than an hour:
//!
//! ```text
//! cargo test --release -p weir-cli --test limits -- --full
//! ```
//!
//! Other words after `--` select rows that contain them.

#![allow(clippy::print_stdout)] // Printing is what it is for.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Commands that do not search, so that there is no number of workers.
const NO_SEARCH: [&str; 3] = ["fmt --check", "translate --to weir", "translate --to weir --pass instrument=all"];

/// Commands on litmus tests only.
const LITMUS: &str = "litmus";

const COMMANDS: [&str; 36] = [
    NO_SEARCH[0],
    NO_SEARCH[1],
    NO_SEARCH[2],
    LITMUS,
    "check",
    "check --model sc",
    "check --certificate PROOF",
    "robust",
    "robust --of states",
    "robust --certificate PROOF",
    "robust --method instrumented",
    "robust --method single",
    "robust --method trf",
    "fences",
    "fences --for safe",
    "fences --for states",
    "fences --for trf",
    "fences --remove",
    "fences --certificate PROOF",
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
    "reach --engine rounds --bound 3",
    "reach --engine age --bound 3",
    "prob --target false",
    "prob --target false --exact",
    "prob --target false --question cost",
    "prob --target false --question almost-never",
    "prob --target false --question simulate --runs 1000000000",
];

struct Limits {
    options: [&'static str; 2],
    /// Which of the options is meant to end it.
    decisive: usize,
    time: Duration,
    bytes: u64,
    /// How many states may be visited, if that is limited.
    states: u64,
}

/// First the time is what ends it, then the memory, then the number of states.
const LIMITS: [Limits; 3] = [
    Limits {
        options: ["--timeout=1s", "--memory=4GiB"],
        decisive: 0,
        time: Duration::from_secs(1),
        bytes: 4 << 30,
        states: u64::MAX,
    },
    Limits {
        options: ["--timeout=5s", "--memory=200MB"],
        decisive: 1,
        time: Duration::from_secs(5),
        bytes: 200_000_000,
        states: u64::MAX,
    },
    Limits {
        options: ["--timeout=5s", "--states=5000"],
        decisive: 1,
        time: Duration::from_secs(5),
        bytes: 4 << 30,
        states: 5_000,
    },
];

/// What `cargo test` runs: program, command, workers, and a place in `LIMITS`.
const SAMPLE: [(&str, &str, &str, usize); 12] = [
    ("300,000 stores", "robust", "2", 0),
    ("300,000 stores", NO_SEARCH[2], "1", 0),
    ("100,000 instructions", "check", "2", 0),
    ("100 threads", "fences", "1", 0),
    ("100 threads", "prob --target false", "1", 0),
    ("1,000 threads", "robust", "2", 0),
    ("long buffers", "fences --for states", "1", 0),
    ("huge litmus test", LITMUS, "1", 0),
    ("wide litmus test", LITMUS, "1", 0),
    ("Lamport, N = 7", "reach", "2", 2),
    ("Indexer, 16 threads", "reach --engine lazy", "1", 0),
    ("growing ticket lock", "reach --engine coherence", "1", 2),
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

/// All rows, or a sample.
fn rows(is_full: bool) -> Vec<Row> {
    let slack = if is_full { Duration::ZERO } else { Duration::from_millis(500) };
    let mut rows = Vec::new();
    for program in programs().into_iter().map(Rc::new) {
        for command in COMMANDS.into_iter().filter(|command| program.is_read_by(command)) {
            for jobs in ["1", "2"] {
                for (place, limits) in LIMITS.iter().enumerate().filter(|(_, limits)| limits.fit(command)) {
                    if is_full || SAMPLE.contains(&(program.name, command, jobs, place)) {
                        rows.push(Row { program: Rc::clone(&program), command, jobs, limits, slack });
                    }
                }
            }
        }
    }
    assert!(is_full || rows.len() == SAMPLE.len(), "the sample has rows that do not exist");
    rows
}

impl Limits {
    /// Whether the command can be limited in this way.
    fn fit(&self, command: &str) -> bool {
        self.states == u64::MAX || !NO_SEARCH.contains(&command) && !command.contains("simulate") && command != LITMUS
    }
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
        let Limits { options, time: most_time, bytes: most_bytes, states: most_states, .. } = self.limits;
        let given = self.program.options.iter().copied().filter(|_| !self.command.starts_with("fmt"));
        let arguments = self.command.split(' ').chain(options.iter().copied()).chain(given);
        let jobs = ["--jobs", self.jobs].into_iter().filter(|_| !NO_SEARCH.contains(&self.command));
        let json = ["--format", "json"].into_iter().filter(|_| *most_states < u64::MAX);
        let used = run(arguments.chain(jobs).chain(json), &self.program.file);
        let most = most_time.mul_f64(1.3) + self.slack;
        // With more workers than processors are free, time on the clock says nothing.
        let in_time = used.time <= most || is_busy() && used.processor <= most.mul_f64(2.0);
        let is_kept = in_time && used.bytes <= most_bytes / 10 * 11 && used.states <= *most_states;
        let time = format!("{:.2} of {:.0} s", used.time.as_secs_f64(), most_time.as_secs_f64());
        let memory = format!("{} of {} MB", used.bytes / 1_000_000, most_bytes / 1_000_000);
        let states =
            if *most_states < u64::MAX { format!("{} of {most_states} states", used.states) } else { String::new() };
        println!("{}{time:>16}{memory:>18}{states:>22}{}", self.title(), if is_kept { "" } else { remark });
        is_kept
    }
}

/// Whether more processes want to run than can.
fn is_busy() -> bool {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    load > std::thread::available_parallelism().map_or(1, usize::from) as f64 + 1.0
}

/// What a process used.
struct Used {
    time: Duration,
    processor: Duration,
    bytes: u64,
    /// The largest number of states that it says it visited.
    states: u64,
}

fn run<'a>(arguments: impl Iterator<Item = &'a str>, file: &Path) -> Used {
    let started = Instant::now();
    let proof = folder().join("proof");
    let proof = proof.to_str().expect("the path is UTF-8");
    let mut weir = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(arguments.map(|argument| if argument == "PROOF" { proof } else { argument }))
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("weir runs");
    let mut stdout = weir.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = stdout.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    });
    let (status, stat) = (format!("/proc/{}/status", weir.id()), format!("/proc/{}/stat", weir.id()));
    let (mut bytes, mut processor) = (0, Duration::ZERO);
    while weir.try_wait().expect("it can be waited for").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB"));
        bytes = bytes.max(peak.and_then(|peak| peak.trim().parse::<u64>().ok()).unwrap_or(0) * 1024);
        processor = processor.max(processor_time(&std::fs::read_to_string(&stat).unwrap_or_default()));
        std::thread::sleep(Duration::from_millis(2));
    }
    let time = started.elapsed();
    let states = states(&reader.join().unwrap_or_default());
    Used { time, processor, bytes, states }
}

/// User and system time, in hundredths of a second, after the name of the process.
fn processor_time(stat: &str) -> Duration {
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The largest number of states in an answer.
fn states(answer: &str) -> u64 {
    let numbers = answer.split("\"states\":").skip(1);
    let number = |text: &str| text.split(|next: char| !next.is_ascii_digit()).next()?.parse().ok();
    numbers.filter_map(number).max().unwrap_or(0)
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/limits");
    std::fs::create_dir_all(&folder).expect("a folder in target");
    folder
}

/// A program that is too much for the limits.
struct Program {
    name: &'static str,
    file: PathBuf,
    options: &'static [&'static str],
}

impl Program {
    /// Some commands are about one language only.
    fn is_read_by(&self, command: &str) -> bool {
        let is_litmus = self.file.extension().is_some_and(|extension| extension == "litmus");
        (command == LITMUS || !command.starts_with("litmus"))
            && (command != LITMUS || is_litmus)
            && !(is_litmus && (command.starts_with("fmt") || command.contains("--to weir")))
    }
}

fn programs() -> Vec<Program> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let written = |name: &str, text: String| {
        let path = folder().join(name);
        std::fs::write(&path, text).expect("a file in target");
        path
    };
    let many_threads = |count: usize| {
        let mut text = format!("shared x, y[{count}];\n");
        for number in 0..count {
            let next = (number + 1) % count;
            let _ = writeln!(text, "thread T{number} {{ loop {{ y[{number}] = 1; let r = y[{next}]; x = r; }} }}");
        }
        text + "forbid x == 7;\n"
    };
    let ticket = "shared next, serving;\nthread P[3] { loop { let mine = fetch_add(next, 1); while serving != mine { } \
                  critical: skip; serving = mine + 1; } }\nforbid count(P at critical) >= 2;\n";
    let stores = format!(
        "shared x, y;\nthread A {{\n{}let r = y;\n}}\nthread B {{ y = 1; let s = x; }}\nforbid x == 7;\n",
        "    x = 1;\n".repeat(300_000)
    );
    let instructions = |mine: &str, other: &str| format!("    {mine} = 1;\n    r = {other};\n").repeat(50_000);
    let long = format!(
        "shared x, y;\nthread A {{\n let r;\n{}}}\nthread B {{\n let r;\n{}}}\nforbid x == 7;\n",
        instructions("x", "y"),
        instructions("y", "x")
    );
    // Values differ, so that no two buffers are equal; nothing empties them.
    let buffers = "shared x, y, z;\nthread A { let i = 0; loop { x = i; y = i; i = i + 1; let r = z; } }\n\
                   thread B { let i = 0; loop { z = i; x = i; i = i + 1; let r = y; } }\nforbid x == y + 7 && z == 3;\n";
    let program = |name, file, options| Program { name, file, options };
    vec![
        program("300,000 stores", written("stores.weir", stores), &[]),
        program("100,000 instructions", written("instructions.weir", long), &[]),
        program("100 threads", written("threads-100.weir", many_threads(100)), &[]),
        program("1,000 threads", written("threads-1000.weir", many_threads(1_000)), &[]),
        program("long buffers", written("buffers.weir", buffers.to_owned()), &[]),
        program("huge litmus test", written("huge.litmus", litmus(2_000)), &[]),
        program("wide litmus test", written("wide.litmus", wide_litmus(100_000)), &[]),
        program("Lamport, N = 7", examples.join("mutex/lamport-fenced.weir"), &["-D", "N=7"]),
        program("Indexer, 16 threads", examples.join("papers/indexer.weir"), &["-D", "N=16"]),
        program("growing ticket lock", written("ticket.weir", ticket.to_owned()), &[]),
    ]
}

/// A test of four processors with so many instructions each.
fn litmus(rows: usize) -> String {
    let mut text = String::from("X86 huge\n{}\n P0 | P1 | P2 | P3 ;\n");
    for row in 0..rows {
        let cell = |processor: usize| if (row + processor).is_multiple_of(2) { "x" } else { "y" };
        let columns: Vec<String> = (0..4)
            .map(|processor| match row % 3 {
                0 => format!("MOV EAX,[{}]", cell(processor)),
                _ => format!("MOV [{}],${}", cell(processor), row % 7),
            })
            .collect();
        let _ = writeln!(text, " {} ;", columns.join(" | "));
    }
    text + "exists (x=7 /\\ y=7)\n"
}

/// A test with so many initial values and observed cells.
fn wide_litmus(cells: usize) -> String {
    let initial: String = (0..cells).map(|cell| format!("c{cell}={};", cell % 5)).collect();
    let observed: String = (0..cells).map(|cell| format!("c{cell};")).collect();
    format!(
        "X86 wide\n{{ {initial} }}\n P0 | P1 ;\n MOV [c0],$1 | MOV [c1],$1 ;\n MOV EAX,[c1] | MOV EAX,[c0] ;\n\
         locations [{observed}]\nexists (c0=7)\n"
    )
}

//! Answers in full, as data: verdicts, runs, numbers of states, intervals, certificates, refusals. Other tests check
//! that answers are right; these see that none of their parts changes unnoticed. The programs and their answers are in
//! the files beside this one. To accept the answers of today: `WEIR_BLESS=1 cargo test -p weir --test answers`, and
//! read the difference.

mod chances;
mod reaching;
mod robustness;

use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::Path;

use weir::Failure;
use weir::reach::Statistics;
use weir_ir::{Program, Source};
use weir_witness::{Action, Run};

/// Compares the answers to all programs of a file, one line each, with those that are stored.
fn check(file: &str, least: usize, answers: impl Fn(&Program) -> Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers").join(file);
    let stored = std::fs::read_to_string(&path).expect("the programs are in the repository");
    let mut found = String::new();
    let mut count = 0;
    for entry in stored.split("=====\n").skip(1) {
        let (text, _) = entry.split_once("-----\n").expect("a program, and the answers");
        let source = Source::new("test.weir", text);
        let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
        let program = parsed.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program;
        let _ = write!(found, "=====\n{text}-----\n");
        for line in answers(&program) {
            let _ = writeln!(found, "{line}");
            count += 1;
        }
    }
    assert!(count >= least, "{count} answers in {file}");
    if std::env::var_os("WEIR_BLESS").is_some() {
        return std::fs::write(&path, &found).expect("writable");
    }
    let mut program = "";
    for (expected, line) in stored.lines().zip(found.lines()) {
        assert_eq!(line, expected, "after {program}");
        program = if expected.contains("thread") { expected } else { program };
    }
    assert_eq!(stored.len(), found.len(), "{file} has more or fewer answers");
}

/// `0.3` for edge 3 of thread 0, `0.3=1` with a choice, `0!` for a flush.
fn steps(run: &Run) -> String {
    let step = |step: &weir_witness::Step| match step.action {
        Action::Flush => format!("{}!", step.thread.0),
        Action::Execute { edge, choice: 0 } => format!("{}.{}", step.thread.0, edge.0),
        Action::Execute { edge, choice } => format!("{}.{}={choice}", step.thread.0, edge.0),
    };
    run.steps.iter().map(step).collect::<Vec<_>>().join(" ")
}

fn work(statistics: &Statistics) -> String {
    let Statistics { states, transitions, depth, state_bytes, .. } = statistics;
    format!("{states}/{transitions}/{depth}/{state_bytes}")
}

fn failure(failure: &Failure) -> String {
    match failure {
        Failure::Refused(said) | Failure::TooLarge(said) => {
            format!("{} {} {:?} {:?}", said.code, said.message, said.primary.span, said.help)
        }
        Failure::Stopped(limit) => format!("stopped: {limit}"),
        bug => panic!("{bug}"),
    }
}

/// A short name for something long: equal texts, equal numbers, on every machine.
fn digest(long: &impl std::fmt::Debug) -> String {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn write(&mut self, bytes: &[u8]) {
            bytes.iter().for_each(|&byte| self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        }
        fn finish(&self) -> u64 {
            self.0
        }
    }
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    format!("{long:?}").hash(&mut hasher);
    format!("{:08x}", hasher.finish() as u32)
}

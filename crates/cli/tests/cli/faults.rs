//! Faults: one call of the C library fails, and the program still ends with an answer or an error, and leaves no half of a
//! file behind. Every command meets them; `WEIR_SEEDS=2000` tries more calls, which take turns.

use std::path::{Path, PathBuf};
use std::process::Command;

use weir_testkit::Rng;

use crate::support::{program, root, scratch, write};

/// What fails: reads, writes, opening files, and requests for memory, one of them per run.
const KINDS: [&str; 6] = ["read", "write", "open", "fsync", "rename", "malloc"];

/// `OUT` is a file that exists and is to be replaced.
const COMMANDS: [&str; 16] = [
    "check --format json --certificate OUT safe.weir",
    "check --format json --witness OUT unsafe.weir",
    "robust --format json --svg OUT unsafe.weir",
    "robust --certificate OUT safe.weir",
    "fences --format json --certificate OUT unsafe.weir",
    "fences --write unsafe.weir",
    "reach --format json --engine dual --certificate OUT safe.weir",
    "reach --engine coherence --certificate OUT safe.weir",
    "prob --format json --curve OUT unsafe.weir",
    "prob --format json --certificate OUT unsafe.weir",
    "litmus --format json sb.litmus",
    "cover --format json --certificate OUT net.spec",
    "translate --to promela unsafe.weir",
    "replay --format json unsafe.weir run",
    "replay --format json safe.weir proof",
    "fmt OUT.weir",
];

const SAFE: &str = "shared x, y; thread P { x = 1; fence; let r = y; } thread Q { y = 1; fence; let s = x; }\n\
                    forbid P at end && Q at end && P.r == 0 && Q.s == 0;\n";
const LITMUS: &str = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
                      exists (0:EAX=0 /\\ 1:EAX=0)\n";
const NET: &str = "vars\n  a b\nrules\n  a >= 1 -> a' = a-1, b' = b+1;\ninit\n  a = 1, b = 0\ntarget\n  b >= 2\n";

/// The library that makes calls fail; `None`, and a remark, if there is no compiler.
#[allow(clippy::print_stdout, reason = "whoever runs the tests should know")]
fn shim(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (root().join("crates/cli/tests/cli/faults.c"), folder.join("faults.so"));
    let built =
        Command::new("gcc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl").status();
    if built.is_ok_and(|status| status.success()) {
        return Some(library);
    }
    println!("gcc is not installed: no faults were injected");
    None
}

/// The arguments of a command, with the files in this folder.
fn arguments(command: &str, folder: &Path) -> Vec<String> {
    let name = |word: &str| {
        let is_file = word.starts_with("OUT") || folder.join(word).exists();
        if is_file { folder.join(word).to_str().expect("UTF-8").to_owned() } else { word.to_owned() }
    };
    command.split(' ').map(name).collect()
}

const OLD: &str = "thread P { skip; }\n";

fn prepare(folder: &Path) {
    write(folder, "safe.weir", SAFE);
    write(folder, "unsafe.weir", SAFE.replace("fence;", "skip;"));
    write(folder, "sb.litmus", LITMUS);
    write(folder, "net.spec", NET);
    for (evidence, command) in
        [("run", "reach --witness run unsafe.weir"), ("proof", "reach --certificate proof safe.weir")]
    {
        write(folder, evidence, "");
        let made = program().args(arguments(command, folder)).output().expect("it starts");
        assert!(made.status.code().is_some_and(|code| code < 2), "{made:?}");
    }
}

/// Runs a command with a fault. Returns how many calls of this kind there were.
fn run(command: &str, folder: &Path, library: &Path, (kind, nth): (&str, u64)) -> u64 {
    let (out, count) = (folder.join("OUT"), folder.join("count"));
    for file in [&out, &folder.join("OUT.weir")] {
        std::fs::write(file, OLD).expect("it can be written");
    }
    let _ = std::fs::remove_file(&count);
    let output = program()
        .args(arguments(command, folder))
        .env("LD_PRELOAD", library)
        .env("WEIR_FAULT", format!("{kind}:{nth}"))
        .env("WEIR_FAULT_COUNT", &count)
        .output()
        .expect("it starts");
    let context = || format!("{command}, {kind} {nth}: {output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0..=3)), "{}", context());
    assert!(!said.contains("panicked") && !said.contains("bug in Weir"), "{}", context());
    if command.contains("--format json") {
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            // What could not be written whole, because writing failed, is not JSON.
            let is_json = serde_json::from_str::<serde_json::Value>(line).is_ok();
            assert!(is_json || kind == "write", "{}", context());
        }
    }
    // The old file or the new one, whole.
    let text = std::fs::read(&out).unwrap_or_else(|error| panic!("{error}: {}", context()));
    let is_whole = text == OLD.as_bytes() || text.ends_with(b"\n") || command.contains("--certificate");
    assert!(!text.is_empty() && is_whole, "{}", context());
    if command.contains("--certificate")
        && text != OLD.as_bytes()
        && output.status.code() == Some(0)
        && kind != "malloc"
    {
        assert!(text.starts_with(b"{\"format\":"), "{}", context());
    }
    std::fs::read_to_string(&count).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[test]
#[allow(clippy::print_stdout, reason = "how many were tried is what one wants to know")]
fn one_call_that_fails_costs_no_more_than_the_answer() {
    let folder = scratch("faults");
    let Some(library) = shim(&folder) else { return };
    prepare(&folder);
    let rounds: u64 = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let mut tried = 0;
    for round in 0..rounds {
        let mut rng = Rng::new(round);
        let (command, kind) = (COMMANDS[round as usize % COMMANDS.len()], KINDS[rng.below(KINDS.len())]);
        // How many there are, so that every one of them has its turn.
        let calls = run(command, &folder, &library, (kind, 0)).max(1);
        run(command, &folder, &library, (kind, 1 + rng.below(calls as usize) as u64));
        tried += 1;
    }
    let left: Vec<_> = std::fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    let is_left = |name: &std::ffi::OsString| name.to_string_lossy().contains(".weir-");
    assert!(!left.iter().any(is_left), "{left:?}");
    println!("{tried} faults in {} commands", COMMANDS.len());
}

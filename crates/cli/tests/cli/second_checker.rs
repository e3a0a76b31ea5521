//! The checker in Python, which shares nothing with Weir, agrees about every example.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{root, scratch, weir};
use crate::witness::program_record;

/// Whether there is a Python to run it; says so if not.
#[allow(clippy::print_stdout, reason = "whoever runs the tests should know")]
pub(crate) fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("python3 is not installed: the second checker was not run");
    }
    found
}

/// What the second checker says: its status and its line.
pub(crate) fn checked(program: &Path, evidence: &Path, more: &[&str]) -> (Option<i32>, String) {
    checked_by("weir_check.py", program, evidence, more)
}

/// The same of one of the two: the one for closed sets and runs, or the one for all kinds.
pub(crate) fn checked_by(name: &str, program: &Path, evidence: &Path, more: &[&str]) -> (Option<i32>, String) {
    let checker = root().join("checker").join(name);
    let output = Command::new("python3").arg(checker).args([program, evidence]).args(more).output();
    let output = output.expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), said)
}

fn examples() -> Vec<PathBuf> {
    let folders = ["litmus", "mutex", "papers", "structures"].map(|folder| root().join("examples").join(folder));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension() == Some("weir".as_ref()));
    files.sort();
    files
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

/// Writes the program as automata.
pub(crate) fn automaton(file: &Path, to: &Path) {
    let ran = weir(&["translate", "--to", "json", text(file)]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    std::fs::write(to, ran.stdout).expect("it can be written");
}

#[test]
fn both_checkers_accept_the_evidence_of_every_example() {
    if !has_python() {
        return;
    }
    let folder = scratch("second-checker");
    let (program, run, proof) = (folder.join("program.json"), folder.join("run.json"), folder.join("proof"));
    let (mut runs, mut proofs) = (0, 0);
    for file in examples() {
        let _ = (std::fs::remove_file(&run), std::fs::remove_file(&proof));
        let limits = ["--states", "1500", "--timeout", "20s"];
        let outputs = ["--witness", text(&run), "--certificate", text(&proof)];
        weir(&[&["reach", "-q", text(&file)][..], &limits, &outputs].concat()).assert_no_bug();
        let evidence = if run.exists() { &run } else { &proof };
        if !evidence.exists() {
            continue;
        }
        let replayed = weir(&["replay", "-q", text(&file), text(evidence)]);
        assert_eq!(replayed.status, Some(0), "{replayed:?}");
        automaton(&file, &program);
        let (status, said) = checked(&program, evidence, &["--text", text(&file)]);
        // What can no longer happen after a run is not checked there.
        let is_covered = !replayed.stdout.contains("forbid stuck") && !replayed.stdout.contains("live ");
        assert!(status == Some(0) || (!is_covered && status == Some(3)), "{}: {said}", file.display());
        runs += usize::from(run.exists());
        proofs += usize::from(proof.exists());
        if proof.exists() {
            assert_eq!(checked(&program, evidence, &["--model", "sc"]).0, Some(1), "{}", file.display());
            assert_eq!(checked(&program, evidence, &["--property", "robust"]).0, Some(1), "{}", file.display());
        }
    }
    assert!(runs >= 15 && proofs >= 25, "{runs} runs, {proofs} proofs");
}

#[test]
fn the_second_checker_refuses_the_proof_of_a_fenced_program_for_the_unfenced_one() {
    if !has_python() {
        return;
    }
    let folder = scratch("second-checker-unfenced");
    let (program, proof) = (folder.join("program.json"), folder.join("proof"));
    let mut refused = 0;
    for file in examples() {
        let unfenced = PathBuf::from(text(&file).replace("-fenced", ""));
        if unfenced == file || !unfenced.exists() {
            continue;
        }
        let _ = std::fs::remove_file(&proof);
        weir(&["reach", "-q", "--states", "1500", "--certificate", text(&proof), text(&file)]).assert_no_bug();
        if !proof.exists() || weir(&["reach", "-q", "--states", "100000", text(&unfenced)]).status != Some(1) {
            continue;
        }
        let bytes = std::fs::read(&proof).expect("it was saved");
        let end = bytes.iter().position(|&byte| byte == b'\n').expect("a line");
        let mut line: Value = serde_json::from_slice(&bytes[..end]).expect("JSON");
        if line["kind"] == "parts" {
            // Each part has digests of its own.
            continue;
        }
        line["metadata"]["program"] = program_record(text(&unfenced));
        let forged = [line.to_string().as_bytes(), b"\n", &bytes[end + 1..]].concat();
        std::fs::write(&proof, forged).expect("it can be written");
        automaton(&unfenced, &program);
        let (status, said) = checked(&program, &proof, &["--text", text(&unfenced)]);
        assert!(matches!(status, Some(1 | 2)), "{}: {said}", file.display());
        assert!(!said.contains("another program"), "{said}");
        let replayed = weir(&["replay", text(&unfenced), text(&proof)]);
        assert_eq!(replayed.status, Some(1), "{replayed:?}");
        refused += 1;
    }
    assert!(refused >= 5, "{refused} refused");
}

#[test]
fn the_second_checker_notices_whatever_is_changed_in_a_run() {
    if !has_python() {
        return;
    }
    let folder = scratch("second-checker-changed");
    let (program, run) = (folder.join("program.json"), folder.join("run.json"));
    let file = root().join("examples/litmus/sb.weir");
    automaton(&file, &program);
    assert_eq!(weir(&["robust", "-q", "--witness", text(&run), text(&file)]).status, Some(1));
    let whole: Value = serde_json::from_slice(&std::fs::read(&run).expect("it was saved")).expect("JSON");
    let asked = ["--property", "robust", "--text", text(&file)];
    assert_eq!(checked(&program, &run, &asked).0, Some(0));
    let remarks = ["/metadata/producer", "/metadata/version", "/metadata/program/language"];
    let mut changes = 0;
    for place in crate::tampering::leaves(&whole) {
        if remarks.contains(&place.as_str()) || place.ends_with("/text") {
            continue;
        }
        let changed = crate::tampering::changed_leaf(&whole, &place);
        std::fs::write(&run, format!("{changed:#}")).expect("it can be written");
        let (status, said) = checked(&program, &run, &asked);
        assert!(matches!(status, Some(1 | 2)), "{place}: {said}");
        changes += 1;
    }
    assert!(changes > 30, "{changes} changes");
}

/// Runs with calls, returns and threads that are started: none of these steps can be left out.
#[test]
fn the_second_checker_knows_calls_and_spawn() {
    if !has_python() {
        return;
    }
    let folder = scratch("second-checker-dynamic");
    let (program, run) = (folder.join("program.json"), folder.join("run.json"));
    let mut left_out = 0;
    for name in ["recursion/flags", "recursion/reentrant-lock-wrong", "spawn/publish"] {
        let file = root().join(format!("examples/dynamic/{name}.weir"));
        assert_eq!(weir(&["check", "-q", "--witness", text(&run), text(&file)]).status, Some(1), "{name}");
        let whole: Value = serde_json::from_slice(&std::fs::read(&run).expect("it was saved")).expect("JSON");
        let constants = whole["metadata"]["program"]["constants"].as_object().expect("constants");
        let counts = constants.iter().filter(|(name, _)| name.starts_with("spawn "));
        let count = counts.filter_map(|(_, value)| value.as_u64()).max().unwrap_or(0);
        let ran = weir(&["translate", "--to", "json", "--pass", &format!("link={count}"), text(&file)]);
        std::fs::write(&program, ran.stdout).expect("it can be written");
        let (status, said) = checked(&program, &run, &["--text", text(&file)]);
        assert_eq!(status, Some(0), "{name}: {said}");
        let steps = whole["steps"].as_array().expect("steps");
        for (at, step) in steps.iter().enumerate() {
            if !matches!(step["action"].as_str(), Some("call" | "return" | "spawn")) {
                continue;
            }
            let mut shorter = whole.clone();
            shorter["steps"].as_array_mut().expect("steps").remove(at);
            std::fs::write(&run, shorter.to_string()).expect("it can be written");
            let (status, said) = checked(&program, &run, &[]);
            assert!(matches!(status, Some(1 | 2)), "{name}, without step {}: {said}", at + 1);
            left_out += 1;
        }
    }
    assert!(left_out >= 7, "{left_out}");
}

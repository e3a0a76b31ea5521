//! A saved proof is a claim, too: it is checked against the program, and a proof of what is not so is refused.

use serde_json::{Value, json};

use crate::support::{Ran, scratch, weir, write};
use crate::tampering::{changed_leaf, leaves, removable, removed};
use crate::witness::is_no;

/// Two threads that raise a flag, and look at that of the other after `between`.
fn dekker(between: &str) -> String {
    let thread = |name: &str, mine: &str, other: &str| {
        format!("thread {name} {{ {mine} = 1; {between} let r = {other}; assume r == 0; critical: skip; }}\n")
    };
    let threads = thread("P", "x", "y") + &thread("Q", "y", "x");
    format!("shared x, y;\n{threads}forbid P at critical && Q at critical;\nforbid P at critical && x == 2;\n")
}

/// A proof that an engine has saved, and the files of the program and of the proof.
fn saved(engine: &str, test: &str) -> (String, String, Value) {
    let directory = scratch(test);
    let program = write(&directory, "dekker.weir", dekker("fence;").as_bytes());
    let path = directory.join("proof.json");
    let path = path.to_str().expect("the path is UTF-8").to_owned();
    let ran = weir(&["reach", "-q", "--engine", engine, "--certificate", &path, &program]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let text = std::fs::read_to_string(&path).expect("the proof was saved");
    (program, path, serde_json::from_str(&text).expect("the proof is JSON"))
}

fn replay(program: &str, path: &str, proof: &Value) -> Ran {
    std::fs::write(path, proof.to_string()).expect("it can be written");
    let ran = weir(&["replay", program, path]);
    ran.assert_no_bug();
    ran
}

const ENGINES: [&str; 4] = ["set", "multiset", "coherence", "dual"];

#[test]
fn a_saved_proof_is_accepted_and_proves_nothing_of_another_program() {
    for engine in ENGINES {
        let (program, path, proof) = saved(engine, &format!("certificate-{engine}"));
        let ran = replay(&program, &path, &proof);
        assert_eq!(ran.status, Some(0), "{engine}: {ran:?}");
        assert!(
            ran.stdout.contains("unreachable under TSO, proved by ") && ran.stdout.contains(": both properties hold ("),
            "{ran:?}"
        );
        for between in ["skip;", "", "x = 1;", "fence; x = 2;", "choose { fence; } or { skip; }"] {
            std::fs::write(&program, dekker(between)).expect("it can be written");
            is_no(&replay(&program, &path, &proof), "");
        }
    }
}

#[test]
fn a_proof_survives_being_written_down() {
    let programs = [
        (
            "locks",
            "shared x, y; thread P { lock; x = 1; y = 1; x = 0; unlock; } thread Q { lock; let r = x; unlock; }
            forbid Q.r == 1; forbid P at end && Q at end && x == 1;",
        ),
        (
            "snapshots",
            "shared x, y; thread W { loop { x = 1; y = 1; y = 0; x = 0; } }
            thread R { let a, b; a, b = y, x; assert a <= b; } forbid x == 2;",
        ),
        (
            "negative",
            "shared x = -3; thread P { x = -4; let r = any -2..-1; x = r; } thread Q { let r = x; assert r < 0; }",
        ),
    ];
    let mut accepted = 0;
    for (name, text) in programs {
        for engine in ENGINES {
            let directory = scratch(&format!("certificate-written-{name}-{engine}"));
            let program = write(&directory, "program.weir", text.as_bytes());
            let path = directory.join("proof.json");
            let path = path.to_str().expect("the path is UTF-8");
            let ran = weir(&["reach", "-q", "--engine", engine, "--certificate", path, &program]);
            ran.assert_no_bug();
            if ran.status == Some(0) {
                let ran = weir(&["replay", &program, path]);
                assert_eq!(ran.status, Some(0), "{name} {engine}: {ran:?}");
                accepted += 1;
            }
        }
    }
    assert!(accepted >= 8, "{accepted} of 12");
}

#[test]
fn a_proof_names_its_goals_and_they_are_those_of_the_program() {
    for engine in ["set", "dual"] {
        let (program, path, proof) = saved(engine, &format!("certificate-goals-{engine}"));
        let with = |goals: Value| {
            let mut other = proof.clone();
            other["goals"] = goals;
            replay(&program, &path, &other)
        };
        is_no(&with(json!([])), "names no property");
        is_no(&with(json!(["not-robust"])), "");
        let property = |number: u64, text: &str| json!({"property": {"number": number, "text": text}});
        is_no(&with(json!([property(3, "forbid deadlock")])), "the program has no property number 3");
        is_no(&with(json!([property(1, "forbid deadlock")])), "the file is for `forbid deadlock`");
        let ran = with(json!([proof["goals"][1]]));
        assert!(ran.stdout.contains("x == 2"), "one goal is named: {ran:?}");
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
}

#[test]
fn without_a_property_there_is_nothing_to_prove() {
    let directory = scratch("certificate-nothing");
    let program = write(&directory, "plain.weir", b"shared x; thread P { x = 1; }\n");
    let path = directory.join("proof.json");
    let path = path.to_str().expect("the path is UTF-8");
    for engine in ["set", "dual"] {
        let ran = weir(&["reach", "--engine", engine, "--certificate", path, &program]);
        ran.assert_no_bug();
        assert!(ran.stderr.contains("has no properties, so there is nothing to prove"), "{engine}: {ran:?}");
        assert!(!std::path::Path::new(path).exists(), "{engine}: nothing is written");
    }
}

/// Fields that say nothing about the program.
fn is_remark(path: &str) -> bool {
    ["/weir", "/file"].contains(&path)
}

#[test]
fn a_proof_that_was_changed_is_refused() {
    for (engine, least) in [("set", 100), ("coherence", 100), ("dual", 60)] {
        let (program, path, proof) = saved(engine, &format!("certificate-changed-{engine}"));
        // The parts of a backward proof may stand for more than is needed, and the proof still be one; and so it may be
        // with another bound on buffers that never get so long.
        let may_hold = |path: &str| path.starts_with(if engine == "dual" { "/c" } else { "/buffers" });
        let (mut refused, mut accepted) = (0, 0);
        let mut look = |place: &str, changed: &Value| {
            let ran = replay(&program, &path, changed);
            match ran.status {
                Some(1 | 2) => refused += 1,
                _ if is_remark(place) || may_hold(place) => accepted += 1,
                _ => panic!("{engine}: {place} was changed: {ran:?}"),
            }
        };
        let places = leaves(&proof);
        for place in places.iter().step_by(places.len() / 60 + 1) {
            look(place, &changed_leaf(&proof, place));
        }
        let places = removable(&proof);
        for place in places.iter().step_by(places.len() / 60 + 1) {
            look(place, &removed(&proof, place));
        }
        assert!(refused >= least && accepted * 2 < refused, "{engine}: {refused} refused, {accepted} accepted");
    }
}

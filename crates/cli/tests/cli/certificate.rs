//! A saved proof is a claim, too: it is checked against the program, and a proof of what is not so is refused.

use serde_json::{Value, json};

use crate::support::{Ran, scratch, weir, write};
use crate::tampering::{changed_leaf, leaves, removable, removed};
use crate::witness::{is_no, program_record};

/// Two threads that raise a flag, and look at that of the other after `between`.
fn dekker(between: &str) -> String {
    let thread = |name: &str, mine: &str, other: &str| {
        format!("thread {name} {{ {mine} = 1; {between} let r = {other}; assume r == 0; critical: skip; }}\n")
    };
    let threads = thread("P", "x", "y") + &thread("Q", "y", "x");
    format!("shared x, y;\n{threads}forbid P at critical && Q at critical;\nforbid P at critical && x == 2;\n")
}

/// A proof in a file: a line of JSON, and what follows it.
#[derive(Clone)]
pub(crate) struct Proof {
    pub(crate) line: Value,
    pub(crate) body: Vec<u8>,
}

impl Proof {
    pub(crate) fn new(line: Value, body: Vec<u8>) -> Self {
        Self { line, body }
    }

    pub(crate) fn read(path: &str) -> Self {
        Self::of(&std::fs::read(path).expect("the proof was saved"))
    }

    pub(crate) fn of(bytes: &[u8]) -> Self {
        let end = bytes.iter().position(|&byte| byte == b'\n').expect("a line");
        let line = serde_json::from_slice(&bytes[..end]).expect("the line is JSON");
        Self { line, body: bytes[end + 1..].to_vec() }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.line.to_string().as_bytes(), b"\n", &self.body].concat()
    }

    pub(crate) fn write(&self, path: &str) {
        std::fs::write(path, self.bytes()).expect("it can be written");
    }

    /// The same, or its parts, with the claim that it is about another program.
    pub(crate) fn about(&self, program: &Value) -> Self {
        let mut other = self.clone();
        other.line["metadata"]["program"] = program.clone();
        let Some(parts) = self.line["parts"].as_array() else { return other };
        let (mut rest, mut lengths) = (&self.body[..], Vec::new());
        other.body.clear();
        for length in parts.iter().filter_map(Value::as_u64) {
            let (part, after) = rest.split_at(usize::try_from(length).expect("it fits"));
            let part = Self::of(part).about(program).bytes();
            lengths.push(part.len());
            other.body.extend(part);
            rest = after;
        }
        other.line["parts"] = json!(lengths);
        other
    }

    pub(crate) fn with(&self, line: Value) -> Self {
        Self { line, body: self.body.clone() }
    }
}

/// A proof that a command has saved, and the files of the program and of the proof.
pub(crate) struct Saved {
    pub(crate) program: String,
    pub(crate) path: String,
    pub(crate) proof: Proof,
}

impl Saved {
    pub(crate) fn new(command: &str, test: &str, text: &str, options: &[&str]) -> Self {
        let directory = scratch(test);
        let program = write(&directory, "program.weir", text);
        let path = directory.join("proof").to_str().expect("the path is UTF-8").to_owned();
        let ran = weir(&[&[command, "-q", "--certificate", &path, &program], options].concat());
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
        let proof = Proof::read(&path);
        Self { program, path, proof }
    }

    pub(crate) fn replay(&self, question: &[&str], proof: &Proof) -> Ran {
        replay_asking(question, &self.program, &self.path, proof)
    }
}

/// A proof that an engine has saved, and the files of the program and of the proof.
fn saved(engine: &str, test: &str) -> (String, String, Proof) {
    let directory = scratch(test);
    let program = write(&directory, "dekker.weir", dekker("fence;").as_bytes());
    let path = directory.join("proof.json");
    let path = path.to_str().expect("the path is UTF-8").to_owned();
    let ran = weir(&["reach", "-q", "--engine", engine, "--certificate", &path, &program]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let proof = Proof::read(&path);
    (program, path, proof)
}

fn replay(program: &str, path: &str, proof: &Proof) -> Ran {
    replay_asking(&[], program, path, proof)
}

fn replay_asking(question: &[&str], program: &str, path: &str, proof: &Proof) -> Ran {
    proof.write(path);
    let ran = weir(&[&["replay", program, path], question].concat());
    ran.assert_no_bug();
    ran
}

#[test]
fn a_proof_of_robustness_is_accepted_and_proves_nothing_else() {
    let directory = scratch("certificate-robust");
    let path = directory.join("proof").to_str().expect("the path is UTF-8").to_owned();
    let program = write(&directory, "dekker.weir", dekker("fence;").as_bytes());
    let ran = weir(&["robust", "-q", "--certificate", &path, &program]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let proof = Proof::read(&path);
    assert_eq!(proof.line["kind"], "attacks");
    let robust = ["--property", "robust"];
    let accepted = replay_asking(&robust, &program, &path, &proof);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    assert!(accepted.stdout.contains("ok: robust, proved by "), "{accepted:?}");
    is_no(&replay(&program, &path, &proof), "the file is about another property: ");
    let as_states = proof.with({
        let mut line = proof.line.clone();
        line["kind"] = "states".into();
        line["buffers"] = "fifo".into();
        line
    });
    is_no(&replay_asking(&robust, &program, &path, &as_states), "it names no property of the program");
    // The same states, said to be those of a program that is not robust.
    let unsafe_one = write(&directory, "unfenced.weir", dekker("skip;").as_bytes());
    let other = weir(&["robust", "-q", "--witness", &format!("{path}.run"), &unsafe_one]);
    assert_eq!(other.status, Some(1), "{other:?}");
    let run: Value = serde_json::from_slice(&std::fs::read(format!("{path}.run")).expect("saved")).expect("JSON");
    let forged = proof.with({
        let mut line = proof.line.clone();
        line["metadata"] = run["metadata"].clone();
        line
    });
    let refused = replay_asking(&robust, &unsafe_one, &path, &forged);
    assert_eq!(refused.status, Some(1), "{refused:?}");
    let none = weir(&["robust", "-q", "--certificate", &format!("{path}.none"), &unsafe_one]);
    assert!(none.status == Some(1) && !std::path::Path::new(&format!("{path}.none")).exists(), "{none:?}");
    assert_eq!(weir(&["robust", "--of", "states", "--certificate", &path, &program]).status, Some(2));
    // A proof that would take too many states is not written, and that is said even if quiet.
    let few = ["robust", "-q", "--limit", "certify-states=5", "--certificate", &format!("{path}.few"), &program];
    let few = weir(&few);
    assert_eq!(few.status, Some(0), "{few:?}");
    assert!(few.stderr.contains("more than 5 states; `--limit certify-states=N` allows more"), "{few:?}");
}

const ENGINES: [&str; 6] = ["explicit", "lazy", "set", "multiset", "coherence", "dual"];

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
            is_no(&replay(&program, &path, &proof), "the file is about another text: its SHA-256 is ");
            // Whoever forges the digests has still proved nothing.
            let mut forged = proof.clone();
            forged.line["metadata"]["program"] = program_record(&program);
            let ran = replay(&program, &path, &forged);
            is_no(&ran, "");
            assert!(!ran.stdout.contains("SHA-256") && !ran.stdout.contains("read the program"), "{ran:?}");
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
            let ran = weir(&["reach", "-q", "--states", "20000", "--engine", engine, "--certificate", path, &program]);
            ran.assert_no_bug();
            // What `lazy` knows by robustness may have no proof that can be saved.
            let is_saved = engine != "lazy" || std::path::Path::new(path).exists();
            if ran.status == Some(0) && is_saved {
                let ran = weir(&["replay", &program, path]);
                assert_eq!(ran.status, Some(0), "{name} {engine}: {ran:?}");
                accepted += 1;
            }
        }
    }
    assert!(accepted >= 12, "{accepted} of 18");
}

#[test]
fn a_proof_names_its_goals_and_they_are_those_of_the_program() {
    for engine in ["explicit", "set", "dual"] {
        let (program, path, proof) = saved(engine, &format!("certificate-goals-{engine}"));
        let with = |goals: Value| {
            let mut other = proof.clone();
            other.line["metadata"]["specification"] = goals;
            replay(&program, &path, &other)
        };
        is_no(&with(json!([])), "the file names no property");
        is_no(&with(json!(["not-robust"])), "select it with `--property robust`");
        let property = |number: u64, text: &str| json!({"property": {"number": number, "text": text}});
        is_no(&with(json!([property(3, "forbid deadlock")])), "the program has no property number 3");
        is_no(&with(json!([property(1, "forbid deadlock")])), "the file is for `forbid deadlock`");
        let first = json!([proof.line["metadata"]["specification"][0]]);
        is_no(&with(first.clone()), "does not cover this: forbid P at critical && x == 2");
        let mut part = proof.clone();
        part.line["metadata"]["specification"] = first;
        let ran = replay_asking(&["--property", "1"], &program, &path, &part);
        assert_eq!(ran.status, Some(0), "one property is asked about: {ran:?}");
        is_no(&replay_asking(&["--property", "2"], &program, &path, &part), "select it with `--property 1`");
        is_no(&replay_asking(&["--property", "robust"], &program, &path, &proof), "the file is about another property");
        is_no(&replay_asking(&["--model", "sc"], &program, &path, &proof), "select it with `--model tso`");
    }
}

#[test]
fn a_proof_for_other_constants_is_refused() {
    let text = "const N = 3; shared x; thread P { x = N; } forbid P at end && x == 3;\n";
    let directory = scratch("certificate-constants");
    let program = write(&directory, "constant.weir", text.as_bytes());
    let path = directory.join("proof.json");
    let path = path.to_str().expect("the path is UTF-8");
    for engine in ENGINES {
        let ran = weir(&["reach", "-q", "--engine", engine, "-D", "N=2", "--certificate", path, &program]);
        assert_eq!(ran.status, Some(0), "{engine}: {ran:?}");
        is_no(&weir(&["replay", &program, path]), "the file is about N = 2, but here it is N = 3");
        is_no(&weir(&["replay", "-D", "N=4", &program, path]), "the file is about N = 2, but here it is N = 4");
        let ran = weir(&["replay", "-D", "N=2", &program, path]);
        assert_eq!(ran.status, Some(0), "{engine}: {ran:?}");
        // Claiming the other value does not help: the automaton is another one.
        let mut proof = Proof::read(path);
        proof.line["metadata"]["program"]["constants"]["N"] = json!(3);
        is_no(&replay(&program, path, &proof), "which read the program differently");
    }
}

#[test]
fn what_a_proof_says_that_is_not_part_of_it_is_refused() {
    let (program, path, mut proof) = saved("set", "certificate-unknown-field");
    proof.line["metadata"]["verdict"] = json!("also safe under Power");
    let ran = replay(&program, &path, &proof);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("unknown field `verdict`"), "{ran:?}");
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
    ["/metadata/producer", "/metadata/version"].contains(&path)
}

#[test]
fn a_proof_that_was_changed_is_refused() {
    for (engine, least) in [("explicit", 20), ("set", 20), ("coherence", 20), ("dual", 60)] {
        let (program, path, proof) = saved(engine, &format!("certificate-changed-{engine}"));
        // The parts of a backward proof may stand for more than is needed, and the proof still be one; and so it may be
        // with another bound on buffers that never get so long.
        let may_hold = |path: &str| path.starts_with(if engine == "dual" { "/c" } else { "/buffers/" });
        let (mut refused, mut accepted) = (0, 0);
        let mut look = |place: &str, changed: Value| {
            let ran = replay(&program, &path, &proof.with(changed));
            match ran.status {
                Some(1 | 2) => refused += 1,
                _ if is_remark(place) || may_hold(place) => accepted += 1,
                _ => panic!("{engine}: {place} was changed: {ran:?}"),
            }
        };
        let places = leaves(&proof.line);
        for place in places.iter().step_by(places.len() / 60 + 1) {
            look(place, changed_leaf(&proof.line, place));
        }
        let places = removable(&proof.line);
        for place in places.iter().step_by(places.len() / 60 + 1) {
            look(place, removed(&proof.line, place));
        }
        assert!(refused >= least && accepted * 2 < refused, "{engine}: {refused} refused, {accepted} accepted");
    }
}

#[test]
fn a_proof_with_other_bytes_is_refused() {
    let (program, path, proof) = saved("explicit", "certificate-bytes");
    for at in (0..proof.body.len()).step_by(proof.body.len() / 25 + 1) {
        let mut other = proof.clone();
        other.body[at] ^= 4;
        assert_eq!(replay(&program, &path, &other).status, Some(1), "byte {at}");
    }
    let mut shorter = proof.clone();
    shorter.body.pop();
    is_no(&replay(&program, &path, &shorter), "");
    let mut longer = proof.clone();
    longer.body.push(0);
    is_no(&replay(&program, &path, &longer), "there is data after the states");
    longer.line["bytes"] = json!(u64::MAX);
    is_no(&replay(&program, &path, &longer), "");
}

#[test]
fn what_check_proves_is_saved_part_by_part() {
    let directory = scratch("certificate-check");
    let text = "shared x, y; thread P { x = 1; await y == 1; } thread Q { y = 1; let r = x; }
        forbid x == 2; forbid stuck; live P at end; assert_free: forbid deadlock;";
    let program = write(&directory, "check.weir", text.replace("assert_free: ", "").as_bytes());
    let path = directory.join("proof.json");
    let path = path.to_str().expect("the path is UTF-8");
    let ran = weir(&["check", "-q", "--certificate", path, &program]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let whole = Proof::read(path);
    assert_eq!(whole.line["kind"], "parts", "{}", whole.line);
    let ran = replay(&program, path, &whole);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("all 4 properties hold"), "{ran:?}");
    // Without one of the parts, something is not proved.
    let lengths = whole.line["parts"].as_array().expect("parts").clone();
    let mut fewer = whole.clone();
    let last = lengths.last().and_then(Value::as_u64).expect("a length") as usize;
    fewer.body.truncate(whole.body.len() - last);
    fewer.line["parts"] = json!(lengths[..lengths.len() - 1]);
    is_no(&replay(&program, path, &fewer), "some property has no part that proves it");
    // Nor does a part prove more than it says.
    let mut twice = fewer.clone();
    let first = lengths[0].as_u64().expect("a length") as usize;
    twice.body = [&whole.body[..first], &whole.body[..first]].concat();
    twice.line["parts"] = json!([first, first]);
    is_no(&replay(&program, path, &twice), "some property has no part that proves it");
    // Where something can no longer happen, the forged proof is none.
    std::fs::write(&program, text.replace("assert_free: ", "").replace("y = 1;", "y = 2;")).expect("it can be written");
    is_no(&weir(&["replay", &program, path]), "another text");
}

/// A proof for every number of copies, and the files of the program and of the proof.
fn saved_for_every_number(test: &str) -> (String, String, Proof) {
    let directory = scratch(test);
    let text = dekker("fence;").replace("thread P {", "thread P[*] {").replace("thread Q {", "thread Q[*] {");
    let program = write(&directory, "dekker.weir", text.as_bytes());
    let path = directory.join("proof.json").to_str().expect("the path is UTF-8").to_owned();
    let ran = weir(&["reach", "-q", "--engine", "dual", "--certificate", &path, &program]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let proof = Proof::read(&path);
    (program, path, proof)
}

/// The same by counting copies: for robustness, for properties, and under SC.
#[test]
fn proofs_by_counting_copies_are_accepted_for_just_what_they_say() {
    let (program, path, by_configurations) = saved_for_every_number("certificate-counted");
    let ways: [(&[&str], &[&str]); 3] = [
        (&["robust", "-q"], &["--property", "robust"]),
        (&["check", "-q"], &[]),
        (&["check", "-q", "--model", "sc"], &["--model", "sc"]),
    ];
    let mut proofs = Vec::new();
    for (command, question) in ways {
        let ran = weir(&[command, &["--certificate", &path, &program]].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let proof = Proof::read(&path);
        assert_eq!(proof.line["kind"], "copies");
        for (_, other) in ways {
            let expected = if other == question { 0 } else { 1 };
            let ran = replay_asking(other, &program, &path, &proof);
            assert_eq!(ran.status, Some(expected), "{command:?} {other:?} {ran:?}");
        }
        let fixed = replay_asking(&[question, &["-D", "P[*]=2", "-D", "Q[*]=2"]].concat(), &program, &path, &proof);
        assert_eq!(fixed.status, Some(1), "{fixed:?}");
        proofs.push((question, proof));
    }
    // Nothing of it can be left out, and nothing of another kind added.
    for (question, proof) in &proofs {
        let refused = |line: Value| {
            let ran = replay_asking(question, &program, &path, &proof.with(line.clone()));
            assert!(matches!(ran.status, Some(1 | 2)), "{line} {ran:?}");
        };
        for place in leaves(&proof.line).into_iter().filter(|place| place.starts_with("/beside")).step_by(3) {
            refused(removed(&proof.line, &place));
            refused(changed_leaf(&proof.line, &place));
        }
        for place in ["/copies", "/copies/0", "/copies/1/at", "/beside", "/beside/0", "/states", "/registers/0"] {
            refused(removed(&proof.line, place));
        }
        let mut mixed = proof.line.clone();
        mixed["classes"] = by_configurations.line["classes"].clone();
        refused(mixed);
        let mut none = proof.line.clone();
        none["minimal"] = json!([[0, []]]);
        refused(none);
    }
    let is_needed = |(question, proof): &(&[&str], Proof)| {
        let mut none = proof.line.clone();
        none["minimal"] = json!([]);
        replay_asking(question, &program, &path, &proof.with(none)).status == Some(1)
    };
    assert!(proofs.iter().filter(|proof| is_needed(proof)).count() >= 2);
    // Without the fences nothing is robust, and no proof is saved.
    let directory = scratch("certificate-counted-unfenced");
    let text = dekker("").replace("thread P {", "thread P[*] {").replace("thread Q {", "thread Q[*] {");
    let unfenced = write(&directory, "dekker.weir", text.as_bytes());
    let ran = weir(&["robust", "--certificate", &path, &unfenced]);
    assert!(ran.status == Some(1) && ran.stderr.contains("nothing was proved"), "{ran:?}");
}

#[test]
fn a_proof_for_every_number_of_copies_is_accepted_for_just_that() {
    let (program, path, proof) = saved_for_every_number("certificate-copies");
    assert_eq!(proof.line["kind"], "configurations");
    let accepted = replay(&program, &path, &proof);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    // A number of copies makes it another program.
    let other = replay_asking(&["-D", "P[*]=2", "-D", "Q[*]=2"], &program, &path, &proof);
    assert_eq!(other.status, Some(1), "{other:?}");
    let under_sc = replay_asking(&["--model", "sc"], &program, &path, &proof);
    assert_eq!(under_sc.status, Some(1), "{under_sc:?}");
    // The same threads without fences are another program, too.
    let directory = scratch("certificate-copies-unfenced");
    let text = dekker("").replace("thread P {", "thread P[*] {").replace("thread Q {", "thread Q[*] {");
    let unfenced = write(&directory, "dekker.weir", text.as_bytes());
    assert_eq!(replay(&unfenced, &path, &proof).status, Some(1));
    let ran = weir(&["check", "--certificate", &path, &unfenced]);
    assert!(ran.status == Some(1) && ran.stderr.contains("nothing was proved"), "{ran:?}");
}

/// What is written about copies cannot be changed or left out.
#[test]
fn forged_proofs_for_every_number_of_copies_are_refused() {
    let (program, path, proof) = saved_for_every_number("certificate-copies-forged");
    let is_about_copies = |place: &String| place.starts_with("/configurations") && place.contains("/copies/");
    let mut refused = 0;
    for place in leaves(&proof.line).into_iter().filter(is_about_copies).step_by(7) {
        let ran = replay(&program, &path, &proof.with(changed_leaf(&proof.line, &place)));
        // A message may change into one that is as good.
        assert!([Some(0), Some(1), Some(2)].contains(&ran.status), "{place} {ran:?}");
        refused += usize::from(ran.status != Some(0));
    }
    assert!(refused >= 10, "{refused}");
    for place in ["/configurations", "/configurations/0", "/classes", "/classes/1", "/threads/0", "/metadata/program"] {
        let ran = replay(&program, &path, &proof.with(removed(&proof.line, place)));
        assert!(ran.status != Some(0), "{place} {ran:?}");
    }
    let mut empty = proof.line.clone();
    empty["configurations"] = json!([]);
    is_no(&replay(&program, &path, &proof.with(empty)), "a state that violates a property is not among");
    let mut digest = proof.line.clone();
    let other = digest["metadata"]["program"]["automaton_sha256"].as_str().expect("a digest").replace(['a', '1'], "b");
    digest["metadata"]["program"]["automaton_sha256"] = json!(other);
    assert_eq!(replay(&program, &path, &proof.with(digest)).status, Some(1));
}

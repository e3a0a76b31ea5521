//! Proofs that fences are the cheapest: what is saved is accepted, and proves nothing else.

use serde_json::{Value, json};

use crate::certificate::Saved;
use crate::support::{root, scratch, weir, write};
use crate::tampering::{changed_leaf, leaves, removable, removed};
use crate::witness::{is_no, program_record};

/// Store buffering in which either place of `P` will do, and which is not safe without a fence in each thread.
const TEXT: &str = "\
shared x, y;
thread P { x = 1; skip; let r = y; }
thread Q { y = 1; let s = x; }
forbid P at end && Q at end && P.r == 0 && Q.s == 0;
exists P at end;
";

fn saved(test: &str, text: &str, options: &[&str]) -> Saved {
    Saved::new("fences", test, text, options)
}

#[test]
fn the_proof_answers_the_question_it_was_made_for_and_no_other() {
    let robust = saved("fence-proof-robust", TEXT, &[]);
    let ran = robust.replay(&["--for", "robust"], &robust.proof);
    let line = "ok: fences of cost 2 make it robust, and no cheaper ones do, proved by 2 runs";
    assert!(ran.status == Some(0) && ran.stdout.starts_with(line), "{ran:?}");
    let answer = robust.replay(&["--for", "robust", "--format", "json"], &robust.proof).json();
    assert_eq!((&answer["verdict"], &answer["cost"]), (&"ok".into(), &2.into()), "{answer:#}");
    is_no(&robust.replay(&["--for", "safe"], &robust.proof), "the file is about another property");
    is_no(&robust.replay(&["--for", "robust", "--remove"], &robust.proof), "leave out `--remove`");
    is_no(&robust.replay(&["--for", "robust", "--cost", "loops", "--model", "sc"], &robust.proof), "`--model tso`");
    is_no(&robust.replay(&["--property", "robust"], &robust.proof), "ask about that with `--for`");
    is_no(&robust.replay(&[], &robust.proof), "");
    let safe = saved("fence-proof-safe", TEXT, &["--for", "safe"]);
    let ran = safe.replay(&["--for", "safe"], &safe.proof);
    assert!(ran.status == Some(0) && ran.stdout.contains("cost 2 make its properties hold"), "{ran:?}");
    is_no(&safe.replay(&["--for", "robust"], &safe.proof), "the file is about another property");
    let states = robust.replay(&["--for", "states"], &robust.proof);
    assert!(states.status == Some(2) && states.stderr.contains("only for robust and safe"), "{states:?}");
    let run = weir(&["robust", "-q", "--witness", &robust.path, &robust.program]);
    assert_eq!(run.status, Some(1), "{run:?}");
    let ran = weir(&["replay", "--for", "robust", &robust.program, &robust.path]);
    assert!(ran.status == Some(2) && ran.stderr.contains("this evidence is none"), "{ran:?}");
}

#[test]
fn what_fences_cost_is_part_of_the_question() {
    let text = "shared x, y; thread P { loop { x = 1; let r = y; } } thread Q { y = 1; let s = x; }";
    let saved = saved("fence-proof-cost", text, &["--cost", "loops"]);
    let ran = saved.replay(&["--for", "robust", "--cost", "loops"], &saved.proof);
    assert!(ran.status == Some(0) && ran.stdout.contains("fences of cost 11 make it robust"), "{ran:?}");
    is_no(&saved.replay(&["--for", "robust"], &saved.proof), "`--cost` sets the costs");
}

#[test]
fn fences_that_are_needed_have_a_proof() {
    let text = "shared x, y; thread P { fence; x = 1; fence; let r = y; } thread Q { xchg(y, 1); let s = x; }";
    let saved = saved("fence-proof-remove", text, &["--remove"]);
    let ran = saved.replay(&["--for", "robust", "--remove"], &saved.proof);
    assert!(ran.status == Some(0) && ran.stdout.contains("fences of cost 2 make it robust"), "{ran:?}");
    is_no(&saved.replay(&["--for", "robust"], &saved.proof), "ask about that with `--remove`");
}

#[test]
fn what_has_no_proof_is_refused_by_name() {
    let directory = scratch("fence-proof-refused");
    let program = write(&directory, "program.weir", TEXT);
    let copies = write(&directory, "copies.weir", "shared x, y; thread P[*] { x = 1; let r = y; y = 1; }");
    let path = directory.join("proof").to_str().expect("the path is UTF-8").to_owned();
    let cases: [(&[&str], &str); 4] = [
        (&["--for", "states"], "cannot be combined with `--for states`"),
        (&["--for", "trf"], "cannot be combined with `--for trf`"),
        (&["--all"], "leave out `--all`"),
        (&[&copies], "exactly one FILE"),
    ];
    for (options, reason) in cases {
        let ran = weir(&[&["fences", "--certificate", &path, &program], options].concat());
        assert!(ran.status == Some(2) && ran.stderr.contains(reason), "{options:?}: {ran:?}");
    }
    let ran = weir(&["fences", "--certificate", &path, &copies]);
    assert!(ran.status == Some(2) && ran.stderr.contains("`weir robust --certificate`"), "{ran:?}");
    let ran = weir(&["fences", "--certificate", &program, &program]);
    assert!(ran.status == Some(2) && ran.stderr.contains("would overwrite the input file"), "{ran:?}");
    let unsafe_one = write(&directory, "unsafe.weir", "shared x; thread P { x = 1; } forbid x == 1;");
    let ran = weir(&["fences", "--for", "safe", "--certificate", &path, &unsafe_one]);
    assert!(ran.status == Some(1) && ran.stderr.contains("nothing was proved"), "{ran:?}");
    assert!(!std::path::Path::new(&path).exists(), "nothing is written");
}

/// Fields that say nothing about the answer.
fn is_remark(place: &str) -> bool {
    place.ends_with("/producer") || place.ends_with("/version") || place.contains("/cycle")
}

#[test]
fn a_proof_that_was_changed_is_refused() {
    let saved = saved("fence-proof-changed", TEXT, &[]);
    let (mut refused, mut accepted) = (0, 0);
    let mut look = |place: &str, changed: Value| {
        let ran = saved.replay(&["--for", "robust"], &saved.proof.with(changed));
        // Claims about steps may be left out.
        match ran.status {
            Some(1 | 2) => refused += 1,
            _ if is_remark(place) || place.contains("/steps/") => accepted += 1,
            _ => panic!("{place} was changed: {ran:?}"),
        }
    };
    let places = leaves(&saved.proof.line);
    for place in places.iter().step_by(places.len() / 40 + 1) {
        look(place, changed_leaf(&saved.proof.line, place));
    }
    let places = removable(&saved.proof.line);
    for place in places.iter().step_by(places.len() / 40 + 1) {
        look(place, removed(&saved.proof.line, place));
    }
    assert!(refused > 30 && accepted * 2 < refused, "{refused} refused, {accepted} accepted");
}

/// The proof with another choice of fences, and everything else as a forger would have it.
#[test]
fn other_fences_are_not_proved_by_it() {
    let saved = saved("fence-proof-forged", TEXT, &[]);
    let fences = &saved.proof.line["fences"];
    let count = fences["places"].as_array().expect("places").len();
    for bits in 0..1u32 << count {
        let chosen: Vec<usize> = (0..count).filter(|place| bits >> place & 1 == 1).collect();
        if json!(chosen) == fences["chosen"] {
            continue;
        }
        let mut forged = saved.proof.clone();
        forged.line["fences"]["chosen"] = json!(chosen);
        is_no(&saved.replay(&["--for", "robust"], &forged), "");
    }
    // A run is needed for each bound.
    let mut forged = saved.proof.clone();
    forged.line["fences"]["demands"] = json!([fences["demands"][0], fences["demands"][0]]);
    is_no(&saved.replay(&["--for", "robust"], &forged), "");
    // For a program that needs fewer, or more.
    for text in [TEXT.replace("y = 1;", "y = 1; fence;"), TEXT.replace("skip;", "y = 2;")] {
        std::fs::write(&saved.program, text).expect("it can be written");
        is_no(&saved.replay(&["--for", "robust"], &saved.proof), "the file is about another text");
        let mut forged = saved.proof.clone();
        forged.line["metadata"]["program"] = program_record(&saved.program);
        is_no(&saved.replay(&["--for", "robust"], &forged), "");
    }
}

#[test]
fn the_fences_of_examples_have_proofs() {
    let mut checked = 0;
    for name in ["litmus/sb", "litmus/mp", "mutex/dekker", "mutex/peterson", "structures/seqlock"] {
        let file = root().join(format!("examples/{name}.weir"));
        let Some(file) = file.to_str().filter(|_| file.exists()) else { continue };
        let path = scratch("fence-proof-examples").join("proof").to_str().expect("the path is UTF-8").to_owned();
        let ran = weir(&["fences", "-q", "--certificate", &path, file]);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{name}: {ran:?}");
        let ran = weir(&["replay", "--for", "robust", file, &path]);
        assert_eq!(ran.status, Some(0), "{name}: {ran:?}");
        checked += 1;
    }
    assert!(checked >= 4, "{checked} examples");
}

/// A limit can be reached after the fences are found and before it is shown that they are enough.
#[test]
fn under_any_limit_what_is_written_is_accepted() {
    let directory = scratch("fence-proof-limits");
    let text = "shared x, y;
        thread P { let i = 0; while i < 3 { i = i + 1; x = i; } let r = y; }
        thread Q { y = 1; let s = x; let t = x; }
        forbid P at end && Q at end && P.r == 0 && Q.s == 0;";
    let program = write(&directory, "program.weir", text);
    let path = directory.join("proof").to_str().expect("the path is UTF-8").to_owned();
    let (mut written, mut explained) = (0, 0);
    for states in (300..=5_000).step_by(470) {
        let _ = std::fs::remove_file(&path);
        let limits = ["--states", &states.to_string()];
        let ran = weir(&[&["fences", "-q", "--for", "safe", "--certificate", &path, &program], &limits[..]].concat());
        ran.assert_no_bug();
        if std::path::Path::new(&path).exists() {
            let replayed = weir(&["replay", "--for", "safe", &program, &path]);
            assert_eq!(replayed.status, Some(0), "{states} states: {replayed:?}");
            written += 1;
        } else if ran.status == Some(0) {
            assert!(ran.stderr.contains("the proof could not be written out: the limit of"), "{ran:?}");
            explained += 1;
        }
    }
    assert!(written > 0 && explained > 0, "{written} written, {explained} explained");
}

//! Proofs of probabilities: what is saved is accepted, and proves nothing else.

use serde_json::{Value, json};

use crate::certificate::Saved;
use crate::support::{scratch, weir, write};
use crate::tampering::{changed_leaf, leaves, removable, removed};
use crate::witness::{is_no, program_record};

/// Store buffering, in which either thread may also wait for the other one.
const TEXT: &str = "\
shared x, y;
thread P { x = 1; fence; let r = y; }
thread Q { y = 1; let s = x; }
forbid P at end && Q at end && P.r == 0 && Q.s == 0;
";

const PROBABILITY: &[&str] = &["--question", "probability"];

fn saved(test: &str, text: &str, options: &[&str]) -> Saved {
    Saved::new("prob", test, text, options)
}

#[test]
fn the_proof_answers_the_question_it_was_made_for_and_no_other() {
    let saved = saved("chance-proof", TEXT, &[]);
    let ran = saved.replay(PROBABILITY, &saved.proof);
    assert!(
        ran.status == Some(0) && ran.stdout.starts_with("ok: reached with a probability of at least 0."),
        "{ran:?}"
    );
    let answer = saved.replay(&[PROBABILITY, &["--format", "json"]].concat(), &saved.proof).json();
    let (lower, upper) = (answer["lower"].as_f64().expect("a number"), answer["upper"].as_f64().expect("a number"));
    assert!(0.0 < lower && lower <= upper && upper - lower < 1e-6 && upper < 1.0, "{answer:#}");
    let ask = |more: &[&str]| saved.replay(&[PROBABILITY, more].concat(), &saved.proof);
    is_no(&saved.replay(&["--question", "almost-sure"], &saved.proof), "does not prove that the probability is 1");
    is_no(&saved.replay(&["--question", "almost-never"], &saved.proof), "does not prove that the probability is 0");
    is_no(&ask(&["--repeated"]), "reaching the target once; leave out `--repeated`");
    is_no(&ask(&["--target", "P at end"]), "the file is about another target");
    is_no(&ask(&["--updates", "single"]), "`--updates uniform`");
    is_no(&ask(&["--stickiness", "3"]), "the file is about another scheduler");
    is_no(&saved.replay(&[], &saved.proof), "ask about that with `--question`");
    is_no(&saved.replay(&["--for", "robust"], &saved.proof), "the file does not prove which fences");
    let never = saved.replay(&["--question", "cost"], &saved.proof);
    assert!(never.status == Some(2) && never.stderr.contains("proofs are about probabilities"), "{never:?}");
}

#[test]
fn answers_about_certainty_and_all_odds_have_proofs() {
    let fair = "shared x; thread P { loop { x = 1; fence; x = 0; fence; } } thread Q { await x == 1; seen: skip; }";
    let cases: [(&str, &[&str]); 6] = [
        (fair, &["--target", "Q at end", "--question", "almost-sure"]),
        (fair, &["--target", "P.nothing == 1 || Q at seen", "--question", "almost-sure", "--stickiness", "3"]),
        (fair, &["--target", "x == 7", "--question", "almost-never"]),
        (fair, &["--target", "Q at seen", "--question", "almost-never", "--repeated"]),
        (fair, &["--target", "x == 1", "--question", "almost-sure", "--repeated", "--updates", "geometric:0.9"]),
        (TEXT, &["--target", "deadlock", "--question", "almost-never", "--updates", "single"]),
    ];
    for (number, (text, question)) in cases.iter().enumerate() {
        let text = if number == 1 { text.replace("loop {", "let nothing = 0; loop {") } else { (*text).to_owned() };
        let saved = saved(&format!("chance-proof-{number}"), &text, question);
        let ran = saved.replay(question, &saved.proof);
        let wanted = if question.contains(&"almost-sure") { "ok: almost surely" } else { "ok: almost never" };
        assert!(ran.status == Some(0) && ran.stdout.starts_with(wanted), "{question:?}: {ran:?}");
    }
}

#[test]
fn what_has_no_proof_is_refused_by_name() {
    let directory = scratch("chance-proof-refused");
    let program = write(&directory, "program.weir", TEXT);
    let path = directory.join("proof").to_str().expect("the path is UTF-8").to_owned();
    let cases: [(&[&str], &str); 4] = [
        (&["--question", "cost"], "cannot be combined with `--question cost`"),
        (&["--question", "simulate"], "cannot be combined with `--question simulate`"),
        (&["--exact"], "leave out `--exact`"),
        (&["--compare", &program], "leave out `--compare`"),
    ];
    for (options, reason) in cases {
        let ran = weir(&[&["prob", "--certificate", &path, &program], options].concat());
        assert!(ran.status == Some(2) && ran.stderr.contains(reason), "{options:?}: {ran:?}");
    }
    let endless = "shared x; thread P { loop { x = 1; } } thread Q { await x == 1; }";
    let endless = write(&directory, "endless.weir", endless);
    let few = ["--limit", "prob-exact-states=4"];
    let options = [&["prob", "-q", "--certificate", &path, "--target", "Q at end", &endless][..], &few].concat();
    let ran = weir(&options);
    assert!(ran.status == Some(0) && ran.stderr.contains("`--limit prob-exact-states=N` allows more"), "{ran:?}");
    assert!(!std::path::Path::new(&path).exists(), "nothing is written");
}

#[test]
fn a_proof_that_was_changed_is_refused() {
    let saved = saved("chance-proof-changed", TEXT, &[]);
    let is_remark = |place: &str| place.ends_with("/producer") || place.ends_with("/version");
    let mut refused = 0;
    let mut look = |place: &str, changed: Value| {
        let ran = saved.replay(PROBABILITY, &saved.proof.with(changed));
        match ran.status {
            Some(1 | 2) => refused += 1,
            _ => assert!(is_remark(place) || place.is_empty(), "{place} was changed: {ran:?}"),
        }
    };
    let places = leaves(&saved.proof.line);
    places.iter().step_by(places.len() / 25 + 1).for_each(|place| look(place, changed_leaf(&saved.proof.line, place)));
    let places = removable(&saved.proof.line);
    places.iter().step_by(places.len() / 25 + 1).for_each(|place| look(place, removed(&saved.proof.line, place)));
    assert!(refused > 25, "{refused}");
    // Of another program, in which it is likelier.
    std::fs::write(&saved.program, TEXT.replace("fence;", "skip;")).expect("it can be written");
    is_no(&saved.replay(PROBABILITY, &saved.proof), "the file is about another text");
    let mut forged = saved.proof.clone();
    forged.line["metadata"]["program"] = program_record(&saved.program);
    is_no(&saved.replay(PROBABILITY, &forged), "");
    let mut forged = saved.proof.clone();
    forged.line["chance"]["upper"] = json!(1);
    std::fs::write(&saved.program, TEXT).expect("it can be written");
    is_no(&saved.replay(PROBABILITY, &forged), "proves another interval than it says");
}

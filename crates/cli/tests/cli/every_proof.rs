//! Whatever Weir can prove about a program, both checkers accept the proof, and neither accepts it for the program
//! without one of its fences, or with another constant, where that is not safe.
//!
//! `WEIR_PROOFS=all` asks all questions about every example and every program of the corpus, which takes an hour; by
//! default it is a few small examples. Programs with more states than `STATES` are left out, and counted. Every line
//! that is printed is one proof: program, question, kind, and who accepts it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use weir_testkit::corpus;

use crate::certificate::Proof;
use crate::second_checker::{automaton, checked, checked_by, has_python, text};
use crate::support::{root, scratch, weir};

const STATES: &str = "20000";

/// How a proof is made, and how both checkers are asked about it.
struct Question {
    make: &'static [&'static str],
    ask: &'static [&'static str],
    /// How the second checker is asked.
    second: &'static [&'static str],
}

const ROBUST: [&str; 2] = ["--property", "robust"];
const FOR_ROBUST: [&str; 2] = ["--for", "robust"];
const FOR_SAFE: [&str; 2] = ["--for", "safe"];
const SURE: [&str; 2] = ["--question", "almost-sure"];
const NEVER: [&str; 2] = ["--question", "almost-never"];

const QUESTIONS: [Question; 9] = [
    Question { make: &["reach"], ask: &[], second: &[] },
    Question { make: &["reach", "--engine", "explicit"], ask: &[], second: &[] },
    Question { make: &["reach", "--model", "sc"], ask: &["--model", "sc"], second: &["--model", "sc"] },
    Question { make: &["check"], ask: &[], second: &[] },
    Question { make: &["robust"], ask: &ROBUST, second: &ROBUST },
    Question { make: &["fences"], ask: &FOR_ROBUST, second: &FOR_ROBUST },
    Question { make: &["fences", "--for", "safe"], ask: &FOR_SAFE, second: &FOR_SAFE },
    Question { make: &["prob", "--question", "almost-sure"], ask: &SURE, second: &SURE },
    Question { make: &["prob", "--question", "almost-never"], ask: &NEVER, second: &NEVER },
];

/// What the second checker cannot tell, and says so: regions that threads must be able to leave are Weir's reading of
/// the program, and it has no reading of the program with fences; no vector shows that nothing is ever stuck.
const NOT_CHECKED: [&str; 2] = ["`forbid stuck` of programs with fences", "`stuck` as a target"];

/// All files below a folder that Weir reads.
fn programs_in(folder: &Path, programs: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            programs_in(&path, programs);
        } else if matches!(extension, Some("weir" | "rmm" | "litmus" | "txt")) {
            programs.push(path);
        }
    }
}

fn programs() -> Vec<PathBuf> {
    let examples = root().join("examples");
    if std::env::var("WEIR_PROOFS").is_ok_and(|which| which == "all") {
        let mut programs = Vec::new();
        programs_in(&examples, &mut programs);
        for folder in ["litmus", "memorax", "trencher"].iter().filter_map(|folder| corpus(folder)) {
            programs_in(&folder, &mut programs);
        }
        return programs;
    }
    let few = [
        "litmus/mp",
        "mutex/peterson",
        "mutex/peterson-fenced",
        "parameterized/litmus/iriw",
        "parameterized/locks/test-and-set-with-stop",
    ];
    few.map(|name| examples.join(name).with_extension("weir")).to_vec()
}

#[derive(Default)]
struct Counts {
    accepted: usize,
    /// By the second checker, too.
    by_second: usize,
    /// By the part of it that is one short file.
    by_one_file: usize,
    /// Positive answers without a proof, for the reason that was given.
    unproved: usize,
    /// Proofs that were refused for variants of the program.
    refused: usize,
}

/// Where the files of a question are.
struct Files {
    proof: PathBuf,
    automaton: PathBuf,
    places: PathBuf,
    variant: PathBuf,
    run: PathBuf,
}

/// The kinds of a certificate, or of its parts.
fn kinds(proof: &Proof) -> BTreeSet<String> {
    let Some(parts) = proof.line["parts"].as_array() else {
        return [proof.line["kind"].as_str().unwrap_or_default().to_owned()].into();
    };
    let mut rest = &proof.body[..];
    let mut found = BTreeSet::new();
    for length in parts.iter().filter_map(Value::as_u64) {
        let (part, after) = rest.split_at(usize::try_from(length).expect("it fits"));
        found.append(&mut kinds(&Proof::of(part)));
        rest = after;
    }
    found
}

/// One question about one program; whatever is wrong with the answer.
#[allow(clippy::print_stdout, reason = "which proofs there are is what one wants to know")]
fn ask(program: &Path, question: &Question, files: &Files, counts: &mut Counts) -> Result<(), String> {
    let proof = &files.proof;
    let _ = std::fs::remove_file(proof);
    let limits = ["-q", "--states", STATES, "--timeout", "10s", "--memory", "1GiB", "--certificate", text(proof)];
    let ran = weir(&[question.make, &limits, &[text(program)]].concat());
    ran.assert_no_bug();
    let name = format!("{} {}", question.make.join(" "), program.display());
    if !proof.exists() {
        let is_met = ran.stdout.contains(" is met");
        counts.unproved += usize::from(ran.status == Some(0) && !is_met);
        let is_explained = ran.status != Some(0) || is_met || ran.stderr.contains("not written");
        return is_explained.then_some(()).ok_or(format!("{name}: no proof, and no reason: {ran:?}"));
    }
    let replayed = replay(question, program, proof);
    // Where one property is violated or has no proof, the file is about the others.
    let is_known_to_be_partial = ran.status == Some(1) || ran.stderr.contains("does not cover this");
    let is_partial = is_known_to_be_partial && replayed.stdout.contains("the file does not cover this");
    if replayed.status != Some(0) && !is_partial {
        return Err(format!("{name}: {replayed:?}"));
    }
    counts.accepted += usize::from(!is_partial);
    if is_partial || !has_python() {
        return Ok(());
    }
    let saved = Proof::read(text(proof));
    let kinds: Vec<String> = kinds(&saved).into_iter().collect();
    automaton(program, &files.automaton);
    places(program, &files.places);
    let asked = [&["--text", text(program)], question.second].concat();
    let more = [&asked[..], &["--places", text(&files.places)]].concat();
    let (status, said) = checked_by("weir_check_more.py", &files.automaton, proof, &more);
    let is_short = question.second.iter().all(|option| !["--for", "--question"].contains(option))
        && checked(&files.automaton, proof, &asked).0 == Some(0);
    let is_known = !NOT_CHECKED.iter().any(|what| said.contains(what));
    println!("{name}: {}: {}{}", kinds.join("+"), said.trim_end(), if is_short { " (one file)" } else { "" });
    counts.by_second += usize::from(is_known);
    counts.by_one_file += usize::from(is_short);
    if status != Some(if is_known { 0 } else { 3 }) {
        return Err(format!("{name}: {said}"));
    }
    for variant in variants(program) {
        counts.refused += usize::from(is_refused(&name, question, (&variant, &saved), files)?);
    }
    Ok(())
}

fn replay(question: &Question, program: &Path, proof: &Path) -> crate::support::Ran {
    weir(&[&["replay", "-q"], question.ask, &[text(program), text(proof)]].concat())
}

/// Writes the program with its places for fences, where there are some.
fn places(program: &Path, to: &Path) {
    let ran = weir(&["translate", "--to", "json", "--pass", "places", text(program)]);
    std::fs::write(to, ran.stdout).expect("it can be written");
}

/// The text of a `.weir` program with one fence less, and with each constant changed by one.
fn variants(program: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(program).unwrap_or_default();
    if program.extension() != Some("weir".as_ref()) {
        return Vec::new();
    }
    let fence = "fence;";
    let without = |(at, _)| format!("{}skip; {}", &text[..at], &text[at + fence.len()..]);
    let mut found: Vec<String> = text.match_indices(fence).take(3).map(without).collect();
    for (at, _) in text.match_indices("const ").filter(|(at, _)| text[..*at].ends_with('\n') || *at == 0) {
        let rest = &text[at..];
        let Some((value, end)) = rest.find('=').zip(rest.find(';')) else { continue };
        if let Ok(number) = rest.get(value + 1..end).unwrap_or_default().trim().parse::<i64>() {
            found.push(format!("{}{} {}{}", &text[..at], &rest[..=value], number + 1, &rest[end..]));
        }
    }
    found
}

/// Whether both checkers refuse a proof for a variant that is known to be unsafe, which it claims to be about.
fn is_refused(
    name: &str,
    question: &Question,
    (variant, saved): (&str, &Proof),
    files: &Files,
) -> Result<bool, String> {
    std::fs::write(&files.variant, variant).expect("it can be written");
    // What fences or a target are for is another question for another program.
    let is_about_runs = !question.ask.contains(&"--for") && !question.ask.contains(&"--question");
    let _ = std::fs::remove_file(&files.run);
    let limits = ["-q", "--states", STATES, "--timeout", "5s", "--witness", text(&files.run)];
    let is_unsafe = || weir(&[question.make, &limits, &[text(&files.variant)]].concat()).status == Some(1);
    if !is_about_runs || !is_unsafe() || !files.run.exists() {
        return Ok(false);
    }
    let run: Value = serde_json::from_slice(&std::fs::read(&files.run).expect("it was saved")).expect("JSON");
    saved.about(&run["metadata"]["program"]).write(text(&files.proof));
    automaton(&files.variant, &files.automaton);
    let asked = [&["--text", text(&files.variant)], question.second].concat();
    let (status, said) = checked_by("weir_check_more.py", &files.automaton, &files.proof, &asked);
    let replayed = replay(question, &files.variant, &files.proof);
    if said.contains("another program") || replayed.stdout.contains("differs") {
        return Err(format!("{name}: the proof was not forged well: {said}{replayed:?}"));
    }
    let is_refused = matches!(status, Some(1 | 2)) && matches!(replayed.status, Some(1 | 2));
    if is_refused { Ok(true) } else { Err(format!("{name}: ACCEPTED for\n{variant}\n{said}{replayed:?}")) }
}

#[test]
#[allow(clippy::print_stdout, reason = "how many were made is what one wants to know")]
fn both_checkers_accept_every_proof() {
    let folder = scratch("every-proof");
    let file = |name| folder.join(name);
    let files = Files {
        proof: file("proof"),
        automaton: file("program.json"),
        places: file("places.json"),
        variant: file("variant.weir"),
        run: file("run.json"),
    };
    let programs = programs();
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    let mut wrong = Vec::new();
    for program in &programs {
        for question in &QUESTIONS {
            let counts = all.entry(question.make.join(" ")).or_default();
            wrong.extend(ask(program, question, &files, counts).err());
        }
    }
    println!("{} programs", programs.len());
    for (question, Counts { accepted, by_second, by_one_file, unproved, refused }) in &all {
        println!(
            "{question}: {accepted} accepted, {by_second} also by the second checker ({by_one_file} by its one file), \
             {unproved} not written, {refused} refused for an unsafe variant"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (question, Counts { accepted, .. }) in &all {
        assert!(*accepted > 0 || question.ends_with("almost-sure"), "{question}");
    }
    assert!(!has_python() || all.values().any(|counts| counts.refused > 0), "no variant is unsafe");
}

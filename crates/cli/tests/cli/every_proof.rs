//! Whatever Weir can prove about a program, both checkers accept the proof.
//!
//! `WEIR_PROOFS=all` asks all questions about every example and every program of the corpus, which takes an hour; by
//! default it is a few small examples. Programs with more states than `STATES` are left out, and counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weir_testkit::corpus;

use crate::second_checker::{automaton, checked, has_python, text};
use crate::support::{root, scratch, weir};

const STATES: &str = "20000";

/// How a proof is made, and how both checkers are asked about it.
struct Question {
    make: &'static [&'static str],
    ask: &'static [&'static str],
    /// How the second checker is asked, if it knows such proofs.
    second: Option<&'static [&'static str]>,
}

const ROBUST: [&str; 2] = ["--property", "robust"];

const QUESTIONS: [Question; 9] = [
    Question { make: &["reach"], ask: &[], second: Some(&[]) },
    Question { make: &["reach", "--engine", "explicit"], ask: &[], second: Some(&[]) },
    Question { make: &["reach", "--model", "sc"], ask: &["--model", "sc"], second: Some(&["--model", "sc"]) },
    Question { make: &["check"], ask: &[], second: Some(&[]) },
    Question { make: &["robust"], ask: &ROBUST, second: Some(&ROBUST) },
    Question { make: &["fences"], ask: &["--for", "robust"], second: None },
    Question { make: &["fences", "--for", "safe"], ask: &["--for", "safe"], second: None },
    Question { make: &["prob", "--question", "almost-sure"], ask: &["--question", "almost-sure"], second: None },
    Question { make: &["prob", "--question", "almost-never"], ask: &["--question", "almost-never"], second: None },
];

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
    ["litmus/mp", "mutex/peterson-fenced", "parameterized/litmus/sb"]
        .map(|name| examples.join(name).with_extension("weir"))
        .to_vec()
}

#[derive(Default)]
struct Counts {
    accepted: usize,
    by_second: usize,
    /// Positive answers without a proof, for the reason that was given.
    unproved: usize,
}

/// One question about one program; whatever is wrong with the answer.
fn ask(program: &Path, question: &Question, folder: &Path, counts: &mut Counts) -> Result<(), String> {
    let (proof, automated) = (folder.join("proof"), folder.join("program.json"));
    let _ = std::fs::remove_file(&proof);
    let limits = ["-q", "--states", STATES, "--timeout", "10s", "--memory", "1GiB", "--certificate", text(&proof)];
    let ran = weir(&[question.make, &limits, &[text(program)]].concat());
    ran.assert_no_bug();
    let name = format!("{} {}", question.make.join(" "), program.display());
    if !proof.exists() {
        let is_met = ran.stdout.contains(" is met");
        counts.unproved += usize::from(ran.status == Some(0) && !is_met);
        let is_explained = ran.status != Some(0) || is_met || ran.stderr.contains("not written");
        return is_explained.then_some(()).ok_or(format!("{name}: no proof, and no reason: {ran:?}"));
    }
    let replayed = weir(&[&["replay", "-q"], question.ask, &[text(program), text(&proof)]].concat());
    // Where one property is violated or has no proof, the file is about the others.
    let is_known_to_be_partial = ran.status == Some(1) || ran.stderr.contains("does not cover this");
    let is_partial = is_known_to_be_partial && replayed.stdout.contains("the file does not cover this");
    if replayed.status != Some(0) && !is_partial {
        return Err(format!("{name}: {replayed:?}"));
    }
    counts.accepted += usize::from(!is_partial);
    let Some(asked) = question.second.filter(|_| !is_partial && has_python()) else { return Ok(()) };
    automaton(program, &automated);
    let (status, said) = checked(&automated, &proof, &[&["--text", text(program)], asked].concat());
    let is_known = !said.contains("any number of copies");
    counts.by_second += usize::from(is_known);
    if status == Some(if is_known { 0 } else { 3 }) { Ok(()) } else { Err(format!("{name}: {said}")) }
}

#[test]
#[allow(clippy::print_stdout, reason = "how many were made is what one wants to know")]
fn both_checkers_accept_every_proof() {
    let folder = scratch("every-proof");
    let programs = programs();
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    let mut wrong = Vec::new();
    for program in &programs {
        for question in &QUESTIONS {
            let counts = all.entry(question.make.join(" ")).or_default();
            wrong.extend(ask(program, question, &folder, counts).err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} programs", programs.len());
    for (question, Counts { accepted, by_second, unproved }) in &all {
        println!("{question}: {accepted} accepted, {by_second} also by the second checker, {unproved} not written");
        assert!(*accepted > 0 || question.ends_with("almost-sure"), "{question}");
    }
}

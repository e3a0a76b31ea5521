//! Every example answers what its header says, and what the reference interpreter says.
//!
//! Header lines: `// expect MODEL: reachable | unreachable | unknown`, and the same with other constants:
//! `// expect-with -D N=3 MODEL: …`. `unknown` is for state spaces that are infinite, or too large to be
//! visited here. With `robust` in place of the model, the answer is `yes`, `no` or `unknown`.
//!
//! A line `// fence for safe, robust` marks where a fence belongs for these aims: before the next line. In a program
//! with such marks, the cheapest fences are exactly at the marks.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use weir::fences::text::Sites;
use weir::fences::{self, Aim, Fences};
use weir::reach::{Options, Search, reach};
use weir::robust;
use weir::{Limits, Session, Verdict};
use weir_ir::{Program, Source, Value};
use weir_syntax::Language;
use weir_testkit::reference;
use weir_witness::Model;

/// More than any example that is to be answered needs; those with infinitely many states stop here.
const STATES: u64 = 600_000;

/// States that the slow reference interpreter may visit.
const REFERENCE_STATES: usize = 15_000;

/// What is asked about an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    /// Can a goal be reached?
    Reach(Model),
    /// Is it robust?
    Robust,
}

#[derive(Debug)]
struct Expectation {
    defines: Vec<(String, Value)>,
    question: Question,
    answer: String,
}

impl Expectation {
    /// The memory model, if it is about what can be reached under one.
    fn model(&self) -> Option<Model> {
        if let Question::Reach(model) = self.question { Some(model) } else { None }
    }
}

fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).expect("examples/ is there") {
        let folder = folder.expect("readable").path();
        if folder.is_dir() {
            let entries = std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
            files.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "weir")));
        }
    }
    files.sort();
    files
}

fn expectations(text: &str) -> Vec<Expectation> {
    let comments = text.lines().filter_map(|line| line.strip_prefix("// expect"));
    comments.filter(|line| line.starts_with([' ', '-'])).map(expectation).collect()
}

/// ` QUESTION: ANSWER` or `-with -D NAME=VALUE … QUESTION: ANSWER`.
fn expectation(line: &str) -> Expectation {
    let (left, answer) = line.split_once(':').unwrap_or_else(|| panic!("no answer in `{line}`"));
    let mut words: Vec<&str> = left.trim_start_matches("-with").split_whitespace().collect();
    let question = match words.pop() {
        Some("sc") => Question::Reach(Model::Sc),
        Some("tso") => Question::Reach(Model::Tso),
        Some("robust") => Question::Robust,
        other => panic!("no such question: {other:?}"),
    };
    let define = |text: &&str| {
        let (name, value) = text.split_once('=')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    let defines = words.iter().filter(|word| **word != "-D").map(|word| define(word).expect("NAME=VALUE")).collect();
    Expectation { defines, question, answer: answer.trim().to_owned() }
}

fn parse(path: &Path, text: &str, defines: &[(String, Value)]) -> Program {
    let source = Source::new(path.display().to_string(), text);
    let options = weir_syntax::weir::Options { defines: defines.to_vec() };
    let parsed = weir_syntax::weir::parse(&source, &options);
    parsed.unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display())).program
}

fn answer(program: &Program, options: &Options) -> &'static str {
    let limits = Limits { states: Some(STATES), ..Limits::default() };
    let report = reach(program, options, &Session::new(limits));
    match report.unwrap_or_else(|failure| panic!("{}: {failure}", program.source.name())).verdict {
        Verdict::Holds => "unreachable",
        Verdict::Violated(_) => "reachable",
        Verdict::Unknown(_) => "unknown",
    }
}

/// What the reference interpreter can say within its means.
fn reference_answer(program: &Program, model: Model) -> Option<&'static str> {
    let model = if model == Model::Sc { reference::Model::Sc } else { reference::Model::Tso };
    let outcome = reference::explore(program, model, REFERENCE_STATES).expect("examples are supported");
    if !outcome.goals.is_empty() {
        return Some("reachable");
    }
    if !outcome.complete {
        return None;
    }
    let hangs = reference::violated_liveness(program, model, REFERENCE_STATES).expect("examples are supported")?;
    Some(if hangs.is_empty() { "unreachable" } else { "reachable" })
}

#[test]
fn examples_answer_as_their_headers_say() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let expectations = expectations(&text);
        for question in [Question::Reach(Model::Sc), Question::Reach(Model::Tso), Question::Robust] {
            let is_answered = expectations.iter().any(|found| found.question == question);
            assert!(is_answered, "{}: nothing is expected of {question:?}", path.display());
        }
        for expectation in expectations {
            let Some(model) = expectation.model() else { continue };
            let Expectation { defines, answer: expected, .. } = expectation;
            let program = parse(&path, &text, &defines);
            let options = Options { model, jobs: NonZeroUsize::new(2).expect("2"), ..Options::default() };
            let got = answer(&program, &options);
            let judged = reference_answer(&program, model);
            if got != expected || judged.is_some_and(|judged| judged != got) {
                let name = path.display();
                wrong.push(format!(
                    "{name} {defines:?} {model:?}: expected {expected}, got {got}, reference {judged:?}"
                ));
            }
            checked += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 100, "only {checked} expectations");
}

#[test]
fn depth_first_agrees_on_examples_with_finitely_many_states() {
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("readable");
        for expectation in expectations(&text) {
            let Some(model) = expectation.model() else { continue };
            if expectation.answer == "unreachable" {
                let program = parse(&path, &text, &expectation.defines);
                let options = Options { model, search: Search::DepthFirst, ..Options::default() };
                assert_eq!(answer(&program, &options), expectation.answer, "{}", path.display());
            }
        }
    }
}

fn robustness(program: &Program) -> &'static str {
    let options = robust::Options { jobs: NonZeroUsize::new(2).expect("2"), ..robust::Options::default() };
    let limits = Limits { states: Some(STATES), ..Limits::default() };
    let report = robust::robust(program, &options, &Session::new(limits));
    match report.unwrap_or_else(|failure| panic!("{}: {failure}", program.source.name())).verdict {
        Verdict::Holds => "yes",
        Verdict::Violated(_) => "no",
        Verdict::Unknown(_) => "unknown",
    }
}

#[test]
fn examples_are_robust_or_not_as_their_headers_say() {
    let (mut robust, mut not_robust) = (0, 0);
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let all = expectations(&text);
        for expectation in all.iter().filter(|found| found.question == Question::Robust) {
            let (name, defines) = (path.display(), &expectation.defines);
            let got = robustness(&parse(&path, &text, defines));
            assert_eq!(got, expectation.answer, "{name} {defines:?}");
            // A robust program has the same drained states under both models, so it cannot break under one alone.
            let reached = |model| {
                let answers = all.iter().filter(|found| found.model() == Some(model) && found.defines == *defines);
                answers.map(|found| found.answer.as_str()).find(|answer| *answer != "unknown")
            };
            let (sc, tso) = (reached(Model::Sc), reached(Model::Tso));
            match got {
                "yes" => {
                    assert!(sc.is_none() || tso.is_none() || sc == tso, "{name} {defines:?}: {sc:?} {tso:?}");
                    robust += 1;
                }
                "no" => not_robust += 1,
                _ => assert!(sc.is_none() || tso.is_none(), "{name} {defines:?}: its states are finitely many"),
            }
        }
    }
    assert!(robust >= 40 && not_robust >= 25, "{robust} robust, {not_robust} not");
}

/// For each aim, the lines before which a fence belongs; nothing if there are no marks.
fn marks(text: &str) -> Option<[(Aim, BTreeSet<u32>); 2]> {
    let mut marked: Vec<(Vec<&str>, u32)> = Vec::new();
    for (line, next) in text.lines().zip(2..) {
        if let Some(aims) = line.trim().strip_prefix("// fence for ") {
            let aims: Vec<&str> = aims.split(", ").collect();
            assert!(aims.iter().all(|aim| ["safe", "robust"].contains(aim)), "{line}");
            marked.push((aims, next));
        }
    }
    let lines = |aim: &str| -> BTreeSet<u32> {
        marked.iter().filter(|(aims, _)| aims.contains(&aim)).map(|(_, next)| *next).collect()
    };
    let aims = [(Aim::Safe, lines("safe")), (Aim::Robust, lines("robust"))];
    (!marked.is_empty()).then_some(aims)
}

/// The lines before which the cheapest fences stand.
fn cheapest_fences(program: &Program, aim: Aim) -> BTreeSet<u32> {
    let sites = Sites::of(program, Language::Weir, &[], &Session::default()).expect("places");
    let options = fences::Options { aim, ..fences::Options::default() };
    let limits = Limits { states: Some(STATES), ..Limits::default() };
    let report = fences::fences(&sites.program, &sites.places(), &options, &Session::new(limits)).expect("an answer");
    let name = program.source.name();
    let Fences::Cheapest(sets) = report.fences else { panic!("{name}: {:?}", report.fences) };
    sets[0].iter().map(|&at| sites.line(&sites.list[at])).collect()
}

#[test]
fn fences_of_examples_are_where_the_real_code_has_them() {
    let mut checked = 0;
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("readable");
        for (aim, expected) in marks(&text).into_iter().flatten() {
            let found = cheapest_fences(&parse(&path, &text, &[]), aim);
            assert_eq!(found, expected, "{} {aim:?}", path.display());
            checked += 1;
        }
    }
    assert!(checked >= 14, "only {checked} sets of fences");
}

/// `tests/examples/states.tsv`: example, constants, model, number of states; counted once by two explorers that share
/// no code.
#[test]
fn examples_have_the_pinned_numbers_of_states() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = std::fs::read_to_string(root.join("tests/examples/states.tsv")).expect("the table is there");
    let mut checked = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let [example, defines, model, states] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns in `{line}`")
        };
        let path = root.join("examples").join(example);
        let text = std::fs::read_to_string(&path).expect("the example is there");
        let left = if defines == "-" { format!(" {model}") } else { format!("-with {defines} {model}") };
        let counted = expectation(&format!("{left}: counted"));
        let model = counted.model().expect("states are counted under a model");
        let mut program = parse(&path, &text, &counted.defines);
        // What can still happen is decided by a search of its own, which would count as well.
        program.properties.retain(|property| !property.kind.is_liveness());
        // All states, not one of each orbit: these numbers can be compared with those of other tools.
        let options = Options { model, symmetry: false, ..Options::default() };
        let report = reach(&program, &options, &Session::default());
        let counted = report.expect("examples are supported").statistics.states;
        assert_eq!(counted.to_string(), states, "{line}");
        checked += 1;
    }
    assert!(checked >= 100, "only {checked} counts");
}

//! The programs of the paper and of the thesis.

use std::fmt::Write as _;
use std::path::Path;

use weir::reach::{Engine, Form, LazyOptions, Options, Report, reach};
use weir::translate::delay::DelayPath;
use weir::{Failure, Limit, Limits, Session, Verdict};
use weir_ir::{EdgeId, Expr, Instruction, Program, PropertyKind, RegId, Source, ThreadId, Value};
use weir_testkit::sketch::{self, all_of, cell, equal, load, register_of, store, straight};

use crate::compare::FORMS;

pub(crate) fn parse(name: &str, text: String, defines: &[(&str, Value)]) -> Program {
    let defines = defines.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let options = weir_syntax::weir::Options { defines };
    let parsed = weir_syntax::weir::parse(&Source::new(name, text), &options);
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).program
}

fn example(name: &str, defines: &[(&str, Value)]) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.weir"));
    parse(name, std::fs::read_to_string(&path).expect("it is there"), defines)
}

pub(crate) fn run(program: &Program, form: Form, states: u64, rounds: usize) -> Report {
    let options = Options { engine: Engine::Lazy, lazy: LazyOptions { form, rounds }, ..Options::default() };
    let session = Session::new(Limits { states: Some(states), ..Limits::default() });
    reach(program, &options, &session).unwrap_or_else(|failure| panic!("{}: {failure}", program.source.name()))
}

fn is_reached(report: &Report) -> bool {
    matches!(report.verdict, Verdict::Violated(_))
}

/// Figure 5.3 with a branch of its own for each value, as it is drawn.
fn branching(count: usize) -> Program {
    let mut text = String::from("shared x, y, a, b;\n");
    for (name, own, other, counter) in [("T1", "x", "y", "a"), ("T2", "y", "x", "b")] {
        let _ = write!(text, "thread {name} {{\n    let r;\n    {own} = 1;\n    r = {counter};\n    choose ");
        let branches: Vec<String> = (0..count)
            .map(|value| format!("{{ assume r == {value}; {counter} = {}; }}", (value + 1) % count))
            .collect();
        let _ = writeln!(text, "{}\n    r = {other};\n    assume r == 0;\ngoal:\n    skip;\n}}", branches.join(" or "));
    }
    parse("branching", text + "forbid T1 at goal && T2 at goal;\n", &[])
}

#[test]
fn branching_takes_few_rounds() {
    for count in [2, 3, 20] {
        for form in FORMS {
            let report = run(&branching(count), form, 100_000, 10);
            assert!(is_reached(&report), "{count}, {form:?}: {:?}", report.verdict);
        }
        let report = run(&example("papers/dekker-branching", &[("N", count as Value)]), Form::Keep, 100_000, 10);
        assert!(is_reached(&report) && report.rounds.len() <= 2, "{count}: {:?}", report.rounds);
    }
}

/// Three questions about SC, as in the paper: each time the whole loop is added.
#[test]
fn unwinding_takes_two_rounds() {
    for count in [2, 3, 10] {
        let report = run(&example("papers/dekker-unwinding", &[("N", count)]), Form::Keep, 1_000_000, 10);
        assert!(is_reached(&report), "{count}: {:?}", report.verdict);
        assert!(report.rounds.len() <= 2, "{count}: {} rounds", report.rounds.len());
    }
    let report = run(&example("papers/dekker-unwinding", &[("N", 2)]), Form::First, 3_000_000, 100);
    assert!(is_reached(&report), "{:?}", report.verdict);
}

/// Figure 3.3: safe, and the rounds never end by themselves.
#[test]
fn endless_rounds_end_at_a_limit() {
    let program = example("papers/endless-stores", &[]);
    for form in FORMS {
        let report = run(&program, form, 50_000, 1000);
        assert!(matches!(report.verdict, Verdict::Unknown(Limit::States)), "{form:?}: {:?}", report.verdict);
        let report = run(&program, form, 10_000_000, 2);
        assert!(matches!(report.verdict, Verdict::Unknown(Limit::Extensions)), "{form:?}: {:?}", report.verdict);
        assert_eq!(report.rounds.len(), 2);
    }
    // Buffers as sets are enough to prove it.
    let options = Options { engine: Engine::Set, ..Options::default() };
    let report = reach(&program, &options, &Session::default()).expect("an answer");
    assert!(matches!(report.verdict, Verdict::Holds), "{:?}", report.verdict);
}

/// A path past several loads in one step is refused, not followed wrongly.
#[test]
fn several_loads_in_one_step_are_refused_where_stores_would_wait_past_them() {
    let both = Instruction::Snapshot(vec![(RegId(0), Expr::Const(2)), (RegId(1), Expr::Const(3))]);
    let left = straight("P", [store(1, 1), both]);
    let right = straight("Q", [store(2, 1), load(0, 1)]);
    let zero = all_of([equal(register_of(0, 0), 0), equal(register_of(1, 0), 0)]);
    let cells = vec![cell("x", 1), cell("y", 2), cell("z", 3)];
    let program = sketch::program(cells, vec![left, right], vec![PropertyKind::Exists(zero)]);
    for form in FORMS {
        let lazy = LazyOptions { form, ..LazyOptions::default() };
        let options = Options { engine: Engine::Lazy, lazy, ..Options::default() };
        match reach(&program, &options, &Session::default()) {
            // The other thread's store may wait as well, and that is enough for the goal.
            Ok(report) => assert!(is_reached(&report), "{form:?}: {:?}", report.verdict),
            Err(Failure::Refused(refusal) | Failure::TooLarge(refusal)) => assert_eq!(refusal.code, "several-loads"),
            Err(failure) => panic!("{form:?}: {failure}"),
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_workers() {
    for name in ["mutex/peterson", "mutex/dekker", "litmus/sb", "papers/dekker-unwinding"] {
        let program = example(name, &[]);
        let with = |jobs: usize| {
            let jobs = jobs.try_into().expect("some");
            let options = Options { engine: Engine::Lazy, jobs, ..Options::default() };
            let report = reach(&program, &options, &Session::default()).expect("an answer");
            let Verdict::Violated(found) = report.verdict else { panic!("{name}: {:?}", report.verdict) };
            (found.run().clone(), report.rounds, report.statistics.states)
        };
        assert_eq!(with(1), with(3), "{name}");
    }
}

/// What was added in each round, as steps of the original program: here from the one store to the one load.
#[test]
fn rounds_tell_what_was_added() {
    let path = |thread: u32, edges: &[u32]| DelayPath {
        thread: ThreadId(thread),
        edges: edges.iter().map(|&edge| EdgeId(edge)).collect(),
    };
    let program = example("litmus/sb", &[]);
    let keep = run(&program, Form::Keep, 100_000, 10);
    assert!(is_reached(&keep));
    let mut added: Vec<DelayPath> = keep.rounds.iter().flat_map(|round| round.added.clone()).collect();
    added.sort();
    assert_eq!(added, [path(0, &[0, 1]), path(1, &[0, 1])]);
    assert_eq!(keep.rounds.len(), 1, "all threads that can delay do so in one round");
    let first = run(&program, Form::First, 100_000, 10);
    assert!(is_reached(&first));
    assert!(first.rounds.iter().all(|round| round.added.len() == 1), "one path in each round: {:?}", first.rounds);
    assert!(first.rounds.iter().all(|round| added.contains(&round.added[0])));
    // As many rounds as are allowed, and no more.
    let none = run(&program, Form::Keep, 100_000, 0);
    assert!(matches!(none.verdict, Verdict::Unknown(Limit::Extensions)) && none.rounds.is_empty());
}

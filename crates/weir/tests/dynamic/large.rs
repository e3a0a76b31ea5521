//! Deep stacks and many threads end within the limits.

use std::time::Duration;

use weir::check::Options;
use weir::{Bound, Limits, Session, Verdict, dynamic};
use weir_ir::{EdgeId, ThreadId};
use weir_witness::{Action, Checked, Goal, Model, Run, Step};

use super::compare::parse;

/// A session with large bounds and little of everything else.
fn session() -> Session {
    let limits = Limits { time: Some(Duration::from_secs(2)), states: Some(10_000), ..Limits::default() };
    Session::new(limits).with_bound(Bound::StackFrames, 10_000).with_bound(Bound::SpawnedThreads, 1_000)
}

#[test]
fn stacks_of_ten_thousand_frames_and_a_thousand_threads_end() {
    for text in [
        "shared x; proc f(n) { x = n; if n > 0 { f(n - 1); } } thread P { f(10000); } forbid x == -1;",
        "shared x; proc f(n) { f(n + 1); f(n + 2); x = n; } thread P { f(0); } thread Q { f(1); } forbid x == -1;",
        "shared x; thread P { let n; while n < 1000 { spawn T; n += 1; } } thread T[0] { x = 1; } forbid x == 2;",
        "shared x; thread P { loop { spawn T; } } thread T[0] { x = 1; spawn T; } forbid x == 2;",
    ] {
        let decided = dynamic::check(&parse(text), &Options::default(), &session());
        let decided = decided.unwrap_or_else(|failure| panic!("{failure}\n{text}"));
        assert!(matches!(decided.report.verdict, Verdict::Unknown(_)), "{:?}\n{text}", decided.report.verdict);
    }
}

/// Summaries have no bound on stacks, and neither has a run that they find.
#[test]
fn stacks_of_ten_thousand_frames_are_decided() {
    let text = "shared x; proc f(n) { x = n; if n > 0 { f(n - 1); } } thread P { f(10000); x = -2; } ";
    for model in [Model::Sc, Model::Tso] {
        let decided = |property: &str| {
            let limits = Limits { time: Some(Duration::from_secs(60)), states: Some(400_000), ..Limits::default() };
            let options = Options { model, ..Options::default() };
            let decided = dynamic::check(&parse(&format!("{text}{property}")), &options, &Session::new(limits));
            decided.expect("supported").report.verdict.map(|_| ())
        };
        assert_eq!(decided("forbid x == -1;"), Verdict::Holds, "{model:?}");
        assert_eq!(decided("forbid x == -2;"), Verdict::Violated(()), "{model:?}");
    }
}

/// The checker of runs has no bound of its own.
#[test]
fn long_runs_are_replayed() {
    let program = parse("proc f(n) { if n > 0 { f(n - 1); } } thread P { f(10000); } exists P at end;").linked(1);
    let body = program.body(ThreadId(0));
    let edge = |text: &str| {
        let is_it = |&id: &usize| program.instruction_text(ThreadId(0), EdgeId::new(id)) == text;
        EdgeId::new((0..body.edges().len()).find(is_it).unwrap_or_else(|| panic!("no {text}")))
    };
    let (first, again) = (edge("f(10000)"), edge("f(f.n - 1)"));
    let (more, enough, back) = (edge("assume f.n > 0"), edge("assume f.n <= 0"), edge("return 0"));
    let mut edges = vec![first];
    edges.extend([more, again].repeat(10_000));
    edges.push(enough);
    edges.extend([back].repeat(10_001));
    let step = |&edge: &EdgeId| Step { thread: ThreadId(0), action: Action::Execute { edge, choice: 0 } };
    let run = |edges: &[EdgeId]| Run { model: Model::Tso, steps: edges.iter().map(step).collect() };
    let goal = Goal::Property(weir_ir::PropertyId(0));
    Checked::new(&program, run(&edges), goal).expect("a run of the program");
    assert!(Checked::new(&program, run(&edges[..edges.len() - 1]), goal).is_err(), "the last return is missing");
    edges.push(back);
    assert!(Checked::new(&program, run(&edges), goal).is_err(), "one return too many");

    let program = parse("thread P { loop { spawn T; } } thread T[0] { skip; } forbid count(T at end) == 1000;");
    let program = program.linked(1_000);
    let mut steps = vec![Step { thread: ThreadId(0), action: Action::Execute { edge: EdgeId(0), choice: 0 } }; 1_000];
    let instances = program.instances(ThreadId(1));
    let skip = Action::Execute { edge: EdgeId(0), choice: 0 };
    steps.extend(instances.map(|thread| Step { thread, action: skip }));
    Checked::new(&program, Run { model: Model::Sc, steps }, goal).expect("a run of the program");
}

//! What is never executed, with calls and threads that are started: told by summaries and within bounds.

use std::collections::BTreeSet;

use weir::{Bound, Session, Verdict, dynamic, reach};
use weir_ir::{EdgeId, Program, ThreadId};
use weir_testkit::reference::{Depth, Model, explore_within};

use super::compare::parse;

const DEPTH: Depth = Depth { frames: 4, spawned: 2 };

/// What no run executes; the instances of a thread count as that thread, of which there is one.
fn expected(program: &Program, started: ThreadId) -> BTreeSet<(ThreadId, EdgeId)> {
    let found = explore_within(program, Model::Tso, 20_000, DEPTH).expect("a supported program");
    assert!(found.outcome.complete && !found.goes_beyond);
    let of_thread = |&(thread, edge): &(ThreadId, EdgeId)| {
        (if thread.index() < program.threads.len() { thread } else { started }, edge)
    };
    let executed: BTreeSet<_> = found.outcome.executed.iter().map(of_thread).collect();
    let edges = |thread| (0..program.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge)));
    program.thread_ids().flat_map(edges).filter(|edge| !executed.contains(edge)).collect()
}

#[test]
fn what_is_never_executed_is_told() {
    for (text, never) in [
        (
            "shared x; proc f(n) { if n > 0 { let r = f(n - 1); } x = 1; return 0; }
             thread P { let r = f(2); if r == 5 { x = 2; } x = 1; } forbid x == 9;",
            2,
        ),
        (
            "shared x; proc f(n) { if n > 0 { let r = f(n - 1); } x = 1; return 0; }
             thread S { let r = f(1); if r == 0 { spawn W; } else { x = 7; } }
             thread W[0] { let r = x; if r == 5 { x = 4; } x = 3; } forbid x == 9;",
            4,
        ),
    ] {
        let program = parse(text);
        let expected = expected(&program, ThreadId(1));
        assert_eq!(expected.len(), never, "{expected:?}");
        let session = |summaries| {
            let session = Session::default().with_bound(Bound::SummaryStates, summaries);
            session.with_bound(Bound::StackFrames, 4).with_bound(Bound::SpawnedThreads, 2)
        };
        for summaries in [0, 20_000] {
            let decided = dynamic::reach(&program, &reach::Options::default(), &session(summaries));
            let report = decided.expect("an answer").report;
            assert_eq!(report.verdict, Verdict::Holds, "{text}");
            let unexecuted: BTreeSet<_> = report.coverage.unexecuted.iter().copied().collect();
            assert_eq!(unexecuted, expected, "{text}, {summaries} states of summaries");
        }
    }
}

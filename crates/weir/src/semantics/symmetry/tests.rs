//! Who can change places: a table of properties over equal threads.

use weir_ir::{PropertyId, Source};

use super::*;

/// Threads A, B and C run the same; D does not.
fn groups(properties: &str) -> Vec<Vec<usize>> {
    let body = "{ start: let r = any 0..1; x = r; critical: skip; }";
    let text = format!(
        "shared x, y; thread A {body} thread B {body} thread C {body} thread D {{ let r = x; y = r; }} {properties}"
    );
    let parsed = weir_syntax::weir::parse(&Source::new("t", text.clone()), &weir_syntax::weir::Options::default());
    let program = parsed.unwrap_or_else(|errors| panic!("{text}: {errors:#?}")).program;
    let threads: Vec<ThreadId> = program.thread_ids().collect();
    let goals: Vec<Goal> = (0..program.properties.len()).map(|at| Goal::Property(PropertyId::new(at))).collect();
    symmetric_threads(&program, &threads, &goals)
}

#[test]
fn threads_change_places_where_no_goal_tells_them_apart() {
    let table: [(&str, &[&[usize]]); 16] = [
        ("", &[&[0, 1, 2]]),
        ("forbid x == 1;", &[&[0, 1, 2]]),
        ("forbid D at end;", &[&[0, 1, 2]]),
        ("forbid A at critical && B at critical && C at critical;", &[&[0, 1, 2]]),
        ("forbid C at critical && (B at critical && A at critical);", &[&[0, 1, 2]]),
        ("forbid A at critical && B at critical;", &[&[0, 1]]),
        ("forbid B at critical && C at critical;", &[&[1, 2]]),
        // C can take the place of A, also if B stands between.
        ("forbid A at critical && C at critical;", &[&[0, 2]]),
        ("forbid A at critical;", &[&[1, 2]]),
        ("forbid A at critical && B at start;", &[]),
        ("forbid A.r == 1 && B.r == 0;", &[]),
        ("forbid A.r == 1 && B.r == 1 && C.r == 1;", &[&[0, 1, 2]]),
        ("forbid A.r == 1 || B.r == 1;", &[]),
        // Each goal by itself names a thread, all of them together do not.
        ("forbid A at critical; forbid B at critical; forbid C at critical;", &[&[0, 1, 2]]),
        ("forbid A at critical; exists B at critical;", &[]),
        ("always A.r == 1 && B.r == 1; forbid deadlock;", &[&[0, 1]]),
    ];
    for (properties, expected) in table {
        let expected: Vec<Vec<usize>> = expected.iter().map(|group| group.to_vec()).collect();
        assert_eq!(groups(properties), expected, "{properties}");
    }
}

#[test]
fn assertions_are_goals_of_their_threads() {
    let text = "shared x; thread A { let r = x; assert r == 0; } thread B { let r = x; assert r == 0; }";
    let parsed = weir_syntax::weir::parse(&Source::new("t", text), &weir_syntax::weir::Options::default());
    let program = parsed.expect("a program").program;
    let threads: Vec<ThreadId> = program.thread_ids().collect();
    let both = [Goal::Assertion(threads[0]), Goal::Assertion(threads[1])];
    assert_eq!(symmetric_threads(&program, &threads, &both), [[0, 1]]);
    assert!(symmetric_threads(&program, &threads, &both[..1]).is_empty());
    // Positions count, not numbers of threads.
    assert_eq!(symmetric_threads(&program, &[threads[1], threads[0]], &both), [[0, 1]]);
}

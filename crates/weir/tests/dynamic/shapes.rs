//! Small programs whose answers are known, with calls and spawns in all places.

use weir::check::Judgement;
use weir::{Limit, Verdict};
use weir_testkit::reference::Depth;
use weir_witness::Model;

use super::compare::{checked, compare, parse};

const ENOUGH: Depth = Depth { frames: 8, spawned: 4 };

/// The names of the verdicts under a model, and whether the reference agrees.
fn verdicts(text: &str, model: Model, depth: Depth) -> Vec<&'static str> {
    let program = parse(text);
    compare(&program, text, model, depth);
    checked(&program, model, depth).report.properties.iter().map(|one| one.judgement.name()).collect()
}

#[track_caller]
fn assert_verdicts(text: &str, sc: &[&str], tso: &[&str]) {
    assert_eq!(verdicts(text, Model::Sc, ENOUGH), sc, "SC\n{text}");
    assert_eq!(verdicts(text, Model::Tso, ENOUGH), tso, "TSO\n{text}");
}

/// The new thread does not see what still waits in the buffer of the one that started it.
#[test]
fn a_spawn_does_not_drain_the_buffer() {
    assert_verdicts(
        "shared x; thread P { x = 1; spawn T; } thread T[0] { let r = x; here: skip; }
         thread Q { skip; } forbid T at here && x == 0; exists x == 1;",
        &["holds", "met"],
        &["holds", "met"],
    );
    let reads = |fence: &str| {
        format!(
            "shared x, y; thread P {{ x = 1; {fence} spawn T; }} thread T[0] {{ if x == 0 {{ y = 1; }} }}
             forbid y == 1;"
        )
    };
    assert_verdicts(&reads(""), &["holds"], &["violated"]);
    assert_verdicts(&reads("fence;"), &["holds"], &["holds"]);
}

/// A thread that was never started neither waits nor counts as anything, at the end or in a deadlock.
#[test]
fn threads_that_have_not_started_are_not_there() {
    assert_verdicts(
        "shared x; thread P { if x == 1 { spawn T; } } thread T[0] { here: assume 0; }
         forbid deadlock; exists P at end; always x == 0; forbid T at here; forbid count(T at end) != 0;",
        &["holds", "met", "holds", "holds", "holds"],
        &["holds", "met", "holds", "holds", "holds"],
    );
    assert_verdicts(
        "shared x; thread P { spawn T; } thread T[0] { let r; assume r == 1; }
         forbid deadlock; exists P at end; always x == 1;",
        &["violated", "not-met", "holds"],
        &["violated", "not-met", "holds"],
    );
}

#[test]
fn instances_are_counted() {
    assert_verdicts(
        "shared x; thread P { spawn T; spawn T; spawn T; } thread T[0] { here: x = x + 1; }
         forbid count(T at here) == 3; forbid count(T at here) == 4; forbid count(T at end) == 3 && x == 3;
         always count(T at end) == 3; exists x == 1; exists x == 0; forbid T at here && x == 2;",
        &["violated", "holds", "violated", "holds", "met", "not-met", "violated"],
        &["violated", "holds", "violated", "holds", "met", "not-met", "violated"],
    );
}

/// A thread that runs from the start can be spawned, too.
#[test]
fn a_running_thread_has_further_instances() {
    assert_verdicts(
        "shared x; thread P { let r = fetch_add(x, 1); if r == 0 { spawn P; } here: skip; }
         forbid count(P at here) == 2; forbid count(P at end) == 3; always x == 2; forbid P.r == 1;",
        &["violated", "holds", "holds", "holds"],
        &["violated", "holds", "holds", "holds"],
    );
}

#[test]
fn threads_that_spawn_spawn_others() {
    assert_verdicts(
        "shared x; thread P { spawn A; } thread A[0] { spawn B; x = 1; } thread B[0] { await x == 1; done: skip; }
         forbid deadlock; forbid B at done; forbid count(B at end) >= 2; always count(B at end) == 1;",
        &["holds", "violated", "holds", "holds"],
        &["holds", "violated", "holds", "holds"],
    );
}

/// Each level loads its own value, and returns in order.
#[test]
fn recursion_loads_at_each_level() {
    assert_verdicts(
        "shared x; proc sum(n) { if n == 0 { return 0; } let mine = x; let below = sum(n - 1); return mine + below; }
         thread P { let s = sum(3); } thread Q { x = 1; }
         forbid P at end && P.s == 0; forbid P at end && P.s == 1; forbid P at end && P.s == 2;
         forbid P at end && P.s == 3; forbid P at end && P.s == 4; forbid deadlock;",
        &["violated", "violated", "violated", "violated", "holds", "holds"],
        &["violated", "violated", "violated", "violated", "holds", "holds"],
    );
}

/// Registers of a frame start at 0, and survive the calls that the frame makes.
#[test]
fn frames_have_their_own_registers() {
    assert_verdicts(
        "proc f(n) { let a, b; assert a == 0; a = n; if n > 0 { b = f(n - 1); } assert a == n; return a + b; }
         thread P { let r = f(2); r = r + f(1); } always P.r == 4;",
        &["holds", "holds"],
        &["holds", "holds"],
    );
}

/// Two calls in one body: the result says who called.
#[test]
fn calls_return_to_where_they_came_from() {
    assert_verdicts(
        "proc fib(n) { if n < 2 { return n; } let a = fib(n - 1); let b = fib(n - 2); return a + b; }
         thread P { let r = fib(5); } always P.r == 5; exists P.r == 5; forbid deadlock;",
        &["holds", "met", "holds"],
        &["holds", "met", "holds"],
    );
}

#[test]
fn mutual_recursion_and_values_that_nobody_wants() {
    assert_verdicts(
        "shared x; proc even(n) { if n == 0 { x = 1; return 1; } return odd(n - 1); }
         proc odd(n) { if n == 0 { x = 2; return 0; } even(n - 1); return 7; }
         thread P { even(4); } always x == 1; forbid x == 2;",
        &["holds", "holds"],
        &["holds", "holds"],
    );
}

/// The end of a procedure returns 0; `terminate` ends the thread, from any depth.
#[test]
fn procedures_end_in_three_ways() {
    assert_verdicts(
        "shared x; proc f(n) { if n == 3 { terminate; } if n == 0 { return 5; } if n > 0 { f(n - 1); } }
         thread P { let r = 9; r = f(1); x = 1; } thread Q { let r = 9; r = f(4); x = 2; }
         always x == 1 && P.r == 0; forbid Q at end && Q.r != 9; forbid deadlock; forbid x == 2;",
        &["holds", "holds", "holds", "holds"],
        &["holds", "holds", "holds", "holds"],
    );
}

/// A thread that a procedure has terminated is done, and so `at end`, whether or not it has an end of its own.
#[test]
fn who_is_terminated_in_a_procedure_is_at_the_end() {
    assert_verdicts(
        "noinline proc f() { terminate; } thread P { f(); } forbid P at end;",
        &["violated"],
        &["violated"],
    );
    assert_verdicts(
        "shared x; proc f(n) { x = n; if n == 1 { terminate; } f(n - 1); } thread P { f(3); }
         exists P at end && x == 1; forbid P at end && x != 1;",
        &["met", "holds"],
        &["met", "holds"],
    );
    assert_verdicts(
        "shared x; noinline proc f() { x = 1; terminate; } thread P { f(); } thread Q { await x == 1; }
         always x == 1 && P at end && Q at end; forbid deadlock;",
        &["holds", "holds"],
        &["holds", "holds"],
    );
    assert_verdicts(
        "shared x; noinline proc f() { x = x + 1; if x == 2 { terminate; } } thread P { loop { f(); } }
         forbid P at end; forbid P at end && x != 2;",
        &["violated", "holds"],
        &["violated", "holds"],
    );
    assert_verdicts(
        "shared x; noinline proc f() { terminate; } thread P { spawn T; } thread T[0] { x = 1; f(); last: skip; }
         forbid T at end && x == 1; forbid T at last;",
        &["violated", "holds"],
        &["violated", "holds"],
    );
}

#[test]
fn assertions_in_procedures_are_those_of_the_thread() {
    assert_verdicts(
        "shared x; proc f(n) { assert x == 0; if n > 0 { f(n - 1); } } thread P { f(2); } thread Q { x = 1; }",
        &["violated"],
        &["violated"],
    );
    assert_verdicts(
        "shared x; thread P { spawn T; spawn T; } thread T[0] { let r = fetch_add(x, 1); assert r == 0; }",
        &["violated"],
        &["violated"],
    );
}

/// The lock is held across calls; whoever goes beyond the bound inside an `atomic` block keeps it.
#[test]
fn recursion_inside_atomic_blocks() {
    let text = "shared x, y; proc f(n) { x = n; if n > 0 { f(n - 1); } }
                thread P { y = 1; atomic { f(3); } } thread Q { y = 2; let r = x; fence; }
                forbid Q at end && Q.r == 2; forbid deadlock; always x == 0;";
    assert_verdicts(text, &["holds", "holds", "holds"], &["holds", "holds", "holds"]);
    for model in Model::ALL {
        let shallow = Depth { frames: 2, spawned: 1 };
        assert_eq!(verdicts(text, model, shallow), ["unknown"; 3], "{model:?}");
    }
}

/// A bound that is reached only while another thread has stores waiting is noticed all the same.
#[test]
fn a_bound_is_noticed_in_states_that_never_drain() {
    let text = "shared x, y; proc f(n) { f(n + 1); }
                thread P { await y == 1; atomic { f(0); } } thread Q { y = 1; fence; x = 1; }
                forbid x == 2; forbid P at end;";
    for model in Model::ALL {
        assert_eq!(verdicts(text, model, Depth { frames: 4, spawned: 1 }), ["unknown"; 2], "{model:?}");
    }
    let text = "shared x, y; thread P { await y == 1; lock; loop { spawn T; } } thread T[0] { y = 1; }
                thread Q { y = 1; fence; x = 1; } forbid x == 2; forbid deadlock;";
    for model in Model::ALL {
        assert_eq!(verdicts(text, model, Depth { frames: 1, spawned: 2 }), ["unknown"; 2], "{model:?}");
    }
}

/// Bounds that are reached are named, with their values; violations within them are found.
#[test]
fn what_lies_beyond_a_bound_is_unknown() {
    let endless = "shared x; proc f(n) { x = n % 2; f(n + 1); } thread P { f(0); } forbid x == 1; forbid x == 2;
                   forbid deadlock; forbid P at end; exists P at end;";
    let limit = |text: &str, depth: Depth| {
        let report = checked(&parse(text), Model::Tso, depth).report;
        let unknown =
            |judgement: &Judgement| if let Judgement::Unknown(limit) = judgement { Some(*limit) } else { None };
        report.properties.iter().filter_map(|one| unknown(&one.judgement)).collect::<Vec<Limit>>()
    };
    assert_eq!(verdicts(endless, Model::Tso, ENOUGH), ["violated", "unknown", "unknown", "unknown", "unknown"]);
    assert_eq!(limit(endless, Depth { frames: 5, spawned: 1 }), [Limit::Frames(5); 4]);
    let many = "shared x; thread P { loop { spawn T; } } thread T[0] { let r = fetch_add(x, 1); assert r < 9; }
                forbid x == 2; forbid x == 7;";
    assert_eq!(limit(many, Depth { frames: 1, spawned: 3 }), [Limit::Spawned(3); 2]);
    let depth = Depth { frames: 1, spawned: 3 };
    assert!(matches!(checked(&parse(many), Model::Sc, depth).report.verdict, Verdict::Violated(_)));
}

/// What is asked about is decided once the bound is large enough, and not before.
#[test]
fn bounds_are_raised_as_far_as_needed() {
    let text = "proc f(n) { if n > 0 { f(n - 1); } } thread P { f(6); } exists P at end; forbid deadlock;";
    for (frames, expected) in
        [(6, ["unknown", "unknown"]), (7, ["met", "holds"]), (8, ["met", "holds"]), (64, ["met", "holds"])]
    {
        assert_eq!(verdicts(text, Model::Tso, Depth { frames, spawned: 1 }), expected, "{frames}");
    }
    let text = "shared n; thread P { while n < 3 { spawn T; n = n + 1; } } thread T[0] { skip; }
                always count(T at end) == 3; exists P at end;";
    for (spawned, expected) in [(2, ["unknown", "met"]), (3, ["holds", "met"]), (4, ["holds", "met"])] {
        assert_eq!(verdicts(text, Model::Tso, Depth { frames: 1, spawned }), expected, "{spawned}");
    }
}

/// A thread-local variable is one register of the thread in all its procedures, and each thread has its own.
#[test]
fn thread_local_variables_are_shared_by_procedures() {
    assert_verdicts(
        "let depth, last; shared x;
         proc f(n) { depth = depth + 1; if n > 0 { f(n - 1); } last = n; }
         thread P { f(3); depth = depth + 10; } thread Q { f(1); x = depth; }
         always P.depth == 14 && Q.depth == 2 && x == 2; always P.last == 3; forbid P.last == 2;
         forbid P.depth == 4 && P.last == 0; exists Q.last == 0;",
        &["holds", "holds", "violated", "violated", "not-met"],
        &["holds", "holds", "violated", "violated", "not-met"],
    );
    // `through` does not mention it, and the thread only in a property.
    assert_verdicts(
        "let g; proc set(n) { g = n; if n > 0 { set(n - 1); } } noinline proc through(n) { set(n); }
         proc get(n) { if n > 0 { let r = get(n - 1); return r; } return g; }
         thread P { through(2); let before = get(2); g = 5; let after = get(1); }
         always P.before == 0 && P.after == 5; forbid P.g == 2; forbid P.g == 3;",
        &["holds", "violated", "holds"],
        &["holds", "violated", "holds"],
    );
    // Of threads that are started, each has its own, too.
    assert_verdicts(
        "let g; shared x; noinline proc bump() { g = g + 1; return g; }
         thread P { spawn T; spawn T; } thread T[0] { bump(); let r = bump(); x = r; }
         always x == 2; forbid x == 4; forbid x == 3;",
        &["holds", "holds", "holds"],
        &["holds", "holds", "holds"],
    );
    // A result can go to one.
    assert_verdicts(
        "let g; proc f(n) { if n == 0 { return 7; } g = f(n - 1); g = g + 1; return g; }
         thread P { g = f(2); } always P.g == 9; forbid P.g == 7; forbid P.g == 8;",
        &["holds", "violated", "violated"],
        &["holds", "violated", "violated"],
    );
}

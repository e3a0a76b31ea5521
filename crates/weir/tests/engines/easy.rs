//! Programs that should be easy, although something in them grows without bound: `check`, `robust` and `prob` answer.

use weir::check::{self, Judgement};
use weir::prob::{Alternative, Interval, Question, Settings, Target, probability};
use weir::robust::{self, robust};
use weir::translate::slice::Growing;
use weir::{Language, Limits, Program, Session, Verdict};
use weir_ir::PropertyKind;

/// Few states: what would take more is not easy.
fn session() -> Session {
    Session::new(Limits { states: Some(20_000), ..Limits::default() })
}

fn parsed(text: &str) -> Program {
    Program::parse(text, Language::Weir).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn checked(text: &str) -> check::Report {
    check::check(&parsed(text), &check::Options::default(), &session()).expect("it can be handled")
}

fn judgements(text: &str) -> Vec<&'static str> {
    checked(text).properties.iter().map(|one| one.judgement.name()).collect()
}

#[test]
fn counters_that_are_never_read_do_not_prevent_an_answer() {
    let sb = "thread P { x = 1; let r = y; } thread Q { y = 1; let s = x; }
        forbid P at end && Q at end && P.r == 0 && Q.s == 0;";
    for (text, expected) in [
        ("shared c, f; thread P { loop { c = c + 1; f = 1; } } forbid f == 2;".to_owned(), "holds"),
        ("shared c, f; thread P { loop { c = c + 1; f = 1; } } forbid f == 1;".to_owned(), "violated"),
        (format!("shared c, x, y; thread C {{ loop {{ c = c + 1; }} }} {sb}"), "violated"),
        (
            format!("shared c, x, y; thread C {{ loop {{ fetch_add(c, 1); }} }} {}", sb.replace("1;", "1; fence;")),
            "holds",
        ),
        ("shared c; thread P { let r = 0; loop { r = r + 1; c = r; assert(1); } }".to_owned(), "holds"),
    ] {
        assert_eq!(judgements(&text), [expected], "{text}");
    }
}

/// The temporary that the counter is loaded into is also the one that tests are made with.
#[test]
fn counters_within_critical_sections_cost_no_answer() {
    let thread = |name, own, other| {
        format!(
            "thread {name} {{ loop {{ flag[{own}] = 1; turn = {other}; fence;
                while flag[{other}] == 1 && turn == {other} {{ }}
                critical: entries = entries + 1; flag[{own}] = 0; }} }}"
        )
    };
    let (p, q) = (thread("P", 0, 1), thread("Q", 1, 0));
    let text = format!(
        "shared flag[2], turn, entries; {p} {q} forbid P at critical && Q at critical; forbid deadlock; forbid turn == 2;"
    );
    assert_eq!(judgements(&text), ["holds"; 3]);
    assert_eq!(judgements(&text.replace("fence;", "")), ["violated", "holds", "holds"]);
}

/// Hangs are looked for without the values that nobody waits for.
#[test]
fn counters_cost_no_answer_about_hangs() {
    let text = "shared c, x; thread C { loop { c = c + 1; } } thread P { while x == 0 { } } thread Q { x = 1; }
        forbid stuck; live P at end; live Q at end;";
    assert_eq!(judgements(text), ["holds"; 3]);
    assert_eq!(judgements(&text.replace("x = 1", "skip")), ["violated", "violated", "holds"]);
}

/// A hang that needs no store buffers is shown without them: no fence helps.
#[test]
fn a_hang_that_needs_no_buffers_is_shown_without_them() {
    let text = "shared x, y, z; thread P { x = 1; let r = y; await z == 1; } thread Q { y = 1; let s = x; }
        forbid stuck; live P at end;";
    for one in checked(text).properties {
        let Judgement::Violated(run) = one.judgement else { panic!("{:?}", one.judgement) };
        assert!(run.happens_before().cycle().is_none());
    }
    // Parker and its like: here they are needed.
    let text = "shared x, y; thread P { x = 1; let r = y; if r == 0 { await y == 2; } }
        thread Q { y = 1; let s = x; if s == 1 { y = 2; } } forbid stuck;";
    for one in checked(text).properties {
        let Judgement::Violated(run) = one.judgement else { panic!("{:?}", one.judgement) };
        assert!(run.happens_before().cycle().is_some());
    }
}

/// What one property depends on does not cost the others their answers.
#[test]
fn one_property_that_counts_leaves_the_others_alone() {
    let text = "shared c, f; thread P { loop { c = c + 1; f = 1; } } forbid c == -1; forbid f == 2; forbid f == 1;";
    assert_eq!(judgements(text), ["unknown", "holds", "violated"]);
}

#[test]
fn a_thread_that_never_blocks_rules_deadlocks_out() {
    for (text, expected) in [
        ("shared c; thread P { loop { c = c + 1; } } thread Q { await c == -1; } forbid deadlock;", "holds"),
        (
            "shared c; thread P { loop { skip; } } thread Q { lock; c = c + 1; } thread R { lock; } forbid deadlock;",
            "holds",
        ),
        ("shared c; thread P { let r = c; while r < 9 { r = r + c; } c = r; } forbid deadlock;", "holds"),
        ("shared c; thread P { c = 1; } thread Q { await c == 2; } forbid deadlock;", "violated"),
        (
            "shared c, d; thread P { loop { c = c + 1; if c == 7 { d = c; } } } thread Q { await c == -1; }
            forbid deadlock;",
            "holds",
        ),
        ("shared c; thread P { c = 1; } thread Q { await c == 1; } forbid deadlock;", "holds"),
    ] {
        assert_eq!(judgements(text), [expected], "{text}");
    }
}

#[test]
fn what_grows_is_named() {
    let named = |text: &str| {
        let report = checked(text);
        assert!(report.properties.iter().any(|one| matches!(one.judgement, Judgement::Unknown(_))), "{text}");
        let program = parsed(text);
        let name = |what| match what {
            Growing::Cell(address) => program.cell_name(address),
            Growing::Register(thread, register) => program.body(thread).registers[register.index()].name.clone(),
        };
        report.growth.iter().map(|one| (name(one.what), program.source.slice(one.span).to_owned())).collect::<Vec<_>>()
    };
    let pair = |name: &str, place: &str| (name.to_owned(), place.to_owned());
    let cell = "shared c, d; thread P { loop { c = c + 1; d = 1; } } forbid c == -1;";
    assert_eq!(named(cell), [pair("c", "c = c + 1")]);
    let register = "shared c, d; thread P { let r = 0; loop { r = r + 1; assert(r != -1); } }";
    assert_eq!(named(register), [pair("r", "r = r + 1")]);
    assert_eq!(checked("shared c; thread P { loop { c = c + 1; } } forbid P at end;").growth, []);
}

#[test]
fn programs_without_partners_are_robust() {
    for text in [
        "shared x, y; thread P { loop { x = x + 1; let r = y; } }",
        "shared x, y; thread P { loop { x = x + 1; let r = y; } } thread Q { loop { y = y + 1; } }",
        "shared x, y; thread P { loop { x = x + 1; } } thread Q { loop { x = x + 2; } }",
        "shared x, y; thread P { let r; loop { x = x + 1; fence; r = y; } } thread Q { let r; loop { y = y + 1; fence; r = x; } }",
    ] {
        let report = robust(&parsed(text), &robust::Options::default(), &session()).expect("it can be handled");
        assert!(matches!(report.verdict, Verdict::Holds), "{text}");
    }
}

fn likely(text: &str, target: impl Fn(&Program) -> Target) -> Interval {
    let program = parsed(text);
    let question = Question { target: target(&program), repeated: false, settings: Settings::default() };
    let found = probability(&program, &question, 1e-6, &session()).expect("it can be handled");
    assert_eq!(found.obstacle, None, "{text}");
    found.interval
}

fn forbidden(program: &Program) -> Target {
    match &program.properties[0].kind {
        PropertyKind::Forbid(condition) => condition.into(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn impossible_targets_have_probability_0() {
    let zero = Interval { lower: 0.0, upper: 0.0 };
    for text in [
        "shared c, f; thread P { loop { c = c + 1; } } thread Q { f = 1; } forbid f == 2;",
        "shared c; thread P { loop { c = c + 1; } never: skip; } forbid P at never;",
    ] {
        assert_eq!(likely(text, forbidden), zero, "{text}");
    }
    let deadlock = |_: &Program| Target::any_of([Alternative::Deadlock]);
    assert_eq!(likely("shared c; thread P { loop { c = c + 1; } } thread Q { await c == 0 - 1; }", deadlock), zero);
}

#[test]
fn deadlocks_are_targets() {
    let deadlock = |_: &Program| Target::any_of([Alternative::Deadlock]);
    let one = likely("shared x; thread P { x = 2; await x == 1; }", deadlock);
    assert!(one.upper >= 1.0 && one.lower > 0.999_999, "{one:?}");
    let none = likely("shared x; thread P { x = 1; await x == 1; }", deadlock);
    assert_eq!(none, Interval { lower: 0.0, upper: 0.0 });
    // P takes its lock first, or Q does.
    let half = likely("shared x; thread P { lock; } thread Q { lock; unlock; }", deadlock);
    assert!(half.lower <= 0.5 && half.upper >= 0.5 && half.width() < 1e-5, "{half:?}");
}

/// Numbers do not change when irrelevant values are left out.
#[test]
fn counters_change_no_probability() {
    let plain = "shared x, y, c; thread P { skip; x = 1; let r = y; } thread Q { y = 1; let s = x; }
        forbid P at end && Q at end && P.r == 0 && Q.s == 0;";
    let counting = plain.replace("skip;", "c = c + 7;").replace("thread Q { ", "thread Q { skip; ");
    let same_steps = plain.replace("skip;", "skip; skip;").replace("thread Q { ", "thread Q { skip; ");
    let (counting, same) = (likely(&counting, forbidden), likely(&same_steps, forbidden));
    // The store to `c` waits in the buffer, so these need not be equal; both are likely, and neither is certain.
    assert!(counting.lower > 0.01 && same.lower > 0.01 && counting.upper < 0.9 && same.upper < 0.9);
    let endless = format!("{plain} thread C {{ loop {{ c = c + 1; fence; }} }}");
    let found = likely(&endless, forbidden);
    assert!(found.lower > 0.01 && found.width() <= 1e-6, "{found:?}");
}

use super::*;
use crate::Limits;
use crate::fences::fences;
use crate::verdict::Limit;

fn existing(text: &str, aim: Aim) -> Existing {
    let source = Source::new("test.weir", text);
    let program = Language::Weir.parse(&source, &[]).expect("a program").program;
    Existing::of(&program, Language::Weir, &[], aim)
}

/// What is left of the text without the fences that are not needed.
fn left(text: &str) -> (Chosen, String) {
    let (existing, options, session) = (existing(text, Aim::Robust), Options::default(), Session::default());
    assert_eq!(existing.unless_enough(&options, &session).expect("an answer"), None);
    let report = fences(&existing.sites.program, &existing.sites.places(), &options, &session).expect("an answer");
    let Fences::Cheapest(sets) = report.fences else { panic!("{:?}", report.fences) };
    let written = existing.write(&sets[0], &options, &session).expect("a text");
    (existing.others(&sets[0]), written.text)
}

const SB: &str = "\
shared x, y, z;
thread P {
    z = 1;
    fence;
    x = 1;
    fence; // needed
    let r = y;
}
thread Q { y = 1; fence; fence; let s = x; }
";

#[test]
fn fences_that_order_nothing_can_go() {
    let (removed, text) = left(SB);
    assert_eq!(removed.len(), 2);
    assert_eq!(text, SB.replace("    z = 1;\n    fence;\n", "    z = 1;\n").replace("fence; fence;", "fence; skip;"));
}

#[test]
fn an_exchange_may_do_as_a_plain_store() {
    let with = |first: &str, second: &str| {
        format!("shared x, y; thread P {{ {first} {second} let r = y; }} thread Q {{ y = 1; fence; let s = x; }}")
    };
    // Either is enough.
    let (removed, text) = left(&with("xchg(x, 1);", "fence;"));
    assert_eq!(removed.len(), 1);
    assert!(text.contains("skip;") || text.contains("x = 1;"), "{text}");
    // No store before it, no load behind it.
    let (removed, text) = left("shared x; thread P { xchg(x, 1); } thread Q { let r = x; }");
    assert_eq!(removed, Chosen::from([0]));
    assert!(text.contains("x = 1;") && !text.contains("xchg"), "{text}");
    let kept = existing("shared x; thread P { let r = xchg(x, 1); x = r; }", Aim::Robust);
    assert!(kept.sites.list.is_empty(), "its result is read");
    let kept = existing("shared x; thread P { let r = xchg(x, 1); } forbid P.r == 1;", Aim::Robust);
    assert!(kept.sites.list.is_empty(), "its result is observed");
    assert!(existing("shared x; thread P { xchg(x, 1); }", Aim::RaceFree).sites.list.is_empty());
}

#[test]
fn lines_go_only_with_nothing_else_on_them() {
    let cut_at = |text: &str| {
        let start = text.find("fence").expect("a fence");
        cut(text, [Span::new(start, start + "fence".len())].into_iter()).expect("a text")
    };
    assert_eq!(cut_at("a;\n  fence;\nb;\n"), "a;\nb;\n");
    assert_eq!(cut_at("a;\n  l: fence;\nb;\n"), "a;\n  l: skip;\nb;\n");
    assert_eq!(cut_at("a;\n  fence; // why\nb;\n"), "a;\n  skip; // why\nb;\n");
    assert_eq!(cut_at("fence;"), "");
}

#[test]
fn an_exchange_is_written_as_a_store() {
    assert_eq!(store("xchg(x, 1)").as_deref(), Some("x = 1"));
    assert_eq!(store("xchg (a[f(1, 2)], b[0] + 1)").as_deref(), Some("a[f(1, 2)] = b[0] + 1"));
    assert_eq!(store("xchg(*p, 1);").as_deref(), Some("*p = 1;"));
    assert_eq!(store("xchg(x)"), None);
    assert_eq!(store("fence"), None);
}

#[test]
fn a_program_that_is_not_robust_has_too_few() {
    let short =
        existing("shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; fence; let s = x; }", Aim::Robust);
    let answer = |states: Option<u64>| {
        let session = Session::new(Limits { states, ..Limits::default() });
        short.unless_enough(&Options::default(), &session).expect("an answer").map(|report| report.fences)
    };
    assert_eq!(answer(None), Some(Fences::TooFew));
    assert_eq!(answer(Some(1)), Some(Fences::Stopped(Limit::States)));
}

//! Programs whose answer turns on one thing each, with their answers. Each is also compared with the definitions.

use weir_ir::{Program, Source};

use crate::reference::{Count, LIMITS, judge};

pub(crate) fn parse(text: &str) -> Program {
    let parsed = weir_syntax::weir::parse(&Source::new("test.weir", text), &weir_syntax::weir::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{text}\n{errors:#?}")).program
}

/// All cells that the programs here use.
const CELLS: &str = "shared x, y, z, w;\n";

/// By definition and by every method.
fn say(threads: &str, expected: bool) {
    let program = parse(&(CELLS.to_owned() + threads));
    let mut count = Count::default();
    judge(&program, LIMITS, &mut count).unwrap_or_else(|why| panic!("{threads}\n{why}"));
    let found = (count.decided, count.not_robust, count.answered, count.feasible);
    assert_eq!(found, (1, usize::from(!expected), [1; 3], 1), "{threads}");
}

#[track_caller]
fn robust(threads: &str) {
    say(threads, true);
}

#[track_caller]
fn not_robust(threads: &str) {
    say(threads, false);
}

/// What comes after the load of `z` in a thread that lets nothing wait.
const CHECKER: &str = "thread C { y = 1; fence; let s = x; }";

#[test]
fn one_branch_without_a_fence_is_enough() {
    not_robust(&format!("thread A {{ x = 1; choose {{ fence; }} or {{ skip; }} let r = y; }} {CHECKER}"));
    not_robust(&format!("thread A {{ x = 1; choose {{ skip; }} or {{ fence; }} let r = y; }} {CHECKER}"));
    robust(&format!("thread A {{ x = 1; choose {{ fence; }} or {{ fence; }} let r = y; }} {CHECKER}"));
    robust(&format!("thread A {{ x = 1; choose {{ fence; let r = y; }} or {{ skip; }} }} {CHECKER}"));
    not_robust(&format!("thread A {{ x = 1; choose {{ fence; let r = y; }} or {{ let r = y; }} }} {CHECKER}"));
    not_robust(&format!(
        "thread A {{ x = 1; let q = w; if q == 0 {{ skip; }} else {{ fence; }} let r = y; }} {CHECKER}"
    ));
    // The branch without a fence is never taken.
    robust(&format!("thread A {{ x = 1; let q = w; if q == 1 {{ skip; }} else {{ fence; }} let r = y; }} {CHECKER}"));
}

#[test]
fn helpers_may_have_to_move_while_the_attacker_delays() {
    let with = |helper: &str| {
        let waits = "z = 1; let p = x; assume p == 0; let q = x; assume q == 1; let r = y;";
        format!("thread A {{ {waits} }} thread B {{ {helper} }} thread C {{ y = 1; fence; let s = z; }}")
    };
    not_robust(&with("x = 1;"));
    robust(&with("skip;"));
    // It moves only once it has seen the store, and then that does not wait.
    robust(&with("let p = z; assume p == 1; x = 1;"));
    not_robust(&with("let p = z; assume p == 0; x = 1;"));
    // Two of them, one after the other.
    not_robust(&(with("let p = w; assume p == 1; x = 1;") + " thread D { w = 1; }"));
}

#[test]
fn what_came_earlier_in_a_section_is_on_the_path() {
    let with = |section: &str| {
        format!("thread A {{ z = 1; let r = y; }} thread L {{ {section} }} thread C {{ let a = x; let b = z; }}")
    };
    not_robust(&with("lock; x = 1; y = 1; unlock;"));
    not_robust(&with("lock; y = 1; x = 1; unlock;"));
    robust(&with("x = 1; y = 1;"));
    robust(&with("lock; x = 1; unlock; y = 1;"));
    not_robust(&with("y = 1; x = 1;"));
    robust(&with("lock; x = 1; skip; unlock; lock; y = 1; unlock;"));
    // A load in the section is seen by nobody; a store to `z` or a load of it comes round.
    robust(&with("lock; let q = x; y = 1; unlock;"));
    not_robust(&with("lock; let q = z; y = 1; unlock;"));
    not_robust(&with("lock; z = 2; y = 1; unlock;"));
    robust(&with("lock; let q = z; z = 2; unlock;"));
    // From one section to the next: by what came earlier in both.
    let two = |second: &str| {
        let first = "thread L { lock; x = 1; y = 1; unlock; }";
        format!("thread A {{ z = 1; let r = y; }} {first} thread M {{ lock; {second} unlock; }}")
    };
    not_robust(&two("let b = z; x = 2;"));
    not_robust(&two("let b = z; let c = x;"));
    robust(&two("let b = z; w = 2;"));
    robust(&two("let c = x; w = 2;"));
}

#[test]
fn a_store_cannot_land_while_the_lock_is_held() {
    let with = |section: &str| format!("thread A {{ x = 1; let r = y; }} thread L {{ {section} }}");
    robust(&with("lock; y = 1; let s = x;"));
    not_robust(&with("lock; y = 1; let s = x; unlock;"));
    not_robust(&with("lock; y = 1; unlock; let s = x;"));
    // Afterwards the lock is taken again, or never given back by another.
    not_robust(&with("lock; y = 1; let s = x; unlock; lock;"));
    robust(&with("y = 1; fence; lock; let s = x;"));
    not_robust(&with("y = 1; fence; let s = x; lock;"));
    // Nobody can write while the attacker holds it.
    robust("thread A { lock; x = 1; let r = y; unlock; } thread C { y = 1; fence; let s = x; }");
    robust("thread A { x = 1; lock; unlock; let r = y; } thread C { y = 1; fence; let s = x; }");
}

#[test]
fn what_is_at_a_section_s_ends_is_in_it() {
    let with = |section: &str| format!("thread A {{ x = 1; let r = y; }} thread L {{ {section} }}");
    not_robust(&with("lock; let s = x; y = 1; unlock;"));
    robust(&with("let s = x; lock; y = 1; unlock;"));
    robust(&with("lock; let s = x; unlock; y = 1;"));
    robust(&with("let s = x; y = 1;"));
    // What the section itself did before does not put it onto the path.
    robust(&with("lock; let s = x; x = 2; unlock;"));
    // A section that is over before the attack begins, and one that is not.
    not_robust(&with("lock; w = 1; unlock; y = 1; fence; let s = x;"));
    not_robust(&with("lock; let s = x; let i = 0; i = i + 1; y = 1; i = 2; unlock;"));
}

#[test]
fn local_steps_starve_no_thread() {
    let sb = "thread A { x = 1; let r = y; } thread C { y = 1; let s = x; }";
    not_robust(&format!("thread L {{ lock; let i = 1; i = i + 1; unlock; }} {sb}"));
    not_robust(&format!("thread L {{ let p = 0; assume p == 1; }} {sb}"));
    not_robust(&format!("thread L {{ lock; let p = 0; i: skip; unlock; }} {sb}"));
}

#[test]
fn paths_lead_over_several_helpers() {
    let with = |helpers: &str| format!("thread A {{ z = 1; let r = y; }} {helpers}");
    // By a store and a load; by a store and a store; by a load that nobody overwrites.
    not_robust(&with("thread B { y = 1; fence; x = 1; } thread C { let a = x; let b = z; }"));
    not_robust(&with("thread B { y = 1; fence; x = 1; } thread C { x = 2; fence; let b = z; }"));
    not_robust(&with("thread B { y = 1; fence; let a = x; } thread C { x = 1; fence; let b = z; }"));
    robust(&with("thread B { y = 1; fence; let a = x; } thread C { let c = x; let b = z; }"));
    robust(&with("thread B { let a = y; x = 1; } thread C { let c = x; let b = z; }"));
    not_robust(&with("thread B { y = 1; fence; x = 1; } thread C { let a = x; z = 2; }"));
    // Over three.
    let third = "thread D { let e = w; let f = z; }";
    not_robust(&with(&format!("thread B {{ y = 1; x = 1; }} thread C {{ let a = x; w = 1; }} {third}")));
    robust(&with(&format!("thread B {{ y = 1; x = 1; }} thread C {{ w = 1; let a = x; fence; }} {third}")));
    // The same helper twice on the path.
    not_robust(&with("thread B { y = 1; fence; x = 1; fence; let c = w; let d = z; } thread C { let a = x; w = 1; }"));
}

#[test]
fn helpers_join_by_a_load_a_store_or_a_read_modify_write() {
    let with = |join: &str, lead: &str| format!("thread A {{ z = 1; let r = y; }} thread B {{ {join} {lead} }}");
    not_robust(&with("y = 1; fence;", "let s = z;"));
    not_robust(&with("xchg(y, 1);", "let s = z;"));
    not_robust(&with("let t = xchg(y, 1);", "z = 2;"));
    not_robust(&with("let t = cas(y, 0, 1);", "let s = z;"));
    robust(&with("let t = cas(y, 7, 1);", "let s = z;"));
    robust(&with("let t = y;", "let s = z;"));
    not_robust(&with("fetch_add(y, 1);", "fetch_add(z, 1);"));
    not_robust(&with("y = 1; fence;", "let t = cas(z, 7, 1);"));
    not_robust(&with("y = 1; fence;", "let t = cas(z, 0, 1);"));
    not_robust(&with("let t = cmpxchg(y, 0, 1);", "let s = z;"));
    robust(&with("let t = cmpxchg(y, 3, 1);", "let s = z;"));
    // What a read-modify-write leads to: as a store, and as a load.
    let over = |first: &str, then: &str| {
        let second = format!("thread C {{ {then} let s = z; }}");
        format!("thread A {{ z = 1; let r = y; }} thread B {{ y = 1; fence; {first} }} {second}")
    };
    not_robust(&over("xchg(x, 1);", "let a = x;"));
    robust(&over("let t = cas(x, 7, 1);", "let a = x;"));
    not_robust(&over("let t = cas(x, 7, 1);", "xchg(x, 1);"));
    robust(&over("let t = cas(x, 7, 1);", "let u = cas(x, 7, 1);"));
    not_robust(&over("let t = x;", "let u = cas(x, 0, 1);"));
}

#[test]
fn the_attacker_sees_its_own_stores() {
    let with = |body: &str| format!("thread A {{ {body} }} {CHECKER}");
    not_robust(&with("x = 1; let p = x; assume p == 1; let r = y;"));
    robust(&with("x = 1; let p = x; assume p == 0; let r = y;"));
    not_robust(&with("x = 1; x = 2; let p = x; assume p == 2; let r = y;"));
    robust(&with("x = 1; x = 2; let p = x; assume p == 1; let r = y;"));
    not_robust(&with("x = 1; w = 5; w = 6; z = 7; let p = w; assume p == 6; let r = y;"));
    // A load of what waits overtakes nothing.
    robust(&with("x = 1; y = 2; let r = y;"));
    not_robust(&with("y = 2; x = 1; let r = y;"));
    not_robust(&with("x = 1; let r = y; y = 2;"));
    robust(&with("y = 2; fence; x = 1; fence; let r = y;"));
}

#[test]
fn several_stores_wait() {
    let with = |body: &str, cell: &str| format!("thread A {{ {body} }} thread C {{ y = 1; fence; let s = {cell}; }}");
    not_robust(&with("x = 1; w = 1; let r = y;", "x"));
    not_robust(&with("x = 1; w = 1; let r = y;", "w"));
    robust(&with("x = 1; fence; w = 1; fence; let r = y;", "w"));
    not_robust(&with("x = 1; fence; w = 1; let r = y;", "w"));
    robust(&with("x = 1; fence; w = 1; let r = y;", "x"));
    not_robust(&with("x = 1; let q = w; let r = y;", "x"));
    robust(&with("let r = y; x = 1;", "x"));
}

#[test]
fn a_read_modify_write_of_the_attacker_waits_for_its_stores() {
    let with = |body: &str| format!("thread A {{ {body} }} {CHECKER}");
    robust(&with("x = 1; xchg(w, 1); let r = y;"));
    robust(&with("x = 1; let t = cas(w, 7, 1); let r = y;"));
    robust(&with("x = 1; lock; unlock; let r = y;"));
    robust(&with("xchg(x, 1); let r = y;"));
    robust(&with("x = 1; let r = fetch_add(y, 0);"));
}

#[test]
fn ranges_block_stores() {
    let with = |body: &str| format!("thread A {{ {body} }} {CHECKER}");
    let judged = |cells: &str, threads: &str, expected: bool| {
        let program = parse(&format!("shared {cells};\n{threads}"));
        let mut count = Count::default();
        judge(&program, LIMITS, &mut count).unwrap_or_else(|why| panic!("{threads}\n{why}"));
        assert_eq!((count.decided, count.not_robust, count.answered), (1, usize::from(!expected), [1; 3]), "{threads}");
    };
    judged("x: 0..1, y, w", &with("x = 2; let r = y;"), true);
    judged("x: 0..1, y, w", &with("x = 1; let r = y;"), false);
    judged("x, y: 0..0, w", &with("x = 1; let r = y;"), true);
    judged("x, y, w: 0..1", &with("x = 1; w = 2; let r = y;"), true);
    judged("x, y, w: 0..1", &with("x = 1; w = 1; let r = y;"), false);
    judged("x: 0..1, y, w", "thread A { x = 1; let r = y; } thread B { y = 1; fence; x = 2; }", true);
    judged("x: 0..1, y, w", "thread A { x = 1; let r = y; } thread B { y = 1; fence; fetch_add(x, 3); }", true);
    judged("x, y: 0..1, w", "thread A { x = 1; let r = y; } thread B { fetch_add(y, 3); let s = x; }", true);
}

#[test]
fn addresses_are_computed_when_the_store_is_made() {
    let with =
        |body: &str| format!("shared a[3], y;\nthread A {{ {body} }} thread C {{ y = 1; fence; let s = a[1]; }}");
    for (body, expected) in [
        ("let i = 1; a[i] = 1; i = 2; let r = y;", false),
        ("let i = 2; a[i] = 1; i = 1; let r = y;", true),
        ("let i = any 0..2; a[i] = 1; let r = y;", false),
        ("let i = any 0..2; a[i] = 1; assume i == 2; let r = y;", true),
        ("let i = 1; a[i] = 1; let j = a[i]; assume j == 1; let r = y;", false),
        ("a[1] = 1; let p = &y; let r = *p;", false),
        ("let p = &a; *p = 1; let r = y;", true),
        ("let p = &a + 1; *p = 1; p = *p; assume p == 1; let r = y;", false),
    ] {
        let mut count = Count::default();
        judge(&parse(&with(body)), LIMITS, &mut count).unwrap_or_else(|why| panic!("{body}\n{why}"));
        assert_eq!((count.not_robust, count.answered), (usize::from(!expected), [1; 3]), "{body}");
    }
}

#[test]
fn the_attacker_goes_on_past_several_loads_in_one_step() {
    not_robust(&format!("thread A {{ x = 1; let a, b; a, b = z, w; let r = y; }} {CHECKER}"));
    not_robust(&format!("thread A {{ x = 1; z = 2; let a, b; a, b = z, w; assume a == 2; let r = y; }} {CHECKER}"));
    robust(&format!("thread A {{ x = 1; z = 2; let a, b; a, b = z, w; assume a == 0; let r = y; }} {CHECKER}"));
}

#[test]
fn several_loads_in_one_step_are_on_the_path_together() {
    let at_once = |cells: &str| format!("let p = 0; let q = 0; p, q = {cells};");
    let with = |left: &str, right: &str| format!("thread A {{ {left} }} thread C {{ {right} }}");
    let both = at_once("x, y");
    not_robust(&with(&format!("x = 1; {both}"), &format!("y = 1; {both}")));
    robust(&with(&format!("x = 1; fence; {both}"), &format!("y = 1; fence; {both}")));
    robust(&with(&format!("x = 1; {}", at_once("x, x")), &format!("y = 1; {both}")));
    not_robust(&with("x = 1; let r = y; y = 2;", &format!("y = 1; {both}")));
    not_robust(&with(&format!("x = 1; {both} let r = y;"), "xchg(y, 1); let s = x;"));
    not_robust(&with(&format!("x = 1; {}", at_once("w, y")), "y = 1; fence; let s = x;"));
    not_robust(&with(&format!("x = 1; {}", at_once("y, x")), "y = 1; fence; let s = x;"));
    // In a section; by the second of the cells; by neither.
    not_robust(&with("x = 1; let r = y;", &format!("lock; {both} y = 1; unlock;")));
    robust(&with("x = 1; let r = y;", &format!("{both} y = 1;")));
    let over = |seen: &str| {
        let third = format!("thread C {{ {} }}", at_once(seen));
        format!("thread A {{ x = 1; let r = y; }} thread B {{ y = 1; fence; w = 1; }} {third}")
    };
    not_robust(&over("w, x"));
    not_robust(&over("x, w"));
    robust(&over("z, x"));
    robust(&over("w, z"));
}

//! The translation as a pass: linear in the program, readable, and clear about what it does not do.

use std::fmt::Write as _;

use weir::translate::bounded::{Bounded, RunBound, bounded};
use weir::{Failure, Session};
use weir_ir::{Instruction, ProcId, Program, Source};

const BOUNDS: [RunBound; 3] = [RunBound::Rounds(3), RunBound::Age(0), RunBound::Age(2)];

fn parse(text: &str) -> Program {
    let parsed = weir_syntax::weir::parse(&Source::new("pass", text), &weir_syntax::weir::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

fn translated(text: &str, bound: RunBound) -> Result<Bounded, Failure> {
    bounded(&parse(text), bound, &Session::default())
}

fn printed(text: &str, bound: RunBound) -> String {
    let made = translated(text, bound).unwrap_or_else(|failure| panic!("{failure}\n{text}"));
    weir_syntax::weir::print::print_with(&made.program, made.comments())
}

/// One thread with so many times the same statements.
fn long(count: usize) -> String {
    let body =
        "x = 1; r = y; y = r + 1; fence; s = xchg(x, r); r, s = x, y; await r = x if r == s; ".to_owned().repeat(count);
    format!("shared x, y;\nthread P {{ let r, s; {body} }}\nexists P.r == 0 && P.s == 1;\n")
}

/// One thread with so many accesses to computed addresses.
fn computed(count: usize) -> String {
    let body = "a[r] = s; s = a[s]; r, s = a[r], a[s]; r = fetch_add(a[r], 1); r = r & 3; s = s & 3; ".repeat(count);
    format!(
        "shared a[4]: 0..3;\nthread P {{ let r = any 0..3; let s = any 0..3; {body} }}\nforbid P at end && a[1] == 3;\n"
    )
}

/// So many threads with cells of their own, and as many properties.
fn wide(count: usize) -> String {
    let mut text = String::new();
    for at in 0..count {
        let _ = writeln!(text, "shared x{at}, y{at};\nthread P{at} {{ let r; x{at} = 1; r = y{at}; membarrier; }}");
    }
    text
}

/// So many procedures, each with a cell of its own, that call each other.
fn calls(count: usize) -> String {
    let mut text = String::new();
    for at in 0..count {
        let next = (at + 1) % count;
        let _ = writeln!(
            text,
            "shared x{at};\nproc f{at}(n) {{ x{at} = n; let r = x{at}; if n > 0 {{ f{next}(n - 1); }} return r; }}"
        );
    }
    text + "thread P { let r = f0(3); }\nthread Q { let r = f0(1); spawn T; }\nthread T[0] { f0(1); }\n"
}

/// Twice the program, twice the result: as text and as an automaton.
#[test]
fn the_size_is_linear() {
    for (name, make) in
        [("long", long as fn(usize) -> String), ("computed", computed), ("wide", wide), ("calls", calls)]
    {
        for bound in BOUNDS {
            let size = |count: usize| {
                let made = translated(&make(count), bound).unwrap_or_else(|failure| panic!("{name}: {failure}"));
                let threads = made.program.threads.iter().map(|thread| &thread.body);
                let bodies = threads.chain(made.program.procedures.iter().map(|procedure| &procedure.body));
                let parts = |body: &weir_ir::Body| body.edges().len() + body.locations.len() + body.registers.len();
                let parts: usize = bodies.map(parts).sum();
                (parts, printed(&make(count), bound).lines().count())
            };
            let (one, two, four) = (size(10), size(20), size(40));
            // What each further part adds is the same, up to line breaks.
            assert!(four.0 - two.0 <= 2 * (two.0 - one.0) + 20, "{name}, {bound:?}: {one:?} {two:?} {four:?}");
            assert!(four.1 - two.1 <= 2 * (two.1 - one.1) + 40, "{name}, {bound:?}: {one:?} {two:?} {four:?}");
        }
    }
}

#[test]
fn the_text_says_what_stands_for_what() {
    let text = printed("shared x, y; thread P { let r; x = 1; r = y; } forbid P.r == 1;", RunBound::Age(2));
    for part in ["--pass age=2", "view_x ", "mask1_x ", "queue1_x ", "// A round begins.", "// The view is set anew"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // A label of the program's own keeps its name, and the comment is at the other one.
    let text = printed("shared x; thread P { x = 1; look: skip; } forbid P at look;", RunBound::Rounds(2));
    let after = text.split("// The view is set anew").nth(1).and_then(|rest| rest.lines().nth(1)).map(str::trim);
    assert_eq!(after, Some("look_:"), "{text}");
    assert!(text.contains("P at look "), "{text}");
}

/// Procedures stay procedures, recursive or not, and `spawn` stays what it is, also when the text is read again.
#[test]
fn procedures_and_spawn_stay() {
    let text = "shared x, y; proc f(n) { x = n; if n > 0 { let r = f(n - 1); y = r; } return x; } \
                noinline proc g() { spawn T; } thread P { let r = f(3); g(); } thread T[0] { f(1); } forbid P.r == 1;";
    for bound in BOUNDS {
        let made = translated(text, bound).unwrap_or_else(|failure| panic!("{failure}"));
        let printed = printed(text, bound);
        let again = parse(&printed);
        for program in [&made.program, &again] {
            let names: Vec<&str> = program.procedures.iter().map(|procedure| procedure.name.as_str()).collect();
            assert_eq!(names, ["f", "g", "begin_round", "look"], "{printed}");
            let edges = |name: &str| {
                let procedure = program.procedures.iter().find(|one| one.name == name).expect("there");
                procedure.body.edges().iter().map(|edge| edge.instruction.clone()).collect::<Vec<_>>()
            };
            let calls_itself = |one: &Instruction| matches!(one, Instruction::Call { procedure: ProcId(0), .. });
            assert!(edges("f").iter().any(calls_itself), "{printed}");
            assert!(edges("g").iter().any(|one| matches!(one, Instruction::Spawn(_))), "{printed}");
        }
        for part in ["proc f(n) {", "noinline proc begin_round() {", "let resume", "r = f(n - 1);", "spawn T;"] {
            assert!(printed.contains(part), "{part}:\n{printed}");
        }
    }
}

fn refusal(text: &str, bound: RunBound) -> (&'static str, String) {
    match translated(text, bound) {
        Err(Failure::Refused(why)) => (why.code, why.help.unwrap_or_default()),
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn what_is_not_covered_is_refused_by_name() {
    let (code, help) = refusal("shared x; thread P { let r = x; loop { mem[r] = 1; r = r + 1; } }", RunBound::Age(1));
    assert!(code == "computed-address" && help.contains("assume"), "{code}: {help}");
    let (code, _) = refusal("shared x; thread P { x = 1; } forbid deadlock;", RunBound::Rounds(2));
    assert_eq!(code, "deadlock-not-supported");
    let (code, _) = refusal("shared x; thread P { x = 1; l: skip; } live P at l;", RunBound::Rounds(2));
    assert_eq!(code, "liveness-not-supported");
    for bound in [RunBound::Rounds(0), RunBound::Rounds(101), RunBound::Age(101)] {
        assert_eq!(refusal("shared x; thread P { x = 1; }", bound).0, "run-bound");
    }
    let (code, _) = refusal("shared x; thread P[*] { x = 1; }", RunBound::Age(1));
    assert_eq!(code, "arbitrary-threads");
}

/// An index that is bounded before it is used names few cells.
#[test]
fn a_bounded_index_is_not_refused() {
    let text = "shared x; thread P { let r = x; assume r >= 1 && r < 4; mem[r] = 1; r = mem[r]; } forbid P.r == 2;";
    assert!(translated(text, RunBound::Age(1)).is_ok());
}

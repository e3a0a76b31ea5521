//! Texts of random programs with recursive procedures and threads started at run time.

use std::fmt::Write as _;

use crate::rng::Rng;

/// What a body can do.
#[derive(Clone, Copy)]
struct Scope<'a> {
    /// The procedures that it can call.
    procedures: &'a [&'a str],
    /// Whether it is a procedure, with a parameter `n`.
    is_procedure: bool,
    spawns: bool,
    /// Whether there is a thread-local variable `g`.
    has_local: bool,
}

/// The text of a random program. Without `spawn`, if there shall be none.
pub fn program(rng: &mut Rng, spawns: bool) -> String {
    let mut text = String::from("shared x, y: 0..2;\n");
    let procedures: &[&str] = match rng.below(6) {
        0 | 1 if spawns => &[],
        0..=2 => &["f"],
        3 => &["f", "h"],
        _ => &["f", "k"],
    };
    let has_local = !procedures.is_empty() && rng.chance(40);
    if has_local {
        text.push_str("let g;\n");
    }
    let spawns = spawns && (procedures.is_empty() || rng.chance(60));
    for name in procedures {
        let scope = Scope { procedures, is_procedure: true, spawns, has_local };
        if *name == "h" {
            let _ = writeln!(text, "noinline proc h(n) {{ let r; {} return r; }}", block(rng, scope, 2));
            continue;
        }
        // Each calls itself or the other one, so that none is inlined.
        let next = if *name == "f" { procedures[procedures.len() - 1] } else { "f" };
        let before = block(rng, scope, 1);
        let after = block(rng, scope, 1);
        let guard = *rng.pick(&["n > 0", "n > 0", "n > 0", "n >= 0", "x == 0"]);
        let result = *rng.pick(&["r", "n", "r + 1", "0"]);
        let _ = writeln!(
            text,
            "proc {name}(n) {{ let r; {before} if {guard} {{ {} }} {after} return {result}; }}",
            *rng.pick(&[
                format!("r = {next}(n - 1);"),
                format!("{next}(n - 1);"),
                format!("r = {next}(n - 1); r = {next}(r - 1);"),
                format!("{next}(n - 1); x = n;"),
            ]),
        );
    }
    let scope = Scope { procedures, is_procedure: false, spawns, has_local };
    let _ = writeln!(text, "thread P {{ let r; {} }}", block(rng, scope, 3));
    if rng.chance(50) {
        let quiet = Scope { procedures: if rng.chance(30) { procedures } else { &[] }, spawns: false, ..scope };
        let _ = writeln!(text, "thread Q {{ let r; {} }}", block(rng, quiet, 2));
    }
    if spawns {
        let inner =
            Scope { spawns: rng.chance(20), procedures: if rng.chance(20) { procedures } else { &[] }, ..scope };
        let _ = writeln!(text, "thread T[0] {{ let r; {} here: skip; }}", block(rng, inner, 2));
        let _ = writeln!(text, "forbid T at here && x == 1;");
        let _ = writeln!(text, "forbid count(T at end) >= 2;");
        let _ = writeln!(text, "forbid count(T at here) + count(T at end) == 0 && P at end;");
    }
    if has_local {
        let _ = writeln!(text, "forbid P.g == 1 && x == {};\nforbid P.g == 2 && y == 1;", rng.below(3));
    }
    for value in 0..3 {
        let _ = writeln!(text, "forbid P.r == {value} && x == {};", rng.below(3));
        let _ = writeln!(text, "forbid P at end && y == {value} && x == {};", rng.below(3));
    }
    let _ = writeln!(text, "forbid deadlock;\nexists x == {} && P.r == {};", rng.below(3), rng.below(2));
    let _ = writeln!(text, "always x == {} || y == {};", rng.below(2), rng.below(2));
    text
}

fn block(rng: &mut Rng, scope: Scope<'_>, most: usize) -> String {
    let count = rng.between(0, most);
    (0..count.max(usize::from(most > 1))).map(|_| statement(rng, scope) + " ").collect()
}

fn statement(rng: &mut Rng, scope: Scope<'_>) -> String {
    let cell = *rng.pick(&["x", "y"]);
    let value = rng.below(3);
    let call = |rng: &mut Rng| {
        let name = rng.pick(scope.procedures);
        let argument = if scope.is_procedure { "n - 1".to_owned() } else { rng.below(3).to_string() };
        if rng.chance(60) { format!("r = {name}({argument});") } else { format!("{name}({argument});") }
    };
    match rng.below(20) {
        0..=7 if scope.has_local && rng.chance(30) => {
            let set = rng.pick(&["g = 1;", "g = g + 1;", "g = r;", "r = g;", "x = g & 1;", "g = y;", "r = g + 1;"]);
            (*set).to_owned()
        }
        0..=3 => format!("{cell} = {value};"),
        4..=5 => format!("r = {cell};"),
        6..=9 if scope.spawns => "spawn T;".to_owned(),
        6..=9 if !scope.procedures.is_empty() && !scope.is_procedure => call(rng),
        10..=12 if !scope.procedures.is_empty() && !scope.is_procedure => call(rng),
        13 => "fence;".to_owned(),
        14 => format!("r = xchg({cell}, {value});"),
        15 => format!("assert r != {value};"),
        16 => format!("if r == {value} {{ {} }} else {{ {} }}", simple(rng), simple(rng)),
        17 if scope.spawns && rng.chance(30) => format!("while r < 2 {{ spawn T; r += 1; {} }}", simple(rng)),
        17 => format!("choose {{ {} }} or {{ {} }}", simple(rng), simple(rng)),
        18 if !scope.is_procedure && !scope.procedures.is_empty() => format!("atomic {{ {} }}", call(rng)),
        18 if scope.spawns => format!("atomic {{ {cell} = {value}; spawn T; }}"),
        18 => "terminate;".to_owned(),
        19 => format!("assume r != {value};"),
        _ => simple(rng),
    }
}

fn simple(rng: &mut Rng) -> String {
    let (cell, value) = (*rng.pick(&["x", "y"]), rng.below(3));
    match rng.below(4) {
        0 => format!("{cell} = {value};"),
        1 => format!("r = {cell};"),
        2 => "r += 1;".to_owned(),
        _ => "skip;".to_owned(),
    }
}

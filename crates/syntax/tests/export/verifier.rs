//! C for CBMC and ESBMC compiles without a warning; simulated runs and CBMC agree with the reference interpreter.

use weir_ir::{Program, PropertyKind, Uninterrupted};
use weir_syntax::c::{Purpose, print};
use weir_testkit::random::{self, Config};
use weir_testkit::{Goal, Model, Outcome, explore};

use crate::support::{Folder, count, examples, have};

const WARNINGS: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"];

/// Whether the reference sees what property `number` asks about, as far as these checkers can.
fn is_seen(program: &Program, outcome: &Outcome, number: usize) -> bool {
    let properties = &program.properties;
    let is_about = |goal: &Goal| match goal {
        Goal::Property(property) => match properties[property.index()].kind {
            PropertyKind::ForbidDeadlock => false,
            PropertyKind::Exists(_) => property.index() + 1 == number,
            _ => number == 0 || property.index() + 1 == number,
        },
        Goal::Assertion(_) => number == 0 || number == properties.len() + 1,
    };
    outcome.goals.keys().any(is_about)
}

/// Compiles for both checkers, without a warning; with the simulation if wanted.
fn compile(text: &str, arguments: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("program.c", text);
    let all: Vec<&str> = WARNINGS.iter().chain(arguments).copied().chain(["program.c"]).collect();
    folder.run_quietly("gcc", &all, text);
    folder
}

fn configs() -> [Config; 5] {
    [Config::acyclic(), Config::locking(), Config::synchronizing(), Config::wild_data(), Config::wrapping()]
}

#[test]
fn random_programs_compile_and_simulated_runs_violate_nothing_that_holds() {
    if !have(&[("gcc", "--version")]) {
        return;
    }
    let mut exported = 0;
    for seed in 0..count("WEIR_VERIFIER_PROGRAMS", 8) {
        let configs = configs();
        let program = random::program(seed, &configs[seed as usize % configs.len()]);
        let (Ok(cbmc), Ok(esbmc)) =
            (print(&program, Purpose::Cbmc, &Uninterrupted), print(&program, Purpose::Esbmc, &Uninterrupted))
        else {
            continue;
        };
        exported += 1;
        compile(&esbmc.text, &["-c", "-o", "program.o"]);
        compile(&cbmc.text, &["-c", "-o", "program.o"]);
        let folder = compile(&cbmc.text, &["-DSIMULATE", "-pthread", "-o", "simulated"]);
        let Ok(outcome) = explore(&program, Model::Sc, 30_000) else { continue };
        if outcome.complete && !is_seen(&program, &outcome, 0) {
            for _ in 0..20 {
                let ran = folder.run("simulated", &[]);
                let said = String::from_utf8_lossy(&ran.stdout);
                let is_outside = said.contains("not that of a declared cell");
                assert!(ran.status.success() || is_outside, "seed {seed}: {said}\n{}", cbmc.text);
            }
        }
    }
    assert!(exported > 3, "{exported}");
}

/// What CBMC says: whether an assertion can fail; nothing if it ran out of time or left the cells.
pub(crate) fn cbmc(text: &str, number: usize, unwind: &str) -> Option<bool> {
    let folder = Folder::new();
    folder.write("program.c", text);
    let property = format!("-DPROPERTY={number}");
    let output = folder.run("timeout", &["60", "cbmc", "--unwind", unwind, &property, "program.c"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let fails = said.lines().any(|line| line.ends_with("FAILURE") && !line.contains("not that of a declared cell"));
    match output.status.code() {
        Some(0) => Some(false),
        Some(10) if fails => Some(true),
        Some(10 | 124) => None,
        code => panic!("cbmc ended with {code:?}: {said}\n{}\n{text}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[test]
fn cbmc_agrees_with_the_reference() {
    let wanted = count("WEIR_CBMC_PROGRAMS", 4);
    if !have(&[("cbmc", "--version"), ("timeout", "--version")]) {
        return;
    }
    let mut compared = 0;
    for seed in 0..wanted {
        let configs = configs();
        let program = random::program(seed, &configs[seed as usize % configs.len()]);
        let Ok(export) = print(&program, Purpose::Cbmc, &Uninterrupted) else { continue };
        let Ok(outcome) = explore(&program, Model::Sc, 30_000) else { continue };
        let number = (seed as usize / configs.len()) % (program.properties.len() + 2);
        let seen = is_seen(&program, &outcome, number);
        if !outcome.complete && !seen {
            continue;
        }
        let Some(found) = cbmc(&export.text, number, "4") else { continue };
        assert_eq!(found, seen, "seed {seed}, property {number}\n{}", export.text);
        compared += 1;
    }
    eprintln!("{compared} random programs compared with CBMC");
}

/// Every example can be exported, and with loops entered a few times CBMC finds no more than there is.
#[test]
fn examples_are_exported() {
    let with_cbmc = count("WEIR_CBMC_EXAMPLES", 0);
    let mut exported = 0;
    for (at, (name, program)) in examples().iter().enumerate() {
        let export = print(program, Purpose::Cbmc, &Uninterrupted);
        let Ok(export) = export else { panic!("{name}: {export:?}") };
        exported += 1;
        if (at as u64) < with_cbmc && have(&[("cbmc", "--version")]) {
            let Ok(outcome) = explore(program, Model::Sc, 60_000) else { continue };
            if cbmc(&export.text, 0, "3") == Some(true) {
                assert!(is_seen(program, &outcome, 0), "{name}\n{}", export.text);
            } else {
                eprintln!("{name}: nothing found with three iterations; reference {}", is_seen(program, &outcome, 0));
            }
        }
    }
    assert!(exported > 50);
}

/// Programs with procedures and `spawn`, and whether some property is violated or met within a few calls and threads.
const DYNAMIC: [(&str, bool); 7] = [
    (
        "shared x; proc f(n) { if n == 0 { return 0; } let below = f(n - 1); return below + 1; } \
      thread P { let r = f(3); x = r; } always x == 3 && P.r == 3;",
        false,
    ),
    (
        "shared x; proc even(n) { if n == 0 { return 1; } let r = odd(n - 1); return r; } \
      proc odd(n) { if n == 0 { return 0; } let r = even(n - 1); return r; } \
      thread P { let r = even(3); assert r == 0; } thread Q { let r = odd(3); assert r == 0; }",
        true,
    ),
    (
        "shared x; thread P { let n = 2; while n > 0 { spawn T; n -= 1; } } \
      thread T[0] { fetch_add(x, 1); here: skip; } forbid count(T at end) == 2 && x != 2; forbid count(T at here) == 1 && x == 0; always x == 2;",
        false,
    ),
    ("shared x; thread P { spawn T; spawn T; } thread T[0] { let r = x; x = r + 1; } always x == 2;", true),
    (
        "let g; shared x; noinline proc bump(n) { g = g + n; } \
      thread P { bump(1); bump(2); after: x = g; } thread Q { bump(5); } always x == 3 && Q.g == 5; \
      forbid P at after && P.g != 3;",
        false,
    ),
    (
        "let g; shared x; noinline proc add() { lock; g = x; x = g + 1; unlock; } \
      thread P { spawn T; spawn T; add(); } thread T[0] { add(); add(); } always x == 5;",
        false,
    ),
    (
        "shared x; noinline proc wait() { await x == 1; } thread P { before: wait(); after: skip; } \
      thread Q { x = 1; } forbid P at after && x == 0; forbid P at before && P at after;",
        false,
    ),
];

fn parsed(text: &str) -> weir_ir::Program {
    let parsed = weir_syntax::weir::parse(&weir_ir::Source::new("test", text), &weir_syntax::weir::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

/// Procedures are functions, and threads are started where the program starts them.
#[test]
fn procedures_and_spawn_are_exported_as_they_are() {
    if !have(&[("gcc", "--version")]) {
        return;
    }
    for (text, is_violated) in DYNAMIC {
        let program = parsed(text);
        let print = |purpose| print(&program, purpose, &Uninterrupted).unwrap_or_else(|errors| panic!("{errors:?}"));
        let (cbmc, esbmc) = (print(Purpose::Cbmc), print(Purpose::Esbmc));
        compile(&esbmc.text, &["-c", "-o", "program.o"]);
        compile(&cbmc.text, &["-c", "-o", "program.o"]);
        let folder = compile(&cbmc.text, &["-DSIMULATE", "-pthread", "-o", "simulated"]);
        // A run ends early wherever it chooses the wrong branch: one in a hundred or fewer shows a violation.
        let runs = if is_violated { 20_000 } else { 15 };
        let failed = (0..runs).any(|_| !folder.run("simulated", &[]).status.success());
        assert_eq!(failed, is_violated, "{text}\n{}", cbmc.text);
        for procedure in &program.procedures {
            assert!(cbmc.text.contains(&format!("called = proc_{}(", procedure.name)), "{}", cbmc.text);
        }
        assert_eq!(program.spawns(), cbmc.text.contains("start_thread(thread_T);"), "{}", cbmc.text);
        if have(&[("cbmc", "--version"), ("timeout", "--version")]) {
            assert_ne!(self::cbmc(&cbmc.text, 0, "4"), Some(!is_violated), "{text}\n{}", cbmc.text);
        }
    }
}

#[test]
fn what_procedures_and_spawn_cannot_be_in_c_is_refused() {
    for text in [
        "shared x; noinline proc f() { terminate; } thread P { f(); }",
        "shared x; thread P { let r = fetch_add(x, 1); if r == 0 { spawn P; } }",
    ] {
        let refused = print(&parsed(text), Purpose::Cbmc, &Uninterrupted).err().unwrap_or_default();
        assert!(refused.iter().any(|error| error.code == "not-exported"), "{text}");
    }
}

//! SPIN gives the same verdicts on the Promela export as the reference interpreter under SC, and visits as many states.

use weir_ir::{Program, PropertyKind, Uninterrupted};
use weir_syntax::promela::print;
use weir_testkit::random::{self, Config};
use weir_testkit::{Goal, Model, Outcome, explore};

use crate::support::{Folder, count, examples, have, read};

/// What SPIN said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// No errors; so many states.
    Fine(usize),
    /// An assertion of the monitor or of the program failed.
    Violated,
    /// A value or an address left what the model covers.
    Outside,
    /// The search did not end.
    Incomplete,
}

pub(crate) fn tools() -> bool {
    have(&[("spin", "-V"), ("gcc", "--version")])
}

pub(crate) fn spin(text: &str, property: usize, reduction: bool) -> Answer {
    let folder = Folder::new();
    folder.write("model.pml", text);
    let said = folder.run("spin", &["-o1", "-o2", "-o3", &format!("-DPROPERTY={property}"), "-a", "model.pml"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    assert!(!said.contains("rror"), "{said}\n{text}");
    let reduce = if reduction { "-DSAFETY" } else { "-DNOREDUCE" };
    folder.run_quietly("gcc", &["-O0", "-w", "-DSAFETY", reduce, "-DVECTORSZ=4096", "-o", "pan", "pan.c"], text);
    let output = folder.run("pan", &["-m200000", "-w20"]);
    answer(&String::from_utf8_lossy(&output.stdout), text)
}

fn answer(output: &str, text: &str) -> Answer {
    let stored = output.lines().find_map(|line| line.trim().strip_suffix(" states, stored"));
    let states = stored.and_then(|number| number.trim().parse().ok());
    if output.contains("OUTSIDE") {
        Answer::Outside
    } else if output.contains("assertion violated") {
        Answer::Violated
    } else if output.contains("max search depth") || output.contains("out of memory") {
        Answer::Incomplete
    } else if output.contains("errors: 0")
        && let Some(states) = states
    {
        Answer::Fine(states)
    } else {
        panic!("SPIN answers in an unknown way:\n{output}\n{text}");
    }
}

/// Whether the reference sees what property `number` of the model asks about.
fn is_seen(program: &Program, outcome: &Outcome, number: usize) -> bool {
    let count = program.properties.len();
    let is_about = |goal: &Goal| match goal {
        Goal::Property(property) if number == 0 => {
            !matches!(program.properties[property.index()].kind, PropertyKind::Exists(_))
        }
        Goal::Property(property) => property.index() + 1 == number,
        Goal::Assertion(_) => number == 0 || number == count + 1,
    };
    outcome.goals.keys().any(is_about)
}

/// Compares one program; says whether it could be compared.
fn agrees(name: &str, program: &Program, number: usize, limit: usize, reduction: bool) -> bool {
    let Ok(export) = print(program, &Uninterrupted) else { return false };
    let Ok(outcome) = explore(program, Model::Sc, limit) else { return false };
    let seen = is_seen(program, &outcome, number);
    if !outcome.complete && !seen {
        return false;
    }
    let answer = spin(&export.text, number, reduction);
    let context = || format!("{name}, property {number}: {answer:?}, reference {seen}\n{}", export.text);
    match answer {
        Answer::Fine(states) => {
            assert!(!seen, "{}", context());
            // Two more: before the processes start, and before their first step is scheduled.
            assert!(reduction || states == outcome.states + 1, "{} states, {}", outcome.states, context());
        }
        Answer::Violated => assert!(seen, "{}", context()),
        Answer::Outside | Answer::Incomplete => return false,
    }
    true
}

#[test]
fn examples_have_the_verdicts_of_the_reference() {
    if !tools() {
        return;
    }
    let all = examples();
    let step = (all.len() as u64 / count("WEIR_SPIN_EXAMPLES", 5)).max(1) as usize;
    let mut compared = 0;
    for (name, program) in all.iter().step_by(step) {
        for number in 0..=program.properties.len() + 1 {
            if step > 1 && number > 0 {
                break;
            }
            compared += usize::from(agrees(name, program, number, 60_000, step > 1));
        }
    }
    eprintln!("{compared} properties of examples compared");
    assert!(compared >= 3);
}

#[test]
fn random_programs_have_the_verdicts_and_states_of_the_reference() {
    if !tools() {
        return;
    }
    let configs =
        [Config::acyclic(), Config::cyclic(), Config::locking(), Config::synchronizing(), Config::wild_data()];
    let wanted = count("WEIR_SPIN_PROGRAMS", 8);
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..wanted {
        let program = random::program(seed, &configs[seed as usize % configs.len()]);
        let number = (seed as usize / configs.len()) % (program.properties.len() + 2);
        match agrees(&format!("seed {seed}"), &program, number, 20_000, seed % 2 == 0) {
            true => compared += 1,
            false => refused += 1,
        }
    }
    eprintln!("{compared} random programs compared, {refused} not comparable");
    assert!(compared * 2 >= wanted);
}

#[test]
fn a_reader_finds_threads_labels_and_lines() {
    let program = read("shared x;\nthread P {\n    x = 1;\nhere:\n    await x == 2;\n}\nforbid P at here && x == 3;\n");
    let text = print(&program, &Uninterrupted).unwrap().text;
    for part in
        ["/* line 2: thread P */", "proctype P()", "here:", "line 3: x = 1", "1: line 7: forbid P at here && x == 3"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text, print(&program, &Uninterrupted).unwrap().text);
}

/// Only steps to and from places that properties tell apart assign a global variable: SPIN reduces the others.
#[test]
fn steps_that_no_property_observes_stay_local() {
    let program = read(
        "shared x, y;\nthread P {\n    let r = x;\n    r = r + 1;\n    y = r;\ncritical:\n    skip;\n    x = 0;\n}\n\
         thread Q {\n    let s = y;\n    s = s + 1;\n}\nforbid P at critical && x == 0;\nexists Q.s == 1;\n",
    );
    let text = print(&program, &Uninterrupted).unwrap().text;
    for step in [
        ":: r = x; goto",
        ":: r = r + 1; goto",
        ":: d_step { y = r; P_at = 3 }; goto critical",
        ":: d_step { x = 0; P_at = 5 }; goto L5",
        "byte P_at = 0;",
        "(P_at == 3) && (x == 0)",
        ":: Q_s = y; goto",
        ":: d_step { Q_s = Q_s + 1; Q_at = 2 }; goto L2",
        "#define ALL_DONE ((P_at == 5) && (Q_at == 2))",
    ] {
        assert!(text.contains(step), "{step}\n{text}");
    }
}

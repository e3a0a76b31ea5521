//! Printing a program and reading it back gives the same program: of all examples, of random programs,
//! of every tiny one, and of automata that no source text would make.

mod automata;
mod isomorphic;
mod texts;

use std::path::{Path, PathBuf};

use weir_ir::{Diagnostic, Program, Source, StateAtom};
use weir_syntax::weir::print::print;
use weir_syntax::weir::{Options, format, parse};
use weir_testkit::random::{self, Config};
use weir_testkit::{Model, explore, tiny};

use isomorphic::isomorphic;

/// Searches with more states than this are not compared.
const LIMIT: usize = 1_000;

fn read(text: &str) -> Result<Program, String> {
    let source = Source::new("printed.weir", text);
    let message = |error: &Diagnostic| {
        let at = source.line_column(error.primary.span.start);
        format!("{}:{}: {} [{}]", at.line, at.column, error.message, error.code)
    };
    match parse(&source, &Options::default()) {
        Ok(parsed) => Ok(parsed.program),
        Err(errors) => Err(errors.iter().map(message).collect::<Vec<_>>().join("\n")),
    }
}

/// Prints and reads a program; the result is isomorphic to it.
fn check(name: &str, program: &Program) -> Program {
    let text = print(program);
    let again = read(&text).unwrap_or_else(|error| panic!("{name}: does not parse\n{error}\n{text}"));
    if let Err(difference) = isomorphic(program, &again) {
        panic!("{name}: {difference}\n{text}\n{program:#?}");
    }
    again
}

/// Prints and reads a program; the result has as many states and reaches the same goals.
fn check_states(name: &str, program: &Program) {
    let again = check(name, program);
    same_states(name, program, &again);
}

fn same_states(name: &str, program: &Program, again: &Program) {
    for model in Model::ALL {
        let Ok(before) = explore(program, model, LIMIT) else { return };
        if before.complete {
            let after = explore(again, model, LIMIT).unwrap();
            assert!(after.complete, "{name} {model:?}: more states");
            assert_eq!(before.states, after.states, "{name} {model:?}: states\n{}", print(program));
            assert_eq!(before.transitions, after.transitions, "{name} {model:?}: transitions");
            assert_eq!(before.goals, after.goals, "{name} {model:?}: goals\n{}", print(program));
            assert_eq!(before.final_states, after.final_states, "{name} {model:?}: final states");
        }
    }
}

/// Prints and reads a program; the result reaches the same goals.
fn check_verdicts(name: &str, program: &Program) {
    let text = print(program);
    let again = read(&text).unwrap_or_else(|error| panic!("{name}: does not parse\n{error}\n{text}"));
    for model in Model::ALL {
        let Ok(before) = explore(program, model, LIMIT) else { return };
        if !before.complete {
            continue;
        }
        let after = explore(&again, model, 4 * LIMIT).unwrap();
        if after.complete {
            let (before, after): (Vec<_>, Vec<_>) = (before.goals.keys().collect(), after.goals.keys().collect());
            assert_eq!(before, after, "{name} {model:?}: goals\n{text}\n{program:#?}");
        }
    }
}

/// Whether a property looks at the place of failed assertions, which the text spells out.
fn observes_failure(program: &Program) -> bool {
    let mut observes = false;
    let mut look = |atom: &StateAtom| {
        if let StateAtom::At { thread, locations } = atom {
            observes |= program.body(*thread).failed.is_some_and(|failed| locations.contains(&failed));
        }
    };
    for property in &program.properties {
        property.kind.condition().into_iter().for_each(|condition| condition.for_each_leaf(&mut look));
    }
    observes
}

/// Isomorphic programs have the same states, so states are counted for one in eight only, as a check on the check.
fn check_random(name: &str, program: &Program, seed: u64) {
    if observes_failure(program) {
        check_verdicts(name, program);
    } else if seed.is_multiple_of(8) {
        check_states(name, program);
    } else {
        check(name, program);
    }
}

/// Text that is printed is formatted already.
fn is_formatted(name: &str, text: &str) {
    let formatted = format(&Source::new("printed.weir", text)).unwrap();
    assert_eq!(formatted, text, "{name}");
}

fn examples(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            examples(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "weir") {
            found.push(path);
        }
    }
}

#[test]
fn every_example_reads_back_as_it_was() {
    let mut paths = Vec::new();
    examples(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut paths);
    paths.sort();
    assert!(paths.len() >= 50, "the examples are in the repository");
    for path in paths {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let program = read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        check_states(&name, &program);
        let text = print(&program);
        assert_eq!(print(&read(&text).unwrap()), text, "{name}: printing what was printed changes nothing");
        is_formatted(&name, &text);
    }
}

#[test]
fn random_programs_read_back_as_they_were() {
    for (kind, config) in [("acyclic", Config::acyclic()), ("cyclic", Config::cyclic()), ("locking", Config::locking())]
    {
        for seed in 0..400 {
            check_random(&format!("{kind} {seed}"), &random::program(seed, &config), seed);
        }
    }
}

#[test]
fn random_programs_without_labels_read_back_as_they_were() {
    for seed in 0..400 {
        let mut program = random::program(seed, &Config::cyclic());
        let locations = program.threads.iter_mut().flat_map(|thread| &mut thread.body.locations);
        locations.for_each(|location| location.labels.clear());
        check_random(&format!("unlabelled {seed}"), &program, seed);
    }
}

#[test]
fn every_tiny_program_reads_back_as_it_was() {
    // A thread is printed by itself, so each pair with the one beside it in the list shows all that there is to see.
    let all: Vec<(String, Program)> = tiny::programs(tiny::Alphabet::Core).collect();
    let threads = all.len().isqrt();
    assert_eq!(threads * threads, all.len());
    for at in 0..threads {
        let (name, program) = &all[at * threads + (at + 1) % threads];
        let again = check(name, program);
        same_states(name, program, &again);
    }
}

#[test]
fn any_automaton_reads_back_as_it_was() {
    for seed in 0..3_000 {
        let program = automata::random(seed, automata::Ends::One);
        let again = check(&format!("automaton {seed}"), &program);
        is_formatted(&format!("automaton {seed}"), &print(&program));
        if seed % 10 == 0 {
            same_states(&format!("automaton {seed}"), &program, &again);
        }
    }
}

#[test]
fn an_automaton_with_several_ends_reads_back_as_it_was() {
    for seed in 0..2_000 {
        check_random(&format!("automaton {seed}"), &automata::random(seed, automata::Ends::Several), seed);
    }
}

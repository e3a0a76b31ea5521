//! Random programs do what the reference of the language says: each is written as text, read, and run by the reference
//! interpreter of automata; and the tree it was written from is run by a plain machine of its own. Both reach the same
//! properties after the same number of steps, and the same final states.

mod arithmetic;
mod code;
mod coverage;
mod fences;
mod generate;
mod machine;
mod properties;
mod text;
mod tree;

use std::collections::BTreeMap;

use weir_ir::{Program as Read, Source, ThreadId};
use weir_syntax::weir::{Options, parse};
use weir_testkit::{Goal, Model, Outcome, explore};

use coverage::Coverage;
use machine::Found;
use tree::Program;

/// Programs with more states are left out.
const LIMIT: usize = 1_500;

/// Reads a program, if it is one: a random text may jump in a circle, or do nothing at all.
fn read(program: &Program, text: &str) -> Option<Read> {
    let given = program.constants.iter().filter_map(|(name, _, given)| Some((name.clone(), (*given)?)));
    match parse(&Source::new("random.weir", text), &Options { defines: given.collect() }) {
        Ok(parsed) => {
            assert_eq!(weir_ir::validate(&parsed.program), [], "{text}");
            Some(parsed.program)
        }
        Err(errors) => {
            let known = ["jump-cycle", "empty-thread"];
            assert!(errors.iter().all(|error| known.contains(&error.code)), "{errors:#?}\n{text}");
            None
        }
    }
}

/// What the reference interpreter found, in the terms of the plain machine.
fn found(program: &Read, plain: &Found, outcome: &Outcome) -> Found {
    let mut found = Found::default();
    for (goal, &depth) in &outcome.goals {
        match goal {
            Goal::Property(property) => found.properties.insert(property.index(), depth),
            Goal::Assertion(thread) => found.assertions.insert(thread.index(), depth),
        };
    }
    // Registers by name, as far as the plain machine knows the name.
    let names: Vec<Vec<String>> = match plain.final_states.first() {
        Some((_, threads)) => threads.iter().map(|registers| registers.keys().cloned().collect()).collect(),
        None => vec![Vec::new(); program.threads.len()],
    };
    for state in &outcome.final_states {
        let registers = |(at, names): (usize, &Vec<String>)| {
            let (thread, body) = (ThreadId::new(at), &program.threads[at].body);
            let value = |name: &String| body.register(name).map(|register| state.registers[&thread][&register]);
            names.iter().filter_map(|name| Some((name.clone(), value(name)?))).collect::<BTreeMap<_, _>>()
        };
        found.final_states.insert((state.memory.clone(), names.iter().enumerate().map(registers).collect()));
    }
    found
}

/// Whether the program could be compared under both models.
fn compare(seed: u64, program: &Program) -> bool {
    let text = text::of(program);
    let Some(read) = read(program, &text) else { return false };
    declarations_are_kept(program, &read, &text);
    Model::ALL.into_iter().all(|model| {
        let Some(plain) = machine::run(program, model, LIMIT) else { return false };
        // What temporary registers held last tells states apart, so there are more of them.
        let outcome = explore(&read, model, 20 * LIMIT).expect("supported");
        assert!(outcome.complete, "seed {seed} {model:?}: far more states than the plain machine has\n{text}");
        assert_eq!(found(&read, &plain, &outcome), plain, "seed {seed} {model:?}\n{text}");
        true
    })
}

/// What no run shows: weights, families, costs, constants.
fn declarations_are_kept(program: &Program, read: &Read, text: &str) {
    let mut threads = read.threads.iter();
    for declared in &program.threads {
        for number in 0..declared.count() {
            let thread = threads.next().expect("a thread for each copy");
            let is_one_of_several = declared.copies.is_some();
            assert_eq!(thread.weight, declared.weight.unwrap_or(1), "{text}");
            assert_eq!(thread.family, (declared.name.clone(), is_one_of_several.then_some(number as u32)), "{text}");
        }
    }
    assert_eq!(threads.next().map(|thread| &thread.name), None);
    let costs: Vec<String> = read.costs.iter().map(|rule| format!("{:?} {}", rule.subject, rule.cost)).collect();
    let subject = |kind: &str| match kind {
        "load" => "Load",
        "store" => "Store",
        "fence" => "Fence",
        "rmw" => "ReadModifyWrite",
        "lock" => "Lock",
        "local" => "Local",
        _ => "Label(\"l0\")",
    };
    let expected: Vec<String> = program.costs.iter().map(|(kind, cost)| format!("{} {cost}", subject(kind))).collect();
    assert_eq!(costs, expected, "{text}");
    let constants: Vec<(String, i64)> =
        program.constants.iter().map(|(name, ..)| (name.clone(), machine::constant(program, name))).collect();
    assert_eq!(read.constants, constants, "{text}");
}

#[test]
fn random_programs_do_what_the_reference_of_the_language_says() {
    let rounds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1_500);
    let mut coverage = Coverage::default();
    let mut compared = 0;
    for seed in 0..rounds {
        let program = generate::program(seed);
        if compare(seed, &program) {
            coverage.add(&program);
            compared += 1;
        }
    }
    assert!(compared * 2 > rounds, "only {compared} of {rounds} programs were compared");
    assert_eq!(coverage.lacking(10), [] as [String; 0], "of {compared} programs");
}

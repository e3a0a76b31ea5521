//! The BTOR2 export, explored by the evaluator of `testkit`, has the states and goals of the reference interpreter.

use weir_ir::{Program, Uninterrupted};
use weir_syntax::btor2::print;
use weir_testkit::btor2;
use weir_testkit::random::{self, Config};
use weir_testkit::{Goal, Model, explore};

use crate::support::{count, examples, read};

/// Compares one program; says whether it could be compared.
fn agrees(name: &str, program: &Program, limit: usize) -> bool {
    let Ok(outcome) = explore(program, Model::Sc, limit) else { return false };
    if !outcome.complete {
        return false;
    }
    let Ok(export) = print(program, &Uninterrupted) else { return false };
    let found = match btor2::explore(&export.text, 2 * limit) {
        Ok(found) => found,
        Err(error) if error.contains("bits of input") => return false,
        Err(error) => panic!("{name}: {error}\n{}", export.text),
    };
    if found.bad.contains("outside") || !found.complete {
        return false;
    }
    for (at, property) in program.properties.iter().enumerate().filter(|(_, property)| !property.kind.is_liveness()) {
        let seen = outcome.goals.contains_key(&Goal::Property(weir_ir::PropertyId::new(at)));
        let is_bad = found.bad.contains(&format!("property_{}", at + 1));
        assert_eq!(is_bad, seen, "{name}: {}\n{}", program.property_text(property), export.text);
    }
    let failed = outcome.goals.keys().any(|goal| matches!(goal, Goal::Assertion(_)));
    assert_eq!(found.bad.contains("assertions"), failed, "{name}\n{}", export.text);
    assert_eq!(found.states, outcome.states, "{name}\n{}", export.text);
    true
}

#[test]
fn examples_have_the_states_and_goals_of_the_reference() {
    let limit = count("WEIR_BTOR2_STATES", 300) as usize;
    let compared = examples().iter().filter(|(name, program)| agrees(name, program, limit)).count();
    eprintln!("{compared} examples compared");
    assert!(compared > 20, "{compared}");
}

#[test]
fn random_programs_have_the_states_and_goals_of_the_reference() {
    let configs = [
        Config::acyclic(),
        Config::cyclic(),
        Config::locking(),
        Config::synchronizing(),
        Config::wild_data(),
        Config::wrapping(),
    ];
    let wanted = count("WEIR_BTOR2_PROGRAMS", 120);
    let mut compared = 0;
    for seed in 0..wanted {
        let program = random::program(seed, &configs[seed as usize % configs.len()]);
        compared += u64::from(agrees(&format!("seed {seed}"), &program, 400));
    }
    eprintln!("{compared} random programs compared");
    assert!(compared * 3 >= wanted, "{compared}");
}

#[test]
fn arithmetic_at_the_limits_is_exact() {
    let operators = ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"];
    for operator in operators {
        // Each value is chosen by the cell, so that the operands are not constants.
        let text = format!(
            "shared which: 0..4, result;\nthread W {{ let w = any 0..4; which = w; }}\nthread P {{\n    \
             let a = which;\n    let b = which;\n    \
             let l = 0 - 9223372036854775807 * (a == 1) - (a == 2) + 5 * (a == 3) - a;\n    \
             let r = (b == 1) * 64 - (b == 2) - (b == 4) * 3;\n    result = l {operator} r;\n}}\n\
             forbid result == 1;\nforbid result < 0;\nforbid result > 1000;\n"
        );
        assert!(agrees(operator, &read(&text), 20_000), "{text}");
    }
}

//! Random litmus tests have the final states that the processor's manual gives them: each is written as text, read, and
//! run by the reference interpreter of automata; and its instructions are run one by one by a plain machine of 64-bit
//! registers, flags and store buffers. Both show the same values, find the same states and give the same answer.

mod cpu;
mod families;
mod generate;
mod machine;
mod question;
mod questions;
mod text;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{PropertyId, PropertyKind, Source, StateAtom, StateExpr, Value};
use weir_syntax::litmus::{Litmus, parse};
use weir_testkit::{FinalState, Goal, Model, Rng, explore};

use question::{Answer, Seen};
use tree::{Condition, Operand, Quantifier, Test};

/// Tests with more states are left out.
const LIMIT: usize = 3_000;

/// The values of expressions in a final state.
fn values(litmus: &Litmus, state: &FinalState) -> Vec<Value> {
    let value = |expr: &StateExpr| {
        expr.eval(&mut |atom| match atom {
            StateAtom::Cell(address) => {
                state.memory.get(address).copied().unwrap_or_else(|| litmus.program.initial_value(*address))
            }
            StateAtom::Register { thread, register } => state.registers[thread][register],
            StateAtom::At { .. } => panic!("litmus tests do not speak of places"),
        })
    };
    litmus.expressions().iter().map(value).collect()
}

/// What the reader and the reference interpreter make of a test.
fn read_and_run(litmus: &Litmus, model: Model) -> Option<Answer> {
    let outcome = explore(&litmus.program, model, 20 * LIMIT).expect("supported");
    if !outcome.complete {
        return None;
    }
    let results = litmus.results(&outcome.final_states.iter().map(|state| values(litmus, state)).collect());
    let seen = |(values, holds): &(Vec<Value>, bool)| -> Seen {
        let pairs = litmus.observed.iter().zip(values);
        let shown = pairs.map(|(one, &value)| (one.name.clone(), litmus.value_text(one, value)));
        (shown.collect(), *holds)
    };
    let is_met = litmus.is_met_by(&results);
    // The property of the program is met exactly if the test is.
    let is_found = outcome.goals.contains_key(&Goal::Property(PropertyId(0)));
    let is_sought = matches!(litmus.program.properties[0].kind, PropertyKind::Exists(_));
    assert_eq!(is_found == is_sought, is_met, "{:?}", litmus.program.properties[0].kind);
    Some(Answer { states: results.states.iter().map(seen).collect(), is_met })
}

/// The condition that is shown reads as the one that was written.
fn condition_is_shown(test: &Test, litmus: &Litmus, text: &str) {
    let asked = text::question(test, &litmus.condition_text);
    let start = text.rfind("locations").unwrap_or_else(|| panic!("no locations in {text}"));
    let again_text = format!("{}{asked}", &text[..start]);
    let again = parse(&Source::new("again.litmus", again_text.as_str()))
        .unwrap_or_else(|errors| panic!("{errors:#?}\n{again_text}"));
    assert_eq!(again.condition_text, litmus.condition_text);
    for salt in 0..30 {
        let truth = |litmus: &Litmus| litmus.condition.eval(&mut |atom| made_up(atom, salt)) != 0;
        assert_eq!(truth(&again), truth(litmus), "{text}\n{again_text}");
    }
}

/// A value for what a condition looks at: one that conditions ask for.
fn made_up(atom: &StateAtom, salt: u64) -> Value {
    let key = match atom {
        StateAtom::Cell(address) => *address as u64,
        StateAtom::Register { thread, register } => u64::from(thread.0) << 40 | u64::from(register.0) << 20,
        StateAtom::At { .. } => panic!("litmus tests do not speak of places"),
    };
    *Rng::new(key ^ salt.wrapping_mul(0x1_0001)).pick(&generate::EDGES)
}

/// Whether the test could be compared under both models.
fn compare(seed: u64, test: &Test) -> bool {
    let text = text::of(test);
    let litmus = match parse(&Source::new("random.litmus", text.as_str())) {
        Ok(litmus) => litmus,
        Err(errors) => {
            // The overflow of a shift that is looked at, or an address that is no cell's of this size.
            let known = ["undefined-flag", "no-cell", "mixed-size"];
            assert!(errors.iter().all(|error| known.contains(&error.code)), "{errors:#?}\n{text}");
            return false;
        }
    };
    condition_is_shown(test, &litmus, &text);
    Model::ALL.into_iter().all(|model| {
        let Some(expected) = question::answer(test, model, LIMIT) else { return false };
        let Some(found) = read_and_run(&litmus, model) else { return false };
        assert_eq!(found.states, expected.states, "seed {seed} {model:?}\n{text}");
        assert_eq!(found.is_met, expected.is_met, "seed {seed} {model:?}\n{text}");
        true
    })
}

/// Names of what a test has.
fn constructs(test: &Test) -> BTreeSet<String> {
    let mut found = BTreeSet::from([format!("{:?}", test.quantifier)]);
    let mut add = |name: &str| {
        found.insert(name.to_string());
    };
    for instruction in test.threads.iter().flat_map(|thread| &thread.code) {
        let is_memory = |operand: &Operand| matches!(operand, Operand::Cell(_) | Operand::Computed { .. });
        let place = match instruction.operands.first() {
            Some(operand) if is_memory(operand) => "memory",
            _ => "register",
        };
        let lock = if instruction.is_locked { "lock " } else { "" };
        let is_sized = !instruction.operands.is_empty() && instruction.target.is_none();
        let plain = ["set", "cmov", "j"].iter().find(|prefix| instruction.name.starts_with(*prefix));
        match plain {
            Some(prefix) if instruction.name != "jmp" => {
                add(&format!("{prefix} {}", &instruction.name[prefix.len()..]))
            }
            _ if is_sized => add(&format!("{lock}{} {place} {}", instruction.name, instruction.size)),
            _ => add(&instruction.name),
        }
        for operand in &instruction.operands {
            match operand {
                Operand::Computed { index: Some(_), .. } => add("index"),
                Operand::Computed { offset: 1.., .. } => add("offset"),
                Operand::Computed { .. } => add("pointer"),
                Operand::AddressOf(_) => add("address"),
                _ => {}
            }
        }
    }
    if test.filter.is_some() {
        add("filter");
    }
    condition_constructs(&test.condition, &mut add);
    found
}

fn condition_constructs(condition: &Condition, add: &mut impl FnMut(&str)) {
    match condition {
        Condition::Equal(..) => add("="),
        Condition::Differs(..) => add("!="),
        Condition::IsAddress(..) => add("= address"),
        Condition::SamePlace(..) => add("= place"),
        Condition::Elements(..) => add("= elements"),
        Condition::True => add("true"),
        Condition::False => add("false"),
        Condition::Not(inner) => {
            add("~");
            condition_constructs(inner, add);
        }
        Condition::And(parts) | Condition::Or(parts) => {
            add(if matches!(condition, Condition::And(_)) { "/\\" } else { "\\/" });
            parts.iter().for_each(|part| condition_constructs(part, add));
        }
        Condition::Implies(left, right) => {
            add("=>");
            condition_constructs(left, add);
            condition_constructs(right, add);
        }
    }
}

/// What there must be enough of.
fn wanted() -> Vec<String> {
    let mut wanted: Vec<String> = ["filter", "=", "!=", "= address", "= place", "= elements", "true", "false", "~"]
        .into_iter()
        .chain(["/\\", "\\/", "=>", "index", "offset", "pointer", "address", "jmp", "ret", "mfence", "nop", "pause"])
        .chain(["lfence", "sfence", "lea register 8", "read memory 4", "uxch memory 4", "uxch register 4"])
        .map(String::from)
        .collect();
    wanted.extend([Quantifier::Exists, Quantifier::NotExists, Quantifier::Forall].map(|one| format!("{one:?}")));
    let sizes = [1, 2, 4, 8];
    let both =
        ["mov", "add", "sub", "and", "or", "xor", "cmp", "test", "inc", "dec", "neg", "not", "shl", "shr", "sar"];
    for size in sizes {
        wanted.extend(both.iter().map(|name| format!("{name} register {size}")));
        wanted.extend(
            ["mov", "add", "cmp", "inc", "xadd", "cmpxchg", "xchg"].map(|name| format!("{name} memory {size}")),
        );
        let locked = ["add", "sub", "and", "or", "xor", "inc", "dec", "neg", "not", "xadd", "cmpxchg"];
        wanted.extend(locked.map(|name| format!("lock {name} memory {size}")));
    }
    for code in cpu::CODES.iter().flat_map(|(names, _)| *names) {
        wanted.extend(["set", "j", "cmov"].map(|prefix| format!("{prefix} {code}")));
    }
    wanted
}

#[test]
fn random_tests_have_the_final_states_that_the_manual_gives_them() {
    let rounds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(4_000);
    let (mut compared, mut outcomes) = (0, 0);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..rounds {
        let test = generate::test(seed);
        if compare(seed, &test) {
            compared += 1;
            outcomes += constructs(&test).len();
            constructs(&test).into_iter().for_each(|name| *seen.entry(name).or_default() += 1);
        }
    }
    assert!(compared * 3 > 2 * rounds, "only {compared} of {rounds} tests were compared");
    assert!(outcomes > 0);
    let lacking: Vec<String> = wanted().into_iter().filter(|name| seen.get(name).copied().unwrap_or(0) < 3).collect();
    assert_eq!(lacking, [] as [String; 0], "of {compared} tests");
}

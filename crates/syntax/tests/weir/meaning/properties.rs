//! Random properties and costs, of all kinds and forms.

use weir_testkit::Rng;

use super::tree::{Block, Condition, Program, Property, Statement, Value};

pub(super) fn add(program: &mut Program, rng: &mut Rng) {
    for _ in 0..rng.between(2, 5) {
        let property = match rng.below(6) {
            0 => Property::Deadlock,
            1 => Property::Exists(condition(program, rng, 2)),
            2 => Property::Always(condition(program, rng, 2)),
            _ => Property::Forbid(condition(program, rng, 2)),
        };
        program.properties.push(property);
    }
    for _ in 0..rng.below(3) {
        let kind = *rng.pick(&["load", "store", "fence", "rmw", "lock", "local", "l0"]);
        program.costs.push((kind.to_string(), rng.below(50) as Value));
    }
}

fn condition(program: &Program, rng: &mut Rng, depth: usize) -> Condition {
    let both = |rng: &mut Rng, op| {
        let left = condition(program, rng, depth - 1);
        Condition::Binary(op, Box::new(left), Box::new(condition(program, rng, depth - 1)))
    };
    match rng.below(if depth == 0 { 6 } else { 12 }) {
        0..=2 => place(program, rng),
        3..=5 => compared(program, rng),
        6..=8 => both(rng, "&&"),
        9 => both(rng, "||"),
        10 => both(rng, "=="),
        _ => Condition::Unary("!", Box::new(condition(program, rng, depth - 1))),
    }
}

fn compared(program: &Program, rng: &mut Rng) -> Condition {
    let op = *rng.pick(&["==", "!=", "<", ">=", "<=", ">", "&"]);
    let right = match rng.below(8) {
        0 => Condition::Constant("M".into()),
        1 => Condition::Address("a".into()),
        _ => Condition::Number(rng.below(3) as Value),
    };
    Condition::Binary(op, Box::new(value(program, rng)), Box::new(right))
}

fn value(program: &Program, rng: &mut Rng) -> Condition {
    let thread = rng.pick(&program.threads);
    let number = thread.copies.as_ref().map(|(count, _)| rng.below(*count));
    match rng.below(7) {
        0..=2 => Condition::Register(thread.name.clone(), number, rng.pick(&["r", "s"]).to_string()),
        3 => Condition::Cell(rng.pick(&["x", "y"]).to_string(), None),
        4 => Condition::Cell("a".into(), Some(rng.below(2) as Value)),
        5 => Condition::Memory(rng.between(0, 11) as Value),
        _ => {
            let label = label(program, rng, &thread.body);
            Condition::Binary(
                "+",
                Box::new(Condition::Count(thread.name.clone(), label)),
                Box::new(Condition::Number(rng.below(2) as Value)),
            )
        }
    }
}

fn place(program: &Program, rng: &mut Rng) -> Condition {
    let thread = rng.pick(&program.threads);
    let number = thread.copies.as_ref().filter(|_| rng.chance(50)).map(|(count, _)| rng.below(*count));
    let label = label(program, rng, &thread.body);
    Condition::At(thread.name.clone(), number, label)
}

/// The end, a label of the thread, or one of a procedure that the thread calls for sure.
fn label(program: &Program, rng: &mut Rng, body: &Block) -> Option<String> {
    let own = |rng: &mut Rng| format!("l{}", rng.below(2));
    let called = |name: &str| body.iter().any(|statement| calls(statement, name));
    let procedure = program.procedures.iter().find(|procedure| called(&procedure.name));
    match rng.below(5) {
        0 | 1 => None,
        2 if procedure.is_some() => procedure.map(|procedure| format!("{}.{}", procedure.name, own(rng))),
        _ => Some(own(rng)),
    }
}

fn calls(statement: &Statement, name: &str) -> bool {
    matches!(statement, Statement::Evaluate(super::tree::Expr::Call(called, _)) if called == name)
}

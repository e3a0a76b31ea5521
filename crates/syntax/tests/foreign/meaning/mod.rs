//! Programs of Memorax mean what its manual says. Random programs are run by a small interpreter written from the manual,
//! over syntax trees of its own, and by the reference interpreter of Weir after they were read from their text.
//! Both reach the same combinations of labels.

mod generate;
mod interpret;
mod text;

use std::collections::BTreeSet;

use weir_ir::Source;
use weir_testkit::{Goal, Model, Outcome, Rng, explore};

/// A value of a register or memory location.
type Value = i64;

/// A location or register: its first value (any if there is none) and its domain.
type Declared = (Option<Value>, Value, Value);

/// A program of two processes.
struct Program {
    globals: Vec<Declared>,
    processes: [Process; 2],
}

struct Process {
    /// Its one local location.
    local: Declared,
    registers: Vec<Declared>,
    text: Vec<Statement>,
    labels: Vec<String>,
}

#[derive(Clone, Debug)]
enum Expr {
    Register(usize),
    Number(Value),
    Sum(Box<Expr>, Box<Expr>),
    Difference(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
enum Cell {
    Global(usize),
    Own,
    Other,
    Pointer(Expr),
}

/// A comparison: `=`, `!=`, `<`, `>=`.
type Condition = (&'static str, Expr, Expr);

#[derive(Clone, Debug)]
enum Statement {
    Labelled(String, Box<Statement>),
    Nop,
    Fence,
    Assign(usize, Expr),
    Assume(Condition),
    ReadInto(usize, Cell),
    ReadEqual(Cell, Expr),
    Write(Cell, Expr),
    LockedWrite(Cell, Expr),
    CompareAndSwap(Cell, Expr, Expr),
    Locked(Vec<Vec<Statement>>),
    If(Condition, Vec<Statement>, Vec<Statement>),
    Either(Vec<Vec<Statement>>),
}

type Combinations = BTreeSet<(String, String)>;

/// The combinations of labels that Weir's reference interpreter reaches; nothing if the program is refused or too large.
fn read_and_explored(program: &Program, model: Model) -> Option<Combinations> {
    let text = text::of(program);
    let parsed = match weir_syntax::rmm::parse(&Source::new("random.rmm", text.clone())) {
        Ok(parsed) => parsed.program,
        // A pointer that points nowhere, and Weir says so.
        Err(errors) if errors.iter().all(|error| error.code == "bad-pointer") => return None,
        Err(errors) => panic!("{errors:#?}\n{text}"),
    };
    assert_eq!(weir_ir::validate(&parsed), [], "{text}");
    let outcome = explore(&parsed, model, 30_000).expect("supported");
    if outcome.complete {
        reads_back(&parsed, model, &outcome);
    }
    let combinations = text::combinations(program);
    let reached = outcome.goals.keys().map(|goal| match goal {
        Goal::Property(property) => combinations[property.index()].clone(),
        Goal::Assertion(_) => panic!("no assertions in\n{text}"),
    });
    outcome.complete.then(|| reached.collect())
}

/// Printing a program as `.weir` and reading it again changes neither its states nor what it reaches.
fn reads_back(program: &weir_ir::Program, model: Model, outcome: &Outcome) {
    let text = weir_syntax::weir::print::print(program);
    let options = weir_syntax::weir::Options::default();
    let again = weir_syntax::weir::parse(&Source::new("random.weir", text.clone()), &options);
    let again = again.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program;
    let after = explore(&again, model, 30_000).expect("supported");
    assert_eq!((outcome.states, &outcome.goals), (after.states, &after.goals), "{model:?}\n{text}");
}

#[test]
fn random_programs_reach_what_the_manual_says() {
    let (mut compared, mut reached) = (0, 0);
    let rounds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1000);
    for seed in 0..rounds {
        let program = generate::program(&mut Rng::new(seed));
        for model in Model::ALL {
            let Some(found) = read_and_explored(&program, model) else { continue };
            let Some(expected) = interpret::reached(&program, model) else { continue };
            assert_eq!(found, expected, "seed {seed} {model:?}\n{}", text::of(&program));
            compared += 1;
            reached += found.len();
        }
    }
    assert!(compared > rounds, "only {compared} of {rounds} programs were compared");
    assert!(reached > 0);
}

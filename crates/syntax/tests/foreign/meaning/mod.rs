//! Programs of Memorax mean what its manual says. Random programs are run by a small interpreter written from the
//! manual, over syntax trees of its own, and by the reference interpreter of Weir after they were read from their text.
//! Both reach the same combinations of labels.

mod coverage;
mod generate;
mod interpret;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Source, ThreadId};
use weir_testkit::{FinalState, Goal, Model, Outcome, Rng, explore};

/// A value of a register or memory location.
type Value = i64;

/// A location or register: its first value (any if there is none) and its domain; all integers are the domain `Z`.
type Declared = (Option<Value>, Value, Value);

const ALL: (Value, Value) = (Value::MIN, Value::MAX);

/// A program of two processes.
struct Program {
    globals: Vec<Declared>,
    processes: [Process; 2],
    /// Whether the processes are one text, written once.
    is_one_text: bool,
    /// Which of the ways to write a thing is taken.
    style: u64,
}

#[derive(Clone)]
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
    Negated(Box<Expr>),
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

#[derive(Clone, Debug)]
enum Condition {
    Compare(&'static str, Expr, Expr),
    Constant(bool),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

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
    If(Condition, Vec<Statement>, Option<Vec<Statement>>),
    While(Condition, Vec<Statement>),
    Goto(String),
    Either(Vec<Vec<Statement>>),
    Sequence(Vec<Statement>),
}

/// Pairs of labels that are reached at once.
type Combinations = BTreeSet<(String, String)>;

/// What memory and the registers of both processes hold when both are at the end of their texts.
type Finals = BTreeSet<(Vec<Value>, [Vec<Value>; 2])>;

/// Programs with more states are left out.
const LIMIT: usize = 800;

fn read(text: &str) -> Option<weir_ir::Program> {
    match weir_syntax::rmm::parse(&Source::new("random.rmm", text)) {
        Ok(parsed) => {
            assert_eq!(weir_ir::validate(&parsed.program), [], "{text}");
            Some(parsed.program)
        }
        // A pointer that points nowhere, and Weir says so.
        Err(errors) if errors.iter().all(|error| error.code == "bad-pointer") => None,
        Err(errors) => panic!("{errors:#?}\n{text}"),
    }
}

/// What Weir's reference interpreter finds; nothing if the program is too large.
fn explored(program: &Program, read: &weir_ir::Program, model: Model) -> Option<(Combinations, Finals)> {
    let outcome = explore(read, model, 10 * LIMIT).expect("supported");
    let combinations = text::combinations(program);
    let reached = outcome.goals.keys().map(|goal| match goal {
        Goal::Property(property) => combinations[property.index()].clone(),
        Goal::Assertion(_) => panic!("there are no assertions"),
    });
    let reached = reached.collect();
    outcome.complete.then(|| (reached, finals(program, read, &outcome)))
}

fn finals(program: &Program, read: &weir_ir::Program, outcome: &Outcome) -> Finals {
    let globals = (0..program.globals.len()).map(|number| format!("g{number}"));
    let names: Vec<String> = globals.chain([0, 1].map(|process| format!("local_P{process}"))).collect();
    let final_state = |state: &FinalState| {
        let cell = |name: &String| {
            let address = read.shared(name).expect("declared").address;
            state.memory.get(&address).copied().unwrap_or_else(|| read.initial_value(address))
        };
        let registers = [0, 1].map(|process| {
            let (thread, body) = (ThreadId(process), read.body(ThreadId(process)));
            let value = |at: usize| body.register(&format!("$r{at}")).map_or(0, |it| state.registers[&thread][&it]);
            (0..program.processes[process as usize].registers.len()).map(value).collect()
        });
        (names.iter().map(cell).collect(), registers)
    };
    outcome.final_states.iter().map(final_state).collect()
}

/// Whether the program could be compared under both models.
fn compare(name: &str, program: &Program) -> bool {
    let text = text::of(program);
    let Some(read) = read(&text) else { return false };
    Model::ALL.into_iter().all(|model| {
        let Some((reached, finals)) = interpret::reached(program, model, LIMIT) else { return false };
        let Some(found) = explored(program, &read, model) else { return false };
        assert_eq!(found.0, reached, "{name} {model:?}\n{text}");
        assert_eq!(found.1, finals, "{name} {model:?}\n{text}");
        true
    })
}

/// Printing a program as `.weir` and reading it again changes neither its states nor what it reaches.
fn reads_back(program: &weir_ir::Program) {
    let text = weir_syntax::weir::print::print(program);
    let options = weir_syntax::weir::Options::default();
    let again = weir_syntax::weir::parse(&Source::new("random.weir", text.clone()), &options);
    let again = again.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program;
    let [before, after] = [program, &again].map(|program| explore(program, Model::Tso, LIMIT).expect("supported"));
    assert_eq!((before.states, &before.goals), (after.states, &after.goals), "{text}");
}

#[test]
fn random_programs_do_what_the_manual_says() {
    let rounds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1_500);
    let mut compared = 0;
    let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in 0..rounds {
        let program = generate::program(&mut Rng::new(seed));
        if compare(&format!("seed {seed}"), &program) {
            compared += 1;
            coverage::of(&program).into_iter().for_each(|name| *seen.entry(name).or_default() += 1);
        }
        if seed % 8 == 0 {
            read(&text::of(&program)).iter().for_each(reads_back);
        }
    }
    assert!(5 * compared > 3 * rounds, "only {compared} of {rounds} programs were compared");
    let lacking: Vec<_> = coverage::ALL.iter().filter(|name| seen.get(*name).copied().unwrap_or(0) < 10).collect();
    assert!(lacking.is_empty(), "{lacking:?} of {compared} programs");
}

/// Every pair of short alternatives, after a store that is pending or none, between two reads that notice how stores
/// wait.
#[test]
fn locked_blocks_with_any_two_alternatives_do_what_the_manual_says() {
    let (x, y, z) = (|| Cell::Global(0), || Cell::Global(1), || Cell::Global(2));
    let number = Expr::Number;
    let parts = [
        vec![Statement::Nop],
        vec![Statement::ReadEqual(x(), number(0))],
        vec![Statement::ReadEqual(x(), number(1))],
        vec![Statement::Write(x(), number(1))],
        vec![Statement::Write(y(), number(0)), Statement::ReadInto(1, y())],
        vec![Statement::Assign(1, number(1))],
        vec![
            Statement::Assume(Condition::Compare("=", Expr::Register(1), number(0))),
            Statement::Write(x(), number(1)),
        ],
        vec![Statement::ReadInto(1, x())],
        vec![Statement::ReadInto(1, x()), Statement::ReadInto(0, y())],
        vec![Statement::CompareAndSwap(x(), number(0), number(1))],
        vec![Statement::ReadEqual(x(), number(0)), Statement::Write(y(), number(1))],
    ];
    let mut compared = 0;
    for (first, second) in parts.iter().flat_map(|first| parts.iter().map(move |second| (first, second))) {
        for pending in [None, Some(Statement::Write(x(), number(1))), Some(Statement::Write(z(), number(1)))] {
            let mut left: Vec<Statement> = pending.into_iter().collect();
            // Which alternative it was can be told from the register.
            let marked = |block: &[Statement]| [block, &[Statement::Assign(2, number(1))]].concat();
            left.push(Statement::Locked(vec![first.clone(), marked(second)]));
            left.push(Statement::ReadInto(0, y()));
            let reads = [Statement::ReadInto(0, x()), Statement::ReadInto(1, z())];
            let right = [vec![Statement::Write(y(), number(1)), Statement::Fence], reads.to_vec()].concat();
            let process = |text: Vec<Statement>| {
                generate::observed(Process {
                    local: (Some(0), 0, 1),
                    registers: vec![(Some(0), 0, 1); 3],
                    text,
                    labels: Vec::new(),
                })
            };
            let processes = [process(left), process(right)];
            let program = Program { globals: vec![(Some(0), 0, 1); 3], processes, is_one_text: false, style: 0 };
            compared += usize::from(compare(&format!("{first:?} or {second:?}"), &program));
        }
    }
    assert_eq!(compared, parts.len() * parts.len() * 3);
}

/// Every statement that goes by a pointer, with every pointer, over memory that may start with any value or not.
#[test]
fn pointers_go_where_the_manual_says() {
    let (number, register) = (Expr::Number, || Expr::Register(1));
    let pointers = [
        number(0),
        number(1),
        register(),
        Expr::Sum(Box::new(register()), Box::new(number(1))),
        Expr::Difference(Box::new(register()), Box::new(number(1))),
        Expr::Negated(Box::new(register())),
    ];
    let mut compared = 0;
    for pointer in pointers {
        let cell = || Cell::Pointer(pointer.clone());
        let statements = [
            Statement::ReadInto(0, cell()),
            Statement::ReadEqual(cell(), number(1)),
            Statement::Write(cell(), number(1)),
            Statement::LockedWrite(cell(), Expr::Register(0)),
            Statement::CompareAndSwap(cell(), number(0), number(1)),
            Statement::Either(vec![
                vec![Statement::ReadEqual(cell(), number(0))],
                vec![Statement::ReadEqual(cell(), number(1))],
            ]),
        ];
        for statement in statements {
            for first in [Some(0), None] {
                let globals = vec![(first, 0, 1), (Some(1), 0, 2)];
                let process = |text| {
                    let registers = vec![(Some(0), 0, 1), (None, 0, 2)];
                    generate::observed(Process { local: (Some(0), 0, 1), registers, text, labels: Vec::new() })
                };
                let processes =
                    [process(vec![statement.clone()]), process(vec![Statement::Write(Cell::Global(1), number(0))])];
                let program = Program { globals, processes, is_one_text: false, style: 0 };
                compared += usize::from(compare(&format!("{statement:?} from {first:?}"), &program));
            }
        }
    }
    // A negated number from 0 to 2 can only point to the first location, the rest is refused or not: all are compared.
    assert_eq!(compared, 6 * 6 * 2);
}

//! `check` on programs with counters on which nothing depends: it answers as if they did not count.
//!
//! The same program is made twice, step by step alike: once its counters grow without bound, once they are set to a
//! constant. The naive computation is about the latter, which is finite; `check` is asked about the former.

use weir::check::{Judgement, Options, check};
use weir::{Limits, Session};
use weir_ir::{
    Address, BinaryOp, BinaryRmw, Body, Edge, Expr, Instruction, LocId, Location, Program, PropertyId, RegExpr, RegId,
    Register, Rmw, Span,
};
use weir_testkit::random::{self, Config, Statement};
use weir_testkit::reference::{self, Model as ReferenceModel, violated_liveness};
use weir_testkit::sketch::cell;
use weir_testkit::{Rng, dump};
use weir_witness::{Goal, Model};

use crate::{seeds, with_liveness};

/// The cell that counts. No random program has one there.
const COUNTER: Address = 1_000_000;

/// What a step does to its counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counters {
    Grow,
    Stay,
}

/// The next value of what is in the register.
fn next(counters: Counters, register: RegId) -> RegExpr {
    match counters {
        Counters::Grow => Expr::binary(BinaryOp::Add, Expr::Leaf(register), Expr::Const(1)),
        Counters::Stay => Expr::Const(0),
    }
}

/// A step that counts: in the register, or in memory.
fn step(counters: Counters, kind: usize, register: RegId) -> Instruction {
    let address = Expr::Const(COUNTER);
    match kind {
        0 => Instruction::Assign { register, value: next(counters, register) },
        1 => Instruction::Store { address, value: next(counters, register) },
        2 => Instruction::Load { register, address },
        _ => {
            let operation = match counters {
                Counters::Grow => Rmw::Fetch(BinaryRmw::Add, Expr::Const(1)),
                Counters::Stay => Rmw::Exchange(Expr::Const(0)),
            };
            Instruction::ReadModifyWrite { register: Some(register), address, operation }
        }
    }
}

/// The body with steps that count, each after some edge.
fn counting(body: &Body, counters: Counters, rng: &mut Rng) -> Body {
    let register = RegId::new(body.registers.len());
    let mut registers = body.registers.clone();
    registers.push(Register {
        name: "counter".into(),
        is_temporary: false,
        is_thread_local: false,
        span: Span::default(),
    });
    let mut locations = body.locations.clone();
    let mut edges = Vec::new();
    for edge in body.edges() {
        let kind = rng.below(8);
        if kind > 3 || Some(edge.to) == body.failed {
            edges.push(edge.clone());
            continue;
        }
        let between = LocId::new(locations.len());
        locations.push(Location::default());
        edges.push(Edge { to: between, ..edge.clone() });
        let instruction = step(counters, kind, register);
        edges.push(Edge { from: between, to: edge.to, instruction, span: edge.span });
    }
    edges.sort_by_key(|edge| edge.from);
    Body::new(registers, locations, body.entry, body.failed, edges)
}

/// The program with liveness properties, and with steps that count in its threads, which these do not mention.
fn with_counters(program: &Program, counters: Counters, seed: u64) -> Program {
    let mut program = with_liveness(program, &mut Rng::new(seed));
    let mut rng = Rng::new(seed);
    program.shared.push(cell("counter", COUNTER));
    for thread in &mut program.threads {
        thread.body = counting(&thread.body, counters, &mut rng);
    }
    program
}

/// Questions with each answer: it holds, it is violated, unknown.
type Tally = [usize; 3];

fn compare(program: &Program, seed: u64, tally: &mut Tally) {
    let (grows, stays) = (with_counters(program, Counters::Grow, seed), with_counters(program, Counters::Stay, seed));
    for (model, reference_model) in [(Model::Sc, ReferenceModel::Sc), (Model::Tso, ReferenceModel::Tso)] {
        let Some(violated) = violated_liveness(&stays, reference_model, 3_000).expect("it is supported") else {
            continue;
        };
        let options = Options { model, ..Options::default() };
        let session = Session::new(Limits { states: Some(10_000), ..Limits::default() });
        let report = check(&grows, &options, &session).unwrap_or_else(|error| panic!("{error}\n{}", dump(&grows)));
        for one in &report.properties {
            let Goal::Property(id) = one.goal else { continue };
            let context = || format!("seed {seed}, {model:?}, {}\n{}", text(&grows, id), dump(&grows));
            let is_violated = violated.contains(&reference::Goal::Property(id));
            let at = match &one.judgement {
                Judgement::Holds => 0,
                Judgement::Violated(_) => 1,
                _ => 2,
            };
            assert!(at == 2 || (at == 1) == is_violated, "{:?} {}", one.judgement.name(), context());
            tally[at] += 1;
        }
    }
}

fn text(program: &Program, id: PropertyId) -> String {
    program.property_text(&program.properties[id.index()])
}

fn compare_random(config: &Config, count: u64, least: Tally) {
    let mut tally = Tally::default();
    for seed in 0..seeds(count) {
        compare(&random::program(seed, config), seed, &mut tally);
    }
    let [holds, violated, unknown] = tally;
    assert!(holds >= least[0] && violated >= least[1], "{tally:?}");
    assert!(unknown * 100 <= (holds + violated) * least[2], "{tally:?}");
}

/// Many cells and registers, so that some of the program's own values do not matter either.
fn loose(config: Config) -> Config {
    let config = Config { cells: 3, registers: 3, ranges: 30, widths: 20, extremes: 0, ..config };
    config.weighing(Statement::Await, 6).weighing(Statement::Havoc, 4).weighing(Statement::Assert, 4)
}

#[test]
fn counters_in_programs_with_loops() {
    compare_random(&loose(Config::cyclic()), 15, [10, 30, 5]);
}

#[test]
fn counters_in_programs_with_locks() {
    let config = loose(Config::cyclic()).weighing(Statement::Atomic, 15).weighing(Statement::StrayLock, 4);
    // With locks, more programs need more states than they get.
    compare_random(&config, 15, [20, 70, 6]);
}

#[test]
fn counters_in_programs_without_loops() {
    compare_random(&loose(Config::acyclic()), 15, [10, 30, 5]);
}

//! Random programs with arbitrarily many copies of threads, and their instances.

use weir_ir::{BinaryOp, Expr, LocId, Multiplicity, Program, PropertyKind, StateAtom, Thread, ThreadId, Value};
use weir_testkit::Rng;
use weir_testkit::random::{self, Config, Statement};

use super::with_property;

/// The program with this many copies of each thread of which there are arbitrarily many. Numbers of copies at a place
/// become sums.
pub(crate) fn instance(program: &Program, copies: usize) -> Program {
    let mut made = Program { threads: Vec::new(), ..program.clone() };
    let mut images: Vec<Vec<ThreadId>> = Vec::new();
    for thread in &program.threads {
        let number = if thread.multiplicity == Multiplicity::Arbitrary { copies } else { 1 };
        images.push((0..number).map(|at| ThreadId::new(made.threads.len() + at)).collect());
        let copy = |at: usize| Thread {
            name: format!("{}{at}", thread.name),
            multiplicity: match thread.multiplicity {
                Multiplicity::Arbitrary => Multiplicity::One,
                other => other,
            },
            ..thread.clone()
        };
        made.threads.extend((0..number).map(copy));
    }
    for property in &mut made.properties {
        let PropertyKind::Forbid(condition) = &property.kind else { continue };
        let condition = condition.map(&mut |atom| match atom {
            StateAtom::At { thread, locations } => {
                let at = |&thread: &ThreadId| Expr::Leaf(StateAtom::At { thread, locations: locations.clone() });
                let sum = |sum, one| Expr::binary(BinaryOp::Add, sum, one);
                images[thread.index()].iter().map(at).reduce(sum).unwrap_or(Expr::Const(0))
            }
            StateAtom::Register { thread, register } => {
                Expr::Leaf(StateAtom::Register { thread: images[thread.index()][0], register: *register })
            }
            StateAtom::Cell(address) => Expr::Leaf(StateAtom::Cell(*address)),
        });
        property.kind = PropertyKind::Forbid(condition);
    }
    made
}

/// A random program with copies of its first thread, or of all, and a property about their number.
pub(crate) fn template(seed: u64) -> Program {
    template_of(seed, (1, 2))
}

/// The same, with so many statements.
pub(crate) fn template_of(seed: u64, statements: (usize, usize)) -> Program {
    let configs = [
        Config::acyclic().weighing(Statement::ReadModifyWrite, 10),
        Config::cyclic(),
        Config::locking(),
        Config::acyclic().weighing(Statement::Membarrier, 10).weighing(Statement::Fence, 10),
    ];
    let config = configs[seed as usize % 4].clone();
    let config = Config { threads: (1, 2), statements, absent_threads: 0, registers: 1, ..config };
    let mut program = random::program(seed, &config);
    let mut rng = Rng::new(seed);
    let number = if rng.below(3) == 0 { program.threads.len() } else { 1 };
    for thread in program.threads.iter_mut().take(number) {
        thread.multiplicity = Multiplicity::Arbitrary;
    }
    let locations: Vec<LocId> = program.body(ThreadId(0)).location_ids().collect();
    let at = Expr::Leaf(StateAtom::At { thread: ThreadId(0), locations: vec![*rng.pick(&locations)] });
    let least = Expr::Const(rng.below(3) as Value);
    let operator = *rng.pick(&[BinaryOp::GreaterEqual, BinaryOp::Greater]);
    let many = Expr::binary(operator, at, least);
    let cell = Expr::Leaf(StateAtom::Cell(program.shared[0].address));
    let holds = Expr::binary(BinaryOp::Equal, cell, Expr::Const(rng.below(3) as Value));
    let condition = if rng.below(3) == 0 { many } else { Expr::binary(BinaryOp::And, many, holds) };
    with_property(Program { properties: Vec::new(), ..program }, PropertyKind::Forbid(condition)).0
}

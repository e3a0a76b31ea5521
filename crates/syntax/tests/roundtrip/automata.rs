//! Random automata that no source text would make: irreducible, with dead code, odd names, places that
//! properties look at anywhere.

use weir_ir::{
    BinaryOp, BinaryRmw, Body, CostRule, CostSubject, Edge, Expr, Instruction, LocId, Location, Multiplicity, Program,
    Property, PropertyKind, Range, RegExpr, RegId, Register, Rmw, Shared, Source, Span, StateAtom, StateExpr, Thread,
    ThreadId, UnaryOp, Width,
};
use weir_testkit::Rng;

const NAMES: [&str; 12] = ["a", "b", "end", "f.a", "f_a", "Worker[0]", "Worker_0", "7", "", "q'", "load", "_t1"];

/// What kind of automata.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// At most one place to be done; properties do not look at failed assertions.
    One,
    /// Up to three such places; properties look at them and at failed assertions. Bodies are small and
    /// without loops, so that all states can be visited.
    Several,
}

/// The program of a seed.
pub(crate) fn random(seed: u64, ends: Ends) -> Program {
    let mut rng = Rng::new(seed);
    let threads = rng.between(1, 3);
    let shared = shared(&mut rng);
    let mut threads: Vec<Thread> = (0..threads).map(|_| thread(&mut rng, threads, ends)).collect();
    // Some thread has to run from the start.
    threads[0].multiplicity = Multiplicity::One;
    let properties = (0..rng.below(4)).map(|_| property(&mut rng, &threads, ends)).collect();
    let costs = (0..rng.below(3)).map(|_| cost(&mut rng)).collect();
    Program { source: Source::default(), shared, threads, properties, costs, ..Program::default() }
}

fn name(rng: &mut Rng) -> String {
    rng.pick(&NAMES).to_string()
}

fn shared(rng: &mut Rng) -> Vec<Shared> {
    let mut free = 1;
    let mut all = Vec::new();
    for _ in 0..rng.below(4) {
        let is_array = rng.chance(50);
        let size = if is_array { rng.between(1, 3) } else { 1 };
        let address = free + if rng.chance(70) { 0 } else { rng.below(3) as i64 };
        free = address + size as i64;
        let range = rng.chance(30).then_some(Range { low: -1, high: 2 });
        let initial = (0..size).map(|_| rng.below(3) as i64).collect();
        let width = (range.is_none() && rng.chance(30)).then(|| *rng.pick(&Width::ALL));
        all.push(Shared { name: name(rng), address, is_array, initial, range, width, span: Span::default() });
    }
    all
}

fn thread(rng: &mut Rng, threads: usize, ends: Ends) -> Thread {
    let multiplicity = match rng.below(10) {
        _ if ends == Ends::Several => Multiplicity::One,
        0 => Multiplicity::Arbitrary,
        1 => Multiplicity::Spawned,
        _ => Multiplicity::One,
    };
    let name = name(rng);
    let weight = rng.between(1, 2) as u32;
    Thread {
        family: (name.clone(), None),
        name,
        multiplicity,
        weight,
        body: body(rng, threads, ends),
        span: Span::default(),
    }
}

fn body(rng: &mut Rng, threads: usize, ends: Ends) -> Body {
    let registers: Vec<Register> = (0..2)
        .map(|_| Register {
            name: name(rng),
            is_temporary: rng.chance(20),
            is_thread_local: false,
            span: Span::default(),
        })
        .collect();
    let count = if ends == Ends::One { rng.between(2, 9) } else { rng.between(2, 6) };
    let done = if ends == Ends::One { usize::from(rng.chance(80)) } else { rng.between(1, 3).min(count) };
    let mut edges = Vec::new();
    // The body is done at the first locations; the last one is for failed assertions.
    for from in done..count {
        match ends {
            Ends::One => leave(rng, LocId::new(from), count, threads, &mut edges),
            Ends::Several => lead_on(rng, LocId::new(from), done, count, &mut edges),
        }
    }
    let entry = if ends == Ends::One { rng.below(count) } else { done.min(count - 1) };
    let labels = |rng: &mut Rng| match rng.below(6) {
        0 => vec![name(rng)],
        1 => vec![name(rng), name(rng)],
        _ => Vec::new(),
    };
    let locations = (0..=count).map(|_| Location { labels: labels(rng), span: Span::default() }).collect();
    Body::new(registers, locations, LocId::new(entry), Some(LocId::new(count)), edges)
}

fn leave(rng: &mut Rng, from: LocId, count: usize, threads: usize, edges: &mut Vec<Edge>) {
    let mut add =
        |to: usize, instruction| edges.push(Edge { from, to: LocId::new(to), instruction, span: Span::default() });
    if rng.chance(40) {
        let condition = expr(rng, 2);
        let (first, second) = (rng.below(count), rng.below(count));
        add(first, Instruction::Assume(condition.clone()));
        add(second, Instruction::Assume(condition.negated()));
        return;
    }
    for _ in 0..[1, 1, 1, 2, 3][rng.below(5)] {
        let next = (from.index() + 1) % count;
        let to = if rng.chance(40) { next } else { rng.below(count) };
        add(to, instruction(rng, threads));
    }
}

/// Up to two edges, each to a later location or to where the body is done.
fn lead_on(rng: &mut Rng, from: LocId, done: usize, count: usize, edges: &mut Vec<Edge>) {
    for _ in 0..rng.between(1, 2) {
        let later = rng.between(from.index() + 1, count);
        let to = LocId::new(if later == count || rng.chance(30) { rng.below(done) } else { later });
        let register = RegId::new(rng.below(2));
        let instruction = match rng.below(6) {
            0 => Instruction::Skip,
            1 => Instruction::Havoc { register, range: Range { low: 0, high: 1 } },
            2 => Instruction::Load { register, address: Expr::Const(1) },
            3 => Instruction::Store { address: Expr::Const(1), value: Expr::Const(1) },
            4 => Instruction::Assert(Expr::Leaf(register)),
            _ => Instruction::Terminate,
        };
        let to = if instruction == Instruction::Terminate { LocId::new(rng.below(done)) } else { to };
        edges.push(Edge { from, to, instruction, span: Span::default() });
    }
}

fn instruction(rng: &mut Rng, threads: usize) -> Instruction {
    let register = RegId::new(rng.below(2));
    match rng.below(12) {
        1 if rng.chance(30) => {
            let other = RegId(1 - register.0.min(1));
            Instruction::Snapshot(vec![(register, address(rng)), (other, address(rng))])
        }
        0 | 1 => Instruction::Load { register, address: address(rng) },
        2 | 3 => Instruction::Store { address: address(rng), value: expr(rng, 2) },
        4 => Instruction::Assign { register, value: expr(rng, 3) },
        5 => Instruction::Assume(expr(rng, 2)),
        6 => Instruction::Assert(expr(rng, 2)),
        7 => {
            let operation = rmw(rng);
            Instruction::ReadModifyWrite {
                register: rng.chance(50).then_some(register),
                address: address(rng),
                operation,
            }
        }
        8 => Instruction::Havoc { register, range: Range { low: -1, high: rng.below(2) as i64 } },
        9 => rng.pick(&[Instruction::Lock, Instruction::Unlock, Instruction::Fence, Instruction::Membarrier]).clone(),
        10 if rng.chance(40) => Instruction::Await { loads: vec![(register, address(rng))], condition: expr(rng, 2) },
        10 if rng.chance(20) => Instruction::Spawn(ThreadId::new(rng.below(threads))),
        _ => Instruction::Skip,
    }
}

fn rmw(rng: &mut Rng) -> Rmw {
    let (expected, new) = (expr(rng, 1), expr(rng, 1));
    let fetch = [BinaryRmw::Add, BinaryRmw::Subtract, BinaryRmw::And, BinaryRmw::Or, BinaryRmw::Xor];
    match rng.below(4) {
        0 => Rmw::CompareAndSwap { expected, new },
        1 => Rmw::CompareExchange { expected, new },
        2 => Rmw::Exchange(new),
        _ => Rmw::Fetch(*rng.pick(&fetch), new),
    }
}

fn address(rng: &mut Rng) -> RegExpr {
    let constant = Expr::Const(rng.below(8) as i64 - 1);
    match rng.below(4) {
        0 => Expr::binary(BinaryOp::Add, constant, expr(rng, 1)),
        1 => Expr::binary(BinaryOp::Add, expr(rng, 1), constant),
        _ => constant,
    }
}

fn expr(rng: &mut Rng, depth: usize) -> RegExpr {
    let values = [0, 1, 2, -1, i64::MIN, i64::MAX];
    match rng.below(if depth == 0 { 2 } else { 5 }) {
        0 => Expr::Const(*rng.pick(&values)),
        1 => Expr::Leaf(RegId::new(rng.below(2))),
        2 => Expr::unary(*rng.pick(&[UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement]), expr(rng, depth - 1)),
        _ => Expr::binary(*rng.pick(&BinaryOp::ALL), expr(rng, depth - 1), expr(rng, depth - 1)),
    }
}

fn property(rng: &mut Rng, threads: &[Thread], ends: Ends) -> Property {
    let mut atom = || atom(rng, threads, ends);
    let condition = Expr::binary(BinaryOp::And, atom(), Expr::unary(UnaryOp::Not, atom()));
    let condition = Expr::binary(BinaryOp::Or, condition, atom());
    let kind = match rng.below(6) {
        0 => PropertyKind::ForbidDeadlock,
        1 => PropertyKind::Exists(condition),
        2 => PropertyKind::Always(condition),
        3 => PropertyKind::ForbidStuck,
        4 => PropertyKind::Live(condition),
        _ => PropertyKind::Forbid(condition),
    };
    Property { kind, span: Span::default() }
}

fn atom(rng: &mut Rng, threads: &[Thread], ends: Ends) -> StateExpr {
    let thread = ThreadId::new(rng.below(threads.len()));
    let Thread { multiplicity, body, .. } = &threads[thread.index()];
    match rng.below(3) {
        0 => Expr::Leaf(StateAtom::Cell(rng.below(6) as i64)),
        1 if *multiplicity == Multiplicity::One => {
            Expr::Leaf(StateAtom::Register { thread, register: RegId::new(rng.below(2)) })
        }
        _ => {
            let is_seen = |loc: LocId| ends == Ends::Several || Some(loc) != body.failed;
            let places = body.location_ids().filter(|&loc| is_seen(loc) && rng.chance(30));
            Expr::Leaf(StateAtom::At { thread, locations: places.collect() })
        }
    }
}

fn cost(rng: &mut Rng) -> CostRule {
    let subject = match rng.below(4) {
        0 => CostSubject::Fence,
        1 => CostSubject::Load,
        _ => CostSubject::Label(name(rng)),
    };
    CostRule { subject, cost: rng.below(5) as i64, span: Span::default() }
}

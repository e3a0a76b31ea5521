//! Exactly the final states that the reference finds can be reached: each possible one is asked for by itself.

use weir::reach::Engine;
use weir_ir::{Address, Instruction, Program, PropertyId, PropertyKind, Rmw, StateExpr, Value};
use weir_ir::{Expr, RegId, ThreadId};
use weir_testkit::Rng;
use weir_testkit::reference::{self, FinalState, explore};
use weir_testkit::sketch::{self, all_of, cell, cell_value, equal, exchange, load, register_of, rmw, store, straight};
use weir_witness::Goal;

use crate::answer;

const X: Address = 1;
const Y: Address = 2;

fn instruction(rng: &mut Rng, thread: usize, loads: &mut u32) -> Instruction {
    let address = *rng.pick(&[X, Y]);
    match rng.below(12) {
        0..=4 => store(address, 1 + thread as Value),
        5..=8 => {
            *loads += 1;
            load((*loads - 1) % 2, address)
        }
        9 => Instruction::Fence,
        10 => exchange(0, address, 3),
        _ => rmw(1, address, Rmw::CompareAndSwap { expected: Expr::Const(1), new: Expr::Const(2) }),
    }
}

/// Two or three straight threads over two cells; sometimes two are the same.
pub(crate) fn program(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let count = 2 + rng.below(2);
    let mut bodies: Vec<Vec<Instruction>> = Vec::new();
    for thread in 0..count {
        if thread > 0 && rng.chance(25) {
            bodies.push(bodies[0].clone());
            continue;
        }
        let mut loads = 0;
        let length = rng.between(2, if count == 2 { 5 } else { 3 });
        let mut body: Vec<Instruction> = (0..length).map(|_| instruction(&mut rng, thread, &mut loads)).collect();
        if rng.chance(20) {
            body.insert(0, Instruction::Lock);
            body.push(Instruction::Unlock);
        }
        bodies.push(body);
    }
    let threads = (0..).zip(bodies).map(|(thread, body)| straight(&format!("P{thread}"), body)).collect();
    sketch::program(vec![cell("x", X), cell("y", Y)], threads, Vec::new())
}

/// The condition that the program ends with these values of its registers and cells.
pub(crate) fn ends_with(program: &Program, values: &[Value]) -> StateExpr {
    let mut values = values.iter().copied();
    let mut parts = Vec::new();
    for (thread, body) in (0..).zip(program.threads.iter().map(|thread| &thread.body)) {
        for register in 0..body.registers.len() as u32 {
            parts.push(equal(register_of(thread, register), values.next().unwrap_or(0)));
        }
    }
    parts.extend([X, Y].map(|address| equal(cell_value(address), values.next().unwrap_or(0))));
    all_of(parts)
}

pub(crate) fn values_of(program: &Program, end: &FinalState) -> Vec<Value> {
    let mut values = Vec::new();
    for (thread, body) in (0..).zip(program.threads.iter().map(|thread| &thread.body)) {
        for register in 0..body.registers.len() {
            values.push(end.registers[&ThreadId(thread)][&RegId::new(register)]);
        }
    }
    values.extend([X, Y].map(|address| end.memory.get(&address).copied().unwrap_or(0)));
    values
}

#[test]
fn dual_reaches_exactly_the_final_states() {
    let count = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let (mut possible, mut impossible) = (0, 0);
    for seed in 0..count {
        let mut program = program(seed);
        let outcome = explore(&program, reference::Model::Tso, 200_000).expect("the reference can");
        assert!(outcome.complete, "seed {seed}");
        let ends: Vec<Vec<Value>> = outcome.final_states.iter().map(|end| values_of(&program, end)).collect();
        // What is possible, and its neighbours, some of which are not.
        let mut asked = ends.clone();
        let mut rng = Rng::new(seed);
        for end in &ends {
            let mut other = end.clone();
            let at = rng.below(other.len());
            other[at] = rng.below(4) as Value;
            asked.push(other);
        }
        asked.sort_unstable();
        asked.dedup();
        asked.truncate(40);
        for values in asked {
            program.properties.clear();
            let kind = PropertyKind::Exists(ends_with(&program, &values));
            program.properties.push(weir_ir::Property { kind, span: weir_ir::Span::default() });
            let says = answer(&program, Engine::Dual, Goal::Property(PropertyId(0)));
            let truth = ends.contains(&values);
            assert_eq!(says, Some(truth), "seed {seed}: {values:?}\n{}", weir_testkit::dump(&program));
            *if truth { &mut possible } else { &mut impossible } += 1;
        }
    }
    assert!(possible > 5 * count && impossible > count, "{possible} possible, {impossible} impossible");
}

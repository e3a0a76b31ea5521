//! What fences cost, by what the costs are said to mean.

use std::collections::BTreeMap;

use weir::fences::{FrequencyCosts, LoopCosts, unit_cost};
use weir_ir::{EdgeId, Expr, Instruction, LocId, Program, RegId, ThreadId};
use weir_testkit::Rng;
use weir_testkit::sketch::{ThreadSketch, cell, program};

use crate::reference::session;
use crate::shapes::parse;

/// A thread of nested loops in which each step sets a register to a number of its own.
struct Nest<'a> {
    rng: &'a mut Rng,
    sketch: ThreadSketch,
    /// For each number, how many loops are around the step.
    depths: Vec<u32>,
}

impl Nest<'_> {
    fn step(&mut self, from: LocId, to: LocId, depth: u32) {
        let value = Expr::Const(self.depths.len() as i64);
        self.sketch.edge(from, to, Instruction::Assign { register: RegId(0), value });
        self.depths.push(depth);
    }

    fn block(&mut self, from: LocId, to: LocId, depth: u32, limits: u32) {
        let mut at = from;
        for remaining in (0..self.rng.between(1, 3)).rev() {
            let next = if remaining == 0 { to } else { self.sketch.location() };
            match self.rng.below(4) {
                0 | 1 if limits > 0 => self.while_loop(at, next, depth, limits - 1),
                2 if limits > 0 => {
                    self.block(at, next, depth, limits - 1);
                    self.step(at, next, depth);
                }
                _ => self.step(at, next, depth),
            }
            at = next;
        }
    }

    /// Into the loop, round it, and out of it, from its head or from its middle.
    fn while_loop(&mut self, from: LocId, to: LocId, depth: u32, limits: u32) {
        let (head, middle) = (self.sketch.location(), self.sketch.location());
        self.step(from, head, depth);
        self.block(head, middle, depth + 1, limits);
        self.step(middle, head, depth + 1);
        let exit = if self.rng.chance(50) { head } else { middle };
        self.step(exit, to, depth);
    }
}

/// The thread, and for each edge how many loops are around it.
fn nested(seed: u64) -> (weir_ir::Thread, Vec<u32>) {
    let mut rng = Rng::new(seed);
    let mut nest = Nest { rng: &mut rng, sketch: ThreadSketch::new("P"), depths: Vec::new() };
    let (entry, end) = (nest.sketch.entry(), nest.sketch.location());
    nest.block(entry, end, 0, 3);
    let (thread, depths) = (nest.sketch.finish(), nest.depths);
    let depth = |edge: &weir_ir::Edge| match &edge.instruction {
        Instruction::Assign { value: Expr::Const(number), .. } => depths[*number as usize],
        other => panic!("{other:?}"),
    };
    let by_edge = thread.body.edges().iter().map(depth).collect();
    (thread, by_edge)
}

fn edge(thread: u32, index: usize) -> (ThreadId, EdgeId) {
    (ThreadId(thread), EdgeId::new(index))
}

#[test]
fn a_step_costs_ten_for_each_loop_around_it() {
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for seed in 0..60 {
        let (thread, depths) = nested(seed);
        let program = program(vec![cell("x", 1)], vec![thread], Vec::new());
        let costs = LoopCosts::new(&program);
        for (index, &depth) in depths.iter().enumerate() {
            assert_eq!(costs.cost(&[edge(0, index)]), 10u64.pow(depth), "seed {seed}, edge {index}\n{program:?}");
            *seen.entry(depth).or_default() += 1;
        }
    }
    assert!((0..=3).all(|depth| seen[&depth] > 20), "{seen:?}");
}

/// Of the steps of one thread the dearest counts; threads add up.
#[test]
fn a_place_costs_what_it_costs_each_thread() {
    for seed in 0..20 {
        let ((first, depths), (second, others)) = (nested(seed), nested(seed + 100));
        let program = program(vec![cell("x", 1)], vec![first, second], Vec::new());
        let costs = LoopCosts::new(&program);
        let mut rng = Rng::new(seed);
        let mine: Vec<usize> = (0..3).map(|_| rng.below(depths.len())).collect();
        let theirs = rng.below(others.len());
        let dearest = mine.iter().map(|&index| 10u64.pow(depths[index])).max().expect("three");
        let mut place: Vec<_> = mine.iter().map(|&index| edge(0, index)).collect();
        assert_eq!((costs.cost(&place), unit_cost(&place)), (dearest, 1), "seed {seed}");
        place.insert(rng.below(3), edge(1, theirs));
        assert_eq!((costs.cost(&place), unit_cost(&place)), (dearest + 10u64.pow(others[theirs]), 2), "seed {seed}");
    }
    assert_eq!(unit_cost(&[]), 0);
}

#[test]
fn deep_loops_cost_no_more_than_six() {
    let nested =
        (0..8).fold("x = 1;".to_owned(), |inner, _| format!("loop {{ y = 1; {inner} if x == 1 {{ break; }} }}"));
    let program = parse(&format!("shared x, y;\nthread P {{ {nested} x = 2; }}"));
    let body = &program.threads[0].body;
    let is_store = |index: &usize| matches!(body.edges()[*index].instruction, Instruction::Store { .. });
    let costs = LoopCosts::new(&program);
    let stores = (0..body.edges().len()).filter(is_store);
    let mut found: Vec<u64> = stores.map(|index| costs.cost(&[edge(0, index)])).collect();
    found.sort_unstable();
    // One after all loops, one for each loop around, and the innermost.
    assert_eq!(found, [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000]);
}

/// The edges with this line of text, and what a fence after each costs.
fn frequencies(text: &str, costs: impl Fn(&Program) -> FrequencyCosts) -> Vec<(String, u64)> {
    let program = parse(text);
    let costs = costs(&program);
    let threads = program.thread_ids().flat_map(|thread| {
        let edges = program.body(thread).edges().iter().enumerate();
        edges.map(move |(index, edge)| ((thread, EdgeId::new(index)), edge.span))
    });
    threads.map(|(edge, span)| (program.source.slice(span).to_owned(), costs.cost(&[edge]))).collect()
}

#[test]
fn a_step_costs_as_often_as_it_is_taken() {
    let text = "shared x, y;\nthread P { x = 1; let i = 0; while i < 3 { i = i + 1; } choose { x = 2; } or { x = 3; } }\n\
                thread Q { y = 1; assume 0; y = 2; }";
    let exact = |program: &Program| FrequencyCosts::new(program, &session()).expect("small");
    let costs = frequencies(text, exact);
    let of = |wanted: &str| -> Vec<u64> {
        costs.iter().filter(|(text, _)| text.trim_end_matches(';') == wanted).map(|(_, cost)| *cost).collect()
    };
    assert_eq!((of("x = 1"), of("y = 1"), of("y = 2")), (vec![101], vec![101], vec![1]), "{costs:?}");
    assert_eq!((of("i = i + 1"), of("x = 2"), of("x = 3")), (vec![301], vec![51], vec![51]), "{costs:?}");
    // A thousand steps count.
    assert_eq!(frequencies("shared x;\nthread P { loop { x = 1; } }", exact), [("x = 1".to_owned(), 100_001)]);
    // A place after several steps is come by as often as all of them together.
    let program = parse(text);
    let together: Vec<_> = (0..2).map(|thread| edge(thread, 0)).collect();
    assert_eq!(exact(&program).cost(&together), 201);
}

/// Too many states for an exact answer: then always the same random runs are counted, in all of which what comes first
/// is taken once.
#[test]
fn a_large_program_is_sampled() {
    let counters: String = (0..3)
        .map(|number| format!("thread L{number} {{ a{number} = 1; loop {{ c{number} = (c{number} + 1) % 30; }} }}\n"))
        .collect();
    let text = format!("shared a0, a1, a2, c0, c1, c2;\n{counters}");
    let sampled = |program: &Program| FrequencyCosts::new(program, &session()).expect("it can be sampled");
    let costs = frequencies(&text, sampled);
    for number in 0..3 {
        let of =
            |wanted: String| costs.iter().find(|(text, _)| text.trim_end_matches(';') == wanted).expect("a step").1;
        assert_eq!(of(format!("a{number} = 1")), 101, "{costs:?}");
        // A third of the steps, of which a round of the loop takes a few.
        let round = of(format!("c{number} = (c{number} + 1) % 30"));
        assert!((5_000..20_000).contains(&round), "{costs:?}");
    }
}

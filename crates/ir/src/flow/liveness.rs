//! Which registers still matter: a register is live at a location if its value there may still be read,
//! on some path of the control-flow graph, before it is set again.
//!
//! Errs towards live: a register that is not live may be cleared without changing what any run does
//! from there on. The classic backward analysis, with bit sets and a work list. A body of too many
//! locations times registers is not analysed: everything is live in it.

use super::limits::MOST_LIVENESS_WORDS;
use super::{Cfg, RegisterSet, Worklist, targets};
use crate::ids::{LocId, ThreadId};
use crate::program::{Body, Edge, Program, StateAtom};

/// The live registers of each location of a body.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// One set for each location, or just one for a body that is too large.
    live: Vec<RegisterSet>,
    is_precise: bool,
}

impl Liveness {
    /// The registers whose value at `loc` may still be read.
    pub fn at(&self, loc: LocId) -> &RegisterSet {
        &self.live[if self.is_precise { loc.index() } else { 0 }]
    }

    /// Whether the body was small enough to be analysed; else every register counts as live.
    pub fn is_precise(&self) -> bool {
        self.is_precise
    }
}

/// Which registers are live where. Those of `always_live` (what properties observe) are live everywhere.
pub fn live_registers(body: &Body, always_live: &RegisterSet) -> Liveness {
    let count = body.locations.len();
    if count.saturating_mul(body.registers.len().div_ceil(64)) > MOST_LIVENESS_WORDS {
        return Liveness { live: vec![RegisterSet::first(body.registers.len())], is_precise: false };
    }
    let cfg = Cfg::of(body);
    let mut live = vec![always_live.clone(); count];
    let mut worklist = Worklist::new(count, cfg.reverse_postorder().iter().rev().copied());
    body.location_ids().for_each(|loc| worklist.push(loc));
    while let Some(loc) = worklist.pop() {
        let mut here = always_live.clone();
        for (_, edge) in body.edges_from(loc) {
            here.union_with(&live_before(body, edge, &live));
        }
        if here != live[loc.index()] {
            live[loc.index()] = here;
            cfg.predecessors(loc).iter().for_each(|&before| worklist.push(before));
        }
    }
    Liveness { live, is_precise: true }
}

/// What is live before an edge, given what is live at each location.
fn live_before(body: &Body, edge: &Edge, live: &[RegisterSet]) -> RegisterSet {
    let mut before = RegisterSet::new();
    for target in targets(body, edge) {
        before.union_with(&live[target.index()]);
    }
    for register in edge.instruction.defines() {
        before.remove(register);
    }
    edge.instruction.uses(&mut |register| {
        before.insert(register);
    });
    before
}

/// The registers of a thread that properties refer to.
pub fn observed_registers(program: &Program, thread: ThreadId) -> RegisterSet {
    let mut observed = RegisterSet::new();
    for property in &program.properties {
        let Some(condition) = property.kind.condition() else { continue };
        condition.for_each_leaf(&mut |atom| {
            if let StateAtom::Register { thread: whose, register } = atom
                && *whose == thread
            {
                observed.insert(*register);
            }
        });
    }
    observed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;
    use crate::flow::testing::{Automaton, Random, assign, constant, havoc, load, program, reg, rmw, store, straight};
    use crate::ids::RegId;
    use crate::program::{Instruction, Property, PropertyKind, Rmw};
    use crate::span::Span;

    fn live_at(liveness: &Liveness, loc: u32) -> Vec<u32> {
        liveness.at(LocId(loc)).iter().map(|register| register.0).collect()
    }

    #[test]
    fn a_register_lives_from_where_it_is_set_to_its_last_read() {
        let body = straight(&["a", "b"], vec![load(0, constant(1)), assign(1, reg(0)), store(constant(1), reg(1))]);
        let liveness = live_registers(&body, &RegisterSet::new());
        let lives: Vec<Vec<u32>> = (0..4).map(|loc| live_at(&liveness, loc)).collect();
        assert_eq!(lives, [vec![], vec![0], vec![1], vec![]]);
    }

    #[test]
    fn what_a_loop_reads_stays_alive_around_it() {
        let mut automaton = Automaton::new(3);
        automaton.register("i");
        automaton.edge(0, 1, assign(0, constant(0)));
        automaton.edge(1, 1, store(constant(1), reg(0)));
        automaton.edge(1, 2, Instruction::Skip);
        let liveness = live_registers(&automaton.body(), &RegisterSet::new());
        assert_eq!((live_at(&liveness, 0), live_at(&liveness, 1), live_at(&liveness, 2)), (vec![], vec![0], vec![]));
    }

    #[test]
    fn observed_registers_are_never_dead_even_where_they_are_set() {
        let body = straight(&["a"], vec![assign(0, constant(1)), Instruction::Skip]);
        let liveness = live_registers(&body, &[RegId(0)].into_iter().collect());
        assert!((0..3).all(|loc| live_at(&liveness, loc) == [0]));
    }

    #[test]
    fn in_a_body_too_large_to_analyse_everything_is_live() {
        let mut automaton = Automaton::new(1 << 15);
        for at in 0..20_000 {
            automaton.register(&format!("r{at}"));
        }
        let liveness = live_registers(&automaton.body(), &RegisterSet::new());
        assert!(!liveness.is_precise());
        assert_eq!(liveness.at(LocId(9)).len(), 20_000);
    }

    #[test]
    fn observed_registers_are_those_of_the_thread_in_any_property() {
        let body = || straight(&["a", "b"], vec![Instruction::Skip]);
        let mut program = program(vec![], vec![body(), body()]);
        let atom =
            |thread, register| Expr::Leaf(StateAtom::Register { thread: ThreadId(thread), register: RegId(register) });
        let kinds = [PropertyKind::Exists(atom(0, 1)), PropertyKind::ForbidDeadlock, PropertyKind::Always(atom(1, 0))];
        program.properties = kinds.into_iter().map(|kind| Property { kind, span: Span::default() }).collect();
        assert_eq!(observed_registers(&program, ThreadId(0)), [RegId(1)].into_iter().collect());
        assert_eq!(observed_registers(&program, ThreadId(1)), [RegId(0)].into_iter().collect());
    }

    /// Whether some path from `loc` reads the register before it sets it, by searching for one.
    fn is_read_from(body: &Body, loc: LocId, register: RegId) -> bool {
        let mut seen = vec![false; body.locations.len()];
        let mut stack = vec![loc];
        while let Some(loc) = stack.pop() {
            if std::mem::replace(&mut seen[loc.index()], true) {
                continue;
            }
            for (_, edge) in body.edges_from(loc) {
                let mut reads = false;
                edge.instruction.uses(&mut |used| reads |= used == register);
                if reads {
                    return true;
                }
                if edge.instruction.defines().all(|set| set != register) {
                    stack.extend(targets(body, edge));
                }
            }
        }
        false
    }

    #[test]
    fn it_agrees_with_a_search_for_each_register_on_random_bodies() {
        for seed in 0..300 {
            let mut random = Random(seed);
            let mut automaton = Automaton::new(8);
            (0..3).for_each(|at| {
                automaton.register(&format!("r{at}"));
            });
            automaton.failed();
            for _ in 0..14 {
                let (from, to) = (random.below(8), random.below(8));
                let (a, b) = (random.below(3) as u32, random.below(3) as u32);
                let swap = Rmw::CompareAndSwap { expected: reg(b), new: constant(1) };
                let choices = [
                    assign(a, reg(b)),
                    assign(a, constant(1)),
                    Instruction::Assert(reg(a)),
                    load(a, reg(b)),
                    havoc(a, 0, 1),
                    rmw(Some(a), constant(1), swap),
                    Instruction::Snapshot(vec![(RegId(a), reg(b)), (RegId((a + 1) % 3), constant(1))]),
                    store(reg(a), reg(b)),
                ];
                automaton.edge(from, to, choices[random.below(choices.len())].clone());
            }
            let body = automaton.body();
            let liveness = live_registers(&body, &RegisterSet::new());
            for (loc, at) in body.location_ids().flat_map(|loc| (0..3).map(move |at| (loc, at))) {
                let expected = is_read_from(&body, loc, RegId(at));
                assert_eq!(liveness.at(loc).contains(RegId(at)), expected, "seed {seed}, {loc:?}, r{at}");
            }
        }
    }
}

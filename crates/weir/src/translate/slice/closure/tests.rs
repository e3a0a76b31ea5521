use std::time::{Duration, Instant};

use weir_ir::{BinaryOp, Expr, PropertyKind, RegId};
use weir_testkit::random::{self, Config};
use weir_testkit::sketch::{cell, cell_value, equal, program, straight};

use super::super::lives;
use super::*;
use crate::reach::all_goals;

/// What is known of a program, together.
struct Known {
    program: Program,
    ranges: Ranges,
    lives: Arc<Vec<Webs>>,
    sources: Sources,
}

impl Known {
    fn new(program: Program) -> Self {
        let (ranges, lives) = (Ranges::of(&program), lives(&program));
        let sources = Sources::new(&program, &ranges, &lives);
        Self { program, ranges, lives, sources }
    }

    fn facts(&self) -> Facts<'_> {
        Facts { program: &self.program, ranges: &self.ranges, lives: &self.lives, sources: &self.sources }
    }
}

/// Beginning with what was found, each edge is looked at again: none has anything to add.
#[test]
fn nothing_is_missing() {
    let mut grown = 0;
    let configs = [Config::acyclic(), Config::cyclic(), Config::locking(), Config::wild_data(), Config::everything()];
    for (config, seed) in configs.iter().flat_map(|config| (0..300).map(move |seed| (config, seed))) {
        let known = Known::new(random::program(seed, config));
        let (facts, goals) = (known.facts(), all_goals(&known.program));
        for goal in &goals {
            let found = of_goals(facts, &[*goal]);
            let mut named = Relevance::nothing(facts.program, facts.lives);
            named.add_goal(facts.program, facts.ranges, *goal);
            grown += usize::from(found != named);
            assert_eq!(Closure::of(facts, found.clone(), Demand::Values), found, "seed {seed}");
        }
        let found = of_steps(facts, &goals);
        assert_eq!(Closure::of(facts, found.clone(), Demand::Values), found, "seed {seed}");
        let found = of_accesses(facts);
        assert_eq!(Closure::of(facts, found.clone(), Demand::Accesses), found, "seed {seed}");
    }
    assert!(grown > 500, "{grown} goals depend on more than they name");
}

/// Each value depends on the one before it, and the last one counts.
#[test]
fn a_long_chain_of_values_takes_no_longer_than_it_is() {
    let register = RegId(0);
    let increase =
        Instruction::Assign { register, value: Expr::binary(BinaryOp::Add, Expr::Leaf(register), Expr::Const(1)) };
    let mut chain = vec![increase; 30_000];
    chain.push(Instruction::Store { address: Expr::Const(1), value: Expr::Leaf(register) });
    let forbidden = PropertyKind::Forbid(equal(cell_value(1), 7));
    let known = Known::new(program(vec![cell("x", 1)], vec![straight("P", chain)], vec![forbidden]));
    let started = Instant::now();
    let found = of_goals(known.facts(), &all_goals(&known.program));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(found.has_register(ThreadId(0), register));
    let edges = known.program.body(ThreadId(0)).edges();
    assert!(found.has_definition(ThreadId(0), &edges[0], register), "the chain was followed to its beginning");
}

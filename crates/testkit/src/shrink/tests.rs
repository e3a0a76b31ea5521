use weir_ir::{Expr, PropertyId, PropertyKind, RegId};

use super::*;
use crate::dump;
use crate::random::{Config, program};
use crate::reference::{Goal, Model, explore};
use crate::sketch::{all_of, cell, equal, load, register_of, store, straight};

/// Whether TSO shows the first property and SC does not.
fn is_relaxed(program: &Program) -> bool {
    let goal = Goal::Property(PropertyId(0));
    let shows = |model| explore(program, model, 20_000).is_ok_and(|outcome| outcome.goals.contains_key(&goal));
    shows(Model::Tso) && !shows(Model::Sc)
}

#[test]
fn store_buffering_is_what_remains_of_a_program_around_it() {
    let skip = || Instruction::Skip;
    let first = straight("P0", [skip(), store(3, 7), store(1, 5), skip(), load(1, 2), load(0, 3)]);
    let second = straight("P1", [load(2, 3), store(2, 9), Instruction::Assume(Expr::Const(4)), load(0, 1), skip()]);
    let condition = all_of([equal(register_of(0, 1), 0), equal(register_of(2, 0), 0)]);
    let bystander = straight("Bystander", [store(3, 2)]);
    let cells = vec![cell("x", 1), cell("y", 2), cell("z", 3)];
    let properties = vec![PropertyKind::Exists(condition), PropertyKind::ForbidDeadlock];
    let large = crate::sketch::program(cells, vec![first, bystander, second], properties);
    assert!(is_relaxed(&large));
    // A value shrinks on its own; an address would have to shrink in both threads at once.
    let expected = "\
thread P0 (r1) enters at l0
    l0 -> l3: mem[1] = 1
    l3 -> l5: r1 = mem[2]
thread P1 (r0) enters at l0
    l0 -> l2: mem[2] = 1
    l2 -> l4: r0 = mem[1]
exists P0.r1 == 0 && P1.r0 == 0
";
    assert_eq!(dump(&shrink(&large, is_relaxed)), expected);
}

#[test]
fn what_does_not_shrink_is_left_alone() {
    let program = program(3, &Config::acyclic());
    assert_eq!(dump(&shrink(&program, |_| false)), dump(&program));
}

#[test]
fn everything_goes_when_everything_fails() {
    for seed in 0..20 {
        let small = shrink(&program(seed, &Config::wild_data()), |_| true);
        assert_eq!(small.threads.len(), 1);
        let body = &small.threads[0].body;
        assert_eq!((body.edges().len(), body.locations.len(), body.registers.len()), (0, 1, 0));
        assert!(small.properties.is_empty() && small.shared.is_empty());
    }
}

#[test]
fn every_program_on_the_way_is_valid() {
    for seed in 0..60 {
        let config = if seed % 2 == 0 { Config::acyclic() } else { Config::cyclic() };
        shrink(&program(seed, &config), |smaller| {
            assert!(is_valid(smaller));
            assert_well_referenced(smaller);
            // The interpreter indexes by what the program names: it would panic on a dangling name.
            explore(smaller, Model::Tso, 30).is_ok_and(|outcome| outcome.states > 4)
        });
    }
}

fn assert_well_referenced(program: &Program) {
    for thread in &program.threads {
        for edge in thread.body.edges() {
            let known = |register: RegId| register.index() < thread.body.registers.len();
            crate::sketch::for_each_register(&edge.instruction, &mut |register| assert!(known(register)));
        }
    }
}

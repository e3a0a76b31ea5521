//! Every two-thread program with up to two instructions a thread over two cells, up to the names of cells and values
//! and the order of threads; in a long run (see `random`) every one, from a larger set of instructions.

use weir_ir::{BinaryOp, Edge, Expr, Instruction, Program, Width};
use weir_testkit::tiny::{Alphabet, programs, programs_up_to_renaming};
use weir_witness::Model;

use crate::compare::{ALL_MERGED, Effort, check};
use crate::random::wanted_seeds;

/// Workers, reductions and limits come by turns. So few states are never shared among workers: it is only the work that
/// is divided differently.
fn effort(number: usize) -> Effort {
    let jobs: [&[usize]; 5] = [&[], &[2], &[], &[3], &[]];
    // Depth-first search comes every third time, with each of these.
    let merged = number / 3 % ALL_MERGED.len();
    let (jobs, merging) = (jobs[number % 5], &ALL_MERGED[merged..=merged]);
    let (depth_first, budgets) = (number.is_multiple_of(3), number.is_multiple_of(7));
    Effort { limit: 1000, merging, budgets, depth_first, jobs }
}

fn agree_on_all(model: Model, programs: impl Iterator<Item = (String, Program)>) {
    for (number, (name, program)) in programs.enumerate() {
        assert!(check(&name, &program, model, effort(number)).complete, "{name}");
    }
}

fn agree_under(model: Model) {
    if wanted_seeds().is_some() {
        let special = [Alphabet::Snapshots, Alphabet::Membarriers, Alphabet::Awaits].into_iter().flat_map(programs);
        agree_on_all(model, programs(Alphabet::Extended).chain(special));
    } else {
        let special = [Alphabet::Snapshots, Alphabet::Membarriers, Alphabet::Awaits]
            .into_iter()
            .flat_map(programs_up_to_renaming);
        agree_on_all(model, programs_up_to_renaming(Alphabet::Core).chain(special));
    }
}

#[test]
fn every_tiny_program_agrees_under_sc() {
    agree_under(Model::Sc);
}

#[test]
fn every_tiny_program_agrees_under_tso() {
    agree_under(Model::Tso);
}

/// The same program over cells of eight bits that start at the largest value, with values that are too large for them.
fn wrapping((name, mut program): (String, Program)) -> (String, Program) {
    for shared in &mut program.shared {
        (shared.width, shared.initial) = (Some(Width::U8), vec![255]);
    }
    for thread in &mut program.threads {
        thread.body = thread.body.map_edges(|edge| match &edge.instruction {
            Instruction::Store { address, value } => {
                let value = Expr::binary(BinaryOp::Add, value.clone(), Expr::Const(255));
                Edge { instruction: Instruction::Store { address: address.clone(), value }, ..edge.clone() }
            }
            _ => edge.clone(),
        });
    }
    (format!("wrapping {name}"), program)
}

#[test]
fn every_tiny_program_agrees_over_cells_that_wrap() {
    let programs = || programs_up_to_renaming(Alphabet::Extended).map(wrapping).step_by(5);
    agree_on_all(Model::Sc, programs());
    agree_on_all(Model::Tso, programs());
}

//! Every two-thread program with up to two instructions a thread over two cells; in a long hunt (see `random`) from
//! a larger set of instructions.

use weir_testkit::tiny::{Alphabet, programs};
use weir_witness::Model;

use crate::compare::{Effort, check};
use crate::random::wanted_seeds;

const EFFORT: Effort = Effort { limit: 1000, clearing: true, depth_first: false, jobs: &[] };

fn agree_on_all(model: Model) {
    let alphabet = if wanted_seeds().is_some() { Alphabet::Extended } else { Alphabet::Core };
    for (name, program) in programs(alphabet).chain(programs(Alphabet::Snapshots)) {
        assert!(check(&name, &program, model, EFFORT).complete, "{name}");
    }
}

#[test]
fn every_tiny_program_agrees_under_sc() {
    agree_on_all(Model::Sc);
}

#[test]
fn every_tiny_program_agrees_under_tso() {
    agree_on_all(Model::Tso);
}

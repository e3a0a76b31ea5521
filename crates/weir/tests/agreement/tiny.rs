//! Every two-thread program with up to two instructions a thread over two cells.

use weir_testkit::tiny::{Alphabet, programs};
use weir_witness::Model;

use crate::compare::{Effort, check};

const EFFORT: Effort = Effort { limit: 1000, clearing: false, depth_first: false, jobs: &[] };

fn agree_on_all(model: Model) {
    for (name, program) in programs(Alphabet::Core) {
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

use weir_testkit::random::{Config, program};

use super::*;
use crate::semantics::compile::{Purpose, compile};
use crate::session::Session;

/// What a thread may still access, by walking from a location.
#[test]
fn what_is_accessed_later_is_known_at_every_location() {
    let mut found = 0;
    for seed in 0..60 {
        let program = program(seed, &Config::cyclic());
        let purpose =
            Purpose { keep_dead_registers: false, buffered: true, monitored: false, goals: &[], keeps_back: &[] };
        let compiled = compile(&program, purpose, &Session::default()).expect("it fits");
        let sets = PersistentSets::new(&program, &compiled, Model::Tso, &[]).expect("it is small");
        for (position, &thread) in compiled.threads.iter().enumerate() {
            let body = program.body(thread);
            for start in body.location_ids() {
                let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
                while let Some(location) = open.pop() {
                    for (number, edge) in body.edges_from(location) {
                        let accesses = sets.accesses(&compiled, thread, number, &edge.instruction);
                        let facts = &sets.threads[position];
                        assert!(accesses.reads.iter().all(|&object| facts.reads.contains(start.index(), object)));
                        assert!(accesses.writes.iter().all(|&object| facts.writes.contains(start.index(), object)));
                        found += accesses.reads.len() + accesses.writes.len();
                        open.extend(weir_ir::flow::targets(body, edge).filter(|to| seen.insert(*to)));
                    }
                }
            }
        }
    }
    assert!(found > 1000, "{found}");
}

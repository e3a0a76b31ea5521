//! Runs of programs with more fences, mapped back.

use weir_testkit::random::{Config, program};
use weir_witness::{Model, replay};

use super::*;
use crate::explicit::{Exploration, explore};
use crate::search::Search;
use crate::session::Session;
use crate::verdict::Verdict;

/// Whatever goal a program with more fences reaches, the run that shows it is one of the original without the fences.
#[test]
fn runs_with_fences_are_runs_without() {
    let mut mapped = 0;
    for seed in 0..60 {
        let original = program(seed, &Config::acyclic());
        let stores = |thread: ThreadId| {
            let edges = (0..).map(EdgeId).zip(original.body(thread).edges());
            edges.filter(|(_, edge)| edge.instruction.is_store()).map(move |(id, edge)| (thread, id, edge.to))
        };
        let all: Vec<_> = original.thread_ids().flat_map(stores).collect();
        let after = insert_fences_after(&original, &all.iter().map(|&(thread, edge, _)| (thread, edge)).collect());
        let at = insert_fences(&original, &all.iter().map(|&(thread, _, to)| (thread, to)).collect());
        for fenced in [after, at] {
            let goals = crate::semantics::goals::all_goals(&fenced.program);
            let exploration = Exploration {
                model: Model::Tso,
                goals: &goals,
                search: Search::BreadthFirst,
                jobs: std::num::NonZeroUsize::MIN,
                keep_dead_registers: false,
                keeps_back: &[],
                symmetry: false,
                reduction: crate::verdict::Reduction::None,
            };
            let found = explore(fenced.program(), exploration, &Session::default()).expect("it can be handled");
            let Verdict::Violated(found) = found.verdict else { continue };
            let run = fenced.map_back(&original, found.run());
            assert!(run.steps.len() <= found.run().steps.len());
            assert!(replay(&original, &run).is_ok(), "seed {seed}");
            mapped += usize::from(run.steps.len() < found.run().steps.len());
        }
    }
    assert!(mapped > 10, "{mapped} runs took a fence");
}

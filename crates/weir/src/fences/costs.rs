//! What a fence at a place costs.

use std::collections::BTreeMap;

use weir_ir::flow::{Cfg, Loops};
use weir_ir::{Gather, Program, ThreadId};

use crate::prob::{Settings, Simulation, frequencies, simulated_frequencies};
use crate::robust::ThreadEdge;
use crate::semantics::refuse;
use crate::session::Session;
use crate::verdict::Failure;

/// How often a step in a loop is thought to be taken, for each loop around it.
const TURNS: u64 = 10;

/// Deeper loops count no more than this many.
const MOST_LOOPS: u32 = 6;

/// One for each thread that runs the text: what a fence there adds to the program.
pub fn unit_cost(after: &[ThreadEdge]) -> u64 {
    let mut threads: Vec<ThreadId> = after.iter().map(|&(thread, _)| thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads.len() as u64
}

/// Ten for each loop around it, multiplied, for each thread that runs the text: a guess at how often it is executed.
pub struct LoopCosts<'a> {
    program: &'a Program,
    loops: BTreeMap<ThreadId, Loops>,
}

impl<'a> LoopCosts<'a> {
    /// Finds the loops of the program.
    pub fn new(program: &'a Program) -> Self {
        let loops = program.thread_ids().map(|thread| (thread, Loops::of(&Cfg::of(program.body(thread)))));
        Self { program, loops: loops.gather() }
    }

    /// The cost of a fence after these steps.
    pub fn cost(&self, after: &[ThreadEdge]) -> u64 {
        let mut threads: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for &(thread, edge) in after {
            // What leads into a loop is not in it.
            let edge = self.program.body(thread).edge(edge);
            let depth = self.loops.get(&thread).map_or(0, |loops| loops.depth(edge.from).min(loops.depth(edge.to)));
            let cost = TURNS.pow(depth.min(MOST_LOOPS));
            let known = threads.entry(thread).or_default();
            *known = (*known).max(cost);
        }
        threads.values().sum()
    }
}

/// How many steps of a run count.
const STEPS: usize = 1_000;

/// More movements of probability than this are not followed: then random runs have to do.
const MOST_MOVES: u64 = 5_000_000;

/// How many random runs are made.
const RUNS: u64 = 200;

/// As often as a fence there would be executed in the first thousand steps of a run, on the average, in hundredths and
/// rounded up.
pub struct FrequencyCosts(BTreeMap<ThreadEdge, f64>);

impl FrequencyCosts {
    /// Works out expected numbers of executions; if the program is too large for that, random runs are made, always the
    /// same ones.
    ///
    /// # Errors
    /// If the program has something that cannot be handled, or if an invariant of Weir breaks.
    pub fn new(program: &Program, session: &Session) -> Result<Self, Failure> {
        refuse::unsupported_by(program, refuse::Who::Other("`prob`, which computes frequencies,"))?;
        let settings = Settings::default();
        if let Some(found) = frequencies(program, &settings, STEPS, MOST_MOVES, session)? {
            return Ok(Self(found.into_iter().map(|(edge, times)| (edge, times.lower)).gather()));
        }
        let jobs = std::num::NonZeroUsize::MIN;
        let simulation = Simulation { runs: RUNS, seed: 1, most_steps: STEPS as u64, doubt: 0.001, jobs };
        let found = simulated_frequencies(program, &settings, &simulation, session)?;
        Ok(Self(found.into_iter().gather()))
    }

    /// The cost of a fence after these steps.
    pub fn cost(&self, after: &[ThreadEdge]) -> u64 {
        let times: f64 = after.iter().filter_map(|edge| self.0.get(edge)).sum();
        1 + (times * 100.0).ceil() as u64
    }
}

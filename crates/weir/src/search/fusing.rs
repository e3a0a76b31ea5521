//! Fusing of local steps: the local steps that a thread takes after a step become part of that step.
//!
//! An assignment, a test of registers: such a step accesses neither memory nor the lock nor a buffer, so it is
//! independent of all steps of other threads and of all flushes, under SC and TSO alike. If it also can make no goal
//! false ([`observed`](super::observed)), and is the only step that its thread can take, then it can be taken at once:
//! alone it is an ample set. States in between are not stored.
//!
//! The cycle proviso holds by construction: a chain of local steps is fused only if it ends. One that returns to an
//! earlier state, or goes on for too long, is not fused at all; its steps are taken one by one, among those of the
//! other threads. Whether a chain ends depends on the thread's own location and registers alone, so this does not
//! depend on the order of the search, and exchanging threads does not change it.
//!
//! Direction of error: none. Goals in single states, deadlocks and final states are preserved, and so is the set of
//! executed edges: each run of the program is, up to the order of independent steps, a prefix of a run that is found
//! here. The length of runs is not.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use weir_ir::flow::{observed_registers, strongly_connected_components};
use weir_ir::{Body, Edge, Instruction, LocId, Program, ThreadId};
use weir_witness::Goal;

use super::observed::ObservedPlaces;
use crate::semantics::compile::Compiled;
use crate::semantics::state::width;
use crate::semantics::{StepCode, ThreadSteps};

/// Registers that change in a loop of local steps have at most this many bits; otherwise the loop could go on for very
/// long.
const MOST_LOOP_BITS: u32 = 17;

/// Longer chains are not fused.
const LONGEST: usize = 1 << 19;

/// Which steps are fused.
pub(crate) struct Fusing {
    /// For each thread and location, whether all steps from there are invisible.
    threads: Vec<Vec<bool>>,
    /// For each edge, whether it starts at such a location.
    local: Vec<bool>,
    /// For each edge, whether it was taken as part of a chain.
    taken: Vec<AtomicBool>,
}

impl Fusing {
    /// The fused steps of a compiled program with these goals.
    pub(crate) fn new(program: &Program, compiled: &Compiled, goals: &[Goal]) -> Self {
        let fusible = |&thread: &ThreadId| fusible_locations(program, compiled, thread, goals);
        let threads: Vec<Vec<bool>> = compiled.threads.iter().map(fusible).collect();
        let edges =
            compiled.threads.iter().zip(&threads).flat_map(|(&thread, fusible)| {
                program.body(thread).edges().iter().map(|edge| fusible[edge.from.index()])
            });
        Self {
            local: edges.collect(),
            threads,
            taken: (0..compiled.machine.edge_count).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// The state after the chain of local steps that the thread takes by itself, if that ends; `record` is called for
    /// each step.
    pub(crate) fn run<T: ThreadSteps>(
        &self,
        system: &T,
        start: &T::State,
        thread: usize,
        record: &mut dyn FnMut(StepCode),
    ) -> T::State {
        // A thread that is not started is at none of its locations.
        let is_fusible = |location: usize| self.threads[thread].get(location).copied().unwrap_or(false);
        if !is_fusible(system.location(start, thread)) {
            return *start;
        }
        let (mut state, mut steps) = (*start, Vec::new());
        // Brent's algorithm: the state at the last power of two, to detect a cycle.
        let (mut seen, mut next_power) = (state, 1);
        while is_fusible(system.location(&state, thread)) {
            let Some((step, next)) = only_step(system, &state, thread) else { break };
            steps.push(step);
            if next == seen || steps.len() > LONGEST {
                return *start;
            }
            if steps.len() == next_power {
                (seen, next_power) = (next, 2 * next_power);
            }
            state = next;
        }
        for step in steps {
            self.taken[step.number as usize].store(true, Relaxed);
            record(step);
        }
        state
    }

    /// Marks the edges that were taken as part of a chain.
    pub(crate) fn mark_taken(&self, taken: &mut [bool]) {
        taken.iter_mut().zip(&self.taken).for_each(|(taken, fused)| *taken |= fused.load(Relaxed));
    }

    /// Whether the edge may be taken as part of a chain.
    pub(crate) fn is_local(&self, edge: u32) -> bool {
        self.local.get(edge as usize).copied().unwrap_or(false)
    }
}

/// The step of a thread, if it can take exactly one.
#[inline]
fn only_step<T: ThreadSteps>(system: &T, state: &T::State, thread: usize) -> Option<(StepCode, T::State)> {
    let (mut count, mut found) = (0, None);
    system.successors_of(state, thread, &mut |step, next| {
        count += 1;
        found = Some((step, next));
        count < 2
    });
    found.filter(|_| count == 1)
}

/// For each location, whether all steps from there are local, invisible, and in no loop that could take too long.
fn fusible_locations(program: &Program, compiled: &Compiled, thread: ThreadId, goals: &[Goal]) -> Vec<bool> {
    let body = program.body(thread);
    let observed = observed_registers(program, thread);
    let places = ObservedPlaces::new(program, thread, goals);
    let is_invisible = |edge: &Edge| {
        // A failed assertion is a goal, or the end of the thread where no edge leads.
        edge.instruction.is_local()
            && !matches!(edge.instruction, Instruction::Assert(_))
            && places.let_pass(edge.from, edge.to)
            && !edge.instruction.defines().any(|register| observed.contains(register))
    };
    let mut fusible: Vec<bool> = body
        .location_ids()
        .map(|loc| body.edges_from(loc).len() > 0 && body.edges_from(loc).all(|(_, edge)| is_invisible(edge)))
        .collect();
    // A thread that has not started is after all others.
    fusible.push(false);
    for component in long_loops(body, compiled, thread, &fusible) {
        component.into_iter().for_each(|location| fusible[location] = false);
    }
    fusible
}

/// Loops through these locations that may take too long.
fn long_loops(body: &Body, compiled: &Compiled, thread: ThreadId, fusible: &[bool]) -> Vec<Vec<usize>> {
    let targets = |loc: LocId| -> Vec<usize> {
        let edges = body.edges_from(loc).filter(|(_, edge)| fusible[edge.from.index()] && fusible[edge.to.index()]);
        edges.map(|(_, edge)| edge.to.index()).collect()
    };
    let graph: Vec<Vec<usize>> = body.location_ids().map(targets).collect();
    let mut component_of = vec![0; graph.len()];
    let components = strongly_connected_components(&graph);
    for (number, component) in components.iter().enumerate() {
        component.iter().for_each(|&location| component_of[location] = number);
    }
    let mut changed = vec![std::collections::BTreeSet::new(); components.len()];
    for edge in body.edges() {
        let (from, to) = (edge.from.index(), edge.to.index());
        if graph[from].contains(&to) && component_of[from] == component_of[to] {
            changed[component_of[from]].extend(edge.instruction.defines());
        }
    }
    let is_long = |registers: &std::collections::BTreeSet<_>| {
        let bits = registers.iter().map(|&register| width(compiled.ranges.register(thread, register)));
        bits.sum::<u32>() > MOST_LOOP_BITS
    };
    components
        .into_iter()
        .zip(changed)
        .filter(|(_, changed)| is_long(changed))
        .map(|(component, _)| component)
        .collect()
}

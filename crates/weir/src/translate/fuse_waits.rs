//! Loops that only wait take one step per test: each load is fused with the tests that follow it.
//!
//! ```text
//! while x == 0 { }        becomes        await x != 0;
//! ```
//!
//! A load that is followed by tests of what it has loaded becomes one `await` per test, and an `await` that leads back
//! to where it began, with nothing remembered, is dropped. There are fewer states: none between a load and its test.
//! Loops are recognised by [`waiting_loops`].
//!
//! Direction of error: none, for goals that are conditions on states and that mention neither the registers loaded nor
//! the places in between. Such a goal is reached in the result exactly if it is reached in the original, under SC and
//! under TSO: SOUNDNESS.md says why. It is not so for deadlocks and for what can still happen, since an `await` blocks
//! and a loop takes steps; then nothing is fused.

use std::collections::BTreeSet;

use weir_ir::flow::{Liveness, RegisterSet, live_registers, observed_registers, waiting_loops};
use weir_ir::{
    Body, BodyBuilder, Edge, EdgeId, Gather, Instruction, LocId, Program, PropertyKind, StateAtom, ThreadId,
};
use weir_witness::{Action, Goal, Run, Step};

use super::Translation;
use crate::verdict::Coverage;

/// A program whose waiting loops test in one step.
#[derive(Clone, Debug)]
pub struct FusedWaits {
    program: Program,
    /// For each thread and edge, the edges of the original that it stands for.
    origins: Vec<Vec<Origin>>,
}

/// What an edge stands for.
#[derive(Clone, Copy, Debug)]
struct Origin {
    edge: EdgeId,
    /// If the edge is a load: the test that was fused with it.
    test: Option<EdgeId>,
}

/// The program with fused waiting loops, if it has any and these goals allow it. It must have no other properties than
/// these goals that mention places or registers.
#[must_use]
pub fn fuse_waits(program: &Program, goals: &[Goal]) -> Option<FusedWaits> {
    if !goals.iter().all(|&goal| is_about_states(program, goal)) {
        return None;
    }
    let loops = waiting_loops(program);
    if loops.is_empty() {
        return None;
    }
    let mut fused = FusedWaits { program: program.clone(), origins: Vec::new() };
    let mut changes = false;
    for thread in program.thread_ids() {
        let waiter = Waiter::new(program, thread);
        let own = loops.iter().filter(|waiting| waiting.thread == thread).flat_map(|waiting| &waiting.locations);
        let loads: BTreeSet<EdgeId> = own
            .flat_map(|&loc| waiter.body.edges_from(loc))
            .filter(|(_, edge)| waiter.can_fuse(edge))
            .map(|(id, _)| id)
            .gather();
        changes |= !loads.is_empty();
        let (body, origins) = waiter.fuse(&loads);
        fused.program.threads[thread.index()].body = body;
        fused.origins.push(origins);
    }
    changes.then_some(fused)
}

/// Whether a single state shows the goal, by places and values.
fn is_about_states(program: &Program, goal: Goal) -> bool {
    match goal {
        Goal::Property(property) => match program.properties[property.index()].kind {
            PropertyKind::Forbid(_) | PropertyKind::Exists(_) | PropertyKind::Always(_) => true,
            PropertyKind::ForbidDeadlock | PropertyKind::ForbidStuck | PropertyKind::Live(_) => false,
        },
        Goal::Assertion(_) => true,
        Goal::NotRobust => false,
    }
}

/// A thread that may wait.
struct Waiter<'a> {
    program: &'a Program,
    thread: ThreadId,
    body: &'a Body,
    observed: RegisterSet,
    live: Liveness,
    /// For each location, how many edges lead to it.
    ways: Vec<u32>,
}

impl<'a> Waiter<'a> {
    fn new(program: &'a Program, thread: ThreadId) -> Self {
        let body = program.body(thread);
        let observed = observed_registers(program, thread);
        let live = live_registers(body, &observed);
        let mut ways = vec![0; body.locations.len()];
        body.edges().iter().for_each(|edge| ways[edge.to.index()] += 1);
        Self { program, thread, body, observed, live, ways }
    }

    /// Whether the edge is a load that can be fused with what follows: nothing but tests follow, nothing else leads
    /// there, and no property notices.
    fn can_fuse(&self, load: &Edge) -> bool {
        let Edge { from, to, instruction: Instruction::Load { register, .. }, .. } = load else { return false };
        let is_test = |(_, edge): (EdgeId, &Edge)| matches!(edge.instruction, Instruction::Assume(_));
        from != to
            && self.ways[to.index()] == 1
            && *to != self.body.entry
            && self.body.edges_from(*to).len() > 0
            && self.body.edges_from(*to).all(is_test)
            && !self.observed.contains(*register)
            && !self.are_distinguished(*from, *to)
    }

    /// Whether a property distinguishes one of these places from the other.
    fn are_distinguished(&self, one: LocId, other: LocId) -> bool {
        let mut found = false;
        for condition in self.program.properties.iter().filter_map(|property| property.kind.condition()) {
            condition.for_each_leaf(&mut |atom| {
                if let StateAtom::At { thread, locations } = atom {
                    found |= *thread == self.thread && locations.contains(&one) != locations.contains(&other);
                }
            });
        }
        found
    }

    /// The body with these loads fused, and what its edges stand for.
    fn fuse(&self, loads: &BTreeSet<EdgeId>) -> (Body, Vec<Origin>) {
        let mut builder = BodyBuilder::new(self.body.registers.clone(), []);
        for location in &self.body.locations {
            builder.labelled_location(location.clone());
        }
        let between: BTreeSet<LocId> = loads.iter().map(|&load| self.body.edge(load).to).gather();
        for (id, edge) in (0..).map(EdgeId).zip(self.body.edges()) {
            if loads.contains(&id) {
                for (test, awaited) in self.awaits(edge) {
                    builder.edge(awaited, Origin { edge: id, test: Some(test) });
                }
            } else if !between.contains(&edge.from) {
                builder.edge(edge.clone(), Origin { edge: id, test: None });
            }
        }
        builder.finish(self.body.entry, self.body.failed)
    }

    /// What a load becomes, with the test of each.
    fn awaits(&self, load: &Edge) -> Vec<(EdgeId, Edge)> {
        let Instruction::Load { register, address } = &load.instruction else { return Vec::new() };
        let is_remembered = self.live.at(load.from).contains(*register);
        let mut found = Vec::new();
        for (id, test) in self.body.edges_from(load.to) {
            if let Instruction::Assume(condition) = &test.instruction {
                let loads = vec![(*register, address.clone())];
                let instruction = Instruction::Await { loads, condition: condition.clone() };
                found.push((id, Edge { to: test.to, instruction, ..load.clone() }));
            }
        }
        let leads_on = |edge: &Edge| edge.to != edge.from || is_remembered;
        // A place without edges would be the end of the thread.
        if found.iter().any(|(_, edge)| leads_on(edge)) {
            found.retain(|(_, edge)| leads_on(edge));
        }
        found
    }
}

impl FusedWaits {
    /// What a search of the fused program executed, in terms of the original. Tests that only go on waiting are not
    /// listed if the loop is entered.
    pub(crate) fn map_coverage(&self, original: &Program, seen: Coverage) -> Coverage {
        let mut unexecuted: Vec<(ThreadId, EdgeId)> = Vec::new();
        let mut immobile = seen.immobile.clone();
        for thread in original.thread_ids() {
            let taken = self.taken(thread, original.body(thread), &seen);
            let edges = (0..taken.len()).map(EdgeId::new);
            unexecuted.extend(edges.filter(|edge| !taken[edge.index()]).map(|edge| (thread, edge)));
            immobile.retain(|&other| other != thread || !taken.contains(&true));
        }
        let origin = |(thread, edge): (ThreadId, EdgeId)| (thread, self.origins[thread.index()][edge.index()].edge);
        let out_of_range = seen.out_of_range.into_iter().map(origin).collect();
        Coverage { unexecuted, immobile, out_of_range, ..seen }
    }

    /// For each edge of the original, whether it was taken.
    fn taken(&self, thread: ThreadId, original: &Body, seen: &Coverage) -> Vec<bool> {
        let mut taken = vec![false; original.edges().len()];
        let mut fused = vec![false; original.edges().len()];
        let mut entered = vec![false; original.locations.len()];
        entered[original.entry.index()] = true;
        let edges = self.program.body(thread).edges();
        for (id, (edge, origin)) in (0..).map(EdgeId).zip(edges.iter().zip(&self.origins[thread.index()])) {
            fused[origin.edge.index()] |= origin.test.is_some();
            if seen.unexecuted.binary_search(&(thread, id)).is_err() {
                taken[origin.edge.index()] = true;
                origin.test.into_iter().for_each(|test| taken[test.index()] = true);
                entered[edge.to.index()] = true;
            }
        }
        // A thread at a fused load can take it, and then the tests that were dropped.
        for (load, edge) in original.edges().iter().enumerate().filter(|&(load, _)| fused[load]) {
            if entered[edge.from.index()] {
                taken[load] = true;
                for (test, after) in original.edges_from(edge.to) {
                    taken[test.index()] |= after.to == edge.from;
                }
            }
        }
        taken
    }
}

impl Translation for FusedWaits {
    fn program(&self) -> &Program {
        &self.program
    }

    /// The same run, with each load and its test one after the other.
    fn map_back(&self, _original: &Program, run: &Run) -> Run {
        let original = |step: &Step| match step.action {
            Action::Execute { edge, choice } => {
                let Origin { edge, test } = self.origins[step.thread.index()][edge.index()];
                let test = test.map(|edge| Action::Execute { edge, choice: 0 });
                let actions = [Some(Action::Execute { edge, choice }), test];
                actions.map(|action| action.map(|action| Step { thread: step.thread, action }))
            }
            Action::Flush => [Some(*step), None],
        };
        Run { model: run.model, steps: run.steps.iter().flat_map(original).flatten().collect() }
    }
}

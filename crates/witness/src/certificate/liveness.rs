//! Whether from every state of a closed set something can still happen: `forbid stuck` and `live`.
//!
//! With exact buffers, every step between states of the set is a step of the program. So if each state of the set has a
//! path to one in which the condition holds, then so does each reachable state.

use weir_ir::flow::leavable_regions;
use weir_ir::{Interrupt, Poll, PropertyId, PropertyKind, StateAtom, StateExpr};

use super::check::{CertificateError, Checker};
use super::{AbstractState, Buffering, Fault, PackedStates};
use crate::run::Goal;

/// How many states are processed between two checks of the interrupt.
const PERIOD: u32 = 64;

/// The steps between the states of a closed set, backward.
struct Graph<'a> {
    set: &'a PackedStates,
    /// For each state, those from which a step leads to it.
    before: Vec<Vec<u32>>,
}

impl Checker<'_, &PackedStates> {
    /// Checks the goals that are about what can still happen.
    pub(super) fn can_still_happen(&self, interrupt: &dyn Interrupt) -> Result<(), CertificateError> {
        let wrong = |state, fault| self.error(state, fault);
        let goals: Vec<(Goal, PropertyId)> = self.liveness_goals().collect();
        if goals.is_empty() {
            return Ok(());
        }
        if self.buffering() != Buffering::EXACT {
            return Err(wrong(None, Fault::Liveness));
        }
        let graph = self.graph(interrupt)?;
        for (goal, property) in goals {
            let wanted = self.wanted(&graph, property).map_err(|fault| wrong(None, fault))?;
            for targets in wanted {
                if let Some(state) = graph.cut_off(targets) {
                    return Err(wrong(Some(state), Fault::ShowsGoal(goal)));
                }
            }
        }
        Ok(())
    }

    fn graph(&self, interrupt: &dyn Interrupt) -> Result<Graph<'_>, CertificateError> {
        let poll = Poll::every(PERIOD, interrupt);
        let mut before = vec![Vec::new(); self.states.len()];
        for (number, state) in self.states.iter().enumerate() {
            if poll.is_over() {
                return Err(self.error(None, Fault::Interrupted));
            }
            let mut note = |_, _, next: AbstractState| {
                let place = self.recorded(next).and_then(|next| self.states.place(&next));
                place.map(|place| before[place].push(number as u32)).is_some()
            };
            self.steps(&state, &mut note).map_err(|fault| self.error(Some(number), fault))?;
        }
        Ok(Graph { set: self.states, before })
    }

    /// For each condition that must be reachable from everywhere, the states in which it holds.
    fn wanted(&self, graph: &Graph<'_>, property: PropertyId) -> Result<Vec<Vec<u32>>, Fault> {
        let numbered = || (0..).zip(graph.set.iter());
        match self.kind(property) {
            PropertyKind::Live(condition) => {
                let mut targets = Vec::new();
                for (number, state) in numbered() {
                    if is_judged(&state, condition) && self.holds(&state, condition)? {
                        targets.push(number);
                    }
                }
                Ok(vec![targets])
            }
            PropertyKind::ForbidStuck => {
                let regions = leavable_regions(self.program);
                let outside = |region: &weir_ir::flow::Region| -> Vec<u32> {
                    let place = self.place(region.thread);
                    let is_outside = |state: &AbstractState| {
                        place.is_none_or(|place| !region.contains(state.threads[place].location))
                    };
                    numbered().filter(|(_, state)| is_outside(state)).map(|(number, _)| number).collect()
                };
                Ok(regions.iter().map(outside).collect())
            }
            _ => Ok(Vec::new()),
        }
    }
}

impl Graph<'_> {
    /// A state from which none of the targets can be reached.
    fn cut_off(&self, targets: Vec<u32>) -> Option<usize> {
        let mut reaches = vec![false; self.before.len()];
        let mut open = targets;
        open.iter().for_each(|&target| reaches[target as usize] = true);
        while let Some(state) = open.pop() {
            for &earlier in &self.before[state as usize] {
                if !std::mem::replace(&mut reaches[earlier as usize], true) {
                    open.push(earlier);
                }
            }
        }
        reaches.iter().position(|reaches| !reaches)
    }
}

/// A condition that refers to cells is judged at drained states.
fn is_judged(state: &AbstractState, condition: &StateExpr) -> bool {
    let mut needs_drained = false;
    condition.for_each_leaf(&mut |atom| needs_drained |= matches!(atom, StateAtom::Cell(_)));
    !needs_drained || state.threads.iter().all(|own| own.buffer.is_empty())
}

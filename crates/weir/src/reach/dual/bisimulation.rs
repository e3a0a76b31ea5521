//! The bisimulation quotient of a thread's local state graph, with τ-compression.
//!
//! States that neither a goal nor another thread can distinguish are merged: first by partition refinement
//! (bisimulation), then by merging states with what silent (τ) moves alone lead to, until neither makes the graph
//! smaller.

use rustc_hash::FxHashMap;

use super::local_graph::{Graph, Label};
use crate::session::Session;
use crate::verdict::Limit;

/// A thread as an automaton over what it does to memory. States are numbered from 0.
#[derive(Debug)]
pub(super) struct Automaton {
    /// For each state of the graph, which state of the automaton it belongs to.
    pub(super) class_of: Vec<u16>,
    pub(super) initial: u16,
    /// For each state whether the thread holds the lock there.
    pub(super) holds: Vec<bool>,
    /// For each state, a state of the graph that belongs to it.
    pub(super) member: Vec<u32>,
    /// For each state the moves that lead to it: what they do, and where they come from.
    pub(super) into: Vec<Vec<(Label, u16)>>,
}

impl Automaton {
    /// Both next to each other: the states of the second follow those of the first. None if there are too many.
    pub(super) fn beside(mut self, other: Self) -> Option<Self> {
        let (states, graph_states) = (self.holds.len() as u16, self.class_of.len() as u32);
        if self.holds.len() + other.holds.len() >= usize::from(u16::MAX) {
            return None;
        }
        self.class_of.extend(other.class_of.iter().map(|class| class + states));
        self.holds.extend(other.holds);
        self.member.extend(other.member.iter().map(|state| state + graph_states));
        let shifted = |(label, from)| (label, from + states);
        self.into.extend(other.into.into_iter().map(|moves| moves.into_iter().map(shifted).collect()));
        Some(self)
    }
}

/// The bisimulation quotient of a graph, τ-compressed. States with different observations are kept apart. None if it is
/// still too large.
///
/// # Errors
/// If a limit is reached first.
pub(super) fn bisimulation_quotient(
    graph: &Graph,
    observation: &[u32],
    session: &Session,
) -> Result<Option<Automaton>, Limit> {
    let mut current = Quotient::new(graph, observation);
    loop {
        let before = current.count;
        current = current.refined(session)?;
        current = current.tau_compressed();
        if current.count == before {
            break;
        }
    }
    Ok(current.finish(graph))
}

/// A partition of the graph's states, as a graph of its own.
struct Quotient {
    /// For each state of the graph, its class.
    class_of: Vec<u32>,
    count: usize,
    observation: Vec<u32>,
    out: Vec<Vec<(Label, u32)>>,
}

impl Quotient {
    fn new(graph: &Graph, observation: &[u32]) -> Self {
        let out = graph.moves.iter().map(|moves| moves.iter().map(|step| (step.label, step.to)).collect()).collect();
        let count = graph.states.len();
        let observation = observation.iter().zip(&graph.states).map(|(&seen, state)| 2 * seen + u32::from(state.holds));
        let mut quotient =
            Self { class_of: (0..count as u32).collect(), count, observation: observation.collect(), out };
        quotient.drop_idle_moves();
        quotient
    }

    /// Drops moves that change nothing, and repeated ones.
    fn drop_idle_moves(&mut self) {
        for (state, moves) in self.out.iter_mut().enumerate() {
            let is_idle = |label: Label| match label {
                Label::Silent | Label::Load(..) | Label::Snapshot(_) | Label::Fence | Label::Membarrier => true,
                Label::Rmw(_, old, new) => old == new,
                Label::Store(..) | Label::Lock | Label::Unlock => false,
            };
            moves.retain(|&(label, to)| to as usize != state || !is_idle(label));
            moves.sort_unstable();
            moves.dedup();
        }
    }

    /// Merges bisimilar states: those with the same observation and the same moves to merged states (partition
    /// refinement).
    fn refined(self, session: &Session) -> Result<Self, Limit> {
        let mut block: Vec<u32> = self.observation.clone();
        let mut count = 0;
        loop {
            let mut numbers: FxHashMap<(u32, Vec<(Label, u32)>), u32> = FxHashMap::default();
            let next: Vec<u32> = (0..self.count)
                .map(|state| {
                    let mut moves: Vec<(Label, u32)> =
                        self.out[state].iter().map(|&(label, to)| (label, block[to as usize])).collect();
                    moves.sort_unstable();
                    moves.dedup();
                    let fresh = numbers.len() as u32;
                    *numbers.entry((block[state], moves)).or_insert(fresh)
                })
                .collect();
            let found = numbers.len();
            block = next;
            if found == count {
                return Ok(self.joined(&block, found));
            }
            count = found;
            if let Some(limit) = session.exceeded() {
                return Err(limit);
            }
        }
    }

    /// τ-compression: merges each state whose only move is silent with the target of that move, and the states of a
    /// silent cycle with each other.
    fn tau_compressed(self) -> Self {
        let mut target: Vec<u32> = (0..self.count as u32).collect();
        for (state, moves) in self.out.iter().enumerate() {
            if let [(Label::Silent, to)] = moves[..]
                && self.observation[to as usize] == self.observation[state]
            {
                target[state] = to;
            }
        }
        let mut block = vec![u32::MAX; self.count];
        let mut fresh = 0;
        for state in 0..self.count {
            let mut path = Vec::new();
            let mut at = state;
            // Stop at a state that is known, that stays, or that this walk has met: a silent cycle.
            while block[at] == u32::MAX && target[at] as usize != at && !path.contains(&at) && path.len() < 64 {
                path.push(at);
                at = target[at] as usize;
            }
            if block[at] == u32::MAX {
                block[at] = fresh;
                fresh += 1;
            }
            for earlier in path {
                block[earlier] = block[at];
            }
        }
        let count = fresh as usize;
        self.joined(&block, count)
    }

    fn joined(self, block: &[u32], count: usize) -> Self {
        let mut observation = vec![0; count];
        let mut out = vec![Vec::new(); count];
        for (state, moves) in self.out.iter().enumerate() {
            let class = block[state] as usize;
            observation[class] = self.observation[state];
            out[class].extend(moves.iter().map(|&(label, to)| (label, block[to as usize])));
        }
        let class_of = self.class_of.iter().map(|&class| block[class as usize]).collect();
        let mut quotient = Self { class_of, count, observation, out };
        quotient.drop_idle_moves();
        quotient
    }

    fn finish(self, graph: &Graph) -> Option<Automaton> {
        if self.count >= usize::from(u16::MAX) {
            return None;
        }
        let mut into = vec![Vec::new(); self.count];
        for (from, moves) in self.out.iter().enumerate() {
            for &(label, to) in moves {
                into[to as usize].push((label, from as u16));
            }
        }
        let class_of: Vec<u16> = self.class_of.iter().map(|&class| class as u16).collect();
        let mut holds = vec![false; self.count];
        let mut member = vec![0; self.count];
        for (state, &class) in class_of.iter().enumerate().rev() {
            holds[usize::from(class)] = graph.states[state].holds;
            member[usize::from(class)] = state as u32;
        }
        Some(Automaton { initial: class_of[0], class_of, holds, member, into })
    }
}

#[cfg(test)]
mod tests;

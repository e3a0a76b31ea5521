//! Dynamic partial order reduction: which steps a state needs is found out from what is accessed below it.
//!
//! After C. Flanagan and P. Godefroid (2005) and G. Calin's thesis, section 4.3.1, for searches that store states. A
//! state is first expanded for one agent only. When it turns out that another agent accesses something that is in
//! conflict with the next step of an agent taken, the state is expanded for that one, too. In a search without stored
//! states, what is accessed below is seen on the way. Here a stored state is not searched again, so it needs a
//! *summary*: for each agent, what it accesses next in any state below. Without it, the reduction is unsound.
//!
//! States on a cycle lie below each other, so that none of their summaries would ever be complete before the others.
//! So the search keeps the strongly connected components of what it has explored so far (P. Purdom, 1970; H. Gabow,
//! 2000): all states of a component have the same summary. A component is left once nothing new comes of it: its edges
//! are explored, and its states closed with respect to its summary. States do not change after that.
//!
//! The cycle proviso is A. Valmari's: in a component from which no edge leads out, each agent that can move in some
//! state must have been taken in some state. SOUNDNESS.md proves that these conditions are enough.
//!
//! Depth-first, one worker: components are found in this order only.

use std::sync::atomic::Ordering;

use weir_witness::Goal;

use super::persistent::Agents;
use super::store::Store;
use super::summaries::Summaries;
use super::{Found, Outcome, Shared, step_between};
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::{Progress, Session};
use crate::verdict::Limit;

/// Steps between two looks at clock and memory. Each takes much longer than in other searches.
const A_CHECK: u64 = 128;

/// The mark of a state whose component was left; the other bits are the number of its summary.
const LEFT: u32 = 1 << 31;

/// After so many steps that turn back in their thread's code, another agent has its turn: a search that need not end
/// should not follow one agent for ever.
const MOST_TURNS: u32 = 64;

/// A system whose agents can be taken one by one.
pub(crate) trait AgentSteps: TransitionSystem {
    /// Words of a summary.
    fn row_words(&self) -> usize;

    /// What a new state begins with.
    fn opening(&self, state: &Self::State) -> Opening;

    /// The agents that must be taken if these are and agents access below what the summary says.
    fn closed(&self, state: &Self::State, agents: Agents, summary: &[u64]) -> Agents;

    /// Calls `emit` for each step of these agents.
    fn steps_of(&self, state: &Self::State, agents: Agents, emit: &mut dyn FnMut(StepCode, Self::State) -> bool);

    /// Whether the step leads a thread back in its code: every endless run has such steps.
    fn turns_back(&self, from: &Self::State, step: StepCode, to: &Self::State) -> bool;

    /// The goal that the state shows once these flushes have been taken.
    fn goal_after_flushes(&self, state: &Self::State) -> Option<(Goal, Vec<StepCode>)>;
}

/// What a state begins with.
pub(crate) struct Opening {
    /// The agents taken first.
    pub(crate) first: Agents,
    /// Those that can move.
    pub(crate) enabled: Agents,
    /// What the agents access next.
    pub(crate) accesses: Vec<u64>,
}

/// Visits the states that the goals need.
pub(crate) fn dynamic<T: AgentSteps>(system: &T, session: &Session) -> Outcome {
    let shared = Shared::new(session);
    let mut search = Dynamic {
        system,
        shared: &shared,
        store: Store::new(system.words()),
        marks: Vec::new(),
        summaries: Summaries::new(system.row_words()),
        members: Vec::new(),
        components: Vec::new(),
        pending: Vec::new(),
        taken: vec![false; system.step_count()],
        transitions: 0,
        deepest: 0,
        cut: false,
    };
    let found = search.run();
    let states = u64::from(search.store.len());
    shared.session.spend(states);
    Outcome {
        found,
        states,
        transitions: search.transitions,
        depth: search.deepest,
        stored_bytes: search.stored_bytes(),
        taken: search.taken,
        elapsed: shared.elapsed(),
    }
}

struct Dynamic<'a, T: AgentSteps> {
    system: &'a T,
    shared: &'a Shared<'a>,
    store: Store,
    /// For each state its member, or [`LEFT`] and the number of its summary.
    marks: Vec<u32>,
    summaries: Summaries,
    /// The states of all components that are not left, one component after the other.
    members: Vec<Member>,
    components: Vec<Component>,
    /// Edges to explore, the next one last. Those of the last component are on top.
    pending: Vec<Edge<T::State>>,
    taken: Vec<bool>,
    transitions: u64,
    deepest: u64,
    /// Whether the limit on states left some out.
    cut: bool,
}

/// A step to explore.
#[derive(Clone, Copy)]
struct Edge<S> {
    /// The member that takes it.
    from: u32,
    to: S,
    turns_back: bool,
}

/// A state of a component that is not left.
struct Member {
    number: u32,
    /// The member from which it was found.
    parent: u32,
    depth: u32,
    /// Steps on the way to it that turned back.
    turns: u32,
    /// The agents whose steps are explored.
    taken: Agents,
    enabled: Agents,
}

/// A strongly connected component of what is explored, up to the first member of the next one.
struct Component {
    first: usize,
    /// What is accessed in and below it.
    summary: u32,
    /// Members before this one are closed with respect to `closed_for`.
    closed: usize,
    closed_for: u32,
    /// Whether an edge leads out of it.
    has_exit: bool,
    /// The agents that can move in some state of it, and those taken in some state.
    enabled: Agents,
    taken: Agents,
}

/// Why the search ends.
enum Stop {
    Goal(Goal, Vec<StepCode>),
    Limit(Limit),
}

impl<T: AgentSteps> Dynamic<'_, T> {
    fn run(&mut self) -> Found {
        match self.explore() {
            Ok(()) => self.shared.stopped().map_or(Found::Nothing, Found::Stopped),
            Err(Stop::Limit(limit)) => Found::Stopped(limit),
            Err(Stop::Goal(goal, flushes)) => {
                self.steps(flushes).map_or(Found::Stopped(Limit::Interrupted), |run| Found::Goal(goal, run))
            }
        }
    }

    fn explore(&mut self) -> Result<(), Stop> {
        self.enter(self.system.initial(), None)?;
        let mut visits = 0_u64;
        while let Some(first) = self.components.last().map(|top| top.first) {
            visits += 1;
            if visits.is_multiple_of(A_CHECK) {
                self.look_up()?;
            }
            match self.pending.last() {
                Some(&edge) if edge.from as usize >= first => {
                    self.pending.pop();
                    self.follow(&edge)?;
                }
                _ => {
                    if !self.close()? && !self.take_ignored()? {
                        self.leave();
                    }
                }
            }
        }
        Ok(())
    }

    /// Follows an edge from a member of the last component.
    fn follow(&mut self, edge: &Edge<T::State>) -> Result<(), Stop> {
        let Some(number) = self.store.find(&edge.to) else { return self.enter(edge.to, Some(edge)) };
        let mark = self.marks[number as usize];
        if mark & LEFT == 0 {
            self.merge(mark as usize);
        } else {
            self.add_below(mark & !LEFT);
        }
        Ok(())
    }

    /// Adds a new state, as a component of its own.
    fn enter(&mut self, state: T::State, edge: Option<&Edge<T::State>>) -> Result<(), Stop> {
        self.make_room()?;
        if u64::from(self.store.len()) >= self.shared.most_states {
            return Err(Stop::Limit(Limit::States));
        }
        let (number, member) = (self.store.len(), self.members.len());
        self.store.insert(&state);
        self.marks.push(member as u32);
        let opening = self.system.opening(&state);
        self.members.push(self.member(number, opening.enabled, edge));
        self.deepest = self.deepest.max(u64::from(self.members[member].depth));
        if let Some((goal, flushes)) = self.goal(&state, opening.enabled) {
            return Err(Stop::Goal(goal, flushes));
        }
        let summary = self.summaries.number(&opening.accesses);
        self.components.push(Component {
            first: member,
            summary,
            closed: member,
            closed_for: summary,
            has_exit: false,
            enabled: opening.enabled,
            taken: 0,
        });
        let turns = self.members[member].turns;
        if !edge.is_some_and(|edge| edge.turns_back) || !turns.is_multiple_of(MOST_TURNS) {
            return self.expand(member as u32, &state, opening.first);
        }
        // The one expanded last is explored first.
        let agents: Vec<Agents> =
            (0..Agents::BITS).map(|agent| 1 << agent).filter(|agent| opening.enabled & agent != 0).collect();
        let first = (turns / MOST_TURNS) as usize % agents.len().max(1);
        let (others, next) = agents.split_at(first);
        next.iter().chain(others).rev().try_for_each(|&agent| self.expand(member as u32, &state, agent))?;
        self.expand(member as u32, &state, Agents::MAX)
    }

    /// A new member, and from where it was found.
    fn member(&self, number: u32, enabled: Agents, edge: Option<&Edge<T::State>>) -> Member {
        let parent = edge.map(|edge| (&self.members[edge.from as usize], edge));
        let turns = parent.map_or(0, |(member, edge)| member.turns + u32::from(edge.turns_back));
        let depth = parent.map_or(0, |(member, _)| member.depth + 1);
        Member { number, parent: edge.map_or(0, |edge| edge.from), depth, turns, taken: 0, enabled }
    }

    fn goal(&self, state: &T::State, enabled: Agents) -> Option<(Goal, Vec<StepCode>)> {
        let here = self.system.goal(state);
        let deadlock = || self.system.deadlock_goal(state).filter(|_| enabled == 0);
        here.or_else(deadlock).map(|goal| (goal, Vec::new())).or_else(|| self.system.goal_after_flushes(state))
    }

    /// Takes more agents in a state of the last component.
    fn expand(&mut self, member: u32, state: &T::State, agents: Agents) -> Result<(), Stop> {
        let taken = &mut self.members[member as usize].taken;
        let new = agents & !*taken;
        *taken |= new;
        self.components.last_mut().into_iter().for_each(|top| top.taken |= new);
        let (first, mut emitted) = (self.pending.len(), 0_u64);
        let Self { system, shared, pending, taken, cut, .. } = self;
        system.steps_of(state, new, &mut |step, next| {
            taken[step.number as usize] = true;
            pending.push(Edge { from: member, to: next, turns_back: system.turns_back(state, step, &next) });
            emitted += 1;
            // A choice among more values than there may be states is cut short: the budget cannot hold them anyway.
            *cut |= emitted > shared.most_states;
            !*cut && (!emitted.is_multiple_of(A_CHECK) || !shared.must_stop(0))
        });
        self.transitions += emitted;
        self.pending[first..].reverse();
        if self.cut { Err(Stop::Limit(Limit::States)) } else { Ok(()) }
    }

    /// An edge of the last component leads to this member: all components from there on are one.
    fn merge(&mut self, member: usize) {
        while let Some(top) = self.components.pop_if(|top| top.first > member) {
            let Some(below) = self.components.last_mut() else { return };
            below.summary = self.summaries.union(below.summary, top.summary);
            below.has_exit |= top.has_exit;
            below.enabled |= top.enabled;
            below.taken |= top.taken;
        }
    }

    /// An edge leads from the last component to one that was left.
    fn add_below(&mut self, summary: u32) {
        if let Some(top) = self.components.last_mut() {
            top.summary = self.summaries.union(top.summary, summary);
            top.has_exit = true;
        }
    }

    /// Takes the agents that the summary of the last component asks for; whether there were any.
    fn close(&mut self) -> Result<bool, Stop> {
        let Some(top) = self.components.last() else { return Ok(false) };
        let summary = top.summary;
        let from = if top.closed_for == summary { top.closed } else { top.first };
        let mut has_grown = false;
        for member in from..self.members.len() {
            let Member { number, taken, .. } = self.members[member];
            let state: T::State = self.store.state(number);
            let wanted = self.system.closed(&state, taken, self.summaries.row(summary));
            if wanted & !taken != 0 {
                self.expand(member as u32, &state, wanted)?;
                has_grown = true;
            }
            if (member as u64).is_multiple_of(A_CHECK) {
                self.look_up()?;
            }
        }
        let closed = self.members.len();
        if let Some(top) = self.components.last_mut() {
            (top.closed, top.closed_for) = (closed, summary);
        }
        Ok(has_grown)
    }

    /// In a component without exits, takes an agent that can move but was never taken; whether there was one.
    fn take_ignored(&mut self) -> Result<bool, Stop> {
        let Some(top) = self.components.last() else { return Ok(false) };
        let (first, summary, ignored) = (top.first, top.summary, top.enabled & !top.taken);
        if top.has_exit || ignored == 0 {
            return Ok(false);
        }
        let agent = ignored & ignored.wrapping_neg();
        let can_move = |member: &Member| member.enabled & agent != 0;
        let Some(at) = self.members[first..].iter().position(can_move) else { return Ok(false) };
        let Member { number, taken, .. } = self.members[first + at];
        let state: T::State = self.store.state(number);
        let wanted = self.system.closed(&state, taken | agent, self.summaries.row(summary));
        self.expand((first + at) as u32, &state, wanted)?;
        Ok(true)
    }

    /// Nothing new can come of the last component.
    fn leave(&mut self) {
        let Some(top) = self.components.pop() else { return };
        for member in self.members.drain(top.first..) {
            self.marks[member.number as usize] = LEFT | top.summary;
        }
        self.add_below(top.summary);
    }

    /// The run to the state that was found last, with these steps at its end.
    fn steps(&self, flushes: Vec<StepCode>) -> Option<Vec<StepCode>> {
        let mut path = Vec::new();
        let mut member = self.members.last()?;
        loop {
            path.push(self.store.state(member.number));
            if member.depth == 0 {
                break;
            }
            member = &self.members[member.parent as usize];
        }
        path.reverse();
        let steps = path.windows(2).map(|pair: &[T::State]| step_between(self.system, &pair[0], &pair[1]));
        steps.chain(flushes.into_iter().map(Some)).collect()
    }

    fn make_room(&mut self) -> Result<(), Stop> {
        let stopped = |shared: &Shared<'_>| Stop::Limit(shared.stopped().unwrap_or(Limit::Memory));
        let stack = |len: usize, capacity: usize, size: usize| if len == capacity { capacity * size } else { 0 };
        let growth = stack(self.members.len(), self.members.capacity(), size_of::<Member>())
            + stack(self.pending.len(), self.pending.capacity(), size_of::<Edge<T::State>>());
        let wanted = self.store.growth(1) + growth as u64;
        if wanted > 0 {
            self.shared.stored_bytes.store(self.bytes(), Ordering::Relaxed);
            if self.shared.must_stop(wanted) {
                return Err(stopped(self.shared));
            }
        }
        if self.store.reserve(1).is_err() || self.store.len() >= LEFT - 1 {
            self.shared.stop(Limit::Memory);
            return Err(stopped(self.shared));
        }
        Ok(())
    }

    fn stored_bytes(&self) -> u64 {
        let marks = self.marks.capacity() * size_of::<u32>();
        self.store.bytes() + self.summaries.bytes() + marks as u64 + self.system.side_bytes()
    }

    fn bytes(&self) -> u64 {
        let stacks = self.pending.capacity() * size_of::<Edge<T::State>>()
            + self.members.capacity() * size_of::<Member>()
            + self.components.capacity() * size_of::<Component>();
        self.stored_bytes() + stacks as u64
    }

    fn look_up(&mut self) -> Result<(), Stop> {
        self.shared.stored_bytes.store(self.bytes(), Ordering::Relaxed);
        self.shared.must_stop(0);
        let (states, open, depth) = (self.store.len(), self.pending.len(), self.members.last().map_or(0, |m| m.depth));
        let progress =
            || Progress { states: states.into(), open: open as u64, depth: depth.into(), ..Progress::default() };
        self.shared.report(progress);
        self.shared.stopped().map_or(Ok(()), |limit| Err(Stop::Limit(limit)))
    }
}

#[cfg(test)]
mod tests;

//! Proofs about probabilities, checked in exact fractions.
//!
//! The chain is that of docs/probability.md; `system.rs` has its steps, by the rules of this crate. A proof gives, for
//! finitely many configurations, two numbers: the probability to reach the target from there is at least the one, and
//! at most the other. Everywhere else these are 0 and 1. Whether that follows takes a look at single steps only, and at
//! what can be reached at all: see [`ChanceProof::check`].

mod system;
#[cfg(test)]
mod tests;
mod updates;

use std::collections::BTreeSet;
use std::fmt;

use dashu_ratio::RBig;
use weir_ir::{Gather, Interrupt, Poll, Program, StateExpr};

use super::{Fault, PackedStates};
pub use system::{ChanceMove, ChanceSystem, Configuration};

/// How stores leave the buffers after each step of a thread. The fractions are numerator and denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Updates {
    /// Every possible sequence of flushes, including the empty one, is equally likely.
    Uniform,
    /// Repeatedly, with this probability, one more store is flushed, from any buffer that has one.
    Geometric(u64, u64),
    /// One buffer is picked, in proportion to its length, and any number of its stores leaves.
    Single,
}

/// The odds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Odds {
    /// How stores leave the buffers.
    pub updates: Updates,
    /// How much likelier the thread that stepped last is to step again; absent if it is not remembered.
    pub stickiness: Option<(u64, u64)>,
}

/// What is looked for: any of this.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Conditions; those that mention cells count only in drained configurations.
    pub conditions: Vec<StateExpr>,
    /// No thread can step, nothing can be flushed, and not all threads are done.
    pub deadlock: bool,
}

/// A question about a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChanceQuestion {
    /// The target.
    pub wanted: Wanted,
    /// Whether it must be reached infinitely often.
    pub repeated: bool,
    /// The odds.
    pub odds: Odds,
}

/// One, in the units in which proofs give numbers.
pub const ONE: u64 = 1 << 62;

/// A proof that a probability lies between two numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChanceProof {
    /// The states of the configurations.
    pub states: PackedStates,
    /// For each state, and for each thread that may have stepped last (nobody first) if that is remembered, the least
    /// and the greatest that the probability can be, in units of 1 / [`ONE`].
    pub bounds: Vec<(u64, u64)>,
}

/// What can be wrong with such a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChanceFault {
    /// The lists do not fit each other or the program.
    Malformed,
    /// The step rules cannot be applied to this state.
    State(usize, Fault),
    /// This state's lower number does not follow.
    Lower(usize),
    /// This state's upper number does not follow.
    Upper(usize),
    /// From this state runs may go on forever without settling the question.
    Forever(usize),
    /// None was found yet: checking was interrupted.
    Interrupted,
}

impl fmt::Display for ChanceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => write!(f, "the states and the numbers do not fit the program"),
            Self::State(state, _) => write!(f, "state {}: it is none of the program", state + 1),
            Self::Lower(state) => {
                write!(f, "state {}: its lower number does not follow from those around it", state + 1)
            }
            Self::Upper(state) => {
                write!(f, "state {}: its upper number does not follow from those around it", state + 1)
            }
            Self::Forever(state) => {
                write!(f, "state {}: from there a run may never settle the question", state + 1)
            }
            Self::Interrupted => write!(f, "checking was interrupted"),
        }
    }
}

impl ChanceFault {
    /// The state that it is about, if it is about one.
    pub fn state(&self) -> Option<usize> {
        match self {
            Self::State(state, _) | Self::Lower(state) | Self::Upper(state) | Self::Forever(state) => Some(*state),
            Self::Malformed | Self::Interrupted => None,
        }
    }
}

/// Configurations per look at the interrupt.
const PERIOD: u32 = 16;

impl ChanceProof {
    /// What it shows of the initial configuration, once it is [checked](Self::check): the least and the greatest that the
    /// probability can be, in units of 1 / [`ONE`].
    ///
    /// # Errors
    /// If it has nothing to do with the program.
    pub fn interval(&self, program: &Program, question: &ChanceQuestion) -> Result<(u64, u64), ChanceFault> {
        let system = ChanceSystem::new(program, question, self.states.listed())?;
        Ok(self.bounds_of(&system, &system.initial()?))
    }

    /// Checks that the probability lies between the numbers, for each configuration.
    ///
    /// Let l and u be the numbers of a configuration, and P the average over the next step.
    ///
    /// *Once.* Targets have u = 1; so u ≥ Pu (wherever u < 1) bounds the probability, which is the least solution of its
    /// equations. Where l > 0, l ≤ Pl, and from each such configuration some run leaves them or reaches a target. There
    /// are finitely many, so almost every run does. The expectation of l does not decrease on the way, and where it ends
    /// l is at most 1 at a target, and 0 elsewhere: so the probability to end at a target is at least l.
    ///
    /// *Infinitely often.* All of that also holds of the steps from targets. Where l = 1, so it is after every step, and
    /// a target can be reached: so it is, again and again. From where 0 < l < 1 some run leaves these, and l bounds the
    /// probability to get to where it is 1. Where u = 0, so it is after every step. From each target with u < 1 some run
    /// gets to where u = 0 and no target can be reached any more; so almost no run meets such targets again and again
    /// without getting to where u = 1, and u bounds the probability to get there.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(
        &self,
        program: &Program,
        question: &ChanceQuestion,
        interrupt: &dyn Interrupt,
    ) -> Result<(), ChanceFault> {
        let system = ChanceSystem::new(program, question, self.states.listed())?;
        if self.bounds.len() != self.states.len() * system.lasts() || self.bounds.iter().any(|&(low, _)| low > ONE) {
            return Err(ChanceFault::Malformed);
        }
        let poll = Poll::every(PERIOD, interrupt);
        let mut graph = Graph::new(self.bounds.len());
        for (number, state) in self.states.iter().enumerate() {
            system.is_configuration(&state).map_err(|fault| ChanceFault::State(number, fault))?;
            for place in 0..system.lasts() {
                if poll.is_over() {
                    return Err(ChanceFault::Interrupted);
                }
                let configuration = Configuration { state: state.clone(), last: system.last(place) };
                let at = number * system.lasts() + place;
                self.look(&system, question.repeated, (number, at), &configuration, &mut graph)?;
            }
        }
        self.settles(question.repeated, &graph).map_err(|at| ChanceFault::Forever(at / system.lasts()))
    }

    /// Looks at one configuration and its next step.
    fn look(
        &self,
        system: &ChanceSystem<'_>,
        repeated: bool,
        (number, at): (usize, usize),
        configuration: &Configuration,
        graph: &mut Graph,
    ) -> Result<(), ChanceFault> {
        let here = |fault| ChanceFault::State(number, fault);
        let (low, high) = self.bounds[at];
        graph.is_target[at] = system.is_target(&configuration.state).map_err(here)?;
        if graph.is_target[at] && !repeated {
            return if high >= ONE { Ok(()) } else { Err(ChanceFault::Upper(number)) };
        }
        if low == 0 && high >= ONE {
            return Ok(());
        }
        let (mut least, mut most) = (RBig::ZERO, RBig::ZERO);
        for ChanceMove { to, probability, .. } in system.moves(configuration).map_err(here)? {
            let (after, bounds) = self.place_of(system, &to);
            least += &probability * RBig::from(bounds.0);
            most += &probability * RBig::from(bounds.1.min(ONE));
            graph.next[at].extend(after);
            graph.leaves[at] |= bounds.0 == 0;
        }
        if low > 0 && RBig::from(low) > least {
            return Err(ChanceFault::Lower(number));
        }
        if high < ONE && RBig::from(high) < most {
            return Err(ChanceFault::Upper(number));
        }
        Ok(())
    }

    /// Whether almost every run settles the question; else a configuration from which some do not.
    fn settles(&self, repeated: bool, graph: &Graph) -> Result<(), usize> {
        let all = || 0..self.bounds.len();
        let (low, high) = (|at: usize| self.bounds[at].0, |at: usize| self.bounds[at].1);
        if !repeated {
            let inside = |at: usize| low(at) > 0 && !graph.is_target[at];
            let ends = graph.can_reach(|at| graph.is_target[at] || graph.leaves[at], inside);
            return all().find(|&at| inside(at) && !ends.contains(&at)).map_or(Ok(()), Err);
        }
        let between = |at: usize| low(at) > 0 && low(at) < ONE;
        let ends = graph.can_reach(|at| graph.leaves[at] || low(at) == ONE, between);
        let meets = graph.can_reach(|at| graph.is_target[at], |at| low(at) == ONE);
        let alive = graph.can_reach(|at| graph.is_target[at], |_| true);
        let lost = graph.can_reach(|at| high(at) == 0 && !alive.contains(&at), |_| true);
        let fails = |at: &usize| {
            let at = *at;
            between(at) && !ends.contains(&at)
                || low(at) == ONE && !meets.contains(&at)
                || graph.is_target[at] && high(at) < ONE && !lost.contains(&at)
        };
        all().find(fails).map_or(Ok(()), Err)
    }

    /// A proof of nothing yet about configurations with these states.
    pub fn unknown(system: &ChanceSystem<'_>, states: PackedStates) -> Self {
        let count = states.len() * system.lasts();
        Self { states, bounds: vec![(0, ONE); count] }
    }

    /// Sets the numbers of a configuration.
    pub fn set(&mut self, system: &ChanceSystem<'_>, configuration: &Configuration, bounds: (u64, u64)) {
        if let Some(number) = self.states.place(&configuration.state) {
            self.bounds[number * system.lasts() + system.place(configuration.last)] = bounds;
        }
    }

    /// Which configuration it is, if it is one of these, and its numbers.
    fn place_of(&self, system: &ChanceSystem<'_>, configuration: &Configuration) -> (Option<usize>, (u64, u64)) {
        let number = self.states.place(&configuration.state);
        let at = number.map(|number| number * system.lasts() + system.place(configuration.last));
        (at, at.map_or((0, ONE), |at| self.bounds[at]))
    }

    fn bounds_of(&self, system: &ChanceSystem<'_>, configuration: &Configuration) -> (u64, u64) {
        let (low, high) = self.place_of(system, configuration).1;
        (low, high.min(ONE))
    }
}

/// What can follow what.
struct Graph {
    next: Vec<Vec<usize>>,
    is_target: Vec<bool>,
    /// Whether some step leads to where the lower number is 0.
    leaves: Vec<bool>,
}

impl Graph {
    fn new(count: usize) -> Self {
        Self { next: vec![Vec::new(); count], is_target: vec![false; count], leaves: vec![false; count] }
    }

    /// From where one of the ends can be reached through these configurations.
    fn can_reach(&self, is_end: impl Fn(usize) -> bool, through: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.next.len()];
        for at in (0..self.next.len()).filter(|&at| through(at)) {
            self.next[at].iter().for_each(|&to| before[to].push(at));
        }
        let mut found: BTreeSet<usize> = (0..self.next.len()).filter(|&at| is_end(at)).gather();
        let mut open: Vec<usize> = found.iter().copied().collect();
        while let Some(at) = open.pop() {
            open.extend(before[at].iter().filter(|&&from| found.insert(from)));
        }
        found
    }
}

//! Liveness on the graph of all states: a condition can be met again and again from everywhere exactly if every bottom
//! component (strongly connected, and no step leaves it) has a state that meets it.
//!
//! States that were not expanded, since a limit was reached, belong to no bottom component that counts; so a violation
//! can be found before all states are known, and `Holds` only afterwards. Components are computed whenever the graph
//! has doubled: a violation among the first states does not have to wait for the rest, which may be infinite, and when
//! time is up, little work is left to do.

use weir_ir::Program;
use weir_witness::{Goal, Model};

use super::graph::StateGraph;
use super::regions::Regions;
use super::{Answer, Found, Statistics, nothing};
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::coverage::coverage;
use crate::semantics::goals::Recurring;
use crate::semantics::machine::{MemoryModel, System};
use crate::semantics::sc::Sc;
use crate::semantics::size::with_state_size;
use crate::semantics::tso::Tso;
use crate::semantics::{ThreadSteps, TransitionSystem, refuse};
use crate::session::Session;
use crate::verdict::{Failure, Limit};

/// Decides these goals by visiting all states.
pub(super) fn decide(program: &Program, model: Model, goals: &[Goal], session: &Session) -> Result<Found, Failure> {
    refuse::unsupported(program)?;
    let purpose =
        Purpose { keep_dead_registers: false, buffered: model == Model::Tso, monitored: false, goals, keeps_back: &[] };
    let compiled = match compile(program, purpose, session) {
        Err(Failure::Stopped(limit)) => return Ok(nothing(Answer::Stopped(limit))),
        result => result?,
    };
    let question = Question { program, compiled: &compiled, regions: Regions::new(program, &compiled, goals) };
    let found = with_state_size!(compiled.machine.layout.words, from 16, N => match model {
        Model::Sc => question.answer::<Sc, N>(session),
        Model::Tso => question.answer::<Tso, N>(session),
    });
    match compiled.machine.fault.get() {
        Some(fault) => Err(Failure::Bug(fault.clone())),
        None => Ok(found),
    }
}

/// How many states are expanded before components are computed for the first time. Up to there, exploring takes hardly
/// any time.
const FIRST_LOOK: usize = 1 << 17;

struct Question<'a> {
    program: &'a Program,
    compiled: &'a Compiled,
    regions: Regions,
}

impl Question<'_> {
    fn answer<M: MemoryModel, const N: usize>(&self, session: &Session) -> Found {
        let system = System::<M, N>::new(&self.compiled.machine);
        let mut graph = StateGraph::new(&system);
        let (bad, limit) = self.explore(&system, &mut graph, session);
        session.spend(graph.states.len() as u64);
        let answer = match (bad, limit) {
            (Some(state), _) => match graph.run_to(&system, state as u32) {
                Some(run) => Answer::Run(run.into_iter().map(|step| self.compiled.step(step)).collect()),
                None => Answer::Stopped(Limit::Interrupted),
            },
            (None, Some(limit)) => Answer::Stopped(limit),
            (None, None) => Answer::Holds,
        };
        let statistics = Statistics {
            up_to_symmetry: false,
            reduction: crate::verdict::Reduction::None,
            states: graph.states.len() as u64,
            transitions: graph.successors.len() as u64,
            state_bytes: (system.words() * size_of::<u64>()) as u64,
            stored_bytes: graph.bytes() + system.side_bytes(),
            ..Statistics::default()
        };
        Found { answer, statistics, coverage: coverage(self.program, self.compiled, &graph.taken) }
    }

    /// Explores the graph up to a bad state, its end or a limit.
    fn explore<M: MemoryModel, const N: usize>(
        &self,
        system: &System<'_, M, N>,
        graph: &mut StateGraph<N>,
        session: &Session,
    ) -> (Option<usize>, Option<Limit>) {
        let mut look = FIRST_LOOK;
        loop {
            let limit = graph.explore_until(look, system, session);
            let is_urgent = limit.is_some_and(|limit| limit != Limit::States) && graph.expanded() > FIRST_LOOK;
            let bad = if is_urgent { None } else { self.first_bad_state(system, graph) };
            if bad.is_some() || limit.is_some() || graph.expanded() == graph.states.len() {
                return (bad, limit);
            }
            look = look.saturating_mul(2);
        }
    }

    /// The first state, in the order of the search, of a bottom component that fails a goal.
    fn first_bad_state<M: MemoryModel, const N: usize>(
        &self,
        system: &System<'_, M, N>,
        graph: &StateGraph<N>,
    ) -> Option<usize> {
        let recurring = &self.compiled.machine.goals.recurring;
        let mut first: Option<usize> = None;
        graph.for_each_bottom_component(|component| {
            let Some(&earliest) = component.first() else { return };
            if first.is_some_and(|known| known < earliest) {
                return;
            }
            let states = || component.iter().map(|&state| &graph.states[state]);
            let is_never_met =
                |goal: &Recurring| !states().any(|state| self.compiled.machine.goals.recurs(goal, state));
            let thread_is_stuck =
                |thread: usize| self.regions.confine(thread, || states().map(|state| system.location(state, thread)));
            if recurring.iter().any(is_never_met) || (0..self.regions.count()).any(thread_is_stuck) {
                first = Some(earliest);
            }
        });
        first
    }
}

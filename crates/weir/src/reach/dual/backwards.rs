//! Backward coverability for drained states other than the initial one: from which of them can a goal be reached, and
//! which of them are reachable?
//!
//! Run until saturation, the backward search decides for every reachable drained state whether a goal can follow: it
//! can exactly if the state is above a configuration of the minimal basis. (For unreachable states the answer means
//! nothing.)

use weir_ir::{Address, LocId, Program, RegId, Value};
use weir_witness::{Goal, Step};

use super::config::{Config, FREE};
use super::goals::{self, Target};
use super::local_graph::{Local, LocalGraphs, Symmetry};
use super::predecessors::System;
use super::well_structured::{Basis, Search};
use super::{counterexample, goal_basis, initial, local_graphs, no_condition, system, too_large};
use crate::semantics::compile::Compiled;
use crate::semantics::state::Packed;
use crate::session::Session;
use crate::verdict::Failure;
use crate::wsts::Outcome;

/// A state with empty buffers: for each thread that runs its place and its registers, and what cells hold.
pub(crate) struct Drained<'a> {
    pub(crate) threads: Vec<(LocId, Vec<(RegId, Value)>)>,
    /// Who holds the lock, by position.
    pub(crate) holder: Option<usize>,
    pub(crate) cell: Box<dyn Fn(Address) -> Value + 'a>,
}

impl<'a> Drained<'a> {
    /// What is in a state of the compiled program. Its buffers must be empty.
    pub(crate) fn of<const N: usize>(compiled: &'a Compiled, state: &'a Packed<N>) -> Self {
        let machine = &compiled.machine;
        let threads = machine.threads.iter().enumerate().map(|(position, code)| {
            let location = LocId::new(state.raw(code.location) as usize);
            let live = compiled.live_fields(position, location);
            (location, live.map(|(register, field)| (register, state.get(field))).collect())
        });
        let holder = machine.layout.lock.and_then(|field| (state.raw(field) as usize).checked_sub(1));
        let cell = Box::new(|address| machine.read(state, machine.layout.cells.target(address)));
        Self { threads: threads.collect(), holder, cell }
    }
}

/// A program prepared for backward search.
pub(crate) struct Backwards {
    local_graphs: LocalGraphs,
    system: System,
    targets: Vec<Target>,
    most_states: u64,
}

/// Configurations from which something can be reached.
pub(crate) struct Region(Basis);

impl Backwards {
    /// Prepares a program with these goals. A thread stops where it meets one of the `ends`, if that is about this
    /// thread only.
    ///
    /// # Errors
    /// If the engine cannot handle the program, or at a limit.
    pub(crate) fn new(
        program: &Program,
        goals: &[Goal],
        ends: &[Goal],
        most_states: u64,
        session: &Session,
    ) -> Result<Self, Failure> {
        let mut local_graphs = local_graphs(program, Symmetry::Ignore, session)?;
        let targets = goals::targets(program, &local_graphs, goals).ok_or_else(no_condition)?;
        targets
            .iter()
            .filter(|target| ends.contains(&target.goal))
            .for_each(|target| end_at(&mut local_graphs, target));
        let system = system(&local_graphs, &targets, session).map_err(Failure::Stopped)?;
        Ok(Self { local_graphs, system: system.ok_or_else(|| too_large(program))?, targets, most_states })
    }

    /// From where this one of the goals can be reached. None at a limit.
    pub(crate) fn to_goal(&self, goal: Goal, session: &Session) -> Option<Region> {
        let targets: Vec<Target> = self.targets.iter().filter(|target| target.goal == goal).cloned().collect();
        let basis = goal_basis(&self.system, &self.local_graphs, &targets, session).ok()?.ok()?;
        self.region(basis.into_iter().map(|(_, config)| config), session)
    }

    /// From where a goal can be reached. None at a limit.
    pub(crate) fn to_goals(&self, session: &Session) -> Option<Region> {
        let basis = goal_basis(&self.system, &self.local_graphs, &self.targets, session).ok()?.ok()?;
        self.region(basis.into_iter().map(|(_, config)| config), session)
    }

    /// From where one of these drained states can be reached. None at a limit.
    pub(crate) fn to(&self, states: &[Drained<'_>], session: &Session) -> Option<Region> {
        self.region(states.iter().filter_map(|state| self.config(state)), session)
    }

    fn region(&self, basis: impl Iterator<Item = Config>, session: &Session) -> Option<Region> {
        let mut search = Search::new(&self.system, None);
        basis.for_each(|config| search.add(config.0, None));
        match search.run(session, self.most_states) {
            Outcome::Saturated => Some(Region(search.basis)),
            Outcome::Covered(_) | Outcome::Stopped(_) => None,
        }
    }

    /// Whether a reachable drained state is in the region. None if the state has something that no run produces.
    pub(crate) fn is_in(&self, region: &Region, state: &Drained<'_>) -> Option<bool> {
        self.config(state).map(|config| region.0.contains(&self.system, &config.0))
    }

    /// A run to one of these drained states, or to one that no goal can tell from it; the inner value is none if there
    /// is no run. None at a limit.
    pub(crate) fn run_to(&self, states: &[Drained<'_>], session: &Session) -> Option<Option<Vec<Step>>> {
        self.run_to_any(states.iter().filter_map(|state| self.config(state)), session)
    }

    /// A run to a goal; the inner value is none if there is no run. None at a limit.
    pub(crate) fn run_to_goals(&self, session: &Session) -> Option<Option<Vec<Step>>> {
        let basis = goal_basis(&self.system, &self.local_graphs, &self.targets, session).ok()?.ok()?;
        self.run_to_any(basis.into_iter().map(|(_, config)| config), session)
    }

    fn run_to_any(&self, basis: impl Iterator<Item = Config>, session: &Session) -> Option<Option<Vec<Step>>> {
        let initial = initial(&self.system, &self.local_graphs);
        let mut search = Search::new(&self.system, Some(&initial.0));
        basis.for_each(|config| search.add(config.0, None));
        match search.run(session, self.most_states) {
            Outcome::Saturated => Some(None),
            Outcome::Stopped(_) => None,
            Outcome::Covered(id) => {
                let counterexample = counterexample::reconstruct(&search, id)?;
                let threads: Vec<usize> = (0..counterexample.thread_at.len()).collect();
                counterexample.run(&search, &self.local_graphs, &threads).map(Some)
            }
        }
    }

    /// A drained state in the load-buffer semantics, where its buffers are empty, too. None if it has something that no
    /// run produces.
    fn config(&self, state: &Drained<'_>) -> Option<Config> {
        let local_graphs = &self.local_graphs;
        let mut locals = Vec::new();
        for (position, (location, known)) in state.threads.iter().enumerate() {
            let graph = local_graphs.of(position);
            let live = &graph.live[location.index()];
            let mut registers = vec![0; graph.states[0].registers.len()];
            for &(register, value) in known.iter().filter(|&&(register, _)| live.contains(register)) {
                registers[register.index()] = value;
            }
            let holds = state.holder == Some(position);
            let number = graph.number(&Local { location: *location, registers: registers.into(), holds })?;
            locals.push(self.system.automaton(position).class_of[number as usize]);
        }
        let mut memory = Vec::new();
        for (address, values) in local_graphs.cells.addresses.iter().zip(&local_graphs.cells.values) {
            let value = (state.cell)(*address);
            memory.push(values.iter().position(|&known| known == value)? as u16);
        }
        let lock = state.holder.map_or(FREE, |position| position as u16 + 1);
        Some(Config::new(&self.system.shape, lock, &locals, &memory))
    }
}

/// Takes away what a thread does after it has met the goal, if the goal is about that thread only.
fn end_at(local_graphs: &mut LocalGraphs, goal: &Target) {
    let Some((position, meets)) = goal.of_one_thread(local_graphs) else { return };
    let graph = local_graphs.of_mut(position);
    for (moves, _) in graph.moves.iter_mut().zip(meets).filter(|(_, meets)| *meets) {
        moves.clear();
    }
}

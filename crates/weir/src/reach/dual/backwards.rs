//! The same search, asked about other drained states than the initial one: from which of them can a goal be reached, and which can be reached?
//!
//! Run to its end, the backward search tells of every drained state that the program can be in whether a goal can follow: it
//! is above a least configuration, or it is not. (Of states that the program cannot be in, it may tell anything.)

use weir_ir::{Address, LocId, Program, RegId, Value};
use weir_witness::{Goal, Step};

use super::config::{Config, FREE};
use super::goals::{self, Wanted};
use super::predecessors::System;
use super::search::{Found, Outcome, Search};
use super::unfold::{Local, Twins, Unfolded, unfold};
use super::{initial, system, targets, witness};
use crate::Session;

/// A state with empty buffers: for each thread that runs its place and its registers, and what cells hold.
pub(crate) struct Drained<'a> {
    pub(crate) threads: Vec<(LocId, Vec<(RegId, Value)>)>,
    /// Who holds the lock, by position.
    pub(crate) holder: Option<usize>,
    pub(crate) cell: Box<dyn Fn(Address) -> Value + 'a>,
}

/// A program made ready to be searched backwards.
pub(crate) struct Backwards {
    unfolded: Unfolded,
    system: System,
    wanted: Vec<Wanted>,
    most_states: u64,
}

/// Configurations from which something can be reached.
pub(crate) struct Region(Found);

impl Backwards {
    /// Makes a program with these goals ready. A thread stops where it meets one of the `ends`, if that is about this thread only. None if the engine cannot handle the program, or at a limit.
    pub(crate) fn new(
        program: &Program,
        goals: &[Goal],
        ends: &[Goal],
        most_states: u64,
        session: &Session,
    ) -> Option<Self> {
        let mut unfolded = unfold(program, Twins::Apart, session).ok()?;
        let wanted = goals::wanted(program, &unfolded, goals)?;
        wanted.iter().filter(|wanted| ends.contains(&wanted.goal)).for_each(|wanted| end_at(&mut unfolded, wanted));
        let system = system(&unfolded, &wanted, session).ok()??;
        Some(Self { unfolded, system, wanted, most_states })
    }

    /// From where a goal can be reached. None at a limit.
    pub(crate) fn to_goals(&self, session: &Session) -> Option<Region> {
        let targets = targets(&self.system, &self.unfolded, &self.wanted, session).ok()??;
        self.region(targets.into_iter().map(|(_, config)| config), session)
    }

    /// From where one of these drained states can be reached. None at a limit.
    pub(crate) fn to(&self, states: &[Drained<'_>], session: &Session) -> Option<Region> {
        self.region(states.iter().filter_map(|state| self.config(state)), session)
    }

    fn region(&self, targets: impl Iterator<Item = Config>, session: &Session) -> Option<Region> {
        let mut search = Search::new(&self.system, None);
        targets.for_each(|config| search.add(config, None));
        match search.run(session, self.most_states) {
            Outcome::Closed => Some(Region(search.found)),
            Outcome::Reached(_) | Outcome::Stopped(_) => None,
        }
    }

    /// Whether a drained state that the program can be in is in the region. Nothing is said of one that has something that no run makes.
    pub(crate) fn is_in(&self, region: &Region, state: &Drained<'_>) -> Option<bool> {
        let shape = &self.system.shape;
        self.config(state).map(|config| region.0.contains(shape, config.view(shape)))
    }

    /// A run to one of these drained states, or to one that no goal can tell from it; the inner value is none if there is no
    /// run. None at a limit.
    pub(crate) fn run_to(&self, states: &[Drained<'_>], session: &Session) -> Option<Option<Vec<Step>>> {
        self.run_to_any(states.iter().filter_map(|state| self.config(state)), session)
    }

    /// A run to a goal; the inner value is none if there is no run. None at a limit.
    pub(crate) fn run_to_goals(&self, session: &Session) -> Option<Option<Vec<Step>>> {
        let targets = targets(&self.system, &self.unfolded, &self.wanted, session).ok()??;
        self.run_to_any(targets.into_iter().map(|(_, config)| config), session)
    }

    fn run_to_any(&self, targets: impl Iterator<Item = Config>, session: &Session) -> Option<Option<Vec<Step>>> {
        let initial = initial(&self.system, &self.unfolded);
        let mut search = Search::new(&self.system, Some(&initial));
        targets.for_each(|config| search.add(config, None));
        match search.run(session, self.most_states) {
            Outcome::Closed => Some(None),
            Outcome::Stopped(_) => None,
            Outcome::Reached(id) => {
                let tale = witness::retell(&search, id)?;
                let role: Vec<usize> = (0..tale.actors.len()).collect();
                tale.run(&search, &self.unfolded, &role).map(Some)
            }
        }
    }

    /// A drained state in the load-buffer view, where it has empty buffers, too. None if it has something that no run makes.
    fn config(&self, state: &Drained<'_>) -> Option<Config> {
        let unfolded = &self.unfolded;
        let mut locals = Vec::new();
        for (position, (location, told)) in state.threads.iter().enumerate() {
            let graph = &unfolded.graphs[unfolded.group_of[position]];
            let live = &graph.live[location.index()];
            let mut registers = vec![0; graph.states[0].registers.len()];
            for &(register, value) in told.iter().filter(|&&(register, _)| live.contains(register)) {
                registers[register.index()] = value;
            }
            let holds = state.holder == Some(position);
            let number = graph.number(&Local { location: *location, registers: registers.into(), holds })?;
            locals.push(self.system.automaton(position).class_of[number as usize]);
        }
        let mut memory = Vec::new();
        for (address, values) in unfolded.cells.addresses.iter().zip(&unfolded.cells.values) {
            let value = (state.cell)(*address);
            memory.push(values.iter().position(|&known| known == value)? as u16);
        }
        let lock = state.holder.map_or(FREE, |position| position as u16 + 1);
        Some(Config::new(&self.system.shape, lock, &locals, &memory))
    }
}

/// Takes away what a thread does after it has met the goal, if the goal is about that thread only.
fn end_at(unfolded: &mut Unfolded, goal: &Wanted) {
    let Some((position, meets)) = goal.of_one_thread(unfolded) else { return };
    let graph = &mut unfolded.graphs[unfolded.group_of[position]];
    for (moves, _) in graph.moves.iter_mut().zip(meets).filter(|(_, meets)| *meets) {
        moves.clear();
    }
}

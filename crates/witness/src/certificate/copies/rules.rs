//! The steps of what all threads share, and of one copy beside it.
//!
//! They are those of a program with one copy: the copy that moves has a place of its own after those of all threads. If
//! another copy holds the lock, somebody else does.

use weir_ir::{EdgeId, Instruction, Multiplicity, Program, ThreadId};

use super::super::attacks::{Growing, Monitor, ON_PATH, Phase};
use super::super::check::{Checker, Claim};
use super::super::{AbstractBuffer, AbstractState, AbstractThread, Buffering, Fault, ListedRegisters};
use super::{CopyState, listed_with_copies};
use crate::run::{Goal, Model};

/// Holds the lock in place of a copy that is not looked at.
const SOMEBODY: ThreadId = ThreadId(u32::MAX);

/// Robustness is shown with all else under TSO.
const CLAIM: Claim<'static> = Claim { model: Model::Sc, buffering: Buffering::EXACT, goals: &[Goal::NotRobust] };

/// The threads that run, and the places of those of which there are arbitrarily many.
pub(super) fn places(program: &Program) -> (Vec<ThreadId>, Vec<usize>) {
    let multiplicity = |thread: ThreadId| program.thread(thread).multiplicity;
    let runs = |&thread: &ThreadId| multiplicity(thread) != Multiplicity::Spawned;
    let running: Vec<ThreadId> = program.thread_ids().filter(runs).collect();
    let is_template = |&place: &usize| multiplicity(running[place]) == Multiplicity::Arbitrary;
    let templates = (0..running.len()).filter(is_template).collect();
    (running, templates)
}

/// What evaluates instructions, for states with these registers, of which there may be so many.
pub(super) fn checker<'p>(
    program: &'p Program,
    listed: &ListedRegisters,
    most: u64,
) -> Result<Checker<'p, Growing>, Fault> {
    let (running, templates) = places(program);
    let copies: Vec<ThreadId> = templates.iter().map(|&place| running[place]).collect();
    let listed = listed_with_copies(listed, &templates).ok_or(Fault::Malformed)?;
    let mut checker = Checker::of(program, CLAIM, [running, copies].concat(), Growing { most });
    checker.list(&listed)?;
    Ok(checker)
}

/// The rules.
pub(super) struct Rules<'a, 'p> {
    pub(super) checker: &'a Checker<'p, Growing>,
    monitor: Monitor<'a, 'p, Growing>,
    is_monitored: bool,
    /// How many threads run; the places of moving copies follow.
    pub(super) running: usize,
    /// The places of threads of which there are arbitrarily many.
    pub(super) templates: Vec<usize>,
}

/// Where a step leads: the shared state, and the copy that has moved, if it has not become the attacker.
pub(super) struct Next {
    pub(super) by: (ThreadId, EdgeId),
    pub(super) shared: AbstractState,
    pub(super) copy: Option<CopyState>,
}

impl<'a, 'p> Rules<'a, 'p> {
    pub(super) fn new(checker: &'a Checker<'p, Growing>, model: Model) -> Self {
        let (running, templates) = places(checker.program);
        let (monitor, is_monitored) = (Monitor::new(checker), model == Model::Tso);
        Self { checker, monitor, is_monitored, running: running.len(), templates }
    }

    /// The shared state at the start.
    pub(super) fn start(&self) -> Option<AbstractState> {
        let mut start = self.checker.recorded(self.checker.start())?;
        start.threads.truncate(self.running);
        Some(start)
    }

    /// Copies that have not moved, of each thread.
    pub(super) fn fresh(&self) -> Option<Vec<CopyState>> {
        let start = self.checker.recorded(self.checker.start())?;
        let fresh = |(thread, &of): (&AbstractThread, &usize)| CopyState {
            of,
            location: thread.location,
            registers: thread.registers.clone(),
            holds_lock: false,
            is_on_path: false,
        };
        Some(start.threads[self.running..].iter().zip(&self.templates).map(fresh).collect())
    }

    /// Whether a copy can be in this state beside the shared state, as far as the lock tells.
    pub(super) fn fits(&self, shared: &AbstractState, copy: &CopyState) -> bool {
        !copy.holds_lock || (copy.of < self.running && shared.lock_holder == Some(self.checker.threads[copy.of]))
    }

    /// Whether all of these can, together.
    pub(super) fn all_fit<'c>(
        &self,
        shared: &AbstractState,
        copies: impl Iterator<Item = &'c CopyState> + Clone,
    ) -> bool {
        copies.clone().filter(|copy| copy.holds_lock).count() <= 1 && copies.into_iter().all(|c| self.fits(shared, c))
    }

    /// Whether another copy that was beside the shared state can still be there after a step.
    pub(super) fn stays(&self, other: &CopyState, mover: Option<&CopyState>, next: &Next) -> bool {
        let holds = |copy: Option<&CopyState>| copy.is_some_and(|copy| copy.holds_lock);
        !other.holds_lock || (self.fits(&next.shared, other) && !holds(mover) && !holds(next.copy.as_ref()))
    }

    /// All steps but those of copies.
    pub(super) fn of_shared(&self, shared: &AbstractState) -> Result<Vec<Next>, Fault> {
        let (plain, phase) = self.view(shared, None)?;
        let mut found = Vec::new();
        for place in 0..self.running {
            if !self.templates.contains(&place) || attacker(&phase) == Some(place) {
                self.step((&plain, &phase), place, shared, &mut found)?;
            }
        }
        Ok(found)
    }

    /// All steps of a copy.
    pub(super) fn of_copy(&self, shared: &AbstractState, copy: &CopyState) -> Result<Vec<Next>, Fault> {
        let (plain, phase) = self.view(shared, Some(copy))?;
        let place = self.slot(copy.of).ok_or(Fault::Malformed)?;
        let mut found = Vec::new();
        self.step((&plain, &phase), place, shared, &mut found)?;
        Ok(found)
    }

    /// Whether no attack has begun, and whether one has succeeded.
    pub(super) fn progress(&self, shared: &AbstractState) -> Result<(bool, bool), Fault> {
        let (plain, phase) = self.view(shared, None)?;
        let succeeded = matches!(&phase, Phase::Path(path) if path.has_succeeded(&plain));
        Ok((phase == Phase::Before, succeeded))
    }

    /// Where a copy of this thread moves.
    fn slot(&self, of: usize) -> Option<usize> {
        Some(self.running + self.templates.iter().position(|&place| place == of)?)
    }

    /// The state of a program with one copy.
    fn view(&self, shared: &AbstractState, copy: Option<&CopyState>) -> Result<(AbstractState, Phase), Fault> {
        let start = self.checker.recorded(self.checker.start()).ok_or(Fault::Malformed)?;
        if shared.threads.len() != self.running {
            return Err(Fault::Malformed);
        }
        let mut state = shared.clone();
        state.threads.extend_from_slice(&start.threads[self.running..]);
        let mut holds = false;
        if let Some(copy) = copy {
            let place = self.slot(copy.of).ok_or(Fault::Malformed)?;
            let queue = if copy.is_on_path { vec![(0, ON_PATH)] } else { Vec::new() };
            let buffer = AbstractBuffer { queue, ..AbstractBuffer::default() };
            state.threads[place] =
                AbstractThread { location: copy.location, registers: copy.registers.clone(), buffer };
            holds = copy.holds_lock;
        }
        let is_copy = |holder: ThreadId| self.templates.iter().any(|&place| self.checker.threads[place] == holder);
        if state.lock_holder.is_some_and(is_copy) && !holds {
            state.lock_holder = Some(SOMEBODY);
        }
        let (plain, phase) = self.monitor.read(&state).ok_or(Fault::Malformed)?;
        // A place for the attacker is that of a copy that has not moved, as long as there is none there.
        let is_empty = |&place: &usize| attacker(&phase) == Some(place) || plain.threads[place] == start.threads[place];
        let is_of_the_model = self.is_monitored || phase == Phase::Before;
        let fits = copy.is_none_or(|copy| self.fits(shared, copy));
        if is_of_the_model && fits && self.templates.iter().all(is_empty) {
            Ok((plain, phase))
        } else {
            Err(Fault::Malformed)
        }
    }

    fn step(
        &self,
        (plain, phase): (&AbstractState, &Phase),
        place: usize,
        shared: &AbstractState,
        found: &mut Vec<Next>,
    ) -> Result<(), Fault> {
        let thread = self.checker.threads[place];
        for (id, edge) in self.checker.program.body(thread).edges_from(plain.threads[place].location) {
            if matches!(edge.instruction, Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_)) {
                return Err(Fault::Unsupported);
            }
            let next = if self.is_monitored {
                self.monitor.take(plain, phase, place, edge)
            } else {
                let next = self.monitor.under_sc(plain, place, edge);
                next.map(|states| states.into_iter().map(|state| (state, Phase::Before)).collect())
            };
            let next = next.map_err(|fault| match fault {
                // A choice among more values than there are states.
                Fault::Malformed => Fault::Leaves(thread, Some(id)),
                fault => fault,
            })?;
            for (state, phase) in next {
                let (shared, copy) = self.apart(state, phase, place, shared).ok_or(Fault::Malformed)?;
                found.push(Next { by: (thread, id), shared, copy });
            }
        }
        Ok(())
    }

    /// What all threads share, and the copy that has moved.
    fn apart(
        &self,
        mut state: AbstractState,
        mut phase: Phase,
        place: usize,
        before: &AbstractState,
    ) -> Option<(AbstractState, Option<CopyState>)> {
        let of = place.checked_sub(self.running).map(|number| self.templates[number]);
        let mut copy = None;
        if let Some(of) = of {
            let (holds_lock, mut is_on_path) = (state.lock_holder == Some(self.checker.threads[place]), false);
            match &mut phase {
                Phase::Delaying(delaying) if delaying.attacker == place => {
                    delaying.attacker = of;
                    state.threads.swap(place, of);
                }
                other => {
                    if let Phase::Path(path) = other {
                        is_on_path = path.helpers.remove(&place);
                    }
                    copy = Some((holds_lock, is_on_path));
                }
            }
        }
        if state.lock_holder == Some(SOMEBODY) {
            state.lock_holder = before.lock_holder;
        }
        let mut state = self.checker.recorded(self.monitor.write(state, &phase))?;
        let copy = of.zip(copy).map(|(of, (holds_lock, is_on_path))| {
            let own = &state.threads[place];
            CopyState { of, location: own.location, registers: own.registers.clone(), holds_lock, is_on_path }
        });
        state.threads.truncate(self.running);
        Some((state, copy))
    }
}

fn attacker(phase: &Phase) -> Option<usize> {
    match phase {
        Phase::Before => None,
        Phase::Delaying(delaying) => Some(delaying.attacker),
        Phase::Path(path) => Some(path.attacker),
    }
}

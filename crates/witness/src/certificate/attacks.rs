//! A proof that a program is robust: states of the program together with a monitor that looks for attacks.
//!
//! A program is not robust if and only if an attack is feasible ("Checking and Enforcing Robustness against TSO"; for
//! locks see SOUNDNESS.md). The monitor is in one of three phases:
//! - *Before*: SC. A thread may begin to delay with any store outside a locked section of its own, if control flow leads
//!   from there to a load without anything that drains the buffer.
//! - *Delaying*: stores of this attacker go to an overlay, which its loads prefer; it does nothing that needs an empty
//!   buffer. Others go on under SC, but nobody executes a membarrier. When the attacker loads from memory, it may halt.
//! - *Path*: the attacker has halted, and nothing about it matters except the address of its first delayed store. A
//!   helper acts only if it is on the path or if something on the path happens before what it does. A locked section is
//!   one action. If the address of the delayed store is on the path, and the lock is free, the attack has succeeded.
//!
//! No reduction is used here: this is the definition, over plain maps. States are written like those of other proofs,
//! except that buffers, which are always empty under SC, hold what the monitor remembers.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use weir_ir::{Address, Body, Edge, EdgeId, Gather, Instruction, Interrupt, Poll, Program, RegId, ThreadId, Value};

use super::check::{Checker, Claim, PERIOD, States};
use super::{
    AbstractBuffer, AbstractState, AbstractThread, Buffering, CertificateError, Fault, ListedRegisters, PackedStates,
    Packer, Waiting,
};
use crate::interpret::outcome;
use crate::run::{Goal, Model};

/// Values in the queue of a buffer that say what the monitor knows about its thread: with the address of the first
/// delayed store, that the thread delays or has halted; with address 0, that it is on the path.
const DELAYS: Value = 0;
const HALTED: Value = 1;
pub(super) const ON_PATH: Value = 2;

/// What a proof of robustness claims.
const CLAIM: Claim<'static> = Claim { model: Model::Sc, buffering: Buffering::EXACT, goals: &[Goal::NotRobust] };

/// Checks that a set of states of the monitored program shows the program to be robust.
///
/// # Errors
/// If it does not show that; the error says where it fails.
pub fn check_attack_proof(
    program: &Program,
    states: &PackedStates,
    interrupt: &dyn Interrupt,
) -> Result<(), CertificateError> {
    let mut checker = Checker::new(program, CLAIM, states)?;
    checker.list(states.listed()).map_err(|fault| checker.error(None, fault))?;
    checker.holds_the_start()?;
    let monitor = Monitor::new(&checker);
    let poll = Poll::every(PERIOD, interrupt);
    let mut seen = 0;
    for (number, state) in states.iter().enumerate() {
        if poll.is_over() {
            return Err(checker.error(None, Fault::Interrupted));
        }
        monitor.stays_inside(&state).map_err(|fault| checker.error(Some(number), fault))?;
        seen += 1;
    }
    // Every state that can be looked up must have been checked.
    if seen >= states.len() { Ok(()) } else { Err(checker.error(Some(seen), Fault::Malformed)) }
}

/// All states of the monitored program that can be reached, with these registers; `None` if there are more than `most`.
///
/// # Errors
/// If they do not show that the program is robust.
pub fn attack_closure(
    program: &Program,
    listed: ListedRegisters,
    most: u64,
    interrupt: &dyn Interrupt,
) -> Result<Option<PackedStates>, CertificateError> {
    let mut checker = Checker::new(program, CLAIM, Growing { most })?;
    checker.list(&listed).map_err(|fault| checker.error(None, fault))?;
    let monitor = Monitor::new(&checker);
    let poll = Poll::every(PERIOD, interrupt);
    let start = checker.recorded(checker.start()).ok_or_else(|| checker.error(None, Fault::Malformed))?;
    let (mut seen, mut open) = (HashSet::from([start.clone()]), vec![start]);
    let mut packer = Packer::new(listed);
    while let Some(state) = open.pop() {
        if poll.is_over() {
            return Err(checker.error(None, Fault::Interrupted));
        }
        packer.add(&state);
        let expanded = monitor.steps(&state, &mut |_, next| {
            let next = checker.recorded(next);
            if let Some(next) = next.filter(|next| !seen.contains(next)) {
                seen.insert(next.clone());
                open.push(next);
            }
            true
        });
        match expanded {
            // A choice among more values than there may be states.
            Err(Fault::Leaves(..)) => return Ok(None),
            expanded => expanded.map_err(|fault| checker.error(None, fault))?,
        }
        if seen.len() as u64 > most {
            return Ok(None);
        }
    }
    Ok(Some(packer.finish()))
}

/// A set of states that is still growing, up to this many.
pub(super) struct Growing {
    pub(super) most: u64,
}

impl States for Growing {
    fn has(&self, _: &AbstractState) -> bool {
        false
    }

    fn count(&self) -> usize {
        usize::try_from(self.most).unwrap_or(usize::MAX)
    }

    fn decides_liveness(&self) -> bool {
        false
    }
}

/// What the monitor remembers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Before,
    Delaying(Delaying),
    Path(Path),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Delaying {
    /// The place of the attacker among the threads.
    pub(super) attacker: usize,
    /// Of the first delayed store.
    address: Address,
    /// The newest delayed value of each address.
    overlay: BTreeMap<Address, Value>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Path {
    pub(super) attacker: usize,
    address: Address,
    /// The places of those on the path.
    pub(super) helpers: BTreeSet<usize>,
    levels: BTreeMap<Address, Level>,
}

/// How an address was accessed on the path, and in a locked section that is under way and not on the path so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Level {
    path: Access,
    section: Access,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
enum Access {
    #[default]
    None,
    Load,
    Store,
}

impl Access {
    const ALL: [Self; 3] = [Self::None, Self::Load, Self::Store];
}

impl Level {
    fn number(self) -> Value {
        self.path as Value + 4 * self.section as Value
    }

    pub(super) fn read(number: Value) -> Option<Self> {
        let all = Access::ALL.into_iter().flat_map(|path| Access::ALL.map(|section| Self { path, section }));
        all.skip(1).find(|level| level.number() == number)
    }
}

impl Path {
    /// Whether something on the path happens before this access, whoever makes it.
    fn leads_to(&self, address: Address, access: Access) -> bool {
        let before = if access == Access::Store { Access::Load } else { Access::Store };
        self.levels.get(&address).is_some_and(|level| level.path >= before)
    }

    /// After a helper has made these accesses in one step; `None` if it may not.
    fn after(
        &self,
        helper: usize,
        accesses: &[(Address, Access)],
        instruction: &Instruction,
        in_section: bool,
    ) -> Option<Self> {
        let mut next = self.clone();
        if !self.helpers.contains(&helper) {
            if accesses.iter().any(|&(address, access)| self.leads_to(address, access)) {
                next.join(helper);
            } else {
                // A section may come onto the path later, but not after it has ended.
                let goes_on = in_section && *instruction != Instruction::Unlock;
                if !goes_on && *instruction != Instruction::Lock {
                    return None;
                }
            }
        }
        for &(address, access) in accesses {
            let is_on_path = next.helpers.contains(&helper);
            let level = next.levels.entry(address).or_default();
            let part = if is_on_path { &mut level.path } else { &mut level.section };
            *part = access.max(*part);
        }
        Some(next)
    }

    /// The helper comes onto the path, with all that it has done in its section.
    fn join(&mut self, helper: usize) {
        self.helpers.insert(helper);
        for level in self.levels.values_mut() {
            *level = Level { path: level.path.max(level.section), section: Access::None };
        }
    }

    pub(super) fn has_succeeded(&self, state: &AbstractState) -> bool {
        state.lock_holder.is_none() && self.levels.get(&self.address).is_some_and(|level| level.path > Access::None)
    }
}

/// The rules.
pub(super) struct Monitor<'a, 'p, S> {
    checker: &'a Checker<'p, S>,
    /// For each thread the locations from which control flow leads to a load, past nothing that drains the buffer.
    load_ahead: Vec<Vec<bool>>,
}

/// States of the program, with no buffers, and what the monitor remembers then.
pub(super) type Next = Vec<(AbstractState, Phase)>;

impl<'a, 'p, S: States> Monitor<'a, 'p, S> {
    pub(super) fn new(checker: &'a Checker<'p, S>) -> Self {
        let load_ahead = checker.threads.iter().map(|&thread| load_ahead(checker.program.body(thread))).collect();
        Self { checker, load_ahead }
    }

    /// No attack has succeeded in this state, and every step leads to a state of the set.
    fn stays_inside(&self, state: &AbstractState) -> Result<(), Fault> {
        let mut leaving = None;
        self.steps(state, &mut |step, next| {
            let is_inside = self.checker.covers(next);
            if !is_inside {
                leaving = Some(step);
            }
            is_inside
        })?;
        leaving.map_or(Ok(()), |(thread, edge)| Err(Fault::Leaves(thread, Some(edge))))
    }

    /// Where all steps lead, until `visit` says that this is enough.
    fn steps(
        &self,
        state: &AbstractState,
        visit: &mut impl FnMut((ThreadId, EdgeId), AbstractState) -> bool,
    ) -> Result<(), Fault> {
        let (plain, phase) = self.read(state).ok_or(Fault::Malformed)?;
        if matches!(&phase, Phase::Path(path) if path.has_succeeded(&plain)) {
            return Err(Fault::ShowsGoal(Goal::NotRobust));
        }
        for (place, &thread) in self.checker.threads.iter().enumerate() {
            for (id, edge) in self.checker.program.body(thread).edges_from(plain.threads[place].location) {
                let next = self.take(&plain, &phase, place, edge).map_err(|fault| match fault {
                    Fault::Malformed => Fault::Leaves(thread, Some(id)),
                    fault => fault,
                })?;
                if !next.into_iter().all(|(plain, phase)| visit((thread, id), self.write(plain, &phase))) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    pub(super) fn take(&self, plain: &AbstractState, phase: &Phase, place: usize, edge: &Edge) -> Result<Next, Fault> {
        let under_sc = |phase: Phase| {
            let next = self.under_sc(plain, place, edge)?;
            Ok(next.into_iter().map(|state| (state, phase.clone())).collect())
        };
        match phase {
            Phase::Before => {
                let mut next: Next = under_sc(Phase::Before)?;
                next.extend(self.begin(plain, place, edge)?);
                Ok(next)
            }
            Phase::Delaying(delaying) if delaying.attacker == place => self.delay(plain, delaying, edge),
            Phase::Path(path) if path.attacker == place => Ok(Vec::new()),
            // It waits until the attacker's buffer is empty.
            _ if edge.instruction == Instruction::Membarrier => Ok(Vec::new()),
            Phase::Delaying(_) => under_sc(phase.clone()),
            Phase::Path(path) => {
                let accesses = self.accesses(plain, place, &edge.instruction)?;
                let in_section = plain.lock_holder == Some(self.checker.threads[place]);
                match path.after(place, &accesses, &edge.instruction, in_section) {
                    Some(path) => under_sc(Phase::Path(path)),
                    None => Ok(Vec::new()),
                }
            }
        }
    }

    pub(super) fn under_sc(
        &self,
        plain: &AbstractState,
        place: usize,
        edge: &Edge,
    ) -> Result<Vec<AbstractState>, Fault> {
        let next = self.execute(plain, Buffering::EXACT, place, edge)?;
        Ok(self.checker.landed(edge, next, self.checker.threads[place], place))
    }

    fn execute(
        &self,
        state: &AbstractState,
        buffering: Buffering,
        place: usize,
        edge: &Edge,
    ) -> Result<Vec<AbstractState>, Fault> {
        let choices = |register: RegId, range| self.checker.choices((place, edge.to), register, range);
        let mut interpreter = self.checker.interpreter(state, self.checker.threads[place], place);
        interpreter.buffering = buffering;
        interpreter.execute(edge, choices)
    }

    /// The thread begins to delay with this edge.
    fn begin(&self, plain: &AbstractState, place: usize, edge: &Edge) -> Result<Next, Fault> {
        // In a section of its own it could not give the lock back before its store has landed.
        let in_section = plain.lock_holder == Some(self.checker.threads[place]);
        if in_section || !edge.instruction.is_store() || !self.load_ahead[place][edge.to.index()] {
            return Ok(Vec::new());
        }
        let next = self.execute(plain, Buffering::Coherence(0), place, edge)?.into_iter();
        let begin = |mut state: AbstractState| {
            let overlay = take_overlay(&mut state, place);
            let (&address, _) = overlay.first_key_value()?;
            Some((state, Phase::Delaying(Delaying { attacker: place, address, overlay })))
        };
        Ok(next.filter_map(begin).collect())
    }

    /// The attacker takes an edge: on its way, and perhaps as the load of the attack.
    fn delay(&self, plain: &AbstractState, delaying: &Delaying, edge: &Edge) -> Result<Next, Fault> {
        let place = delaying.attacker;
        let mut from = plain.clone();
        let waiting = |(&address, &newest): (&Address, &Value)| (address, Waiting { newest, older: BTreeMap::new() });
        from.threads[place].buffer.waiting = delaying.overlay.iter().map(waiting).gather();
        let mut loaded = BTreeMap::new();
        if edge.instruction.is_load() {
            let accesses = self.accesses(plain, place, &edge.instruction)?;
            let from_memory = accesses.into_iter().filter(|(address, _)| !delaying.overlay.contains_key(address));
            loaded.extend(from_memory.map(|(address, path)| (address, Level { path, section: Access::None })));
        }
        let mut all = Vec::new();
        for mut state in self.execute(&from, Buffering::Coherence(0), place, edge)? {
            let overlay = take_overlay(&mut state, place);
            if !loaded.is_empty() {
                let (address, helpers) = (delaying.address, BTreeSet::new());
                let path = Path { attacker: place, address, helpers, levels: loaded.clone() };
                all.push((state.clone(), Phase::Path(path)));
            }
            if self.load_ahead[place][state.threads[place].location.index()] {
                all.push((state, Phase::Delaying(Delaying { overlay, ..delaying.clone() })));
            }
        }
        Ok(all)
    }

    /// What an instruction would access.
    fn accesses(
        &self,
        plain: &AbstractState,
        place: usize,
        instruction: &Instruction,
    ) -> Result<Vec<(Address, Access)>, Fault> {
        let interpreter = self.checker.interpreter(plain, self.checker.threads[place], place);
        let one = |address, access| Ok(vec![(interpreter.eval(address)?, access)]);
        match instruction {
            Instruction::Load { address, .. } => one(address, Access::Load),
            Instruction::Store { address, .. } => one(address, Access::Store),
            Instruction::ReadModifyWrite { address, operation, .. } => {
                let address = interpreter.eval(address)?;
                let read = interpreter.read(address);
                let (written, _) = outcome(operation, read, |operand| interpreter.eval(operand))?;
                Ok(vec![(address, if written.is_some() { Access::Store } else { Access::Load })])
            }
            Instruction::Snapshot(loads) | Instruction::Await { loads, .. } => {
                loads.iter().map(|(_, address)| Ok((interpreter.eval(address)?, Access::Load))).collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    /// A state with what the monitor remembers in place of buffers.
    pub(super) fn write(&self, mut plain: AbstractState, phase: &Phase) -> AbstractState {
        let waiting = |newest| Waiting { newest, older: BTreeMap::new() };
        match phase {
            Phase::Before => {}
            Phase::Delaying(delaying) => {
                let overlay = delaying.overlay.iter().map(|(&address, &value)| (address, waiting(value))).gather();
                plain.threads[delaying.attacker].buffer =
                    AbstractBuffer { queue: vec![(delaying.address, DELAYS)], waiting: overlay };
            }
            Phase::Path(path) => {
                let levels = path.levels.iter().map(|(&address, level)| (address, waiting(level.number()))).gather();
                plain.threads[path.attacker] = self.forgotten(path.attacker);
                plain.threads[path.attacker].buffer =
                    AbstractBuffer { queue: vec![(path.address, HALTED)], waiting: levels };
                for &helper in &path.helpers {
                    plain.threads[helper].buffer.queue = vec![(0, ON_PATH)];
                }
            }
        }
        plain
    }

    /// A thread of which nothing matters any more.
    fn forgotten(&self, place: usize) -> AbstractThread {
        let body = self.checker.program.body(self.checker.threads[place]);
        let registers = (0..body.registers.len()).map(|register| (RegId::new(register), 0)).gather();
        AbstractThread { location: body.entry, registers, buffer: AbstractBuffer::default() }
    }

    /// The state of the program, and what the monitor remembers; `None` if it cannot be written like this.
    pub(super) fn read(&self, state: &AbstractState) -> Option<(AbstractState, Phase)> {
        let mut plain = state.clone();
        plain.threads.iter_mut().for_each(|thread| thread.buffer = AbstractBuffer::default());
        let mark = |thread: &AbstractThread| match thread.buffer.queue[..] {
            [(address, mark)] => Some((address, mark)),
            _ => None,
        };
        let mut phase = Phase::Before;
        for (attacker, thread) in state.threads.iter().enumerate() {
            let values = || thread.buffer.waiting.iter().map(|(&address, waiting)| (address, waiting.newest));
            match mark(thread) {
                Some((address, DELAYS)) => {
                    phase = Phase::Delaying(Delaying { attacker, address, overlay: values().gather() });
                }
                Some((address, HALTED)) => {
                    let is_on_path = |place: &usize| mark(&state.threads[*place]) == Some((0, ON_PATH));
                    let helpers = (0..state.threads.len()).filter(is_on_path).gather();
                    let mut levels = BTreeMap::new();
                    for (address, number) in values() {
                        levels.insert(address, Level::read(number)?);
                    }
                    phase = Phase::Path(Path { attacker, address, helpers, levels });
                }
                _ => {}
            }
        }
        // Whatever else the buffers say is not what the monitor would have written.
        let again = self.checker.recorded(self.write(plain.clone(), &phase))?;
        (again == *state).then_some((plain, phase))
    }
}

/// Takes the stores that wait out of a buffer: the newest value of each address.
fn take_overlay(state: &mut AbstractState, place: usize) -> BTreeMap<Address, Value> {
    let buffer = std::mem::take(&mut state.threads[place].buffer);
    buffer.waiting.into_iter().map(|(address, waiting)| (address, waiting.newest)).gather()
}

/// The locations from which control flow leads to a load, past nothing that drains the buffer.
fn load_ahead(body: &Body) -> Vec<bool> {
    let mut incoming = vec![Vec::new(); body.locations.len()];
    let mut ahead = vec![false; body.locations.len()];
    let mut open = Vec::new();
    for edge in body.edges() {
        if edge.instruction.is_load() {
            open.push(edge.from);
        } else if !edge.instruction.drains() {
            incoming[edge.to.index()].push(edge.from);
        }
    }
    while let Some(location) = open.pop() {
        if !std::mem::replace(&mut ahead[location.index()], true) {
            open.extend_from_slice(&incoming[location.index()]);
        }
    }
    ahead
}

#[cfg(test)]
mod tests;

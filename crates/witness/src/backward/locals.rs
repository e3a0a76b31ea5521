//! Threads by themselves: the moves between the classes of their states, whatever their loads find.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, Edge, Gather, Instruction, LocId, Poll, Program, RegExpr, RegId, ThreadId, Value};

use super::fault::BackwardFault;
use super::{BackwardProof, LocalState};
use crate::interpret::outcome;
use crate::limits::MOST_VALUES;

/// What a move does to memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Label {
    Silent,
    /// Finds these values, by ascending address, at once.
    Load(Vec<(Address, Value)>),
    Store(Address, Value),
    Fence,
    /// Needs the buffers of all threads empty.
    Membarrier,
    ReadModifyWrite(Address, Value, Value),
    Lock,
    Unlock,
}

/// A move from one class to another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ClassMove {
    pub(super) to: usize,
    pub(super) label: Label,
    pub(super) from: usize,
}

/// A thread by itself.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Locals {
    /// Moves that change something, by where they lead.
    pub(super) moves: BTreeSet<ClassMove>,
    /// For each class whether the thread holds the lock there.
    pub(super) holds: Vec<bool>,
    pub(super) start: usize,
}

impl Locals {
    /// What the thread can store.
    pub(super) fn stores(&self) -> BTreeSet<(Address, Value)> {
        let store = |step: &ClassMove| match step.label {
            Label::Store(address, value) => Some((address, value)),
            _ => None,
        };
        self.moves.iter().filter_map(store).gather()
    }
}

/// The values that each cell may hold.
pub(super) type Values = BTreeMap<Address, BTreeSet<Value>>;

/// Finds the moves of all threads, and the values of cells, and checks that the classes hold every state.
pub(super) fn locals(
    program: &Program,
    threads: &[ThreadId],
    proof: &BackwardProof,
    poll: &Poll<'_>,
) -> Result<(Vec<Locals>, Values), BackwardFault> {
    if proof.classes.len() != threads.len() {
        return Err(BackwardFault::Malformed);
    }
    let all_states: Result<Vec<LocalStates<'_>>, _> = threads
        .iter()
        .zip(&proof.classes)
        .map(|(&thread, classes)| LocalStates::new(program, thread, classes))
        .collect();
    let all_states = all_states?;
    let mut values = Values::new();
    loop {
        let before: usize = values.values().map(|values| values.len()).sum();
        let found: Result<Vec<Locals>, _> = all_states.iter().map(|states| states.locals(&mut values, poll)).collect();
        let found = found?;
        // Values that were found on the way give loads more to find.
        if values.values().map(|values| values.len()).sum::<usize>() == before {
            return Ok((found, values));
        }
    }
}

/// The states of one thread.
struct LocalStates<'a> {
    program: &'a Program,
    thread: ThreadId,
    class_of: BTreeMap<&'a LocalState, usize>,
    /// The registers that are live (listed) at each location.
    live: BTreeMap<LocId, BTreeSet<RegId>>,
    holds: Vec<bool>,
}

impl<'a> LocalStates<'a> {
    fn new(program: &'a Program, thread: ThreadId, classes: &'a [Vec<LocalState>]) -> Result<Self, BackwardFault> {
        let body = program.body(thread);
        let mut states = Self { program, thread, class_of: BTreeMap::new(), live: BTreeMap::new(), holds: Vec::new() };
        for (number, class) in classes.iter().enumerate() {
            let holds = class.first().ok_or(BackwardFault::Malformed)?.holds_lock;
            states.holds.push(holds);
            for state in class {
                let live: BTreeSet<RegId> = state.registers.keys().copied().gather();
                let fits = state.location.index() < body.locations.len()
                    && live.iter().all(|register| register.index() < body.registers.len())
                    && state.holds_lock == holds
                    && *states.live.entry(state.location).or_insert_with(|| live.clone()) == live;
                if !fits || states.class_of.insert(state, number).is_some() {
                    return Err(BackwardFault::Malformed);
                }
            }
        }
        Ok(states)
    }

    /// The class of a state, restricted to the registers that are live there.
    fn class(&self, location: LocId, mut registers: BTreeMap<RegId, Value>, holds_lock: bool) -> Option<usize> {
        let live = self.live.get(&location)?;
        registers.retain(|register, _| live.contains(register));
        self.class_of.get(&LocalState { location, registers, holds_lock }).copied()
    }

    fn locals(&self, values: &mut Values, poll: &Poll<'_>) -> Result<Locals, BackwardFault> {
        let body = self.program.body(self.thread);
        let zeros = (0..body.registers.len()).map(|register| (RegId::new(register), 0)).gather();
        let missing = BackwardFault::MissingState(self.thread);
        let start = self.class(body.entry, zeros, false).ok_or(missing)?;
        let mut moves = BTreeSet::new();
        for (&state, &from) in &self.class_of {
            if poll.is_over() {
                return Err(BackwardFault::Interrupted);
            }
            for (_, edge) in body.edges_from(state.location) {
                self.follow(state, edge, values, &mut |label, to| {
                    // What changes nothing needs no look.
                    let idle = match label {
                        Label::Silent | Label::Load(..) | Label::Fence | Label::Membarrier => true,
                        Label::ReadModifyWrite(_, old, new) => old == new,
                        Label::Store(..) | Label::Lock | Label::Unlock => false,
                    };
                    if to != from || !idle {
                        moves.insert(ClassMove { to, label, from });
                    }
                })?;
            }
        }
        Ok(Locals { moves, holds: self.holds.clone(), start })
    }

    fn eval(&self, state: &LocalState, expr: &RegExpr) -> Result<Value, BackwardFault> {
        let mut unlisted = None;
        let value = expr.eval(&mut |register| {
            state.registers.get(register).copied().unwrap_or_else(|| {
                unlisted = Some(BackwardFault::UnknownRegister(self.thread, *register));
                0
            })
        });
        unlisted.map_or(Ok(value), Err)
    }

    /// Calls `emit` for each move along the edge.
    fn follow(
        &self,
        state: &LocalState,
        edge: &Edge,
        values: &mut Values,
        emit: &mut impl FnMut(Label, usize),
    ) -> Result<(), BackwardFault> {
        let holds = state.holds_lock;
        let mut go = |label, to: LocId, set: Option<(RegId, Value)>, holds| {
            let registers = state.registers.iter().map(|(&register, &value)| (register, value)).chain(set).gather();
            let class = self.class(to, registers, holds).ok_or(BackwardFault::MissingState(self.thread))?;
            emit(label, class);
            Ok(())
        };
        match &edge.instruction {
            Instruction::Skip | Instruction::Terminate => go(Label::Silent, edge.to, None, holds),
            Instruction::Load { register, address } => {
                let address = self.eval(state, address)?;
                for value in self.known(values, address) {
                    go(Label::Load(vec![(address, value)]), edge.to, Some((*register, value)), holds)?;
                }
                Ok(())
            }
            Instruction::Store { address, value } => {
                let (address, value) = (self.eval(state, address)?, self.eval(state, value)?);
                if !self.program.admits(address, value) {
                    return Ok(());
                }
                let value = self.program.stored(address, value);
                self.learn(values, address, value)?;
                go(Label::Store(address, value), edge.to, None, holds)
            }
            Instruction::Fence => go(Label::Fence, edge.to, None, holds),
            Instruction::Membarrier => go(Label::Membarrier, edge.to, None, holds),
            Instruction::Assign { register, value } => {
                go(Label::Silent, edge.to, Some((*register, self.eval(state, value)?)), holds)
            }
            Instruction::Assume(condition) if self.eval(state, condition)? == 0 => Ok(()),
            Instruction::Assume(_) => go(Label::Silent, edge.to, None, holds),
            Instruction::Assert(condition) => {
                let failed = self.program.body(self.thread).failed.ok_or(BackwardFault::Malformed)?;
                let to = if self.eval(state, condition)? != 0 { edge.to } else { failed };
                go(Label::Silent, to, None, holds)
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                let address = self.eval(state, address)?;
                for old in self.known(values, address) {
                    let (written, result) = outcome(operation, old, |operand| self.eval(state, operand))?;
                    if written.is_some_and(|new| !self.program.admits(address, new)) {
                        continue;
                    }
                    let new = written.map_or(old, |new| self.program.stored(address, new));
                    self.learn(values, address, new)?;
                    let set = register.map(|register| (register, result));
                    go(Label::ReadModifyWrite(address, old, new), edge.to, set, holds)?;
                }
                Ok(())
            }
            Instruction::Lock if !holds => go(Label::Lock, edge.to, None, true),
            Instruction::Unlock if holds => go(Label::Unlock, edge.to, None, false),
            Instruction::Lock | Instruction::Unlock => Ok(()),
            Instruction::Havoc { register, range } => {
                let live = self.live.get(&edge.to).is_some_and(|live| live.contains(register));
                let high = if live { range.high } else { range.low };
                for value in range.low..=high {
                    go(Label::Silent, edge.to, Some((*register, value)), holds)?;
                }
                Ok(())
            }
            Instruction::Snapshot(loads) => self.loads(state, edge.to, (loads, None), values, emit),
            Instruction::Await { loads, condition } => {
                self.loads(state, edge.to, (loads, Some(condition)), values, emit)
            }
            Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => {
                Err(BackwardFault::Unsupported)
            }
        }
    }

    /// Several loads at once: all combinations of values that the cells may hold, and of those only the ones with which
    /// the condition holds, if there is one.
    fn loads(
        &self,
        state: &LocalState,
        to: LocId,
        (loads, condition): (&[(RegId, RegExpr)], Option<&RegExpr>),
        values: &mut Values,
        emit: &mut impl FnMut(Label, usize),
    ) -> Result<(), BackwardFault> {
        let mut found: Vec<BTreeMap<Address, Value>> = vec![BTreeMap::new()];
        let mut addresses = Vec::new();
        for (_, address) in loads {
            let address = self.eval(state, address)?;
            addresses.push(address);
            if found[0].contains_key(&address) {
                continue;
            }
            let known = self.known(values, address);
            if found.len() * known.len() > MOST_VALUES {
                return Err(BackwardFault::TooManyValues(address));
            }
            let longer = |found: &BTreeMap<Address, Value>| -> Vec<BTreeMap<Address, Value>> {
                let with = |&value| found.iter().map(|(&at, &old)| (at, old)).chain([(address, value)]).gather();
                known.iter().map(with).collect()
            };
            found = found.iter().flat_map(longer).collect();
        }
        for found in found {
            let mut registers = state.registers.clone();
            registers.extend(loads.iter().zip(&addresses).map(|((register, _), address)| (*register, found[address])));
            let after = LocalState { registers: registers.clone(), ..state.clone() };
            if let Some(condition) = condition
                && self.eval(&after, condition)? == 0
            {
                continue;
            }
            let class = self.class(to, registers, state.holds_lock);
            let class = class.ok_or(BackwardFault::MissingState(self.thread))?;
            emit(Label::Load(found.into_iter().collect()), class);
        }
        Ok(())
    }

    fn known(&self, values: &mut Values, address: Address) -> Vec<Value> {
        let first = self.program.initial_value(address);
        values.entry(address).or_insert_with(|| BTreeSet::from([first])).iter().copied().collect()
    }

    fn learn(&self, values: &mut Values, address: Address, value: Value) -> Result<(), BackwardFault> {
        let first = self.program.initial_value(address);
        let known = values.entry(address).or_insert_with(|| BTreeSet::from([first]));
        known.insert(value);
        if known.len() > MOST_VALUES { Err(BackwardFault::TooManyValues(address)) } else { Ok(()) }
    }
}

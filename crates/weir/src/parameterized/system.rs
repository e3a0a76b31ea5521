//! The counter abstraction of a program: a thread transition system.
//!
//! Copies of a thread cannot be told apart, so a state of an instance is what all threads share (its *control state*)
//! and how many copies are in each local state. Which local states can occur beside which control state is computed
//! first, as if each copy were alone with the others' effects on the control state (thread-modular reachability). This
//! over-approximates what all instances can do, for two local states may each occur beside a control state and never
//! both. All moves that instances can make are among those found.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::state::{Control, Local, Phase};
use super::step::{Code, TooManyChoices};
use crate::session::Session;
use crate::verdict::Limit;

/// A control state, by number.
pub(super) type ControlId = u32;
/// A local state, by number.
pub(super) type LocalId = u32;

/// A move into a control state, by what it needs and what it leaves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Move {
    pub(super) from: ControlId,
    /// The local state of the copy that moves; `None` for a thread of which there is only one.
    pub(super) before: Option<LocalId>,
    /// Its local state afterwards; `None` if it is part of the control state then.
    pub(super) after: Option<LocalId>,
}

/// A thread transition system.
pub(super) struct System {
    pub(super) controls: Numbering<Control>,
    pub(super) locals: Numbering<Local>,
    /// Where it starts, and how it moves.
    pub(super) table: Table,
}

/// A thread transition system of which nothing is known but numbers.
#[derive(Default)]
pub(super) struct Table {
    /// The local states in which copies start.
    pub(super) initial_locals: Vec<LocalId>,
    /// The control states at the start.
    pub(super) initial_controls: Vec<ControlId>,
    /// For each control state the moves that lead there.
    pub(super) moves_into: Vec<Vec<Move>>,
    /// For each control state the local states that can occur beside it.
    pub(super) present: Vec<LocalSet>,
}

impl Table {
    pub(super) fn can_occur(&self, control: ControlId, local: LocalId) -> bool {
        self.present[control as usize].contains(local)
    }
}

/// Why the system could not be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Incomplete {
    /// There are more states or moves than allowed.
    TooLarge,
    /// A limit was reached.
    Stopped(Limit),
}

impl From<TooManyChoices> for Incomplete {
    fn from(_: TooManyChoices) -> Self {
        Self::TooLarge
    }
}

/// Values with their numbers, in order of arrival.
pub(super) struct Numbering<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Numbering<T> {
    fn new() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }

    /// The number of a value, and whether it is new.
    fn number(&mut self, value: T) -> (u32, bool) {
        if let Some(&number) = self.numbers.get(&value) {
            return (number, false);
        }
        let number = self.values.len() as u32;
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        (number, true)
    }

    pub(super) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}

/// A set of local states.
#[derive(Clone, Default)]
pub(super) struct LocalSet(Vec<u64>);

impl LocalSet {
    fn contains(&self, local: LocalId) -> bool {
        self.0.get(local as usize / 64).is_some_and(|word| word >> (local % 64) & 1 == 1)
    }

    pub(super) fn insert(&mut self, local: LocalId) -> bool {
        let at = local as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let before = self.0[at];
        self.0[at] |= 1 << (local % 64);
        self.0[at] != before
    }

    /// Adds all of another set; whether that adds anything.
    fn extend(&mut self, other: &Self) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut grows = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            grows |= more & !*word != 0;
            *word |= more;
        }
        grows
    }

    fn without(&self, other: &Self) -> Self {
        let word = |(at, word): (usize, &u64)| word & !other.0.get(at).copied().unwrap_or(0);
        Self(self.0.iter().enumerate().map(word).collect())
    }

    fn iter(&self) -> impl Iterator<Item = LocalId> + '_ {
        let bits = |(at, &word): (usize, &u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as LocalId * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

impl System {
    /// The local states that can occur beside a control state.
    pub(super) fn present(&self, control: ControlId) -> impl Iterator<Item = LocalId> + '_ {
        self.table.present[control as usize].iter()
    }

    /// Builds the system of a program, with at most so many moves and pairs of states.
    pub(super) fn new(code: &Code<'_>, most: u64, session: &Session) -> Result<Self, Incomplete> {
        let mut builder = Builder::new(code, most);
        builder.start()?;
        while let Some(control) = builder.open.pop() {
            builder.is_open[control as usize] = false;
            if let Some(limit) = session.exceeded() {
                return Err(Incomplete::Stopped(limit));
            }
            builder.expand(control)?;
        }
        let mut system = builder.system;
        for moves in &mut system.table.moves_into {
            moves.sort_unstable();
            moves.dedup();
        }
        Ok(system)
    }
}

struct Builder<'a> {
    code: &'a Code<'a>,
    system: System,
    /// For each control state the local states whose moves are known.
    expanded: Vec<LocalSet>,
    /// For each control state whether the moves of threads of which there is one each are known.
    has_single_moves: Vec<bool>,
    /// For each control state those that one move leads to, also as a set of pairs.
    successors: Vec<Vec<ControlId>>,
    links: HashSet<(ControlId, ControlId)>,
    /// Control states beside which there may be local states whose moves are not known.
    open: Vec<ControlId>,
    is_open: Vec<bool>,
    /// How much more may be found.
    left: u64,
}

impl<'a> Builder<'a> {
    fn new(code: &'a Code<'a>, most: u64) -> Self {
        let system = System { controls: Numbering::new(), locals: Numbering::new(), table: Table::default() };
        Self {
            code,
            system,
            expanded: Vec::new(),
            has_single_moves: Vec::new(),
            successors: Vec::new(),
            links: HashSet::new(),
            open: Vec::new(),
            is_open: Vec::new(),
            left: most,
        }
    }

    fn spend(&mut self, amount: u64) -> Result<(), Incomplete> {
        self.left = self.left.checked_sub(amount).ok_or(Incomplete::TooLarge)?;
        Ok(())
    }

    /// All threads at their start.
    fn start(&mut self) -> Result<(), Incomplete> {
        let code = self.code;
        for &thread in &code.templates {
            for local in code.settled(code.entry(thread))? {
                let (local, _) = self.system.locals.number(local);
                self.system.table.initial_locals.push(local);
            }
        }
        let mut singles: Vec<Vec<Option<Local>>> = vec![Vec::new()];
        for &thread in &code.single {
            let settled = code.settled(code.entry(thread))?;
            let with = |before: &Vec<Option<Local>>| {
                let with = |local: &Local| [before.clone(), vec![Some(local.clone())]].concat();
                settled.iter().map(with).collect::<Vec<_>>()
            };
            singles = singles.iter().flat_map(with).collect();
            self.spend(singles.len() as u64)?;
        }
        for single in singles {
            let control = Control { memory: Default::default(), is_locked: false, single, phase: Phase::Before };
            let control = self.control(control)?;
            self.system.table.initial_controls.push(control);
            for at in 0..self.system.table.initial_locals.len() {
                let local = self.system.table.initial_locals[at];
                self.system.table.present[control as usize].insert(local);
            }
        }
        Ok(())
    }

    fn control(&mut self, control: Control) -> Result<ControlId, Incomplete> {
        let (number, is_new) = self.system.controls.number(control);
        if is_new {
            self.spend(1)?;
            self.system.table.moves_into.push(Vec::new());
            self.system.table.present.push(LocalSet::default());
            self.expanded.push(LocalSet::default());
            self.successors.push(Vec::new());
            self.has_single_moves.push(false);
            self.is_open.push(true);
            self.open.push(number);
        }
        Ok(number)
    }

    fn reopen(&mut self, control: ControlId) {
        if !std::mem::replace(&mut self.is_open[control as usize], true) {
            self.open.push(control);
        }
    }

    /// Finds the moves from a control state that are not known, and what follows from them.
    fn expand(&mut self, from: ControlId) -> Result<(), Incomplete> {
        let control = self.system.controls.get(from).clone();
        if !std::mem::replace(&mut self.has_single_moves[from as usize], true) {
            self.single_moves(from, &control)?;
        }
        let fresh = self.system.table.present[from as usize].without(&self.expanded[from as usize]);
        self.expanded[from as usize].extend(&fresh);
        for at in 0..self.successors[from as usize].len() {
            let to = self.successors[from as usize][at];
            if self.system.table.present[to as usize].extend(&fresh) {
                self.reopen(to);
            }
        }
        for before in fresh.iter() {
            self.spend(1)?;
            let local = self.system.locals.get(before).clone();
            let mut found = Vec::new();
            self.code.steps(&control, &local, &mut |next| found.push(next))?;
            for (next, own) in found {
                self.add(from, Some(before), next, own)?;
            }
        }
        Ok(())
    }

    /// The moves of threads of which there is one each.
    fn single_moves(&mut self, from: ControlId, control: &Control) -> Result<(), Incomplete> {
        for (place, local) in control.single.iter().enumerate() {
            let Some(local) = local else { continue };
            let mut found = Vec::new();
            self.code.steps(control, local, &mut |next| found.push(next))?;
            for (mut next, own) in found {
                next.single[place] = own;
                self.add(from, None, next, None)?;
            }
        }
        if let Phase::Delaying(delaying) = &control.phase {
            let mut found = Vec::new();
            self.code.load_from_memory(control, delaying, &mut |next| found.push(next))?;
            for (next, _) in found {
                self.add(from, None, next, None)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        from: ControlId,
        before: Option<LocalId>,
        next: Control,
        own: Option<Local>,
    ) -> Result<(), Incomplete> {
        let to = self.control(next)?;
        let after = own.map(|own| self.system.locals.number(own).0);
        if to == from && before == after {
            return Ok(());
        }
        self.spend(1)?;
        self.system.table.moves_into[to as usize].push(Move { from, before, after });
        let mut grows = after.is_some_and(|after| self.system.table.present[to as usize].insert(after));
        if to != from && self.links.insert((from, to)) {
            self.successors[from as usize].push(to);
            let beside = self.system.table.present[from as usize].clone();
            grows |= self.system.table.present[to as usize].extend(&beside);
        }
        if grows {
            self.reopen(to);
        }
        Ok(())
    }
}

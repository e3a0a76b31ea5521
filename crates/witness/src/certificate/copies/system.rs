//! All that can occur, by the rules, with any number of copies; and the moves between.

use std::collections::{BTreeSet, HashMap};

use weir_ir::{Interrupt, Poll, Program};

use super::super::check::PERIOD;
use super::super::{AbstractState, CertificateError, Fault, ListedRegisters, Packer};
use super::goals::targets;
use super::rules::{Next, Rules, checker};
use super::{CopiesProof, CopyState, Minimal};
use crate::run::{Goal, Model};

/// A move into a shared state: from where, and the local state of the copy that moves, if it is one, before and
/// afterwards, all by number. A copy that becomes the attacker has none afterwards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Move {
    /// The shared state.
    pub from: usize,
    /// The copy before the move.
    pub before: Option<usize>,
    /// The copy after the move.
    pub after: Option<usize>,
}

/// What can occur, and the moves between.
#[derive(Clone, Debug)]
pub struct CopiesSystem {
    /// The shared states.
    pub shared: Vec<AbstractState>,
    /// The local states of copies.
    pub copies: Vec<CopyState>,
    /// For each shared state the local states that can occur beside it.
    pub beside: Vec<BTreeSet<usize>>,
    /// For each shared state the moves that lead there.
    pub moves_into: Vec<Vec<Move>>,
    /// The shared state at the start.
    pub start: usize,
    /// The local states of copies that have not moved.
    pub fresh: Vec<usize>,
}

/// All that can occur under SC, or with a monitor for attacks if the model is TSO, with these registers; `None` if there
/// are more than `most` states, moves, and local states beside shared ones.
///
/// # Errors
/// If the program cannot be checked, or if checking is interrupted.
pub fn copies_closure(
    program: &Program,
    model: Model,
    listed: &ListedRegisters,
    most: u64,
    interrupt: &dyn Interrupt,
) -> Result<Option<CopiesSystem>, CertificateError> {
    let fault = |fault| CertificateError::new(program, None, fault);
    let checker = checker(program, listed, most).map_err(fault)?;
    let rules = Rules::new(&checker, model);
    let mut closure = Closure::new(&rules, most);
    match closure.run(&Poll::every(PERIOD, interrupt)) {
        Ok(()) => Ok(Some(closure.system)),
        // There are too many, or too many values to choose from.
        Err(None | Some(Fault::Leaves(..))) => Ok(None),
        Err(Some(other)) => Err(fault(other)),
    }
}

impl CopiesSystem {
    /// Minimal states such that all states that show one of these goals are above one.
    ///
    /// # Errors
    /// If such a proof cannot be about one of the goals.
    pub fn targets(
        &self,
        program: &Program,
        (model, goals): (Model, &[Goal]),
        listed: &ListedRegisters,
    ) -> Result<BTreeSet<Minimal>, CertificateError> {
        let fault = |fault| CertificateError::new(program, None, fault);
        let checker = checker(program, listed, u64::MAX).map_err(fault)?;
        targets(&Rules::new(&checker, model), (model, goals), self).map_err(fault)
    }

    /// The proof with these minimal states.
    pub fn proof(&self, model: Model, goals: &[Goal], listed: &ListedRegisters, minimal: &[Minimal]) -> CopiesProof {
        let mut packer = Packer::new(listed.clone());
        self.shared.iter().for_each(|state| packer.add(state));
        let shared = packer.finish();
        let mut numbers = HashMap::new();
        let mut beside = Vec::new();
        let known: HashMap<&AbstractState, usize> = self.shared.iter().zip(0..).collect();
        for (number, state) in shared.iter().enumerate() {
            if let Some(&old) = known.get(&state) {
                numbers.insert(old, number);
                beside.push(self.beside[old].iter().copied().collect());
            }
        }
        let renumbered =
            |one: &Minimal| Some(Minimal { shared: *numbers.get(&one.shared)?, copies: one.copies.clone() });
        let mut minimal: Vec<Minimal> = minimal.iter().filter_map(renumbered).collect();
        minimal.sort_unstable();
        CopiesProof { model, goals: goals.to_vec(), shared, copies: self.copies.clone(), beside, minimal }
    }
}

/// The set while it grows.
struct Closure<'r, 'a, 'p> {
    rules: &'r Rules<'a, 'p>,
    system: CopiesSystem,
    shared: HashMap<AbstractState, usize>,
    copies: HashMap<CopyState, usize>,
    /// For each shared state the local states whose moves are known, and the moves from it that any copies outlast.
    expanded: Vec<BTreeSet<usize>>,
    moves_from: Vec<Vec<(Option<usize>, Next, usize)>>,
    open: Vec<usize>,
    left: u64,
}

/// Nothing is wrong, but there are too many.
type Stop = Option<Fault>;

impl<'r, 'a, 'p> Closure<'r, 'a, 'p> {
    fn new(rules: &'r Rules<'a, 'p>, most: u64) -> Self {
        let system = CopiesSystem {
            shared: Vec::new(),
            copies: Vec::new(),
            beside: Vec::new(),
            moves_into: Vec::new(),
            start: 0,
            fresh: Vec::new(),
        };
        Self {
            rules,
            system,
            shared: HashMap::new(),
            copies: HashMap::new(),
            expanded: Vec::new(),
            moves_from: Vec::new(),
            open: Vec::new(),
            left: most,
        }
    }

    fn run(&mut self, poll: &Poll<'_>) -> Result<(), Stop> {
        let (start, fresh) = self.rules.start().zip(self.rules.fresh()).ok_or(Some(Fault::Malformed))?;
        self.system.start = self.shared(start)?;
        for copy in fresh {
            let copy = self.copy(copy);
            self.system.fresh.push(copy);
            self.system.beside[0].insert(copy);
        }
        while let Some(from) = self.open.pop() {
            if poll.is_over() {
                return Err(Some(Fault::Interrupted));
            }
            self.expand(from)?;
        }
        for moves in &mut self.system.moves_into {
            moves.sort_unstable();
            moves.dedup();
        }
        Ok(())
    }

    fn spend(&mut self, amount: usize) -> Result<(), Stop> {
        self.left = self.left.checked_sub(amount as u64).ok_or(None)?;
        Ok(())
    }

    fn shared(&mut self, state: AbstractState) -> Result<usize, Stop> {
        if let Some(&number) = self.shared.get(&state) {
            return Ok(number);
        }
        self.spend(1)?;
        let number = self.system.shared.len();
        self.system.shared.push(state.clone());
        self.shared.insert(state, number);
        self.system.beside.push(BTreeSet::new());
        self.system.moves_into.push(Vec::new());
        self.expanded.push(BTreeSet::new());
        self.moves_from.push(Vec::new());
        self.expand_shared(number)?;
        Ok(number)
    }

    /// Finds the moves of all but copies, once; they are followed when the state is expanded.
    fn expand_shared(&mut self, number: usize) -> Result<(), Stop> {
        let found = self.rules.of_shared(&self.system.shared[number]).map_err(Some)?;
        self.open.push(number);
        self.moves_from[number] = found.into_iter().map(|next| (None, next, usize::MAX)).collect();
        Ok(())
    }

    fn copy(&mut self, state: CopyState) -> usize {
        let next = self.system.copies.len();
        let number = *self.copies.entry(state.clone()).or_insert(next);
        if number == next {
            self.system.copies.push(state);
        }
        number
    }

    /// Finds the moves of copies that are new beside a shared state, and makes all others outlast all moves.
    fn expand(&mut self, from: usize) -> Result<(), Stop> {
        let fresh: Vec<usize> = self.system.beside[from].difference(&self.expanded[from]).copied().collect();
        self.expanded[from].extend(&fresh);
        for &before in &fresh {
            self.spend(1)?;
            let copy = &self.system.copies[before];
            let found = self.rules.of_copy(&self.system.shared[from], copy).map_err(Some)?;
            self.moves_from[from].extend(found.into_iter().map(|next| (Some(before), next, usize::MAX)));
        }
        let mut moves = std::mem::take(&mut self.moves_from[from]);
        for (before, next, to) in &mut moves {
            let is_new = *to == usize::MAX;
            let others = if is_new {
                *to = self.shared(next.shared.clone())?;
                self.spend(1)?;
                let after = next.copy.clone().map(|copy| self.copy(copy));
                self.system.moves_into[*to].push(Move { from, before: *before, after });
                if after.is_some_and(|after| self.system.beside[*to].insert(after)) {
                    self.open.push(*to);
                }
                self.system.beside[from].iter().copied().collect()
            } else {
                fresh.clone()
            };
            let mover = before.map(|before| &self.system.copies[before]);
            let stay = others.into_iter().filter(|&other| self.rules.stays(&self.system.copies[other], mover, next));
            let stay: Vec<usize> = stay.collect();
            let count = self.system.beside[*to].len();
            self.system.beside[*to].extend(stay);
            if self.system.beside[*to].len() > count {
                self.open.push(*to);
            }
        }
        self.moves_from[from].append(&mut moves);
        Ok(())
    }
}

//! The Markov chain: what the next step can be, and how likely each is (docs/probability.md).

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use weir_ir::{EdgeId, Instruction, Multiplicity, Program, StateAtom, StateExpr, ThreadId, Value};

use super::updates::after_update;
use super::{ChanceFault, ChanceQuestion};
use crate::certificate::check::{Checker, Claim};
use crate::certificate::{AbstractState, Buffering, Fault, ListedRegisters, PackedStates, Packer};
use crate::run::Model;

/// A state, and who stepped last if that is remembered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Configuration {
    /// The state.
    pub state: AbstractState,
    /// The thread, by its place among those that run.
    pub last: Option<usize>,
}

/// One way to go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChanceMove {
    /// The edge that is taken, if a thread can step.
    pub edge: Option<(ThreadId, EdgeId)>,
    /// How likely it is.
    pub probability: RBig,
    /// Where it leads.
    pub to: Configuration,
}

/// An edge that can be taken, and the states right afterwards.
type Taken = (EdgeId, Vec<AbstractState>);

/// More values than these are not tried one by one.
const MOST_VALUES: u64 = 1 << 16;

/// The chain of a program.
pub struct ChanceSystem<'a> {
    checker: Checker<'a, &'a PackedStates>,
    question: &'a ChanceQuestion,
}

impl<'a> ChanceSystem<'a> {
    /// The chain of configurations that record these registers.
    ///
    /// # Errors
    /// If the program has recursion, `spawn` or arbitrarily many threads, or registers that do not fit it.
    pub fn new(
        program: &'a Program,
        question: &'a ChanceQuestion,
        listed: &ListedRegisters,
    ) -> Result<Self, ChanceFault> {
        let runs = |thread: &ThreadId| program.thread(*thread).multiplicity != Multiplicity::Spawned;
        let threads: Vec<ThreadId> = program.thread_ids().filter(runs).collect();
        let is_fixed = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::One;
        if program.is_dynamic() || !threads.iter().all(is_fixed) {
            return Err(ChanceFault::Malformed);
        }
        let claim = Claim { model: Model::Tso, buffering: Buffering::EXACT, goals: &[] };
        let mut checker = Checker::of(program, claim, threads, none());
        checker.list(listed).map_err(|_| ChanceFault::Malformed)?;
        Ok(Self { checker, question })
    }

    /// How many threads, counting nobody, may have stepped last.
    pub(super) fn lasts(&self) -> usize {
        if self.question.odds.stickiness.is_some() { self.checker.threads.len() + 1 } else { 1 }
    }

    /// Who stepped last: nobody first, then the threads in order.
    pub(super) fn last(&self, place: usize) -> Option<usize> {
        place.checked_sub(1)
    }

    pub(super) fn place(&self, last: Option<usize>) -> usize {
        last.map_or(0, |thread| thread + 1)
    }

    /// Where the chain begins.
    ///
    /// # Errors
    /// If the registers that are recorded do not fit the program.
    pub fn initial(&self) -> Result<Configuration, ChanceFault> {
        let state = self.checker.recorded(self.checker.start()).ok_or(ChanceFault::Malformed)?;
        Ok(Configuration { state, last: None })
    }

    /// Whether it is a state with buffers in order.
    pub(super) fn is_configuration(&self, state: &AbstractState) -> Result<(), Fault> {
        let in_order = state.threads.iter().all(|own| own.buffer.waiting.is_empty());
        let listed = self.checker.recorded(state.clone()).is_some_and(|again| again == *state);
        if in_order && listed { Ok(()) } else { Err(Fault::Malformed) }
    }

    /// Whether the state is one that is looked for.
    ///
    /// # Errors
    /// If a register that matters is not recorded.
    pub fn is_target(&self, state: &AbstractState) -> Result<bool, Fault> {
        let is_drained = state.threads.iter().all(|own| own.buffer.is_empty());
        for condition in &self.question.wanted.conditions {
            if (is_drained || !speaks_of_cells(condition)) && self.checker.holds(state, condition)? {
                return Ok(true);
            }
        }
        Ok(self.question.wanted.deadlock && self.is_deadlock(state)?)
    }

    fn is_deadlock(&self, state: &AbstractState) -> Result<bool, Fault> {
        let mut can_step = false;
        self.checker.steps(state, &mut |_, _, _| {
            can_step = true;
            false
        })?;
        Ok(!can_step && !self.checker.all_done(state))
    }

    /// All ways to go on; several may lead to the same configuration.
    ///
    /// # Errors
    /// If a register that matters is not recorded, or if there are too many.
    pub fn moves(&self, from: &Configuration) -> Result<Vec<ChanceMove>, Fault> {
        // For each thread that can step, the edges that it can take, each with the states afterwards.
        let mut able: Vec<(usize, Vec<Taken>)> = Vec::new();
        for place in 0..self.checker.threads.len() {
            let edges = self.edges(&from.state, place)?;
            if !edges.is_empty() {
                able.push((place, edges));
            }
        }
        let mut moves = Vec::new();
        if able.is_empty() {
            for (state, probability) in after_update(self, &from.state) {
                moves.push(ChanceMove { edge: None, probability, to: self.configuration(state, from.last)? });
            }
            return Ok(moves);
        }
        let total = able.iter().fold(RBig::ZERO, |sum, (place, _)| sum + self.weight(*place, from.last));
        for (place, edges) in able {
            let thread = self.checker.threads[place];
            let share = self.weight(place, from.last) / &total / RBig::from(edges.len());
            let last = self.question.odds.stickiness.map(|_| place);
            for (edge, states) in edges {
                let each = &share / RBig::from(states.len());
                for state in states {
                    for (state, probability) in after_update(self, &state) {
                        let to = self.configuration(state, last)?;
                        moves.push(ChanceMove { edge: Some((thread, edge)), probability: probability * &each, to });
                    }
                }
            }
        }
        Ok(moves)
    }

    /// The edges that a thread can take, with the states right afterwards.
    fn edges(&self, state: &AbstractState, place: usize) -> Result<Vec<Taken>, Fault> {
        let thread = self.checker.threads[place];
        let interpreter = self.checker.interpreter(state, thread, place);
        let mut found = Vec::new();
        for (id, edge) in self.checker.program.body(thread).edges_from(state.threads[place].location) {
            let is_recorded = |register| self.checker.records((place, edge.to), register);
            let next = interpreter.execute(edge, |register, range| match &edge.instruction {
                // If nobody looks at it, one value does for all.
                Instruction::Havoc { .. } if !is_recorded(register) => Ok(vec![range.low]),
                _ if range.extent() >= MOST_VALUES => Err(Fault::Unsupported),
                _ => Ok((range.low..=range.high).collect::<Vec<Value>>()),
            })?;
            if !next.is_empty() {
                found.push((id, next));
            }
        }
        Ok(found)
    }

    /// What is recorded of it.
    fn configuration(&self, state: AbstractState, last: Option<usize>) -> Result<Configuration, Fault> {
        Ok(Configuration { state: self.checker.recorded(state).ok_or(Fault::Malformed)?, last })
    }

    fn weight(&self, place: usize, last: Option<usize>) -> RBig {
        let weight = RBig::from(self.checker.program.thread(self.checker.threads[place]).weight);
        match self.question.odds.stickiness {
            Some((numerator, denominator)) if last == Some(place) => {
                weight * RBig::from_parts(numerator.into(), denominator.into())
            }
            _ => weight,
        }
    }

    pub(super) fn question(&self) -> &ChanceQuestion {
        self.question
    }

    /// The states one flush away, each with the thread that flushes.
    pub(super) fn flushes(&self, state: &AbstractState) -> Vec<(usize, AbstractState)> {
        let of_thread = |(place, &thread): (usize, &ThreadId)| {
            let after = self.checker.interpreter(state, thread, place).flushes().into_iter();
            after.map(move |next| (place, next)).collect::<Vec<_>>()
        };
        self.checker.threads.iter().enumerate().flat_map(of_thread).collect()
    }
}

/// An empty set of states.
fn none() -> &'static PackedStates {
    static NONE: std::sync::OnceLock<PackedStates> = std::sync::OnceLock::new();
    NONE.get_or_init(|| Packer::new(Vec::new()).finish())
}

fn speaks_of_cells(condition: &StateExpr) -> bool {
    let mut found = false;
    condition.for_each_leaf(&mut |atom| found |= matches!(atom, StateAtom::Cell(_)));
    found
}

/// States with their shares of a whole, those that are equal together.
pub(super) type Shares = BTreeMap<AbstractState, RBig>;

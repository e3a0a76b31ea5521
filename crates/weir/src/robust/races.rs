//! Freedom from triangular races: see [`Race`]. A search under SC in which a thread may at any store begin to go on
//! alone, until it loads from another cell than it last stored to; then another thread must write there.
//!
//! It is enough to remember where the last store went. If it went to the cell that is loaded, the load sees it, and a
//! store before it cannot be delayed past the load without it. If it went elsewhere, it is a store that can.
//!
//! No race, hence robust: in an attack, take the first load from memory after which a helper writes to its cell. What
//! helpers did since the first delayed store can as well come before that store, for nobody saw it, and no load of the
//! attacker was disturbed. What remains is a race.
//!
//! Locked sections of several accesses go beyond the definition, which knows locked instructions only. Read as one
//! write, a section can depend on the very store that waits: `x = 1; r = y;` beside `lock; if x == 0 { y = 1; }
//! unlock;`. No run under SC has the load and that write next to each other, and yet the store can be delayed past
//! both. So where a program locks, the search for attacks is asked as well, and any attack that gets as far as one
//! helper counts: that includes all that succeed.

use std::num::NonZeroUsize;

use weir_ir::{Address, Gather, Program, ThreadId, Value};
use weir_witness::{Goal, Model, Run};

use super::monitor::Monitor;
use super::overlay::remember;
use super::question::{Plans, Question};
use super::race::Race;
use super::{AttackRun, Checker};
use crate::attack::{self, AttackStep};
use crate::search::{Found, Outcome, breadth_first};
use crate::semantics::machine::{EdgeCode, Machine, Operation, System};
use crate::semantics::sc::Sc;
use crate::semantics::size::with_state_size;
use crate::semantics::state::Packed;
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::Session;
use crate::verdict::{Failure, Statistics, Verdict};

/// The answer, and how it came about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RaceReport {
    /// `Holds`: there is no triangular race, so the program is robust. `Violated`: here is one; whether the program is
    /// robust is open.
    pub verdict: Verdict<Box<Race>>,
    /// What it took.
    pub statistics: Statistics,
}

/// Looks for a triangular race, with this number of workers.
///
/// # Errors
/// If the program has something the engine cannot handle, or if an invariant of Weir breaks.
pub fn triangular_races(program: &Program, jobs: NonZeroUsize, session: &Session) -> Result<RaceReport, Failure> {
    let stopped = |limit| RaceReport { verdict: Verdict::Unknown(limit), statistics: Statistics::default() };
    let checker = match Checker::new(program, session) {
        Err(Failure::Stopped(limit)) => return Ok(stopped(limit)),
        checker => checker?,
    };
    let attacks = match checker.attacks(session) {
        Ok(attacks) => attacks.open.into_iter().gather(),
        Err(limit) => return Ok(stopped(limit)),
    };
    let question = Question { attacks, ..Question::default() };
    checker.race(question, jobs, session)
}

impl Checker {
    /// Whether there is a triangular race by one of these attackers, if there were these fences.
    ///
    /// # Errors
    /// If an invariant of Weir breaks.
    pub(crate) fn race(
        &self,
        mut question: Question,
        jobs: NonZeroUsize,
        session: &Session,
    ) -> Result<RaceReport, Failure> {
        question.narrow(&self.program);
        if question.attacks.is_empty() {
            return Ok(RaceReport { verdict: Verdict::Holds, statistics: Statistics::default() });
        }
        let jobs = jobs.get().min(crate::search::MOST_WORKERS);
        let mut report = self.report(search(self, &question, session, jobs), race_under_sc)?;
        if matches!(report.verdict, Verdict::Holds) && self.program.uses_lock() {
            let outcome = search_attacks(self, &question, session, jobs);
            let more = self.report(outcome, race_under_tso)?;
            report.verdict = more.verdict;
            report.statistics.add(&more.statistics);
        }
        Ok(report)
    }

    /// What a search has found, as a race.
    fn report(
        &self,
        outcome: Outcome,
        race: impl FnOnce(&Program, &AttackRun) -> Result<Race, String>,
    ) -> Result<RaceReport, Failure> {
        if let Some(fault) = self.compiled.machine.fault.get() {
            return Err(Failure::Bug(fault.clone()));
        }
        let statistics = self.statistics(&outcome);
        let verdict = match outcome.found {
            Found::Nothing => Verdict::Holds,
            Found::Stopped(limit) => Verdict::Unknown(limit),
            Found::Goal(_, steps) => {
                let race = race(&self.program, &self.attack_run(&steps)).map_err(|why| {
                    Failure::Bug(format!("a triangular race that was found cannot be replayed: {why}"))
                })?;
                Verdict::Violated(Box::new(race))
            }
        };
        Ok(RaceReport { verdict, statistics })
    }
}

fn race_under_sc(program: &Program, found: &AttackRun) -> Result<Race, String> {
    let run = Run { model: Model::Sc, steps: found.steps.iter().map(|(step, _)| *step).collect() };
    Race::new(program, run, loader(found)?)
}

fn race_under_tso(program: &Program, found: &AttackRun) -> Result<Race, String> {
    Race::new(program, attack::delaying_run(program, &found.steps).0, loader(found)?)
}

/// The thread whose load is in the race.
fn loader(found: &AttackRun) -> Result<ThreadId, String> {
    let halt = found.steps.iter().find(|(_, kind)| *kind == AttackStep::Halt);
    halt.map(|(step, _)| step.thread).ok_or_else(|| "no load".into())
}

fn search(checker: &Checker, question: &Question, session: &Session, jobs: usize) -> Outcome {
    let machine = &checker.compiled.machine;
    let fenced = &checker.numbers(&question.fenced);
    with_state_size!(machine.layout.words, from 16, N => breadth_first(&Races::<N>::new(machine, fenced), session, jobs))
}

fn search_attacks(checker: &Checker, question: &Question, session: &Session, jobs: usize) -> Outcome {
    let machine = &checker.compiled.machine;
    let plans = Plans::new(&checker.program, &checker.compiled, question);
    with_state_size!(machine.layout.words, N => breadth_first(&Monitor::<N>::for_races(machine, &plans), session, jobs))
}

/// What is remembered beside the state of the program, as a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Memory {
    /// Nothing.
    Before,
    /// A thread goes on alone; its last store went to this address, and may be waiting.
    Alone { thread: usize, stored: Address },
    /// A thread has loaded from an address with a store waiting; and who has taken the lock since.
    Loaded { thread: usize, address: Address, holder: Option<usize> },
    /// Another thread has written there.
    Raced,
}

const ALONE: Value = 1;
const LOADED: Value = 2;
const RACED: Value = 3;

impl Memory {
    fn read(row: &[Value]) -> Self {
        match *row {
            [ALONE, thread, stored] => Self::Alone { thread: thread as usize, stored },
            [LOADED, thread, address, holder] => {
                Self::Loaded { thread: thread as usize, address, holder: usize::try_from(holder).ok() }
            }
            [RACED] => Self::Raced,
            _ => Self::Before,
        }
    }

    fn row(self) -> Vec<Value> {
        match self {
            Self::Before => Vec::new(),
            Self::Alone { thread, stored } => vec![ALONE, thread as Value, stored],
            Self::Loaded { thread, address, holder } => {
                vec![LOADED, thread as Value, address, holder.map_or(-1, |holder| holder as Value)]
            }
            Self::Raced => vec![RACED],
        }
    }
}

/// The program under SC, with what is remembered.
struct Races<'a, const N: usize> {
    machine: &'a Machine,
    sc: System<'a, Sc, N>,
    /// For each edge, whether a fence is thought of after it.
    fenced: &'a [bool],
}

impl<'a, const N: usize> Races<'a, N> {
    fn new(machine: &'a Machine, fenced: &'a [bool]) -> Self {
        Self { machine, sc: System::new(machine), fenced }
    }

    fn memory(&self, state: &Packed<N>) -> Memory {
        let number = self.machine.layout.monitor.map_or(0, |field| state.raw(field));
        let row = if number == 0 { &[] } else { self.machine.monitor_rows.row(number) };
        Memory::read(row)
    }

    fn edges(&self, state: &Packed<N>, thread: usize) -> &'a [EdgeCode] {
        self.machine.threads[thread].edges_at(state)
    }

    fn access(&self, state: &Packed<N>, edge: &EdgeCode) -> Option<(Address, bool)> {
        let access = self.machine.access(state, &edge.operation);
        access.map(|(target, writes)| (self.machine.address(target), writes))
    }

    /// Takes an edge under SC, and remembers something after it.
    fn take(
        &self,
        from: &Packed<N>,
        (thread, edge): (usize, &EdgeCode),
        kind: AttackStep,
        memory: Memory,
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let row = memory.row();
        self.sc.take(from, thread, edge, &mut |step, mut next| {
            remember(self.machine, &mut next, &row);
            emit(super::monitor::encode(self.machine, step, kind), next)
        });
    }

    fn before(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        for thread in 0..self.machine.threads.len() {
            for edge in self.edges(from, thread) {
                self.take(from, (thread, edge), AttackStep::Ordinary, Memory::Before, emit);
                if let (Operation::Store(..), Some((stored, _)), false) =
                    (&edge.operation, self.access(from, edge), self.fenced[edge.number as usize])
                {
                    self.take(from, (thread, edge), AttackStep::Begin, Memory::Alone { thread, stored }, emit);
                }
            }
        }
    }

    /// The thread goes on, as long as it waits for nothing.
    fn alone(
        &self,
        from: &Packed<N>,
        (thread, stored): (usize, Address),
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        for edge in self.edges(from, thread) {
            let after = match (&edge.operation, self.access(from, edge)) {
                (Operation::Store(..), Some((stored, _))) => Memory::Alone { thread, stored },
                (
                    Operation::Fence
                    | Operation::Membarrier
                    | Operation::Lock
                    | Operation::Unlock
                    | Operation::ReadModifyWrite(..),
                    _,
                ) => {
                    continue;
                }
                (Operation::Load(..), Some((address, _))) if address != stored => {
                    let loaded = Memory::Loaded { thread, address, holder: None };
                    self.take(from, (thread, edge), AttackStep::Halt, loaded, emit);
                    Memory::Alone { thread, stored }
                }
                (Operation::Snapshot(_) | Operation::Await(..), _) => {
                    let loaded = self.machine.snapshot(from, &edge.operation);
                    for address in loaded.into_iter().filter(|&address| address != stored) {
                        let loaded = Memory::Loaded { thread, address, holder: None };
                        self.take(from, (thread, edge), AttackStep::Halt, loaded, emit);
                    }
                    Memory::Alone { thread, stored }
                }
                _ => Memory::Alone { thread, stored },
            };
            if !self.fenced[edge.number as usize] {
                self.take(from, (thread, edge), AttackStep::Ordinary, after, emit);
            }
        }
    }

    /// Another thread writes next, or takes the lock and writes in that section.
    fn loaded(
        &self,
        from: &Packed<N>,
        (thread, address, holder): (usize, Address, Option<usize>),
        emit: &mut impl FnMut(StepCode, Packed<N>) -> bool,
    ) {
        let may_move = |other: usize| other != thread && holder.is_none_or(|holder| holder == other);
        for other in (0..self.machine.threads.len()).filter(|&other| may_move(other)) {
            for edge in self.edges(from, other) {
                let in_section = Memory::Loaded { thread, address, holder: Some(other) };
                let memory = match (&edge.operation, self.access(from, edge)) {
                    (_, Some((written, true))) if written == address => Memory::Raced,
                    (Operation::Unlock, _) => continue,
                    (Operation::Lock, _) => in_section,
                    _ if holder.is_some() => in_section,
                    _ => continue,
                };
                self.take(from, (other, edge), AttackStep::Ordinary, memory, emit);
            }
        }
    }
}

impl<const N: usize> TransitionSystem for Races<'_, N> {
    type State = Packed<N>;

    fn initial(&self) -> Packed<N> {
        self.machine.initial_state()
    }

    fn successors(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        match self.memory(from) {
            Memory::Before => self.before(from, emit),
            Memory::Alone { thread, stored } => self.alone(from, (thread, stored), emit),
            Memory::Loaded { thread, address, holder } => self.loaded(from, (thread, address, holder), emit),
            Memory::Raced => {}
        }
    }

    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        // Searches know goals of runs only; what was found is judged as a race.
        (self.memory(state) == Memory::Raced).then_some(Goal::NotRobust)
    }

    fn deadlock_goal(&self, _state: &Packed<N>) -> Option<Goal> {
        None
    }

    fn words(&self) -> usize {
        self.sc.words()
    }

    fn step_count(&self) -> usize {
        self.machine.edge_count as usize * 3
    }

    fn thread_of(&self, step: StepCode) -> usize {
        self.sc.thread_of(Monitor::<N>::decode(self.machine, step).0)
    }

    fn canonical_form(&self, state: &Packed<N>) -> Vec<Value> {
        self.sc.canonical_form(state)
    }

    fn side_bytes(&self) -> u64 {
        self.sc.side_bytes()
    }
}

#[cfg(test)]
mod tests {
    use weir_ir::{BinaryOp, Expr, Instruction, RegId};
    use weir_testkit::sketch::{cell, load, program, store, straight};

    use super::*;

    /// Only sections under the lock can hide a race from runs without buffers.
    #[test]
    fn without_the_lock_runs_without_buffers_are_enough() {
        let seen = Expr::binary(BinaryOp::Equal, Expr::Leaf(RegId(0)), Expr::Const(1));
        let waits = [load(0, 1), Instruction::Assume(seen), store(2, 1)];
        let threads = vec![straight("P", [store(1, 1), load(0, 2)]), straight("Q", waits)];
        let program = program(vec![cell("x", 1), cell("y", 2)], threads, Vec::new());
        let races = triangular_races(&program, NonZeroUsize::MIN, &Session::default()).expect("an answer");
        assert!(matches!(races.verdict, Verdict::Holds));
        assert_eq!(races.statistics.states, 20, "each state is visited once");
    }
}

//! A proof in the hands of someone who wants it accepted: whatever the checker misses is added, and nothing else. So in
//! the end it holds exactly what the checker requires, and is refused only if the program starts in it.

use std::cell::RefCell;

use weir_testkit::{Drained, Model, drained_states};

use super::super::goals::{GoalCover, condition};
use super::super::locals::{Locals, Values, locals};
use super::super::order::covers;
use super::super::roster::Roster;
use super::super::steps::Steps;
use super::threads::{local_states, running};
use super::*;

/// What the checker says in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Accepted,
    /// The program starts in the set, or the threads are listed too vaguely.
    Refused,
    /// It grew too large.
    GaveUp,
}

pub(super) struct Forger<'a> {
    program: &'a Program,
    threads: Vec<ThreadId>,
    locals: Vec<Locals>,
    values: Values,
    pub(super) proof: BackwardProof,
}

impl<'a> Forger<'a> {
    /// A proof without configurations, in which each state of a thread is a class of its own.
    pub(super) fn new(program: &'a Program, goals: Vec<Goal>, most_states: usize) -> Option<Self> {
        let single =
            |states: std::collections::BTreeSet<LocalState>| states.into_iter().map(|state| vec![state]).collect();
        let classes = local_states(program, most_states)?.into_iter().map(single).collect();
        Self::with(program, BackwardProof { goals, classes, configurations: Vec::new() })
    }

    /// None if the classes are not even well formed.
    pub(super) fn with(program: &'a Program, proof: BackwardProof) -> Option<Self> {
        let threads = running(program);
        let (locals, values) = locals(program, &threads, &proof, &weir_ir::Poll::new(&weir_ir::Uninterrupted)).ok()?;
        Some(Self { program, threads, locals, values, proof })
    }

    /// Repairs the proof until the checker is content, or nothing more can be done.
    pub(super) fn run(&mut self, largest: usize) -> Outcome {
        loop {
            if self.proof.configurations.len() > largest {
                return Outcome::GaveUp;
            }
            let Err(error) = check_backward_proof(self.program, &self.proof) else { return Outcome::Accepted };
            let is_repaired = match (error.fault, error.configuration) {
                (BackwardFault::GoalOutside, None) => self.add_goals(),
                (BackwardFault::Enters, Some(at)) => self.add_before(at),
                _ => false,
            };
            if !is_repaired {
                return Outcome::Refused;
            }
        }
    }

    /// Adds a configuration unless there is one that stands for it.
    pub(super) fn add(&mut self, configuration: Configuration) -> bool {
        let roster = Roster::new(self.program);
        let alone: Vec<Vec<usize>> = (0..roster.single.len()).map(|place| vec![place]).collect();
        let holds: Vec<Vec<bool>> = self.locals.iter().map(|locals| locals.holds.clone()).collect();
        let is_known = |known: &Configuration| covers(known, &configuration, (&roster, &alone), &holds);
        let is_new = !self.proof.configurations.iter().any(is_known);
        if is_new {
            self.proof.configurations.push(configuration);
        }
        is_new
    }

    /// Adds what the checker wants to see of the goals, as open as it lets it be.
    fn add_goals(&mut self) -> bool {
        let expected = RefCell::new(Vec::new());
        for &goal in &self.proof.goals {
            let roster = &Roster::new(self.program);
            let condition = condition(self.program, roster, goal).expect("a goal of the program");
            let (program, proof) = (self.program, &self.proof);
            let poll = &weir_ir::Poll::new(&weir_ir::Uninterrupted);
            let mut goal_cover =
                GoalCover { program, roster, proof, locals: &self.locals, values: &self.values, steps: 0, poll };
            let note = |part: &Configuration| {
                expected.borrow_mut().push(part.clone());
                true
            };
            if goal_cover.all_held(&condition, &note).is_err() {
                return false;
            }
        }
        let mut is_new = false;
        for configuration in expected.into_inner() {
            is_new |= self.add(configuration);
        }
        is_new
    }

    /// Adds everything from which this configuration, or one after it, can be entered.
    fn add_before(&mut self, at: usize) -> bool {
        let mut is_new = false;
        for at in at..self.proof.configurations.len() {
            let before = Steps { roster: &Roster::new(self.program), locals: &self.locals }
                .before(&self.proof.configurations[at]);
            for configuration in before {
                is_new |= self.add(configuration);
            }
        }
        is_new
    }

    /// The configuration for a state with empty buffers; none if a thread is in no such state.
    pub(super) fn configuration(&self, state: &Drained) -> Option<Configuration> {
        let view = |(place, thread): (usize, &ThreadId)| {
            let local = LocalState {
                location: state.locations[thread],
                registers: state.values.registers[thread].clone(),
                holds_lock: state.holder == Some(*thread),
            };
            let class = self.proof.classes[place].iter().position(|class| class[0] == local)?;
            Some(ThreadView { class: Some(class), messages: Vec::new() })
        };
        let threads = self.threads.iter().enumerate().map(view).collect::<Option<_>>()?;
        let value = |address: Address| state.values.memory.get(&address).copied();
        let held =
            |&address: &Address| (address, value(address).unwrap_or_else(|| self.program.initial_value(address)));
        Some(Configuration { threads, copies: Vec::new(), memory: self.values.keys().map(held).collect() })
    }

    /// Every configuration with empty buffers.
    pub(super) fn all_drained(&self) -> Vec<Configuration> {
        let mut open = vec![Configuration { threads: Vec::new(), copies: Vec::new(), memory: BTreeMap::new() }];
        for place in 0..self.threads.len() {
            let classes = 0..self.proof.classes[place].len();
            let longer = |part: Configuration| {
                classes.clone().map(move |class| {
                    let mut more = part.clone();
                    more.threads.push(ThreadView { class: Some(class), messages: Vec::new() });
                    more
                })
            };
            open = open.into_iter().flat_map(longer).collect();
        }
        for (&address, values) in &self.values {
            let longer = |part: Configuration| {
                values.iter().map(move |&value| {
                    let mut more = part.clone();
                    more.memory.insert(address, value);
                    more
                })
            };
            open = open.into_iter().flat_map(longer).collect();
        }
        // No two threads hold the lock at once.
        let holders = |part: &Configuration| {
            let places = part.threads.iter().enumerate();
            places.filter(|(place, view)| view.class.is_some_and(|class| self.locals[*place].holds[class])).count()
        };
        open.retain(|part| holders(part) <= 1);
        open
    }
}

/// The states with empty buffers that TSO reaches.
pub(super) fn reached(program: &Program, limit: usize) -> Option<Vec<Drained>> {
    let states = drained_states(program, Model::Tso, limit).expect("supported")?;
    Some(states.into_iter().collect())
}

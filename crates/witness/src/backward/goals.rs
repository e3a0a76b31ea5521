//! Whether the set holds every configuration that shows a goal.

use std::collections::BTreeMap;

use weir_ir::{Address, BinaryOp, Expr, Poll, Program, PropertyKind, StateAtom, StateExpr, ThreadId, UnaryOp, Value};

use super::fault::BackwardFault;
use super::locals::{Locals, Values};
use super::roster::Roster;
use super::{BackwardProof, Configuration, LocalState, ThreadView};
use crate::counts::{Count, Counts};
use crate::limits::MOST_CASES;
use crate::run::Goal;

/// The condition of a goal on drained states.
pub(super) fn condition(program: &Program, roster: &Roster, goal: Goal) -> Result<StateExpr, BackwardFault> {
    let threads = &roster.threads;
    let at = |thread, locations| Expr::Leaf(StateAtom::At { thread, locations });
    let at_end = |condition: StateExpr| {
        threads.iter().fold(condition, |rest, &thread| {
            let body = program.body(thread);
            let done = at(thread, body.location_ids().filter(|&location| body.is_done(location)).collect());
            StateExpr::binary(BinaryOp::And, done, rest)
        })
    };
    match goal {
        Goal::Assertion(thread) if thread.index() < program.threads.len() => {
            Ok(at(thread, program.body(thread).failed.into_iter().collect()))
        }
        Goal::Property(property) => match program.properties.get(property.index()).map(|property| &property.kind) {
            Some(PropertyKind::Forbid(condition)) => Ok(condition.clone()),
            Some(PropertyKind::Exists(_) | PropertyKind::Always(_)) if !roster.templates.is_empty() => {
                Err(BackwardFault::FinalStates)
            }
            Some(PropertyKind::Exists(condition)) => Ok(at_end(condition.clone())),
            Some(PropertyKind::Always(condition)) => Ok(at_end(StateExpr::unary(UnaryOp::Not, condition.clone()))),
            Some(PropertyKind::ForbidDeadlock) => Err(BackwardFault::Deadlock),
            Some(PropertyKind::ForbidStuck | PropertyKind::Live(_)) => Err(BackwardFault::Liveness),
            None => Err(BackwardFault::UnknownGoal),
        },
        Goal::Assertion(_) | Goal::NotRobust => Err(BackwardFault::UnknownGoal),
    }
}

/// What is known about a part of the configurations.
enum Part {
    /// All that meet the condition are held.
    Held,
    /// One is not.
    Missed,
    /// More must be fixed.
    Open,
}

/// One way to fix a thread or a cell.
enum Choice {
    Class(usize),
    Value(Address, Value),
}

/// The part with one more thread or cell fixed.
fn chosen(part: &Configuration, fixed: usize, choice: Choice) -> Configuration {
    let mut further = part.clone();
    match choice {
        Choice::Class(class) => further.threads[fixed].class = Some(class),
        Choice::Value(address, value) => {
            further.memory.insert(address, value);
        }
    }
    further
}

/// Checks that the set covers a goal: all drained states in which a condition holds.
pub(super) struct GoalCover<'a> {
    pub(super) program: &'a Program,
    pub(super) roster: &'a Roster,
    pub(super) proof: &'a BackwardProof,
    pub(super) locals: &'a [Locals],
    pub(super) values: &'a Values,
    pub(super) steps: usize,
    pub(super) poll: &'a Poll<'a>,
}

impl GoalCover<'_> {
    /// Whether all configurations that meet the condition are held by the set, as `holds` tells of one that may be open
    /// in parts.
    ///
    /// Numbers of copies are fixed first. Whatever meets the condition meets it with these numbers, up to those that no
    /// comparison tells apart, and has at least the copies of one of the choices.
    pub(super) fn all_held(
        &mut self,
        condition: &StateExpr,
        holds: &impl Fn(&Configuration) -> bool,
    ) -> Result<bool, BackwardFault> {
        let counts = Counts::of(self.program, condition)?;
        let (copies, kinds) = self.kinds();
        for numbers in counts.numbers()? {
            let condition = counts.fixed(self.program, condition, &numbers);
            for choice in counts.choices(&numbers, &kinds)? {
                let copies: Vec<(usize, usize)> = choice.iter().map(|&kind| copies[kind]).collect();
                if !self.all_held_with(&condition, &copies, holds)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// What copies can be: the thread by its place and the class of its state; and the thread and its possible places.
    fn kinds(&self) -> (Vec<(usize, usize)>, Vec<Count>) {
        let (mut copies, mut kinds) = (Vec::new(), Vec::new());
        for &place in &self.roster.templates {
            for (class, states) in self.proof.classes[place].iter().enumerate() {
                copies.push((place, class));
                let locations = states.iter().map(|state| state.location).collect();
                kinds.push((self.roster.threads[place], locations));
            }
        }
        (copies, kinds)
    }

    /// The same for a condition without numbers of copies, beside these.
    fn all_held_with(
        &mut self,
        condition: &StateExpr,
        copies: &[(usize, usize)],
        holds: &impl Fn(&Configuration) -> bool,
    ) -> Result<bool, BackwardFault> {
        let mut threads = vec![ThreadView { class: None, messages: Vec::new() }; self.roster.single.len()];
        threads.extend(copies.iter().map(|&(_, class)| ThreadView { class: Some(class), messages: Vec::new() }));
        let copies = copies.iter().map(|&(place, _)| place).collect();
        // Each part fixes one thread or cell more than the one before it. Without recursion: there are as many cells as
        // the program likes.
        let mut next = Some(Configuration { threads, copies, memory: BTreeMap::new() });
        let mut path: Vec<(Configuration, std::vec::IntoIter<Choice>)> = Vec::new();
        loop {
            if let Some(part) = next.take() {
                match self.look(condition, &part, path.len(), holds)? {
                    Part::Held => {}
                    Part::Missed => return Ok(false),
                    Part::Open => {
                        let choices = self.choices(path.len());
                        path.push((part, choices.into_iter()));
                    }
                }
            }
            let fixed = path.len();
            let Some((part, choices)) = path.last_mut() else { return Ok(true) };
            match choices.next() {
                Some(choice) => next = Some(chosen(part, fixed - 1, choice)),
                None => {
                    path.pop();
                }
            }
        }
    }

    /// The ways in which the next thread or cell can be fixed.
    fn choices(&self, fixed: usize) -> Vec<Choice> {
        match self.roster.single.get(fixed) {
            Some(&place) => (0..self.proof.classes[place].len()).map(Choice::Class).collect(),
            None => self
                .values
                .iter()
                .nth(fixed - self.roster.single.len())
                .map(|(&address, values)| values.iter().map(|&value| Choice::Value(address, value)).collect())
                .unwrap_or_default(),
        }
    }

    /// What is known about a part in which so many threads and cells are fixed: first threads, then cells.
    fn look(
        &mut self,
        condition: &StateExpr,
        part: &Configuration,
        fixed: usize,
        holds: &impl Fn(&Configuration) -> bool,
    ) -> Result<Part, BackwardFault> {
        self.steps += 1;
        if self.steps > MOST_CASES {
            return Err(BackwardFault::TooManyGoals);
        }
        if self.poll.is_over() {
            return Err(BackwardFault::Interrupted);
        }
        let value = self.partial(condition, part, fixed)?;
        if value == Some(0) || self.holders(part) > 1 {
            return Ok(Part::Held);
        }
        // An open thread may hold the lock, which an open one of the set may not: then more must be fixed.
        let single = self.roster.single.len();
        let is_decided = fixed >= single || self.nobody_locks() || self.holders(part) == 1;
        if value.is_some() && is_decided && holds(part) && self.with_holders(part).iter().all(holds) {
            return Ok(Part::Held);
        }
        Ok(if fixed < single + self.values.len() { Part::Open } else { Part::Missed })
    }

    fn nobody_locks(&self) -> bool {
        self.locals.iter().all(|locals| !locals.holds.contains(&true))
    }

    /// The part with one more copy, which holds the lock, if nobody else does.
    fn with_holders(&self, part: &Configuration) -> Vec<Configuration> {
        if self.holders(part) > 0 {
            return Vec::new();
        }
        let copies = self.roster.templates.iter().flat_map(|&place| {
            let holds = self.locals[place].holds.iter().enumerate().filter(|(_, holds)| **holds);
            holds.map(move |(class, _)| (place, class))
        });
        let with = |(place, class)| {
            let mut more = part.clone();
            more.threads.push(ThreadView { class: Some(class), messages: Vec::new() });
            more.copies.push(place);
            more
        };
        copies.map(with).collect()
    }

    fn holders(&self, part: &Configuration) -> usize {
        let holds = |(position, thread): (usize, &ThreadView)| {
            thread.class.is_some_and(|class| self.locals[self.roster.place(part, position)].holds[class])
        };
        part.threads.iter().enumerate().filter(|&entry| holds(entry)).count()
    }

    /// The value of the condition, if what is fixed is enough to tell.
    fn partial(
        &self,
        condition: &StateExpr,
        part: &Configuration,
        fixed: usize,
    ) -> Result<Option<Value>, BackwardFault> {
        Ok(match condition {
            Expr::Const(value) => Some(*value),
            Expr::Leaf(atom) => self.atom(atom, part, fixed)?,
            Expr::Unary(op, operand) => self.partial(operand, part, fixed)?.map(|value| op.apply(value)),
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.partial(left, part, fixed)?, self.partial(right, part, fixed)?);
                match (op, left, right) {
                    (_, Some(left), Some(right)) => Some(op.apply(left, right)),
                    (BinaryOp::And, Some(0), _) | (BinaryOp::And, _, Some(0)) => Some(0),
                    (BinaryOp::Or, Some(known), _) | (BinaryOp::Or, _, Some(known)) if known != 0 => Some(1),
                    _ => None,
                }
            }
        })
    }

    fn atom(&self, atom: &StateAtom, part: &Configuration, fixed: usize) -> Result<Option<Value>, BackwardFault> {
        let single = &self.roster.single;
        let place = |thread: &ThreadId| single.iter().position(|&place| self.roster.threads[place] == *thread);
        match atom {
            StateAtom::Cell(address) => Ok(self.cell(*address, part)),
            StateAtom::At { thread, locations } => self
                .in_class(place(thread), part, fixed, |state| Some(Value::from(locations.contains(&state.location)))),
            StateAtom::Register { thread, register } => {
                self.in_class(place(thread), part, fixed, |state| state.registers.get(register).copied())
            }
        }
    }

    fn cell(&self, address: Address, part: &Configuration) -> Option<Value> {
        // A cell that no thread touches keeps its value.
        let is_touched = self.values.contains_key(&address);
        if is_touched { part.memory.get(&address).copied() } else { Some(self.program.initial_value(address)) }
    }

    /// What is true of all states of the class that a thread is in.
    fn in_class(
        &self,
        place: Option<usize>,
        part: &Configuration,
        fixed: usize,
        look: impl Fn(&LocalState) -> Option<Value>,
    ) -> Result<Option<Value>, BackwardFault> {
        let Some(place) = place else { return Ok(Some(0)) };
        if place >= fixed {
            return Ok(None);
        }
        let Some(class) = part.threads[place].class else { return Ok(None) };
        let place = self.roster.single[place];
        let mut seen = self.proof.classes[place][class].iter().map(look);
        let first = seen.next().flatten().ok_or(BackwardFault::Malformed)?;
        if seen.all(|value| value == Some(first)) {
            Ok(Some(first))
        } else {
            Err(BackwardFault::Mixed(self.roster.threads[place]))
        }
    }
}

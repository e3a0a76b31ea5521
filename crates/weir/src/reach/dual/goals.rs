//! The minimal basis of the goals: at which states threads must be, and what cells must hold. Everything else is
//! unconstrained.

use weir_ir::{BinaryOp, Expr, LocId, Program, PropertyKind, StateAtom, StateExpr, ThreadId, UnaryOp, Value};
use weir_witness::Goal;

use super::local_graph::{Local, LocalGraphs};
use crate::bounds::Bound;
use crate::reach::counts::Counts;
use crate::session::Session;
use crate::verdict::Limit;

/// A goal, as a condition on locations, registers and cells.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) goal: Goal,
    condition: StateExpr,
}

impl Target {
    pub(super) fn condition(&self) -> &StateExpr {
        &self.condition
    }

    /// The condition with these numbers of copies.
    pub(super) fn with_numbers(&self, program: &Program, counts: &Counts, numbers: &[Value]) -> Self {
        let condition = self.condition.map(&mut |atom| match counts.number(program, atom, numbers) {
            Some(number) => Expr::Const(number),
            None => Expr::Leaf(atom.clone()),
        });
        Self { goal: self.goal, condition }
    }

    /// If the condition is about a single thread and nothing else: the thread's position, and for each state of its
    /// graph whether the condition holds there.
    pub(super) fn of_one_thread(&self, local_graphs: &LocalGraphs) -> Option<(usize, Vec<bool>)> {
        let mut spoken_of = Vec::new();
        self.condition.for_each_leaf(&mut |atom| spoken_of.push(thread_of(atom)));
        spoken_of.dedup();
        let [Some(thread)] = spoken_of[..] else { return None };
        let position = position(local_graphs, thread)?;
        let states = &local_graphs.of(position).states;
        let is_met = |local: &Local| self.condition.eval(&mut |atom| value_in(atom, local)) != 0;
        Some((position, states.iter().map(is_met).collect()))
    }
}

/// The conditions of goals. None if one of them cannot be decided in single states.
pub(super) fn targets(program: &Program, local_graphs: &LocalGraphs, goals: &[Goal]) -> Option<Vec<Target>> {
    goals
        .iter()
        .map(|&goal| {
            let condition = match goal {
                Goal::Assertion(thread) => at(thread, program.body(thread).failed.into_iter().collect()),
                Goal::Property(property) => match &program.properties[property.index()].kind {
                    PropertyKind::Forbid(condition) => condition.clone(),
                    PropertyKind::ForbidDeadlock | PropertyKind::ForbidStuck | PropertyKind::Live(_) => return None,
                    PropertyKind::Exists(condition) => at_end(program, local_graphs, condition.clone()),
                    PropertyKind::Always(condition) => {
                        at_end(program, local_graphs, StateExpr::unary(UnaryOp::Not, condition.clone()))
                    }
                },
                Goal::NotRobust => return None,
            };
            Some(Target { goal, condition: simplified(program, local_graphs, &condition) })
        })
        .collect()
}

/// Substitutes what no run changes.
fn simplified(program: &Program, local_graphs: &LocalGraphs, condition: &StateExpr) -> StateExpr {
    condition.map(&mut |atom| match atom {
        StateAtom::Cell(address) if local_graphs.cells.number(*address).is_none() => {
            Expr::Const(program.initial_value(*address))
        }
        _ if thread_of(atom).is_some_and(|thread| group(local_graphs, thread).is_none()) => Expr::Const(0),
        _ => Expr::Leaf(atom.clone()),
    })
}

fn at(thread: ThreadId, locations: Vec<LocId>) -> StateExpr {
    Expr::Leaf(StateAtom::At { thread, locations })
}

/// The condition, once all threads are done.
fn at_end(program: &Program, local_graphs: &LocalGraphs, condition: StateExpr) -> StateExpr {
    let done = |&thread: &ThreadId| {
        let body = program.body(thread);
        at(thread, body.location_ids().filter(|&location| body.is_done(location)).collect())
    };
    local_graphs.threads.iter().map(done).rfold(condition, |rest, done| StateExpr::binary(BinaryOp::And, done, rest))
}

/// What goals observe of each state of each graph, as a number: equal numbers, equal observations.
pub(super) fn observations(local_graphs: &LocalGraphs, targets: &[Target]) -> Vec<Vec<u32>> {
    let mut atoms: Vec<Vec<StateAtom>> = vec![Vec::new(); local_graphs.graphs.len()];
    for target in targets {
        target.condition.for_each_leaf(&mut |atom| {
            if let Some(group) = thread_of(atom).and_then(|thread| group(local_graphs, thread)) {
                let known = &mut atoms[group];
                if !known.contains(atom) {
                    known.push(atom.clone());
                }
            }
        });
    }
    let number = |(graph, atoms): (&super::local_graph::Graph, &Vec<StateAtom>)| {
        let mut numbers = rustc_hash::FxHashMap::default();
        let look = |local: &Local| -> Vec<Value> { atoms.iter().map(|atom| value_in(atom, local)).collect() };
        let mut number = |local| {
            let fresh = numbers.len() as u32;
            *numbers.entry(look(local)).or_insert(fresh)
        };
        graph.states.iter().map(&mut number).collect()
    };
    local_graphs.graphs.iter().zip(&atoms).map(number).collect()
}

fn thread_of(atom: &StateAtom) -> Option<ThreadId> {
    match atom {
        StateAtom::At { thread, .. } | StateAtom::Register { thread, .. } => Some(*thread),
        StateAtom::Cell(_) => None,
    }
}

fn position(local_graphs: &LocalGraphs, thread: ThreadId) -> Option<usize> {
    local_graphs.threads.iter().position(|&present| present == thread)
}

/// The graph of a thread that runs.
fn group(local_graphs: &LocalGraphs, thread: ThreadId) -> Option<usize> {
    let of_template = || local_graphs.templates.iter().find(|&&(template, _)| template == thread);
    let of_one = position(local_graphs, thread).map(|position| local_graphs.group_of[position]);
    of_one.or_else(|| of_template().map(|&(_, graph)| graph))
}

/// What an atom about some thread of this body would be in this state.
fn value_in(atom: &StateAtom, local: &Local) -> Value {
    match atom {
        StateAtom::At { locations, .. } => Value::from(locations.contains(&local.location)),
        StateAtom::Register { register, .. } => local.registers[register.index()],
        StateAtom::Cell(_) => 0,
    }
}

/// A part of a configuration that a goal goal_covers for: states of threads by number in their automata, and values of
/// cells by number. `None` is anything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct GoalCover {
    pub(super) locals: Vec<Option<u16>>,
    pub(super) memory: Vec<Option<u16>>,
}

/// Something that a goal mentions, and what it can be: alternatives as they look, each with what stands behind it.
enum Variable<'a> {
    /// The thread at this position: a state of its graph for each state of the automaton.
    Thread(usize, &'a [u32]),
    Cell(usize),
}

/// Number of steps between two checks of the limits.
const A_CHECK: usize = 2_048;

/// The partial configurations that together cover a goal. None if there are too many.
///
/// # Errors
/// If a limit is reached first.
pub(super) fn goal_covers(
    local_graphs: &LocalGraphs,
    target: &Target,
    members: &[&[u32]],
    session: &Session,
) -> Result<Option<Vec<GoalCover>>, Limit> {
    let mut variables: Vec<Variable<'_>> = Vec::new();
    let (mut threads, mut cells) = (Vec::new(), Vec::new());
    target.condition.for_each_leaf(&mut |atom| match atom {
        StateAtom::Cell(address) => cells.extend(local_graphs.cells.number(*address).map(usize::from)),
        _ => threads.extend(thread_of(atom).and_then(|thread| position(local_graphs, thread))),
    });
    for list in [&mut threads, &mut cells] {
        list.sort_unstable();
        list.dedup();
    }
    variables
        .extend(threads.into_iter().map(|thread| Variable::Thread(thread, members[local_graphs.group_of[thread]])));
    variables.extend(cells.into_iter().map(Variable::Cell));
    let empty = GoalCover {
        locals: vec![None; local_graphs.threads.len()],
        memory: vec![None; local_graphs.cells.addresses.len()],
    };
    let condition = &target.condition;
    let mut listing = Listing { local_graphs, condition, variables, found: Vec::new(), steps: 0, session, limit: None };
    let is_complete = listing.extend(empty, 0, members);
    match listing.limit {
        Some(limit) => Err(limit),
        None => Ok(is_complete.then_some(listing.found)),
    }
}

struct Listing<'a> {
    local_graphs: &'a LocalGraphs,
    condition: &'a StateExpr,
    variables: Vec<Variable<'a>>,
    found: Vec<GoalCover>,
    steps: usize,
    session: &'a Session,
    limit: Option<Limit>,
}

impl Listing<'_> {
    /// Fixes one variable after the other until the condition is decided; false if that is too much work.
    fn extend(&mut self, cover: GoalCover, next: usize, members: &[&[u32]]) -> bool {
        self.steps += 1;
        if self.steps.is_multiple_of(A_CHECK) {
            self.limit = self.session.exceeded();
        }
        let most = self.session.size_bound(Bound::DualGoals);
        if self.limit.is_some() || self.steps > most.saturating_mul(50) || self.found.len() > most {
            return false;
        }
        match partial(self.condition, &mut |atom| self.value(atom, &cover, members)) {
            Some(0) => return true,
            Some(_) => {
                self.found.push(cover);
                return true;
            }
            None => {}
        }
        match self.variables.get(next) {
            // Everything it mentions is fixed, so this cannot be.
            None => true,
            Some(&Variable::Thread(position, members_of)) => (0..members_of.len()).all(|class| {
                let mut longer = cover.clone();
                longer.locals[position] = Some(class as u16);
                self.extend(longer, next + 1, members)
            }),
            Some(&Variable::Cell(cell)) => (0..self.local_graphs.cells.values[cell].len()).all(|value| {
                let mut longer = cover.clone();
                longer.memory[cell] = Some(value as u16);
                self.extend(longer, next + 1, members)
            }),
        }
    }

    fn value(&self, atom: &StateAtom, cover: &GoalCover, members: &[&[u32]]) -> Option<Value> {
        if let StateAtom::Cell(address) = atom {
            let cell = self.local_graphs.cells.number(*address)?;
            let value = cover.memory[usize::from(cell)]?;
            return Some(self.local_graphs.cells.values[usize::from(cell)][usize::from(value)]);
        }
        let position = thread_of(atom).and_then(|thread| position(self.local_graphs, thread))?;
        let group = self.local_graphs.group_of[position];
        let member = members[group][usize::from(cover.locals[position]?)];
        Some(value_in(atom, &self.local_graphs.graphs[group].states[member as usize]))
    }
}

/// The value of an expression of which only some leaves are known, if that is enough.
fn partial(expr: &StateExpr, leaf: &mut impl FnMut(&StateAtom) -> Option<Value>) -> Option<Value> {
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::Leaf(atom) => leaf(atom),
        Expr::Unary(op, operand) => Some(op.apply(partial(operand, leaf)?)),
        Expr::Binary(op, left, right) => {
            let (left, right) = (partial(left, leaf), partial(right, leaf));
            match (op, left, right) {
                (_, Some(left), Some(right)) => Some(op.apply(left, right)),
                (BinaryOp::And, Some(0), None) | (BinaryOp::And, None, Some(0)) => Some(0),
                (BinaryOp::Or, Some(known), None) | (BinaryOp::Or, None, Some(known)) if known != 0 => Some(1),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests;

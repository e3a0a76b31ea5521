//! Robustness, attacks and triangular races by their definitions: all runs, and what makes their traces.
//!
//! - [`is_robust`]: every run under TSO that ends drained has the trace of a run under SC, by listing both.
//! - [`is_sc_trace`]: whether a run under SC has the trace of a given run under TSO, by looking for one.
//! - [`feasible`]: the attacks ("Checking and Enforcing Robustness against TSO", Definition 1) that some run shows.
//! - [`races`], [`executed`]: triangular races, and what runs under SC execute.
//!
//! A trace is, for each thread, what it executes with the store that each load reads from, and for each cell the order
//! of the stores. A thread's steps are part of it, so a run under SC with the trace of one under TSO has as many; so
//! traces of runs up to a bound can be compared with each other, and a program with loops is not robust if they differ.

mod attacks;
mod machine;
mod order;
mod states;

use weir_ir::{EdgeId, Program, ThreadId, Value};

pub use attacks::{Feasible, feasible};
pub use states::{Executed, executed, races};

use crate::hash::Rows;
use crate::reference::Model;
use machine::{Machine, Run, Stores};

/// How far runs are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// No thread does more than this many things; where one could, the answer is not complete.
    pub instructions: usize,
    /// So many different ways to go are looked at.
    pub ways: usize,
}

/// How a walk over all runs ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// All runs were seen.
    Complete,
    /// All runs in which no thread does more than allowed.
    Bounded,
    /// There are more ways than allowed.
    TooMany,
    /// The visitor has seen enough.
    Enough,
}

/// Whether the program is robust. With loops only `Some(false)` can be known, from runs up to the limit; `None` also if
/// there are too many.
pub fn is_robust(program: &Program, limits: Bounds) -> Option<bool> {
    let mut under_sc = Rows::default();
    if walk(program, Model::Sc, limits, &mut under_sc, |_, _| true) == End::TooMany {
        return None;
    }
    let is_sc = |run: &Run, trace: &[u64]| !run.is_drained() || under_sc.contains(trace);
    match walk(program, Model::Tso, limits, &mut Rows::default(), is_sc) {
        End::Enough => Some(false),
        End::Complete => Some(true),
        End::Bounded | End::TooMany => None,
    }
}

/// Visits every trace of every run, until `visit` returns false.
fn walk(program: &Program, model: Model, limits: Bounds, seen: &mut Rows, visit: impl Fn(&Run, &[u64]) -> bool) -> End {
    let machine = Machine { program, settles: true };
    let stores = if model == Model::Sc { Stores::Land } else { Stores::Wait };
    let mut work = vec![machine.initial()];
    let mut end = End::Complete;
    while let Some(run) = work.pop() {
        let trace = run.trace(program);
        if !visit(&run, &trace) {
            return End::Enough;
        }
        if !seen.insert(trace) {
            continue;
        }
        if seen.len() > limits.ways {
            return End::TooMany;
        }
        for thread in 0..run.threads.len() {
            let next = machine.executed(&run, thread, stores);
            if run.threads[thread].executed.len() < limits.instructions {
                work.extend(next);
            } else if !next.is_empty() {
                end = End::Bounded;
            }
            work.extend(machine.flushed(&run, thread));
        }
    }
    end
}

/// One step of a run that is given: who, and the edge with the value that a `Havoc` takes; no edge for a flush.
pub type Move = (ThreadId, Option<(EdgeId, Value)>);

/// Whether some run under SC has the trace of this run under TSO.
///
/// # Errors
/// If the moves are no run under TSO that ends drained: the number of the first that cannot be made.
pub fn is_sc_trace(program: &Program, moves: &[Move]) -> Result<bool, usize> {
    let machine = Machine { program, settles: false };
    let mut run = machine.initial();
    for (number, &(thread, action)) in moves.iter().enumerate() {
        let thread = thread.index();
        let next = match action {
            None => machine.flushed(&run, thread),
            Some((edge, choice)) => {
                let is_there = program.threads[thread].body.edge(edge).from == run.threads[thread].location;
                let next = machine.follow(&run, (thread, edge), Stores::Wait).into_iter();
                let is_chosen =
                    |next: &Run| next.threads[thread].executed.last().is_some_and(|traced| traced.choice == choice);
                next.filter(|_| is_there).find(is_chosen)
            }
        };
        run = next.ok_or(number)?;
    }
    if !run.is_drained() {
        return Err(moves.len());
    }
    Ok(can_be_repeated(machine, &run))
}

/// Whether a run under SC has this trace: it takes the steps of each thread in their order, as long as each reads from
/// the same store as there, and the stores to each cell come in the same order.
fn can_be_repeated(machine: Machine<'_>, expected: &Run) -> bool {
    let mut seen = Rows::default();
    let mut work = vec![machine.initial()];
    while let Some(run) = work.pop() {
        let places: Vec<u64> = run.threads.iter().map(|local| local.executed.len() as u64).collect();
        if !seen.insert(places) {
            continue;
        }
        let is_next = |next: &Run, thread: usize| {
            let place = run.threads[thread].executed.len();
            let is_same = next.threads[thread].executed[place] == expected.threads[thread].executed[place];
            let is_in_order = |access: &machine::Access| {
                let (so_far, all) = (next.landed.get(&access.address), expected.landed.get(&access.address));
                so_far.is_none_or(|so_far| all.is_some_and(|all| all.starts_with(so_far)))
            };
            is_same && next.threads[thread].executed[place].accesses.iter().all(is_in_order)
        };
        let mut is_done = true;
        for thread in 0..run.threads.len() {
            let Some(traced) = expected.threads[thread].executed.get(run.threads[thread].executed.len()) else {
                continue;
            };
            is_done = false;
            let next = machine.follow(&run, (thread, traced.edge), Stores::Land).into_iter();
            work.extend(next.filter(|next| is_next(next, thread)));
        }
        if is_done {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;

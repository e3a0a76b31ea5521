//! Counterexample reconstruction: from the result of a backward search to a run under TSO.
//!
//! A run in the load-buffer semantics becomes a run under TSO by a schedule: a store is flushed at the time at which
//! the load-buffer semantics executes it; a load that took a message from memory is executed when memory sent that
//! message; an instruction that needs an empty buffer keeps its time; everything else is executed as early as program
//! order permits, but on the same side of each membarrier, at which all buffers are empty in both semantics.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use weir_ir::{EdgeId, Value};
use weir_witness::{Action, Run, Step};

use super::config::{Config, Message, View, is_own};
use super::local_graph::{self, Graph, Label, LocalGraphs};
use super::predecessors::{Move, Op};
use super::well_structured::Search;
use crate::wsts::Id;

/// A run from the initial configuration to the goal, in the load-buffer semantics, and the configuration it ends in.
pub(super) struct Counterexample {
    pub(super) root: Config,
    /// For each position of `root`, the thread of the run at that position.
    pub(super) thread_at: Vec<usize>,
    /// What each thread does, in order.
    paths: Vec<Vec<Item>>,
}

/// A move of a thread's automaton.
#[derive(Clone, Copy, Debug)]
struct Item {
    step: Move,
    when: When,
    /// How many membarriers the run has executed before it.
    epoch: usize,
}

/// When something happens to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    /// It does not matter.
    Whenever,
    /// It does not matter, but not while another thread holds the lock.
    Unlocked,
    /// A store is flushed at this time.
    Flushed(usize),
    At(usize),
}

/// Follows what the search found forwards, from the initial configuration to the goal.
pub(super) fn reconstruct(search: &Search<'_>, reached: Id) -> Option<Counterexample> {
    let threads = search.system.shape.threads;
    let mut reconstruction = Reconstruction {
        search,
        thread_at: (0..threads).collect(),
        buffers: vec![Vec::new(); threads],
        paths: vec![Vec::new(); threads],
        time: 0,
        epoch: 0,
    };
    let mut at = reached;
    loop {
        let parent = search.basis.parent(at);
        if parent == at {
            let root = Config(search.basis.row(at).to_vec());
            return Some(Counterexample { root, thread_at: reconstruction.thread_at, paths: reconstruction.paths });
        }
        reconstruction.link(at, parent)?;
        at = parent;
    }
}

struct Reconstruction<'a> {
    search: &'a Search<'a>,
    /// For each position of the configuration reached so far, the thread at that position.
    thread_at: Vec<usize>,
    /// For each thread the messages that matter, with the times at which they came.
    buffers: Vec<Vec<(Message, usize)>>,
    paths: Vec<Vec<Item>>,
    time: usize,
    /// How many membarriers were executed.
    epoch: usize,
}

impl Reconstruction<'_> {
    /// Follows one step forwards.
    fn link(&mut self, child: Id, parent: Id) -> Option<()> {
        let shape = &self.search.system.shape;
        let expected = self.search.basis.row(child);
        let mut found = None;
        let view = View::new(self.search.basis.row(parent), shape);
        self.search.system.predecessors(view, &mut |op, raw| {
            if found.is_some() {
                return;
            }
            let mut normal = raw;
            let mut stripped = Vec::new();
            let order = self.search.system.normalized(&mut normal, |thread, message| stripped.push((thread, message)));
            if normal.0 == expected {
                found = Some((op, stripped, order));
            }
        });
        let (op, stripped, order) = found?;
        if let Some(order) = order {
            let mut thread_at = vec![0; order.len()];
            for (to, &from) in order.iter().enumerate() {
                thread_at[from] = self.thread_at[to];
            }
            self.thread_at = thread_at;
        }
        for &(thread, message) in stripped.iter().rev() {
            self.send(thread, message);
        }
        match op {
            Op::Propagate(thread, message) => self.send(thread, message),
            Op::Move(step) => self.make(step)?,
        }
        Some(())
    }

    fn send(&mut self, position: usize, message: Message) {
        self.time += 1;
        self.buffers[self.thread_at[position]].push((message, self.time));
    }

    fn make(&mut self, step: Move) -> Option<()> {
        self.time += 1;
        let shape = &self.search.system.shape;
        let thread = self.thread_at[step.thread];
        let buffer = &mut self.buffers[thread];
        let own = |cell| move |&(message, _): &(Message, usize)| is_own(message) && shape.cell(message) == cell;
        let when = match step.label {
            Label::Silent => When::Whenever,
            Label::Load(..) | Label::Snapshot(_) => {
                let found = self.search.system.loaded(step.label)?.into_iter();
                let from_memory: Vec<_> = found.filter(|&(cell, _)| !buffer.iter().any(own(cell))).collect();
                match shape.about(&from_memory) {
                    None => When::Unlocked,
                    Some(expected) => {
                        let &(message, time) = buffer.first()?;
                        if message != expected {
                            return None;
                        }
                        When::At(time)
                    }
                }
            }
            Label::Store(cell, value) => {
                buffer.retain(|entry| !own(cell)(entry));
                buffer.push((shape.message(cell, value, true), self.time));
                When::Flushed(self.time)
            }
            Label::Fence | Label::Membarrier | Label::Rmw(..) | Label::Lock | Label::Unlock => When::At(self.time),
        };
        let excess = buffer.len().checked_sub(step.left)?;
        buffer.drain(..excess);
        self.paths[thread].push(Item { step, when, epoch: self.epoch });
        self.epoch += usize::from(step.label == Label::Membarrier);
        Some(())
    }
}

/// An edge that a thread takes, and when.
#[derive(Clone, Copy, Debug)]
struct TimedEdge {
    edge: EdgeId,
    choice: Value,
    label: Label,
    when: When,
    epoch: usize,
}

impl Counterexample {
    /// The run under TSO. `threads` has, for each thread of the counterexample, its position in the program.
    pub(super) fn run(&self, search: &Search<'_>, local_graphs: &LocalGraphs, threads: &[usize]) -> Option<Vec<Step>> {
        let edges: Option<Vec<Vec<TimedEdge>>> = (0..self.paths.len())
            .map(|thread| {
                let group = local_graphs.group_of[thread];
                let classes = &search.system.automata[group].class_of;
                follow(&local_graphs.graphs[group], classes, &self.paths[thread])
            })
            .collect();
        let mut schedule =
            Schedule { edges: edges?, next: vec![0; self.paths.len()], holder: None, epoch: 0, steps: Vec::new() };
        schedule.interleave()?;
        let rename = |(thread, action): &(usize, Action)| Step {
            thread: local_graphs.threads[threads[*thread]],
            action: *action,
        };
        Some(schedule.steps.iter().map(rename).collect())
    }
}

impl Item {
    /// A move of the graph that belongs to this one of the automaton.
    fn timed(&self, step: &local_graph::Move, when: When) -> TimedEdge {
        TimedEdge { edge: step.edge, choice: step.choice, label: step.label, when, epoch: self.epoch }
    }
}

/// The edges that a thread takes to make these moves of its automaton.
fn follow(graph: &Graph, classes: &[u16], path: &[Item]) -> Option<Vec<TimedEdge>> {
    let mut edges = Vec::new();
    let mut state = 0;
    for item in path {
        state = advance(graph, classes, state, item, &mut edges)?;
    }
    Some(edges)
}

/// Takes silent moves that the quotient has removed, then the given one.
fn advance(graph: &Graph, classes: &[u16], start: u32, item: &Item, edges: &mut Vec<TimedEdge>) -> Option<u32> {
    let mut open = VecDeque::from([start]);
    let mut came: Vec<(u32, u32, TimedEdge)> = Vec::new();
    let mut seen: FxHashSet<u32> = FxHashSet::from_iter([start]);
    while let Some(state) = open.pop_front() {
        for step in &graph.moves[state as usize] {
            let class = classes[step.to as usize];
            if step.label == item.step.label && class == item.step.to {
                let mut trail = Vec::new();
                let mut at = state;
                while at != start {
                    let &(from, _, edge) = came.iter().find(|&&(_, to, _)| to == at)?;
                    trail.push(edge);
                    at = from;
                }
                edges.extend(trail.into_iter().rev());
                edges.push(item.timed(step, item.when));
                return Some(step.to);
            }
            if step.label == Label::Silent && class == item.step.from && seen.insert(step.to) {
                came.push((state, step.to, item.timed(step, When::Whenever)));
                open.push_back(step.to);
            }
        }
    }
    None
}

/// The edges of all threads, interleaved by their times.
struct Schedule {
    edges: Vec<Vec<TimedEdge>>,
    next: Vec<usize>,
    holder: Option<usize>,
    /// How many membarriers were executed.
    epoch: usize,
    steps: Vec<(usize, Action)>,
}

impl Schedule {
    fn interleave(&mut self) -> Option<()> {
        let mut fixed: Vec<(usize, usize, usize)> = Vec::new();
        for (thread, edges) in self.edges.iter().enumerate() {
            for (position, edge) in edges.iter().enumerate() {
                if let When::At(time) | When::Flushed(time) = edge.when {
                    fixed.push((time, thread, position));
                }
            }
        }
        fixed.sort_unstable();
        (0..self.edges.len()).for_each(|thread| self.prepare(thread));
        for (_, thread, position) in fixed {
            self.prepare(thread);
            let edge = self.edges[thread][position];
            if let When::Flushed(_) = edge.when {
                self.steps.push((thread, Action::Flush));
            } else if self.next[thread] == position {
                self.execute(thread);
            } else {
                return None;
            }
            self.prepare(thread);
        }
        Some(())
    }

    /// Takes all edges that need not wait.
    fn prepare(&mut self, thread: usize) {
        while let Some(edge) = self.edges[thread].get(self.next[thread]).filter(|edge| edge.epoch <= self.epoch) {
            let is_locked_out = self.holder.is_some_and(|holder| holder != thread);
            match edge.when {
                When::Whenever | When::Flushed(_) => self.execute(thread),
                When::Unlocked if !is_locked_out => self.execute(thread),
                When::Unlocked | When::At(_) => return,
            }
        }
    }

    fn execute(&mut self, thread: usize) {
        let edge = self.edges[thread][self.next[thread]];
        self.next[thread] += 1;
        self.steps.push((thread, Action::Execute { edge: edge.edge, choice: edge.choice }));
        match edge.label {
            Label::Lock => self.holder = Some(thread),
            Label::Unlock => {
                self.holder = None;
                (0..self.edges.len()).filter(|&other| other != thread).for_each(|other| self.prepare(other));
            }
            Label::Membarrier => {
                self.epoch += 1;
                (0..self.edges.len()).filter(|&other| other != thread).for_each(|other| self.prepare(other));
            }
            _ => {}
        }
    }
}

/// A run of these steps under TSO.
pub(super) fn tso(steps: Vec<Step>) -> Run {
    Run { model: weir_witness::Model::Tso, steps }
}

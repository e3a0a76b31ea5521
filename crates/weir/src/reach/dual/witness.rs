//! From what a backward search found to a run under TSO.
//!
//! A run in the load-buffer view becomes one under TSO like this: a store is flushed when the load-buffer view makes it; a load that took a
//! message from memory happens when memory sent the message; what waits for an empty buffer happens when it did; all else
//! happens as early as the order of its thread lets it.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use weir_ir::{EdgeId, Value};
use weir_witness::{Action, Run, Step};

use super::config::{Config, Message, View, is_own};
use super::predecessors::{Move, Op};
use super::search::{Id, Search};
use super::unfold::{Graph, Label, Unfolded};

/// A run that goes from the initial configuration to the goal, and the configuration that shows the goal.
pub(super) struct Tale {
    pub(super) root: Config,
    /// For each position of `root`, which thread of the run it is.
    pub(super) actors: Vec<usize>,
    /// What each thread does, in order.
    paths: Vec<Vec<Item>>,
}

/// A move of a thread's automaton.
#[derive(Clone, Copy, Debug)]
struct Item {
    step: Move,
    when: When,
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

/// Retells what the search found, forwards.
pub(super) fn retell(search: &Search<'_>, reached: Id) -> Option<Tale> {
    let threads = search.system.shape.threads;
    let mut teller = Teller {
        search,
        actors: (0..threads).collect(),
        buffers: vec![Vec::new(); threads],
        paths: vec![Vec::new(); threads],
        time: 0,
    };
    let mut at = reached;
    loop {
        let parent = search.found.parents[at as usize];
        if parent == at {
            let root = Config(search.found.row(at).to_vec());
            return Some(Tale { root, actors: teller.actors, paths: teller.paths });
        }
        teller.link(at, parent)?;
        at = parent;
    }
}

struct Teller<'a> {
    search: &'a Search<'a>,
    /// For each position of the configuration reached so far, which thread it is.
    actors: Vec<usize>,
    /// For each thread the messages that matter, with the times at which they came.
    buffers: Vec<Vec<(Message, usize)>>,
    paths: Vec<Vec<Item>>,
    time: usize,
}

impl Teller<'_> {
    /// Follows one step forwards.
    fn link(&mut self, child: Id, parent: Id) -> Option<()> {
        let shape = &self.search.system.shape;
        let wanted = self.search.found.row(child);
        let mut found = None;
        let view = View::new(self.search.found.row(parent), shape);
        self.search.system.predecessors(view, &mut |op, raw| {
            if found.is_some() {
                return;
            }
            let mut normal = raw;
            let mut stripped = Vec::new();
            normal.strip(shape, |thread, message| stripped.push((thread, message)));
            let order = normal.sort(shape);
            if normal.0 == wanted {
                found = Some((op, stripped, order));
            }
        });
        let (op, stripped, order) = found?;
        if let Some(order) = order {
            let mut actors = vec![0; order.len()];
            for (to, &from) in order.iter().enumerate() {
                actors[from] = self.actors[to];
            }
            self.actors = actors;
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
        self.buffers[self.actors[position]].push((message, self.time));
    }

    fn make(&mut self, step: Move) -> Option<()> {
        self.time += 1;
        let shape = &self.search.system.shape;
        let thread = self.actors[step.thread];
        let buffer = &mut self.buffers[thread];
        let own = |cell| move |&(message, _): &(Message, usize)| is_own(message) && shape.cell(message) == cell;
        let when = match step.label {
            Label::Silent => When::Whenever,
            Label::Load(..) | Label::Snapshot(_) => {
                let found = self.search.system.loaded(step.label)?.into_iter();
                let from_memory: Vec<_> = found.filter(|&(cell, _)| !buffer.iter().any(own(cell))).collect();
                match shape.about(&from_memory) {
                    None => When::Unlocked,
                    Some(wanted) => {
                        let &(message, time) = buffer.first()?;
                        if message != wanted {
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
            Label::Fence | Label::Rmw(..) | Label::Lock | Label::Unlock => When::At(self.time),
        };
        let excess = buffer.len().checked_sub(step.left)?;
        buffer.drain(..excess);
        self.paths[thread].push(Item { step, when });
        Some(())
    }
}

/// An edge that a thread takes.
#[derive(Clone, Copy, Debug)]
struct Act {
    edge: EdgeId,
    choice: Value,
    label: Label,
    when: When,
}

impl Tale {
    /// The run under TSO. `role` says for each thread of the tale which thread of the program plays it.
    pub(super) fn run(&self, search: &Search<'_>, unfolded: &Unfolded, role: &[usize]) -> Option<Vec<Step>> {
        let acts: Option<Vec<Vec<Act>>> = (0..self.paths.len())
            .map(|thread| {
                let group = unfolded.group_of[thread];
                let classes = &search.system.automata[group].class_of;
                follow(&unfolded.graphs[group], classes, &self.paths[thread])
            })
            .collect();
        let mut stage = Stage { acts: acts?, next: vec![0; self.paths.len()], holder: None, steps: Vec::new() };
        stage.play()?;
        let rename =
            |(thread, action): &(usize, Action)| Step { thread: unfolded.threads[role[*thread]], action: *action };
        Some(stage.steps.iter().map(rename).collect())
    }
}

/// The edges that a thread takes to make these moves of its automaton.
fn follow(graph: &Graph, classes: &[u16], path: &[Item]) -> Option<Vec<Act>> {
    let mut acts = Vec::new();
    let mut state = 0;
    for item in path {
        state = advance(graph, classes, state, item, &mut acts)?;
    }
    Some(acts)
}

/// Takes silent moves that the automaton does not know of, then the one that is wanted.
fn advance(graph: &Graph, classes: &[u16], start: u32, item: &Item, acts: &mut Vec<Act>) -> Option<u32> {
    let mut open = VecDeque::from([start]);
    let mut came: Vec<(u32, u32, Act)> = Vec::new();
    let mut seen: FxHashSet<u32> = FxHashSet::from_iter([start]);
    while let Some(state) = open.pop_front() {
        for step in &graph.moves[state as usize] {
            let class = classes[step.to as usize];
            if step.label == item.step.label && class == item.step.to {
                let mut trail = Vec::new();
                let mut at = state;
                while at != start {
                    let &(from, _, act) = came.iter().find(|&&(_, to, _)| to == at)?;
                    trail.push(act);
                    at = from;
                }
                acts.extend(trail.into_iter().rev());
                acts.push(Act { edge: step.edge, choice: step.choice, label: step.label, when: item.when });
                return Some(step.to);
            }
            if step.label == Label::Silent && class == item.step.from && seen.insert(step.to) {
                let act = Act { edge: step.edge, choice: step.choice, label: step.label, when: When::Whenever };
                came.push((state, step.to, act));
                open.push_back(step.to);
            }
        }
    }
    None
}

/// The acts of all threads brought into one order.
struct Stage {
    acts: Vec<Vec<Act>>,
    next: Vec<usize>,
    holder: Option<usize>,
    steps: Vec<(usize, Action)>,
}

impl Stage {
    fn play(&mut self) -> Option<()> {
        let mut cues: Vec<(usize, usize, usize)> = Vec::new();
        for (thread, acts) in self.acts.iter().enumerate() {
            for (position, act) in acts.iter().enumerate() {
                if let When::At(time) | When::Flushed(time) = act.when {
                    cues.push((time, thread, position));
                }
            }
        }
        cues.sort_unstable();
        (0..self.acts.len()).for_each(|thread| self.prepare(thread));
        for (_, thread, position) in cues {
            self.prepare(thread);
            let act = self.acts[thread][position];
            if let When::Flushed(_) = act.when {
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

    /// Takes all that need not wait.
    fn prepare(&mut self, thread: usize) {
        while let Some(act) = self.acts[thread].get(self.next[thread]) {
            let is_locked_out = self.holder.is_some_and(|holder| holder != thread);
            match act.when {
                When::Whenever | When::Flushed(_) => self.execute(thread),
                When::Unlocked if !is_locked_out => self.execute(thread),
                When::Unlocked | When::At(_) => return,
            }
        }
    }

    fn execute(&mut self, thread: usize) {
        let act = self.acts[thread][self.next[thread]];
        self.next[thread] += 1;
        self.steps.push((thread, Action::Execute { edge: act.edge, choice: act.choice }));
        match act.label {
            Label::Lock => self.holder = Some(thread),
            Label::Unlock => {
                self.holder = None;
                (0..self.acts.len()).filter(|&other| other != thread).for_each(|other| self.prepare(other));
            }
            _ => {}
        }
    }
}

/// A run of these steps under TSO.
pub(super) fn tso(steps: Vec<Step>) -> Run {
    Run { model: weir_witness::Model::Tso, steps }
}

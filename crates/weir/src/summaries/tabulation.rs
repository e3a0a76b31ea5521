//! The exploration: states per invocation, with the callers and the summary of each.
//!
//! An *invocation* is a procedure entered in some state, whoever has called it; the thread's own code is one, too. A
//! *node* is a state that can be reached within an invocation. Nodes are numbered in the order in which they are found,
//! and each remembers how: from nodes with smaller numbers.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use weir_ir::{Edge, EdgeId, Frame, Instruction, RegId, ThreadId, Value};
use weir_witness::{Action, Goal, Step};

use crate::parameterized::state::{Control, Local, Phase};
use crate::parameterized::step::{Code, eval};
use crate::session::{Progress, Session};
use crate::verdict::{Coverage, Limit, Statistics};

use super::goals::shows;

/// The number of a node.
pub(super) type NodeId = u32;
/// The number of a state.
type StateId = u32;
/// The number of an invocation.
type InvocationId = u32;

/// How a node was found first.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    /// Its invocation begins there.
    Start,
    /// By a step.
    Step { before: NodeId, step: Step },
    /// By a call, everything up to its return, and the return.
    Over { caller: NodeId, call: Step, exit: NodeId, back: Step },
}

#[derive(Clone, Copy, Debug)]
struct Node {
    invocation: InvocationId,
    state: StateId,
    how: How,
}

/// A procedure entered in some state, or the thread's own code.
#[derive(Clone, Debug, Default)]
struct Invocation {
    /// The calls that lead there. The first one was made from a node that was found before.
    callers: Vec<(NodeId, EdgeId)>,
    /// The nodes at which it returns: each return, and the value.
    exits: Vec<(NodeId, EdgeId, Value)>,
}

/// The states that were found so far.
pub(super) struct Tabulation<'a> {
    code: &'a Code<'a>,
    /// The position of the calling thread among all threads.
    calling: usize,
    /// How many registers belong to the thread's own code.
    own_registers: usize,
    states: Vec<Control>,
    numbers: FxHashMap<Control, StateId>,
    nodes: Vec<Node>,
    known: FxHashMap<(InvocationId, StateId), NodeId>,
    invocations: Vec<Invocation>,
    entered: FxHashMap<StateId, InvocationId>,
    goals: Vec<Goal>,
    first_only: bool,
    reached: BTreeMap<Goal, NodeId>,
    executed: BTreeSet<(ThreadId, EdgeId)>,
    out_of_range: BTreeSet<(ThreadId, EdgeId)>,
    transitions: u64,
}

impl<'a> Tabulation<'a> {
    pub(super) fn new(code: &'a Code<'a>, calling: ThreadId, goals: &[Goal], first_only: bool) -> Self {
        let body = code.program.body(calling);
        let linked = body.frames.iter().flatten().filter_map(|frame| frame.registers.first());
        let own_registers = linked.map(|register| register.index()).min().unwrap_or(body.registers.len());
        let single = code.single.iter().map(|&thread| Some(code.entry(thread))).collect();
        let initial = Control { memory: BTreeMap::new(), is_locked: false, single, phase: Phase::Before };
        let mut new = Self {
            code,
            calling: code.single.iter().position(|&thread| thread == calling).unwrap_or(0),
            own_registers,
            states: Vec::new(),
            numbers: FxHashMap::default(),
            nodes: Vec::new(),
            known: FxHashMap::default(),
            invocations: vec![Invocation::default()],
            entered: FxHashMap::default(),
            goals: goals.to_vec(),
            first_only,
            reached: BTreeMap::new(),
            executed: BTreeSet::new(),
            out_of_range: BTreeSet::new(),
            transitions: 0,
        };
        new.add(0, initial, How::Start);
        new
    }

    /// Finds all nodes; the limit that was reached, if any.
    pub(super) fn explore(&mut self, session: &Session) -> Option<Limit> {
        let mut at = 0;
        let mut counted = 0;
        while at < self.nodes.len() {
            if at.is_multiple_of(64) {
                session.spend((self.nodes.len() - counted) as u64);
                counted = self.nodes.len();
                session.report(Progress { states: counted as u64, ..Progress::default() });
                if session.has_too_many_states() {
                    return Some(Limit::States);
                }
                if let Some(limit) = session.exceeded_with(self.bytes(), 0) {
                    return Some(limit);
                }
            }
            if self.expand(at as NodeId).is_none() {
                return Some(Limit::States);
            }
            if self.is_settled() {
                return None;
            }
            at += 1;
        }
        session.spend((self.nodes.len() - counted) as u64);
        None
    }

    /// Whether the nodes found so far answer what is asked.
    fn is_settled(&self) -> bool {
        let open = self.goals.len() - self.reached.len();
        !self.goals.is_empty() && (open == 0 || self.first_only && !self.reached.is_empty())
    }

    /// The goals that were reached, each with a node.
    pub(super) fn reached(&self) -> impl Iterator<Item = (Goal, NodeId)> + '_ {
        self.reached.iter().map(|(&goal, &node)| (goal, node))
    }

    pub(super) fn how(&self, node: NodeId) -> How {
        self.nodes[node as usize].how
    }

    /// The call that entered a node's invocation first; none for the thread's own code.
    pub(super) fn entering_call(&self, node: NodeId) -> Option<(NodeId, Step)> {
        let invocation = &self.invocations[self.nodes[node as usize].invocation as usize];
        invocation.callers.first().map(|&(caller, call)| (caller, self.calling_step(call)))
    }

    fn calling_step(&self, edge: EdgeId) -> Step {
        Step { thread: self.code.single[self.calling], action: Action::Execute { edge, choice: 0 } }
    }

    /// Roughly, the bytes that states and nodes take.
    fn bytes(&self) -> u64 {
        let registers: usize = self.code.single.iter().map(|&one| self.code.program.body(one).registers.len()).sum();
        let cells = self.states.last().map_or(0, |state| state.memory.len());
        let state =
            2 * (size_of::<Control>() + self.code.single.len() * size_of::<Local>() + 8 * registers + 48 * cells);
        let node = size_of::<Node>() + 3 * size_of::<NodeId>();
        (self.states.len() * state + self.nodes.len() * node) as u64
    }

    /// A node, if it was not known.
    fn add(&mut self, invocation: InvocationId, control: Control, how: How) {
        let state = match self.numbers.get(&control) {
            Some(&state) => state,
            None => {
                let state = self.states.len() as StateId;
                self.numbers.insert(control.clone(), state);
                self.states.push(control);
                state
            }
        };
        let node = self.nodes.len() as NodeId;
        if let Entry::Vacant(place) = self.known.entry((invocation, state)) {
            place.insert(node);
            self.nodes.push(Node { invocation, state, how });
        }
    }

    /// Takes all steps from a node. Nothing if there are too many.
    fn expand(&mut self, id: NodeId) -> Option<()> {
        let Node { invocation, state, .. } = self.nodes[id as usize];
        let code = self.code;
        let control = self.states[state as usize].clone();
        let before = self.transitions;
        for (place, local) in control.single.iter().enumerate() {
            let Some(local) = local else { continue };
            for (edge_id, edge) in code.program.body(local.thread).edges_from(local.location) {
                match &edge.instruction {
                    Instruction::Call { .. } => self.call((id, &control, local), (edge_id, edge)),
                    Instruction::Return(value) => self.give_back(id, (edge_id, eval(local, value))),
                    _ => {
                        let found = code.under_sc(&control, local, edge).ok()?;
                        self.note_range(&control, local, (edge_id, edge), found.is_empty());
                        for (mut next, moved) in found {
                            let choice = match edge.instruction {
                                Instruction::Havoc { register, range } => {
                                    let value = moved.registers[register.index()];
                                    // A choice that nobody looks at is cleared.
                                    if range.contains(value) { value } else { range.low }
                                }
                                _ => 0,
                            };
                            let step = Step { thread: local.thread, action: Action::Execute { edge: edge_id, choice } };
                            next.single[place] = Some(moved);
                            self.took(local.thread, edge_id);
                            self.add(invocation, next, How::Step { before: id, step });
                        }
                    }
                }
            }
        }
        let can_step = self.transitions > before;
        for &goal in &self.goals {
            if !self.reached.contains_key(&goal) && shows(code, &control, goal, !can_step) {
                self.reached.insert(goal, id);
            }
        }
        Some(())
    }

    fn took(&mut self, thread: ThreadId, edge: EdgeId) {
        self.transitions += 1;
        self.executed.insert((thread, edge));
    }

    /// Notes a store that waits for nothing but that the cell does not admit the value.
    fn note_range(&mut self, control: &Control, local: &Local, (id, edge): (EdgeId, &Edge), is_blocked: bool) {
        let writes = matches!(edge.instruction, Instruction::Store { .. } | Instruction::ReadModifyWrite { .. });
        if writes && is_blocked && (!control.is_locked || local.holds_lock) {
            self.out_of_range.insert((local.thread, id));
        }
    }

    /// The calling thread's part of a state.
    fn of_caller(&self, state: StateId) -> Option<&Local> {
        self.states[state as usize].single[self.calling].as_ref()
    }

    /// Enters a procedure, and goes on from where it is known to return.
    fn call(&mut self, (id, control, local): (NodeId, &Control, &Local), (edge_id, edge): (EdgeId, &Edge)) {
        let Some(entry) = self.entered_by(local, edge) else { return };
        let mut next = control.clone();
        next.single[self.calling] = Some(entry);
        self.took(local.thread, edge_id);
        let known = self.numbers.get(&next).and_then(|state| self.entered.get(state)).copied();
        let callee = known.unwrap_or(self.invocations.len() as InvocationId);
        if known.is_none() {
            self.invocations.push(Invocation::default());
            self.add(callee, next, How::Start);
            let state = self.nodes.last().map_or(0, |node| node.state);
            self.entered.insert(state, callee);
        }
        self.invocations[callee as usize].callers.push((id, edge_id));
        for exit in self.invocations[callee as usize].exits.clone() {
            self.go_over((id, edge_id), exit);
        }
    }

    /// The thread at the entry of a procedure: parameters are set, all other registers of it are 0. Registers of the
    /// thread itself that properties observe stay, so that they can be seen.
    fn entered_by(&self, local: &Local, edge: &Edge) -> Option<Local> {
        let Instruction::Call { procedure, arguments, .. } = &edge.instruction else { return None };
        let body = self.code.program.body(local.thread);
        let frame: &Frame = body.frames.get(procedure.index())?.as_ref()?;
        let mut registers = vec![0; body.registers.len()];
        registers[..self.own_registers].copy_from_slice(&local.registers[..self.own_registers]);
        for (parameter, argument) in frame.parameters.iter().zip(arguments) {
            registers[parameter.index()] = eval(local, argument);
        }
        // Dead registers are cleared there.
        Some(self.code.moved(Local { registers, ..local.clone() }, frame.entry))
    }

    /// Returns from an invocation, to all who have called it.
    fn give_back(&mut self, id: NodeId, (edge, value): (EdgeId, Value)) {
        let invocation = self.nodes[id as usize].invocation as usize;
        self.took(self.code.single[self.calling], edge);
        self.invocations[invocation].exits.push((id, edge, value));
        for caller in self.invocations[invocation].callers.clone() {
            self.go_over(caller, (id, edge, value));
        }
    }

    /// Goes on behind a call.
    fn go_over(&mut self, (caller, call): (NodeId, EdgeId), (exit, back, value): (NodeId, EdgeId, Value)) {
        let Node { invocation, state, .. } = self.nodes[caller as usize];
        let mut next = self.states[self.nodes[exit as usize].state as usize].clone();
        let Some(holds_lock) = next.single[self.calling].as_ref().map(|local| local.holds_lock) else { return };
        let Some(mut local) = self.of_caller(state).cloned() else { return };
        let edge = self.code.program.body(local.thread).edge(call);
        if let Instruction::Call { register: Some(register), .. } = edge.instruction {
            set(&mut local, register, value);
        }
        next.single[self.calling] = Some(self.code.moved(Local { holds_lock, ..local }, edge.to));
        let (call, back) = (self.calling_step(call), self.calling_step(back));
        self.add(invocation, next, How::Over { caller, call, exit, back });
    }

    pub(super) fn statistics(&self) -> Statistics {
        Statistics {
            states: self.nodes.len() as u64,
            transitions: self.transitions,
            stored_bytes: self.bytes(),
            ..Statistics::default()
        }
    }

    /// What was executed.
    pub(super) fn coverage(&self) -> Coverage {
        let edges = |thread: ThreadId| (0..self.code.program.body(thread).edges().len()).map(EdgeId::new);
        let all = || self.code.single.iter().copied();
        let is_new = |edge: &(ThreadId, EdgeId)| !self.executed.contains(edge);
        let is_immobile =
            |&thread: &ThreadId| edges(thread).len() > 0 && edges(thread).all(|edge| is_new(&(thread, edge)));
        Coverage {
            unexecuted: all().flat_map(|thread| edges(thread).map(move |edge| (thread, edge))).filter(is_new).collect(),
            immobile: all().filter(is_immobile).collect(),
            out_of_range: self.out_of_range.iter().copied().collect(),
            unexamined: Vec::new(),
            approximate: false,
        }
    }
}

fn set(local: &mut Local, register: RegId, value: Value) {
    local.registers[register.index()] = value;
}

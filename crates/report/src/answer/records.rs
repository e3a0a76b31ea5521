//! Parts that several answers have in common.

use std::collections::BTreeMap;

use serde::Serialize;
use weir::Limit;
use weir_ir::{EdgeId, Program, ThreadId, Value};
use weir_witness::Event;

use crate::run::Evidence;

/// Numbers of attacks. The search ends at the first feasible attack, so `by_control_flow`, `infeasible` and `feasible`
/// count the attacks that were decided; the rest of `total` is undecided.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttacksRecord {
    /// All pairs of a store and a load of one thread.
    pub total: u64,
    /// Ruled out because every path from the store to the load has a fence, or there is no path.
    pub by_control_flow: u64,
    /// Ruled out by the search: all the rest if the program is robust, otherwise 0. For `weir fences --stats`, the full
    /// count.
    pub infeasible: u64,
    /// Found feasible. There may be more: `weir robust` stops at the first one. For `weir fences --stats`, the full
    /// count.
    pub feasible: u64,
}

/// A store that stays in its buffer while a later load of its thread executes.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayRecord {
    /// The store.
    pub store: InstructionRecord,
    /// The load.
    pub load: InstructionRecord,
}

/// What ended a search before it was conclusive.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LimitRecord {
    Time,
    Memory,
    States,
    Interrupted,
    /// The lazy engine would have to extend the program further than is allowed or possible.
    Extensions,
    /// Only runs within the bound of the engine `rounds` or `age` were searched.
    Bound,
    /// Only runs with few calls of recursive procedures on a stack were searched.
    Frames,
    /// Only runs that spawn few threads were searched.
    Spawned,
    /// An over-approximation found a violation that no run confirms.
    Alarm,
    /// Nothing is known about large numbers of copies of a `[*]` thread.
    Instances,
    /// An `exists` was asked about every number of copies of a `[*]` thread.
    Copies,
    /// The engine does not support something in the program; see `warnings`.
    Refused,
}

impl From<Limit> for LimitRecord {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Time => Self::Time,
            Limit::Memory => Self::Memory,
            Limit::States => Self::States,
            Limit::Interrupted => Self::Interrupted,
            Limit::Extensions => Self::Extensions,
            Limit::Rounds(_) | Limit::Age(_) => Self::Bound,
            Limit::Frames(_) => Self::Frames,
            Limit::Spawned(_) => Self::Spawned,
            Limit::Alarm => Self::Alarm,
            Limit::Instances => Self::Instances,
            Limit::Copies => Self::Copies,
        }
    }
}

/// An instruction of a thread.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstructionRecord {
    /// The thread.
    pub thread: String,
    /// Its number in the thread.
    pub edge: u32,
    /// Its label, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its source line.
    pub line: u32,
    /// The instruction.
    pub text: String,
}

impl InstructionRecord {
    /// An instruction of the program.
    pub(crate) fn new(program: &Program, thread: ThreadId, edge: EdgeId) -> Self {
        let body = program.body(thread);
        let from = body.edge(edge).from;
        Self {
            thread: program.thread(thread).name.clone(),
            edge: edge.0,
            label: body.locations[from.index()].labels.first().cloned(),
            line: program.source.line(body.edge(edge).span),
            text: program.instruction_text(thread, edge),
        }
    }

    /// The instruction that a step executes. A flush executes none.
    pub(super) fn of(program: &Program, event: &Event) -> Option<Self> {
        Some(Self::new(program, event.thread, event.edge?))
    }

    /// Several instructions.
    pub(super) fn all(program: &Program, edges: &[(ThreadId, EdgeId)]) -> Vec<Self> {
        edges.iter().map(|&(thread, edge)| Self::new(program, thread, edge)).collect()
    }
}

/// Statistics of a search.
#[derive(Serialize, Clone, Copy, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatisticsRecord {
    /// Whether states that differ only in the numbering of interchangeable threads were counted as one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub up_to_symmetry: bool,
    /// The partial order reduction, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction: Option<&'static str>,
    /// Number of transitions between states.
    pub transitions: u64,
    /// Length of the longest run explored.
    pub depth: u64,
    /// Bytes of one state in the store.
    pub state_bytes: u64,
    /// Bytes held by the state store at the end.
    pub stored_bytes: u64,
    /// Peak memory of the process in bytes, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// Wall-clock time of the search alone.
    pub search_seconds: f64,
}

/// A state with empty buffers.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StateRecord {
    /// The threads.
    pub threads: Vec<ThreadStateRecord>,
    /// The values of the declared cells, by name.
    pub memory: BTreeMap<String, Value>,
}

/// A thread in a state.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadStateRecord {
    /// Its name.
    pub thread: String,
    /// Where it is, in words.
    pub at: String,
    /// The values of its registers, by name.
    pub registers: BTreeMap<String, Value>,
}

impl StateRecord {
    /// The state at the end of a run.
    pub(crate) fn new(program: &Program, evidence: &Evidence) -> Self {
        let state = evidence.checked.replay().last();
        let thread = |(id, own): (ThreadId, &weir_witness::ThreadState)| {
            let named = program.body(id).registers.iter().zip(&own.registers);
            let written = named.filter(|(register, _)| !register.is_temporary);
            ThreadStateRecord {
                thread: program.thread(id).name.clone(),
                at: program.whereabouts(id, own.location),
                registers: written.map(|(register, &value)| (register.name.clone(), value)).collect(),
            }
        };
        let addresses = program.shared.iter().flat_map(|shared| shared.addresses());
        Self {
            threads: state.present_threads().map(thread).collect(),
            memory: addresses.map(|at| (program.cell_name(at), state.cell(program, at))).collect(),
        }
    }

    /// In one line: `P0 done, r=0; P1 done, s=0; x=1 y=1`.
    pub(crate) fn text(&self) -> String {
        let values = |values: &BTreeMap<String, Value>| {
            values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        let thread = |thread: &ThreadStateRecord| {
            let registers = values(&thread.registers);
            let separator = if registers.is_empty() { "" } else { ", " };
            format!("{} {}{separator}{registers}", thread.thread, thread.at)
        };
        let threads = self.threads.iter().map(thread);
        threads.chain([values(&self.memory)]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

//! Runs in JSON, within answers and saved on their own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_ir::Value;

use super::ModelRecord;

/// The version of the format of saved witnesses that this Weir reads and writes.
pub(crate) const WITNESS_FORMAT: u32 = 1;

/// A run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Witness {
    /// The memory model.
    pub(crate) model: ModelRecord,
    /// The steps, in order.
    pub(crate) steps: Vec<StepRecord>,
    /// A happens-before cycle, if there is one: then no run under SC behaves like this one.
    #[serde(default)]
    pub(crate) cycle: Vec<CycleRecord>,
}

/// One step of a run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct StepRecord {
    /// The thread whose instruction is executed or whose buffer is flushed.
    pub(crate) thread: String,
    /// The kind of step.
    pub(crate) action: ActionName,
    /// The number of the instruction in its thread. A flush has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edge: Option<u32>,
    /// The value chosen by an `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<Value>,
    /// The cell that it accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cell: Option<String>,
    /// The value loaded, stored, flushed or assigned; for a read-modify-write, the value written, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
    /// The values that a snapshot loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) loads: Vec<LoadRecord>,
    /// The value that a read-modify-write read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) read: Option<Value>,
    /// The label the thread was at, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The line of the instruction; for a flush, that of its store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    /// The step as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// One of the loads of a snapshot.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LoadRecord {
    /// The cell.
    pub(crate) cell: String,
    /// The value read.
    pub(crate) value: Value,
}

/// Kinds of steps.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ActionName {
    Load,
    /// Loads of several cells in one step.
    Snapshot,
    Store,
    /// The oldest store of the thread's buffer reaches memory.
    Flush,
    Fence,
    /// An atomic read-modify-write.
    Rmw,
    Lock,
    Unlock,
    /// A step that involves only registers and control flow.
    #[default]
    Local,
}

/// One event of a happens-before cycle.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct CycleRecord {
    /// The number of the step, from 1. For a buffered store, the step that executed it, not the flush.
    pub(crate) step: u32,
    /// The thread.
    pub(crate) thread: String,
    /// The kind of step.
    pub(crate) action: ActionName,
    /// The cell that it accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cell: Option<String>,
    /// The line of the instruction.
    pub(crate) line: u32,
    /// Why it happens before the next event; the last one happens before the first.
    pub(crate) relation: RelationName,
}

/// Why one event happens before another.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RelationName {
    /// The same thread executes it earlier.
    ProgramOrder,
    /// Both store to the same cell, and it reaches memory earlier.
    StoreOrder,
    /// The other one reads what it wrote.
    Source,
    /// It reads the value that the other one overwrites.
    Conflict,
    /// Both are between one `lock` and its `unlock` or in one snapshot, which is a single step to all other threads.
    Section,
}

/// A saved witness: a run, and what is needed to check it. The fields of [`Witness`] are repeated, not
/// flattened, so that errors in a file are reported with their own line and column.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct SavedWitness {
    /// Version of this format; 1.
    pub(crate) format: u32,
    /// Version of Weir that wrote it.
    pub(crate) weir: String,
    /// The program file as named on the command line.
    pub(crate) file: String,
    /// Constants that were set with `-D`.
    #[serde(default)]
    pub(crate) defines: BTreeMap<String, Value>,
    /// What the last state violates.
    pub(crate) goal: SavedGoal,
    /// The memory model.
    pub(crate) model: ModelRecord,
    /// The steps, in order.
    pub(crate) steps: Vec<StepRecord>,
    /// A happens-before cycle, if there is one: then no run under SC behaves like this one.
    #[serde(default)]
    pub(crate) cycle: Vec<CycleRecord>,
}

/// What the last state of a saved run violates.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SavedGoal {
    /// A property of the program.
    Property {
        /// Its number in the file, from 1.
        number: u32,
        /// The property as it is written.
        text: String,
    },
    /// A failed assertion.
    Assertion {
        /// Of this thread.
        thread: String,
    },
    /// No run under sequential consistency has the trace of this one.
    #[serde(rename = "not-robust")]
    NotRobust,
}

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
    /// Under which memory model.
    pub(crate) model: ModelRecord,
    /// What happens, in order.
    pub(crate) steps: Vec<StepRecord>,
    /// A cycle of its happens-before relation, if there is one: then no run under SC behaves like this one.
    #[serde(default)]
    pub(crate) cycle: Vec<CycleRecord>,
}

/// One step of a run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct StepRecord {
    /// Whose instruction or buffer.
    pub(crate) thread: String,
    /// What kind of step.
    pub(crate) action: ActionName,
    /// The number of the instruction in its thread. A flush has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edge: Option<u32>,
    /// The value taken by an `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<Value>,
    /// The cell it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cell: Option<String>,
    /// The value loaded, stored, flushed, or assigned; for a read-modify-write what it wrote, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
    /// What a snapshot loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) loads: Vec<LoadRecord>,
    /// What a read-modify-write read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) read: Option<Value>,
    /// The label the thread was at, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// The line of the instruction; for a flush, that of its store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    /// The step as a person would write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// One of the loads of a snapshot.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LoadRecord {
    /// The cell.
    pub(crate) cell: String,
    /// What was read.
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
    /// A step that concerns registers and places alone.
    #[default]
    Local,
}

/// One event of a happens-before cycle.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct CycleRecord {
    /// The step, from 1. A store that was buffered is counted where it was executed.
    pub(crate) step: u32,
    /// Whose.
    pub(crate) thread: String,
    /// What kind of step.
    pub(crate) action: ActionName,
    /// The cell it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cell: Option<String>,
    /// The line of the instruction.
    pub(crate) line: u32,
    /// Why it comes before the next one; the last one comes before the first.
    pub(crate) relation: RelationName,
}

/// Why one event comes before another.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RelationName {
    /// The same thread executes it earlier.
    ProgramOrder,
    /// It reaches memory earlier at the same cell.
    StoreOrder,
    /// The other one reads what it wrote.
    Source,
    /// It reads what was there before the other one wrote.
    Conflict,
    /// Both lie between one `lock` and its `unlock`, or belong to one snapshot, which is one step to all other threads.
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
    /// The program, as it was named.
    pub(crate) file: String,
    /// Constants that were set with `-D`.
    #[serde(default)]
    pub(crate) defines: BTreeMap<String, Value>,
    /// What the last state shows.
    pub(crate) goal: SavedGoal,
    /// Under which memory model.
    pub(crate) model: ModelRecord,
    /// What happens, in order.
    pub(crate) steps: Vec<StepRecord>,
    /// A cycle of its happens-before relation, if there is one: then no run under SC behaves like this one.
    #[serde(default)]
    pub(crate) cycle: Vec<CycleRecord>,
}

/// What the last state of a saved run shows.
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

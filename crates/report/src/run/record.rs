//! Runs as serializable types: in answers, and saved on their own.

use serde::{Deserialize, Serialize};
use weir_ir::Value;
use weir_witness::{Model, Relation};

use super::continuations::ContinuationsRecord;

/// A run.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Witness {
    /// The memory model.
    pub model: ModelRecord,
    /// The steps, in order.
    pub steps: Vec<StepRecord>,
    /// A happens-before cycle, if there is one: then no run under SC behaves like this one.
    #[serde(default)]
    pub cycle: Vec<CycleRecord>,
    /// What is left to happen after the run, if the property is about what can still happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuations: Option<ContinuationsRecord>,
}

/// One step of a run.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StepRecord {
    /// The thread whose instruction is executed or whose buffer is flushed.
    pub thread: String,
    /// The kind of step.
    pub action: ActionName,
    /// The number of the instruction in its thread. A flush has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<u32>,
    /// The value chosen by an `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Value>,
    /// The cell that it accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// The value loaded, stored, flushed, assigned or returned; for a read-modify-write, the value written, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The values that a snapshot loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<LoadRecord>,
    /// The value that a read-modify-write read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Value>,
    /// The thread that a `spawn` starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<String>,
    /// The label the thread was at, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The line of the instruction; for a flush, that of its store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The step as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// One of the loads of a snapshot.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadRecord {
    /// The cell.
    pub cell: String,
    /// The value read.
    pub value: Value,
}

/// Kinds of steps.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ActionName {
    Load,
    /// Loads of several cells in one step.
    Snapshot,
    Await,
    Store,
    /// The oldest store of the thread's buffer reaches memory.
    Flush,
    Fence,
    Membarrier,
    /// An atomic read-modify-write.
    Rmw,
    Lock,
    Unlock,
    /// Of a recursive procedure.
    Call,
    Return,
    /// Another thread starts.
    Spawn,
    /// A step that involves only registers and control flow.
    #[default]
    Local,
}

/// One event of a happens-before cycle.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CycleRecord {
    /// The number of the step, from 1. For a buffered store, the step that executed it, not the flush.
    pub step: u32,
    /// The thread.
    pub thread: String,
    /// The kind of step.
    pub action: ActionName,
    /// The cell that it accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// The line of the instruction.
    pub line: u32,
    /// Why it happens before the next event; the last one happens before the first.
    pub relation: RelationName,
}

/// Why one event happens before another.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RelationName {
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
    /// It starts the thread of the other one.
    Start,
}

impl From<Relation> for RelationName {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::ProgramOrder => Self::ProgramOrder,
            Relation::StoreOrder => Self::StoreOrder,
            Relation::Source => Self::Source,
            Relation::Conflict => Self::Conflict,
            Relation::Section => Self::Section,
            Relation::Start => Self::Start,
        }
    }
}

/// Memory models.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ModelRecord {
    /// Sequential consistency.
    Sc,
    /// Total Store Order.
    Tso,
}

impl From<Model> for ModelRecord {
    fn from(model: Model) -> Self {
        match model {
            Model::Sc => Self::Sc,
            Model::Tso => Self::Tso,
        }
    }
}

impl From<ModelRecord> for Model {
    fn from(model: ModelRecord) -> Self {
        match model {
            ModelRecord::Sc => Self::Sc,
            ModelRecord::Tso => Self::Tso,
        }
    }
}

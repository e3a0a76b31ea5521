//! The format of saved runs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use weir_ir::{Program, Value};

use super::goal::{SavedGoal, to_saved_goal};
use crate::run::{ContinuationsRecord, CycleRecord, Evidence, ModelRecord, StepRecord, Witness};
use crate::version::VERSION;

/// The version of the format of saved witnesses that this Weir reads and writes.
pub(super) const WITNESS_FORMAT: u32 = 1;

/// A saved witness: a run, and what is needed to check it. The fields of [`Witness`] are repeated, not
/// flattened, so that errors in a file are reported with their own line and column.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SavedWitness {
    /// Version of this format; 1.
    pub format: u32,
    /// Version of Weir that wrote it.
    pub weir: String,
    /// The program file as named on the command line.
    pub file: String,
    /// Constants that were set with `-D`.
    #[serde(default)]
    pub defines: BTreeMap<String, Value>,
    /// What the last state violates.
    pub goal: SavedGoal,
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

impl SavedWitness {
    /// A replayed run with all that is needed to check it again.
    pub fn new(program: &Program, evidence: &Evidence, file: &Path, defines: &[(String, Value)]) -> Self {
        let Witness { model, steps, cycle, continuations } = Witness::new(program, evidence);
        Self {
            format: WITNESS_FORMAT,
            weir: VERSION.to_owned(),
            file: file.display().to_string(),
            defines: defines.iter().cloned().collect(),
            goal: to_saved_goal(program, evidence.checked.goal()),
            model,
            steps,
            cycle,
            continuations,
        }
    }

    /// The text of the file.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

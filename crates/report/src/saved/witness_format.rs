//! The format of saved runs.

use serde::{Deserialize, Serialize};
use weir_ir::Program;
use weir_syntax::Language;

use super::metadata::{Metadata, Question};
use crate::run::{ContinuationsRecord, CycleRecord, Evidence, StepRecord, Witness};

/// The version of the format of saved witnesses that this Weir reads and writes.
pub(super) const WITNESS_FORMAT: u32 = 2;

/// A saved witness: a run, and what is needed to check it. The fields of [`Witness`] are repeated, not
/// flattened, so that errors in a file are reported with their own line and column.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SavedWitness {
    /// Version of this format; 2.
    pub format: u32,
    /// What it is about, and what made it.
    pub metadata: Metadata,
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
    pub fn new(program: &Program, language: Language, evidence: &Evidence) -> Self {
        let Witness { model, steps, cycle, continuations } = Witness::new(program, evidence);
        let question = Question { program, language, model: model.into(), goals: &[evidence.checked.goal()] };
        Self { format: WITNESS_FORMAT, metadata: Metadata::new(&question), steps, cycle, continuations }
    }

    /// The text of the file.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

//! Runs that are written out only when they are serialized.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use weir_ir::Program;

use super::evidence::Evidence;
use super::record::Witness;

/// A run that serializes as [`Witness`]. A run can have millions of steps, of which text shows a few: describing all of
/// them is left to formats that need it.
#[derive(Clone)]
pub struct LazyWitness<'a> {
    program: &'a Program,
    evidence: Arc<Evidence>,
}

impl<'a> LazyWitness<'a> {
    /// A replayed run of the program.
    pub(crate) fn new(program: &'a Program, evidence: &Arc<Evidence>) -> Self {
        Self { program, evidence: Arc::clone(evidence) }
    }

    /// The run, written out.
    pub fn witness(&self) -> Witness {
        Witness::new(self.program, &self.evidence)
    }
}

impl Serialize for LazyWitness<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.witness().serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for LazyWitness<'_> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Witness::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        Witness::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Witness::json_schema(generator)
    }
}

//! Runs that were replayed: what explains them, what their steps do in words, and runs as serializable types.

pub(crate) mod continuations;
mod convert;
pub(crate) mod cycle_text;
pub(crate) mod evidence;
mod lazy;
pub(crate) mod race;
#[allow(missing_docs, reason = "each comment is a description in the JSON Schema; plain names go without")]
pub(crate) mod record;

pub use continuations::{ConstantCell, ContinuationsRecord, ThreadPlaces};
pub(crate) use convert::{cycle_record, step_records};
pub use evidence::{Evidence, Overtaking};
pub use lazy::LazyWitness;
pub use record::{ActionName, CycleRecord, LoadRecord, ModelRecord, RelationName, StepRecord, Witness};

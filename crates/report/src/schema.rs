//! The JSON Schema of answers and saved files.

use schemars::Schema;
use schemars::generate::SchemaSettings;

use crate::answer::Answer;
use crate::saved::{SavedCertificate, SavedWitness};

/// The schema of answers, with that of saved witnesses and certificates among its definitions, as text.
pub fn schema() -> String {
    let text = serde_json::to_string_pretty(&generated()).expect("all keys are strings, so a schema serializes");
    text + "\n"
}

fn generated() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<SavedWitness>();
    generator.subschema_for::<SavedCertificate>();
    generator.into_root_schema_for::<Answer<'static>>()
}

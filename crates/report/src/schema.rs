//! The JSON Schema of answers and saved files.
//!
//! `docs/schema.json` holds it, and a test keeps that file up to date. Generating it takes code for every type, which
//! doubles what this crate costs to build, so only tests do: with the feature `schema`.

/// The schema of answers, with that of saved witnesses and certificates among its definitions.
pub const SCHEMA: &str = include_str!("../../../docs/schema.json");

/// The same, generated from the types.
#[cfg(feature = "schema")]
pub fn generated_schema() -> String {
    let text = serde_json::to_string_pretty(&generated()).expect("all keys are strings, so a schema serializes");
    text + "\n"
}

#[cfg(feature = "schema")]
fn generated() -> schemars::Schema {
    use schemars::generate::SchemaSettings;

    use crate::answer::Answer;
    use crate::saved::{SavedCertificate, SavedNetProof, SavedWitness};

    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<SavedWitness>();
    generator.subschema_for::<SavedCertificate>();
    generator.subschema_for::<SavedNetProof>();
    generator.into_root_schema_for::<Answer<'static>>()
}

//! Runs and certificates as files hold them, for `weir replay` and other tools. Opening the files is up to others.

mod certificate;
#[allow(missing_docs, reason = "each comment is a description in the JSON Schema; plain names go without")]
mod certificate_format;
mod chance;
#[allow(missing_docs, reason = "each comment is a description in the JSON Schema; plain names go without")]
mod chance_format;
mod compression;
mod copies;
mod fences;
#[allow(missing_docs, reason = "each comment is a description in the JSON Schema; plain names go without")]
mod fences_format;
mod goal;
#[allow(missing_docs, reason = "each comment is a description in the JSON Schema; plain names go without")]
mod metadata;
mod mismatch;
#[allow(missing_docs, reason = "each comment is a description in the JSON Schema; plain names go without")]
mod net;
mod read;
mod witness;
#[allow(missing_docs, reason = "each comment is a description in the JSON Schema; plain names go without")]
mod witness_format;

pub use certificate_format::{
    BuffersRecord, CertificateKind, ConfigurationRecord, CopyRecord, CopyViewRecord, LocalRecord, MessageRecord,
    SavedCertificate, ViewRecord,
};
pub use chance::ChanceAsked;
pub use chance_format::ChanceRecord;
pub use fences::{FencesAsked, searched_text};
pub use fences_format::{BoundRecord, BoundStepRecord, FencesRecord, PlaceRecord};
pub use goal::SavedGoal;
pub use metadata::{Metadata, ProgramRecord, Question};
pub use mismatch::{Mismatch, Rejection};
pub use net::{FactRecord, NetKind, NetMetadata, NetProofRecord, SavedNetProof, SetRecord};
pub use read::Saved;
pub use witness_format::SavedWitness;

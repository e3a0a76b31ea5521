//! Reads saved runs and certificates.

use super::certificate_format::{CERTIFICATE_FORMAT, SavedCertificate};
use super::net::{NetKind, SavedNetProof};
use super::witness_format::{SavedWitness, WITNESS_FORMAT};
use crate::version::VERSION;
use crate::wording::clean::clean;

/// What `weir replay` can check.
pub enum Saved {
    /// A run.
    Run(SavedWitness),
    /// A proof.
    Proof(SavedCertificate),
    /// A proof about a net.
    NetProof(SavedNetProof),
}

impl Saved {
    /// Reads a file, or says what is wrong with it.
    ///
    /// # Errors
    /// If it is neither a run nor a proof in this format.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (line, body) = bytes.split_at(bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len()));
        if serde_json::from_slice::<NetOnly>(line).is_ok() {
            return match serde_json::from_slice::<SavedNetProof>(bytes) {
                Ok(saved) if saved.format == CERTIFICATE_FORMAT => Ok(Self::NetProof(saved)),
                Ok(saved) => Err(other_format(saved.format)),
                Err(error) => Err(format!("malformed certificate: {}", clean(&error.to_string()))),
            };
        }
        if serde_json::from_slice::<KindOnly>(line).is_ok() {
            return match serde_json::from_slice::<SavedCertificate>(line) {
                Ok(saved) if saved.format == CERTIFICATE_FORMAT => {
                    Ok(Self::Proof(SavedCertificate { body: body.get(1..).unwrap_or_default().to_vec(), ..saved }))
                }
                Ok(saved) => Err(other_format(saved.format)),
                Err(error) => match serde_json::from_slice::<FormatOnly>(line) {
                    Ok(found) if found.format != CERTIFICATE_FORMAT => Err(other_format(found.format)),
                    _ => Err(format!("malformed certificate: {}", clean(&error.to_string()))),
                },
            };
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "malformed: it is not UTF-8 text".to_owned())?;
        match serde_json::from_str::<SavedWitness>(text) {
            Ok(saved) if saved.format == WITNESS_FORMAT => Ok(Self::Run(saved)),
            Ok(saved) => Err(other_format(saved.format)),
            Err(error) => match serde_json::from_str::<FormatOnly>(text) {
                Ok(found) if found.format != WITNESS_FORMAT => Err(other_format(found.format)),
                _ if error.is_data() => Err(format!("malformed: {}", clean(&error.to_string()))),
                _ => Err(format!("malformed: it is not JSON: {}", clean(&error.to_string()))),
            },
        }
    }
}

fn other_format(format: u32) -> String {
    format!("it has format {format}, but this version of Weir ({VERSION}) reads format {WITNESS_FORMAT}")
}

/// Enough to tell a certificate from a run: only certificates say which kind they are.
#[derive(serde::Deserialize)]
struct KindOnly {
    #[allow(dead_code, reason = "it only has to be there")]
    kind: String,
}

/// Enough to tell a proof about a net from one about a program.
#[derive(serde::Deserialize)]
struct NetOnly {
    #[allow(dead_code, reason = "it only has to be there")]
    kind: NetKind,
}

/// Enough of a witness to tell which version of the format it has.
#[derive(serde::Deserialize)]
struct FormatOnly {
    format: u32,
}

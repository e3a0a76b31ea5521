//! Proofs for every number of copies as files hold them, and back.

use weir_ir::{LocId, RegId};
use weir_witness::{CopiesProof, CopyState, Goal, Minimal, Model, PackedStates};

use super::certificate_format::{CopyRecord, SavedCertificate};

/// The local state of a copy.
pub(super) fn record(copy: &CopyState) -> CopyRecord {
    CopyRecord {
        of: copy.of,
        at: copy.location.0,
        registers: copy.registers.iter().map(|(register, &value)| (register.0, value)).collect(),
        holds: copy.holds_lock,
        on_path: copy.is_on_path,
    }
}

/// Whether a file has anything that only such proofs have.
pub(super) fn are_in(saved: &SavedCertificate) -> bool {
    !saved.copies.is_empty() || !saved.beside.is_empty() || !saved.minimal.is_empty()
}

/// The proof that a file claims, with these shared states.
pub(super) fn proof(saved: &SavedCertificate, (model, goals): (Model, Vec<Goal>), shared: PackedStates) -> CopiesProof {
    let copy = |record: &CopyRecord| CopyState {
        of: record.of,
        location: LocId(record.at),
        registers: record.registers.iter().map(|&(register, value)| (RegId(register), value)).collect(),
        holds_lock: record.holds,
        is_on_path: record.on_path,
    };
    let minimal = |(shared, copies): &(usize, Vec<usize>)| Minimal { shared: *shared, copies: copies.clone() };
    CopiesProof {
        model,
        goals,
        shared,
        copies: saved.copies.iter().map(copy).collect(),
        beside: saved.beside.clone(),
        minimal: saved.minimal.iter().map(minimal).collect(),
    }
}

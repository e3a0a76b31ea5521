//! Certificates, saved by `weir reach --certificate`.

use std::{io, path::Path};

use weir::reach::{Options, certify, certify_backward};
use weir::{Failure, Session};
use weir_ir::Program;
use weir_report::saved::{Proof, Rejection, SavedCertificate};
use weir_syntax::Language;
use weir_witness::Buffering;

use crate::error::Error;
use crate::output;

/// The kind of proof that an answer rests on.
#[derive(Clone, Copy)]
pub(super) enum ProofKind {
    /// There is no proof.
    Nothing,
    /// All states with buffers approximated like this.
    States(Buffering),
    /// What the exact engine found.
    Configurations,
}

/// What a proof rests on, checked and written down; or why there is none.
pub(super) fn written(
    (program, language): (&Program, Language),
    options: &Options,
    kind: ProofKind,
    path: &Path,
    session: &Session,
) -> Result<Result<io::Result<()>, String>, Error> {
    let found = match kind {
        ProofKind::Nothing => return Ok(Err("there is no proof".to_owned())),
        ProofKind::States(buffering) => {
            certify(program, options, buffering, session).map(|found| Some(Proof::Forward(found)))
        }
        ProofKind::Configurations => {
            certify_backward(program, options, session).map(|found| found.map(Proof::Backward))
        }
    };
    let proof = match found {
        Ok(Some(proof)) => proof,
        Ok(None) => return Ok(Err("there is no proof".to_owned())),
        Err(Failure::Stopped(limit)) => return Ok(Err(format!("the proof could not be written out: {limit}"))),
        Err(Failure::Refused(diagnostic) | Failure::TooLarge(diagnostic)) => return Ok(Err(diagnostic.message)),
        Err(failure) => return Err(Error::of_library(failure)),
    };
    if proof.goals().is_empty() {
        return Ok(Err("the program has no properties, so there is nothing to prove".to_owned()));
    }
    match proof.check(program, session) {
        Ok(()) => {}
        Err(Rejection::Interrupted) => {
            return Ok(Err(format!("the proof could not be checked: {}", session.ended_by())));
        }
        Err(Rejection::Mismatch(mismatch)) => {
            return Err(Error::Bug(format!("the checker rejects a certificate: {}", mismatch.reason)));
        }
    }
    let saved = SavedCertificate::new(program, language, &proof);
    let text = saved.to_text().map_err(io::Error::from);
    Ok(Ok(text.and_then(|text| output::write(path, &text))))
}

//! Certificates, saved by `--certificate`.

use std::io;
use std::path::Path;

use weir::certify::{Certified, Decided, Unproved, certify, certify_robust};
use weir_ir::Program;
use weir_report::saved::SavedCertificate;
use weir_report::wording::clean::display_name;
use weir_report::wording::goal;
use weir_report::wording::limit::limit_text;
use weir_witness::{Goal, Model};

use super::analysis;
use super::task::Task;
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::load::Loaded;
use crate::output;

/// Saves the proof of what was decided. The answer has already been given, and a failure to save does not change it.
pub(super) fn save(
    task: &Task<'_>,
    path: &Path,
    loaded: &Loaded,
    (model, decided): (Model, &[Decided]),
    console: &mut Console,
) -> Result<Status, Error> {
    if decided.is_empty() {
        return Ok(not_written(NOTHING_PROVED, path, console));
    }
    if decided.iter().all(|group| group.goals.is_empty()) {
        return Ok(not_written("the program has no properties, so there is nothing to prove", path, console));
    }
    let certified = analysis::watched(task, console, |session| certify(&loaded.program, model, decided, session));
    Ok(write(task, path, loaded, (model, certified.map_err(Error::of_library)?), console))
}

/// Saves the proof that the program is robust, if that was decided.
pub(super) fn save_robust(
    task: &Task<'_>,
    path: &Path,
    loaded: &Loaded,
    is_robust: bool,
    console: &mut Console,
) -> Result<Status, Error> {
    if !is_robust {
        return Ok(not_written(NOTHING_PROVED, path, console));
    }
    let certified = analysis::watched(task, console, |session| certify_robust(&loaded.program, session));
    Ok(write(task, path, loaded, (Model::Tso, certified.map_err(Error::of_library)?), console))
}

const NOTHING_PROVED: &str = "nothing was proved";

fn not_written(reason: &str, path: &Path, console: &mut Console) -> Status {
    analysis::written("certificate", path, Err(reason), console)
}

/// Writes the proofs that were found, and says what has none.
fn write(
    task: &Task<'_>,
    path: &Path,
    loaded: &Loaded,
    (model, Certified { proofs, unproved, .. }): (Model, Certified),
    console: &mut Console,
) -> Status {
    let reason = |why: &Unproved| match why {
        Unproved::Stopped(limit) => {
            format!("the proof could not be written out: {}", limit_text(*limit, &task.session.limits()))
        }
        Unproved::Unsuitable(reason) => format!("there is no proof that can be saved: {reason}"),
    };
    if let ([], Some((_, why))) = (&proofs[..], unproved.first()) {
        // Even if quiet: the user has asked for the file, and an old one may be there.
        console.complain(&format!("note: {}, so {} was not written", reason(why), display_name(path)));
        return Status::Holds;
    }
    for (goals, why) in &unproved {
        let (name, about) = (display_name(path), texts(&loaded.program, goals));
        console.complain(&format!("note: {}, so {name} does not cover this: {about}", reason(why)));
    }
    let saved = SavedCertificate::new(&loaded.program, loaded.language, model, &proofs);
    let bytes = saved.and_then(|saved| saved.to_bytes()).map_err(io::Error::from);
    let written = bytes.and_then(|bytes| output::write(path, bytes));
    analysis::written("certificate", path, Ok(written), console)
}

fn texts(program: &Program, goals: &[Goal]) -> String {
    goals.iter().map(|&goal| goal::text(program, goal)).collect::<Vec<_>>().join(", ")
}

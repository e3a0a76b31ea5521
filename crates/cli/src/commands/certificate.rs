//! Certificates, saved by `--certificate`.

use std::io;
use std::path::Path;

use weir::certify::{Certified, Decided, Unproved, certify, certify_robust};
use weir::fences::text::Sites;
use weir::fences::{Aim, Fences, Options, Report, certify_fences, safe_goals};
use weir::prob::{self, Claimed, certify_chance, chance_question};
use weir_ir::Program;
use weir_report::answer::ProbQuestion;
use weir_report::saved::{ChanceAsked, FencesAsked, Question, SavedCertificate};
use weir_report::wording::clean::display_name;
use weir_report::wording::goal;
use weir_report::wording::limit::limit_text;
use weir_witness::{FencePlace, Goal, Model, ONE};

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

/// What was found about fences.
pub(super) struct FencesFound<'a> {
    /// The places.
    pub(super) searched: &'a Sites,
    /// Whether they are those of the program's own fences.
    pub(super) remove: bool,
    /// The report of the search.
    pub(super) report: Option<&'a Report>,
}

/// Saves the proof that fences are the cheapest, if some were found.
pub(super) fn save_fences(
    task: &Task<'_>,
    path: &Path,
    loaded: &Loaded,
    (found, options): (&FencesFound<'_>, &Options),
    console: &mut Console,
) -> Result<Status, Error> {
    let (Some(report), places) = (found.report, found.searched.places()) else {
        return Ok(not_written(NOTHING_PROVED, path, console));
    };
    let Fences::Cheapest(sets) = &report.fences else { return Ok(not_written(NOTHING_PROVED, path, console)) };
    let Some(chosen) = sets.first() else { return Ok(not_written(NOTHING_PROVED, path, console)) };
    let searched = &found.searched.program;
    let proof =
        analysis::watched(task, console, |session| certify_fences(searched, &places, chosen, report, options, session));
    let proof = match proof.map_err(Error::of_library)? {
        Ok(proof) => proof,
        Err(why) => return Ok(unproved(task, path, &why, console)),
    };
    let goals = fence_goals(&loaded.program, options.aim)?;
    let places: Vec<FencePlace> = places.iter().map(FencePlace::from).collect();
    let question = Question { program: &loaded.program, language: loaded.language, model: Model::Tso, goals: &goals };
    let asked = FencesAsked { question, searched, places: &places, remove: found.remove };
    let saved = SavedCertificate::of_fences(&asked, proof).and_then(|saved| saved.to_bytes());
    Ok(write_file(path, saved.map_err(io::Error::from), console))
}

/// Asks about a probability, in terms of certificates.
pub(super) fn chance_asked<A>(
    loaded: &Loaded,
    question: &prob::Question,
    kind: ProbQuestion,
    ask: impl FnOnce(&ChanceAsked<'_>) -> Result<A, Error>,
) -> Result<A, Error> {
    let Some(chance) = chance_question(question) else {
        return Err(Error::input("no proof can be saved about the target `stuck`".to_owned()));
    };
    let (program, language) = (&loaded.program, loaded.language);
    let (least, most) = match kind {
        ProbQuestion::AlmostSure => (ONE, ONE),
        ProbQuestion::AlmostNever => (0, 0),
        ProbQuestion::Probability | ProbQuestion::Cost | ProbQuestion::Simulate => (0, ONE),
    };
    let (target, about) =
        (question.target.text(program), Question { program, language, model: Model::Tso, goals: &[] });
    ask(&ChanceAsked { question: about, target: &target, chance: &chance, least, most })
}

/// Saves the proof about a probability, if one was found.
pub(super) fn save_chance(
    task: &Task<'_>,
    path: &Path,
    loaded: &Loaded,
    (question, kind, claimed): (&prob::Question, ProbQuestion, Option<Claimed>),
    console: &mut Console,
) -> Result<Status, Error> {
    let Some(claimed) = claimed else { return Ok(not_written(NOTHING_PROVED, path, console)) };
    let proof = analysis::watched(task, console, |session| certify_chance(&loaded.program, question, claimed, session));
    let proof = match proof {
        Ok(proof) => proof,
        Err(why) => return Ok(unproved(task, path, &why, console)),
    };
    let bytes = chance_asked(loaded, question, kind, |asked| {
        let saved = SavedCertificate::of_chance(asked, &proof);
        Ok(saved.map_err(|fault| Error::Bug(fault.to_string()))?.to_bytes().map_err(io::Error::from))
    })?;
    Ok(write_file(path, bytes, console))
}

/// What fences must achieve, as properties.
pub(super) fn fence_goals(program: &Program, aim: Aim) -> Result<Vec<Goal>, Error> {
    match aim {
        Aim::Safe => safe_goals(program).map_err(|why| Error::unanswerable(&why)),
        Aim::Robust | Aim::States | Aim::RaceFree => Ok(vec![Goal::NotRobust]),
    }
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
    if let ([], Some((_, why))) = (&proofs[..], unproved.first()) {
        return self::unproved(task, path, why, console);
    }
    for (goals, why) in &unproved {
        let (name, about) = (display_name(path), texts(&loaded.program, goals));
        console.complain(&format!("note: {}, so {name} does not cover this: {about}", reason(task, why)));
    }
    let saved = SavedCertificate::new(&loaded.program, loaded.language, model, &proofs);
    let bytes = saved.and_then(|saved| saved.to_bytes());
    write_file(path, bytes.map_err(io::Error::from), console)
}

/// Why there is no proof.
fn reason(task: &Task<'_>, why: &Unproved) -> String {
    match why {
        Unproved::Stopped(limit) => {
            format!("the proof could not be written out: {}", limit_text(*limit, &task.session.limits()))
        }
        Unproved::Unsuitable(reason) => format!("there is no proof that can be saved: {reason}"),
    }
}

/// Says why the file was not written, even if quiet: the user has asked for it, and an old one may be there.
fn unproved(task: &Task<'_>, path: &Path, why: &Unproved, console: &mut Console) -> Status {
    console.complain(&format!("note: {}, so {} was not written", reason(task, why), display_name(path)));
    Status::Holds
}

fn write_file(path: &Path, bytes: io::Result<Vec<u8>>, console: &mut Console) -> Status {
    let written = bytes.and_then(|bytes| output::write(path, bytes));
    analysis::written("certificate", path, Ok(written), console)
}

fn texts(program: &Program, goals: &[Goal]) -> String {
    goals.iter().map(|&goal| goal::text(program, goal)).collect::<Vec<_>>().join(", ")
}

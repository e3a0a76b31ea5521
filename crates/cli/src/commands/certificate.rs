//! Certificates: saved by `weir reach --certificate`, checked by `weir replay`.

use std::{fs, io, path::Path};

use weir::reach::{Options, certify, certify_backward};
use weir::{Failure, Session};
use weir_ir::Program;
use weir_witness::{Buffering, check_backward_proof, check_certificate};

use super::Task;
use crate::args::{ProgramOptions, ReplayOptions, RunFormat};
use crate::certificate_file::{Proof, to_proof, to_saved};
use crate::console::Console;
use crate::exit::Status;
use crate::goals;
use crate::json::{CertificateAnswer, CertificateKind, SavedCertificate, YesNo};
use crate::load::load;
use crate::render::dot;
use crate::render::text::{Tone, headline, help};
use crate::trouble::Trouble;
use crate::units::counted;
use crate::witness_file::{Misfit, to_goal};

/// What there is to write down.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    /// There is no proof.
    Nothing,
    /// All states with buffers approximated like this.
    States(Buffering),
    /// What the exact engine found.
    Configurations,
}

/// What a proof rests on, checked and written down; or why there is none.
pub(super) fn written(
    task: &Task<'_>,
    (program, options): (&Program, &Options),
    wanted: Wanted,
    (path, given): (&Path, &ProgramOptions),
    session: &Session,
) -> Result<Result<io::Result<()>, String>, Trouble> {
    let found = match wanted {
        Wanted::Nothing => return Ok(Err("there is no proof".to_owned())),
        Wanted::States(buffering) => {
            certify(program, options, buffering, session).map(|found| found.map(Proof::Forward).map_err(Some))
        }
        Wanted::Configurations => certify_backward(program, options, session).map(|found| found.map(Proof::Backward)),
    };
    let proof = match found {
        Ok(Ok(proof)) => proof,
        Ok(Err(Some(limit))) => return Ok(Err(format!("the proof could not be written out: {limit}"))),
        Ok(Err(None)) => return Ok(Err("there is no proof".to_owned())),
        Err(Failure::Refused(diagnostic)) => return Ok(Err(diagnostic.message)),
        Err(Failure::Bug(what)) => return Err(Trouble::Bug(what)),
    };
    if proof.goals().is_empty() {
        return Ok(Err("the program has no properties, so there is nothing to prove".to_owned()));
    }
    if let Err(misfit) = accepted(program, &proof) {
        return Err(Trouble::Bug(format!("the checker rejects a certificate: {}", misfit.reason)));
    }
    let saved = to_saved(program, &proof, task.file, &given.defines);
    let text = serde_json::to_string(&saved).map(|text| text + "\n").map_err(io::Error::from);
    Ok(Ok(text.and_then(|text| fs::write(path, text))))
}

/// Whether the independent checker accepts it.
fn accepted(program: &Program, proof: &Proof) -> Result<(), Misfit> {
    match proof {
        Proof::Forward(certificate) => check_certificate(program, certificate).map_err(|error| {
            let text = error.to_string();
            let step = error.state.map(|state| state as u64 + 1);
            let prefix = step.map_or_else(String::new, |step| format!("state {step}: "));
            Misfit { step, reason: text.strip_prefix(&prefix).unwrap_or(&text).to_owned() }
        }),
        Proof::Backward(proof) => check_backward_proof(program, proof).map_err(|error| Misfit {
            step: error.configuration.map(|number| number as u64 + 1),
            reason: error.to_string(),
        }),
    }
}

/// Checks a saved certificate and tells.
pub(super) fn check(
    task: &Task<'_>,
    options: &ReplayOptions,
    saved: &SavedCertificate,
    console: &mut Console,
) -> Result<Status, Trouble> {
    let defines = saved.defines.iter().map(|(name, &value)| (name.clone(), value)).collect();
    let loaded = load(task.file, &ProgramOptions { from: options.from, defines })?;
    let program = &loaded.program;
    let result = judged(program, saved);
    let complaint = result.as_ref().err().map(|misfit| match misfit.step {
        Some(number) => format!("{} {number}: {}", size(saved).0, misfit.reason),
        None => misfit.reason.clone(),
    });
    match options.format {
        RunFormat::Json => console.json(&CertificateAnswer {
            head: task.head(if result.is_ok() { YesNo::Ok } else { YesNo::No }),
            certificate_file: options.witness.display().to_string(),
            goals: goal_texts(program, saved),
            states: size(saved).1,
            reason: result.as_ref().err().map(|misfit| misfit.reason.clone()),
            state: result.as_ref().err().and_then(|misfit| misfit.step),
        }),
        RunFormat::Dot => {
            let text = complaint.map_or_else(|| "ok".to_owned(), |complaint| format!("no: {complaint}"));
            console.answer(&dot::remark(&text));
        }
        RunFormat::Text => show(program, saved, complaint.as_deref(), console),
    }
    Ok(if result.is_ok() { Status::Holds } else { Status::Violated })
}

fn judged(program: &Program, saved: &SavedCertificate) -> Result<(), Misfit> {
    accepted(program, &to_proof(program, saved)?)
}

/// What it is made of, and how much of that there is.
fn size(saved: &SavedCertificate) -> (&'static str, u64) {
    match saved.kind {
        CertificateKind::Buffers => ("state", saved.states.len() as u64),
        CertificateKind::Configurations => ("configuration", saved.configurations.len() as u64),
    }
}

fn goal_texts(program: &Program, saved: &SavedCertificate) -> Vec<String> {
    saved.goals.iter().filter_map(|goal| to_goal(program, goal).ok()).map(|goal| goals::text(program, goal)).collect()
}

fn show(program: &Program, saved: &SavedCertificate, complaint: Option<&str>, console: &mut Console) {
    let file = program.source.name();
    let Some(complaint) = complaint else {
        let (what, count) = size(saved);
        let states = counted(count, what);
        let goals = match goal_texts(program, saved).as_slice() {
            [only] => only.clone(),
            [_, _] => "both properties hold".to_owned(),
            several => format!("all {} properties hold", several.len()),
        };
        console.answer(&headline(
            Tone::Good,
            "ok",
            &format!("unreachable under TSO, proved by {states}: {goals}"),
            file,
        ));
        return;
    };
    console.answer(&headline(Tone::Bad, "no", complaint, file));
    if !console.is_quiet() {
        console.answer(&format!(
            "\n{}",
            help("the program may have changed since; `weir reach --certificate` saves a new proof")
        ));
    }
}

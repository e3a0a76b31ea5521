//! Certificates: saved by `weir reach --certificate`, checked by `weir replay`.

use std::{fs, io, path::Path};

use weir::reach::{Options, certify};
use weir::{Control, Failure};
use weir_ir::Program;
use weir_witness::{Buffering, check_certificate};

use super::Task;
use crate::args::{ProgramOptions, ReplayOptions, RunFormat};
use crate::certificate_file::{to_certificate, to_saved};
use crate::console::Console;
use crate::exit::Status;
use crate::goals;
use crate::json::{CertificateAnswer, SavedCertificate, YesNo};
use crate::load::load;
use crate::render::dot;
use crate::render::text::{Tone, headline, help};
use crate::trouble::Trouble;
use crate::units::counted;
use crate::witness_file::{Misfit, to_goal};

/// What a proof rests on, checked and written down; or why there is none.
pub(super) fn written(
    task: &Task<'_>,
    (program, options): (&Program, &Options),
    proof: Option<Buffering>,
    (path, given): (&Path, &ProgramOptions),
    control: &Control,
) -> Result<Result<io::Result<()>, String>, Trouble> {
    let Some(buffering) = proof else { return Ok(Err("there is no proof".to_owned())) };
    let certificate = match certify(program, options, buffering, control) {
        Ok(Ok(certificate)) => certificate,
        Ok(Err(limit)) => return Ok(Err(format!("writing all states down takes too long: {limit}"))),
        Err(Failure::Refused(diagnostic)) => return Ok(Err(diagnostic.message)),
        Err(Failure::Bug(what)) => return Err(Trouble::Bug(what)),
    };
    if let Err(error) = check_certificate(program, &certificate) {
        return Err(Trouble::Bug(format!("a certificate is not accepted: {error}")));
    }
    let saved = to_saved(program, &certificate, task.file, &given.defines);
    let text = serde_json::to_string(&saved).map(|text| text + "\n").map_err(io::Error::from);
    Ok(Ok(text.and_then(|text| fs::write(path, text))))
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
        Some(state) => format!("state {state}: {}", misfit.reason),
        None => misfit.reason.clone(),
    });
    match options.format {
        RunFormat::Json => console.json(&CertificateAnswer {
            head: task.head(if result.is_ok() { YesNo::Ok } else { YesNo::No }),
            certificate_file: options.witness.display().to_string(),
            goals: goal_texts(program, saved),
            states: saved.states.len() as u64,
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
    let certificate = to_certificate(program, saved)?;
    check_certificate(program, &certificate).map_err(|error| {
        let text = error.to_string();
        let step = error.state.map(|state| state as u64 + 1);
        let prefix = step.map_or_else(String::new, |step| format!("state {step}: "));
        Misfit { step, reason: text.strip_prefix(&prefix).unwrap_or(&text).to_owned() }
    })
}

fn goal_texts(program: &Program, saved: &SavedCertificate) -> Vec<String> {
    saved.goals.iter().filter_map(|goal| to_goal(program, goal).ok()).map(|goal| goals::text(program, goal)).collect()
}

fn show(program: &Program, saved: &SavedCertificate, complaint: Option<&str>, console: &mut Console) {
    let file = program.source.name();
    let Some(complaint) = complaint else {
        let states = counted(saved.states.len() as u64, "state");
        let what = match goal_texts(program, saved).as_slice() {
            [only] => only.clone(),
            goals => format!("none of the {} goals", goals.len()),
        };
        console.answer(&headline(
            Tone::Good,
            "ok",
            &format!("{states} show that under TSO this is unreachable: {what}"),
            file,
        ));
        return;
    };
    console.answer(&headline(Tone::Bad, "no", complaint, file));
    if !console.is_quiet() {
        console.answer(&format!(
            "\n{}",
            help("has the program changed since? `weir reach --certificate` writes a new one")
        ));
    }
}

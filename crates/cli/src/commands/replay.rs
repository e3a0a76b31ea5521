//! `weir replay`: is a saved run right? For certificates see `certificate`.

use std::slice;

use weir_ir::Program;
use weir_witness::{CheckError, Checked, Goal};

use super::{Task, certificate};
use crate::args::{ProgramOptions, ReplayOptions, RunFormat};
use crate::console::Console;
use crate::evidence::Evidence;
use crate::exit::Status;
use crate::goals;
use crate::input::display_name;
use crate::json::{CommandName, ReplayAnswer, SavedGoal, SavedWitness, YesNo};
use crate::load::load;
use crate::render::clean::clean;
use crate::render::text::{Tone, evidence, headline, help};
use crate::render::{dot, text};
use crate::units::counted;
use crate::witness_file::{self, Misfit, Saved};

/// Runs it.
pub(super) fn run(options: &ReplayOptions, console: &mut Console) -> Status {
    let is_json = options.format == RunFormat::Json;
    super::each_file(CommandName::Replay, slice::from_ref(&options.file), is_json, console, |task, console| {
        let saved = match witness_file::read(&options.witness)? {
            Saved::Run(saved) => saved,
            Saved::Proof(saved) => return certificate::check(task, options, &saved, console),
        };
        let defines = saved.defines.iter().map(|(name, &value)| (name.clone(), value)).collect();
        let loaded = load(task.file, &ProgramOptions { from: options.from, defines })?;
        let result = check(&loaded.program, &saved);
        match options.format {
            RunFormat::Json => console.json(&json(task, options, &loaded.program, &saved, &result)),
            RunFormat::Dot => console.answer(&graph(&loaded.program, &result)),
            RunFormat::Text => show(&loaded.program, &saved, &result, console),
        }
        Ok(if result.is_ok() { Status::Holds } else { Status::Violated })
    })
}

/// Replays the run, and compares what it did with what the file says.
fn check(program: &Program, saved: &SavedWitness) -> Result<Evidence, Misfit> {
    let (run, goal) = witness_file::to_run(program, saved)?;
    let checked = Checked::new(program, run, goal).map_err(|error| misfit(&error))?;
    witness_file::compare(program, saved, checked.replay())?;
    Ok(Evidence::new(Box::new(checked)))
}

fn misfit(error: &CheckError) -> Misfit {
    let step = match error {
        CheckError::Replay(error) => error.step.map(|step| step.number() as u64),
        CheckError::Goal(_) => None,
    };
    // The error counts the step itself; the answer says it once.
    let text = error.to_string();
    let prefix = step.map_or_else(String::new, |step| format!("step {step}: "));
    Misfit { step, reason: text.strip_prefix(&prefix).unwrap_or(&text).to_owned() }
}

/// The goal as `reach` spells it; as the file does if the program has no such goal.
fn goal_text(program: &Program, saved: &SavedWitness) -> String {
    match (witness_file::to_goal(program, &saved.goal), &saved.goal) {
        (Ok(goal), _) => goals::text(program, goal),
        (Err(_), SavedGoal::Property { text, .. }) => clean(text),
        (Err(_), SavedGoal::NotRobust) => goals::text(program, Goal::NotRobust),
        (Err(_), SavedGoal::Assertion { thread }) => format!("assertions of {}", clean(thread)),
    }
}

fn complaint(misfit: &Misfit) -> String {
    misfit.step.map_or_else(|| misfit.reason.clone(), |step| format!("step {step}: {}", misfit.reason))
}

fn json(
    task: &Task<'_>,
    options: &ReplayOptions,
    program: &Program,
    saved: &SavedWitness,
    result: &Result<Evidence, Misfit>,
) -> ReplayAnswer {
    let misfit = result.as_ref().err();
    ReplayAnswer {
        head: task.head(if misfit.is_none() { YesNo::Ok } else { YesNo::No }),
        witness_file: options.witness.display().to_string(),
        goal: goal_text(program, saved),
        steps: saved.steps.len() as u64,
        reason: misfit.map(|misfit| misfit.reason.clone()),
        step: misfit.and_then(|misfit| misfit.step),
    }
}

fn graph(program: &Program, result: &Result<Evidence, Misfit>) -> String {
    match result {
        Ok(found) => dot::run(program, found),
        Err(misfit) => dot::remark(&format!("no: {}", complaint(misfit))),
    }
}

fn show(program: &Program, saved: &SavedWitness, result: &Result<Evidence, Misfit>, console: &mut Console) {
    let file = program.source.name();
    match result {
        Ok(found) => {
            let steps = counted(saved.steps.len() as u64, "step");
            let model = text::model_name(found.checked.run().model);
            let what = match saved.goal {
                SavedGoal::NotRobust => format!("a run of {steps} under {model} that sequential consistency forbids"),
                _ => format!("a run of {steps} under {model} reaches this: {}", goal_text(program, saved)),
            };
            console.answer(&headline(Tone::Good, "ok", &what, file));
            if !console.is_quiet() {
                let width = console.width();
                console.answer(&evidence(program, found, width));
            }
        }
        Err(misfit) => {
            console.answer(&headline(Tone::Bad, "no", &complaint(misfit), file));
            if !console.is_quiet() {
                let saved_for = display_name(std::path::Path::new(&saved.file));
                let finder = if saved.goal == SavedGoal::NotRobust { "robust" } else { "reach" };
                let advice = format!(
                    "the run was saved for {saved_for}; if the program has changed, `weir {finder}` finds a new one"
                );
                console.answer(&format!("\n{}", help(&advice)));
            }
        }
    }
}

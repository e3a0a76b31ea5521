//! `weir check`: does every property hold with store buffers?

use weir::certify::Decided;
use weir::check::{Options, check, no_property};
use weir::dynamic;
use weir::parameterized::{self, is_parameterized};
use weir_ir::Program;
use weir_report::answer::{Answer, CheckAnswer, CheckQuestion, CommandName, Subject};
use weir_witness::Goal;

use super::analysis;
use super::certificate;
use super::model_limit;
use super::task::{Allowance, Task, Work};
use crate::args::CheckOptions;
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::load::{Loaded, load};

/// Runs it.
pub(super) fn run(options: &'static CheckOptions, console: &mut Console) -> Status {
    let work = Work {
        command: CommandName::Check,
        format: options.format,
        files: &options.common.files,
        limits: Allowance::of(&options.common.limits),
        is_spaced: true,
        one: |task: &Task<'_>, console: &mut Console| one(task, options, console),
    };
    work.run(console)
}

fn one(task: &Task<'_>, options: &CheckOptions, console: &mut Console) -> Result<Status, Error> {
    let loaded = load(task.file, &options.common.program, &task.session)?;
    if !task.is_json() {
        console.diagnostics(&loaded.program.source, &loaded.warnings);
    }
    let (program, goals) = analysis::linked(&loaded, &options.goals)?;
    if goals.is_empty() {
        return Err(Error::unanswerable(&no_property()));
    }
    if is_parameterized(&loaded.program) {
        return every_number(task, options, (loaded, goals), console);
    }
    if let Some(program) = program {
        return with_calls(task, options, (program, loaded, goals), console);
    }
    let library = Options { model: options.model, goals: goals.clone(), ..Options::default() };
    let found = analysis::watched(task, console, |session| check(&loaded.program, &library, session));
    let found = Error::unless_refused(found)?;
    if let Ok(report) = &found {
        model_limit::no_run_of_check_passes(&loaded, report, options.model, &task.session)?;
    }
    let decided = found.as_ref().map_or_else(|_| Vec::new(), Decided::by_portfolio);
    let question = CheckQuestion { model: options.model, goals: &goals, all_witnesses: options.all_witnesses };
    let answer = CheckAnswer::new(task.subject(&loaded), question, found);
    let answer = Answer::Check(Box::new(answer));
    let status = task.answer(&answer, options.common.verbose, console);
    let saved = analysis::save(&options.common, &loaded, answer.evidence(), console);
    let certified = match &options.certificate {
        Some(path) => certificate::save(task, path, &loaded, (options.model, &decided), console)?,
        None => Status::Holds,
    };
    Ok(status.and(saved).and(certified))
}

/// Asks about a program with recursive procedures or `spawn`; `first` is that program as reports show it.
fn with_calls(
    task: &Task<'_>,
    options: &CheckOptions,
    (first, mut loaded, goals): (Program, Loaded, Vec<Goal>),
    console: &mut Console,
) -> Result<Status, Error> {
    if options.certificate.is_some() {
        return Err(analysis::without_calls("certificates are"));
    }
    let library = Options { model: options.model, goals: goals.clone(), ..Options::default() };
    let found = analysis::watched(task, console, |session| dynamic::check(&loaded.program, &library, session));
    let (program, found) = analysis::decided(first, Error::unless_refused(found)?);
    loaded.program = program;
    let goals = found.as_ref().map_or(goals, |report| report.properties.iter().map(|one| one.goal).collect());
    let question = CheckQuestion { model: options.model, goals: &goals, all_witnesses: options.all_witnesses };
    let answer = Answer::Check(Box::new(CheckAnswer::new(task.subject(&loaded), question, found)));
    let status = task.answer(&answer, options.common.verbose, console);
    Ok(status.and(analysis::save(&options.common, &loaded, answer.evidence(), console)))
}

/// Asks about a program with arbitrarily many threads.
fn every_number(
    task: &Task<'_>,
    options: &CheckOptions,
    (mut loaded, goals): (Loaded, Vec<Goal>),
    console: &mut Console,
) -> Result<Status, Error> {
    let library = Options { model: options.model, goals: goals.clone(), ..Options::default() };
    let found = analysis::watched(task, console, |session| parameterized::check(&loaded.program, &library, session));
    let (copies, found) =
        analysis::instance(task, &options.common.program, &mut loaded, Error::unless_refused(found)?)?;
    // What is proved is proved for every number.
    let is_proved = copies.as_ref().is_some_and(|copies| copies.every_number);
    let decided = found.as_ref().ok().filter(|_| is_proved).map(Decided::by_portfolio).unwrap_or_default();
    // Assertions are those of one copy now.
    let goals = found.as_ref().map_or(goals, |report| report.properties.iter().map(|one| one.goal).collect());
    let subject = Subject { copies: copies.as_ref(), ..task.subject(&loaded) };
    let question = CheckQuestion { model: options.model, goals: &goals, all_witnesses: options.all_witnesses };
    let answer = Answer::Check(Box::new(CheckAnswer::new(subject, question, found)));
    let status = task.answer(&answer, options.common.verbose, console);
    let saved = analysis::save(&options.common, &loaded, answer.evidence(), console);
    let certified = match &options.certificate {
        Some(path) => certificate::save(task, path, &loaded, (options.model, &decided), console)?,
        None => Status::Holds,
    };
    Ok(status.and(saved).and(certified))
}

//! `weir robust`: do store buffers change the program's behaviour?

use weir::parameterized::{self, is_parameterized};
use weir::robust::{Criterion, Method, Options, attacks, robust, same_states, triangular_races};
use weir_report::answer::{Answer, CommandName, RobustAnswer, Subject};
use weir_witness::Model;

use super::task::{Allowance, Task, Work};
use super::{analysis, certificate, model_limit};
use crate::args::{MethodChoice, RobustOptions};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::load::{Loaded, load};

/// Runs it.
pub(super) fn run(options: &'static RobustOptions, console: &mut Console) -> Status {
    let work = Work {
        command: CommandName::Robust,
        format: options.format,
        files: &options.common.files,
        limits: Allowance::of(&options.common.limits),
        is_spaced: true,
        one: |task: &Task<'_>, console: &mut Console| one(task, options, console),
    };
    work.run(console)
}

fn one(task: &Task<'_>, options: &RobustOptions, console: &mut Console) -> Result<Status, Error> {
    let loaded = load(task.file, &options.common.program, &task.session)?;
    if !task.is_json() {
        console.diagnostics(&loaded.program.source, &loaded.warnings);
    }
    if is_parameterized(&loaded.program) {
        return every_number(task, options, loaded, console);
    }
    let answer = Answer::Robust(Box::new(search(task, options, &loaded, console)?));
    let status = task.answer(&answer, options.common.verbose, console);
    let saved = analysis::save(&options.common, &loaded, answer.evidence(), console);
    let certified = match &options.certificate {
        Some(path) => certificate::save_robust(task, path, &loaded, status == Status::Holds, console)?,
        None => Status::Holds,
    };
    Ok(status.and(saved).and(certified))
}

/// Asks about a program with arbitrarily many threads.
fn every_number(
    task: &Task<'_>,
    options: &RobustOptions,
    mut loaded: Loaded,
    console: &mut Console,
) -> Result<Status, Error> {
    let method = match options.method {
        MethodChoice::Decide(method @ Method::Attacks) if options.of == Criterion::Traces => method,
        _ => return Err(analysis::fixed_number("other methods than `attacks`, and `--of states`, are")),
    };
    let jobs = options.common.limits.workers();
    let found = analysis::watched(task, console, |session| {
        parameterized::robust(&loaded.program, &Options { method, jobs }, session)
    });
    let (copies, found) =
        analysis::instance(task, &options.common.program, &mut loaded, Error::unless_refused(found)?)?;
    let subject = Subject { copies: copies.as_ref(), ..task.subject(&loaded) };
    let answer = Answer::Robust(Box::new(RobustAnswer::new(subject, method, found)));
    let status = task.answer(&answer, options.common.verbose, console);
    let saved = analysis::save(&options.common, &loaded, answer.evidence(), console);
    let certified = match &options.certificate {
        Some(path) => certificate::save_robust(task, path, &loaded, status == Status::Holds, console)?,
        None => Status::Holds,
    };
    Ok(status.and(saved).and(certified))
}

fn search<'l>(
    task: &'l Task<'_>,
    options: &RobustOptions,
    loaded: &'l Loaded,
    console: &Console,
) -> Result<RobustAnswer<'l>, Error> {
    // A program whose runs have the traces of runs under SC only gets where these do.
    let model = if options.of == Criterion::States { Model::Tso } else { Model::Sc };
    model_limit::no_run_passes(loaded, model, &task.session)?;
    let (program, limits) = (&loaded.program, &options.common.limits);
    let jobs = limits.workers();
    match options.method {
        MethodChoice::Decide(method) if options.of == Criterion::States => {
            let found =
                analysis::watched(task, console, |session| same_states(program, &Options { method, jobs }, session));
            Ok(RobustAnswer::states(task.subject(loaded), Error::unless_refused(found)?))
        }
        MethodChoice::Decide(method) => {
            let found = analysis::watched(task, console, |session| robust(program, &Options { method, jobs }, session));
            let found = Error::unless_refused(found)?;
            Ok(RobustAnswer::new(task.subject(loaded), method, found))
        }
        MethodChoice::Races => {
            let found = analysis::watched(task, console, |session| {
                let report = triangular_races(program, jobs, session)?;
                Ok((report, attacks(program, session).unwrap_or_default()))
            });
            let found = Error::unless_refused(found)?;
            Ok(RobustAnswer::races(task.subject(loaded), found))
        }
    }
}

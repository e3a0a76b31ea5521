//! `weir reach`: can a forbidden state be reached?

use weir::certify::Decided;
use weir::dynamic;
use weir::parameterized::{self, is_parameterized};
use weir::reach::{Engine, LazyOptions, Options, reach};
use weir::{Session, Verdict};
use weir_ir::Diagnostic;
use weir_report::answer::{Answer, CommandName, ReachAnswer, ReachQuestion, ReachVerdict, Subject};
use weir_witness::{Goal, Model};

use super::analysis;
use super::certificate;
use super::model_limit;
use super::task::{Allowance, Task, Work};
use crate::args::{Precision, ReachOptions, SymmetryName};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::load::{Loaded, load};

/// Runs it.
pub(super) fn run(options: &'static ReachOptions, console: &mut Console) -> Status {
    let work = Work {
        command: CommandName::Reach,
        format: options.format,
        files: &options.common.files,
        limits: Allowance::of(&options.common.limits),
        is_spaced: true,
        one: |task: &Task<'_>, console: &mut Console| one(task, options, console),
    };
    work.run(console)
}

fn one(task: &Task<'_>, options: &ReachOptions, console: &mut Console) -> Result<Status, Error> {
    let mut loaded = load(task.file, &options.common.program, &task.session)?;
    let (in_time, late): (Vec<Diagnostic>, Vec<Diagnostic>) =
        loaded.warnings.iter().cloned().partition(|warning| !["never-taken", "unreachable"].contains(&warning.code));
    if !task.is_json() {
        console.diagnostics(&loaded.program.source, &in_time);
    }
    let (program, goals) = analysis::linked(&loaded, &options.search.goals)?;
    if program.is_some() && options.certificate.is_some() {
        return Err(analysis::without_calls("certificates are"));
    }
    let question = question(options, &goals);
    if is_parameterized(&loaded.program) && question.engine == Engine::Dual && question.model == Model::Tso {
        return every_number(task, options, (loaded, question), console);
    }
    let found = match program {
        None => {
            let found = analysis::watched(task, console, |session| reach(&loaded.program, &question, session));
            Error::unless_refused(found)?
        }
        Some(first) => {
            let ask = |session: &Session| dynamic::reach(&loaded.program, &question, session);
            let found = Error::unless_refused(analysis::watched(task, console, ask))?;
            let (program, found) = analysis::decided(first, found);
            loaded.program = program;
            found
        }
    };
    let relies = found.as_ref().is_ok_and(|report| match &report.verdict {
        Verdict::Holds => true,
        Verdict::Violated(checked) => model_limit::relies(&loaded, checked),
        Verdict::Unknown(_) => false,
    });
    if relies {
        model_limit::no_run_passes(&loaded, question.model, &task.session)?;
    }
    // A complete search knows better than the analysis what no run executes, and says so in its answer.
    let is_complete = found.as_ref().is_ok_and(|report| matches!(report.verdict, Verdict::Holds));
    if !task.is_json() && !is_complete {
        console.diagnostics(&loaded.program.source, &late);
    }
    let asked = ReachQuestion {
        options: &question,
        goals: &goals,
        trace_rounds: options.search.trace_rounds,
        explain_symmetry: options.search.symmetry == SymmetryName::On,
    };
    let answer = ReachAnswer::new(task.subject(&loaded), asked, found);
    let is_proved = answer.head.verdict == ReachVerdict::Unreachable;
    let (engine, buffering) = (Some(question.engine), answer.buffering());
    let decided = Decided { goals: goals.clone(), engine, buffering, is_portfolio: false };
    let answer = Answer::Reach(Box::new(answer));
    let status = task.answer(&answer, options.common.verbose, console);
    let saved = analysis::save(&options.common, &loaded, answer.evidence(), console);
    let decided = if is_proved { vec![decided] } else { Vec::new() };
    let certified = match &options.certificate {
        Some(path) => certificate::save(task, path, &loaded, (question.model, &decided), console)?,
        None => Status::Holds,
    };
    Ok(status.and(saved).and(certified))
}

/// Asks about a program with arbitrarily many threads.
fn every_number(
    task: &Task<'_>,
    options: &ReachOptions,
    (mut loaded, question): (Loaded, Options),
    console: &mut Console,
) -> Result<Status, Error> {
    let found = analysis::watched(task, console, |session| parameterized::reach(&loaded.program, &question, session));
    let (copies, found) =
        analysis::instance(task, &options.common.program, &mut loaded, Error::unless_refused(found)?)?;
    let subject = Subject { copies: copies.as_ref(), ..task.subject(&loaded) };
    let asked =
        ReachQuestion { options: &question, goals: &question.goals, trace_rounds: false, explain_symmetry: false };
    let answer = Answer::Reach(Box::new(ReachAnswer::new(subject, asked, found)));
    let status = task.answer(&answer, options.common.verbose, console);
    let saved = analysis::save(&options.common, &loaded, answer.evidence(), console);
    let is_proved = copies.as_ref().is_some_and(|copies| copies.every_number);
    let decided =
        Decided { goals: question.goals.clone(), engine: Some(Engine::Dual), buffering: None, is_portfolio: false };
    let decided = if is_proved { vec![decided] } else { Vec::new() };
    let certified = match &options.certificate {
        Some(path) => certificate::save(task, path, &loaded, (question.model, &decided), console)?,
        None => Status::Holds,
    };
    Ok(status.and(saved).and(certified))
}

/// What is asked of an engine.
fn question(options: &ReachOptions, goals: &[Goal]) -> Options {
    let search = &options.search;
    Options {
        model: search.model,
        engine: search.engine,
        bound: search.bound.and_then(Precision::number),
        search: search.order,
        jobs: options.common.limits.workers(),
        keep_dead_registers: search.keep_dead_registers,
        symmetry: search.symmetry != SymmetryName::Off,
        reduction: search.reduction,
        goals: goals.to_vec(),
        lazy: LazyOptions { form: search.lazy_form, rounds: search.lazy_rounds },
    }
}

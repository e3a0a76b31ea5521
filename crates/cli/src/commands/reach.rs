//! `weir reach`: can a forbidden state be reached?

use weir::reach::{Coverage, Form, LazyOptions, Options, Report, Round, Search, Statistics, reach};
use weir::{Failure, Session};
use weir_ir::{Diagnostic, Program};
use weir_syntax::Language;
use weir_witness::{Buffering, Goal, Model};

use super::Task;
use super::analysis::{self, Conclusion};
use super::certificate::{self, Wanted};
use crate::args::{Engine, LazyForm, ModelName, ReachOptions, ReductionName, RunFormat, SearchName};
use crate::console::Console;
use crate::exit::Status;
use crate::json::CommandName;
use crate::load::load;
use crate::trouble::Trouble;
use crate::{goals, render};

/// Everything known about one file, for the renderers.
pub(crate) struct Finding<'a> {
    /// What was asked.
    pub(crate) options: &'a ReachOptions,
    /// The program.
    pub(crate) program: &'a Program,
    /// What it is written in.
    pub(crate) language: Language,
    /// The memory model.
    pub(crate) model: Model,
    /// What was looked for.
    pub(crate) goals: &'a [Goal],
    /// Warnings and notes about the program.
    pub(crate) warnings: &'a [Diagnostic],
    /// The answer.
    pub(crate) conclusion: Conclusion,
    /// What the search took.
    pub(crate) statistics: Statistics,
    /// What the search saw. Complete only if the conclusion is `Holds`.
    pub(crate) coverage: Coverage,
    /// How buffers were approximated when the answer was found, if they were.
    pub(crate) buffering: Option<Buffering>,
    /// What the lazy engine added, round by round.
    pub(crate) rounds: Vec<Round>,
}

/// Runs it.
pub(super) fn run(options: &ReachOptions, console: &mut Console) -> Status {
    analysis::each_file(CommandName::Reach, (&options.common.files, options.common.format), console, |task, console| {
        one(task, options, console)
    })
}

fn one(task: &Task<'_>, options: &ReachOptions, console: &mut Console) -> Result<Status, Trouble> {
    let loaded = load(task.file, &options.common.program)?;
    let (in_time, late): (Vec<Diagnostic>, Vec<Diagnostic>) =
        loaded.warnings.iter().cloned().partition(|warning| !["never-taken", "unreachable"].contains(&warning.code));
    if !task.is_json {
        console.diagnostics(&loaded.program.source, &in_time);
    }
    let goals = goals::select(&loaded.program, &options.search.goals)?;
    let found = analysis::watched(task, &options.common.limits, console, |session| {
        search(options, &loaded.program, &goals, session)
    });
    let (conclusion, Facts { statistics, coverage, buffering, rounds }) = conclude(found)?;
    // A complete search knows better than the analysis what no run executes, and says so in its answer.
    if !task.is_json && !matches!(conclusion, Conclusion::Holds) {
        console.diagnostics(&loaded.program.source, &late);
    }
    let (program, warnings) = (&loaded.program, loaded.warnings.as_slice());
    let model = model(options.search.model);
    let finding = Finding {
        options,
        program,
        language: loaded.language,
        model,
        goals: &goals,
        warnings,
        conclusion,
        statistics,
        coverage,
        buffering,
        rounds,
    };
    match options.common.format {
        RunFormat::Json => console.json(&render::json::reach(task, &finding)),
        RunFormat::Text => render::reach::show(&finding, console),
        RunFormat::Dot => console.answer(&render::dot::reach(&finding)),
    }
    let saved = analysis::save(task, &options.common, program, &finding.conclusion, console);
    let certified = certify(task, &finding, console)?;
    Ok(finding.conclusion.status().and(saved).and(certified))
}

pub(super) fn model(name: ModelName) -> Model {
    match name {
        ModelName::Sc => Model::Sc,
        ModelName::Tso => Model::Tso,
    }
}

/// The engine of this name.
pub(crate) fn engine(name: Engine) -> weir::reach::Engine {
    match name {
        Engine::Explicit => weir::reach::Engine::Explicit,
        Engine::Lazy => weir::reach::Engine::Lazy,
        Engine::Dual => weir::reach::Engine::Dual,
        Engine::Set => weir::reach::Engine::Set,
        Engine::Multiset => weir::reach::Engine::Multiset,
        Engine::Coherence => weir::reach::Engine::Coherence,
    }
}

/// Saves the proof where the command line asks for it.
fn certify(task: &Task<'_>, finding: &Finding<'_>, console: &mut Console) -> Result<Status, Trouble> {
    let Some(path) = &finding.options.certificate else { return Ok(Status::Holds) };
    let common = &finding.options.common;
    let wanted = match (&finding.conclusion, finding.buffering) {
        (Conclusion::Holds, Some(buffering)) => Wanted::States(buffering),
        (Conclusion::Holds, None) => Wanted::Configurations,
        _ => Wanted::Nothing,
    };
    let question = question(finding.options, finding.goals);
    let result = analysis::watched(task, &common.limits, console, |session| {
        certificate::written(task, (finding.program, &question), wanted, (path, &common.program), session)
    })?;
    Ok(match result {
        Ok(written) => analysis::written("certificate", path, Ok(written), console),
        Err(reason) => analysis::written("certificate", path, Err(&reason), console),
    })
}

fn search(options: &ReachOptions, program: &Program, goals: &[Goal], session: &Session) -> Result<Report, Failure> {
    reach(program, &question(options, goals), session)
}

/// What is asked of an engine.
fn question(options: &ReachOptions, goals: &[Goal]) -> Options {
    let ReductionName::None = options.search.reduction;
    Options {
        model: model(options.search.model),
        engine: engine(options.search.engine),
        bound: options.search.bound,
        search: match options.search.order {
            SearchName::Bfs => Search::BreadthFirst,
            SearchName::Dfs => Search::DepthFirst,
        },
        jobs: analysis::jobs(&options.common.limits),
        keep_dead_registers: options.search.keep_dead_registers,
        goals: goals.to_vec(),
        lazy: LazyOptions {
            form: match options.search.lazy_form {
                LazyForm::Keep => Form::Keep,
                LazyForm::First => Form::First,
            },
            rounds: options.search.lazy_rounds,
        },
    }
}

/// What is known beside the answer.
#[derive(Default)]
struct Facts {
    statistics: Statistics,
    coverage: Coverage,
    buffering: Option<Buffering>,
    rounds: Vec<Round>,
}

fn conclude(result: Result<Report, Failure>) -> Result<(Conclusion, Facts), Trouble> {
    let Report { verdict, statistics, coverage, buffering, rounds } = match result {
        Ok(report) => report,
        Err(Failure::Refused(diagnostic)) => return Ok((Conclusion::Refused(diagnostic), Facts::default())),
        Err(Failure::Bug(what)) => return Err(Trouble::Bug(what)),
    };
    Ok((Conclusion::new(verdict), Facts { statistics, coverage, buffering, rounds }))
}

//! `weir reach`: can a forbidden state be reached?

use std::fs;
use std::io;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use weir::reach::{Coverage, Options, Report, Search, Statistics, reach};
use weir::{Budget, Control, Failure, Limit, Verdict};
use weir_ir::{Diagnostic, Program};
use weir_witness::{Goal, Model};

use super::Task;
use crate::args::{Engine, LimitOptions, ModelName, ReachOptions, ReductionName, RunFormat, SearchName};
use crate::console::Console;
use crate::evidence::Evidence;
use crate::exit::Status;
use crate::input::display_name;
use crate::json::CommandName;
use crate::load::load;
use crate::progress::ProgressLine;
use crate::trouble::Trouble;
use crate::{goals, interrupt, memory, render, witness_file};

/// Everything known about one file, for the renderers.
pub(crate) struct Finding<'a> {
    /// What was asked.
    pub(crate) options: &'a ReachOptions,
    /// The program.
    pub(crate) program: &'a Program,
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
    /// What the search saw. Complete only if the conclusion is `Unreachable`.
    pub(crate) coverage: Coverage,
}

/// An answer.
pub(crate) enum Conclusion {
    /// No goal can be reached.
    Unreachable,
    /// This run reaches one.
    Reachable(Evidence),
    /// The search stopped before it knew.
    Stopped(Limit),
    /// The engine cannot handle something in the program.
    Refused(Box<Diagnostic>),
}

/// Runs it.
pub(super) fn run(options: &ReachOptions, console: &mut Console) -> Status {
    let is_json = options.format == RunFormat::Json;
    let mut is_first = true;
    super::each_file(CommandName::Reach, &options.files, is_json, console, |task, console| {
        if !std::mem::take(&mut is_first) && options.format == RunFormat::Text && !console.is_quiet() {
            console.answer("\n");
        }
        one(task, options, console)
    })
}

fn one(task: &Task<'_>, options: &ReachOptions, console: &mut Console) -> Result<Status, Trouble> {
    let loaded = load(task.file, &options.program)?;
    let (in_time, late): (Vec<Diagnostic>, Vec<Diagnostic>) =
        loaded.warnings.iter().cloned().partition(|warning| !["never-taken", "unreachable"].contains(&warning.code));
    if !task.is_json {
        console.diagnostics(&loaded.program.source, &in_time);
    }
    let goals = goals::select(&loaded.program, &options.search.goals)?;
    let (conclusion, statistics, coverage) = conclude(search(task, options, &loaded.program, &goals, console))?;
    // A complete search knows better than the analysis what no run executes, and says so in its answer.
    if !task.is_json && !matches!(conclusion, Conclusion::Unreachable) {
        console.diagnostics(&loaded.program.source, &late);
    }
    let (program, warnings) = (&loaded.program, loaded.warnings.as_slice());
    let model = model(options.search.model);
    let finding = Finding { options, program, model, goals: &goals, warnings, conclusion, statistics, coverage };
    match options.format {
        RunFormat::Json => console.json(&render::json::reach(task, &finding)),
        RunFormat::Text => render::reach::show(&finding, console),
        RunFormat::Dot => console.answer(&render::dot::reach(&finding)),
    }
    let status = match finding.conclusion {
        Conclusion::Unreachable => Status::Holds,
        Conclusion::Reachable(_) => Status::Violated,
        Conclusion::Stopped(_) | Conclusion::Refused(_) => Status::Unknown,
    };
    Ok(status.and(save(task.file, &finding, console)))
}

pub(super) fn model(name: ModelName) -> Model {
    match name {
        ModelName::Sc => Model::Sc,
        ModelName::Tso => Model::Tso,
    }
}

fn search(
    task: &Task<'_>,
    options: &ReachOptions,
    program: &Program,
    goals: &[Goal],
    console: &Console,
) -> Result<Report, Failure> {
    let (Engine::Explicit, ReductionName::None) = (options.search.engine, options.search.reduction);
    let engine = Options {
        model: model(options.search.model),
        search: match options.search.order {
            SearchName::Bfs => Search::BreadthFirst,
            SearchName::Dfs => Search::DepthFirst,
        },
        jobs: jobs(&options.limits),
        keep_dead_registers: options.search.keep_dead_registers,
        goals: goals.to_vec(),
    };
    let progress = ProgressLine::new(!console.is_quiet());
    let control = Control {
        budget: budget(task.started, &options.limits),
        interrupt: interrupt::flag(),
        memory_meter: Some(Arc::new(memory::resident)),
        progress: progress.sink(),
    };
    reach(program, &engine, &control)
}

fn conclude(result: Result<Report, Failure>) -> Result<(Conclusion, Statistics, Coverage), Trouble> {
    let Report { verdict, statistics, coverage } = match result {
        Ok(report) => report,
        Err(Failure::Refused(diagnostic)) => {
            return Ok((Conclusion::Refused(diagnostic), Statistics::default(), Coverage::default()));
        }
        Err(Failure::Bug(what)) => return Err(Trouble::Bug(what)),
    };
    let conclusion = match verdict {
        Verdict::Holds => Conclusion::Unreachable,
        Verdict::Violated(checked) => Conclusion::Reachable(Evidence::new(checked)),
        Verdict::Unknown(limit) => Conclusion::Stopped(limit),
    };
    Ok((conclusion, statistics, coverage))
}

pub(super) fn jobs(limits: &LimitOptions) -> NonZeroUsize {
    limits.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// Reading and checking the program count towards the time limit.
pub(super) fn budget(started: Instant, limits: &LimitOptions) -> Budget {
    Budget {
        time: limits.timeout.map(|time| time.saturating_sub(started.elapsed())),
        memory: Some(limits.memory),
        states: limits.states.map(NonZeroU64::get),
    }
}

/// Saves the run, if there is one and a file for it. The answer has been given by then: a failure cannot take it back.
fn save(file: &Path, finding: &Finding<'_>, console: &mut Console) -> Status {
    let Some(path) = &finding.options.witness else { return Status::Holds };
    let name = display_name(path);
    let Conclusion::Reachable(evidence) = &finding.conclusion else {
        console.remark(&format!("note: no run was found, so {name} was not written"));
        return Status::Holds;
    };
    let saved = witness_file::to_saved(finding.program, evidence, file, &finding.options.program.defines);
    let text = serde_json::to_string_pretty(&saved).map_err(io::Error::from);
    match text.and_then(|text| fs::write(path, text + "\n")) {
        Ok(()) => Status::Holds,
        Err(error) => {
            console.complain(&format!("error: the witness {name} cannot be written: {error}"));
            Status::Bad
        }
    }
}

//! What all commands share that look for runs: limits, the kinds of answers, saving what was found.

use std::fs;
use std::io;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir::robust::Race;
use weir::{Limit, Limits, Session, Verdict};
use weir_ir::{Diagnostic, Program};
use weir_witness::Checked;
use weir_witness::render::svg;

use super::Task;
use crate::args::{AnalysisOptions, LimitOptions, RunFormat};
use crate::console::Console;
use crate::evidence::Evidence;
use crate::exit::Status;
use crate::input::display_name;
use crate::json::CommandName;
use crate::progress::ProgressLine;
use crate::trouble::Trouble;
use crate::{interrupt, memory, witness_file};

/// An answer.
pub(crate) enum Conclusion {
    /// What was asked for holds in every run.
    Holds,
    /// It does not in this one.
    Violated(Evidence),
    /// The search stopped before it knew.
    Stopped(Limit),
    /// The engine cannot handle something in the program.
    Refused(Box<Diagnostic>),
    /// There is a triangular race: what was asked for may hold or not.
    Raced(Box<Race>),
}

impl Conclusion {
    /// The answer that an engine gave. Explaining a run can take a moment, so this is done once.
    pub(super) fn new(verdict: Verdict<Box<Checked>>) -> Self {
        match verdict {
            Verdict::Holds => Self::Holds,
            Verdict::Violated(checked) => Self::Violated(Evidence::new(checked)),
            Verdict::Unknown(limit) => Self::Stopped(limit),
        }
    }

    /// The answer of a search for triangular races.
    pub(super) fn of_races(verdict: Verdict<Box<Race>>) -> Self {
        match verdict {
            Verdict::Holds => Self::Holds,
            Verdict::Violated(race) => Self::Raced(race),
            Verdict::Unknown(limit) => Self::Stopped(limit),
        }
    }

    /// What the process exits with.
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Holds => Status::Holds,
            Self::Violated(_) => Status::Violated,
            Self::Stopped(_) | Self::Refused(_) | Self::Raced(_) => Status::Unknown,
        }
    }

    /// Why the engine cannot handle the program, if it cannot.
    pub(crate) fn refusal(&self) -> Option<&Diagnostic> {
        if let Self::Refused(diagnostic) = self { Some(diagnostic) } else { None }
    }

    /// The run that was found, if there is one.
    pub(crate) fn evidence(&self) -> Option<&Evidence> {
        if let Self::Violated(evidence) = self { Some(evidence) } else { None }
    }
}

/// Works on each file in turn, with an empty line between answers for people.
pub(super) fn each_file(
    command: CommandName,
    (files, format): (&[PathBuf], RunFormat),
    console: &mut Console,
    mut work: impl FnMut(&Task<'_>, &mut Console) -> Result<Status, Trouble>,
) -> Status {
    let mut is_first = true;
    super::each_file(command, files, format == RunFormat::Json, console, |task, console| {
        if !std::mem::take(&mut is_first) && format == RunFormat::Text && !console.is_quiet() {
            console.answer("\n");
        }
        work(task, console)
    })
}

/// Runs an analysis within its limits, with progress on a terminal.
pub(super) fn watched<T>(
    task: &Task<'_>,
    limits: &LimitOptions,
    console: &Console,
    analysis: impl FnOnce(&Session) -> T,
) -> T {
    let progress = ProgressLine::new(!console.is_quiet());
    let mut session = session(limits).begun_before(task.started.elapsed());
    if let Some(sink) = progress.sink() {
        session = session.with_progress(sink);
    }
    analysis(&session)
}

/// How many workers.
pub(super) fn jobs(limits: &LimitOptions) -> NonZeroUsize {
    limits.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// A session that begins now, with these limits; Ctrl-C ends it.
pub(super) fn session(limits: &LimitOptions) -> Session {
    let limits =
        Limits { time: limits.timeout, memory: Some(limits.memory), states: limits.states.map(NonZeroU64::get) };
    Session::new(limits).with_stop(interrupt::flag()).with_memory_meter(Arc::new(memory::resident))
}

/// Saves the run, and the picture of its cycle, where the command line asks for it. The answer has been given by then: a
/// failure cannot take it back.
pub(super) fn save(
    task: &Task<'_>,
    options: &AnalysisOptions,
    program: &Program,
    conclusion: &Conclusion,
    console: &mut Console,
) -> Status {
    let evidence = conclusion.evidence();
    let run = |path: &Path| {
        let evidence = evidence.ok_or("no run was found")?;
        let saved = witness_file::to_saved(program, evidence, task.file, &options.program.defines);
        Ok(serde_json::to_string_pretty(&saved).map(|text| text + "\n").map_err(io::Error::from))
            .map(|text| text.and_then(|text| fs::write(path, text)))
    };
    let picture = |path: &Path| {
        let Evidence { checked, cycle } = evidence.ok_or("no run was found")?;
        let cycle = cycle.as_ref().ok_or("the run is also possible without store buffers")?;
        Ok(fs::write(path, svg(program, checked.replay(), checked.happens_before(), cycle)))
    };
    let run = options.witness.as_deref().map(|path| written("witness", path, run(path), console));
    let picture = options.svg.as_deref().map(|path| written("image", path, picture(path), console));
    run.into_iter().chain(picture).fold(Status::Holds, Status::and)
}

/// Tells when a file was not written: because there is nothing to write, or because it cannot be.
pub(super) fn written(what: &str, path: &Path, result: Result<io::Result<()>, &str>, console: &mut Console) -> Status {
    let name = display_name(path);
    match result {
        Ok(Ok(())) => Status::Holds,
        Err(reason) => {
            console.remark(&format!("note: {reason}, so {name} was not written"));
            Status::Holds
        }
        Ok(Err(error)) => {
            console.complain(&format!("error: cannot write the {what} {name}: {error}"));
            Status::Bad
        }
    }
}

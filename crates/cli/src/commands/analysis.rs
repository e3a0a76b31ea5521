//! What all commands share that look for runs: limits, progress, saving what was found.

use std::io;
use std::path::Path;

use weir::Session;
use weir::dynamic;
use weir::parameterized::Decided;
use weir::translate::Translation;
use weir_ir::{Diagnostic, Program, Value};
use weir_report::answer::CopiesRecord;
use weir_report::run::Evidence;
use weir_report::saved::SavedWitness;
use weir_report::svg;
use weir_report::wording::clean::display_name;

use weir_witness::Goal;

use super::task::Task;
use crate::args::{AnalysisOptions, ProgramOptions};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::goals;
use crate::load::Loaded;
use crate::output;
use crate::progress::ProgressLine;

/// Runs an analysis of a task, with progress on a terminal.
pub(super) fn watched<T>(task: &Task<'_>, console: &Console, analysis: impl FnOnce(&Session) -> T) -> T {
    let progress = ProgressLine::new(!console.is_quiet());
    match progress.sink() {
        Some(sink) => analysis(&task.session.clone().with_progress(sink)),
        None => analysis(&task.session),
    }
}

/// For which numbers of threads a report holds, and the report or why the program is refused.
type OfInstance<R> = (Option<CopiesRecord>, Result<R, Box<Diagnostic>>);

/// The report on a program with arbitrarily many threads, and for which numbers it holds. If it is about an instance,
/// that takes the program's place, read as it would be with `-D`, so that saved evidence fits it.
pub(super) fn instance<R>(
    task: &Task<'_>,
    options: &ProgramOptions,
    loaded: &mut Loaded,
    found: Result<Decided<R>, Box<Diagnostic>>,
) -> Result<OfInstance<R>, Error> {
    let decided = match found {
        Ok(decided) => decided,
        Err(refusal) => return Ok((None, Err(refusal))),
    };
    let copies = CopiesRecord::new(&decided);
    if decided.for_every_number {
        return Ok((Some(copies), Ok(decided.report)));
    }
    let numbers = decided.instance.copies().iter().map(|(name, number)| (format!("{name}[*]"), Value::from(*number)));
    let defines: Vec<(String, Value)> = options.defines.iter().cloned().chain(numbers).collect();
    let source = loaded.program.source.clone();
    let again = loaded.language.load_until(&source, &defines, &task.session);
    let again = again.map_err(|error| Error::unread(source, error, &task.session))?.program;
    let bodies = |program: &Program| program.threads.iter().map(|thread| thread.body.clone()).collect::<Vec<_>>();
    let (one, other) = (bodies(decided.instance.program()), bodies(&again));
    if one.len() != other.len() || !one.iter().zip(&other).all(|(one, other)| one.does_the_same(other)) {
        return Err(Error::Bug("an instance differs from the program read with that number of copies".to_owned()));
    }
    loaded.program = again;
    Ok((Some(copies), Ok(decided.report)))
}

/// The properties that the command line selects; with recursion or `spawn`, in terms of the linked program, which comes
/// with them.
pub(super) fn linked(loaded: &Loaded, names: &[String]) -> Result<(Option<Program>, Vec<Goal>), Error> {
    let program = loaded.program.is_dynamic().then(|| loaded.program.linked(0));
    let goals = goals::select(program.as_ref().unwrap_or(&loaded.program), names)?;
    Ok((program, goals))
}

/// The program that a report with calls or `spawn` is about, and the report; if it was refused, the first one.
pub(super) fn decided<R>(
    first: Program,
    found: Result<dynamic::Decided<R>, Box<Diagnostic>>,
) -> (Program, Result<R, Box<Diagnostic>>) {
    match found {
        Ok(decided) => (decided.program, Ok(decided.report)),
        Err(refusal) => (first, Err(refusal)),
    }
}

/// Why something cannot be asked about programs with recursion or `spawn`.
pub(super) fn without_calls(what_is: &str) -> Error {
    let reason = format!("{what_is} only available for programs without recursion and `spawn`");
    let help =
        "write procedures as loops, or unroll them with `weir translate --pass unroll=N --to weir`, and declare \
                all threads"
            .to_owned();
    Error::Input { reason, help: Some(help) }
}

/// Why something cannot be asked about arbitrarily many threads.
pub(super) fn fixed_number(what_is: &str) -> Error {
    let reason = format!("{what_is} only available for a fixed number of threads, and this program has `[*]` threads");
    Error::Input { reason, help: Some("set the number of copies, as in `-D 'T[*]=3'`".to_owned()) }
}

/// Saves the run, and the picture of its cycle, where the command line asks for it. The answer has been given by then:
/// a failure cannot take it back.
pub(super) fn save(
    options: &AnalysisOptions,
    loaded: &Loaded,
    evidence: Option<&Evidence>,
    console: &mut Console,
) -> Status {
    let run = |path: &Path| {
        let evidence = evidence.ok_or("no run was found")?;
        let saved = SavedWitness::new(&loaded.program, loaded.language, evidence);
        Ok(saved.to_text().map_err(io::Error::from).and_then(|text| output::write(path, &text)))
    };
    let picture = |path: &Path| {
        let evidence = evidence.ok_or("no run was found")?;
        let picture = svg::cycle(&loaded.program, evidence).ok_or("the run is also possible without store buffers")?;
        Ok(output::write(path, &picture))
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

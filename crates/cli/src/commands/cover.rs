//! `weir cover`: can a net cover its target?

use std::io;
use std::path::{Path, PathBuf};

use weir::petri::cover;
use weir_ir::Diagnostic;
use weir_ir::net::Net;
use weir_report::answer::{Answer, CommandName, CoverAnswer, NetSubject};
use weir_report::saved::SavedNetProof;
use weir_syntax::nets::{NetFormat, ParsedNet, ThreadQuestion, read_initial, read_target};

use super::analysis;
use super::task::{Allowance, Task, Work};
use crate::args::CoverOptions;
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::{input, memory, output};

/// Larger files of targets are refused.
const TARGETS_LIMIT: u64 = 1 << 20;

/// Runs it.
pub(super) fn run(options: &'static CoverOptions, console: &mut Console) -> Status {
    let work = Work {
        command: CommandName::Cover,
        format: options.format,
        files: &options.files,
        limits: Allowance::of(&options.limits),
        is_spaced: true,
        one: |task: &Task<'_>, console: &mut Console| one(task, options, console),
    };
    work.run(console)
}

/// What an answer about a net is about.
pub(super) fn subject<'a>(task: &Task<'a>, net: &'a Net, warnings: &'a [Diagnostic]) -> NetSubject<'a> {
    NetSubject {
        file: task.file,
        net,
        warnings,
        limits: task.session.limits(),
        elapsed: task.session.elapsed(),
        peak_memory: memory::peak(),
    }
}

fn one(task: &Task<'_>, options: &CoverOptions, console: &mut Console) -> Result<Status, Error> {
    let question = NetQuestion { targets: &options.targets, init: &options.init };
    let ParsedNet { net, warnings } = load(task, options.from, &question)?;
    if !task.is_json() {
        console.diagnostics(&net.source, &warnings);
    }
    let found = analysis::watched(task, console, |session| cover(&net, options.engine, session));
    let report = found.map_err(|why| Error::unanswerable(&why))?;
    let subject = subject(task, &net, &warnings);
    let answer = Answer::Cover(Box::new(CoverAnswer::new(subject, &report)));
    let status = task.answer(&answer, options.verbose, console);
    let Some(path) = &options.certificate else { return Ok(status) };
    let saved = report.proof.as_ref().ok_or("nothing was proved").map(|proof| {
        let text = SavedNetProof::new(&net, proof).to_text().map_err(io::Error::from);
        text.and_then(|text| output::write(path, &text))
    });
    Ok(status.and(analysis::written("certificate", path, saved, console)))
}

/// What is asked about a thread transition system, as it is given.
pub(super) struct NetQuestion<'a> {
    pub(super) targets: &'a [String],
    pub(super) init: &'a str,
}

/// Reads a net and the question about it.
pub(super) fn load(
    task: &Task<'_>,
    format_given: Option<NetFormat>,
    options: &NetQuestion<'_>,
) -> Result<ParsedNet, Error> {
    let format = format(task.file, format_given)?;
    let source = input::read_source(task.file)?;
    let question = if format.has_question() {
        if !options.targets.is_empty() {
            return Err(Error::input_with_help(
                "`--target` is for `.tts` files",
                "a `.spec` file has its targets in the section `target`",
            ));
        }
        ThreadQuestion::default()
    } else {
        question(task.file, options)?
    };
    let read = format.parse_until(&source, &question, &task.session);
    read.map_err(|error| Error::unread(source, error, &task.session))
}

/// The format of a file: as given, or else by its extension.
fn format(path: &Path, given: Option<NetFormat>) -> Result<NetFormat, Error> {
    let extension = || path.extension().and_then(|extension| NetFormat::by_name(&extension.to_string_lossy()));
    match given.or_else(extension) {
        Some(format) => Ok(format),
        None if input::is_stdin(path) => Ok(NetFormat::Spec),
        None => Err(Error::input_with_help(
            "cannot tell the format from the file extension",
            "nets have the extension `.spec` or `.tts`; otherwise use `--from spec` or `--from tts`",
        )),
    }
}

/// What is asked about a thread transition system.
fn question(file: &Path, options: &NetQuestion<'_>) -> Result<ThreadQuestion, Error> {
    let problem = |option: &str, text: &str, reason: String| Error::input(format!("`{option} {text}`: {reason}"));
    let start = read_initial(options.init).map_err(|reason| problem("--init", options.init, reason))?;
    let mut targets = Vec::new();
    for text in options.targets {
        let path = Path::new(text);
        if !text.contains('|') && path.is_file() {
            targets.extend(listed(path)?);
        } else {
            targets.push(read_target(text).map_err(|reason| problem("--target", text, reason))?);
        }
    }
    if options.targets.is_empty()
        && let Some(path) = beside(file)
    {
        targets = listed(&path)?;
    }
    if targets.is_empty() {
        return Err(Error::input_with_help(
            "a thread transition system does not say what to look for",
            "give a target, as in `--target '3|0,0,2'`: shared state 3, two threads in local state 0 and one in 2",
        ));
    }
    Ok(ThreadQuestion { initial: Some(start), targets })
}

/// The file of targets that belongs to a file, if it is there.
fn beside(file: &Path) -> Option<PathBuf> {
    let appended = PathBuf::from(format!("{}.prop", file.display()));
    [appended, file.with_extension("prop")].into_iter().find(|path| path.is_file())
}

/// The targets in a file, one per line.
fn listed(path: &Path) -> Result<Vec<weir_ir::net::CoverTarget>, Error> {
    let text = input::read_text(path, TARGETS_LIMIT)?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    let read = |(number, line): (usize, &str)| {
        let name = weir_report::wording::clean::display_name(path);
        read_target(line).map_err(|reason| Error::input(format!("{name}:{}: {reason}", number + 1)))
    };
    lines.map(read).collect()
}

//! One file a command. A command reads, asks the library, and hands what it got to a renderer.

pub(crate) mod analysis;
mod certificate;
pub(crate) mod check;
pub(crate) mod fences;
mod fmt;
pub(crate) mod litmus;
mod meta;
pub(crate) mod prob;
pub(crate) mod reach;
mod replay;
pub(crate) mod robust;
mod translate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::args::Command;
use crate::console::Console;
use crate::exit::Status;
use crate::input::display_name;
use crate::json::{CommandName, DiagnosticRecord, ErrorAnswer, ErrorVerdict, Head};
use crate::trouble::Trouble;

/// Does what the command line asks for.
pub(crate) fn run(command: Command, console: &mut Console) -> Status {
    match command {
        Command::Check(options) => check::run(&options, console),
        Command::Reach(options) => reach::run(&options, console),
        Command::Robust(options) => robust::run(&options, console),
        Command::Fences(options) => fences::run(&options, console),
        Command::Prob(options) => prob::run(&options, console),
        Command::Litmus(options) => litmus::run(&options, console),
        Command::Translate(options) => translate::run(&options, console),
        Command::Replay(options) => replay::run(&options, console),
        Command::Fmt(options) => fmt::run(&options, console),
        Command::Completions(options) => meta::completions(&options, console),
        Command::Man(options) => meta::man(&options, console),
        Command::Schema => meta::schema(console),
    }
}

/// One file of a command: what to work on, and how to answer.
pub(crate) struct Task<'a> {
    command: CommandName,
    file: &'a Path,
    started: Instant,
    is_json: bool,
}

impl Task<'_> {
    /// The head of the answer in JSON.
    pub(crate) fn head<V>(&self, verdict: V) -> Head<V> {
        Head::new(self.command, self.file, verdict, self.started)
    }

    /// Says why there is no answer.
    fn report(&self, trouble: &Trouble, console: &mut Console) {
        if self.is_json {
            let diagnostics = match trouble {
                Trouble::Source(source, diagnostics) => {
                    DiagnosticRecord::all_in_answer(source, diagnostics, &display_name(self.file))
                }
                _ => Vec::new(),
            };
            let head = self.head(ErrorVerdict::Error);
            console.json(&ErrorAnswer { head, reason: trouble.reason(), diagnostics });
            return;
        }
        let name = display_name(self.file);
        match trouble {
            Trouble::Source(source, diagnostics) => console.diagnostics(source, diagnostics),
            Trouble::Input { help: Some(help), .. } => {
                console.complain(&format!("error: {name}: {}\nhelp: {help}", trouble.reason()));
            }
            Trouble::Input { .. } => console.complain(&format!("error: {name}: {}", trouble.reason())),
            Trouble::Bug(_) => {
                console.complain(&format!("error: {name}: {}\nhelp: {REPORT_IT}", trouble.reason()));
            }
        }
    }
}

/// What to do about a bug of ours.
pub(crate) const REPORT_IT: &str =
    "please report it, with the program and the command line; Weir gave no answer rather than a wrong one";

/// Works on each file in turn. A bug that shows on one file does not keep the others from their answer.
fn each_file(
    command: CommandName,
    files: &[PathBuf],
    is_json: bool,
    console: &mut Console,
    mut work: impl FnMut(&Task<'_>, &mut Console) -> Result<Status, Trouble>,
) -> Status {
    let mut status = Status::Holds;
    for file in files {
        let task = Task { command, file, started: Instant::now(), is_json };
        let result = catch_unwind(AssertUnwindSafe(|| work(&task, console)));
        status = status.and(match result {
            Ok(Ok(status)) => status,
            Ok(Err(trouble)) => {
                task.report(&trouble, console);
                Status::Bad
            }
            Err(panic) => {
                // The panic hook has told people already.
                if is_json {
                    task.report(&Trouble::Bug(panic_text(&*panic)), console);
                }
                Status::Bad
            }
        });
    }
    status
}

/// What a panic said.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

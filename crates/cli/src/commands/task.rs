//! One file of a command: what to work on, and how to answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use weir::Limits;
use weir_report::Format;
use weir_report::answer::{Answer, CommandName, DiagnosticRecord, ErrorAnswer, ErrorVerdict, Head, Subject};
use weir_report::wording::clean::display_name;

use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::load::Loaded;
use crate::memory;

/// One file of a command: what to work on, and how to answer.
pub(super) struct Task<'a> {
    pub(super) command: CommandName,
    pub(super) file: &'a Path,
    pub(super) started: Instant,
    pub(super) format: Format,
}

impl Task<'_> {
    /// What an answer is about that is given now.
    pub(super) fn subject<'s>(&'s self, loaded: &'s Loaded, limits: Limits) -> Subject<'s> {
        Subject {
            file: self.file,
            program: &loaded.program,
            language: loaded.language,
            warnings: &loaded.warnings,
            limits,
            elapsed: self.started.elapsed(),
            peak_memory: memory::peak(),
        }
    }

    /// The head of an answer that is given now.
    pub(super) fn head<V>(&self, verdict: V) -> Head<V> {
        Head::new(self.command, self.file, verdict, self.started.elapsed())
    }

    pub(super) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Prints the answer in the format that was asked for, and returns its status.
    pub(super) fn answer(&self, answer: &Answer<'_>, is_verbose: bool, console: &mut Console) -> Status {
        console.show(answer, self.format, is_verbose);
        answer.into()
    }

    /// Says why there is no answer.
    pub(super) fn report(&self, error: &Error, console: &mut Console) {
        if self.is_json() {
            let diagnostics = match error {
                Error::Source(source, diagnostics) => {
                    DiagnosticRecord::all_in_answer(source, diagnostics, &display_name(self.file))
                }
                _ => Vec::new(),
            };
            let head = self.head(ErrorVerdict::Error);
            let answer = ErrorAnswer { head, reason: error.reason(), diagnostics };
            console.show(&Answer::Error(answer), self.format, false);
            return;
        }
        let name = display_name(self.file);
        match error {
            Error::Source(source, diagnostics) => console.diagnostics(source, diagnostics),
            Error::Input { help: Some(help), .. } => {
                console.complain(&format!("error: {name}: {}\nhelp: {help}", error.reason()));
            }
            Error::Input { .. } => console.complain(&format!("error: {name}: {}", error.reason())),
            Error::Bug(_) => {
                console.complain(&format!("error: {name}: {}\nhelp: {REPORT_IT}", error.reason()));
            }
        }
    }
}

/// What to do about a bug of ours.
pub(crate) const REPORT_IT: &str =
    "please report it, with the program and the command line; Weir gave no answer rather than a wrong one";

/// Works on each file in turn. A bug that shows on one file does not keep the others from their answer.
pub(super) fn each_file(
    (command, format): (CommandName, Format),
    files: &[PathBuf],
    console: &mut Console,
    mut work: impl FnMut(&Task<'_>, &mut Console) -> Result<Status, Error>,
) -> Status {
    let mut status = Status::Holds;
    for file in files {
        let task = Task { command, file, started: Instant::now(), format };
        let result = catch_unwind(AssertUnwindSafe(|| work(&task, console)));
        status = status.and(match result {
            Ok(Ok(status)) => status,
            Ok(Err(error)) => {
                task.report(&error, console);
                Status::Bad
            }
            Err(panic) => {
                // The panic hook has told people already.
                if task.is_json() {
                    task.report(&Error::Bug(panic_text(&*panic)), console);
                }
                Status::Bad
            }
        });
    }
    status
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

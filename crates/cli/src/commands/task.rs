//! One file of a command: what to work on, and how to answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use weir::{Bound, Limit, Limits, Session};
use weir_report::Format;
use weir_report::answer::{
    Answer, CommandName, DiagnosticRecord, ErrorAnswer, ErrorVerdict, Head, StoppedAnswer, StoppedVerdict, Subject,
};
use weir_report::wording::clean::display_name;
use weir_report::wording::limit::{limit_text, more};

use super::watchdog::{Next, Watchdog};
use crate::args::{LimitOptions, ResourceOptions};
use crate::console::{Console, Said};
use crate::error::Error;
use crate::exit::Status;
use crate::load::Loaded;
use crate::{interrupt, memory};

/// One file of a command: what to work on, and how to answer.
#[derive(Clone)]
pub(super) struct Task<'a> {
    pub(super) command: CommandName,
    pub(super) file: &'a Path,
    pub(super) format: Format,
    /// The limits, and what was used of them.
    pub(super) session: Session,
}

impl Task<'_> {
    /// What an answer is about that is given now.
    pub(super) fn subject<'s>(&'s self, loaded: &'s Loaded) -> Subject<'s> {
        Subject {
            file: self.file,
            program: &loaded.program,
            language: loaded.language,
            warnings: &loaded.warnings,
            limits: self.session.limits(),
            elapsed: self.session.elapsed(),
            peak_memory: memory::peak(),
            copies: None,
        }
    }

    /// The head of an answer that is given now.
    pub(super) fn head<V>(&self, verdict: V) -> Head<V> {
        Head::new(self.command, self.file, verdict, self.session.elapsed())
    }

    pub(super) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Prints the answer in the requested format, and returns its status.
    pub(super) fn answer(&self, answer: &Answer<'_>, is_verbose: bool, console: &mut Console) -> Status {
        console.show(answer, self.format, is_verbose);
        let status = answer.into();
        console.settle(status);
        status
    }

    /// Says why there is no answer, and returns the status.
    pub(super) fn report(&self, error: &Error, console: &mut Console) -> Status {
        let help = match error {
            Error::Stopped(limit) => more(*limit),
            Error::Starved(_) => {
                "allow the process more memory and threads, or lower `--memory` to get a partial result"
            }
            _ => {
                self.complain(error, console);
                return Status::Bad;
            }
        };
        let answer = StoppedAnswer { head: self.head(StoppedVerdict::Unknown), reason: self.reason(error), help };
        self.answer(&Answer::Stopped(answer), false, console)
    }

    /// Why there is no answer, in one sentence.
    fn reason(&self, error: &Error) -> String {
        match error {
            Error::Stopped(limit) => limit_text(*limit, &self.session.limits()),
            error => error.reason(),
        }
    }

    /// Reports why work on a file was abandoned: before the answer, or after it, while files were being written.
    fn overdue(&self, error: &Error, settled: Option<Status>, console: &mut Console) -> Status {
        let Some(status) = settled else { return self.report(error, console) };
        let reason = self.reason(error);
        let name = display_name(self.file);
        console.complain(&format!("note: {name}: {reason} before everything was written"));
        status
    }

    fn complain(&self, error: &Error, console: &mut Console) {
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
            Error::Bug(_) | Error::Stopped(_) | Error::Starved(_) => {
                console.complain(&format!("error: {name}: {}\nhelp: {REPORT_IT}", error.reason()));
            }
        }
    }
}

/// What to do about a bug of ours.
pub(crate) const REPORT_IT: &str =
    "please report it, with the program and the command line; Weir gave no answer rather than a wrong one";

/// How to work on files.
pub(super) struct Work<W> {
    pub(super) command: CommandName,
    pub(super) format: Format,
    pub(super) files: &'static [PathBuf],
    /// The limits of each file.
    pub(super) limits: Allowance,
    /// Whether an empty line separates the answers.
    pub(super) is_spaced: bool,
    /// What to do with one file.
    pub(super) one: W,
}

/// A message from a worker.
enum Message {
    Said(Said),
    Ended(thread::Result<Result<Status, Error>>),
}

impl<W> Work<W>
where
    W: Fn(&Task<'_>, &mut Console) -> Result<Status, Error> + Send + Sync + 'static,
{
    /// Works on each file in turn. A bug that shows on one file does not keep the others from their answer, and neither
    /// does one that takes too long.
    pub(super) fn run(self, console: &mut Console) -> Status {
        let (mut status, mut is_first) = (Status::Holds, true);
        let one = Arc::new(self.one);
        for (number, file) in self.files.iter().enumerate() {
            if self.is_spaced && !is_first && self.format == Format::Text && !console.is_quiet() {
                console.answer("\n");
            }
            is_first = false;
            // Each task has a flag of its own, so that one can be ended without the others.
            let session = self.limits.session().with_stop(Arc::default());
            let task = Task { command: self.command, file, format: self.format, session };
            status = status.and(if interrupt::flag().load(Ordering::Relaxed) {
                task.report(&Error::Stopped(Limit::Interrupted), console)
            } else if weir_alloc::is_exhausted() {
                task.report(&Error::out_of_memory(), console)
            } else {
                watched(&task, &one, number + 1 == self.files.len(), console)
            });
        }
        status
    }
}

/// What each file may use.
#[derive(Clone, Copy)]
pub(super) struct Allowance {
    limits: Limits,
    bounds: &'static [(Bound, u64)],
}

impl Allowance {
    /// What the options of a command that searches say.
    pub(super) fn of(options: &'static LimitOptions) -> Self {
        Self { limits: options.limits(), bounds: &options.bounds }
    }

    /// What the options of a command that does not search say.
    pub(super) fn of_resources(options: &ResourceOptions) -> Self {
        Self { limits: options.limits(), bounds: &[] }
    }

    /// A session that begins now, with these limits; Ctrl-C ends it.
    pub(super) fn session(&self) -> Session {
        let session = Session::new(self.limits);
        let session = self.bounds.iter().fold(session, |session, &(bound, value)| session.with_bound(bound, value));
        session.with_stop(interrupt::flag()).with_memory_meter(Arc::new(memory::resident))
    }
}

/// Works on one file on a thread of its own, as long as its limits allow.
fn watched<W>(task: &Task<'static>, one: &Arc<W>, is_last: bool, console: &mut Console) -> Status
where
    W: Fn(&Task<'_>, &mut Console) -> Result<Status, Error> + Send + Sync + 'static,
{
    let (sender, messages) = mpsc::channel();
    let (say, one, work) = (sender.clone(), Arc::clone(one), task.clone());
    // If nobody listens any more, the file has been answered.
    let mut remote = console.remote(move |said| drop(say.send(Message::Said(said))));
    let worker = move || {
        let ended = catch_unwind(AssertUnwindSafe(|| one(&work, &mut remote)));
        let _ = sender.send(Message::Ended(ended));
    };
    if let Err(error) = thread::Builder::new().stack_size(STACK).spawn(worker) {
        return task.report(&Error::no_thread(&error), console);
    }
    let watchdog = Watchdog::new(&task.session);
    let mut settled = None;
    loop {
        match watchdog.next(&messages) {
            Next::Message(Message::Said(Said::Settled(status))) => settled = Some(status),
            Next::Message(Message::Said(said)) => console.say(said),
            Next::Message(Message::Ended(Ok(Ok(status)))) => return status,
            Next::Message(Message::Ended(Ok(Err(error)))) => return task.report(&error, console),
            Next::Message(Message::Ended(Err(panic))) => {
                // The panic hook has told people already.
                if task.is_json() {
                    task.report(&Error::Bug(panic_text(&*panic)), console);
                }
                return Status::Bad;
            }
            Next::Overdue(reason) => {
                task.session.stop();
                let status = task.overdue(&reason, settled, console);
                // What it holds should not count against the next file.
                if !is_last {
                    wait_for_end(&messages);
                }
                return status;
            }
            Next::Gone => return task.report(&Error::Bug("a thread ended without an answer".to_owned()), console),
        }
    }
}

/// Waits a moment for a worker that was told to stop.
fn wait_for_end(messages: &mpsc::Receiver<Message>) {
    let until = Instant::now() + WAIT;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        match messages.recv_timeout(left) {
            Ok(Message::Said(_)) => {}
            Ok(Message::Ended(_)) | Err(_) => return,
        }
    }
}

/// How long the end of an abandoned worker is waited for.
const WAIT: Duration = Duration::from_millis(100);

/// The stack of a worker, as large as that of a main thread.
const STACK: usize = 8 << 20;

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

//! `weir litmus`: which final states can litmus tests reach?

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use weir::outcomes::{End, Report, outcomes};
use weir::{Limit, ProgressSink};
use weir_ir::Diagnostic;
use weir_report::Format;
use weir_report::answer::{Answer, CommandName, LitmusAnswer, Ran};
use weir_report::text::{Row, Summary};
use weir_syntax::litmus::Litmus;

use super::task::{Task, panic_text, session};
use crate::args::LitmusOptions;
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::progress::ProgressLine;
use crate::{gather, input, interrupt};

/// What came of one file.
enum Ended {
    Ran(Box<LitmusAnswer>),
    Failed(PathBuf, Error),
    /// A bug of ours, and what the panic said.
    Panicked(PathBuf, String),
    /// It was not run: the user interrupted.
    Skipped,
}

/// Runs it.
pub(super) fn run(options: &LitmusOptions, console: &mut Console) -> Status {
    let tests = gather::litmus_tests(&options.files);
    let mut answers = Answers::new(options, tests.len() == 1);
    let progress = ProgressLine::new(!console.is_quiet());
    let (started, total) = (Instant::now(), tests.len());
    let workers = options.limits.workers().get().min(total.max(1));
    // Of several tests, it is their number that tells how far things are.
    let sink = if total == 1 { progress.sink() } else { None };
    let queue = Queue { next: AtomicUsize::new(0), tests: tests.into_iter().map(std::sync::Mutex::new).collect() };
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (send, queue, sink) = (send.clone(), &queue, &sink);
            scope.spawn(move || queue.work(options, sink.as_ref(), &send));
        }
        drop(send);
        // Answers come in the order of the tests, whichever is ready first.
        let mut waiting: Vec<Option<Ended>> = (0..total).map(|_| None).collect();
        let (mut done, mut shown) = (0, 0);
        for (number, ended) in receive {
            waiting[number] = Some(ended);
            done += 1;
            progress.count(done, total, started.elapsed());
            while let Some(ended) = waiting.get_mut(shown).and_then(Option::take) {
                answers.take(ended, console);
                shown += 1;
            }
        }
    });
    drop(progress);
    answers.finish(console)
}

/// The tests that wait to be run.
struct Queue {
    next: AtomicUsize,
    tests: Vec<std::sync::Mutex<gather::Found>>,
}

impl Queue {
    /// Takes tests and runs them until there are none.
    fn work(&self, options: &LitmusOptions, progress: Option<&ProgressSink>, send: &mpsc::Sender<(usize, Ended)>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(test) = self.tests.get(number) else { return };
            let mut test = test.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (path, state) = (test.0.clone(), std::mem::replace(&mut test.1, Ok(())));
            let ended = match state {
                Err(error) => Ended::Failed(path, error),
                Ok(()) if interrupt::flag().load(Ordering::Relaxed) => Ended::Skipped,
                Ok(()) => one(path, options, progress),
            };
            if send.send((number, ended)).is_err() {
                return;
            }
        }
    }
}

/// Runs one test. A bug that shows on it does not keep the others from their answer.
fn one(path: PathBuf, options: &LitmusOptions, progress: Option<&ProgressSink>) -> Ended {
    let result = catch_unwind(AssertUnwindSafe(|| attempt(&path, options, progress)));
    match result {
        Ok(Ok(answer)) => Ended::Ran(Box::new(answer)),
        Ok(Err(error)) => Ended::Failed(path, error),
        Err(panic) => Ended::Panicked(path, panic_text(&*panic)),
    }
}

fn attempt(path: &Path, options: &LitmusOptions, progress: Option<&ProgressSink>) -> Result<LitmusAnswer, Error> {
    let mut session = session(Some(&options.limits));
    if let Some(sink) = progress {
        session = session.with_progress(Arc::clone(sink));
    }
    let source = input::read_source(path)?;
    let test = weir_syntax::litmus::parse(&source).map_err(|errors| Error::Source(source.clone(), errors))?;
    let model = options.model;
    let report = match outcomes(&test.program, &test.expressions(), model, &session) {
        Ok(report) => report,
        Err(failure) => return Err(Error::of(&test.program, failure)),
    };
    let stopped = stopped(&test, &report).map_err(|error| Error::Source(source, vec![*error]))?;
    let results = test.results(&report.outcomes);
    let ran = Ran { test, model, results, stopped, visited: report.states, elapsed: session.elapsed() };
    Ok(LitmusAnswer::new(path, ran, &options.limits.limits()))
}

fn stopped(test: &Litmus, report: &Report) -> Result<Option<Limit>, Box<Diagnostic>> {
    match report.end {
        End::Complete => Ok(None),
        End::Stopped(limit) => Ok(Some(limit)),
        End::AssertionFailed(thread, edge) => {
            // The reader asserts that computed addresses are those of cells.
            let span = test.program.body(thread).edge(edge).span;
            let message = "this instruction can access an address that is not a cell of its size";
            let error = Diagnostic::error("no-cell", message, span);
            Err(Box::new(error.help(
                "initialize pointers with addresses of cells, as in `0:rax=x`; partial overlaps are not supported",
            )))
        }
    }
}

/// The answers given so far.
struct Answers<'a> {
    options: &'a LitmusOptions,
    is_single: bool,
    status: Status,
    /// For the table at the end.
    rows: Vec<Row>,
    failed: usize,
    skipped: usize,
}

impl<'a> Answers<'a> {
    fn new(options: &'a LitmusOptions, is_single: bool) -> Self {
        Self { options, is_single, status: Status::Holds, rows: Vec::new(), failed: 0, skipped: 0 }
    }

    fn take(&mut self, ended: Ended, console: &mut Console) {
        let status = match ended {
            Ended::Ran(answer) => self.show(answer, console),
            Ended::Failed(file, error) => self.report(&file, &error, console),
            // The panic hook has told people already.
            Ended::Panicked(file, what) if self.options.format == Format::Json => {
                self.report(&file, &Error::Bug(what), console)
            }
            Ended::Panicked(..) => {
                self.failed += 1;
                Status::Bad
            }
            Ended::Skipped => {
                self.skipped += 1;
                Status::Unknown
            }
        };
        self.status = self.status.and(status);
    }

    fn report(&mut self, file: &Path, error: &Error, console: &mut Console) -> Status {
        let format = self.options.format;
        let session = session(Some(&self.options.limits));
        self.failed += 1;
        Task { command: CommandName::Litmus, file, format, session }.report(error, console)
    }

    fn show(&mut self, answer: Box<LitmusAnswer>, console: &mut Console) -> Status {
        let row = Row::new(&answer);
        let answer = Answer::Litmus(answer);
        if self.options.format != Format::Text || self.is_single || self.options.verbose {
            if self.options.format == Format::Text && !self.rows.is_empty() {
                console.answer("\n");
            }
            console.show(&answer, self.options.format, self.options.verbose);
        }
        self.rows.push(row);
        Status::from(&answer)
    }

    fn finish(self, console: &mut Console) -> Status {
        if self.options.format == Format::Text && !self.is_single {
            let summary =
                Summary { rows: &self.rows, model: self.options.model, failed: self.failed, skipped: self.skipped };
            if self.options.verbose && !self.rows.is_empty() {
                console.answer("\n");
            }
            console.answer(&summary.text(console.is_quiet()));
        } else if self.skipped > 0 {
            console.complain(&format!("interrupted; {} tests were not run", self.skipped));
        }
        self.status
    }
}

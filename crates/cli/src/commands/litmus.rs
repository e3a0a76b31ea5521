//! `weir litmus`: which final states can litmus tests reach?

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Instant;

use weir::outcomes::{End, Report, outcomes};
use weir::{Limit, ProgressSink, Session};
use weir_ir::Diagnostic;
use weir_report::Format;
use weir_report::answer::{Answer, CommandName, LitmusAnswer, Ran};
use weir_report::text::{Row, Summary};
use weir_syntax::litmus::Litmus;

use super::task::{Allowance, Task, panic_text};
use super::watchdog::{self, Next, PERIOD, Watchdog};
use crate::args::LitmusOptions;
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::load::no_cell;
use crate::progress::ProgressLine;
use crate::{gather, input, interrupt};

/// What came of one file.
enum Ended {
    Ran(Box<LitmusAnswer>),
    Failed(Error),
    /// It did not end soon after a limit, or memory ran out.
    Abandoned(Error),
    /// A bug of ours, and what the panic said.
    Panicked(String),
    /// It was not run: the user interrupted.
    Skipped,
}

/// Runs it.
pub(super) fn run(options: &'static LitmusOptions, console: &mut Console) -> Status {
    let tests = match gathered(options) {
        Ok(tests) => tests,
        Err(error) => {
            let file = options.files.first().map_or(Path::new(""), PathBuf::as_path);
            return Answers::new(options, true).report(file, &error, console);
        }
    };
    let mut answers = Answers::new(options, tests.len() == 1);
    let progress = ProgressLine::new(!console.is_quiet());
    let (started, total) = (Instant::now(), tests.len());
    // Of several tests, it is their number that tells how far things are.
    let sink = if total == 1 { progress.sink() } else { None };
    let tests =
        tests.into_iter().map(|(path, state)| Test { path, state: Mutex::new(Some(state)), session: OnceLock::new() });
    let queue = Arc::new(Queue { next: AtomicUsize::new(0), tests: tests.collect(), options, progress: sink });
    let (send, receive) = mpsc::channel();
    Queue::start_worker(&queue, &send);
    for _ in 1..options.limits.workers().get().min(total.max(1)) {
        // The first worker is enough if no other can be started.
        let _ = Queue::try_to_start_worker(&queue, &send);
    }
    // Answers come in the order of the tests, whichever is ready first.
    let mut ended: Vec<Option<Ended>> = (0..total).map(|_| None).collect();
    let mut is_done = vec![false; total];
    let (mut done, mut shown, mut checked) = (0, 0, Instant::now());
    while shown < total {
        let mut news: Vec<(usize, Ended)> = receive.recv_timeout(PERIOD).into_iter().collect();
        // However many tests end in the meantime.
        if checked.elapsed() >= PERIOD {
            news.extend(queue.overdue(&is_done));
            checked = Instant::now();
        }
        for (number, end) in news {
            // A test that was abandoned may still end.
            if std::mem::replace(&mut is_done[number], true) {
                continue;
            }
            match &end {
                // There would be nothing left for another worker.
                Ended::Abandoned(Error::Starved(_)) => queue.fail_rest(&send, Error::out_of_memory),
                Ended::Abandoned(_) => Queue::start_worker(&queue, &send),
                _ => {}
            }
            ended[number] = Some(end);
            done += 1;
        }
        progress.count(done, total, started.elapsed());
        while let Some(end) = ended.get_mut(shown).and_then(Option::take) {
            answers.take(&queue.tests[shown].path, end, console);
            shown += 1;
        }
    }
    drop(progress);
    answers.finish(console)
}

/// The tests that the command line names, as long as the limits allow: a list may be a pipe.
fn gathered(options: &'static LitmusOptions) -> Result<Vec<gather::Found>, Error> {
    let session = Allowance::of(&options.limits).session();
    let (send, receive) = mpsc::channel();
    let gather = move || drop(send.send(gather::litmus_tests(&options.files, options.follow)));
    std::thread::Builder::new().spawn(gather).map_err(|error| Error::no_thread(&error))?;
    match Watchdog::new(&session).next(&receive) {
        Next::Message(tests) => Ok(tests),
        Next::Overdue(error) => Err(error),
        Next::Gone => Err(Error::Bug("a thread ended without an answer".to_owned())),
    }
}

/// A test, and what there is to know about it while it runs.
struct Test {
    path: PathBuf,
    /// Why it cannot be run, if it cannot; taken by the worker that runs it.
    state: Mutex<Option<Result<(), Error>>>,
    /// Its session, once it has begun.
    session: OnceLock<Session>,
}

/// The tests that wait to be run.
struct Queue {
    next: AtomicUsize,
    tests: Vec<Test>,
    options: &'static LitmusOptions,
    progress: Option<ProgressSink>,
}

impl Queue {
    /// Starts a thread that takes tests and runs them until there are none. Nobody waits for it: a test that takes too
    /// long is abandoned. If no thread can be started, all tests that have not begun fail.
    fn start_worker(queue: &Arc<Self>, send: &mpsc::Sender<(usize, Ended)>) {
        if let Err(error) = Self::try_to_start_worker(queue, send) {
            queue.fail_rest(send, || Error::no_thread(&error));
        }
    }

    /// All tests fail that nobody has begun.
    fn fail_rest(&self, send: &mpsc::Sender<(usize, Ended)>, error: impl Fn() -> Error) {
        for number in self.next.swap(self.tests.len(), Ordering::Relaxed)..self.tests.len() {
            let _ = send.send((number, Ended::Failed(error())));
        }
    }

    fn try_to_start_worker(queue: &Arc<Self>, send: &mpsc::Sender<(usize, Ended)>) -> io::Result<()> {
        let (queue, send) = (Arc::clone(queue), send.clone());
        std::thread::Builder::new().spawn(move || queue.work(&send)).map(drop)
    }

    fn work(&self, send: &mpsc::Sender<(usize, Ended)>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(test) = self.tests.get(number) else { return };
            let state = test.state.lock().unwrap_or_else(PoisonError::into_inner).take();
            let ended = match state {
                Some(Err(error)) => Ended::Failed(error),
                _ if interrupt::flag().load(Ordering::Relaxed) => Ended::Skipped,
                _ => one(test, self.options, self.progress.as_ref()),
            };
            if send.send((number, ended)).is_err() {
                return;
            }
        }
    }

    /// The tests that run and should have ended. They are told to stop, and not waited for.
    fn overdue(&self, is_done: &[bool]) -> Vec<(usize, Ended)> {
        let running = self.tests.iter().enumerate().filter(|(number, _)| !is_done[*number]);
        let overdue = running.filter_map(|(number, test)| {
            let session = test.session.get()?;
            let reason = watchdog::overdue(session)?;
            session.stop();
            Some((number, Ended::Abandoned(reason)))
        });
        overdue.collect()
    }
}

/// Runs one test. A bug that shows on it does not keep the others from their answer.
fn one(test: &Test, options: &'static LitmusOptions, progress: Option<&ProgressSink>) -> Ended {
    let result = catch_unwind(AssertUnwindSafe(|| attempt(test, options, progress)));
    match result {
        Ok(Ok(answer)) => Ended::Ran(Box::new(answer)),
        Ok(Err(error)) => Ended::Failed(error),
        Err(panic) => Ended::Panicked(panic_text(&*panic)),
    }
}

fn attempt(
    test: &Test,
    options: &'static LitmusOptions,
    progress: Option<&ProgressSink>,
) -> Result<LitmusAnswer, Error> {
    let path = test.path.as_path();
    let session = test.session.get_or_init(|| {
        // Each test has a flag of its own, so that one can be ended without the others.
        let session = Allowance::of(&options.limits).session().with_stop(Arc::default());
        progress.map_or(session.clone(), |sink| session.with_progress(Arc::clone(sink)))
    });
    let source = input::read_source(path)?;
    let test = weir_syntax::litmus::parse_until(&source, session)
        .map_err(|error| Error::unread(source.clone(), error, session))?;
    let model = options.model;
    let report = match outcomes(&test.program, &test.expressions(), model, session) {
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
            Err(Box::new(no_cell(test.program.body(thread).edge(edge).span)))
        }
    }
}

/// The answers given so far.
struct Answers {
    options: &'static LitmusOptions,
    is_single: bool,
    status: Status,
    /// For the table at the end.
    rows: Vec<Row>,
    failed: usize,
    skipped: usize,
}

impl Answers {
    fn new(options: &'static LitmusOptions, is_single: bool) -> Self {
        Self { options, is_single, status: Status::Holds, rows: Vec::new(), failed: 0, skipped: 0 }
    }

    fn take(&mut self, file: &Path, ended: Ended, console: &mut Console) {
        let status = match ended {
            Ended::Ran(answer) => self.show(answer, console),
            Ended::Failed(error) => self.report(file, &error, console),
            Ended::Abandoned(error) => self.report(file, &error, console),
            // The panic hook has told people already.
            Ended::Panicked(what) if self.options.format == Format::Json => {
                self.report(file, &Error::Bug(what), console)
            }
            Ended::Panicked(_) => {
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
        let session = Allowance::of(&self.options.limits).session();
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
            console.answer_wrapped(&summary.text(console.is_quiet()));
        } else if self.skipped > 0 {
            console.complain(&format!("interrupted; {} tests were not run", self.skipped));
        }
        self.status
    }
}

//! Standard output and standard error. Nothing else in Weir prints.
//!
//! Answers go to standard output; warnings, errors and progress to standard error. A reader that goes away
//! (`weir … | head -1`) is no error: the rest is dropped, and the exit status still tells the verdict.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use weir_ir::{Diagnostic, Source};
use weir_report::Format;
use weir_report::answer::Answer;
use weir_report::text::{self, View};

use crate::args::{Color, ConsoleOptions};
use crate::exit::Status;

/// Width of an answer that is not for a terminal.
const PIPED_WIDTH: usize = 140;
/// Narrower terminals break lines anywhere: there is no way to draw a run in less.
const NARROWEST: usize = 60;

/// Where answers and messages go.
pub(crate) struct Console {
    target: Target,
    options: ConsoleOptions,
    /// How wide standard output is, if it is a terminal.
    width: Option<usize>,
    /// How wide standard error is, if it is a terminal.
    err_width: Option<usize>,
    /// Set when standard output cannot be written any more.
    failure: Option<io::Error>,
}

/// Where a console sends what it is told.
enum Target {
    /// The process's own streams.
    Streams { out: AutoStream<io::Stdout>, err: AutoStream<io::Stderr> },
    /// Another thread that has those.
    Owner(Box<dyn Fn(Said) + Send>),
}

/// Something that was said on a console.
pub(crate) enum Said {
    /// A part of the answer.
    Answer(String),
    /// Something beside the answer.
    Beside(String),
    /// The answer has been given, with this status; what follows cannot change it.
    Settled(Status),
}

fn columns((width, _): (terminal_size::Width, terminal_size::Height)) -> usize {
    usize::from(width.0).max(NARROWEST)
}

impl Console {
    /// The process's own streams.
    pub(crate) fn new(options: ConsoleOptions) -> Self {
        let choice = match options.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let (out, err) = (AutoStream::new(io::stdout(), choice), AutoStream::new(io::stderr(), choice));
        let width = terminal_size::terminal_size_of(out.as_inner()).map(columns);
        let err_width = terminal_size::terminal_size_of(err.as_inner()).map(columns);
        Self { target: Target::Streams { out, err }, options, width, err_width, failure: None }
    }

    /// A console for another thread, which passes on what it is told.
    pub(crate) fn remote(&self, pass_on: impl Fn(Said) + Send + 'static) -> Self {
        let target = Target::Owner(Box::new(pass_on));
        Self { target, options: self.options, width: self.width, err_width: self.err_width, failure: None }
    }

    /// Says what was said on a remote console.
    pub(crate) fn say(&mut self, said: Said) {
        match said {
            Said::Answer(text) => self.answer(&text),
            Said::Beside(text) => self.complain(&text),
            Said::Settled(_) => {}
        }
    }

    /// Whether only the answer is wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.options.quiet
    }

    /// Prints a part of the answer.
    pub(crate) fn answer(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        match &mut self.target {
            Target::Owner(pass_on) => pass_on(Said::Answer(text.to_owned())),
            Target::Streams { out, .. } => {
                if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                    self.failure = Some(error);
                }
            }
        }
    }

    /// Notes that the answer has been given.
    pub(crate) fn settle(&mut self, status: Status) {
        if let Target::Owner(pass_on) = &self.target {
            pass_on(Said::Settled(status));
        }
    }

    /// Prints an answer in a format.
    pub(crate) fn show(&mut self, answer: &Answer<'_>, format: Format, is_verbose: bool) {
        let text = format.render(answer, &self.view(is_verbose));
        self.answer(&text);
    }

    /// How much text to show: in lines as wide as the terminal, or of a fixed width when piped, so that scripts see the
    /// same everywhere.
    pub(crate) fn view(&self, is_verbose: bool) -> View {
        let width = self.width.unwrap_or(PIPED_WIDTH);
        View { width, is_wrapped: self.width.is_some(), is_quiet: self.options.quiet, is_verbose }
    }

    /// Prints a part of the answer that is meant for people: lines longer than the terminal are broken between words.
    pub(crate) fn answer_wrapped(&mut self, text: &str) {
        match self.width {
            Some(width) => self.answer(&text::wrap(text, width)),
            None => self.answer(text),
        }
    }

    /// Says something beside the answer, also when quiet. If standard error is gone, nobody listens.
    pub(crate) fn complain(&mut self, text: &str) {
        match &mut self.target {
            Target::Owner(pass_on) => pass_on(Said::Beside(text.to_owned())),
            Target::Streams { err, .. } => {
                let text = self.err_width.map_or_else(|| text.to_owned(), |width| text::wrap(text, width));
                let _ = writeln!(err, "{text}");
            }
        }
    }

    /// Says something beside the answer, unless quiet.
    pub(crate) fn remark(&mut self, text: &str) {
        if !self.options.quiet {
            self.complain(text);
        }
    }

    /// Shows diagnostics with the source they mention; warnings and notes only unless quiet.
    pub(crate) fn diagnostics(&mut self, source: &Source, diagnostics: &[Diagnostic]) {
        let wanted = |diagnostic: &&Diagnostic| diagnostic.is_error() || !self.options.quiet;
        let shown: Vec<&Diagnostic> = diagnostics.iter().filter(wanted).collect();
        if !shown.is_empty() {
            let text = text::diagnostics(source, &shown);
            self.complain(&(text + "\n"));
        }
    }

    /// The status to exit with, once everything is said.
    pub(crate) fn finish(mut self, status: Status) -> Status {
        match self.failure.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.complain(&format!("error: cannot write the answer: {error}"));
                Status::Bad
            }
            _ => status,
        }
    }
}

//! Text before it is words: what cannot be a program at all, and characters that begin no word.

use weir_ir::{Diagnostic, Source, Span};

use crate::limits::MAX_SOURCE_BYTES;
use crate::sink::Sink;

/// More stretches of stray characters than this are summed up in one message.
const MAX_STRAY: usize = 5;

/// What a lexer can stumble over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum LexError {
    /// A character that begins no word.
    #[default]
    Stray,
    /// A comment that is never closed.
    OpenComment,
}

/// Why a text as a whole cannot be a program.
pub(crate) fn unreadable(text: &str, extension: &str) -> Option<Diagnostic> {
    if text.len() > MAX_SOURCE_BYTES {
        let message = format!("the file is larger than {} MiB", MAX_SOURCE_BYTES >> 20);
        return Some(Diagnostic::error("file-too-large", message, Span::default()).help("split the program"));
    }
    let nul = text.find('\0')?;
    let span = Span::new(nul, nul + 1);
    Some(
        Diagnostic::error("not-text", "this is not a text file: it contains NUL bytes", span)
            .label("the first one")
            .help(format!(
                "a `{extension}` file is plain text (UTF-8); check that this is not a binary or UTF-16 file"
            )),
    )
}

/// Stretches of characters that begin no word.
#[derive(Default)]
pub(crate) struct StrayCharacters(Vec<Span>);

impl StrayCharacters {
    /// Takes one more; neighbours become one stretch.
    pub(crate) fn push(&mut self, span: Span) {
        match self.0.last_mut() {
            Some(last) if last.end == span.start => last.end = span.end,
            _ => self.0.push(span),
        }
    }

    /// Whether there are so many that the text is hardly a program.
    pub(crate) fn are_many(&self) -> bool {
        self.0.len() > MAX_STRAY
    }

    /// Reports them all; many of them in one message.
    pub(crate) fn report(&self, source: &Source, extension: &str, sink: &mut Sink) {
        let Some(&first) = self.0.first() else { return };
        if self.are_many() {
            let message = format!("{} sequences of characters that cannot occur in a program", self.0.len());
            let problem = Diagnostic::error("stray-character", message, first).label("the first one");
            sink.error(problem.help(format!("check that this is a `{extension}` file in UTF-8")));
            return;
        }
        for &span in &self.0 {
            let shown: String = source.slice(span).chars().take(20).flat_map(char::escape_debug).collect();
            let help = if source.slice(span).chars().any(char::is_alphanumeric) {
                "names consist of the letters A to Z and a to z, digits and `_`"
            } else {
                "remove it"
            };
            let plural = if source.slice(span).chars().count() == 1 { "" } else { "s" };
            let message = format!("unexpected character{plural} `{shown}`");
            sink.error(Diagnostic::error("stray-character", message, span).help(help));
        }
    }
}

//! Text before it is split into tokens: what cannot be a program at all, and characters that begin no token.

use weir_ir::{Diagnostic, Source, Span};

use super::token::shown;
use crate::limits::MAX_SOURCE_BYTES;
use crate::sink::Sink;

/// More sequences of stray characters than this are reported in one message.
const MAX_STRAY: usize = 5;

/// Why a lexer cannot make a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum LexError {
    /// A character that begins no token.
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

/// Sequences of characters that begin no token.
#[derive(Default)]
pub(crate) struct StrayCharacters(Vec<Span>);

impl StrayCharacters {
    /// Adds a character; adjacent ones become one sequence.
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
            let text = source.slice(span);
            let help = match text.chars().next() {
                _ if text.chars().any(char::is_alphanumeric) => {
                    "names consist of the letters A to Z and a to z, digits and `_`"
                }
                Some('#') if extension == ".weir" => {
                    "comments begin with `//`; if this is C, docs/from-code.md says how to write a model of it"
                }
                Some('$') if extension == ".weir" => {
                    "remove it; if this is assembly, docs/from-code.md says how to write a model of it"
                }
                _ => "remove it",
            };
            sink.error(unexpected_characters("stray-character", text, span).help(help));
        }
    }
}

/// The error about characters that begin no token.
pub(crate) fn unexpected_characters(code: &'static str, text: &str, span: Span) -> Diagnostic {
    let plural = if text.chars().count() == 1 { "" } else { "s" };
    Diagnostic::error(code, format!("unexpected character{plural} `{}`", shown(text, 20)), span)
}

/// The error about a comment without an end, at the two characters that open it.
pub(crate) fn unterminated_comment(comment: Span, help: &str) -> Diagnostic {
    let opening = Span { start: comment.start, end: comment.start + 2 };
    Diagnostic::error("unterminated-comment", "this comment is never closed", opening).label("opened here").help(help)
}

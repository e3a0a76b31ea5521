//! Text to tokens: whatever stands between blanks. The language has no other rule for names.

use weir_ir::{Source, Span};

use crate::parsing::{self, TokenKind};

/// More characters of a name than this are left out of messages: any token can be a name, however long.
const MAX_SHOWN: usize = 40;

/// What a token can begin where something begins. Elsewhere, any token can be a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Thread,
    Initial,
    Final,
    Transition,
    End,
    MemorySize,
    /// A comment, up to the end of the line.
    Comment,
    /// Nothing of its own.
    Other,
    /// What follows the last token.
    Eof,
}

/// Tokens that begin something, and their kinds.
const DIRECTIVES: [(&str, Kind); 6] = [
    ("thread", Kind::Thread),
    ("initial", Kind::Initial),
    ("final", Kind::Final),
    ("transition", Kind::Transition),
    ("end", Kind::End),
    ("memory_size", Kind::MemorySize),
];

/// The texts of all directives.
pub(super) fn directives() -> impl Iterator<Item = &'static str> {
    DIRECTIVES.into_iter().map(|(text, _)| text)
}

impl Kind {
    fn of(text: &str) -> Self {
        match DIRECTIVES.into_iter().find(|(directive, _)| *directive == text) {
            Some((_, kind)) => kind,
            None if text.starts_with('#') => Self::Comment,
            None => Self::Other,
        }
    }
}

impl TokenKind for Kind {
    const END: Self = Self::Eof;

    fn describe(self) -> String {
        match (self, DIRECTIVES.into_iter().find(|(_, kind)| *kind == self)) {
            (_, Some((text, _))) => format!("`{text}`"),
            (Self::Eof, _) => "the end of the file".into(),
            (Self::Comment, _) => "a comment".into(),
            _ => "a name".into(),
        }
    }
}

/// A token of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    pub(super) span: Span,
    /// Whether it is the first one on its line.
    pub(super) starts_line: bool,
}

impl Token<'_> {
    /// Whether it is a directive or comment at the start of a line. Any token can be a name, but such a token is hardly
    /// meant as the operand that the line before lacks.
    pub(super) fn is_line_of_its_own(self) -> bool {
        self.starts_line && self.kind != Kind::Other
    }
}

impl parsing::Token for Token<'_> {
    type Kind = Kind;

    fn kind(self) -> Kind {
        self.kind
    }

    fn span(self) -> Span {
        self.span
    }
}

/// The text of a token, as messages show it.
pub(super) fn shown(text: &str) -> String {
    parsing::shown(text, MAX_SHOWN)
}

/// Splits a source into tokens. The second result follows the last one.
pub(super) fn lex(source: &Source) -> (Vec<Token<'_>>, Token<'_>) {
    let text = source.text();
    let mut tokens = Vec::new();
    // Some editors put a byte order mark before the text; it is not part of the first token.
    let marked = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut start = text.len() - marked.len();
    for line in marked.split_inclusive(['\n', '\r']) {
        let mut starts_line = true;
        for text in line.split([' ', '\t', '\n', '\r', '\x0b', '\x0c']).filter(|text| !text.is_empty()) {
            let at = start + (text.as_ptr() as usize - line.as_ptr() as usize);
            tokens.push(Token { kind: Kind::of(text), text, span: Span::new(at, at + text.len()), starts_line });
            starts_line = false;
        }
        start += line.len();
    }
    let end = Token { kind: Kind::Eof, text: "", span: Span::new(text.len(), text.len()), starts_line: true };
    (tokens, end)
}

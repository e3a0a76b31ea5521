//! The tokens of `.spec` files.

use weir_ir::{Diagnostic, Poll, Source, Span};

use crate::limits::MAX_NAME_BYTES;
use crate::parsing::raw_text::{LexError, StrayCharacters, unreadable};
use crate::parsing::{Lexical, Spanned, name_too_long, split, token_kinds};
use crate::sink::Sink;

token_kinds! {
    /// The kind of a token.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) enum Kind {
        Vars "vars" Rules "rules" Init "init" Target "target" Invariants "invariants" In "in" True "true"
        AtLeast ">=" Equal "=" Arrow "->" Comma "," Semicolon ";" Prime "'" Plus "+" Minus "-"
        OpenBracket "[" CloseBracket "]"
        // These are no part of the language: messages say what is expected instead.
        Greater ">" Less "<" AtMost "<=";

        Name => "the name of a variable",
        Number => "a number",
        Comment => "a comment",
    }
}

/// A token.
pub(super) type Token = Spanned<Kind>;

impl Lexical for Kind {
    const NAME: Self = Self::Name;
    const NUMBER: Self = Self::Number;

    fn fixed(text: &str) -> Option<Self> {
        Self::with_text(text)
    }

    fn is_blank(character: char) -> bool {
        matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0B' | '\x0C' | '\u{FEFF}')
    }

    /// A comment goes to the end of the line.
    fn other(rest: &str) -> Option<(Result<Self, LexError>, usize)> {
        rest.starts_with('#').then(|| (Ok(Self::Comment), rest.find('\n').unwrap_or(rest.len())))
    }
}

/// Splits a source into tokens, without comments, until the poll is over; or reports what in it is not a token.
pub(super) fn lex(source: &Source, poll: &Poll<'_>) -> Result<Vec<Token>, Vec<Diagnostic>> {
    let text = source.text();
    if let Some(problem) = unreadable(text, ".spec") {
        return Err(vec![problem]);
    }
    let mut sink = Sink::default();
    let mut stray = StrayCharacters::default();
    let mut tokens = Vec::new();
    for (kind, range) in split::<Kind>(text).take_while(|_| !poll.is_over()) {
        let span = Span::new(range.start, range.end);
        match kind {
            Ok(Kind::Comment) => {}
            Ok(kind) => {
                if kind == Kind::Name && range.len() > MAX_NAME_BYTES {
                    sink.error(name_too_long(span));
                }
                tokens.push(Token { kind, span });
            }
            Err(LexError::Stray | LexError::OpenComment) => stray.push(span),
        }
    }
    stray.report(source, ".spec", &mut sink);
    sink.finish().map(|_| tokens)
}

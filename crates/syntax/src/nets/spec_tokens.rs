//! The tokens of `.spec` files.

use logos::Logos;
use weir_ir::{Diagnostic, Poll, Source, Span};

use crate::limits::MAX_NAME_BYTES;
use crate::parsing::raw_text::{LexError, StrayCharacters, unreadable};
use crate::parsing::{Spanned, name_too_long, token_kinds};
use crate::sink::Sink;

token_kinds! {
    /// The kind of a token.
    #[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
    #[logos(error = LexError)]
    #[logos(skip r"[ \t\r\n\x0B\x0C\u{FEFF}]+")]
    pub(super) enum Kind {
        Vars "vars" Rules "rules" Init "init" Target "target" Invariants "invariants" In "in" True "true"
        AtLeast ">=" Equal "=" Arrow "->" Comma "," Semicolon ";" Prime "'" Plus "+" Minus "-"
        OpenBracket "[" CloseBracket "]"
        // These are no part of the language: messages say what is expected instead.
        Greater ">" Less "<" AtMost "<=";

        #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
        Name => "the name of a variable",
        // Digits with letters after them are one token, so that `12ab` is one bad number.
        #[regex(r"[0-9][A-Za-z0-9_]*")]
        Number => "a number",
        #[token("#", skip_line)]
        Comment => "a comment",
    }
}

/// A token.
pub(super) type Token = Spanned<Kind>;

/// Moves to the end of the line.
fn skip_line(lexer: &mut logos::Lexer<Kind>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find('\n').unwrap_or(rest.len()));
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
    for (kind, range) in Kind::lexer(text).spanned().take_while(|_| !poll.is_over()) {
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

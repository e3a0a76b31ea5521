//! Tokens of a litmus test: one lexer for the initial state, the code and the condition.

use weir_ir::{Diagnostic, Poll, Source, Span, Value};

use super::Refused;
use crate::parsing::raw_text::unexpected_characters;
use crate::parsing::{Spanned, TokenKind};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A name: of a cell, a register, an instruction, a label, a type, a keyword.
    Name,
    /// `12`, `-3`, `0x1f`.
    Number(Value),
    /// `$12`: an immediate.
    Immediate(Value),
    /// `$x`: the address of a cell as an immediate.
    ImmediateName,
    /// `%rax`, `%r1`.
    Register,
    Semicolon,
    Comma,
    Bar,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Colon,
    Ampersand,
    Star,
    Equal,
    NotEqual,
    And,
    Or,
    Not,
    Implies,
    /// The end of the test.
    End,
}

impl TokenKind for Kind {
    const END: Self = Self::End;

    fn describe(self) -> String {
        match self {
            Self::Name => "a name".to_owned(),
            Self::Number(_) => "a number".to_owned(),
            Self::Immediate(_) | Self::ImmediateName => "an immediate".to_owned(),
            Self::Register => "a register".to_owned(),
            Self::End => "the end of the test".to_owned(),
            fixed => {
                let text = PUNCTUATION.iter().find(|(_, kind)| *kind == fixed).map_or("", |(text, _)| text);
                format!("`{text}`")
            }
        }
    }
}

/// A token of the source.
pub(super) type Token = Spanned<Kind>;

/// Punctuation, longest first.
const PUNCTUATION: [(&str, Kind); 22] = [
    ("/\\", Kind::And),
    ("\\/", Kind::Or),
    ("=>", Kind::Implies),
    ("==", Kind::Equal),
    ("!=", Kind::NotEqual),
    ("<>", Kind::NotEqual),
    (";", Kind::Semicolon),
    (",", Kind::Comma),
    ("|", Kind::Bar),
    ("(", Kind::LeftParen),
    (")", Kind::RightParen),
    ("[", Kind::LeftBracket),
    ("]", Kind::RightBracket),
    ("{", Kind::LeftBrace),
    ("}", Kind::RightBrace),
    (":", Kind::Colon),
    ("&", Kind::Ampersand),
    ("*", Kind::Star),
    ("=", Kind::Equal),
    ("~", Kind::Not),
    // Some collections write these for the operators above.
    ("\u{2227}", Kind::And),
    ("\u{2228}", Kind::Or),
];

/// The tokens from `start` on, up to the end of the source or the commands in `<<` `>>` that old tests carry. The
/// second result follows the last token.
pub(super) fn lex(source: &Source, start: usize, poll: &Poll<'_>) -> Result<(Vec<Token>, Token), Refused> {
    let mut lexer = Lexer { text: source.text(), at: start };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        if token.kind == Kind::End || poll.is_over() {
            return Ok((tokens, token));
        }
        tokens.push(token);
    }
}

/// Where a comment that starts at `start` ends. Comments nest.
pub(super) fn comment_end(text: &str, start: usize) -> Result<usize, Refused> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"(*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*)") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Ok(at);
            }
        } else {
            at += 1;
        }
    }
    let error = Diagnostic::error("unclosed-comment", "this comment is not closed", Span::new(start, start + 2));
    Err(error.help("comments are written `(* like this *)`, and nest").into())
}

struct Lexer<'s> {
    text: &'s str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Result<Token, Refused> {
        self.skip_blanks()?;
        let start = self.at;
        let rest = self.rest();
        if rest.is_empty() || rest.starts_with("<<") {
            return Ok(Token { kind: Kind::End, span: Span::new(start, start) });
        }
        let kind = self.kind()?;
        Ok(Token { kind, span: Span::new(start, self.at) })
    }

    fn skip_blanks(&mut self) -> Result<(), Refused> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            if self.rest().starts_with("(*") {
                self.at = comment_end(self.text, self.at)?;
            } else if blank == 0 {
                return Ok(());
            }
        }
    }

    fn kind(&mut self) -> Result<Kind, Refused> {
        let first = self.rest().chars().next().unwrap_or(' ');
        let second = self.rest().chars().nth(1).unwrap_or(' ');
        match first {
            '0'..='9' => Ok(Kind::Number(self.number()?)),
            '-' if second.is_ascii_digit() => Ok(Kind::Number(self.number()?)),
            '$' if second.is_ascii_digit() || second == '-' => {
                self.at += 1;
                Ok(Kind::Immediate(self.number()?))
            }
            '$' | '%' if is_name_start(second) => {
                self.at += 1;
                self.name();
                Ok(if first == '$' { Kind::ImmediateName } else { Kind::Register })
            }
            _ if is_name_start(first) => {
                self.name();
                Ok(Kind::Name)
            }
            _ => self.punctuation(first),
        }
    }

    fn punctuation(&mut self, first: char) -> Result<Kind, Refused> {
        if let Some((text, kind)) = PUNCTUATION.iter().find(|(text, _)| self.rest().starts_with(text)) {
            self.at += text.len();
            return Ok(*kind);
        }
        let span = Span::new(self.at, self.at + first.len_utf8());
        let error = unexpected_characters("unknown-character", &self.text[span.range()], span);
        Err(error.help("remove it, or put it in a comment `(* … *)`").into())
    }

    /// Names hold `/`, `.` and `-` too, as those of the tools that write tests do; but `a/\b` is three tokens.
    fn name(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let next = bytes.get(self.at + 1).copied().unwrap_or(b' ');
            let inside = match byte {
                b'/' | b'-' => next.is_ascii_alphanumeric(),
                _ => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'),
            };
            if !inside {
                return;
            }
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<Value, Refused> {
        let start = self.at;
        let negative = self.rest().starts_with('-');
        self.at += usize::from(negative);
        let rest = self.rest();
        let len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let digits = &rest[..len];
        let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
            None => digits.parse::<u64>(),
        };
        self.at += len;
        // Unsigned constants up to 2^64 are written, too; what counts are the bits.
        let value = parsed.ok().and_then(|magnitude| match negative {
            false => Some(magnitude as Value),
            true => (magnitude <= 1 << 63).then(|| (magnitude as Value).wrapping_neg()),
        });
        let wrong = || {
            let span = Span::new(start, self.at);
            let written = &self.text[start..self.at];
            Diagnostic::error("bad-number", format!("`{written}` is not a 64-bit number"), span)
                .help("numbers are decimal (`12`) or hexadecimal (`0x1f`)")
        };
        value.ok_or_else(|| wrong().into())
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

//! Tokens: a kind and a span. A language whose tokens carry more has a type of its own.

use weir_ir::{Diagnostic, Span};

use crate::limits::MAX_NAME_BYTES;

/// The kinds of tokens of a language.
pub(crate) trait TokenKind: Copy + PartialEq {
    /// The kind of what follows the last token.
    const END: Self;

    /// How messages refer to tokens of this kind.
    fn describe(self) -> String;
}

/// A token of a source.
pub(crate) trait Token: Copy {
    /// The kinds of tokens that there are.
    type Kind: TokenKind;

    fn kind(self) -> Self::Kind;

    fn span(self) -> Span;
}

/// A token that is a kind and a span, and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spanned<K> {
    pub(crate) kind: K,
    pub(crate) span: Span,
}

impl<K: TokenKind> Token for Spanned<K> {
    type Kind = K;

    fn kind(self) -> K {
        self.kind
    }

    fn span(self) -> Span {
        self.span
    }
}

/// Finds a text among some by its first byte: most words are names, and begin as few texts do.
pub(crate) struct Index<const N: usize> {
    /// For each byte the last text that begins with it, counted from 1; 0 if none does.
    last: [u8; 128],
    /// For each text the one before it that begins with the same byte.
    before: [u8; N],
}

impl<const N: usize> Index<N> {
    pub(crate) const fn of(texts: &[&str]) -> Self {
        assert!(N <= 255, "positions take a byte");
        let mut index = Self { last: [0; 128], before: [0; N] };
        let mut at = 0;
        while at < N {
            let first = texts[at].as_bytes()[0] as usize;
            index.before[at] = index.last[first];
            at += 1;
            index.last[first] = at as u8;
        }
        index
    }

    pub(crate) fn find(&self, texts: &[&str], text: &str) -> Option<usize> {
        let first = *text.as_bytes().first()?;
        let mut at = *self.last.get(usize::from(first))?;
        loop {
            let candidate = usize::from(at).checked_sub(1)?;
            if texts[candidate] == text {
                return Some(candidate);
            }
            at = self.before[candidate];
        }
    }
}

/// Declares the kinds of tokens of a language: those with a fixed text by that text, all others by how messages refer to
/// them. The kind `Eof` follows the last token.
macro_rules! token_kinds {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $kind:ident {
            $($name:ident $text:tt)*;
            $($other:ident => $description:literal,)*
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $kind {
            $($name,)*
            $($other,)*
            /// What follows the last token.
            Eof,
        }

        /// The texts of all kinds that have just one, in the order of [`FIXED`]($kind::FIXED).
        const TEXTS: &[&str] = &[$($text),*];

        impl $kind {
            /// All kinds that have just one text.
            $visibility const FIXED: &'static [Self] = &[$(Self::$name),*];

            /// The text, for kinds that have just one.
            $visibility fn text(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($text),)*
                    $(Self::$other)|* | Self::Eof => None,
                }
            }

            /// The kind that has this text, and no other.
            fn with_text(text: &str) -> Option<Self> {
                static INDEX: $crate::parsing::Index<{ TEXTS.len() }> = $crate::parsing::Index::of(TEXTS);
                INDEX.find(TEXTS, text).map(|at| Self::FIXED[at])
            }

            /// Whether it is a keyword: no token of this kind can be a name.
            #[allow(dead_code)] // Not every language has messages about keywords.
            $visibility fn is_keyword(self) -> bool {
                self.text().is_some_and(|text| text.starts_with(|first: char| first.is_ascii_lowercase()))
            }
        }

        impl $crate::parsing::TokenKind for $kind {
            const END: Self = Self::Eof;

            fn describe(self) -> String {
                match self {
                    $(Self::$other => $description.into(),)*
                    Self::Eof => "the end of the file".into(),
                    fixed => format!("`{}`", fixed.text().unwrap_or_default()),
                }
            }
        }
    };
}
pub(crate) use token_kinds;

/// How messages refer to the token that was found, given its text.
pub(crate) fn found<K: TokenKind>(kind: K, text: &str) -> String {
    if kind == K::END { kind.describe() } else { format!("`{text}`") }
}

/// At most `length` characters of a text, as messages show it.
pub(crate) fn shown(text: &str, length: usize) -> String {
    text.chars().take(length).flat_map(char::escape_debug).collect()
}

/// The error about a name that is too long.
pub(crate) fn name_too_long(span: Span) -> Diagnostic {
    let error = Diagnostic::error("name-too-long", "this name is too long", span);
    error.help(format!("use at most {MAX_NAME_BYTES} characters"))
}

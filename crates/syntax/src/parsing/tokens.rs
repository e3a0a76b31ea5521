//! Text to tokens, by the kinds that a language declares ([`token_kinds`](super::token_kinds)).
//!
//! Names, numbers and the longest text of a kind are found here; what else begins a token, such as a comment, the
//! language says itself. A generated lexer would be faster, but reading text takes hardly any time, and the generator
//! (logos) brings eight crates along.

use std::ops::Range;

use super::TokenKind;
use super::raw_text::LexError;

/// The kinds of tokens of a language whose text can be split.
pub(crate) trait Lexical: TokenKind {
    const NAME: Self;
    const NUMBER: Self;

    /// The kind that always has this text, if there is one.
    fn fixed(text: &str) -> Option<Self>;

    /// Whether the character may stand between tokens. All that may are white space or marks of byte order.
    fn is_blank(character: char) -> bool;

    /// What begins here and is neither a name, nor a number, nor of a kind with a fixed text; and where it ends.
    fn other(rest: &str) -> Option<(Result<Self, LexError>, usize)>;
}

/// The longest text of punctuation, in any language.
const LONGEST_PUNCTUATION: usize = 3;

/// The tokens of a text, each with its place. What begins no token is an error, character by character.
pub(crate) fn split<K: Lexical>(text: &str) -> impl Iterator<Item = (Result<K, LexError>, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text[at..].trim_start_matches(K::is_blank);
        let start = text.len() - rest.len();
        let first = rest.chars().next()?;
        let (kind, length) = token(rest, first);
        at = start + length;
        Some((kind, start..at))
    })
}

/// The token that begins here, and its length.
fn token<K: Lexical>(rest: &str, first: char) -> (Result<K, LexError>, usize) {
    if is_in_word(first) {
        let length = rest.find(|character| !is_in_word(character)).unwrap_or(rest.len());
        let of_word = || K::fixed(&rest[..length]).unwrap_or(K::NAME);
        // Digits with letters after them are one token, so that `12ab` is one bad number.
        return (Ok(if first.is_ascii_digit() { K::NUMBER } else { of_word() }), length);
    }
    let punctuation = |length: usize| Some((Ok(K::fixed(rest.get(..length)?)?), length));
    let found = K::other(rest).or_else(|| (1..=LONGEST_PUNCTUATION).rev().find_map(punctuation));
    found.unwrap_or((Err(LexError::Stray), first.len_utf8()))
}

/// Whether names and numbers may contain the character.
pub(crate) fn is_in_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

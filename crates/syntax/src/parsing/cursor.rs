//! A position in a list of tokens.

use weir_ir::{Poll, Span};

use super::token::Token;

/// The tokens of a source, and how far a parser has got.
pub(crate) struct Cursor<'p, T> {
    tokens: &'p [T],
    /// What follows the last token.
    end: T,
    /// The number of tokens taken.
    at: usize,
    /// The depth of the construct that is being parsed.
    pub(super) nesting: usize,
    /// The position of the last error.
    failed_at: Option<usize>,
    poll: &'p Poll<'p>,
}

impl<'p, T: Token> Cursor<'p, T> {
    /// A cursor at the first token. `end` stands for all that follows the last one. Once the poll is over, there are no
    /// more tokens.
    pub(crate) fn new(tokens: &'p [T], end: T, poll: &'p Poll<'p>) -> Self {
        Self { tokens, end, at: 0, nesting: 0, failed_at: None, poll }
    }

    /// The number of tokens taken.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The token `distance` tokens after the next one.
    pub(crate) fn ahead(&self, distance: usize) -> T {
        self.tokens.get(self.at + distance).copied().unwrap_or(self.end)
    }

    /// The token taken `distance` tokens ago; the last one for a distance of 1.
    pub(crate) fn behind(&self, distance: usize) -> Option<T> {
        self.at.checked_sub(distance).and_then(|at| self.tokens.get(at)).copied()
    }

    /// The tokens taken since the cursor was at `start`.
    pub(crate) fn taken_since(&self, start: usize) -> &'p [T] {
        self.tokens.get(start..self.at).unwrap_or_default()
    }

    /// Takes the next token, if there is one.
    pub(crate) fn bump(&mut self) -> T {
        let token = self.ahead(0);
        self.at = (self.at + 1).min(self.tokens.len());
        if self.poll.is_over() {
            self.skip_rest();
        }
        token
    }

    /// Goes back to an earlier position.
    pub(crate) fn rewind(&mut self, position: usize) {
        self.at = position.min(self.at);
    }

    /// Skips all tokens that are left, and any further error.
    pub(crate) fn skip_rest(&mut self) {
        self.at = self.tokens.len();
        self.failed_at = Some(self.at);
    }

    /// Notes an error at the next token. Returns whether it is the first one there: one error per token is enough.
    pub(crate) fn is_first_failure(&mut self) -> bool {
        self.failed_at.replace(self.at) != Some(self.at)
    }

    /// From the start of `first` to the end of the last token taken.
    pub(crate) fn span_from(&self, first: Span) -> Span {
        first.to(self.behind(1).map_or(Span::default(), Token::span))
    }
}

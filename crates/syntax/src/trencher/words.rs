//! Text to words: whatever stands between blanks. The language knows no other rule for names.

use weir_ir::{Source, Span};

/// Words that begin something, where one is expected.
pub(super) const DIRECTIVES: [&str; 6] = ["thread", "initial", "final", "transition", "end", "memory_size"];

/// A word of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word<'s> {
    pub(super) text: &'s str,
    pub(super) span: Span,
    /// Whether it is the first one on its line.
    pub(super) starts_line: bool,
}

impl Word<'_> {
    /// Whether it begins something new. Any word can be a name, but a directive at the beginning of a line is
    /// hardly meant as the operand that the line before lacks.
    pub(super) fn begins_line_anew(&self) -> bool {
        self.starts_line && (DIRECTIVES.contains(&self.text) || self.is_comment())
    }

    /// Whether it begins a comment, where a directive could stand.
    pub(super) fn is_comment(&self) -> bool {
        self.text.starts_with('#')
    }
}

/// The words of a source, one after the other.
pub(super) struct Words<'s> {
    words: Vec<Word<'s>>,
    at: usize,
    end: Span,
}

impl<'s> Words<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        let text = source.text();
        let mut words = Vec::new();
        // Some editors put a mark of the encoding before the text; it is no part of the first word.
        let marked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut start = text.len() - marked.len();
        for line in marked.split_inclusive(['\n', '\r']) {
            let mut starts_line = true;
            for word in line.split([' ', '\t', '\n', '\r', '\x0b', '\x0c']).filter(|word| !word.is_empty()) {
                let at = start + (word.as_ptr() as usize - line.as_ptr() as usize);
                words.push(Word { text: word, span: Span::new(at, at + word.len()), starts_line });
                starts_line = false;
            }
            start += line.len();
        }
        Self { words, at: 0, end: Span::new(text.len(), text.len()) }
    }

    pub(super) fn peek(&self) -> Option<Word<'s>> {
        self.words.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<Word<'s>> {
        let word = self.peek();
        self.at += usize::from(word.is_some());
        word
    }

    /// Where the next word is, or the end of the text.
    pub(super) fn place(&self) -> Span {
        self.peek().map_or(self.end, |word| word.span)
    }

    /// The end of the last word that was taken.
    pub(super) fn previous(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.words.get(at)).map_or(Span::default(), |word| word.span)
    }

    /// Skips the rest of the line.
    pub(super) fn skip_line(&mut self) {
        self.next();
        while self.peek().is_some_and(|word| !word.starts_line) {
            self.next();
        }
    }

    /// Skips to the next directive at the beginning of a line.
    pub(super) fn skip_to_directive(&mut self) {
        while self.peek().is_some_and(|word| !word.begins_line_anew()) {
            self.next();
        }
    }
}

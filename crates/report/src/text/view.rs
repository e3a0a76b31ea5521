//! How much text to show.

/// How much of an answer to show, and how wide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The maximum width of lines that can be laid out in several ways, in characters.
    pub width: usize,
    /// Whether longer lines are broken between words, as is best for a terminal, which would break them anywhere.
    pub is_wrapped: bool,
    /// Whether to show only the answer, without explanations.
    pub is_quiet: bool,
    /// Whether to show statistics as well.
    pub is_verbose: bool,
}

//! A mutant: one small change of the source, and how it is written so that an environment variable can switch it on.

use std::ops::Range;

/// What `@` stands for in a template: the expression that tells whether the mutant is switched on.
pub(crate) const SWITCH: char = '@';

/// One small change of a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mutant {
    /// The file, relative to the workspace.
    pub(crate) file: String,
    /// The line where the change is.
    pub(crate) line: usize,
    /// The function, with the modules and types around it.
    pub(crate) function: String,
    /// What is changed into what, on one line.
    pub(crate) change: String,
    /// How many equal changes come before it in the same function: with file, function and change it names the mutant.
    pub(crate) repeat: usize,
    /// The bytes that are replaced; empty where something is inserted.
    pub(crate) range: Range<usize>,
    /// What takes their place, with [`SWITCH`] where the switch goes.
    pub(crate) template: String,
}

impl Mutant {
    /// A name that stays the same while other parts of the file change.
    pub(crate) fn name(&self) -> String {
        let repeat = if self.repeat == 0 { String::new() } else { format!(" #{}", self.repeat + 1) };
        format!("{}\t{}\t{}{repeat}", self.file, self.function, self.change)
    }

    /// Whether both cannot be in one text: the text of one would hold that of the other.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let touches = |range: &Range<usize>, at: usize| range.start <= at && at <= range.end;
        self.file == other.file && (touches(&self.range, other.range.start) || touches(&other.range, self.range.start))
    }
}

/// The text on one line, shortened.
pub(crate) fn one_line(text: &str) -> String {
    const LONGEST: usize = 60;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= LONGEST { words } else { words.chars().take(LONGEST).chain(['…']).collect() }
}

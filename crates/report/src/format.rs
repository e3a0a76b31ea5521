//! The list of output formats. A new format is one file or folder with a `render` function, one variant here, and its
//! line in each of these functions.

use crate::answer::{Answer, CommandName};
use crate::text::View;
use crate::{dot, herd, json, text};

/// An output format of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people.
    Text,
    /// For programs: one object per answer.
    Json,
    /// The happens-before graph of the run, for Graphviz.
    Dot,
    /// The log of a litmus test, as herd7 prints it.
    Herd,
}

impl Format {
    /// The formats that a command offers; the first is the default.
    pub fn of(command: CommandName) -> &'static [Self] {
        match command {
            CommandName::Check | CommandName::Reach | CommandName::Robust | CommandName::Replay => {
                &[Self::Text, Self::Json, Self::Dot]
            }
            CommandName::Fences
            | CommandName::Prob
            | CommandName::Cover
            | CommandName::Translate
            | CommandName::Fmt => &[Self::Text, Self::Json],
            CommandName::Litmus => &[Self::Text, Self::Json, Self::Herd],
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Dot => "dot",
            Self::Herd => "herd",
        }
    }

    /// What it is, in a line, where a command gives one answer per `unit`.
    pub fn description(self, unit: &str) -> String {
        match self {
            Self::Text => "Plain text".to_owned(),
            Self::Json => format!("One JSON object per {unit}"),
            Self::Dot => "The run's happens-before graph for Graphviz".to_owned(),
            Self::Herd => "A log in the format of herd7, for tools that compare such logs".to_owned(),
        }
    }

    /// The answer in this format. Only text depends on the view.
    pub fn render(self, answer: &Answer<'_>, view: &View) -> String {
        match self {
            Self::Text => text::render(answer, view),
            Self::Json => json::render(answer),
            Self::Dot => dot::render(answer),
            Self::Herd => herd::render(answer),
        }
    }
}

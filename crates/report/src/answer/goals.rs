//! The properties that an answer is about.

use serde::Serialize;
use weir_ir::{Diagnostic, Program, Span};
use weir_witness::Goal;

use super::diagnostic::DiagnosticRecord;
use super::judged::{self, Judged};
use super::subject::Subject;
use crate::run::Evidence;
use crate::wording::fault::fault;
use crate::wording::goal;

/// A property that was checked.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalRecord {
    /// The property as written, or which assertions.
    pub text: String,
    /// Its line.
    pub line: u32,
    /// The file that it stands in, and the line if it is one of the user's, for people.
    #[serde(skip)]
    pub(super) place: String,
}

impl GoalRecord {
    pub(super) fn new(program: &Program, goal: Goal) -> Self {
        Self { text: goal::text(program, goal), line: goal::line(program, goal), place: goal::place(program, goal) }
    }

    /// All of these properties.
    pub(super) fn all(program: &Program, goals: &[Goal]) -> Vec<Self> {
        goals.iter().map(|&goal| Self::new(program, goal)).collect()
    }

    /// The property that a run violates. An assertion is named by itself, not by its thread.
    pub(super) fn violated(program: &Program, found: &Evidence) -> Self {
        let goal = found.checked.goal();
        match (goal, found.checked.replay().events().last()) {
            (Goal::Assertion(thread), Some(event)) => {
                let written: Vec<&str> = program.source.slice(event.span).split_whitespace().collect();
                let fault = fault(program, event).map(|fault| format!("{fault}: ")).unwrap_or_default();
                let text = format!("{fault}{} in {}", written.join(" "), program.thread(thread).name);
                let (file, line) = (program.source.origin(event.span).0.name(), event.line(program));
                Self { text, line, place: format!("{file}:{line}") }
            }
            _ => Self::new(program, goal),
        }
    }
}

/// The violated property; else the only one that was checked.
pub(super) fn main_goal(program: &Program, judged: &Judged, goals: &[GoalRecord]) -> Option<GoalRecord> {
    match (judged::evidence(judged), goals) {
        (Some(evidence), _) => Some(GoalRecord::violated(program, evidence)),
        (None, [only]) => Some(only.clone()),
        (None, _) => None,
    }
}

/// The warnings of an answer about properties: also that there are none, if so.
pub(super) fn warnings(subject: &Subject<'_>, goals: &[Goal], judged: &Judged) -> Vec<DiagnosticRecord> {
    let mut records = subject.warnings(judged.as_ref().err().map(AsRef::as_ref));
    if goals.is_empty() {
        let message = "the program has no properties, so there was nothing to check";
        let warning = Diagnostic::warning("no-property", message, Span::default());
        records.push(DiagnosticRecord::new(&subject.program.source, &warning));
    }
    records
}

//! Answers for programs: the types of an answer serialize themselves.

use crate::answer::Answer;

/// The answer as one line of JSON.
pub(crate) fn render(answer: &Answer<'_>) -> String {
    let mut line = serde_json::to_string(answer).expect("all keys are strings, so every answer serializes");
    line.push('\n');
    line
}

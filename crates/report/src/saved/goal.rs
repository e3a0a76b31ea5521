//! What saved runs and certificates are about, as they name it.

use serde::{Deserialize, Serialize};
use weir_ir::{Program, PropertyId};
use weir_witness::Goal;

use super::mismatch::Mismatch;
use crate::wording::clean::clean;
use crate::wording::goal;

/// What the last state of a saved run violates.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SavedGoal {
    /// A property of the program.
    Property {
        /// Its number in the file, from 1.
        number: u32,
        /// The property as it is written.
        text: String,
    },
    /// A failed assertion.
    Assertion {
        /// Of this thread.
        thread: String,
    },
    /// No run under sequential consistency has the trace of this one.
    #[serde(rename = "not-robust")]
    NotRobust,
}

impl SavedGoal {
    /// The property as answers name it; as the file does if the program has no such property.
    pub fn text(&self, program: &Program) -> String {
        match (to_goal(program, self), self) {
            (Ok(goal), _) => goal::text(program, goal),
            (Err(_), Self::Property { text, .. }) => clean(text),
            (Err(_), Self::NotRobust) => goal::text(program, Goal::NotRobust),
            (Err(_), Self::Assertion { thread }) => format!("assertions of {}", clean(thread)),
        }
    }
}

/// A property as files name it.
pub(crate) fn to_saved_goal(program: &Program, goal: Goal) -> SavedGoal {
    match goal {
        Goal::Property(id) => SavedGoal::Property { number: id.0.saturating_add(1), text: canonical_text(program, id) },
        Goal::Assertion(thread) => SavedGoal::Assertion { thread: program.thread(thread).name.clone() },
        Goal::NotRobust => SavedGoal::NotRobust,
    }
}

/// A property in a form that does not depend on how it is laid out in the source.
fn canonical_text(program: &Program, id: PropertyId) -> String {
    program.properties.get(id.index()).map_or_else(String::new, |property| program.property_text(property))
}

/// The property of the program that a file names.
pub(crate) fn to_goal(program: &Program, saved: &SavedGoal) -> Result<Goal, Mismatch> {
    let mismatch = |reason: String| Mismatch::whole(reason);
    match saved {
        SavedGoal::Property { number, text } => {
            let index = number.checked_sub(1).filter(|&index| (index as usize) < program.properties.len());
            let index = index.ok_or_else(|| mismatch(format!("the program has no property number {number}")))?;
            let now = canonical_text(program, PropertyId(index));
            if now == *text {
                Ok(Goal::Property(PropertyId(index)))
            } else {
                let text = clean(text);
                Err(mismatch(format!("the file is for `{text}`, but property {number} of the program is `{now}`")))
            }
        }
        SavedGoal::NotRobust => Ok(Goal::NotRobust),
        SavedGoal::Assertion { thread } => {
            let found = program.thread_ids().find(|&id| program.thread(id).name == *thread);
            found.map(Goal::Assertion).ok_or_else(|| mismatch(format!("the program has no thread `{}`", clean(thread))))
        }
    }
}

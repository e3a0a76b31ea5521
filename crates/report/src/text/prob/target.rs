//! What is looked for.

use crate::answer::Odds;
use crate::wording::clean::clip;

/// The target, in a length that a person reads.
pub(crate) fn target(odds: &Odds<'_>) -> String {
    clip(&odds.subject.program.condition_text(odds.target), 200)
}

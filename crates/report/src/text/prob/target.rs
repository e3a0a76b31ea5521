//! What is looked for.

use weir::prob::Alternative;
use weir_ir::{Expr, Program, StateAtom};

use crate::answer::Odds;
use crate::wording::clean::clip;

/// The target, in a length that a person reads.
pub(crate) fn target(odds: &Odds<'_>) -> String {
    clip(&odds.target.text(odds.subject.program), 200)
}

/// The target as something that is reached: what assertions, deadlocks and hangs mean, in words, or the condition.
pub(crate) fn named(odds: &Odds<'_>) -> String {
    let program = odds.subject.program;
    let words = odds.target.alternatives().iter().map(|alternative| match alternative {
        Alternative::Deadlock => Some("a deadlock".to_owned()),
        Alternative::Stuck => Some("a state with a thread that is stuck".to_owned()),
        Alternative::Condition(Expr::Leaf(atom)) => failed_assertion(program, atom),
        Alternative::Condition(_) => None,
    });
    match words.collect::<Option<Vec<String>>>() {
        Some(words) if !words.is_empty() => clip(&words.join(" or "), 200),
        _ => format!("`{}`", target(odds)),
    }
}

/// A failed assertion in words, if the atom says that there is one.
fn failed_assertion(program: &Program, atom: &StateAtom) -> Option<String> {
    let StateAtom::At { thread, locations } = atom else { return None };
    let is_failed = program.body(*thread).failed.is_some_and(|failed| *locations == [failed]);
    is_failed.then(|| format!("a failed assertion of {}", program.thread(*thread).name))
}

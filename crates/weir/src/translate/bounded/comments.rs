//! What the text of a translated program says about itself: which bound it is for, what its registers stand for, and
//! what the code does that is not the original's.

use weir_ir::{Comments, Program};

use super::RunBound;

/// The labels of common code, and what it does.
const CODE: [(&str, &str); 9] = [
    ("begin_round", "A round begins."),
    ("flush", "Stores that were kept back until now reach memory."),
    ("moved", "The others now wait for one round less."),
    ("look", "The view is set anew: what memory holds, and over that what is kept back, oldest first."),
    ("go_on", "Back to where the thread was."),
    ("find", "Loads from the cell at `address`."),
    ("found", "What it holds is in `value`."),
    ("put", "Stores `value` to the cell at `address`: now, or in a later round."),
    ("put_done", "Back to where the thread was."),
];

/// What labels of common code end in, so that they are none of the program's own.
pub(super) fn suffix(program: &Program) -> String {
    let threads = || program.threads.iter().map(|thread| &thread.body);
    let procedures = || program.procedures.iter().map(|procedure| &procedure.body);
    let locations = || threads().chain(procedures()).flat_map(|body| &body.locations);
    let is_taken = |suffix: &str| {
        let is_one = |label: &String| CODE.iter().any(|(name, _)| label.strip_prefix(name) == Some(suffix));
        locations().any(|location| location.labels.iter().any(is_one))
    };
    let mut suffix = String::new();
    while is_taken(&suffix) {
        suffix.push('_');
    }
    suffix
}

/// The comments for a program.
pub(super) fn comments(bound: RunBound, suffix: &str, pending: Option<&str>, calls: bool) -> Comments {
    let number = bound.number();
    let plural = if number == 1 { "" } else { "s" };
    let runs = match bound {
        RunBound::Rounds(_) => format!("runs with at most {number} round{plural} per thread"),
        RunBound::Age(_) => format!("runs in which stores wait for at most {number} round{plural} of their thread"),
    };
    let mut header = vec![
        format!("Made by `weir translate --pass {}={number}`. What this program does under SC, the", bound.name()),
        format!("original does under TSO in {runs}."),
        "In a round only one thread steps: here it is a section under the lock, from `lock` to `unlock`.".to_owned(),
        String::new(),
        "Registers that each thread has as far as it needs them:".to_owned(),
    ];
    if calls {
        let at = header.len() - 1;
        header[at] =
            "Registers that each thread has as far as it needs them (thread-local variables, if it calls".to_owned();
        header.push("procedures: `begin_round` then starts a round, and `look` sets the view):".to_owned());
    }
    let mut line = |name: &str, what: &str| header.push(format!("  {name:9} {what}"));
    line("view_x", "what the thread reads from `x`: its newest store, or else what memory holds");
    line("mask1_x", "1 if a store to `x` is kept back until the next round; mask2_x: until the one after it; ...");
    line("queue1_x", "the value of the last store to `x` that is kept back until then");
    line("ahead", "in how many rounds the last of all stores reaches memory; 0 if nothing is kept back");
    if matches!(bound, RunBound::Rounds(_)) {
        line("round", "the number of the current round");
    }
    line("held", "1 while the thread holds the lock of the original");
    let resume = if calls {
        "where common code goes on, or 1 in the middle of a step; else 0"
    } else {
        "where common code goes on; 0 in the thread's own code"
    };
    line("resume", resume);
    line("address", "and `value`: a cell whose address is computed, and what is stored there or loaded from there");
    if let Some(name) = pending {
        header.push(format!("The cell `{name}` counts the threads that keep stores back, for `membarrier`."));
    }
    header.push(String::new());
    header.push(
        "Between two rounds a thread is at a place named `paused` (or `L_paused`, for the label L of the".to_owned(),
    );
    header.push(
        "original), after the last one `stopped`, and at its end `ended`; `holding` if it keeps the lock.".to_owned(),
    );
    let labels = CODE.iter().map(|(label, what)| (format!("{label}{suffix}"), (*what).to_owned())).collect();
    Comments { header, labels }
}

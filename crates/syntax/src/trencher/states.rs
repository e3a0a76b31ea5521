//! States that look misspelt. Any token can be a state, and Trencher declares each one at its first use.

use std::collections::HashSet;

use weir_ir::{Body, Diagnostic, LocId, Span, nearest};

use crate::sink::Sink;

/// Reports an initial state that no transition leaves, as the thread would never run, and warns of states that
/// transitions leave but none enters: probably a typing error, but there are useful programs with such a state.
pub(super) fn check(name: &str, body: &Body, initial: Span, sink: &mut Sink) {
    let edges = body.edges();
    let led_to: HashSet<LocId> = edges.iter().filter(|edge| edge.from != edge.to).map(|edge| edge.to).collect();
    let sources: HashSet<LocId> = edges.iter().map(|edge| edge.from).collect();
    let label = |loc: LocId| body.locations[loc.index()].labels[0].as_str();
    if !edges.is_empty() && !sources.contains(&body.entry) {
        let state = label(body.entry);
        let message = format!("no transition leaves `{state}`, so thread `{name}` does nothing");
        let error = Diagnostic::error("unknown-state", message, initial);
        let mut starts: Vec<LocId> = sources.iter().copied().filter(|loc| !led_to.contains(loc)).collect();
        starts.sort_unstable();
        let guess = nearest(state, sources.iter().map(|&loc| label(loc))).or(starts.first().map(|&loc| label(loc)));
        let help = guess.map_or("name a state that has outgoing transitions".to_string(), |guess| {
            format!("did you mean `{guess}`?")
        });
        sink.error(error.help(help));
        return;
    }
    let states = || body.location_ids().map(label);
    let dead_ends: Vec<&str> = led_to.iter().filter(|loc| !sources.contains(loc)).map(|&loc| label(loc)).collect();
    for loc in body.location_ids() {
        if sources.contains(&loc) && !led_to.contains(&loc) && loc != body.entry {
            let state = label(loc);
            let message = format!("no transition leads to `{state}`");
            let warning = Diagnostic::warning("unreached-state", message, body.locations[loc.index()].span);
            let help = match (nearest(state, dead_ends.iter().copied()), meant(state, states())) {
                (Some(guess), _) => format!("did you mean `{guess}`, which has no outgoing transitions?"),
                (None, Some(guess)) => format!("did you mean `{guess}`?"),
                (None, None) => "check the spelling, here and where transitions should lead to it".to_string(),
            };
            sink.warning(warning.label("never reached").help(help));
        }
    }
    for loc in body.location_ids().filter(|&loc| loc != body.entry && !sources.contains(&loc)) {
        let uses = edges.iter().filter(|edge| edge.to == loc).count();
        let with_transitions = states().filter(|other| sources.iter().any(|&source| label(source) == *other));
        if uses == 1
            && let Some(guess) = meant(label(loc), with_transitions)
        {
            let message = format!("no transition leaves `{}`, and only this one leads to it", label(loc));
            let warning = Diagnostic::warning("misspelt-state", message, body.locations[loc.index()].span);
            sink.warning(warning.help(format!("did you mean `{guess}`?")));
        }
    }
}

/// The state whose name is probably meant: it has other letters, not just another number or another case.
fn meant<'s>(state: &str, others: impl Iterator<Item = &'s str>) -> Option<&'s str> {
    let letters = |name: &str| -> String {
        name.chars().filter(|letter| letter.is_alphabetic()).flat_map(char::to_lowercase).collect()
    };
    let own = letters(state);
    // Where names have few letters, a different letter makes a different name.
    if own.chars().count() < FEWEST_LETTERS {
        return None;
    }
    nearest(state, others.filter(|other| letters(other) != own))
}

/// Names of fewer letters are never taken for misspelt ones.
const FEWEST_LETTERS: usize = 4;

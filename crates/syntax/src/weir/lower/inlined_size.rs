//! How large bodies will be at least once procedures are inlined and threads replicated, counted before any of it is
//! built: each of forty procedures that calls the one before twice asks for more than any machine has.

use super::super::sink::Sink;
use super::check::Facts;
use super::names::{Global, Globals};
use super::size::{Size, too_large};

/// Sets the sizes of all procedures with what they inline. `groups` has them in an order in which those that are called
/// come first.
pub(super) fn measure(globals: &mut Globals, groups: &[Vec<usize>]) {
    for &procedure in groups.iter().flatten() {
        globals.procedures[procedure].size = inlined(globals, &globals.procedures[procedure].facts);
    }
}

/// The size of a body with all that it calls. A procedure that stays one is not inlined.
fn inlined(globals: &Globals, facts: &Facts) -> Size {
    let mut size = facts.size;
    for (name, _) in &facts.calls {
        if let Some(Global::Procedure(at)) = globals.get(name.text)
            && !globals.procedures[at].stays
        {
            size.add(globals.procedures[at].size);
        }
    }
    size
}

/// Whether the program stays within the limits as far as sizes tell; else that is reported.
pub(super) fn fits(globals: &Globals, sink: &mut Sink) -> bool {
    let oversized = globals.procedures.iter().find(|procedure| procedure.size.is_too_large());
    if let Some(procedure) = oversized {
        sink.error(too_large(procedure.declaration.span));
        return false;
    }
    let mut total = Size::default();
    for (family, facts) in globals.families.iter().zip(&globals.thread_facts) {
        total.add(inlined(globals, facts).times(family.threads().count()));
        if total.is_too_large() {
            sink.error(too_large(family.declaration.span));
            return false;
        }
    }
    true
}

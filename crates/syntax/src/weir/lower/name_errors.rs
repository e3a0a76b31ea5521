//! Messages about names: declared twice, or not at all.

use weir_ir::{Diagnostic, Span, nearest};

use super::super::ast::Name;
use super::super::sink::Sink;

/// The error for a name that is declared twice.
pub(super) fn duplicate(name: Name, first: &str, span: Span) -> Diagnostic {
    Diagnostic::error("duplicate-name", format!("`{}` is declared twice", name.text), name.span)
        .label("declared again here")
        .also(span, format!("first declared here, as {first}"))
        .help("rename one of them")
}

/// The code of the error about a name that is not declared.
pub(super) const UNKNOWN: &str = "unknown-name";

/// Reports a name that is not declared, and suggests a similar one if there is one.
pub(super) fn report_unknown<'n>(
    sink: &mut Sink,
    what: &str,
    name: Name,
    candidates: impl FnOnce() -> Vec<&'n str>,
    otherwise: &str,
) {
    let candidates = if sink.wants(UNKNOWN, name.span) { candidates() } else { Vec::new() };
    let error = Diagnostic::error(UNKNOWN, format!("there is no {what} `{}`", name.text), name.span);
    sink.error(match near(name.text, &candidates) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(otherwise),
    });
}

/// The candidate that was probably meant. Long names and long lists are not worth the search.
pub(super) fn near<'n>(name: &str, candidates: &[&'n str]) -> Option<&'n str> {
    const MAX_LENGTH: usize = 40;
    const MAX_CANDIDATES: usize = 1000;
    // Any two names of one or two letters are near each other, which says nothing.
    if !(3..=MAX_LENGTH).contains(&name.len()) {
        return candidates.iter().copied().find(|candidate| candidate.eq_ignore_ascii_case(name));
    }
    let likely = candidates.iter().copied().filter(|candidate| candidate.len() <= MAX_LENGTH);
    nearest(name, likely.take(MAX_CANDIDATES))
}

/// A list for messages: `` `a`, `b` and 3 more ``.
pub(super) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    match shown.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => "none".into(),
    }
}

//! The sink of diagnostics: each problem once, in order of the source, and not too many.

use std::collections::HashSet;

use weir_ir::sort::sort_by_key;
use weir_ir::{Diagnostic, Span};

use crate::limits::MAX_ERRORS;

/// Errors beyond this many are only counted, so that a file full of errors costs little.
const MAX_KEPT: usize = 200;

/// Collects errors and warnings.
#[derive(Default)]
pub(crate) struct Sink {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    // A replicated thread or a procedure that is inlined repeats its errors at the same place.
    seen: HashSet<(&'static str, Span)>,
    dropped: usize,
    taken: usize,
}

impl Sink {
    /// Takes an error, unless the same kind of error was reported at the same place.
    pub(crate) fn error(&mut self, error: Diagnostic) {
        self.taken += 1;
        if self.errors.len() >= MAX_KEPT {
            self.dropped += 1;
        } else if self.seen.insert((error.code, error.primary.span)) {
            self.errors.push(error);
        }
    }

    /// Whether an error of this kind at this place would be kept. Worth asking before working out a message.
    pub(crate) fn wants(&self, code: &'static str, span: Span) -> bool {
        self.errors.len() < MAX_KEPT && !self.seen.contains(&(code, span))
    }

    /// Takes a warning, unless the same kind of warning was given at the same place.
    pub(crate) fn warning(&mut self, warning: Diagnostic) {
        if self.warnings.len() < MAX_KEPT && self.seen.insert((warning.code, warning.primary.span)) {
            self.warnings.push(warning);
        }
    }

    /// How many errors there were, repeated ones too.
    pub(crate) fn errors(&self) -> usize {
        self.taken
    }

    /// Whether there were errors.
    pub(crate) fn failed(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The warnings in order of the source, if there were no errors; else the errors.
    pub(crate) fn finish(mut self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        if self.errors.is_empty() {
            sort_by_key(&mut self.warnings, |warning| warning.primary.span);
            return Ok(self.warnings);
        }
        sort_by_key(&mut self.errors, |error| error.primary.span);
        if self.errors.len() > MAX_ERRORS {
            let more = self.errors.len() - MAX_ERRORS + self.dropped;
            let rest = self.errors.split_off(MAX_ERRORS);
            let span = rest.first().map_or(Span::default(), |error| error.primary.span);
            let plural = if more == 1 { "" } else { "s" };
            self.errors.push(
                Diagnostic::error("too-many-errors", format!("and {more} more error{plural}"), span)
                    .label("the next one is here"),
            );
        }
        Err(self.errors)
    }
}

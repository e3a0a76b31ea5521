//! What an over-approximation can say nothing about.

use weir_ir::{Diagnostic, Span};
use weir_witness::Model;

use super::super::Options;
use crate::verdict::Failure;

/// Refuses questions that make no sense for an over-approximation of store buffers.
pub(super) fn unanswerable(options: &Options) -> Result<(), Failure> {
    if options.model != Model::Sc {
        return Ok(());
    }
    let what = format!("`{}` over-approximates store buffers, and SC has none", options.engine.name());
    let why = Diagnostic::error("no-buffers", what, Span::default()).help("use `--engine explicit`");
    Err(Failure::Refused(Box::new(why)))
}

//! What an over-approximation can say nothing about.

use weir_ir::{Diagnostic, Program, PropertyKind, Span};
use weir_witness::{Goal, Model};

use super::super::{Engine, Options};
use crate::Failure;

/// Refuses questions that make no sense for an over-approximation of store buffers.
pub(super) fn unanswerable(program: &Program, options: &Options, goals: &[Goal]) -> Result<(), Failure> {
    if options.model == Model::Sc {
        let what =
            format!("the {} engine approximates store buffers, and there are none under SC", options.engine.name());
        return refused(Diagnostic::error("no-buffers", what, Span::default()).help("use the explicit engine"));
    }
    let deadlock = goals.iter().find_map(|goal| deadlock_at(program, *goal));
    deadlock.map_or(Ok(()), |span| refused(cannot_tell_stuck(options.engine, span)))
}

fn refused(diagnostic: Diagnostic) -> Result<(), Failure> {
    Err(Failure::Refused(Box::new(diagnostic)))
}

fn deadlock_at(program: &Program, goal: Goal) -> Option<Span> {
    let Goal::Property(property) = goal else { return None };
    let property = &program.properties[property.index()];
    matches!(property.kind, PropertyKind::ForbidDeadlock).then_some(property.span)
}

fn cannot_tell_stuck(engine: Engine, span: Span) -> Diagnostic {
    let what = format!("the {} engine lets more happen than can, so it cannot tell when nothing can", engine.name());
    Diagnostic::error("deadlock-approximated", what, span)
        .label("asks for states in which nothing can happen")
        .help("use the explicit engine for this one, and `--goal` to look for the other goals alone")
}

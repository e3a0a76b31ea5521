//! What an over-approximation can say nothing about.

use weir_ir::{Diagnostic, Program, PropertyKind, Span};
use weir_witness::{Goal, Model};

use super::super::{Engine, Options};
use crate::Failure;

/// Refuses questions that make no sense for an over-approximation of store buffers.
pub(super) fn unanswerable(program: &Program, options: &Options, goals: &[Goal]) -> Result<(), Failure> {
    if options.model == Model::Sc {
        let what = format!("`{}` over-approximates store buffers, and SC has none", options.engine.name());
        return refused(Diagnostic::error("no-buffers", what, Span::default()).help("use `--engine explicit`"));
    }
    let deadlock = goals.iter().find_map(|goal| deadlock_at(program, *goal));
    deadlock.map_or(Ok(()), |span| refused(cannot_decide_deadlocks(options.engine, span)))
}

fn refused(diagnostic: Diagnostic) -> Result<(), Failure> {
    Err(Failure::Refused(Box::new(diagnostic)))
}

fn deadlock_at(program: &Program, goal: Goal) -> Option<Span> {
    let Goal::Property(property) = goal else { return None };
    let property = &program.properties[property.index()];
    matches!(property.kind, PropertyKind::ForbidDeadlock).then_some(property.span)
}

fn cannot_decide_deadlocks(engine: Engine, span: Span) -> Diagnostic {
    let what = format!("`{}` over-approximates, so it cannot decide deadlocks", engine.name());
    Diagnostic::error("deadlock-approximated", what, span)
        .label("this property is about deadlocks")
        .help("use `--engine explicit` for this property, and select the others with `--goal`")
}

//! What `weir prob` needs to know of programs: which target is meant, and costs from a file.

use std::path::Path;

use weir_ir::{
    BinaryOp, CostRule, CostSubject, Diagnostic, Expr, Multiplicity, Program, PropertyKind, Source, Span, StateAtom,
    StateExpr, UnaryOp, Value,
};

use crate::costs::{CostFile, Form};
use crate::error::Error;

/// The target that an option names, or that of the program; and which of the program's properties it leaves out.
pub(crate) fn target(
    program: &Program,
    text: Option<&str>,
    option: &str,
) -> Result<(StateExpr, Vec<Diagnostic>), Error> {
    let Some(text) = text else { return default_target(program) };
    let source = Source::new(option, text);
    let condition = weir_syntax::weir::condition(program, &source).map_err(|errors| Error::Source(source, errors))?;
    Ok((condition, Vec::new()))
}

/// Everything that the program rules out or asks for: any of it. Also what of it cannot be looked for.
fn default_target(program: &Program) -> Result<(StateExpr, Vec<Diagnostic>), Error> {
    let at_end = |condition: StateExpr| all_done(program).map(|done| Expr::binary(BinaryOp::And, done, condition));
    let property = |kind: &PropertyKind| match kind {
        PropertyKind::Forbid(condition) => Some(condition.clone()),
        PropertyKind::Exists(condition) => at_end(condition.clone()),
        PropertyKind::Always(condition) => at_end(Expr::unary(UnaryOp::Not, condition.clone())),
        PropertyKind::ForbidDeadlock | PropertyKind::ForbidStuck | PropertyKind::Live(_) => None,
    };
    let properties = program.properties.iter().filter_map(|found| property(&found.kind));
    let failed = |thread| Some(StateAtom::At { thread, locations: vec![program.body(thread).failed?] });
    let assertions = program.thread_ids().filter_map(failed).map(Expr::Leaf);
    let target = properties.chain(assertions).reduce(|left, right| Expr::binary(BinaryOp::Or, left, right));
    let left_out = deadlocks_are_no_targets(program);
    match target {
        Some(target) => Ok((target, left_out.into_iter().collect())),
        None => Err(nothing_to_look_for(program, left_out)),
    }
}

/// How to name a deadlock.
const NAME_THE_PLACES: &str =
    "name the places where threads are blocked, as in `--target 'P0 at waiting && P1 at waiting'`";

/// Whether a thread can go on is nothing that conditions speak of.
fn deadlocks_are_no_targets(program: &Program) -> Option<Diagnostic> {
    let found = program.properties.iter().find(|found| found.kind == PropertyKind::ForbidDeadlock)?;
    let what = "a deadlock cannot be a target, so `forbid deadlock` is ignored";
    Some(Diagnostic::warning("deadlock-no-target", what, found.span).help(NAME_THE_PLACES))
}

fn nothing_to_look_for(program: &Program, left_out: Option<Diagnostic>) -> Error {
    match left_out {
        Some(Diagnostic { code, primary, .. }) => {
            let what = "a deadlock cannot be a target, and the program has no other property";
            let error = Diagnostic::error(code, what, primary.span).help(NAME_THE_PLACES);
            Error::Source(program.source.clone(), vec![error])
        }
        None => {
            let help = "give a target, as in `--target 'P0 at critical'`; `T at end` means that thread `T` is done";
            Error::input_with_help("the program has no property that can serve as the target", help)
        }
    }
}

/// All threads are done; `None` if one never is.
fn all_done(program: &Program) -> Option<StateExpr> {
    let present = program.thread_ids().filter(|&thread| program.thread(thread).multiplicity == Multiplicity::One);
    let done = present.map(|thread| {
        let body = program.body(thread);
        let locations = body.location_ids().filter(|&loc| body.is_done(loc)).collect();
        Expr::Leaf(StateAtom::At { thread, locations })
    });
    done.reduce(|left, right| Expr::binary(BinaryOp::And, left, right))
}

/// A step may be free.
const COST_FORM: Form = Form {
    lowest: 0,
    help: "write a kind of step (load, store, fence, rmw, lock, local) or a label, and its cost, as in `fence 20`",
};

/// Adds the rules of a file of costs to those of the program.
pub(crate) fn add_costs(program: &mut Program, path: Option<&Path>) -> Result<(), Error> {
    let Some(path) = path else { return Ok(()) };
    let file = CostFile::read(path, COST_FORM)?;
    for entry in &file.entries {
        let subject = subject(program, &entry.what).map_err(|reason| file.error(entry, &reason, COST_FORM.help))?;
        let cost = Value::try_from(entry.cost).unwrap_or(Value::MAX);
        program.costs.push(CostRule { subject, cost, span: Span::default() });
    }
    Ok(())
}

fn subject(program: &Program, what: &str) -> Result<CostSubject, String> {
    Ok(match what {
        "load" => CostSubject::Load,
        "store" => CostSubject::Store,
        "fence" => CostSubject::Fence,
        "rmw" => CostSubject::ReadModifyWrite,
        "lock" => CostSubject::Lock,
        "local" => CostSubject::Local,
        label if program.threads.iter().any(|thread| !thread.body.labelled(label).is_empty()) => {
            CostSubject::Label(label.to_owned())
        }
        other => return Err(format!("the program has no label `{other}`")),
    })
}

//! What `weir prob` needs to know about programs: which target is meant, and costs from a file.

use std::path::Path;

use weir::prob::{Alternative, Target};
use weir_ir::{
    BinaryOp, CostRule, CostSubject, Expr, Multiplicity, Program, PropertyKind, Source, Span, StateAtom, StateExpr,
    UnaryOp, Value,
};

use crate::costs::{CostFile, Form};
use crate::error::Error;

/// The target that an option names, or that of the program.
pub(crate) fn target(program: &Program, text: Option<&str>, option: &str) -> Result<Target, Error> {
    match text.map(str::trim) {
        None => default_target(program),
        Some("deadlock") => Ok(Target::any_of([Alternative::Deadlock])),
        Some("stuck") => Ok(Target::any_of([Alternative::Stuck])),
        Some(text) => {
            let source = Source::new(option, text);
            let condition = weir_syntax::weir::condition(program, &source);
            condition.map(Target::from).map_err(|errors| Error::Source(source, errors))
        }
    }
}

/// Everything that the program rules out or asks for: any of it.
fn default_target(program: &Program) -> Result<Target, Error> {
    let at_end = |condition: StateExpr| match all_done(program) {
        Some(done) => Expr::binary(BinaryOp::And, done, condition),
        None => condition,
    };
    let property = |kind: &PropertyKind| match kind {
        PropertyKind::Forbid(condition) => Some(Alternative::Condition(condition.clone())),
        PropertyKind::Exists(condition) => Some(Alternative::Condition(at_end(condition.clone()))),
        PropertyKind::Always(condition) => {
            Some(Alternative::Condition(at_end(Expr::unary(UnaryOp::Not, condition.clone()))))
        }
        PropertyKind::ForbidDeadlock => Some(Alternative::Deadlock),
        PropertyKind::ForbidStuck => Some(Alternative::Stuck),
        // No state shows it; ask whether it is met almost surely (`--repeated`).
        PropertyKind::Live(_) => None,
    };
    let properties = program.properties.iter().filter_map(|found| property(&found.kind));
    let failed = |thread| Some(StateAtom::At { thread, locations: vec![program.body(thread).failed?] });
    let assertions = program.running_threads().filter_map(failed).map(Expr::Leaf).map(Alternative::Condition);
    let target = Target::any_of(properties.chain(assertions));
    if target.alternatives().is_empty() {
        let help = "give a target, as in `--target 'P0 at critical'`, `--target deadlock` or `--target stuck`; `T at end` means that \
            thread `T` is done";
        return Err(Error::input_with_help("the program has no property that can serve as the target", help));
    }
    Ok(target)
}

/// All threads are done; `None` if there is no thread.
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

//! What `weir prob` needs to know of programs: which target is meant if none is named, and costs from a file; and
//! floating-point numbers around fractions.

use std::cmp::Ordering;
use std::path::Path;

use weir::prob::{Interval, RBig};
use weir_ir::{
    BinaryOp, CostRule, CostSubject, Diagnostic, Expr, Multiplicity, Program, PropertyKind, Span, StateAtom, StateExpr,
    UnaryOp, Value,
};

use crate::costs::{CostFile, Form};
use crate::trouble::Trouble;

/// Everything that the program rules out or asks for: any of it. Also what of it cannot be looked for.
pub(crate) fn default_target(program: &Program) -> Result<(StateExpr, Vec<Diagnostic>), Trouble> {
    let at_end = |condition: StateExpr| all_done(program).map(|done| Expr::binary(BinaryOp::And, done, condition));
    let property = |kind: &PropertyKind| match kind {
        PropertyKind::Forbid(condition) => Some(condition.clone()),
        PropertyKind::Exists(condition) => at_end(condition.clone()),
        PropertyKind::Always(condition) => at_end(Expr::unary(UnaryOp::Not, condition.clone())),
        PropertyKind::ForbidDeadlock => None,
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

fn nothing_to_look_for(program: &Program, left_out: Option<Diagnostic>) -> Trouble {
    match left_out {
        Some(Diagnostic { code, primary, .. }) => {
            let what = "a deadlock cannot be a target, and the program has no other property";
            let error = Diagnostic::error(code, what, primary.span).help(NAME_THE_PLACES);
            Trouble::Source(program.source.clone(), vec![error])
        }
        None => {
            let help = "give a target, as in `--target 'P0 at critical'`; `T at end` means that thread `T` is done";
            Trouble::input_with_help("the program has no property that can serve as the target", help)
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
pub(crate) fn add_costs(program: &mut Program, path: Option<&Path>) -> Result<(), Trouble> {
    let Some(path) = path else { return Ok(()) };
    let file = CostFile::read(path, COST_FORM)?;
    for entry in &file.entries {
        let subject = subject(program, &entry.what).map_err(|reason| file.trouble(entry, &reason, COST_FORM.help))?;
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

/// The floating-point numbers next to a fraction that is not below 0: itself twice if it is one.
pub(crate) fn around(value: &RBig) -> Interval {
    let nearest = value.to_f64().value();
    let compared = RBig::try_from(nearest).map(|nearest| nearest.cmp(value));
    match compared {
        Ok(Ordering::Equal) => Interval { lower: nearest, upper: nearest },
        Ok(Ordering::Less) => Interval { lower: nearest, upper: nearest.next_up() },
        Ok(Ordering::Greater) => Interval { lower: nearest.next_down().max(0.0), upper: nearest },
        // It is larger than any.
        Err(_) => Interval { lower: f64::MAX, upper: f64::INFINITY },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_around_a_fraction_are_next_to_each_other() {
        let third = RBig::from_parts(1.into(), 3_u8.into());
        for value in [third.clone(), RBig::from(2) * third, RBig::from(10).pow(-400), RBig::from(3).pow(100)] {
            let Interval { lower, upper } = around(&value);
            assert_eq!(lower.next_up(), upper);
            assert!(RBig::try_from(lower).is_ok_and(|lower| lower < value), "{value}");
            assert!(RBig::try_from(upper).is_ok_and(|upper| value < upper), "{value}");
        }
        assert_eq!(around(&RBig::from_parts(3.into(), 4_u8.into())), Interval { lower: 0.75, upper: 0.75 });
        assert_eq!(around(&RBig::ZERO), Interval { lower: 0.0, upper: 0.0 });
        assert_eq!(around(&RBig::from(10).pow(400)), Interval { lower: f64::MAX, upper: f64::INFINITY });
    }
}

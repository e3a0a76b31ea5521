//! What `weir prob` needs to know of programs: which target is meant if none is named, and costs from a file.

use std::path::Path;

use weir_ir::{
    BinaryOp, CostRule, CostSubject, Expr, Multiplicity, Program, PropertyKind, Span, StateAtom, StateExpr, UnaryOp,
};

use crate::input::{display_name, read_text};
use crate::trouble::Trouble;

/// A file of costs is no longer than this.
const FILE_LIMIT: u64 = 1 << 20;

/// Everything that the program rules out or asks for: any of it.
pub(crate) fn default_target(program: &Program) -> Result<StateExpr, Trouble> {
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
    target.ok_or_else(|| {
        let help = "say what to look for, as in `--target 'P0 at critical'`; `T at end` is where a thread is done";
        Trouble::input_with_help("the program has no property that could be the target", help)
    })
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

/// Adds the rules of a file of costs to those of the program.
pub(crate) fn add_costs(program: &mut Program, path: Option<&Path>) -> Result<(), Trouble> {
    let Some(path) = path else { return Ok(()) };
    let name = display_name(path);
    let text = read_text(path, FILE_LIMIT)
        .map_err(|trouble| Trouble::input(format!("the costs in {name}: {}", trouble.reason())))?;
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let rule = rule(program, &words).map_err(|what| {
            let help =
                "write a kind of step (load, store, fence, rmw, lock, local) or a label, and its cost: `fence 20`";
            Trouble::input_with_help(format!("the costs in {name}, line {number}: {what}"), help)
        })?;
        program.costs.push(rule);
    }
    Ok(())
}

fn rule(program: &Program, words: &[&str]) -> Result<CostRule, String> {
    let [what, cost] = words else { return Err(format!("expected two words, found {}", words.len())) };
    let subject = match *what {
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
    };
    let cost = cost.parse().ok().filter(|cost| (0..=1_000_000_000).contains(cost));
    let cost = cost.ok_or("a cost is a whole number from 0 to 1000000000")?;
    Ok(CostRule { subject, cost, span: Span::default() })
}

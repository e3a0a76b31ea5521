//! What a complete search never saw: instructions that no run executes, threads that never move, stores that
//! were blocked. A model can be right by accident, so every positive answer tells.

use std::collections::BTreeSet;

use weir::reach::Coverage;
use weir_ir::{Body, Diagnostic, Edge, EdgeId, Expr, Gather, Instruction, LocId, Program, Span, ThreadId};

use crate::wording::units::counted;

/// Everything there is to say after a complete search.
pub(crate) fn warnings(program: &Program, coverage: &Coverage) -> Vec<Diagnostic> {
    let mut warnings = immobile(program, coverage);
    warnings.extend(unexecuted(program, coverage));
    warnings.extend(out_of_range(program, coverage));
    warnings
}

/// The names of threads that never take a step.
pub(super) fn immobile_names(program: &Program, coverage: &Coverage) -> Vec<String> {
    coverage.immobile.iter().map(|&thread| program.thread(thread).name.clone()).collect()
}

/// One warning for each declaration of a thread of which some instance never moves.
fn immobile(program: &Program, coverage: &Coverage) -> Vec<Diagnostic> {
    let spans: BTreeSet<Span> = coverage.immobile.iter().map(|&thread| program.thread(thread).span).gather();
    let warning = |span: Span| {
        let names: Vec<&str> = (coverage.immobile.iter().map(|&thread| program.thread(thread)))
            .filter(|thread| thread.span == span)
            .map(|thread| thread.name.as_str())
            .collect();
        let names = if names.len() > 3 { format!("{}, …", names[..3].join(", ")) } else { names.join(", ") };
        Diagnostic::warning("immobile-thread", format!("no run lets {names} take a step"), span)
            .label("never takes a step")
            .help("check what its first instruction waits for; a program that cannot move is safe for the wrong reason")
    };
    spans.into_iter().map(warning).collect()
}

/// One warning for all stores of one place that were blocked.
fn out_of_range(program: &Program, coverage: &Coverage) -> Vec<Diagnostic> {
    let span = |&(thread, edge): &(ThreadId, EdgeId)| program.body(thread).edge(edge).span;
    let spans: BTreeSet<Span> = coverage.out_of_range.iter().map(span).gather();
    let message = if coverage.approximate {
        "this store may be blocked: with over-approximated buffers, its value is outside the declared range of the cell"
    } else {
        "this store was blocked: its value can be outside the declared range of the cell"
    };
    let warning = |span| {
        Diagnostic::warning("out-of-range-store", message, span)
            .label("runs end here")
            .help("widen the range, or keep the value within it; nothing after the blocked store was explored")
    };
    spans.into_iter().map(warning).collect()
}

/// One warning for all instructions that no run executes, with one place for each stretch of them. An
/// instruction counts as executed if any copy of it is: in another instance of the thread, or where a
/// procedure was inlined. Threads that never move have a warning of their own, and what can only fail is not meant to
/// be executed.
fn unexecuted(program: &Program, coverage: &Coverage) -> Option<Diagnostic> {
    let missing: BTreeSet<(ThreadId, EdgeId)> = coverage.unexecuted.iter().copied().gather();
    let mut executed = BTreeSet::new();
    let mut dead = BTreeSet::new();
    for thread in program.thread_ids() {
        let failing = failing(program.body(thread));
        for (at, edge) in program.body(thread).edges().iter().enumerate() {
            if !missing.contains(&(thread, EdgeId::new(at))) {
                executed.insert(edge.span);
            } else if !coverage.immobile.contains(&thread) && !fails(edge, &failing) {
                dead.insert(edge.span);
            }
        }
    }
    let dead: Vec<Span> = dead.difference(&executed).copied().collect();
    let count = counted(dead.len() as u64, "instruction");
    let mut stretches = stretches(&dead, &executed).into_iter();
    let first = stretches.next()?;
    let label = |stretch: &[Span]| stretch_label(program, stretch);
    let warning = Diagnostic::warning("never-executed", format!("no run executes {count}"), first[0])
        .label(label(first))
        .help("check names, values and conditions for mistakes; code that no run executes was not checked");
    Some(stretches.fold(warning, |warning, stretch| warning.also(stretch[0], label(stretch))))
}

/// Whether an instruction fails, or nothing but a failure can come after it.
fn fails(edge: &Edge, failing: &BTreeSet<LocId>) -> bool {
    edge.instruction == Instruction::Assert(Expr::Const(0)) || failing.contains(&edge.to)
}

/// The locations from which every way leads to a failure.
fn failing(body: &Body) -> BTreeSet<LocId> {
    let mut found = BTreeSet::new();
    // How many ways on from each location do not fail, as far as is known.
    let mut open: Vec<usize> = body.location_ids().map(|location| body.edges_from(location).count()).collect();
    let mut entering: Vec<Vec<LocId>> = vec![Vec::new(); open.len()];
    let mut work: Vec<LocId> = Vec::new();
    for edge in body.edges() {
        match fails(edge, &found) {
            true => work.push(edge.from),
            false => entering[edge.to.index()].push(edge.from),
        }
    }
    while let Some(location) = work.pop() {
        open[location.index()] -= 1;
        if open[location.index()] == 0 {
            found.insert(location);
            work.append(&mut entering[location.index()]);
        }
    }
    found
}

/// Splits dead places where an executed one lies in between.
fn stretches<'d>(dead: &'d [Span], executed: &BTreeSet<Span>) -> Vec<&'d [Span]> {
    let apart = |left: &Span, right: &Span| executed.range(*left..*right).next().is_some();
    dead.chunk_by(|left, right| !apart(left, right)).collect()
}

fn stretch_label(program: &Program, stretch: &[Span]) -> String {
    let lines = stretch.iter().map(|&span| program.source.line(span));
    match (lines.clone().min(), lines.max()) {
        (Some(first), Some(last)) if first < last => {
            format!("never executed, nor is anything after it up to line {last}")
        }
        _ => "never executed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use weir::Session;
    use weir::reach::{Options, reach};
    use weir_ir::Source;

    use super::*;

    #[test]
    fn what_can_only_fail_is_not_meant_to_be_executed() {
        let message = |text: &str| {
            let source = Source::new("t", format!("shared x; thread A {{ let r = x; if r == 1 {{ {text} }} }}"));
            let program =
                weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program").program;
            let report = reach(&program, &Options::default(), &Session::default()).expect("an answer");
            unexecuted(&program, &report.coverage).map(|warning| warning.message)
        };
        assert_eq!(message("x = 2; assert 0;"), None);
        assert_eq!(message("x = 2; assert r == 2;").as_deref(), Some("no run executes 2 instructions"));
    }

    #[test]
    fn dead_places_are_grouped_unless_an_executed_one_lies_between() {
        let span = |at: usize| Span::new(at, at + 1);
        let dead: Vec<Span> = [1, 2, 3, 7, 8].map(span).into();
        let executed = BTreeSet::from([span(5), span(9)]);
        let lengths: Vec<usize> = stretches(&dead, &executed).iter().map(|stretch| stretch.len()).collect();
        assert_eq!(lengths, [3, 2]);
        assert!(stretches(&[], &executed).is_empty());
    }
}

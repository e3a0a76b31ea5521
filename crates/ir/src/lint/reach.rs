//! Statements that no run gets to: by control flow alone, or because the values that registers and cells can
//! hold rule it out. One report for each way into such a region, not one for each statement in it.

use super::Unit;
use super::statements::{Place, Statements};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ids::{EdgeId, LocId};
use crate::program::Instruction;
use crate::span::Span;
use std::collections::HashSet;

/// Regions that control flow does not lead to.
pub(super) fn unreachable(units: &[Unit], statements: &Statements) -> Vec<Diagnostic> {
    let is_dead = |place: &Place| !place.unit(units).cfg.is_reachable(place.edge(units).from);
    let dead: Vec<bool> = statements.iter().map(|(_, places)| places.iter().all(is_dead)).collect();
    let reached_labels = reached_labels(units);
    let mut found = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        for region in regions(unit) {
            let spans = region.iter().flat_map(|&loc| {
                let edges = unit.body.edges_from(loc).map(|(edge, _)| Place { unit: at, edge });
                let edges = edges.filter(|&place| dead[statements.index_of(place)]);
                let label = &unit.body.locations[loc.index()];
                let is_new = !label.labels.is_empty() && !reached_labels.contains(&label.span);
                edges
                    .map(|place| (place.edge(units).span, None))
                    .chain(is_new.then(|| (label.span, label.labels.first())))
            });
            found.extend(spans.min().map(|(span, label)| unreachable_at(span, label)));
        }
    }
    found
}

fn unreachable_at(span: Span, label: Option<&String>) -> Diagnostic {
    let what = label.map_or("this".to_owned(), |label| format!("label `{label}`"));
    Diagnostic::warning("unreachable", format!("{what} can never be reached"), span)
        .label("unreachable")
        .help("remove it, or check the preceding jumps and loops")
}

/// Where the labels stand that control flow leads to in some copy.
fn reached_labels(units: &[Unit]) -> HashSet<Span> {
    let reached = |unit: &Unit| -> Vec<Span> {
        unit.cfg.reverse_postorder().iter().map(|loc| unit.body.locations[loc.index()].span).collect()
    };
    units.iter().flat_map(reached).collect()
}

/// The unreachable locations of a body, those that lead to each other together.
fn regions(unit: &Unit) -> Vec<Vec<LocId>> {
    let mut pending: Vec<bool> =
        unit.body.location_ids().map(|loc| !unit.cfg.is_reachable(loc) && Some(loc) != unit.body.failed).collect();
    let mut regions = Vec::new();
    for start in unit.body.location_ids() {
        let mut region = Vec::new();
        let mut stack = vec![start];
        while let Some(loc) = stack.pop() {
            if std::mem::replace(&mut pending[loc.index()], false) {
                region.push(loc);
                stack.extend(unit.cfg.successors(loc).iter().chain(unit.cfg.predecessors(loc)));
            }
        }
        if !region.is_empty() {
            regions.push(region);
        }
    }
    regions
}

/// Statements that control flow leads to, but no run takes, because of the values there can be.
pub(super) fn never_taken(units: &[Unit], statements: &Statements) -> Vec<Diagnostic> {
    let tested: Vec<Vec<bool>> = units.iter().map(passable_tests).collect();
    let is_live = |place: &Place| {
        let (unit, edge) = (place.unit(units), place.edge(units));
        unit.ranges.can_take(place.edge) || is_test(&edge.instruction) && tested[place.unit][edge.from.index()]
    };
    let dead: Vec<bool> = statements.iter().map(|(_, places)| !places.iter().any(is_live)).collect();
    let starts: Vec<Vec<bool>> = (0..units.len()).map(|at| region_starts(at, &units[at], statements, &dead)).collect();
    let mut found = Vec::new();
    for ((span, places), _) in statements.iter().zip(&dead).filter(|(_, dead)| **dead) {
        let is_start = |place: &&Place| starts[place.unit][place.edge(units).from.index()];
        found.extend(places.iter().find(is_start).and_then(|place| never_taken_at(*place, units, span)));
    }
    found
}

/// A store or read-modify-write that blocks is left to the report that has its reason.
fn never_taken_at(place: Place, units: &[Unit], span: Span) -> Option<Diagnostic> {
    let (unit, edge) = (place.unit(units), place.edge(units));
    let is_at_hand = unit.ranges.is_reachable(edge.from);
    let blocks = is_at_hand && edge.instruction.accesses().next().is_some();
    let message = if is_at_hand { "this condition is always false" } else { "no run reaches this" };
    let note = Diagnostic::new(Severity::Note, "never-taken", message, span);
    (!blocks).then(|| note.label("the possible values of registers and cells rule it out"))
}

fn is_test(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Assume(_))
}

/// For each location, whether some test there can hold: then the others being false is what tests are for.
fn passable_tests(unit: &Unit) -> Vec<bool> {
    let passable = |loc| {
        let mut edges = unit.body.edges_from(loc);
        edges.any(|(id, edge)| is_test(&edge.instruction) && unit.ranges.can_take(id))
    };
    unit.body.location_ids().map(passable).collect()
}

/// For each location, whether a dead statement there is where a run would leave what can happen: a run gets
/// there, or to a statement before it that has another way to go.
fn region_starts(at: usize, unit: &Unit, statements: &Statements, dead: &[bool]) -> Vec<bool> {
    let leads_from_life = |&edge: &EdgeId| !dead[statements.index_of(Place { unit: at, edge })];
    let is_start = |loc: LocId| {
        unit.cfg.is_reachable(loc)
            && (unit.ranges.is_reachable(loc) || unit.cfg.edges_into(loc).iter().any(leads_from_life))
    };
    unit.body.location_ids().map(is_start).collect()
}

//! For unit tests: models from text, and what is certain of a known part of a chain, found by plain iteration.

use weir_ir::{Program, PropertyKind, StateExpr};

use super::model::Model;
use super::prob01::Class;
use super::settings::{Fraction, Settings, UpdatePolicy};
use super::transitions::Transitions;
use super::visits::is_inner;

/// A program, and the condition of its first property, which is a `forbid`.
pub(super) fn read(text: &str) -> (Program, StateExpr) {
    let source = weir_ir::Source::new("test.weir", text.to_owned());
    let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
    let program = parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program;
    let PropertyKind::Forbid(target) = program.properties[0].kind.clone() else { panic!("no `forbid`: {text}") };
    (program, target)
}

pub(super) fn model(text: &str, settings: &Settings) -> Model {
    let (program, target) = read(text);
    Model::new(&program, &target, settings, &crate::session::Session::default()).expect("it can be handled")
}

/// Odds of every kind.
pub(super) fn all_settings() -> Vec<Settings> {
    let policies = [
        UpdatePolicy::Uniform,
        UpdatePolicy::Geometric(Fraction { numerator: 3, denominator: 4 }),
        UpdatePolicy::Single,
    ];
    let factors =
        [None, Some(Fraction { numerator: 9, denominator: 1 }), Some(Fraction { numerator: 2, denominator: 5 })];
    policies
        .iter()
        .flat_map(|&updates| factors.map(|stickiness| Settings { stickiness, updates, ..Settings::default() }))
        .collect()
}

/// From each expanded open configuration, the expected sum of what `outside` gives where the run leaves them, plus
/// `each` for every step until then.
pub(super) fn iterate(graph: &Transitions, classes: &[Class], each: f64, outside: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> =
        (0..graph.len()).map(|at| if is_inner(graph, classes, at) { 0.0 } else { outside(at) }).collect();
    for _ in 0..20_000 {
        let mut change = 0.0_f64;
        for at in (0..graph.len()).rev().filter(|&at| is_inner(graph, classes, at)) {
            let value = each + graph.row(at).iter().map(|entry| entry.p * values[entry.to as usize]).sum::<f64>();
            change = change.max((value - values[at]).abs());
            values[at] = value;
        }
        if change < 1e-14 {
            break;
        }
    }
    values
}

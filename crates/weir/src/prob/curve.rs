//! How soon: the probability to have reached the target within so many steps.
//!
//! Probability is moved on step by step ([`flow`](super::flow)). What is at a target by then is a lower bound; what is
//! seen to be elsewhere is taken off 1 for an upper bound. What was dropped only widens the gap between the two.

use weir_ir::Program;

use crate::session::Session;
use crate::verdict::Failure;

use super::chain::{Chain, Visitor, with_chain};
use super::flow::Flow;
use super::model::Model;
use super::obstacle::Obstacle;
use super::probability::Interval;
use super::rounding::add_down;
use super::settings::Settings;
use super::target::Target;

/// Bounds per number of steps, from 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// The probability of having reached the target after that many steps.
    pub points: Vec<Interval>,
    /// Why there are fewer points than requested, if so.
    pub obstacle: Option<Obstacle>,
}

/// The probability of reaching the target within n steps, for n up to `steps`.
///
/// # Errors
/// If the program is not supported, the settings are invalid, or an invariant of Weir is broken.
pub fn curve(
    program: &Program,
    target: impl Into<Target>,
    settings: &Settings,
    steps: usize,
    session: &Session,
) -> Result<Curve, Failure> {
    let session = &session.doing("prob: following the probability step by step");
    let model = Model::new(program, target, settings, session)?.lumped();
    let curve = with_chain(&model, Task { steps, session });
    model.fault()?;
    Ok(curve)
}

struct Task<'w> {
    steps: usize,
    session: &'w Session,
}

impl Visitor for Task<'_> {
    type Output = Curve;

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Curve {
        let mut flow = Flow::new(chain);
        let (mut there, mut points) = (0.0, Vec::new());
        for step in 0..=self.steps {
            let graph = &flow.graph;
            let arrived = flow.masses.extract_if(.., |(number, _)| graph.is_target(*number as usize));
            there = arrived.fold(there, |sum, (_, mass)| add_down(sum, mass));
            points.push(Interval { lower: there.max(0.0), upper: add_up_to_one(flow.total(), there) });
            if step == self.steps || flow.masses.is_empty() {
                break;
            }
            if let Err(limit) = flow.advance(self.session, |_, _| ()) {
                return Curve { points, obstacle: Some(Obstacle::Limit(limit)) };
            }
        }
        while points.len() <= self.steps
            && let Some(&last) = points.last()
        {
            points.push(last);
        }
        Curve { points, obstacle: None }
    }
}

/// At least 1 less what is known to be elsewhere, and at least the lower bound.
fn add_up_to_one(elsewhere: f64, there: f64) -> f64 {
    // Nothing is lost in a difference of 0.
    let rest = 1.0 - elsewhere;
    let rest = if rest == 0.0 { rest } else { rest.next_up() };
    rest.clamp(there.max(0.0), 1.0)
}

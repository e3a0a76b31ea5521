//! How soon: the probability to have reached the target within so many steps.
//!
//! Probability is moved on step by step. What is at a target by then is a lower bound; what is seen to be elsewhere is taken off 1 for an
//! upper bound. Configurations that hardly anything is at are dropped, which only widens the gap between the two.

use weir_ir::{Program, StateExpr};

use crate::control::Watch;
use crate::{Control, Failure};

use super::chain::{Chain, Visitor, with_chain};
use super::explore::expand;
use super::graph::Graph;
use super::model::Model;
use super::probability::{Interval, Obstacle};
use super::rounding::{add_down, weighted_down};
use super::settings::Settings;

/// Bounds for each number of steps, from 0 on.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// The probability to have reached the target after that many steps.
    pub points: Vec<Interval>,
    /// Why there are fewer points than were asked for, if there are.
    pub obstacle: Option<Obstacle>,
}

/// The probability to reach the target within n steps, for n up to `steps`.
///
/// # Errors
/// If the program has something that cannot be handled, the settings make no sense, or an invariant of Weir breaks.
pub fn curve(
    program: &Program,
    target: &StateExpr,
    settings: &Settings,
    steps: usize,
    control: &Control,
) -> Result<Curve, Failure> {
    let model = Model::new(program, target, settings)?;
    let watch = Watch::start(control);
    let curve = with_chain(&model, Approach { steps, watch: &watch });
    model.fault()?;
    Ok(curve)
}

struct Approach<'w> {
    steps: usize,
    watch: &'w Watch<'w>,
}

/// Configurations that less than this is at are dropped.
const NEGLIGIBLE: f64 = 1e-11;

impl Visitor for Approach<'_> {
    type Output = Curve;

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Curve {
        let mut graph = Graph::new(chain);
        let mut masses: Vec<(u32, f64)> = vec![(0, 1.0)];
        let (mut there, mut points) = (0.0, Vec::new());
        for step in 0..=self.steps {
            let arrived = masses.extract_if(.., |(number, _)| graph.is_target(*number as usize));
            there = arrived.fold(there, |sum, (_, mass)| add_down(sum, mass));
            let elsewhere = masses.iter().fold(0.0, |sum, &(_, mass)| add_down(sum, mass));
            points.push(Interval { lower: there.max(0.0), upper: add_up_to_one(elsewhere, there) });
            if step == self.steps || masses.is_empty() {
                break;
            }
            match self.advance(&mut graph, &masses) {
                Ok(next) => masses = next,
                Err(obstacle) => return Curve { points, obstacle: Some(obstacle) },
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

impl Approach<'_> {
    fn advance<const N: usize>(
        &self,
        graph: &mut Graph<'_, '_, N>,
        masses: &[(u32, f64)],
    ) -> Result<Vec<(u32, f64)>, Obstacle> {
        let mut sums: Vec<f64> = vec![0.0; graph.len()];
        let mut touched: Vec<u32> = Vec::new();
        for (count, &(number, mass)) in masses.iter().enumerate().filter(|(_, (_, mass))| *mass >= NEGLIGIBLE) {
            if graph.is_expandable(number as usize)
                && let Some(limit) = expand(graph, number as usize, count, self.watch)
            {
                return Err(Obstacle::Limit(limit));
            }
            sums.resize(graph.len(), 0.0);
            for entry in graph.row(number as usize) {
                let sum = &mut sums[entry.to as usize];
                if *sum == 0.0 {
                    touched.push(entry.to);
                }
                *sum = add_down(*sum, weighted_down(mass, entry.p)).max(0.0);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        Ok(touched.into_iter().map(|number| (number, sums[number as usize])).filter(|&(_, mass)| mass > 0.0).collect())
    }
}

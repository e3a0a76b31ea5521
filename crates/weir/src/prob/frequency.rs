//! How often each edge is taken in the first steps of a run: expected numbers, enclosed.
//!
//! Probability is moved on step by step ([`flow`](super::flow)). What moves along an edge counts; what was dropped on
//! the way might have moved along any.

use weir_ir::{EdgeId, Expr, Program, ThreadId};

use crate::session::Session;
use crate::verdict::Failure;

use super::chain::{Chain, Visitor, with_chain};
use super::flow::Flow;
use super::model::{Model, NO_EDGE};
use super::probability::Interval;
use super::rounding::{add_down, add_up, times_up, weighted_down, weighted_up};
use super::settings::Settings;

/// An edge of a thread, and how often it is taken.
pub type Frequency<T> = ((ThreadId, EdgeId), T);

/// The expected number of times that each edge is taken in the first `steps` steps, in order of threads and edges. None
/// if that takes more than `most_moves` movements of probability along edges, or at a limit.
///
/// # Errors
/// If the program is not supported, the settings are invalid, or an invariant of Weir is broken.
pub fn frequencies(
    program: &Program,
    settings: &Settings,
    steps: usize,
    most_moves: u64,
    session: &Session,
) -> Result<Option<Vec<Frequency<Interval>>>, Failure> {
    let model = Model::new(program, Expr::Const(0), settings, session)?;
    let counts = with_chain(&model, Task { steps, most_moves, session });
    model.fault()?;
    let named = |(number, count): (usize, Interval)| (model.compiled.edge(number as u32), count);
    Ok(counts.map(|counts| counts.into_iter().enumerate().map(named).collect()))
}

struct Task<'w> {
    steps: usize,
    most_moves: u64,
    session: &'w Session,
}

impl Visitor for Task<'_> {
    type Output = Option<Vec<Interval>>;

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
        let mut counts = vec![Interval { lower: 0.0, upper: 0.0 }; chain.model.costs.len()];
        let mut flow = Flow::new(chain);
        // Runs that have ended stay where they are. Of others that were dropped, each step might be along any
        // edge.
        let (mut ended, mut unseen, mut moves) = (0.0, 0.0, 0);
        for step in 0..self.steps {
            ended = add_down(ended, take_ended(&mut flow));
            let lost = (1.0 - add_down(flow.total(), ended)).next_up().max(0.0);
            if flow.masses.is_empty() {
                unseen = add_up(unseen, times_up(lost, (self.steps - step) as f64));
                break;
            }
            unseen = add_up(unseen, lost);
            let advanced = flow.advance(self.session, |entry, mass| {
                moves += 1;
                if let Some(count) = counts.get_mut(entry.edge as usize) {
                    count.lower = add_down(count.lower, weighted_down(mass, entry.p)).max(0.0);
                    count.upper = add_up(count.upper, weighted_up(mass, entry.p));
                }
            });
            if advanced.is_err() || moves > self.most_moves {
                return None;
            }
        }
        counts.iter_mut().for_each(|count| count.upper = add_up(count.upper, unseen));
        Some(counts)
    }
}

/// Takes out what is where no thread can step any more; how much that was, at least.
fn take_ended<const N: usize>(flow: &mut Flow<'_, '_, N>) -> f64 {
    let graph = &flow.graph;
    let is_over =
        |number: u32| matches!(graph.row(number as usize), [only] if (only.to, only.edge) == (number, NO_EDGE));
    flow.masses.extract_if(.., |(number, _)| is_over(*number)).fold(0.0, |sum, (_, mass)| add_down(sum, mass))
}

//! How likely a target is reached, once or again and again: a certified interval.
//!
//! The known part of the chain grows where probability waits; its system is solved; what that certifies is the answer, once the
//! interval is narrow enough. "Probabilistic Total Store Ordering", §7, adds up single paths instead; the interval means the same.

use weir_ir::{Program, StateExpr};

use crate::control::Watch;
use crate::{Control, Failure, Limit};

use super::abstraction::Abstraction;
use super::bounds::{Certificate, certify};
use super::chain::{Chain, Config, Visitor, with_chain};
use super::explore::{Extent, expand, follow};
use super::graph::Graph;
use super::judge::{Judge, Role};
use super::model::Model;
use super::settings::Settings;
use super::visits::System;

/// What is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// Which configurations count. One that speaks of cells is judged at drained configurations only.
    pub target: StateExpr,
    /// Whether they must be reached again and again, for ever.
    pub repeated: bool,
    /// The odds.
    pub settings: Settings,
}

/// Numbers between which another lies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// At least this.
    pub lower: f64,
    /// At most this.
    pub upper: f64,
}

impl Interval {
    /// How far apart the ends are, rounded up.
    pub fn width(self) -> f64 {
        if self.upper == self.lower { 0.0 } else { (self.upper - self.lower).next_up() }
    }
}

/// Why an interval did not become as narrow as was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// A limit came first.
    Limit(Limit),
    /// More choices or larger numbers at one configuration than can be handled.
    Unwieldy,
    /// Rounding: the interval is as narrow as the arithmetic allows.
    Precision,
    /// Not even the abstraction of buffers by sets could bound what happens with large buffers.
    Unbounded,
}

/// The answer to how likely.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probability {
    /// It lies in here for certain.
    pub interval: Interval,
    /// Why the interval is wider than was asked for, if it is.
    pub obstacle: Option<Obstacle>,
    /// Configurations met.
    pub configurations: usize,
    /// Whether these are all there are, so that nothing was left out.
    pub is_complete: bool,
}

/// Finds the probability to within `epsilon`.
///
/// # Errors
/// If the program has something that cannot be handled, the settings make no sense, or an invariant of Weir breaks.
pub fn probability(
    program: &Program,
    question: &Question,
    epsilon: f64,
    control: &Control,
) -> Result<Probability, Failure> {
    let model = Model::new(program, &question.target, &question.settings)?;
    let watch = Watch::start(control);
    let answer = with_chain(&model, Approach { repeated: question.repeated, epsilon, watch: &watch });
    model.fault()?;
    Ok(answer)
}

struct Approach<'w> {
    repeated: bool,
    epsilon: f64,
    watch: &'w Watch<'w>,
}

impl Visitor for Approach<'_> {
    type Output = Probability;

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Probability {
        let mut part = Part::new(chain, self.repeated);
        let mut limit = part.begin(self.watch);
        loop {
            let solved = part.solve(&[(0, 1.0)], (self.epsilon * 1e-3).min(1e-9), self.watch);
            let Certificate { lower, upper, surplus, .. } = &solved.certificate;
            let interval = Interval { lower: *lower, upper: *upper };
            let answer = |obstacle, part: &Part<'_, '_, N>| Probability {
                interval,
                obstacle,
                configurations: part.graph.len(),
                is_complete: part.graph.is_complete(self.repeated),
            };
            if interval.width() <= self.epsilon {
                return answer(None, &part);
            }
            if let Some(limit) = limit.or_else(|| self.watch.exceeded(part.graph.bytes(), 0)) {
                return answer(Some(Obstacle::Limit(limit)), &part);
            }
            match part.grow(surplus, self.epsilon, self.watch) {
                Growth::Grew(hit) => limit = hit,
                Growth::Stuck(obstacle) => return answer(Some(obstacle), &part),
            }
        }
    }
}

/// The known part of a chain, and what it says.
pub(super) struct Part<'c, 'a, const N: usize> {
    pub(super) graph: Graph<'c, 'a, N>,
    pub(super) judge: Judge<N>,
    /// How often it grew.
    turns: u32,
}

/// A system that was solved.
pub(super) struct Solved {
    pub(super) roles: Vec<Role>,
    pub(super) visits: Vec<f64>,
    pub(super) certificate: Certificate,
}

pub(super) enum Growth {
    /// More is known now, up to a limit perhaps.
    Grew(Option<Limit>),
    /// There is nothing more to find out.
    Stuck(Obstacle),
}

/// Chains with no more configurations than this are simply expanded.
const SMALL: usize = 2_000;

/// After so many turns the exact engine is asked, if it may know more.
const PATIENCE: u32 = 3;

impl<'c, 'a, const N: usize> Part<'c, 'a, N> {
    pub(super) fn new(chain: &'c Chain<'a, N>, repeated: bool) -> Self {
        Self { graph: Graph::new(chain), judge: Judge::new(repeated), turns: 0 }
    }

    /// Expands the chain if it is small; else learns what can happen at most.
    pub(super) fn begin(&mut self, watch: &Watch<'_>) -> Option<Limit> {
        let mut at = 0;
        while at < self.graph.len().min(SMALL) {
            if !self.judge.is_settled(&self.graph, at)
                && let Some(limit) = expand(&mut self.graph, at, at, watch)
            {
                return Some(limit);
            }
            at += 1;
        }
        if self.graph.is_complete(self.judge.repeated) {
            return None;
        }
        self.judge.learn(Abstraction::new(self.graph.chain, self.judge.repeated, watch));
        if self.judge.repeated { self.expand_plain(3, watch) } else { None }
    }

    /// Makes every drained configuration that may be reachable part of the graph, and all that is reachable from there with buffers of
    /// at most this size.
    pub(super) fn expand_plain(&mut self, size: usize, watch: &Watch<'_>) -> Option<Limit> {
        if let Some(abstraction) = &self.judge.abstraction {
            for (_, state) in abstraction.plain(self.graph.chain) {
                for last in self.graph.chain.lasts() {
                    self.graph.add(Config { state, last });
                }
            }
        }
        self.expand_up_to(size, watch)
    }

    /// Every drained configuration that may be reachable, once [`expand_plain`](Self::expand_plain) has made them part of the
    /// graph; `None` if they are not known.
    pub(super) fn plain_roots(&self) -> Option<Vec<usize>> {
        let abstraction = self.judge.abstraction.as_ref()?;
        let configs = abstraction
            .plain(self.graph.chain)
            .flat_map(|(_, state)| self.graph.chain.lasts().map(move |last| Config { state, last }));
        configs.map(|config| self.graph.number_of(&config)).collect()
    }

    /// Expands everything known and everything reachable from there with buffers of at most this size.
    pub(super) fn expand_up_to(&mut self, size: usize, watch: &Watch<'_>) -> Option<Limit> {
        let mut at = 0;
        while at < self.graph.len() {
            if self.graph.is_expandable(at)
                && !self.judge.is_settled(&self.graph, at)
                && self.graph.chain.model.size(&self.graph.config(at).state) <= size
                && let Some(limit) = expand(&mut self.graph, at, at, watch)
            {
                return Some(limit);
            }
            at += 1;
        }
        None
    }

    /// Solves the system for a start and certifies what comes out.
    pub(super) fn solve(&mut self, start: &[(usize, f64)], precision: f64, watch: &Watch<'_>) -> Solved {
        let roles = self.judge.roles(&self.graph);
        let visits = System::new(&self.graph, &roles).visits(start, precision, watch);
        let certificate = certify(&self.graph, &roles, start, &visits);
        Solved { roles, visits, certificate }
    }

    /// Expands where what is left over waits.
    pub(super) fn grow(&mut self, surplus: &[f64], epsilon: f64, watch: &Watch<'_>) -> Growth {
        self.turns += 1;
        if self.turns == PATIENCE && self.judge.is_in_doubt(&self.graph) {
            self.judge.consult(&self.graph, watch);
        }
        let waiting: Vec<(usize, f64)> = surplus
            .iter()
            .enumerate()
            .filter(|&(number, &mass)| mass > 0.0 && !self.graph.is_expanded(number))
            .map(|(number, &mass)| (number, mass))
            .collect();
        if !waiting.iter().any(|&(number, _)| self.graph.is_expandable(number)) {
            return Growth::Stuck(if waiting.is_empty() { Obstacle::Precision } else { Obstacle::Unwieldy });
        }
        let total: f64 = waiting.iter().map(|&(_, mass)| mass).sum();
        let extent = Extent { rest: (total / 256.0).max(epsilon / 16.0), most: self.graph.len().max(1_000) };
        Growth::Grew(follow(&mut self.graph, &mut self.judge, waiting, extent, watch))
    }
}

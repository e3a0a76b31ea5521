//! How likely a target is reached, once or again and again: a certified interval.
//!
//! The known part of the chain grows where probability waits; its system is solved; what that certifies is the answer,
//! once the interval is narrow enough. "Probabilistic Total Store Ordering", §7, adds up single paths instead; the
//! interval means the same.

use weir_ir::Program;

use crate::bounds::Bound;
use crate::session::Session;
use crate::verdict::{Failure, Limit};

use super::abstraction::Abstraction;
use super::bounds::{Certificate, certify};
use super::chain::{Chain, Config, Visitor, with_chain};
use super::explore::{Extent, expand, follow};
use super::graph::Graph;
use super::impossible::is_impossible;
use super::model::Model;
use super::obstacle::Obstacle;
use super::prob01::{Class, Classifier};
use super::settings::Settings;
use super::target::Target;
use super::visits::System;

/// A question about a target.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// The target. A condition that mentions cells is evaluated only in drained configurations.
    pub target: Target,
    /// Whether the target must be reached infinitely often.
    pub repeated: bool,
    /// The scheduler and flush probabilities.
    pub settings: Settings,
}

/// An interval that contains a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

impl Interval {
    /// What two intervals have in common that hold the same number.
    #[must_use]
    pub(super) fn meet(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) }
    }

    /// The width, rounded up.
    pub fn width(self) -> f64 {
        if self.upper == self.lower { 0.0 } else { (self.upper - self.lower).next_up() }
    }
}

/// A probability.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Probability {
    /// Guaranteed to contain the probability.
    pub interval: Interval,
    /// Why the interval is wider than requested, if it is.
    pub obstacle: Option<Obstacle>,
    /// Number of configurations explored.
    pub configurations: usize,
    /// Whether configurations that differ only in the numbering of interchangeable threads count as one.
    pub up_to_symmetry: bool,
    /// Whether these are all configurations.
    pub is_complete: bool,
}

/// Computes the probability to within `epsilon`.
///
/// # Errors
/// If the program is not supported, the settings are invalid, or an invariant of Weir is broken.
pub fn probability(
    program: &Program,
    question: &Question,
    epsilon: f64,
    session: &Session,
) -> Result<Probability, Failure> {
    let session = &session.doing("prob: enclosing the probability");
    let model = Model::new(program, &question.target, &question.settings, session)?.lumped();
    let is_impossible = &|| is_impossible(program, &question.target, session);
    let answer = with_chain(&model, Task { repeated: question.repeated, epsilon, is_impossible, session });
    model.fault()?;
    answer
}

struct Task<'w> {
    repeated: bool,
    epsilon: f64,
    /// Whether there is a proof that no run reaches the target.
    is_impossible: &'w dyn Fn() -> Result<bool, Failure>,
    session: &'w Session,
}

impl Visitor for Task<'_> {
    type Output = Result<Probability, Failure>;

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
        let mut part = Part::new(chain, self.repeated);
        let mut limit = part.begin(self.session);
        let mut interval = Interval { lower: 0.0, upper: 1.0 };
        let mut has_asked = false;
        loop {
            let solved = part.solve(&[(0, 1.0)], (self.epsilon * 1e-3).min(1e-9), self.session);
            let Certificate { lower, upper, surplus, .. } = &solved.certificate;
            interval = interval.meet(Interval { lower: *lower, upper: *upper });
            self.session.enclose(interval.lower, interval.upper);
            let answer = |obstacle, part: &Part<'_, '_, N>| Probability {
                interval,
                obstacle,
                configurations: part.graph.len(),
                up_to_symmetry: !chain.model.families.is_empty(),
                is_complete: part.graph.is_complete(self.repeated),
            };
            if interval.lower == 0.0 && interval.upper > 0.0 && !std::mem::replace(&mut has_asked, true) {
                // Nothing has been found so far: perhaps there is nothing to find.
                if (self.is_impossible)()? {
                    return Ok(Probability { interval: Interval { lower: 0.0, upper: 0.0 }, ..answer(None, &part) });
                }
            }
            if interval.width() <= self.epsilon {
                return Ok(answer(None, &part));
            }
            if let Some(limit) = limit.or_else(|| self.session.exceeded_with(part.graph.bytes(), 0)) {
                return Ok(answer(Some(Obstacle::Limit(limit)), &part));
            }
            match part.grow(surplus, self.epsilon, self.session) {
                Growth::Grew(hit) => limit = hit,
                Growth::Stuck(obstacle) => return Ok(answer(Some(obstacle), &part)),
            }
        }
    }
}

/// The known part of a chain, and what it says.
pub(super) struct Part<'c, 'a, const N: usize> {
    pub(super) graph: Graph<'c, 'a, N>,
    pub(super) classifier: Classifier<N>,
    /// How often it grew.
    turns: u32,
}

/// A system that was solved.
pub(super) struct Solved {
    pub(super) classes: Vec<Class>,
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
        Self { graph: Graph::new(chain), classifier: Classifier::new(repeated), turns: 0 }
    }

    /// Expands the chain if it is small; else learns what can happen at most.
    pub(super) fn begin(&mut self, session: &Session) -> Option<Limit> {
        self.begin_with(SMALL, session)
    }

    /// The same, where so many configurations are few.
    pub(super) fn begin_with(&mut self, few: usize, session: &Session) -> Option<Limit> {
        let mut at = 0;
        while at < self.graph.len().min(few) {
            if !self.classifier.is_settled(&self.graph, at)
                && let Some(limit) = expand(&mut self.graph, at, at, session)
            {
                return Some(limit);
            }
            at += 1;
        }
        if self.graph.is_complete(self.classifier.repeated) {
            return None;
        }
        self.classifier.set_abstraction(Abstraction::new(
            self.graph.chain,
            self.classifier.repeated,
            session.size_bound(Bound::ProbAbstractStates),
            session,
        ));
        if self.classifier.repeated { self.expand_drained(3, session) } else { None }
    }

    /// Makes every drained configuration that may be reachable part of the graph, and all that is reachable from there
    /// with buffers of at most this size.
    pub(super) fn expand_drained(&mut self, size: usize, session: &Session) -> Option<Limit> {
        if let Some(abstraction) = &self.classifier.abstraction {
            for (_, state) in abstraction.drained(self.graph.chain) {
                for last in self.graph.chain.lasts() {
                    self.graph.add(Config { state, last });
                }
            }
        }
        self.expand_up_to(size, session)
    }

    /// Every drained configuration that may be reachable, once [`expand_drained`](Self::expand_drained) has made them
    /// part of the graph; `None` if they are not known.
    pub(super) fn drained_roots(&self) -> Option<Vec<usize>> {
        let abstraction = self.classifier.abstraction.as_ref()?;
        let configs = abstraction
            .drained(self.graph.chain)
            .flat_map(|(_, state)| self.graph.chain.lasts().map(move |last| Config { state, last }));
        configs.map(|config| self.graph.number_of(&config)).collect()
    }

    /// Whether something that is known and not settled can be expanded.
    pub(super) fn has_more(&mut self) -> bool {
        (0..self.graph.len())
            .any(|number| self.graph.is_expandable(number) && !self.classifier.is_settled(&self.graph, number))
    }

    /// Expands everything known and everything reachable from there with buffers of at most this size.
    pub(super) fn expand_up_to(&mut self, size: usize, session: &Session) -> Option<Limit> {
        let mut at = 0;
        while at < self.graph.len() {
            if self.graph.is_expandable(at)
                && !self.classifier.is_settled(&self.graph, at)
                && self.graph.chain.model.size(&self.graph.config(at).state) <= size
                && let Some(limit) = expand(&mut self.graph, at, at, session)
            {
                return Some(limit);
            }
            at += 1;
        }
        None
    }

    /// Solves the system for a start and certifies what comes out.
    pub(super) fn solve(&mut self, start: &[(usize, f64)], precision: f64, session: &Session) -> Solved {
        let classes = self.classifier.classes(&self.graph);
        let mut visits = System::new(&self.graph, &classes).visits(start, precision, session);
        // Any numbers will do, but numbers they must be.
        visits.iter_mut().filter(|visits| !visits.is_finite()).for_each(|visits| *visits = 0.0);
        let certificate = certify(&self.graph, &classes, start, &visits);
        Solved { classes, visits, certificate }
    }

    /// Expands where what is left over waits, to get that down to a part of `epsilon` in the end.
    pub(super) fn grow(&mut self, surplus: &[f64], epsilon: f64, session: &Session) -> Growth {
        self.turns += 1;
        let consults = self.turns == PATIENCE && self.classifier.has_undecided(&self.graph);
        if consults {
            self.classifier.add_oracle(&self.graph, session);
        }
        let waiting =
            surplus.iter().copied().enumerate().filter(|&(number, mass)| mass > 0.0 && !self.graph.is_expanded(number));
        let (expandable, others): (Vec<_>, Vec<_>) = waiting.partition(|&(number, _)| self.graph.is_expandable(number));
        let sum = |waiting: &[(usize, f64)]| waiting.iter().map(|&(_, mass)| mass).sum::<f64>();
        if let Some(&(first, _)) = others.first().filter(|_| sum(&others) >= epsilon) {
            return Growth::Stuck(self.graph.obstacle(first).unwrap_or(Obstacle::Choices));
        }
        let extent = Extent { rest: (sum(&expandable) / 256.0).max(epsilon / 16.0), most: self.graph.len().max(1_000) };
        match follow(&mut self.graph, &mut self.classifier, expandable, extent, session) {
            Err(limit) => Growth::Grew(Some(limit)),
            Ok(0) if !consults => Growth::Stuck(Obstacle::Precision),
            Ok(_) => Growth::Grew(None),
        }
    }
}

//! What `weir prob` was asked and what was found.

use weir::prob::{Certainty, Cost, Estimate, ExactAnswer, Interval, Obstacle, Probability, Qualitative, Target};
use weir::translate::slice::Growth;
use weir_ir::Diagnostic;
use weir_witness::Replay;

use super::subject::Subject;
use crate::wording::growth::growth_text;
use crate::wording::limit::{limit_text, obstacle_text};

/// How sure the intervals of simulations are.
pub const CONFIDENCE: f64 = 0.999;

/// All that is known about the target of a program.
pub struct Odds<'a> {
    /// The program.
    pub subject: Subject<'a>,
    /// What was asked.
    pub question: Asked,
    /// The target.
    pub target: &'a Target,
    /// What was found.
    pub outcome: Outcome,
    /// What may grow without bound, if the answer is not known, or not precisely.
    pub growth: Vec<Growth>,
    /// This program and its variant, side by side.
    pub compared: Vec<Compared>,
}

/// What `weir prob` was asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The question.
    pub kind: ProbQuestion,
    /// Whether the target must be reached infinitely often.
    pub repeated: bool,
    /// The maximum width of intervals.
    pub epsilon: f64,
    /// The random seed of a simulation.
    pub seed: u64,
}

/// Questions about probability and cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProbQuestion {
    /// Is the target reached with probability 1?
    AlmostSure,
    /// Is the target reached with probability 0?
    AlmostNever,
    /// How likely is it to reach the target?
    Probability,
    /// What is the expected cost of reaching the target, over the runs that do?
    Cost,
    /// What do random runs show?
    Simulate,
}

impl ProbQuestion {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::AlmostSure, Self::AlmostNever, Self::Probability, Self::Cost, Self::Simulate];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::AlmostSure => "almost-sure",
            Self::AlmostNever => "almost-never",
            Self::Probability => "probability",
            Self::Cost => "cost",
            Self::Simulate => "simulate",
        }
    }

    /// The question in words.
    pub fn description(self) -> &'static str {
        match self {
            Self::AlmostSure => "Is the target reached with probability 1?",
            Self::AlmostNever => "Is the target reached with probability 0?",
            Self::Probability => "How likely is it to reach the target?",
            Self::Cost => "What is the expected cost of reaching the target, over the runs that do?",
            Self::Simulate => "What do random runs show?",
        }
    }
}

/// What was found.
pub enum Outcome {
    /// Whether the target is reached almost surely, or almost never.
    Almost(Qualitative),
    /// How likely it is.
    Probability(Probability),
    /// The same or the cost as a fraction, or why there is none.
    Exact(ExactAnswer),
    /// The expected cost.
    Cost(Cost),
    /// What random runs show, and one of them.
    Simulated(Estimate, Box<Replay>),
    /// The analysis does not support something in the program.
    Refused(Box<Diagnostic>),
}

impl Outcome {
    /// What kept the answer from being known, or known precisely, if anything did.
    pub fn obstacle(&self) -> Option<Obstacle> {
        match self {
            Self::Almost(answer) => match &answer.certainty {
                Certainty::Unknown(obstacle) => Some(*obstacle),
                _ => None,
            },
            Self::Probability(answer) => answer.obstacle,
            Self::Exact(answer) => answer.obstacle(),
            Self::Cost(answer) => answer.obstacle,
            Self::Simulated(estimate, _) => estimate.limit.map(Obstacle::Limit),
            Self::Refused(_) => None,
        }
    }
}

/// One program of a comparison.
pub struct Compared {
    /// Its file.
    pub file: String,
    /// How likely the target is.
    pub probability: Probability,
    /// The condition up to which costs are counted.
    pub until: String,
    /// The expected cost up to there.
    pub cost: Cost,
    /// Whether the answer itself gives this probability.
    pub is_given: bool,
}

/// A number of a comparison that is not known precisely.
pub(crate) struct Gap<'a> {
    pub(crate) file: &'a str,
    /// Which number.
    pub(crate) what: String,
    /// What is known about it.
    pub(crate) interval: Interval,
    pub(crate) obstacle: Obstacle,
}

impl Compared {
    /// The numbers that are not known precisely, except what the answer itself says.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = Gap<'_>> {
        let gap = |what: String, interval, obstacle| Gap { file: &self.file, what, interval, obstacle };
        let probability = self.probability.obstacle.filter(|_| !self.is_given);
        let probability = probability.map(|obstacle| {
            gap("the probability of reaching the target".to_owned(), self.probability.interval, obstacle)
        });
        let cost = self.cost.cost.zip(self.cost.obstacle);
        let cost = cost
            .map(|(interval, obstacle)| gap(format!("the expected cost up to `{}`", self.until), interval, obstacle));
        probability.into_iter().chain(cost)
    }
}

impl Odds<'_> {
    /// The numbers of the comparison that are not known precisely, except what the answer itself says.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = Gap<'_>> {
        self.compared.iter().flat_map(Compared::gaps)
    }

    /// Whether there is no cost because no run reaches the target.
    pub(crate) fn is_never(&self) -> bool {
        match &self.outcome {
            Outcome::Cost(answer) => answer.cost.is_none(),
            Outcome::Exact(ExactAnswer::Known(answer)) => {
                self.question.kind == ProbQuestion::Cost && answer.cost.is_none()
            }
            _ => false,
        }
    }

    /// Why a number is not known as precisely as was requested.
    pub(crate) fn reason(&self, obstacle: Obstacle) -> String {
        let growth = match obstacle {
            Obstacle::Limit(_) | Obstacle::Unbounded => growth_text(self.subject.program, &self.growth),
            Obstacle::Choices | Obstacle::Odds | Obstacle::Fractions | Obstacle::Precision => None,
        };
        growth.unwrap_or_else(|| obstacle_text(obstacle, &self.subject.limits))
    }

    /// Why there is no exact value.
    pub(crate) fn exact_reason(&self, obstacle: Obstacle) -> String {
        match obstacle {
            Obstacle::Limit(limit) => limit_text(limit, &self.subject.limits),
            _ => self.reason(Obstacle::Fractions),
        }
    }
}

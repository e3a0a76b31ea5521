//! Probabilities and expected costs: programs under Total Store Order with a random scheduler and random flushes.
//!
//! After P. A. Abdulla, M. F. Atig, R. A. Agarwal, A. Godbole, S. Krishna, "Probabilistic Total Store Ordering", 2022.
//! `chain` is the Markov chain; `prob01` finds Prob0 and Prob1 states; `probability` encloses numbers.
//! `docs/probability.md` explains what is computed and why the intervals are certified.
//!
//! Direction of error: none. An interval contains the true value whatever was left out and however numbers were
//! rounded; if it cannot be made narrow enough within the limits, the answer says so.

mod abstraction;
mod almost;
mod bounds;
mod chain;
mod confidence;
mod cost;
mod curve;
mod enclosure;
mod exact;
mod explore;
mod flow;
mod frequency;
mod graph;
mod growth;
mod impossible;
mod model;
mod obstacle;
mod oracle;
mod paths;
mod prob01;
mod probability;
mod proof;
mod rational;
mod rng;
mod rounding;
mod sampler;
mod settings;
mod simulate;
mod target;
#[cfg(test)]
mod testing;
mod transitions;
mod updates;
mod visits;

pub use almost::{Almost, Certainty, DrainedState, Qualitative, almost};
pub(crate) use chain::MOST_CHOICES;
pub use cost::{Cost, cost};
pub use curve::{Curve, curve};
pub use exact::{Exact, ExactAnswer, exact_cost, exact_probability};
pub use frequency::{Frequency, frequencies};
pub use growth::growth;
pub(crate) use model::MOST_COST;
pub use obstacle::Obstacle;
pub use probability::{Interval, Probability, Question, probability};
pub use proof::{Claimed, certify_chance, chance_question, interval};
pub use rational::{NotRational, Rational};
pub use settings::{Fraction, Settings, UpdatePolicy};
pub use simulate::{Estimate, Simulation, simulate, simulated_frequencies};
pub use target::{Alternative, Target};

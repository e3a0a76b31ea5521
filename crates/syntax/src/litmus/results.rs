//! What the final states of a program say about its test.

use std::collections::BTreeSet;

use weir_ir::{Expr, StateExpr, Value};

use super::{Litmus, Quantifier};

/// The distinct final states of a test, with what they say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Results {
    /// The values of what is observed, ascending, and whether the condition holds there.
    pub states: Vec<(Vec<Value>, bool)>,
}

/// How often the condition holds in final states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    /// In none.
    Never,
    /// In some.
    Sometimes,
    /// In all, and there is one.
    Always,
}

impl Observation {
    /// As the herd tools write it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Never => "Never",
            Self::Sometimes => "Sometimes",
            Self::Always => "Always",
        }
    }
}

impl Litmus {
    /// What must be known about each final state: what is observed, then whether the condition holds and the state
    /// counts.
    pub fn expressions(&self) -> Vec<StateExpr> {
        let observed = self.observed.iter().map(|observable| observable.value.clone());
        let filter = self.filter.clone().unwrap_or(Expr::Const(1));
        observed.chain([self.condition.clone(), filter]).collect()
    }

    /// The results, given the values of [`Litmus::expressions`] in each final state.
    pub fn results(&self, outcomes: &BTreeSet<Vec<Value>>) -> Results {
        let mut states = BTreeSet::new();
        for values in outcomes {
            let Some((observed, [condition, filter])) = values.split_last_chunk::<2>() else { continue };
            if *filter != 0 {
                states.insert((observed.to_vec(), *condition != 0));
            }
        }
        Results { states: states.into_iter().collect() }
    }

    /// Whether the results are what the test asks for.
    pub fn is_met_by(&self, results: &Results) -> bool {
        match self.quantifier {
            Quantifier::Exists => results.positive() > 0,
            Quantifier::NotExists => results.positive() == 0,
            Quantifier::Forall => results.negative() == 0,
        }
    }
}

impl Results {
    /// How many final states meet the condition.
    pub fn positive(&self) -> usize {
        self.states.iter().filter(|(_, holds)| *holds).count()
    }

    /// How many do not.
    pub fn negative(&self) -> usize {
        self.states.len() - self.positive()
    }

    /// How often the condition holds.
    pub fn observation(&self) -> Observation {
        match (self.positive(), self.negative()) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        }
    }
}

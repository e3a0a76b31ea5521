//! The answer of `weir litmus` for one test.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use weir::{Limit, Limits};
use weir_syntax::litmus::{Litmus, Observable, Observation, Quantifier, Results};
use weir_witness::Model;

use super::head::{CommandName, Head};
use super::records::LimitRecord;
use crate::run::ModelRecord;
use crate::wording::limit::limit_text;

/// Verdicts of `weir litmus`.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LitmusVerdict {
    /// The final states are as the test requires: at least one satisfies `exists`, none `~exists`, all `forall`.
    Ok,
    /// They are not.
    No,
    /// Inconclusive; `reason` says why.
    Unknown,
}

/// In how many final states the condition holds.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ObservationName {
    Never,
    Sometimes,
    Always,
}

/// A value of a register or a cell.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ValueRecord {
    Number(i64),
    /// A value of an unsigned 64-bit type.
    Unsigned(u64),
    /// The address of this cell.
    Address(String),
}

/// The answer of `weir litmus` for one test.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LitmusAnswer {
    #[serde(flatten)]
    pub head: Head<LitmusVerdict>,
    /// The name given in the first line of the test.
    pub name: String,
    /// The memory model.
    pub model: ModelRecord,
    /// The condition of the test, in the syntax of the herd tools.
    pub condition: String,
    /// In how many final states the condition holds. Absent if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<ObservationName>,
    /// Number of distinct final states that satisfy the condition; of those found so far if the verdict is `unknown`.
    pub positive: u64,
    /// Number of distinct final states that do not.
    pub negative: u64,
    /// The distinct final states, restricted to the variables in the condition and in `locations`.
    pub states: Vec<BTreeMap<String, ValueRecord>>,
    /// Number of distinct states of the program in all runs.
    pub visited: u64,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What ended the search, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    #[serde(skip)]
    pub(crate) origin: Ran,
}

/// A test that was run.
pub struct Ran {
    /// The test.
    pub test: Litmus,
    /// The memory model.
    pub model: Model,
    /// Its final states, as far as they are known.
    pub results: Results,
    /// What ended the search early, if anything.
    pub stopped: Option<Limit>,
    /// How many states were visited.
    pub visited: u64,
    /// Wall-clock time, including reading the test.
    pub elapsed: Duration,
}

impl LitmusAnswer {
    /// The answer about a test in a file, run within these limits.
    pub fn new(file: &Path, ran: Ran, limits: &Limits) -> Self {
        let Ran { test, model, results, stopped, visited, elapsed } = &ran;
        let verdict = match stopped {
            Some(_) => LitmusVerdict::Unknown,
            None if test.is_met_by(results) => LitmusVerdict::Ok,
            None => LitmusVerdict::No,
        };
        Self {
            head: Head::new(CommandName::Litmus, file, verdict, *elapsed),
            name: test.name.clone(),
            model: (*model).into(),
            condition: question(test),
            observation: stopped.is_none().then(|| results.observation().into()),
            positive: results.positive() as u64,
            negative: results.negative() as u64,
            states: results.states.iter().map(|(values, _)| state(test, values)).collect(),
            visited: *visited,
            reason: stopped.map(|limit| limit_text(limit, limits)),
            limit: stopped.map(LimitRecord::from),
            origin: ran,
        }
    }
}

impl From<Observation> for ObservationName {
    fn from(observation: Observation) -> Self {
        match observation {
            Observation::Never => Self::Never,
            Observation::Sometimes => Self::Sometimes,
            Observation::Always => Self::Always,
        }
    }
}

/// The question as the herd tools write it.
fn question(test: &Litmus) -> String {
    let quantifier = match test.quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::Forall => "forall",
    };
    format!("{quantifier} ({})", test.condition_text)
}

fn state(test: &Litmus, values: &[i64]) -> BTreeMap<String, ValueRecord> {
    let value = |observable: &Observable, value: i64| match test.address_name(value) {
        Some(name) => ValueRecord::Address(name.to_owned()),
        None if observable.is_unsigned => ValueRecord::Unsigned(value as u64),
        None => ValueRecord::Number(value),
    };
    let pairs = test.observed.iter().zip(values);
    pairs.map(|(observable, &found)| (observable.name.clone(), value(observable, found))).collect()
}

//! Why a saved run or certificate does not fit the program.

use weir_witness::{BackwardError, CertificateError, ChanceFault, CheckError, MalformedRow};

/// Why a saved run or certificate does not fit the program.
#[derive(Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The step, state or configuration, from 1, if the reason concerns one.
    pub number: Option<u64>,
    /// The reason.
    pub reason: String,
}

/// Why a certificate was not accepted.
#[derive(Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It is wrong.
    Mismatch(Mismatch),
    /// Checking was interrupted: nothing is known about it.
    Interrupted,
}

impl Mismatch {
    /// A mismatch of the whole.
    pub(super) fn whole(reason: impl Into<String>) -> Self {
        Self { number: None, reason: reason.into() }
    }

    /// A mismatch at one step, state or configuration, counted from 0.
    pub(super) fn at(index: usize, reason: String) -> Self {
        Self { number: Some(index as u64 + 1), reason }
    }

    /// In one line; `what` is what was counted.
    pub fn text(&self, what: &str) -> String {
        self.number.map_or_else(|| self.reason.clone(), |number| format!("{what} {number}: {}", self.reason))
    }

    /// Splits a message of the checker that starts with what it is about.
    fn split(number: Option<u64>, what: &str, message: &str) -> Self {
        let prefix = number.map_or_else(String::new, |number| format!("{what} {number}: "));
        Self { number, reason: message.strip_prefix(&prefix).unwrap_or(message).to_owned() }
    }
}

impl From<CheckError> for Mismatch {
    fn from(error: CheckError) -> Self {
        let step = match &error {
            CheckError::Replay(error) => error.step.map(|step| step.number() as u64),
            CheckError::Goal(_) => None,
        };
        Self::split(step, "step", &error.to_string())
    }
}

impl From<CertificateError> for Mismatch {
    fn from(error: CertificateError) -> Self {
        Self::split(error.state.map(|state| state as u64 + 1), "state", &error.to_string())
    }
}

impl From<MalformedRow> for Mismatch {
    fn from(MalformedRow(number): MalformedRow) -> Self {
        Self::at(number, "it is malformed, or not in ascending order".to_owned())
    }
}

impl From<ChanceFault> for Mismatch {
    fn from(fault: ChanceFault) -> Self {
        Self::split(fault.state().map(|state| state as u64 + 1), "state", &fault.to_string())
    }
}

impl From<BackwardError> for Mismatch {
    fn from(error: BackwardError) -> Self {
        Self { number: error.configuration.map(|number| number as u64 + 1), reason: error.to_string() }
    }
}

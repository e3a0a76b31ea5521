//! The answers of `weir replay`: about a saved run, and about saved certificates.

use std::path::Path;

use serde::Serialize;
use weir::prob::interval;
use weir_ir::Program;

use super::cover::NetSubject;
use super::head::{CommandName, Head, YesNo};
use super::subject::Subject;
use crate::run::Evidence;
use crate::saved::{Mismatch, SavedCertificate, SavedNetProof, SavedWitness};

/// The answer of `weir replay`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<YesNo>,
    /// The witness file as named on the command line.
    pub witness_file: String,
    /// What the run claims to show.
    pub goal: String,
    /// Number of steps.
    pub steps: u64,
    /// Why the verdict is `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first step that is impossible or not as claimed, from 1; absent if only the last state is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    #[serde(skip)]
    pub(crate) origin: ReplayOrigin<'a>,
}

/// What the answer was built from, for formats that show more than its fields.
pub(crate) struct ReplayOrigin<'a> {
    pub(crate) program: &'a Program,
    pub(crate) saved: &'a SavedWitness,
    pub(crate) result: Result<Evidence, Mismatch>,
}

impl<'a> ReplayAnswer<'a> {
    /// Whether a saved run is as the file claims, given what came of [replaying](SavedWitness::replay) it.
    pub fn new(
        subject: &Subject<'a>,
        witness_file: &Path,
        saved: &'a SavedWitness,
        result: Result<Evidence, Mismatch>,
    ) -> Self {
        let program = subject.program;
        let mismatch = result.as_ref().err();
        Self {
            head: subject.head(CommandName::Replay, YesNo::new(mismatch.is_none())),
            witness_file: witness_file.display().to_string(),
            goal: goal_texts(program, saved).join(", "),
            steps: saved.steps.len() as u64,
            reason: mismatch.map(|mismatch| mismatch.reason.clone()),
            step: mismatch.and_then(|mismatch| mismatch.number),
            origin: ReplayOrigin { program, saved, result },
        }
    }

    /// The run, if it is as the file claims.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.origin.result.as_ref().ok()
    }
}

fn goal_texts(program: &Program, saved: &SavedWitness) -> Vec<String> {
    saved.metadata.specification.iter().map(|goal| goal.text(program)).collect()
}

/// The answer of `weir replay` about a certificate.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CertificateAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<YesNo>,
    /// The certificate file as named on the command line.
    pub certificate_file: String,
    /// The properties that it proves.
    pub goals: Vec<String>,
    /// Number of states or configurations; of the cheapest fences, number of runs that they stop.
    pub states: u64,
    /// What the cheapest fences cost, if that is what it proves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// What a probability is at least, if that is what it proves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// What that probability is at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Why the verdict is `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first state that is wrong, from 1, if the reason concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<u64>,
    #[serde(skip)]
    pub(crate) origin: CertificateOrigin<'a>,
}

/// What the answer was built from, for formats that show more than its fields.
pub(crate) struct CertificateOrigin<'a> {
    pub(crate) program: &'a Program,
    pub(crate) saved: &'a SavedCertificate,
    /// What is wrong, in one line.
    pub(crate) complaint: Option<String>,
}

impl<'a> CertificateAnswer<'a> {
    /// Whether a saved certificate is a proof, given what came of [checking](SavedCertificate::check) it.
    pub fn new(
        subject: &Subject<'a>,
        certificate_file: &Path,
        saved: &'a SavedCertificate,
        result: Result<(), Mismatch>,
    ) -> Self {
        let program = subject.program;
        let mismatch = result.err();
        let (what, states) = saved.size();
        let interval = saved.chance.as_ref().map(|chance| interval((chance.lower, chance.upper)));
        Self {
            head: subject.head(CommandName::Replay, YesNo::new(mismatch.is_none())),
            certificate_file: certificate_file.display().to_string(),
            goals: saved.goal_texts(program),
            states,
            cost: saved.cost(),
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
            reason: mismatch.as_ref().map(|mismatch| mismatch.reason.clone()),
            state: mismatch.as_ref().and_then(|mismatch| mismatch.number),
            origin: CertificateOrigin { program, saved, complaint: mismatch.map(|mismatch| mismatch.text(what)) },
        }
    }
}

/// The answer of `weir replay` about a proof that a net cannot cover its targets.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetCertificateAnswer {
    #[serde(flatten)]
    pub head: Head<YesNo>,
    /// The certificate file as named on the command line.
    pub certificate_file: String,
    /// Number of markings.
    pub markings: u64,
    /// Number of linear facts.
    pub facts: u64,
    /// Why the verdict is `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl NetCertificateAnswer {
    /// Whether a saved certificate is a proof, given what came of [checking](SavedNetProof::check) it.
    pub fn new(
        subject: &NetSubject<'_>,
        certificate_file: &Path,
        saved: &SavedNetProof,
        result: Result<(), Mismatch>,
    ) -> Self {
        let (markings, facts) = saved.size();
        let verdict = YesNo::new(result.is_ok());
        Self {
            head: Head::new(CommandName::Replay, subject.file, verdict, subject.elapsed),
            certificate_file: certificate_file.display().to_string(),
            markings,
            facts,
            reason: result.err().map(|mismatch| mismatch.reason),
        }
    }
}

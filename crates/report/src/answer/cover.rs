//! The answer of `weir cover`.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use weir::petri::{Engine, Report};
use weir::{Limit, Limits, Verdict};
use weir_ir::net::{CoverTarget, Net, Tokens};
use weir_ir::{ControlId, Diagnostic, PlaceId};
use weir_witness::net::{CheckedFiring, CoverProof, Firing, FiringStep};

use super::diagnostic::DiagnosticRecord;
use super::head::{CommandName, Head};
use super::records::LimitRecord;
use crate::wording::limit::limit_text;

/// Verdicts of `weir cover`.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CoverVerdict {
    /// A target can be covered; the run is in `witness`.
    Reachable,
    /// No target can be covered; `proof` says how that was proved.
    Unreachable,
    /// Inconclusive; `reason` says why.
    Unknown,
}

/// The answer of `weir cover`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoverAnswer<'a> {
    #[serde(flatten)]
    pub head: Head<CoverVerdict>,
    /// The method that gave the answer; the one that was asked, if the verdict is `unknown`.
    pub engine: &'static str,
    /// Number of places; of local states in a thread transition system.
    pub places: usize,
    /// Number of transitions.
    pub transitions: usize,
    /// Number of control states; of shared states in a thread transition system.
    pub controls: usize,
    /// The target that is covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetRecord>,
    /// The run, if the verdict is `reachable`. It was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<FiringRecord>,
    /// The proof, if the verdict is `unreachable`. It was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofRecord>,
    /// Why the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What ended the search, if the verdict is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitRecord>,
    /// Warnings and notes about the net.
    pub warnings: Vec<DiagnosticRecord>,
    /// What was done.
    pub statistics: CoverStatisticsRecord,
    #[serde(skip)]
    pub(crate) origin: CoverOrigin<'a>,
}

/// What the answer was built from.
pub(crate) struct CoverOrigin<'a> {
    pub(crate) subject: NetSubject<'a>,
    pub(crate) report: &'a Report,
}

/// What an answer about a net is about.
#[derive(Clone, Copy)]
pub struct NetSubject<'a> {
    /// The file as named on the command line.
    pub file: &'a Path,
    /// The net.
    pub net: &'a Net,
    /// Warnings about it.
    pub warnings: &'a [Diagnostic],
    /// The limits that were set.
    pub limits: Limits,
    /// Wall-clock time, including reading the input.
    pub elapsed: Duration,
    /// Peak memory of the process, if the system reports it.
    pub peak_memory: Option<u64>,
}

/// A target.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetRecord {
    /// Its number in the file or on the command line, from 1.
    pub number: usize,
    /// Its line, if it is in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What it says.
    pub text: String,
}

/// A firing sequence.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FiringRecord {
    /// The marking it starts in.
    pub initial: Vec<TokensRecord>,
    /// Number of tokens in that marking; of threads in a thread transition system.
    pub tokens: u64,
    /// What is fired.
    pub steps: Vec<FiringStepRecord>,
}

/// One step of a firing sequence.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FiringStepRecord {
    /// The number of the transition in the file, from 1.
    pub transition: usize,
    /// Its line.
    pub line: u32,
    /// The control state afterwards; of nets with several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// The marking afterwards; left out in runs of many steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marking: Option<Vec<TokensRecord>>,
}

/// A place that is marked.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokensRecord {
    /// The place.
    pub place: String,
    /// The number of tokens.
    pub count: u64,
}

/// What a proof consists of.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProofRecord {
    /// What kind of proof it is.
    pub kind: ProofKind,
    /// Number of markings in it.
    pub markings: usize,
    /// Number of linear facts in it.
    pub facts: usize,
}

/// Kinds of proofs.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProofKind {
    /// Facts about all reachable markings exclude every target.
    Facts,
    /// The minimal markings from which a target could be covered, closed under predecessors up to such facts.
    Backward,
    /// Markings with unbounded counts that contain all reachable ones, closed under successors.
    Forward,
    /// All reachable markings.
    Listed,
}

/// What was done.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoverStatisticsRecord {
    /// Minimal markings of the backward search.
    pub minimal: u64,
    /// Markings of the forward searches.
    pub forward: u64,
    /// Linear facts.
    pub facts: u64,
    /// Peak memory of the process in bytes, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
}

impl<'a> CoverAnswer<'a> {
    /// The answer, from the report of the library.
    pub fn new(subject: NetSubject<'a>, report: &'a Report) -> Self {
        let net = subject.net;
        let verdict = match report.verdict {
            Verdict::Holds => CoverVerdict::Unreachable,
            Verdict::Violated(_) => CoverVerdict::Reachable,
            Verdict::Unknown(_) => CoverVerdict::Unknown,
        };
        let firing = if let Verdict::Violated(firing) = &report.verdict { Some(firing) } else { None };
        let limit = if let Verdict::Unknown(limit) = report.verdict { Some(limit) } else { None };
        let statistics = report.statistics;
        Self {
            head: Head::new(CommandName::Cover, subject.file, verdict, subject.elapsed),
            engine: report.engine.name(),
            places: net.places.len(),
            transitions: net.transitions.len(),
            controls: net.controls.len(),
            target: firing.map(|firing| TargetRecord::new(net, firing.target())),
            witness: firing.map(|firing| FiringRecord::new(net, firing)),
            proof: report.proof.as_ref().map(ProofRecord::new),
            reason: limit.map(|limit| reason(net, limit, report.engine, &subject.limits)),
            limit: limit.map(LimitRecord::from),
            warnings: DiagnosticRecord::all(&net.source, subject.warnings),
            statistics: CoverStatisticsRecord {
                minimal: statistics.minimal,
                forward: statistics.forward,
                facts: statistics.facts,
                peak_memory_bytes: subject.peak_memory,
            },
            origin: CoverOrigin { subject, report },
        }
    }
}

/// Runs of more steps are listed without their markings.
const MOST_MARKINGS: usize = 10_000;

/// Why the verdict is unknown.
fn reason(net: &Net, limit: Limit, engine: Engine, limits: &Limits) -> String {
    match limit {
        Limit::Alarm if !net.is_cover_question() => {
            "the target has upper bounds, which no proof takes into account, and no run to it was found".to_owned()
        }
        Limit::Alarm => format!("the method `{}` cannot tell", engine.name()),
        Limit::Extensions => "numbers of tokens became too large".to_owned(),
        limit => limit_text(limit, limits),
    }
}

impl TargetRecord {
    pub(crate) fn new(net: &Net, number: usize) -> Self {
        let target = &net.targets[number];
        let is_in_file = target.span.end > target.span.start;
        let line = is_in_file.then(|| net.source.line(target.span));
        Self { number: number + 1, line, text: target_text(net, target) }
    }
}

/// A target as a condition.
fn target_text(net: &Net, target: &CoverTarget) -> String {
    let mut parts: Vec<String> = target.control.iter().map(|&control| net.control_name(control).to_owned()).collect();
    let exact = |&(place, low): &Tokens| target.at_most.contains(&(place, low));
    let name = |place: PlaceId| net.place_name(place);
    let low = target.at_least.iter().map(|entry| {
        let sign = if exact(entry) { "=" } else { ">=" };
        format!("{} {sign} {}", name(entry.0), entry.1)
    });
    parts.extend(low);
    let high = target.at_most.iter().filter(|entry| !target.at_least.contains(entry));
    parts.extend(high.map(|&(place, count)| match count {
        0 => format!("{} = 0", name(place)),
        _ => format!("{} <= {count}", name(place)),
    }));
    if parts.is_empty() { "any marking".to_owned() } else { parts.join(", ") }
}

impl FiringRecord {
    fn new(net: &Net, firing: &CheckedFiring) -> Self {
        let Firing { initial, steps } = firing.firing();
        let has_markings = steps.len() <= MOST_MARKINGS;
        let steps = steps.iter().zip(firing.configurations(net).skip(1));
        let step = |(step, (control, marking)): (&FiringStep, (ControlId, Vec<u64>))| FiringStepRecord {
            transition: step.transition.index() + 1,
            line: net.source.line(net.transition(step.transition).span),
            control: (net.controls.len() > 1).then(|| net.control_name(control).to_owned()),
            marking: has_markings.then(|| TokensRecord::all(net, &marking)),
        };
        Self {
            initial: TokensRecord::all(net, initial),
            tokens: initial.iter().sum(),
            steps: steps.map(step).collect(),
        }
    }
}

impl TokensRecord {
    fn all(net: &Net, marking: &[u64]) -> Vec<Self> {
        let marked = marking.iter().enumerate().filter(|(_, count)| **count > 0);
        let record = |(place, &count)| Self { place: net.place_name(PlaceId::new(place)).to_owned(), count };
        marked.map(record).collect()
    }
}

impl ProofRecord {
    fn new(proof: &CoverProof) -> Self {
        match proof {
            CoverProof::Backward { facts, basis, .. } => {
                let kind = if basis.is_empty() { ProofKind::Facts } else { ProofKind::Backward };
                Self { kind, markings: basis.len(), facts: facts.len() }
            }
            CoverProof::Listed(all) => Self { kind: ProofKind::Listed, markings: all.len(), facts: 0 },
            CoverProof::Forward(ideals) => Self { kind: ProofKind::Forward, markings: ideals.len(), facts: 0 },
        }
    }
}

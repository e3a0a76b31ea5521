//! Any answer.

use serde::Serialize;

use super::check::CheckAnswer;
use super::cover::CoverAnswer;
use super::fences::FencesAnswer;
use super::litmus::LitmusAnswer;
use super::plain::{ErrorAnswer, FormatAnswer, StoppedAnswer, TranslateAnswer};
use super::prob::ProbAnswer;
use super::reach::ReachAnswer;
use super::replay::{CertificateAnswer, NetCertificateAnswer, ReplayAnswer};
use super::robust::RobustAnswer;
use crate::run::Evidence;

/// One answer: one object per file, on one line.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Answer<'a> {
    Check(Box<CheckAnswer<'a>>),
    Reach(Box<ReachAnswer<'a>>),
    Robust(Box<RobustAnswer<'a>>),
    Fences(Box<FencesAnswer<'a>>),
    Prob(Box<ProbAnswer<'a>>),
    Litmus(Box<LitmusAnswer>),
    Cover(Box<CoverAnswer<'a>>),
    Translate(TranslateAnswer),
    Replay(Box<ReplayAnswer<'a>>),
    Certificate(CertificateAnswer<'a>),
    NetCertificate(NetCertificateAnswer),
    Format(FormatAnswer),
    Stopped(StoppedAnswer),
    Error(ErrorAnswer),
}

impl Answer<'_> {
    /// The run that was found, if there is one.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Self::Check(answer) => answer.evidence(),
            Self::Reach(answer) => answer.evidence(),
            Self::Robust(answer) => answer.evidence(),
            Self::Replay(answer) => answer.evidence(),
            _ => None,
        }
    }
}

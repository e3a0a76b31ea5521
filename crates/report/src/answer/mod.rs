//! What an answer is. Each command has one type, built once from what the library found. It serializes itself: its
//! public fields are the JSON contract, and `docs/schema.json` is generated from them. Fields may be added; none is
//! renamed or removed without saying so in the change log. What it was built from stays with it, for formats that show
//! the source and the run.

#![allow(missing_docs, reason = "each comment is a description in the JSON Schema; plain names go without")]

mod any;
pub(crate) mod check;
mod copies;
pub(crate) mod cover;
pub(crate) mod coverage;
mod diagnostic;
pub(crate) mod exchanges;
mod fence_records;
pub(crate) mod fences;
mod goals;
mod head;
mod judged;
pub(crate) mod litmus;
mod numbers;
pub(crate) mod odds;
mod plain;
pub(crate) mod prob;
mod prob_records;
pub(crate) mod reach;
mod records;
pub(crate) mod repairs;
pub(crate) mod replay;
pub(crate) mod robust;
mod subject;

pub use any::Answer;
pub use check::{AttemptEnd, AttemptRecord, CheckAnswer, CheckQuestion, CheckVerdict, PropertyRecord, PropertyVerdict};
pub use copies::{CopiesRecord, CopyRecord};
pub use cover::{
    CoverAnswer, CoverStatisticsRecord, CoverVerdict, FiringRecord, FiringStepRecord, NetSubject, ProofKind,
    ProofRecord, TargetRecord, TokensRecord,
};
pub use diagnostic::{DiagnosticRecord, LabelRecord, PlaceRecord, SeverityName};
pub use fence_records::{AccessRecord, FenceRecord, FencesVerdict, NeedRecord, ReasonRecord, RemovedRecord};
pub use fences::{FencesAnswer, TableRecord};
pub use goals::GoalRecord;
pub use head::{CommandName, ErrorVerdict, Head, StoppedVerdict, YesNo};
pub use litmus::{LitmusAnswer, LitmusVerdict, ObservationName, Ran, ValueRecord};
pub use odds::{Asked, CONFIDENCE, Compared, Odds, Outcome, ProbQuestion};
pub use plain::{ErrorAnswer, FormatAnswer, StoppedAnswer, TranslateAnswer};
pub use prob::{ProbAnswer, ProbVerdict};
pub use prob_records::{ComparedRecord, EstimateRecord, IntervalRecord, PlainRecord, VisitsRecord};
pub use reach::{ReachAnswer, ReachQuestion, ReachVerdict, RoundRecord};
pub use records::{
    AttacksRecord, DelayRecord, InstructionRecord, LimitRecord, StateRecord, StatisticsRecord, ThreadStateRecord,
};
pub use repairs::{Census, FencePlace, FencesQuestion, NeedCount, RemovedFence, Repair, Repairs};
pub use replay::{CertificateAnswer, NetCertificateAnswer, ReplayAnswer};
pub use robust::{RACES, RaceRecord, RobustAnswer, RobustVerdict};
pub use subject::Subject;

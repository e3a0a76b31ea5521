//! What an analysis found, or why it does not support the program.

use std::sync::Arc;

use weir::{Limit, Limits, Verdict};
use weir_ir::Diagnostic;
use weir_witness::Checked;

use super::records::LimitRecord;
use crate::run::Evidence;
use crate::wording::limit::limit_text;

/// A verdict, or why the engine refuses the program.
pub(crate) type Judged<E = Arc<Evidence>> = Result<Verdict<E>, Box<Diagnostic>>;

/// Explains the run of a violation. This can take a moment, so it is done once.
pub(super) fn explained(verdict: Verdict<Box<Checked>>) -> Verdict<Arc<Evidence>> {
    verdict.map(|checked| Arc::new(Evidence::new(checked)))
}

/// The run that was found, if there is one.
pub(super) fn evidence<E>(judged: &Judged<E>) -> Option<&E> {
    if let Ok(Verdict::Violated(evidence)) = judged { Some(evidence) } else { None }
}

/// The limit that made the analysis inconclusive, if one did.
pub(super) fn limit<E>(judged: &Judged<E>) -> Option<Limit> {
    if let Ok(Verdict::Unknown(limit)) = judged { Some(*limit) } else { None }
}

/// Why the verdict is unknown, if it is.
pub(super) fn reason<E>(judged: &Judged<E>, limits: &Limits) -> Option<String> {
    match judged {
        Ok(Verdict::Holds | Verdict::Violated(_)) => None,
        Ok(Verdict::Unknown(limit)) => Some(limit_text(*limit, limits)),
        Err(diagnostic) => Some(diagnostic.message.clone()),
    }
}

/// What made the verdict unknown, if it is.
pub(super) fn limit_record<E>(judged: &Judged<E>) -> Option<LimitRecord> {
    match judged {
        Ok(_) => limit(judged).map(LimitRecord::from),
        Err(_) => Some(LimitRecord::Refused),
    }
}

//! The options of `weir robust`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir::robust::Criterion;
use weir_report::Format;
use weir_report::answer::CommandName;

use super::common::{AnalysisOptions, OUTPUT, SEARCH};
use super::values::{self, MethodChoice};

/// Options of `weir robust`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RobustOptions {
    /// What store buffers must not change: traces, or only which states with empty buffers are reached. A program that
    /// is robust for traces is robust for states, too
    #[arg(long, value_parser = values::criterion(), default_value = Criterion::Traces.name(), value_name = "WHAT", help_heading = SEARCH)]
    pub(crate) of: Criterion,

    /// Method. All methods agree, but `trf` can be inconclusive
    #[arg(long, value_parser = values::method(), default_value = MethodChoice::DEFAULT.name(), help_heading = SEARCH)]
    pub(crate) method: MethodChoice,

    /// Save the proof of `robust`, for `weir replay --property robust`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,

    /// Output format: text, one JSON object per file, or the run as a Graphviz graph
    #[arg(long, value_parser = values::format(CommandName::Robust), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

impl RobustOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.of == Criterion::States && self.method != MethodChoice::DEFAULT {
            return Err("`--method` is about traces: leave it out with `--of states`".into());
        }
        if self.of == Criterion::States && self.certificate.is_some() {
            return Err("`--certificate` proves trace robustness: it cannot be combined with `--of states`".into());
        }
        self.common.check()?;
        self.common.check_certificate(self.certificate.as_deref())
    }
}

const EXAMPLES: &str = "\
Examples:
  weir robust peterson.weir                       Do store buffers change its behaviour?
  weir robust -D N=4 --timeout 10m lamport.weir   Set a constant; stop after ten minutes
  weir robust --of states nbw.weir                Does it at least reach the same states?
  weir robust --svg cycle.svg sb.weir             Draw why the run is impossible without buffers
  weir robust --witness run.json sb.weir          Save the run, for `weir replay`
  weir robust --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 robust, 1 not robust, 2 bad usage or bad input, 3 unknown.";

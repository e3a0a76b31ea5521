//! The options of `weir check`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir_report::Format;
use weir_report::answer::CommandName;
use weir_witness::Model;

use super::common::{AnalysisOptions, OUTPUT, SEARCH};
use super::values;

/// Options of `weir check`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckOptions {
    /// Memory model: with store buffers (tso), or with every store visible immediately (sc)
    #[arg(long, value_parser = values::model(), default_value = Model::Tso.name(), help_heading = SEARCH)]
    pub(crate) model: Model,

    /// Check only this property: its number in the file (from 1), `deadlock`, `stuck`, `assert`, or the name of a
    /// thread (for its assertions). Can be repeated [default: all properties and assertions]
    #[arg(long = "goal", value_name = "GOAL", help_heading = SEARCH)]
    pub(crate) goals: Vec<String>,

    /// Show the runs of all properties that are violated or met, not just of the first that is violated
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) all_witnesses: bool,

    /// Save the proofs of the properties that hold, for `weir replay`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,

    /// Output format: text, one JSON object per file, or the run as a Graphviz graph
    #[arg(long, value_parser = values::format(CommandName::Check), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

impl CheckOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        self.common.check()?;
        self.common.check_certificate(self.certificate.as_deref())
    }
}

const EXAMPLES: &str = "\
Examples:
  weir check peterson.weir                       Do its properties hold with store buffers?
  weir check -D N=4 --timeout 10m lamport.weir   Set a constant; stop after ten minutes
  weir check --witness run.json dekker.rmm       Save the run, for `weir replay`
  weir check --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 safe (every property holds, every `exists` is met), 1 unsafe, 2 bad usage or bad input, 3 unknown.";

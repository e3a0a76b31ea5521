//! The options of `weir check`.

use clap::Args;
use weir_report::Format;
use weir_report::answer::CommandName;

use super::common::{AnalysisOptions, OUTPUT, SEARCH};
use super::values;

/// Options of `weir check`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckOptions {
    /// Check only this property: its number in the file (from 1), `deadlock`, `assert`, or the name of a thread (for
    /// its assertions). Can be repeated [default: all properties and assertions]
    #[arg(long = "goal", value_name = "GOAL", help_heading = SEARCH)]
    pub(crate) goals: Vec<String>,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,

    /// Output format: text, one JSON object per file, or the run as a Graphviz graph
    #[arg(long, value_parser = values::format(CommandName::Check), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

const EXAMPLES: &str = "\
Examples:
  weir check peterson.weir                       Do its properties hold with store buffers?
  weir check -D N=4 --timeout 10m lamport.weir   Set a constant; stop after ten minutes
  weir check --witness run.json dekker.rmm       Save the run, for `weir replay`
  weir check --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 safe, 1 unsafe, 2 bad usage or bad input, 3 unknown.";

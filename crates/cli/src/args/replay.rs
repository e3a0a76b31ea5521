//! The options of `weir replay`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir_report::Format;
use weir_report::answer::CommandName;
use weir_witness::Model;

use super::common::{OUTPUT, ProgramOptions, ResourceOptions};
use super::values;
use crate::input::is_stdin;

/// Help heading of the options that state the question.
const QUESTION: &str = "Question";

/// Options of `weir replay`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayOptions {
    /// The program or net; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// A run saved by `--witness`, or a proof saved by `--certificate`
    #[arg(value_name = "EVIDENCE", value_hint = ValueHint::FilePath)]
    pub(crate) evidence: PathBuf,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    /// The memory model that you ask about: with store buffers (tso), or with every store visible immediately (sc)
    #[arg(long, value_parser = values::model(), default_value = Model::Tso.name(), help_heading = QUESTION)]
    pub(crate) model: Model,

    /// The property that you ask about: its number in the file (from 1), `deadlock`, `stuck`, `assert`, the name of a
    /// thread (for its assertions), or `robust`. Can be repeated [default: all properties and assertions; `robust` if
    /// there are none]
    #[arg(long = "property", visible_alias = "goal", value_name = "PROPERTY", help_heading = QUESTION)]
    pub(crate) properties: Vec<String>,

    /// The target of a `.tts` file that you ask about, as for `weir cover`; can be repeated
    #[arg(long = "target", value_name = "STATES", help_heading = QUESTION)]
    pub(crate) targets: Vec<String>,

    #[command(flatten)]
    pub(crate) limits: ResourceOptions,

    /// Output format: text, one JSON object, or the run as a Graphviz graph
    #[arg(long, value_parser = values::format(CommandName::Replay), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

const EXAMPLES: &str = "\
Examples:
  weir reach --witness run.json sb.weir
  weir replay sb.weir run.json
  weir robust --witness run.json sb.weir
  weir replay --property robust sb.weir run.json

You name the program, constants, memory model and properties; evidence for anything else is refused.

Exit status: 0 the run or proof is valid, 1 it is not, 2 bad usage or bad input, 3 unknown.";

impl ReplayOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        if is_stdin(&self.file) && is_stdin(&self.evidence) {
            return Err("the program and the evidence cannot both come from standard input".into());
        }
        self.program.check()
    }
}

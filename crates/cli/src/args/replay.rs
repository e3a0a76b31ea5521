//! The options of `weir replay`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir_report::Format;
use weir_report::answer::CommandName;
use weir_syntax::Language;

use super::common::{OUTPUT, ResourceOptions};
use super::values;
use crate::input::is_stdin;

/// Options of `weir replay`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayOptions {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// A run saved by `--witness`, or a proof saved by `--certificate`
    #[arg(value_name = "WITNESS", value_hint = ValueHint::FilePath)]
    pub(crate) witness: PathBuf,

    /// Language of the program [default: determined by the file extension; standard input is read as weir]
    #[arg(long, value_parser = values::language(), value_name = "LANGUAGE")]
    pub(crate) from: Option<Language>,

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

Exit status: 0 the run or proof is valid, 1 it is not, 2 bad usage or bad input, 3 unknown.";

impl ReplayOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        if is_stdin(&self.file) && is_stdin(&self.witness) {
            return Err("the program and the witness cannot both come from standard input".into());
        }
        Ok(())
    }
}

//! The options of `weir fmt`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir_report::Format;
use weir_report::answer::CommandName;

use super::common::{OUTPUT, ResourceOptions};
use super::values;

/// Options of `weir fmt`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FormatOptions {
    /// Files to format in place; `-` formats standard input to standard output
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Change nothing; list the files that are not formatted, and exit with status 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,

    #[command(flatten)]
    pub(crate) limits: ResourceOptions,

    /// Output format: text, or one JSON object per file
    #[arg(long, value_parser = values::format(CommandName::Fmt), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

const EXAMPLES: &str = "\
Examples:
  weir fmt *.weir              Format files in place
  weir fmt --check *.weir      For CI: exit with status 1 if a file is not formatted
  weir fmt - < a.weir          Print the formatted program to standard output";

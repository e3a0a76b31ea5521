//! The options of `weir litmus`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir_report::Format;
use weir_report::answer::CommandName;
use weir_witness::Model;

use super::common::{LimitOptions, OUTPUT};
use super::values;

/// Options of `weir litmus`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LitmusOptions {
    /// Litmus tests, folders of tests, or lists of tests (`@all`); `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,

    /// Also run tests outside the folder of the list that names them
    #[arg(long)]
    pub(crate) follow: bool,

    /// Memory model: with store buffers (tso), or with every store visible immediately (sc)
    #[arg(long, value_parser = values::model(), default_value = Model::Tso.name())]
    pub(crate) model: Model,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Show the final states of each test, even if several tests are given
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Output format: text, one JSON object per test, or a log in the format of herd7
    #[arg(long, value_parser = values::format(CommandName::Litmus), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

const EXAMPLES: &str = "\
Examples:
  weir litmus SB.litmus                     One test, with all its final states
  weir litmus --model sc tests/             All tests in a folder, without store buffers
  weir litmus @all                          The tests listed in the file `@all`
  weir litmus --format herd tests/ > log    A log for tools such as `mcompare7`
  weir reach SB.litmus                      A run whose final state satisfies the condition

Exit status: 0 every test is ok, 1 at least one is not, 2 bad usage or bad input, 3 unknown.";

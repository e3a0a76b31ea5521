//! The options of `weir cover`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir::petri::Engine;
use weir_report::Format;
use weir_report::answer::CommandName;
use weir_syntax::nets::NetFormat;

use super::common::{LimitOptions, OUTPUT, SEARCH};
use super::values;
use crate::input::is_stdin;

/// Where a thread transition system starts by default.
pub(crate) const DEFAULT_START: &str = "0|/0";

/// Options of `weir cover`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CoverOptions {
    /// Nets (`.spec`) or thread transition systems (`.tts`); `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Input format [default: determined by the file extension; standard input is read as spec]
    #[arg(long, value_parser = values::net_format(), value_name = "FORMAT", help_heading = "Net")]
    pub(crate) from: Option<NetFormat>,

    /// Target of a `.tts` file: a shared state and the local states of threads, as in `3|0,0,2`, or a file with such
    /// lines. Can be repeated [default: the file of the same name with `.prop` appended, or instead of `.tts`]
    #[arg(long = "target", value_name = "STATES", help_heading = "Net")]
    pub(crate) targets: Vec<String>,

    /// Start of a `.tts` file: a shared state, local states of threads, and behind `/` those with any number of
    /// threads, as in `0|1/0`
    #[arg(long, value_name = "STATES", default_value = DEFAULT_START, help_heading = "Net")]
    pub(crate) init: String,

    /// Method
    #[arg(long, value_parser = values::cover_engine(), default_value = Engine::Auto.name(), help_heading = SEARCH)]
    pub(crate) engine: Engine,

    /// Save the proof that no target can be covered, for `weir replay`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Also print statistics
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Output format: text, or one JSON object per file
    #[arg(long, value_parser = values::format(CommandName::Cover), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

impl CoverOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        match &self.certificate {
            Some(path) if is_stdin(path) => Err("`--certificate` needs a file name".into()),
            Some(_) if self.files.len() > 1 => {
                Err("`--certificate` saves a single proof: give exactly one FILE".into())
            }
            _ => Ok(()),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  weir cover mutex.spec                           Can the target be covered?
  weir cover --target '2|1,1' lock.tts            With two threads in local state 1
  weir cover --engine backward --timeout 60s *.spec
  weir cover --certificate proof mutex.spec       Save the proof, for `weir replay mutex.spec proof`
  weir cover --format json *.spec | jq -r '.file + \" \" + .verdict'

Exit status: 0 unreachable, 1 reachable, 2 bad usage or bad input, 3 unknown.";

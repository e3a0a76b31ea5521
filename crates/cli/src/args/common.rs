//! Options that several commands have in common.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueHint};
use weir::{Bound, Limits};
use weir_ir::Value;
use weir_syntax::Language;

use super::units::{parse_bound, parse_define, parse_function, parse_jobs, parse_size, parse_time};
use super::values::{self, Color};
use crate::input::is_stdin;
use crate::memory;

/// Help heading of the options that control output.
pub(super) const OUTPUT: &str = "Output";

/// Help heading of the options that control the search.
pub(super) const SEARCH: &str = "Search";

/// Help heading of the limits.
const LIMITS: &str = "Limits";

/// Console options; the same for all commands.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct ConsoleOptions {
    /// When to use colours: `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", global = true)]
    pub(crate) color: Color,

    /// Print only the answer: no warnings, explanations or progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// Options of every command that searches for runs.
#[derive(Args, Debug)]
pub(crate) struct AnalysisOptions {
    /// Programs to analyse; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Also print statistics
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Save the run that was found as JSON, for `weir replay` and other tools
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) witness: Option<PathBuf>,

    /// Draw the happens-before cycle that makes the run impossible without store buffers, as an SVG image
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) svg: Option<PathBuf>,
}

impl AnalysisOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        for (option, path) in [("--witness", &self.witness), ("--svg", &self.svg)] {
            if path.is_some() && self.files.len() > 1 {
                return Err(format!("`{option}` saves a single run: give exactly one FILE"));
            }
            if path.as_deref().is_some_and(is_stdin) {
                return Err(format!("`{option}` needs a file name; `--format` prints the run in other formats"));
            }
        }
        self.program.check()
    }
}

impl AnalysisOptions {
    /// Whether a certificate can be saved there.
    pub(super) fn check_certificate(&self, path: Option<&Path>) -> Result<(), String> {
        check_certificate(path, &self.files)
    }
}

/// Whether a certificate of the answer about these files can be saved there.
pub(super) fn check_certificate(path: Option<&Path>, files: &[PathBuf]) -> Result<(), String> {
    match path {
        Some(path) if is_stdin(path) => Err("`--certificate` needs a file name".into()),
        Some(_) if files.len() > 1 => Err("`--certificate` saves a single proof: give exactly one FILE".into()),
        _ => Ok(()),
    }
}

/// How to read programs; the same for all commands that read them.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Program")]
pub(crate) struct ProgramOptions {
    /// Input language [default: determined by the file extension; standard input is read as weir]
    #[arg(long, value_parser = values::language(), value_name = "LANGUAGE")]
    pub(crate) from: Option<Language>,

    /// Override the value of a `const` of the program; can be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_define)]
    pub(crate) defines: Vec<(String, Value)>,

    #[command(flatten)]
    pub(crate) compiled: CompiledOptions,
}

/// What to make of compiled code; in addition to what a `.weir.toml` file beside it says.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Compiled code")]
pub(crate) struct CompiledOptions {
    /// Run this call as a thread, as in `producer(&q, 3)`; `P=producer(&q, 3)` names the thread. Can be repeated
    #[arg(long = "thread", value_name = "CALL")]
    pub(crate) threads: Vec<String>,

    /// Make this call before the threads start, to prepare memory; can be repeated
    #[arg(long, value_name = "CALL")]
    pub(crate) init: Vec<String>,

    /// A property of compiled code, such as `forbid q.len > 4` or `always P.result == 1`; can be repeated
    #[arg(long = "claim", value_name = "PROPERTY")]
    pub(crate) claims: Vec<String>,

    /// What a function does that is not in the file: `nothing`, `fail`, `fence`, `membarrier`, `malloc`, `calloc`,
    /// `free`, or the number that it returns; can be repeated
    #[arg(long = "function", value_name = "NAME=WHAT", value_parser = parse_function)]
    pub(crate) functions: Vec<(String, weir_x86::Outcome)>,
}

impl CompiledOptions {
    /// The first of these options that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--thread", self.threads.is_empty()),
            ("--init", self.init.is_empty()),
            ("--claim", self.claims.is_empty()),
            ("--function", self.functions.is_empty()),
        ];
        given.into_iter().find(|(_, is_empty)| !is_empty).map(|(name, _)| name)
    }
}

impl ProgramOptions {
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut names: Vec<&str> = self.defines.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("the constant `{}` is defined twice with `-D`", pair[0])),
            None => Ok(()),
        }
    }
}

/// Limits on time and memory, per file; every command that works on files has them.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = LIMITS)]
pub(crate) struct ResourceOptions {
    /// Time limit, such as 500ms, 60s, 10m or 2h; a plain number means seconds [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) timeout: Option<Duration>,

    /// Memory limit for the process, such as 512MiB or 4GB [default: 4GiB, or nine tenths of what the container or
    /// `ulimit` allows if that is less]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
}

impl ResourceOptions {
    /// The limits as the library takes them.
    pub(crate) fn limits(&self) -> Limits {
        Limits { time: self.timeout, memory: Some(self.memory.unwrap_or_else(memory::default_limit)), states: None }
    }
}

/// Limits of a command that searches, per file.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = LIMITS)]
pub(crate) struct LimitOptions {
    /// Number of worker threads; does not affect the answer [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) resources: ResourceOptions,

    /// Maximum number of distinct states, over all searches of the question [default: none]
    #[arg(long, value_name = "N")]
    pub(crate) states: Option<NonZeroU64>,

    /// Limit on one stage; `weir limits` lists them (can be repeated)
    #[arg(long = "limit", value_name = "NAME=N", value_parser = parse_bound)]
    pub(crate) bounds: Vec<(Bound, u64)>,
}

impl LimitOptions {
    /// The limits as the library takes them.
    pub(crate) fn limits(&self) -> Limits {
        Limits { states: self.states.map(NonZeroU64::get), ..self.resources.limits() }
    }

    /// Number of workers.
    pub(crate) fn workers(&self) -> NonZeroUsize {
        self.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}

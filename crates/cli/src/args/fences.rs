//! The options of `weir fences`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::values::{AimName, PlainFormat};
use super::{LimitOptions, OUTPUT, ProgramOptions, SEARCH};

/// Options of `weir fences`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FencesOptions {
    /// Programs to mend; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// What a fence costs: 1 (unit), 10 for each loop around it, multiplied (loops), how often it would be executed on the average in the first 1000
    /// steps of a run (frequency, see `weir prob`), or what a file says: lines `LINE COST`
    /// or `LABEL COST`, and 1 elsewhere. In a thread that runs several times a fence is paid for once a copy
    #[arg(long, value_name = "unit|loops|frequency|FILE", default_value = "unit", value_parser = parse_cost, help_heading = SEARCH)]
    pub(crate) cost: CostChoice,

    /// What the fences are for: that store buffers change nothing (robust), that no property can be broken (safe), which
    /// can take fewer, or that no triangular race is left (trf), which can take more
    #[arg(long = "for", alias = "aim", value_enum, default_value_t = AimName::Robust, value_name = "AIM", help_heading = SEARCH)]
    pub(crate) aim: AimName,

    /// Find all cheapest sets of fences, not just one
    #[arg(long, help_heading = SEARCH)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Print the program with its fences, in the language it came in, and nothing else
    #[arg(long, conflicts_with = "stats", help_heading = OUTPUT)]
    pub(crate) write: bool,

    /// Also print statistics: the size of the program, and what became of each pair of a store and a load. Takes further searches
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stats: bool,

    /// Also print what the search took
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Form of the answer: for people, or for programs (one JSON object a file)
    #[arg(long, value_enum, default_value_t = PlainFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: PlainFormat,
}

/// Where costs come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CostChoice {
    /// Every fence costs 1.
    Unit,
    /// Ten for each loop around it, multiplied.
    Loops,
    /// As often as it would be executed in random runs.
    Frequency,
    /// What the file says.
    File(PathBuf),
}

fn parse_cost(text: &str) -> Result<CostChoice, String> {
    match text {
        "unit" => Ok(CostChoice::Unit),
        "loops" => Ok(CostChoice::Loops),
        "frequency" => Ok(CostChoice::Frequency),
        "" => Err("say `unit`, `loops`, `frequency`, or the name of a file".into()),
        "-" => Err("costs cannot be read from standard input: name a file".into()),
        file => Ok(CostChoice::File(file.into())),
    }
}

impl FencesOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.write && self.format == PlainFormat::Text && self.files.len() > 1 {
            return Err("`--write` prints one program: give it with one FILE, or with `--format json`".into());
        }
        self.program.check()
    }
}

const EXAMPLES: &str = "\
Examples:
  weir fences peterson.weir                       Where to put fences
  weir fences --for safe dekker.weir              Only as many as the properties need
  weir fences --write sb.weir > sb-fenced.weir    The program with its fences
  weir fences --all sb.weir                       All sets that are as cheap
  weir fences --cost loops seqlock.weir           Rather outside of loops
  weir fences --cost frequency seqlock.weir       Rather where runs seldom come by
  weir fences --stats --format json *.weir        A table of programs

Exit status: 0 fences were found or none is needed, 1 no fence helps (`--for safe`), 2 bad usage or bad input, 3 unknown.";

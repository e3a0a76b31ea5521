//! The options of `weir fences`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir::fences::Aim;
use weir_report::Format;
use weir_report::answer::CommandName;

use super::common::{LimitOptions, OUTPUT, ProgramOptions, SEARCH, check_certificate};
use super::values;

/// Options of `weir fences`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FencesOptions {
    /// Programs to repair; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Cost of a fence: 1 (unit); a factor of 10 for each enclosing loop (loops); how often it is executed on average
    /// in the first 1000 steps of a run (frequency, see `weir prob`); or as listed in a file, with lines `LINE COST` or
    /// `LABEL COST`, and 1 elsewhere. In a replicated thread, each copy of a fence counts
    #[arg(long, value_name = "unit|loops|frequency|FILE", default_value = "unit", value_parser = parse_cost, help_heading = SEARCH)]
    pub(crate) cost: CostChoice,

    /// What the fences must achieve: robustness (robust); the same states as without store buffers (states) or that
    /// every property holds (safe), which may take fewer; or the absence of triangular races (trf), which may take more
    #[arg(long = "for", alias = "aim", value_parser = values::aim(), default_value = Aim::Robust.name(), value_name = "AIM", help_heading = SEARCH)]
    pub(crate) aim: Aim,

    /// Find which of the program's own fences are not needed: fence instructions, and exchanges whose result is not
    /// read, for which a plain store may be enough
    #[arg(long, help_heading = SEARCH)]
    pub(crate) remove: bool,

    /// Find all cheapest sets of fences, not just one
    #[arg(long, help_heading = SEARCH)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Print only the program with the fences inserted (with `--remove`: without those that are not needed), in its
    /// original language
    #[arg(long, conflicts_with = "stats", help_heading = OUTPUT)]
    pub(crate) write: bool,

    /// Save the proof that these fences are enough, and that no cheaper ones are, for `weir replay --for AIM`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,

    /// Also print statistics: the size of the program, and how the attacks were decided. Takes additional searches
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stats: bool,

    /// Also print statistics of the search
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Output format: text, or one JSON object per file
    #[arg(long, value_parser = values::format(CommandName::Fences), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

/// Where costs come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CostChoice {
    /// Every fence costs 1.
    Unit,
    /// A factor of ten for each enclosing loop.
    Loops,
    /// The expected number of executions in random runs.
    Frequency,
    /// As listed in the file.
    File(PathBuf),
}

pub(super) fn parse_cost(text: &str) -> Result<CostChoice, String> {
    match text {
        "unit" => Ok(CostChoice::Unit),
        "loops" => Ok(CostChoice::Loops),
        "frequency" => Ok(CostChoice::Frequency),
        "" => Err("expected `unit`, `loops`, `frequency` or a file name".into()),
        "-" => Err("costs cannot be read from standard input; give a file name".into()),
        file => Ok(CostChoice::File(file.into())),
    }
}

impl FencesOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.write && self.format == Format::Text && self.files.len() > 1 {
            return Err("`--write` prints a single program: give exactly one FILE, or use `--format json`".into());
        }
        self.check_certificate()?;
        self.program.check()
    }

    /// Whether there is a proof that can be saved.
    fn check_certificate(&self) -> Result<(), String> {
        if self.certificate.is_none() {
            return Ok(());
        }
        match self.aim {
            Aim::Robust | Aim::Safe => {}
            Aim::States | Aim::RaceFree => {
                let aim = self.aim.name();
                return Err(format!(
                    "`--certificate` proves what `--for robust` and `--for safe` find: it cannot be combined with \
                     `--for {aim}`"
                ));
            }
        }
        if self.all {
            return Err("`--certificate` proves one cheapest set of fences: leave out `--all`".into());
        }
        check_certificate(self.certificate.as_deref(), &self.files)
    }
}

const EXAMPLES: &str = "\
Examples:
  weir fences peterson.weir                       Find where to put fences
  weir fences --for states nbw.weir               Only as many as it takes to reach the same states
  weir fences --for safe dekker.weir              Only as many as the properties need
  weir fences --write sb.weir > sb-fenced.weir    Write the program with its fences
  weir fences --remove queue.weir                 Find fences that are not needed
  weir fences --all sb.weir                       Show every set of minimum cost
  weir fences --cost loops seqlock.weir           Prefer places outside of loops
  weir fences --cost frequency seqlock.weir       Prefer places that are rarely executed
  weir fences --certificate proof sb.weir         Save a proof, for `weir replay --for robust`
  weir fences --stats --format json *.weir        Compare programs

Exit status: 0 fences were found or none are needed, 1 no fence helps (`--for safe`) or there are too few (`--remove`),
2 bad usage or bad input, 3 unknown.";

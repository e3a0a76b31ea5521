//! The options of `weir prob`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir::prob::{Fraction, Settings, UpdatePolicy};
use weir_report::Format;
use weir_report::answer::{CommandName, ProbQuestion};

use super::common::{LimitOptions, OUTPUT, ProgramOptions, SEARCH, check_certificate};
use super::values::{self, SymmetryName};
use crate::input::is_stdin;

/// Help heading of the options about scheduling, flushing and simulation.
const ODDS: &str = "Odds";

/// Options of `weir prob`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProbOptions {
    /// Programs to analyse; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// The target: a condition over places and registers, such as `P0 at critical && P1.r == 0`, or `deadlock`, or
    /// `stuck`. A condition that mentions cells is evaluated only while all buffers are empty [default: the conditions
    /// of the program's properties, deadlocks and stuck threads if it forbids them, and failing assertions]
    #[arg(long, value_name = "CONDITION", help_heading = SEARCH)]
    pub(crate) target: Option<String>,

    /// Question to answer about the target
    #[arg(long, value_parser = values::question(), default_value = ProbQuestion::Probability.name(), help_heading = SEARCH)]
    pub(crate) question: ProbQuestion,

    /// Ask whether the target is reached infinitely often, rather than once
    #[arg(long, help_heading = SEARCH)]
    pub(crate) repeated: bool,

    /// Maximum width of the interval for a probability or a cost
    #[arg(long, value_name = "WIDTH", default_value = "1e-6", value_parser = parse_epsilon, allow_hyphen_values = true, help_heading = SEARCH)]
    pub(crate) epsilon: f64,

    /// Compute an exact fraction instead of an interval, if the program has finitely many configurations and small
    /// loops
    #[arg(long, help_heading = SEARCH)]
    pub(crate) exact: bool,

    /// Whether configurations that differ only in the numbering of interchangeable threads of equal weight count as one,
    /// where a probability is computed. `on` refuses what excludes it
    #[arg(long, value_enum, default_value_t = SymmetryName::Auto, value_name = "WHEN", help_heading = SEARCH)]
    pub(crate) symmetry: SymmetryName,

    /// File with the costs of steps: lines `KIND COST` or `LABEL COST`, where a kind is load, store, fence, rmw, lock
    /// or local. These rules come after the program's own `cost` rules; a step without a rule costs 1
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = SEARCH)]
    pub(crate) costs: Option<PathBuf>,

    /// Compare with a variant of the program, such as one with fences: shows the probability of the target and the
    /// expected cost side by side
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = SEARCH)]
    pub(crate) compare: Option<PathBuf>,

    /// With --compare: the condition up to which costs are counted [default: the target]
    #[arg(long, value_name = "CONDITION", requires = "compare", help_heading = SEARCH)]
    pub(crate) until: Option<String>,

    /// How much likelier the thread that stepped last is to step again
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_fraction, allow_hyphen_values = true, help_heading = ODDS)]
    pub(crate) stickiness: Fraction,

    /// How stores leave the buffers after each step: every sequence of flushes equally likely (uniform); another flush
    /// with probability P, repeatedly (geometric:P); or part of one buffer, with longer buffers likelier (single)
    #[arg(long, value_name = "POLICY", default_value = "uniform", value_parser = parse_updates, help_heading = ODDS)]
    pub(crate) updates: UpdatePolicy,

    /// Simulation: number of runs
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true, help_heading = ODDS)]
    pub(crate) runs: u64,

    /// Simulation: random seed; the same seed gives the same runs
    #[arg(long, value_name = "S", default_value_t = 1, allow_negative_numbers = true, help_heading = ODDS)]
    pub(crate) seed: u64,

    /// Maximum number of steps of a simulated run or of a curve [default: 10000 for runs, 200 for a curve]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000), allow_negative_numbers = true, help_heading = ODDS)]
    pub(crate) steps: Option<u64>,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Also save the probability of reaching the target within n steps as a curve: an image if the name ends in .svg,
    /// otherwise a CSV table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) curve: Option<PathBuf>,

    /// Save the proof of the answer, for `weir replay --question QUESTION`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,

    /// Also print statistics
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Output format: text, or one JSON object per file
    #[arg(long, value_parser = values::format(CommandName::Prob), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

fn parse_epsilon(text: &str) -> Result<f64, String> {
    let epsilon: f64 = text.parse().map_err(|_| "expected a number, such as 1e-6 or 0.001".to_owned())?;
    if epsilon > 0.0 && epsilon.is_finite() {
        return Ok(epsilon);
    }
    Err("the width must be positive; use `--exact` for the exact value".to_owned())
}

pub(super) fn parse_fraction(text: &str) -> Result<Fraction, String> {
    if text.starts_with('-') {
        return Err("the factor must be positive; 1 means no stickiness".into());
    }
    let read = Fraction::parse(text).ok_or("expected a number, such as 2, 1.5 or 3/2, with at most nine digits")?;
    if read.numerator == 0 {
        return Err(
            "a factor of 0 would starve a thread; use a positive factor, so that every thread has a chance".into()
        );
    }
    Ok(read)
}

pub(super) fn parse_updates(text: &str) -> Result<UpdatePolicy, String> {
    let policy = match text.split_once(':') {
        None if text == "uniform" => UpdatePolicy::Uniform,
        None if text == "single" => UpdatePolicy::Single,
        Some(("geometric", p)) => {
            let p = Fraction::parse(p).ok_or("expected a probability, as in `geometric:0.9` or `geometric:9/10`")?;
            UpdatePolicy::Geometric(p)
        }
        _ => return Err("expected `uniform`, `single`, or `geometric:P` with a probability P".into()),
    };
    let settings = Settings { updates: policy, ..Settings::default() };
    settings.check().map_err(|failure| failure.to_string()).map(|()| policy)
}

/// The odds.
pub(super) fn settings(stickiness: Fraction, updates: UpdatePolicy) -> Settings {
    let is_one = stickiness.numerator == stickiness.denominator;
    Settings { stickiness: (!is_one).then_some(stickiness), updates, ..Settings::default() }
}

impl ProbOptions {
    /// The odds.
    pub(crate) fn settings(&self) -> Settings {
        Settings { symmetry: self.symmetry != SymmetryName::Off, ..settings(self.stickiness, self.updates) }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let question = self.question;
        if self.repeated && matches!(question, ProbQuestion::Cost | ProbQuestion::Simulate) {
            return Err(format!(
                "`--repeated` cannot be used with `--question {}`, where runs end at the target",
                question.name()
            ));
        }
        if self.exact && !matches!(question, ProbQuestion::Probability | ProbQuestion::Cost) {
            return Err("`--exact` needs `--question probability` or `--question cost`".into());
        }
        for (option, path) in [("--compare", &self.compare), ("--curve", &self.curve)] {
            if path.is_some() && self.files.len() > 1 {
                return Err(format!("`{option}` needs exactly one FILE"));
            }
            if path.as_deref().is_some_and(is_stdin) {
                return Err(format!("`{option}` needs a file name"));
            }
            if path.is_some() && self.repeated {
                return Err(format!(
                    "`--repeated` cannot be used with `{option}`, which is about reaching the target once"
                ));
            }
        }
        self.check_symmetry()?;
        self.check_proof()?;
        self.program.check()
    }

    /// Whether threads can be exchanged at all, if that is insisted on.
    fn check_symmetry(&self) -> Result<(), String> {
        if self.symmetry != SymmetryName::On {
            return Ok(());
        }
        if self.question != ProbQuestion::Probability {
            return Err(format!(
                "`--symmetry on` cannot be used with `--question {}`; only `probability` has this option",
                self.question.name()
            ));
        }
        if self.settings().stickiness.is_some() {
            return Err("`--symmetry on` cannot be used with `--stickiness`, which tells apart who stepped last".into());
        }
        Ok(())
    }

    /// Whether there is a proof that can be saved.
    fn check_proof(&self) -> Result<(), String> {
        if self.certificate.is_none() {
            return Ok(());
        }
        if let question @ (ProbQuestion::Cost | ProbQuestion::Simulate) = self.question {
            let name = question.name();
            return Err(format!(
                "`--certificate` proves probabilities: it cannot be combined with `--question {name}`"
            ));
        }
        if self.exact {
            return Err("`--certificate` proves an interval: leave out `--exact`; `--epsilon` sets its width".into());
        }
        if self.compare.is_some() {
            return Err("`--certificate` is about one program: leave out `--compare`, and ask about each".into());
        }
        check_certificate(self.certificate.as_deref(), &self.files)
    }
}

const EXAMPLES: &str = "\
Examples:
  weir prob sb.weir                                   How likely is it that both read 0?
  weir prob --target 'P0 at critical' --question almost-sure peterson.weir
  weir prob --target 'P0 at critical' --question almost-sure --repeated peterson.weir
  weir prob --target 'P0 at critical' --question cost --epsilon 0.01 peterson.weir
  weir prob --question simulate --runs 100000 --seed 7 peterson.weir
  weir prob --curve curve.svg --steps 100 peterson.weir
  weir prob --certificate proof sb.weir               Save a proof, for `weir replay --question probability`
  weir prob --compare peterson-fenced.weir --until 'P0 at critical' peterson.weir

Exit status: 0 holds, or the number was computed; 1 does not hold; 2 bad usage or bad input; 3 unknown.";

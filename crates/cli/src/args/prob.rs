//! The options of `weir prob`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use weir::prob::{Fraction, Settings, UpdatePolicy};

use super::values::PlainFormat;
use super::{LimitOptions, OUTPUT, ProgramOptions, SEARCH};
use crate::input::is_stdin;

/// Heading of the options about what is left to chance.
const ODDS: &str = "Odds";

/// Options of `weir prob`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProbOptions {
    /// Programs to look at; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// What to look for: a condition over places and registers, such as `P0 at critical && P1.r == 0`. One that speaks of cells counts only
    /// while all buffers are empty [default: what the program's properties and assertions rule out or ask for]
    #[arg(long, value_name = "CONDITION", help_heading = SEARCH)]
    pub(crate) target: Option<String>,

    /// What to ask about it
    #[arg(long, value_enum, default_value_t = QuestionName::Probability, help_heading = SEARCH)]
    pub(crate) question: QuestionName,

    /// Whether the target must be reached again and again, for ever, rather than once
    #[arg(long, help_heading = SEARCH)]
    pub(crate) repeated: bool,

    /// How wide the interval around a probability or a cost may be
    #[arg(long, value_name = "WIDTH", default_value = "1e-6", value_parser = parse_epsilon, allow_hyphen_values = true, help_heading = SEARCH)]
    pub(crate) epsilon: f64,

    /// Answer with an exact fraction instead of an interval, where the program has finitely many configurations and small loops
    #[arg(long, help_heading = SEARCH)]
    pub(crate) exact: bool,

    /// What steps cost: lines `KIND COST` or `LABEL COST`, where a kind is load, store, fence, rmw, lock or local. They come after the `cost`
    /// rules of the program; what no rule covers costs 1
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = SEARCH)]
    pub(crate) costs: Option<PathBuf>,

    /// Compare with a variant of the program, say one with fences: the probability of the target and the expected cost, side by side
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = SEARCH)]
    pub(crate) compare: Option<PathBuf>,

    /// With --compare: up to where costs are counted [default: the target]
    #[arg(long, value_name = "CONDITION", requires = "compare", help_heading = SEARCH)]
    pub(crate) until: Option<String>,

    /// By how much likelier the thread that stepped last is to step again
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_fraction, allow_hyphen_values = true, help_heading = ODDS)]
    pub(crate) stickiness: Fraction,

    /// How stores leave the buffers after each step: every sequence of flushes equally likely (uniform); one more flush with
    /// probability P, again and again (geometric:P); any part of one buffer, longer ones likelier (single)
    #[arg(long, value_name = "POLICY", default_value = "uniform", value_parser = parse_updates, help_heading = ODDS)]
    pub(crate) updates: UpdatePolicy,

    /// Simulation: how many runs
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true, help_heading = ODDS)]
    pub(crate) runs: u64,

    /// Simulation: what decides the runs; the same seed gives the same ones
    #[arg(long, value_name = "S", default_value_t = 1, allow_negative_numbers = true, help_heading = ODDS)]
    pub(crate) seed: u64,

    /// Simulation: how long a run may be. Curve: up to how many steps [default: 10000 for runs, 200 for a curve]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000), allow_negative_numbers = true, help_heading = ODDS)]
    pub(crate) steps: Option<u64>,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Also save the probability to reach the target within so many steps as a curve: a picture if the name ends in .svg, else a table (CSV)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) curve: Option<PathBuf>,

    /// Also print what it took
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Form of the answer: for people, or for programs (one JSON object a file)
    #[arg(long, value_enum, default_value_t = PlainFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: PlainFormat,
}

/// Questions about chance.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionName {
    /// Is the target reached with probability 1?
    AlmostSure,
    /// Is the target reached with probability 0?
    AlmostNever,
    /// How likely is the target reached?
    Probability,
    /// What does it cost to reach the target, on the average over the runs that do?
    Cost,
    /// What do random runs show?
    Simulate,
}

impl QuestionName {
    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AlmostSure => "almost-sure",
            Self::AlmostNever => "almost-never",
            Self::Probability => "probability",
            Self::Cost => "cost",
            Self::Simulate => "simulate",
        }
    }
}

fn parse_epsilon(text: &str) -> Result<f64, String> {
    let epsilon: f64 = text.parse().map_err(|_| "this is no number; write it as in 1e-6 or 0.001".to_owned())?;
    if epsilon > 0.0 && epsilon.is_finite() {
        return Ok(epsilon);
    }
    Err("the width must be above 0; `--exact` asks for the exact value".to_owned())
}

fn parse_fraction(text: &str) -> Result<Fraction, String> {
    if text.starts_with('-') {
        return Err("the factor must be above 0; 1 is no stickiness at all".into());
    }
    let read = Fraction::parse(text).ok_or("write a number as in 2, 1.5 or 3/2, with at most nine digits")?;
    if read.numerator == 0 {
        return Err(
            "a factor of 0 would keep a thread from ever going on: the scheduler must leave every thread a chance"
                .into(),
        );
    }
    Ok(read)
}

fn parse_updates(text: &str) -> Result<UpdatePolicy, String> {
    let policy = match text.split_once(':') {
        None if text == "uniform" => UpdatePolicy::Uniform,
        None if text == "single" => UpdatePolicy::Single,
        Some(("geometric", p)) => {
            let p = Fraction::parse(p).ok_or("write the probability as in `geometric:0.9` or `geometric:9/10`")?;
            UpdatePolicy::Geometric(p)
        }
        _ => return Err("say `uniform`, `geometric:P` with a probability P, or `single`".into()),
    };
    let settings = Settings { updates: policy, ..Settings::default() };
    settings.check().map_err(|failure| failure.to_string()).map(|()| policy)
}

impl ProbOptions {
    /// The odds.
    pub(crate) fn settings(&self) -> Settings {
        let is_one = self.stickiness.numerator == self.stickiness.denominator;
        Settings { stickiness: (!is_one).then_some(self.stickiness), updates: self.updates }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let question = self.question;
        if self.repeated && matches!(question, QuestionName::Cost | QuestionName::Simulate) {
            return Err(format!(
                "`--repeated` makes no sense with `--question {}`: runs end at the target",
                question.name()
            ));
        }
        if self.exact && !matches!(question, QuestionName::Probability | QuestionName::Cost) {
            return Err("`--exact` goes with `--question probability` and `--question cost`".into());
        }
        for (option, path) in [("--compare", &self.compare), ("--curve", &self.curve)] {
            if path.is_some() && self.files.len() > 1 {
                return Err(format!("`{option}` goes with one FILE"));
            }
            if path.as_deref().is_some_and(is_stdin) {
                return Err(format!("`{option}` needs the name of a file"));
            }
            if path.is_some() && self.repeated {
                return Err(format!(
                    "`--repeated` makes no sense with `{option}`, which is about reaching the target once"
                ));
            }
        }
        self.program.check()
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
  weir prob --compare peterson-fenced.weir --until 'P0 at critical' peterson.weir

Exit status: 0 it holds or a number was found, 1 it does not hold, 2 bad usage or bad input, 3 unknown.";

//! The options of `weir replay`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir::fences::Aim;
use weir::prob::{Fraction, Settings, UpdatePolicy};
use weir_report::Format;
use weir_report::answer::{CommandName, ProbQuestion};
use weir_witness::Model;

use super::common::{OUTPUT, ProgramOptions, ResourceOptions};
use super::fences::{CostChoice, parse_cost};
use super::prob::{parse_fraction, parse_updates, settings};
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

    /// The target that you ask about: with `--question` a condition, as for `weir prob`; of a `.tts` file, as for `weir
    /// cover`, where it can be repeated
    #[arg(long = "target", value_name = "TARGET", help_heading = QUESTION)]
    pub(crate) targets: Vec<String>,

    /// What fences must achieve, if you ask whether those of a saved proof are the cheapest: robust or safe
    #[arg(long = "for", value_parser = values::aim(), value_name = "AIM", conflicts_with_all = ["properties", "targets"], help_heading = QUESTION)]
    pub(crate) aim: Option<Aim>,

    /// Ask which of the program's own fences are needed, as for `weir fences`
    #[arg(long, requires = "aim", help_heading = QUESTION)]
    pub(crate) remove: bool,

    /// Cost of a fence, as for `weir fences`
    #[arg(long, value_name = "unit|loops|frequency|FILE", default_value = "unit", value_parser = parse_cost, requires = "aim", help_heading = QUESTION)]
    pub(crate) cost: CostChoice,

    /// What you ask about a target, if the proof is about a probability: probability, almost-sure or almost-never
    #[arg(long, value_parser = values::question(), value_name = "QUESTION", conflicts_with_all = ["properties", "aim"], help_heading = QUESTION)]
    pub(crate) question: Option<ProbQuestion>,

    /// Ask whether the target is reached infinitely often, as for `weir prob`
    #[arg(long, requires = "question", help_heading = QUESTION)]
    pub(crate) repeated: bool,

    /// How much likelier the thread that stepped last is to step again, as for `weir prob`
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_fraction, requires = "question", allow_hyphen_values = true, help_heading = QUESTION)]
    pub(crate) stickiness: Fraction,

    /// How stores leave the buffers, as for `weir prob`
    #[arg(long, value_name = "POLICY", default_value = "uniform", value_parser = parse_updates, requires = "question", help_heading = QUESTION)]
    pub(crate) updates: UpdatePolicy,

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
  weir fences --certificate proof sb.weir
  weir replay --for robust sb.weir proof

You name the program, constants, memory model and properties; evidence for anything else is refused.

Exit status: 0 the run or proof is valid, 1 it is not, 2 bad usage or bad input, 3 unknown.";

impl ReplayOptions {
    /// The odds.
    pub(crate) fn settings(&self) -> Settings {
        settings(self.stickiness, self.updates)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if is_stdin(&self.file) && is_stdin(&self.evidence) {
            return Err("the program and the evidence cannot both come from standard input".into());
        }
        if let Some(question @ (ProbQuestion::Cost | ProbQuestion::Simulate)) = self.question {
            return Err(format!(
                "no saved proof answers `--question {}`: proofs are about probabilities",
                question.name()
            ));
        }
        if self.question.is_some() && self.targets.len() > 1 {
            return Err("a probability is about one target: join conditions with `||`".into());
        }
        if let Some(aim @ (Aim::States | Aim::RaceFree)) = self.aim {
            return Err(format!("no saved proof is about fences for `--for {}`: only for robust and safe", aim.name()));
        }
        self.program.check()
    }
}

//! The options of `weir reach`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir::reach::{Engine, Form, Reduction, Search};
use weir_report::Format;
use weir_report::answer::CommandName;
use weir_witness::Model;

use super::common::{AnalysisOptions, OUTPUT, SEARCH};
use super::values::{self, SymmetryName};

/// Options of `weir reach`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReachOptions {
    #[command(flatten)]
    pub(crate) search: SearchOptions,

    /// Save the proof of `unreachable`, for `weir replay`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,

    /// Output format: text, one JSON object per file, or the run as a Graphviz graph
    #[arg(long, value_parser = values::format(CommandName::Reach), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

/// The value of `--bound`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Precision {
    /// Raised step by step.
    Auto,
    /// Fixed.
    Number(u32),
}

impl Precision {
    /// The number, if there is one.
    pub(crate) fn number(self) -> Option<u32> {
        match self {
            Self::Auto => None,
            Self::Number(number) => Some(number),
        }
    }
}

/// Reads the value of `--bound`.
fn parse_precision(text: &str) -> Result<Precision, String> {
    match text {
        "auto" => Ok(Precision::Auto),
        _ => text.parse().map(Precision::Number).map_err(|_| "expected a number, or `auto`".into()),
    }
}

/// What to search for, and how.
#[derive(Args, Debug)]
#[command(next_help_heading = SEARCH)]
pub(crate) struct SearchOptions {
    /// Memory model: with store buffers (tso), or with every store visible immediately (sc)
    #[arg(long, value_parser = values::model(), default_value = Model::Tso.name())]
    pub(crate) model: Model,

    /// Check only this property: its number in the file (from 1), `deadlock`, `stuck`, `assert`, or the name of a
    /// thread (for its assertions). Can be repeated [default: all properties and assertions]
    #[arg(long = "goal", value_name = "GOAL")]
    pub(crate) goals: Vec<String>,

    /// Engine. `explicit`, `lazy` and `dual` are exact; `rounds` and `age` look only at some runs; the others
    /// over-approximate. Those that are not exact can answer `unknown`
    #[arg(long, value_parser = values::engine(), default_value = Engine::Explicit.name())]
    pub(crate) engine: Engine,

    /// Precision of the engine. `coherence`: how many stores are kept in order; `multiset`: how far stores are counted;
    /// `rounds`: how many rounds each thread has; `age`: how many rounds of its thread a store can wait for. `auto`
    /// raises it step by step, where the engine can do so [default: `auto`; for `multiset`, a fixed number]
    #[arg(long, value_name = "K", value_parser = parse_precision)]
    pub(crate) bound: Option<Precision>,

    /// Search order: `bfs` finds a shortest run and uses all jobs; `dfs` goes deep early and uses one job
    #[arg(long = "search", value_parser = values::search(), default_value = Search::BreadthFirst.name(), value_name = "ORDER")]
    pub(crate) order: Search,

    /// Partial order reduction of `--engine explicit`: which redundant runs to skip; `none` skips nothing. `dynamic`
    /// goes depth-first with one worker, whatever `--search` and `--jobs` say
    #[arg(long, value_parser = values::reduction(), default_value = Reduction::None.name(), value_name = "REDUCTION")]
    pub(crate) reduction: Reduction,

    /// Whether states that differ only in the numbering of interchangeable threads count as one (engine `explicit`)
    #[arg(long, value_enum, default_value_t = SymmetryName::Auto, value_name = "WHEN")]
    pub(crate) symmetry: SymmetryName,

    /// How `--engine lazy` extends the program
    #[arg(long, value_parser = values::lazy_form(), default_value = Form::Keep.name(), value_name = "FORM")]
    pub(crate) lazy_form: Form,

    /// Maximum number of times that `--engine lazy` extends the program
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) lazy_rounds: usize,

    /// With `--engine lazy`: show the steps along which each round lets stores be delayed
    #[arg(long)]
    pub(crate) trace_rounds: bool,

    /// Distinguish states by registers that are never read again (more states, same answer)
    #[arg(long)]
    pub(crate) keep_dead_registers: bool,
}

impl ReachOptions {
    pub(super) fn check(&self) -> Result<(), String> {
        self.search.check()?;
        self.common.check()?;
        self.common.check_certificate(self.certificate.as_deref())
    }
}

impl SearchOptions {
    fn check(&self) -> Result<(), String> {
        let engine = self.engine.name();
        if self.bound.is_some() && !self.engine.has_bound() {
            return Err(format!(
                "`--bound` has no effect on `--engine {engine}`; only `rounds`, `age`, `coherence` and `multiset` have \
                 a bound"
            ));
        }
        if let Some(bound) = self.bound.and_then(Precision::number).and_then(|number| self.engine.run_bound(number)) {
            bound.check()?;
        }
        if self.bound == Some(Precision::Auto) && self.engine == Engine::Multiset {
            return Err("`--engine multiset` cannot raise its bound by itself; name a number, or leave it out".into());
        }
        if self.order == Search::DepthFirst && self.engine == Engine::Dual {
            return Err("`--search` has no effect on `--engine dual`, which searches backward".into());
        }
        if self.reduction != Reduction::None && self.engine != Engine::Explicit {
            return Err(format!("`--reduction` has no effect on `--engine {engine}`; only `explicit` has this option"));
        }
        if self.symmetry == SymmetryName::On && self.reduction == Reduction::Dynamic {
            return Err(
                "`--symmetry on` and `--reduction dynamic` exclude each other; `cartesian` and `persistent` can be \
                        combined with symmetry"
                    .into(),
            );
        }
        if self.symmetry == SymmetryName::On && self.engine != Engine::Explicit {
            return Err(format!(
                "`--symmetry on` has no effect on `--engine {engine}`; only `explicit` has this option"
            ));
        }
        if self.model == Model::Sc && self.engine != Engine::Explicit {
            return Err(format!(
                "`--engine {engine}` is for store buffers, and `--model sc` has none; use `--engine explicit`"
            ));
        }
        Ok(())
    }
}

const EXAMPLES: &str = "\
Examples:
  weir reach peterson.weir                        Search with store buffers
  weir reach --model sc peterson.weir             Search without them
  weir reach -D N=4 --timeout 10m lamport.weir    Set a constant; stop after ten minutes
  weir reach --witness run.json sb.weir           Save the run, for `weir replay`
  weir reach --engine coherence mp.weir           Prove it for buffers of any size
  weir reach --engine age --bound 2 dekker.weir   Look for a violation with short waits of stores only
  weir reach --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 unreachable, 1 reachable, 2 bad usage or bad input, 3 unknown.";

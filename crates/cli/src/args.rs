//! The command line as it is written: every option is declared once, here. Help, man pages and shell
//! completions are generated from it.

mod fences;
mod prob;
mod values;

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use weir_ir::Value;
use weir_syntax::Language;

pub(crate) use fences::{CostChoice, FencesOptions};
pub(crate) use prob::{ProbOptions, QuestionName};
pub(crate) use values::{
    AimName, Color, Engine, LazyForm, LitmusFormat, Method, ModelName, PlainFormat, ReductionName, RunFormat,
    SearchName, Target,
};

use crate::input::is_stdin;
use crate::passes::{Pass, parse_pass};
use crate::units::{parse_define, parse_jobs, parse_size, parse_time};

/// Verifies concurrent programs against the store buffers of x86.
///
/// An x86 processor does not write to memory immediately: each core holds its stores in a buffer for a while,
/// where other cores cannot see them. Algorithms that are correct when every store is visible immediately
/// (sequential consistency, SC) can fail with these buffers (Total Store Order, TSO). Weir searches the runs
/// of a small model of the program for one that violates a property, and shows it step by step.
#[derive(Parser, Debug)]
#[command(name = "weir", version, subcommand_required = true, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = TOP_EXAMPLES)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) console: ConsoleOptions,
}

/// Parses the command line of this process. Prints and exits on `--help` and on usage errors.
pub(crate) fn parse() -> Arguments {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| without_hidden_suggestions(error).exit());
    if let Err(reason) = arguments.command.check() {
        Arguments::command().error(ErrorKind::ArgumentConflict, reason).exit();
    }
    arguments
}

/// Removes commands that help does not show from "did you mean" suggestions.
fn without_hidden_suggestions(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand) {
        let command = Arguments::command();
        let is_hidden = |name: &String| command.find_subcommand(name).is_some_and(clap::Command::is_hide_set);
        let shown: Vec<String> = names.iter().filter(|name| !is_hidden(name)).cloned().collect();
        error.remove(ContextKind::SuggestedSubcommand);
        if !shown.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(shown));
        }
    }
    error
}

const TOP_EXAMPLES: &str = "\
Examples:
  weir check peterson.weir               Do all properties hold with store buffers?
  weir reach peterson.weir               Can a forbidden state be reached with store buffers?
  weir reach --model sc peterson.weir    … and without them?
  weir robust peterson.weir              Do store buffers change the program's behaviour at all?
  weir fences peterson.weir              … and which fences prevent that at the lowest cost?
  weir prob peterson.weir                How likely is a forbidden state?
  weir litmus tests/                     Which final states can x86 litmus tests reach?
  weir reach dekker.rmm                  Read a Memorax (.rmm) or Trencher (.trencher, .txt) program
  weir translate peterson.weir --to dot | dot -Tsvg > peterson.svg
  weir fmt peterson.weir

Exit status:
  0  holds: every property holds, the program is robust, or fences were found
  1  violated, with a run that shows it
  2  bad usage or bad input
  3  unknown: a limit was reached, or the method is inconclusive
  For several files: 2 if any file gives 2; otherwise 1, then 3, then 0.";

/// Help heading of the options that control output.
const OUTPUT: &str = "Output";

/// Help heading of the options that control the search.
const SEARCH: &str = "Search";

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

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Check whether every property holds with store buffers
    ///
    /// Runs a portfolio of engines side by side: some search for a run that violates a property, others prove that
    /// there is none, even if buffers can grow without bound. The first conclusive answer wins, and Weir names the
    /// engine that gave it. It looks for the same violations as `weir reach`, which runs one engine of your choice.
    ///
    /// The answer is `safe`, `unsafe` with a run that shows it, or `unknown` with a summary of what each engine did.
    /// Which engine wins does not depend on the speed of the machine.
    Check(CheckOptions),
    /// Search for a reachable forbidden state
    ///
    /// By default, Weir visits every reachable state of the program until it finds one that violates a property or
    /// none are left. It looks for states that satisfy the condition of a `forbid` or `exists`, final states that do
    /// not satisfy the condition of an `always`, deadlocks if the program says `forbid deadlock`, and failing
    /// assertions.
    ///
    /// The answer is `reachable` with a run that shows it, `unreachable` if all states were visited and none matches,
    /// or `unknown` if a limit was reached first. With store buffers a program can have infinitely many states, and
    /// then this search ends only at a limit. Other engines can prove `unreachable` even then: `dual` searches
    /// backward from the forbidden states and always terminates if there are finitely many values; `lazy` delays
    /// stores only where that can make a difference; `set`, `multiset` and `coherence` over-approximate buffers, and
    /// answer `unknown` if they find a violation that they cannot confirm with a run.
    Reach(ReachOptions),
    /// Check whether store buffers change the program's behaviour
    ///
    /// A program is robust if everything it can do with store buffers (TSO) it can also do with every store visible
    /// immediately (SC): the same instructions, with each load reading from the same store. A robust program can be
    /// understood and checked as if there were no buffers. No property is needed.
    ///
    /// In a program that is not robust, some thread can delay a store past one of its later loads in a way that other
    /// threads can observe. Weir considers every such pair of a store and a load (an attack). Pairs with a fence on
    /// every path from the store to the load are ruled out by control flow; a search decides the rest.
    ///
    /// The answer is `not robust`, with a run and the happens-before cycle that makes it impossible without buffers;
    /// `robust`, if no attack is feasible; or `unknown`, if a limit was reached first. A program that is not robust
    /// may still be correct: use `weir check` to find out whether its properties hold.
    Robust(RobustOptions),
    /// Find the cheapest fences that make the program robust, or just safe
    ///
    /// Finds a set of fences of minimum cost after which store buffers no longer change the program's behaviour (see
    /// `weir robust`). The candidates are the places in the source where a fence can be written; in a `.weir` program,
    /// wherever a statement can stand. The result is checked again on the program with the fences inserted: it is
    /// robust, and removing any one of them makes it not robust.
    ///
    /// With `--for safe`, the fences only have to make the properties hold (see `weir check`). If a property is
    /// violated even without store buffers, no fence helps, and the answer is `unsafe`.
    ///
    /// Otherwise the answer is `fenced`, even if no fence is needed, or `unknown` if a limit was reached first.
    Fences(FencesOptions),
    /// Compute how likely and how costly it is to reach a target
    ///
    /// Threads are scheduled at random according to their weights (`thread P weight 2`), and after each step stores
    /// leave the buffers at random, with every sequence of flushes equally likely (Probabilistic Total Store Order).
    /// Weir tells whether a target is reached almost surely or almost never, with what probability, and at what
    /// expected cost. Numbers are intervals that are guaranteed to contain the true value.
    ///
    /// Each load, store, assignment, fence, read-modify-write, `skip`, `goto` and each test of an `if` or `while`
    /// counts as one step. A blocked thread is not scheduled. If a thread has several enabled choices, they are equally
    /// likely.
    Prob(Box<ProbOptions>),
    /// Run litmus tests and report their final states
    ///
    /// A litmus test is a tiny program in x86 assembly with a question about its final states, such as "can both
    /// threads read 0?". Weir finds every final state and reports whether none of them (`Never`), some of them
    /// (`Sometimes`) or all of them (`Always`) satisfy the condition. The verdict is `ok` if that is what the test asks
    /// for: `exists` needs at least one, `~exists` none, `forall` all.
    ///
    /// Weir reads the files of herd7, litmus7 and diy7 (headers `X86` and `X86_64`). A folder stands for all `.litmus`
    /// files in it and its subfolders. A file whose name starts with `@` lists other files, one per line.
    Litmus(LitmusOptions),
    /// Print the program in another form
    Translate(TranslateOptions),
    /// Check a saved run or proof against the program
    ///
    /// A small, separate interpreter executes the saved run again step by step, and checks that its last state violates
    /// the property that the run claims to violate. A proof (`weir reach --certificate`) is a set of states. It either
    /// contains the initial state, has no step leading out of it, and contains no violating state; or it contains every
    /// violating state, has no step leading into it, and does not contain the initial state. Constants that were set
    /// with -D when the evidence was saved are set again.
    Replay(ReplayOptions),
    /// Format `.weir` files
    ///
    /// Comments and single blank lines are kept, and the meaning of the program never changes. A file that contains
    /// errors is left as it is.
    Fmt(FormatOptions),
    /// Print a completion script for a shell
    Completions(CompletionOptions),
    /// Print the manual page, or write one page per command to a directory
    Man(ManOptions),
    /// Print the JSON Schema of the output of `--format json` and `--witness`
    #[command(hide = true)]
    Schema,
}

impl Command {
    /// Checks what the declarations cannot express: options that conflict.
    fn check(&self) -> Result<(), String> {
        let files = match self {
            Self::Check(options) => &options.common.files,
            Self::Reach(options) => &options.common.files,
            Self::Robust(options) => &options.common.files,
            Self::Fences(options) => &options.files,
            Self::Prob(options) => &options.files,
            Self::Fmt(options) => &options.files,
            Self::Litmus(options) => &options.files,
            _ => &Vec::new(),
        };
        if files.iter().filter(|file| is_stdin(file)).count() > 1 {
            return Err("standard input (`-`) can only be read once".into());
        }
        match self {
            Self::Check(options) => options.common.check(),
            Self::Reach(options) => options.check(),
            Self::Robust(options) => options.common.check(),
            Self::Fences(options) => options.check(),
            Self::Prob(options) => options.check(),
            Self::Translate(options) => options.program.check(),
            Self::Replay(options) if is_stdin(&options.file) && is_stdin(&options.witness) => {
                Err("the program and the witness cannot both come from standard input".into())
            }
            _ => Ok(()),
        }
    }
}

/// Options of `weir check`.
#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckOptions {
    /// Check only this property: its number in the file (from 1), `deadlock`, `assert`, or the name of a thread (for
    /// its assertions). Can be repeated [default: all properties and assertions]
    #[arg(long = "goal", value_name = "GOAL", help_heading = SEARCH)]
    pub(crate) goals: Vec<String>,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  weir check peterson.weir                       Do its properties hold with store buffers?
  weir check -D N=4 --timeout 10m lamport.weir   Set a constant; stop after ten minutes
  weir check --witness run.json dekker.rmm       Save the run, for `weir replay`
  weir check --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 safe, 1 unsafe, 2 bad usage or bad input, 3 unknown.";

/// Options of `weir reach`.
#[derive(Args, Debug)]
#[command(after_help = REACH_EXAMPLES)]
pub(crate) struct ReachOptions {
    #[command(flatten)]
    pub(crate) search: SearchOptions,

    /// Save the proof of `unreachable` as JSON, for `weir replay` (engines `dual`, `set`, `multiset`, `coherence`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,
}

/// Options of `weir robust`.
#[derive(Args, Debug)]
#[command(after_help = ROBUST_EXAMPLES)]
pub(crate) struct RobustOptions {
    /// Method. All methods agree, but `trf` can be inconclusive
    #[arg(long, value_enum, default_value_t = Method::Attacks, help_heading = SEARCH)]
    pub(crate) method: Method,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,
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

    /// Output format: text, one JSON object per file, or the run as a Graphviz graph
    #[arg(long, value_enum, default_value_t = RunFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: RunFormat,
}

/// What to search for, and how.
#[derive(Args, Debug)]
#[command(next_help_heading = SEARCH)]
pub(crate) struct SearchOptions {
    /// Memory model: with store buffers (tso), or with every store visible immediately (sc)
    #[arg(long, value_enum, default_value_t = ModelName::Tso)]
    pub(crate) model: ModelName,

    /// Check only this property: its number in the file (from 1), `deadlock`, `assert`, or the name of a thread (for
    /// its assertions). Can be repeated [default: all properties and assertions]
    #[arg(long = "goal", value_name = "GOAL")]
    pub(crate) goals: Vec<String>,

    /// Engine. `explicit`, `lazy` and `dual` are exact; the others over-approximate and can answer `unknown`
    #[arg(long, value_enum, default_value_t = Engine::Explicit)]
    pub(crate) engine: Engine,

    /// Precision of the engine. `coherence`: how many stores are kept in order; `multiset`: how far stores are counted
    #[arg(long, value_name = "K")]
    pub(crate) bound: Option<u32>,

    /// Search order: `bfs` finds a shortest run and uses all jobs; `dfs` goes deep early and uses one job
    #[arg(long = "search", value_enum, default_value_t = SearchName::Bfs, value_name = "ORDER")]
    pub(crate) order: SearchName,

    /// Partial order reduction: which redundant runs to skip; `none` skips nothing
    #[arg(long, value_enum, default_value_t = ReductionName::None)]
    pub(crate) reduction: ReductionName,

    /// How `--engine lazy` extends the program
    #[arg(long, value_enum, default_value_t = LazyForm::Keep, value_name = "FORM")]
    pub(crate) lazy_form: LazyForm,

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
    fn check(&self) -> Result<(), String> {
        self.search.check()?;
        self.common.check()?;
        match &self.certificate {
            Some(path) if is_stdin(path) => Err("`--certificate` needs a file name".into()),
            Some(_) if self.common.files.len() > 1 => {
                Err("`--certificate` saves a single proof: give exactly one FILE".into())
            }
            Some(_) if !self.search.engine.certifies() => {
                Err("`--certificate` needs an engine that can save its proof: `dual`, `set`, `multiset` or `coherence`"
                    .into())
            }
            _ => Ok(()),
        }
    }
}

impl SearchOptions {
    fn check(&self) -> Result<(), String> {
        let engine = self.engine.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        if self.bound.is_some() && !matches!(self.engine, Engine::Coherence | Engine::Multiset) {
            return Err(format!(
                "`--bound` has no effect on `--engine {engine}`; only `coherence` and `multiset` have a bound"
            ));
        }
        if self.order == SearchName::Dfs && self.engine == Engine::Dual {
            return Err("`--search` has no effect on `--engine dual`, which searches backward".into());
        }
        if self.model == ModelName::Sc && self.engine != Engine::Explicit {
            return Err(format!(
                "`--engine {engine}` is for store buffers, and `--model sc` has none; use `--engine explicit`"
            ));
        }
        Ok(())
    }
}

impl AnalysisOptions {
    fn check(&self) -> Result<(), String> {
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

const REACH_EXAMPLES: &str = "\
Examples:
  weir reach peterson.weir                        Search with store buffers
  weir reach --model sc peterson.weir             Search without them
  weir reach -D N=4 --timeout 10m lamport.weir    Set a constant; stop after ten minutes
  weir reach --witness run.json sb.weir           Save the run, for `weir replay`
  weir reach --engine coherence mp.weir           Prove it for buffers of any size
  weir reach --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 unreachable, 1 reachable, 2 bad usage or bad input, 3 unknown.";

const ROBUST_EXAMPLES: &str = "\
Examples:
  weir robust peterson.weir                       Do store buffers change its behaviour?
  weir robust -D N=4 --timeout 10m lamport.weir   Set a constant; stop after ten minutes
  weir robust --svg cycle.svg sb.weir             Draw why the run is impossible without buffers
  weir robust --witness run.json sb.weir          Save the run, for `weir replay`
  weir robust --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 robust, 1 not robust, 2 bad usage or bad input, 3 unknown.";

/// Options of `weir litmus`.
#[derive(Args, Debug)]
#[command(after_help = LITMUS_EXAMPLES)]
pub(crate) struct LitmusOptions {
    /// Litmus tests, folders of tests, or lists of tests (`@all`); `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,

    /// Memory model: with store buffers (tso), or with every store visible immediately (sc)
    #[arg(long, value_enum, default_value_t = ModelName::Tso)]
    pub(crate) model: ModelName,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Show the final states of each test, even if several tests are given
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Output format: text, one JSON object per test, or a log in the format of herd7
    #[arg(long, value_enum, default_value_t = LitmusFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: LitmusFormat,
}

const LITMUS_EXAMPLES: &str = "\
Examples:
  weir litmus SB.litmus                     One test, with all its final states
  weir litmus --model sc tests/             All tests in a folder, without store buffers
  weir litmus @all                          The tests listed in the file `@all`
  weir litmus --format herd tests/ > log    A log for tools such as `mcompare7`
  weir reach SB.litmus                      A run whose final state satisfies the condition

Exit status: 0 every test is ok, 1 at least one is not, 2 bad usage or bad input, 3 unknown.";

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

/// Resource limits, per file.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitOptions {
    /// Number of worker threads; does not affect the answer [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Time limit, such as 500ms, 60s, 10m or 2h; a plain number means seconds [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) timeout: Option<Duration>,

    /// Memory limit for the process, such as 512MiB or 4GB
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = parse_size)]
    pub(crate) memory: u64,

    /// Maximum number of distinct states, over all searches of the question [default: none]
    #[arg(long, value_name = "N")]
    pub(crate) states: Option<NonZeroU64>,
}

/// Options of `weir translate`.
#[derive(Args, Debug)]
#[command(after_help = TRANSLATE_EXAMPLES)]
pub(crate) struct TranslateOptions {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Output language: Weir's own, control-flow graphs for Graphviz, or the input language of Trencher
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) to: Target,

    /// Apply a pass before printing. `instrument=THREAD:STORE:LOAD` prints a program that sets `success` under SC if
    /// and only if that thread can break robustness by delaying that store past that load; STORE and LOAD are lines or
    /// labels. `instrument=N` selects the N-th such attack, and `instrument=all` combines all attacks in one program.
    /// `delay=` takes the same values, and prints a program that can also do under SC what the original does while that
    /// store is delayed past that load
    #[arg(long, value_name = "PASS", value_parser = parse_pass)]
    pub(crate) pass: Option<Pass>,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    /// Output format: the plain text, or one JSON object that contains it
    #[arg(long, value_enum, default_value_t = PlainFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: PlainFormat,
}

const TRANSLATE_EXAMPLES: &str = "\
Examples:
  weir translate peterson.weir --to dot | dot -Tsvg > peterson.svg
  weir translate -D N=3 lamport.weir --to weir    Print the program as Weir sees it, with N set to 3
  weir translate sb.weir --to weir --pass instrument=P0:6:7 | weir reach --model sc -";

/// Options of `weir replay`.
#[derive(Args, Debug)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayOptions {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// A run saved by `--witness`, or a proof saved by `--certificate`
    #[arg(value_name = "WITNESS", value_hint = ValueHint::FilePath)]
    pub(crate) witness: PathBuf,

    /// Language of the program [default: determined by the file extension; standard input is read as weir]
    #[arg(long, value_parser = values::language(), value_name = "LANGUAGE")]
    pub(crate) from: Option<Language>,

    /// Output format: text, one JSON object, or the run as a Graphviz graph
    #[arg(long, value_enum, default_value_t = RunFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: RunFormat,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  weir reach --witness run.json sb.weir
  weir replay sb.weir run.json

Exit status: 0 the run or proof is valid, 1 it is not, 2 bad usage or bad input.";

/// Options of `weir fmt`.
#[derive(Args, Debug)]
#[command(after_help = FORMAT_EXAMPLES)]
pub(crate) struct FormatOptions {
    /// Files to format in place; `-` formats standard input to standard output
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Change nothing; list the files that are not formatted, and exit with status 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,

    /// Output format: text, or one JSON object per file
    #[arg(long, value_enum, default_value_t = PlainFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: PlainFormat,
}

const FORMAT_EXAMPLES: &str = "\
Examples:
  weir fmt *.weir              Format files in place
  weir fmt --check *.weir      For CI: exit with status 1 if a file is not formatted
  weir fmt - < a.weir          Print the formatted program to standard output";

/// Options of `weir completions`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weir completions bash > ~/.local/share/bash-completion/completions/weir")]
pub(crate) struct CompletionOptions {
    /// Shell to print the script for
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// Options of `weir man`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  weir man | man -l -\n  weir man ~/.local/share/man/man1")]
pub(crate) struct ManOptions {
    /// Directory to write the pages to [default: print the main page]
    #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn hidden_commands_are_not_suggested() {
        use clap::Parser;
        let suggestion = |word: &str| {
            let error = super::Arguments::try_parse_from(["weir", word]).expect_err("no such command");
            super::without_hidden_suggestions(error).to_string()
        };
        assert!(!suggestion("schem").contains("schema"));
        assert!(suggestion("rech").contains("'reach'"));
    }

    #[test]
    fn the_declarations_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}

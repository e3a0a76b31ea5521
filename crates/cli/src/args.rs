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

/// What the store buffers of x86 can do to a concurrent program.
///
/// An x86 processor does not write to memory at once: each core keeps its stores in a buffer for a while,
/// where the other cores cannot see them. Algorithms that are right when every store is visible at once
/// (sequential consistency, SC) can break under these buffers (Total Store Order, TSO). Weir searches the
/// runs of a small model of the program for one that breaks a property, and shows it step by step.
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

/// The command line of this process. Prints and exits if there is help to show or the line makes no sense.
pub(crate) fn parse() -> Arguments {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| without_hidden_suggestions(error).exit());
    if let Err(reason) = arguments.command.check() {
        Arguments::command().error(ErrorKind::ArgumentConflict, reason).exit();
    }
    arguments
}

/// Nobody who mistypes a command means one that help does not show.
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
  weir check peterson.weir               Is it safe with store buffers?
  weir reach peterson.weir               Can a forbidden state be reached with store buffers?
  weir reach --model sc peterson.weir    … and without them?
  weir robust peterson.weir              Do store buffers change anything at all?
  weir fences peterson.weir              … and which fences keep them from it?
  weir prob peterson.weir                How likely is a forbidden state?
  weir litmus tests/                     In which ways can litmus tests of x86 end?
  weir reach dekker.rmm                  … of a program of Memorax (.rmm) or Trencher (.trencher, .txt)
  weir translate peterson.weir --to dot | dot -Tsvg > peterson.svg
  weir fmt peterson.weir

Exit status:
  0  it holds: no forbidden state can be reached, the program is robust, fences were found
  1  it does not: a run was found and shown
  2  bad usage or bad input
  3  unknown: a limit was hit, or the method cannot tell
  For several files: 2 if any file gives 2, else 1, else 3, else 0.";

/// Heading of the options about how answers are shown.
const OUTPUT: &str = "Output";

/// Heading of the options about how answers are found.
const SEARCH: &str = "Search";

/// How to talk to the user; the same for all commands.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct ConsoleOptions {
    /// Colours: `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", global = true)]
    pub(crate) color: Color,

    /// Only the answer: no warnings, no explanations, no progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Is every property safe with store buffers?
    ///
    /// Runs several engines side by side: some look for a run that breaks a property, others prove that there is none,
    /// also where buffers can grow without bound. The first sure answer wins, and Weir says who gave it. Looked for is the same as by
    /// `weir reach`, which runs one engine of your choice.
    ///
    /// The answer is `safe`, `unsafe` with a run that shows it, or `unknown` with what each engine did. Which engine wins
    /// does not depend on the speed of the machine.
    Check(CheckOptions),
    /// Can a forbidden state be reached?
    ///
    /// Weir visits every state the program can be in, one by one, until it finds one that a property rules out or
    /// there are none left. Looked for are: the condition of each `forbid` and `exists`, final states that miss the
    /// condition of an `always`, deadlocks where the program says `forbid deadlock`, and assertions that fail.
    ///
    /// The answer is `reachable` with a run that shows it, `unreachable` if all states were visited and none
    /// matches, or `unknown` if a limit came first. With store buffers a program can have infinitely many states;
    /// then only a limit ends this search. Other engines can prove `unreachable` even then: `dual` goes back from what is looked for, and
    /// always ends if values are finitely many; `lazy` lets stores wait only where that can matter; `set`, `multiset` and `coherence`
    /// approximate buffers, and if they find more than they can show, the answer is `unknown`.
    Reach(ReachOptions),
    /// Do store buffers change what the program does?
    ///
    /// A program is robust if everything it does with store buffers (TSO) it could also do with every store visible at
    /// once (SC): the same instructions, each load reading from the same store. Then it can be understood and checked
    /// as if there were no buffers. No property is needed.
    ///
    /// A program that is not robust has a thread that can delay a store past one of its later loads, while
    /// the other threads notice. Weir tries all such pairs of a store and a load (attacks); those with a fence on every
    /// way from the store to the load are ruled out at once, the rest by a search.
    ///
    /// The answer is `not robust` with a run and with the cycle that makes it impossible without buffers, `robust` if no
    /// attack is possible, or `unknown` if a limit came first. A program can be not robust and still do what it should:
    /// whether a property breaks is what `weir reach` finds out.
    Robust(RobustOptions),
    /// The cheapest fences that make the program robust, or just safe
    ///
    /// Finds places for fences so that store buffers no longer change what the program does (see `weir robust`), at the
    /// least cost there is: no cheaper set of the places that the text offers is enough. In a `.weir` program these are all
    /// places where a statement could stand. The result is checked again on the program with its fences written in: it is
    /// robust, and without any one of them it is not.
    ///
    /// With `--for safe` the fences only have to keep the properties from being broken (see `weir check`). If one can be broken
    /// without store buffers, no fence helps, and the answer is `unsafe`.
    ///
    /// Else the answer is `fenced`, also if no fence is needed, or `unknown` if a limit came first.
    Fences(FencesOptions),
    /// How likely, how soon and how costly is it to reach a target?
    ///
    /// Threads are scheduled by chance, by their weights (`thread P weight 2`), and after each step stores leave the buffers by
    /// chance, every sequence of flushes equally likely (Probabilistic Total Store Order). Weir then tells whether a target is reached almost surely or almost
    /// never, with which probability, and at what expected cost. Numbers are intervals that certainly hold the true value.
    ///
    /// What counts as one step: each load, store, assignment, fence, read-modify-write, `skip`, `goto` and each test of an `if` or `while`. A
    /// thread that waits is not scheduled. Among several enabled choices of a thread all are equally likely.
    Prob(Box<ProbOptions>),
    /// Run litmus tests: in which ways can they end?
    ///
    /// A litmus test is a tiny program in x86 assembly with a question about its final states, such as "can both
    /// threads read 0?". Weir finds every final state and says how many of them meet the condition: in none (`Never`), in
    /// some (`Sometimes`) or in all (`Always`). The verdict is `ok` if that is what the test asks for: `exists` wants one
    /// that does, `~exists` none, `forall` all.
    ///
    /// Files are those of herd7, litmus7 and diy7 (headers `X86` and `X86_64`). A folder stands for all `.litmus` files
    /// in it and in its folders, and a file whose name starts with `@` for the files it lists, one a line.
    Litmus(LitmusOptions),
    /// Print the program in another form
    Translate(TranslateOptions),
    /// Check a saved run or proof against the program
    ///
    /// Every step of the run is executed again, one by one, by a small separate interpreter; then the last state is
    /// checked for what the run claims to reach. A proof (`weir reach --certificate`) is a set of states: either it holds the
    /// first one, no step leads out of it, and none shows a goal; or it holds all that show a goal, no step leads into it, and it does
    /// not hold the first one. Constants that were set with -D when the run was saved are set
    /// again.
    Replay(ReplayOptions),
    /// Format `.weir` files
    ///
    /// Comments and single blank lines stay; what the program does is never changed. A file with errors in it is
    /// left alone.
    Fmt(FormatOptions),
    /// Print a completion script for a shell
    Completions(CompletionOptions),
    /// Print the manual page, or write one page a command into a directory
    Man(ManOptions),
    /// Print the JSON Schema of what `--format json` and `--witness` give
    #[command(hide = true)]
    Schema,
}

impl Command {
    /// What the declarations cannot say: options that make no sense together.
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
            return Err("standard input (`-`) can be read only once".into());
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
    /// Look only for this: the number of a property in the file (from 1), `deadlock`, `assert`, or the name of a
    /// thread (its assertions). Can be given several times [default: everything the program rules out]
    #[arg(long = "goal", value_name = "GOAL", help_heading = SEARCH)]
    pub(crate) goals: Vec<String>,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  weir check peterson.weir                       Can store buffers break it?
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

    /// Save the proof that nothing can be reached, for `weir replay` (engines `dual`, `set`, `multiset`, `coherence`; JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,
}

/// Options of `weir robust`.
#[derive(Args, Debug)]
#[command(after_help = ROBUST_EXAMPLES)]
pub(crate) struct RobustOptions {
    /// How to find out; all methods give the same answer, but `trf` may have none
    #[arg(long, value_enum, default_value_t = Method::Attacks, help_heading = SEARCH)]
    pub(crate) method: Method,

    #[command(flatten)]
    pub(crate) common: AnalysisOptions,
}

/// What every command takes that looks for runs.
#[derive(Args, Debug)]
pub(crate) struct AnalysisOptions {
    /// Programs to look at; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Also print statistics
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Save the run that was found, for `weir replay` and other tools (JSON)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) witness: Option<PathBuf>,

    /// Draw why no run without store buffers behaves like the one that was found (a picture, SVG)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(crate) svg: Option<PathBuf>,

    /// Form of the answer: for people, for programs (one JSON object a file), or the run as a graph for Graphviz
    #[arg(long, value_enum, default_value_t = RunFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: RunFormat,
}

/// What to search for, and how.
#[derive(Args, Debug)]
#[command(next_help_heading = SEARCH)]
pub(crate) struct SearchOptions {
    /// Memory model: with store buffers (tso), or with every store visible at once (sc)
    #[arg(long, value_enum, default_value_t = ModelName::Tso)]
    pub(crate) model: ModelName,

    /// Look only for this: the number of a property in the file (from 1), `deadlock`, `assert`, or the name of a
    /// thread (its assertions). Can be given several times [default: everything the program rules out]
    #[arg(long = "goal", value_name = "GOAL")]
    pub(crate) goals: Vec<String>,

    /// How to find out. The answers of `explicit`, `lazy` and `dual` are exact; the others prove, or may not know
    #[arg(long, value_enum, default_value_t = Engine::Explicit)]
    pub(crate) engine: Engine,

    /// How far the engine goes. `coherence`: how many stores are kept in order; `multiset`: how far they are counted
    #[arg(long, value_name = "K")]
    pub(crate) bound: Option<u32>,

    /// Order of the search: `bfs` finds a shortest run and uses all jobs; `dfs` goes deep early and uses one
    #[arg(long = "search", value_enum, default_value_t = SearchName::Bfs, value_name = "ORDER")]
    pub(crate) order: SearchName,

    /// Which runs to leave out because others stand for them: `none` leaves out nothing
    #[arg(long, value_enum, default_value_t = ReductionName::None)]
    pub(crate) reduction: ReductionName,

    /// How `--engine lazy` extends the program
    #[arg(long, value_enum, default_value_t = LazyForm::Keep, value_name = "FORM")]
    pub(crate) lazy_form: LazyForm,

    /// Let `--engine lazy` extend the program at most so many times
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) lazy_rounds: usize,

    /// With `--engine lazy`: show for each round along which steps stores may wait from then on
    #[arg(long)]
    pub(crate) trace_rounds: bool,

    /// Tell states apart by registers that are never read again (more states, same answer)
    #[arg(long)]
    pub(crate) keep_dead_registers: bool,
}

impl ReachOptions {
    fn check(&self) -> Result<(), String> {
        self.search.check()?;
        self.common.check()?;
        match &self.certificate {
            Some(path) if is_stdin(path) => Err("`--certificate` needs the name of a file".into()),
            Some(_) if self.common.files.len() > 1 => {
                Err("`--certificate` saves one proof: give it with one FILE".into())
            }
            Some(_) if !self.search.engine.certifies() => {
                Err("`--certificate` needs an engine that can write its proof down: `dual`, `set`, `multiset` or `coherence`"
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
                "`--bound` says nothing to the {engine} engine: `coherence` and `multiset` have a bound"
            ));
        }
        if self.order == SearchName::Dfs && self.engine == Engine::Dual {
            return Err("`--search` says nothing to the dual engine: it goes back from the goals".into());
        }
        if self.model == ModelName::Sc && self.engine != Engine::Explicit {
            return Err(format!("`--engine {engine}` is about store buffers, and `--model sc` has none"));
        }
        Ok(())
    }
}

impl AnalysisOptions {
    fn check(&self) -> Result<(), String> {
        for (option, path) in [("--witness", &self.witness), ("--svg", &self.svg)] {
            if path.is_some() && self.files.len() > 1 {
                return Err(format!("`{option}` saves one run: give it with one FILE"));
            }
            if path.as_deref().is_some_and(is_stdin) {
                return Err(format!("`{option}` needs the name of a file; `--format` prints the run in other forms"));
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
  weir reach --engine coherence mp.weir           Prove it by approximation: buffers need no bound
  weir reach --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 unreachable, 1 reachable, 2 bad usage or bad input, 3 unknown.";

const ROBUST_EXAMPLES: &str = "\
Examples:
  weir robust peterson.weir                       Do store buffers change what it does?
  weir robust -D N=4 --timeout 10m lamport.weir   Set a constant; stop after ten minutes
  weir robust --svg cycle.svg sb.weir             Draw why the run is impossible without buffers
  weir robust --witness run.json sb.weir          Save the run, for `weir replay`
  weir robust --format json *.weir | jq -r '.file + \" \" + .verdict'

Exit status: 0 robust, 1 not robust, 2 bad usage or bad input, 3 unknown.";

/// Options of `weir litmus`.
#[derive(Args, Debug)]
#[command(after_help = LITMUS_EXAMPLES)]
pub(crate) struct LitmusOptions {
    /// Litmus tests, folders of them, and lists (`@all`); `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<PathBuf>,

    /// Memory model: with store buffers (tso), or with every store visible at once (sc)
    #[arg(long, value_enum, default_value_t = ModelName::Tso)]
    pub(crate) model: ModelName,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Show the final states of each test, also when there are several
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub(crate) verbose: bool,

    /// Form of the answer: for people, for programs (one JSON object a test), or a log as herd7 prints it
    #[arg(long, value_enum, default_value_t = LitmusFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: LitmusFormat,
}

const LITMUS_EXAMPLES: &str = "\
Examples:
  weir litmus SB.litmus                     One test, with all its final states
  weir litmus --model sc tests/             All tests of a folder, without store buffers
  weir litmus @all                          The tests that the file `@all` lists
  weir litmus --format herd tests/ > log    A log for `mcompare7` and the like
  weir reach SB.litmus                      A run that ends as the condition says

Exit status: 0 every test is ok, 1 one is not, 2 bad usage or bad input, 3 unknown.";

/// Where programs come from; the same for all commands that read them.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Program")]
pub(crate) struct ProgramOptions {
    /// Language of the input [default: by the file's extension; standard input is read as weir]
    #[arg(long, value_parser = values::language(), value_name = "LANGUAGE")]
    pub(crate) from: Option<Language>,

    /// Give a `const` of the program another value; can be given several times
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_define)]
    pub(crate) defines: Vec<(String, Value)>,
}

impl ProgramOptions {
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut names: Vec<&str> = self.defines.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("`-D {}` is given twice", pair[0])),
            None => Ok(()),
        }
    }
}

/// How much an analysis may use, for each file.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitOptions {
    /// Number of worker threads; the answer does not depend on it [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Stop after this time, as in 500ms, 60s, 10m, 2h or plain seconds [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) timeout: Option<Duration>,

    /// Stop when the process uses this much memory, as in 512MiB or 4GB
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = parse_size)]
    pub(crate) memory: u64,

    /// Stop after this many different states [default: none]
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

    /// Form to print: Weir's own language, control-flow graphs for Graphviz, or the input language of Trencher
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) to: Target,

    /// Print what a pass makes of the program. `instrument=THREAD:STORE:LOAD`: the program that sets `success` under SC exactly if
    /// that thread can delay that store past that load to break robustness; STORE and LOAD are lines or labels. Also
    /// `instrument=N` for the N-th such attack, and `instrument=all` for all in one. `delay=` with the same: the program that can
    /// also do, without buffers, what it could do with that store waiting up to that load
    #[arg(long, value_name = "PASS", value_parser = parse_pass)]
    pub(crate) pass: Option<Pass>,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    /// Form of the answer: the bare text, or one JSON object with the text in it
    #[arg(long, value_enum, default_value_t = PlainFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: PlainFormat,
}

const TRANSLATE_EXAMPLES: &str = "\
Examples:
  weir translate peterson.weir --to dot | dot -Tsvg > peterson.svg
  weir translate -D N=3 lamport.weir --to weir    The program as Weir sees it, with N set to 3
  weir translate sb.weir --to weir --pass instrument=P0:6:7 | weir reach --model sc -";

/// Options of `weir replay`.
#[derive(Args, Debug)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayOptions {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The run, as `--witness` saved it, or the proof, as `--certificate` did
    #[arg(value_name = "WITNESS", value_hint = ValueHint::FilePath)]
    pub(crate) witness: PathBuf,

    /// Language of the program [default: by the file's extension; standard input is read as weir]
    #[arg(long, value_parser = values::language(), value_name = "LANGUAGE")]
    pub(crate) from: Option<Language>,

    /// Form of the answer: for people, for programs (one JSON object), or the run as a graph for Graphviz
    #[arg(long, value_enum, default_value_t = RunFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: RunFormat,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  weir reach --witness run.json sb.weir
  weir replay sb.weir run.json

Exit status: 0 the run is right, 1 it is not, 2 bad usage or bad input.";

/// Options of `weir fmt`.
#[derive(Args, Debug)]
#[command(after_help = FORMAT_EXAMPLES)]
pub(crate) struct FormatOptions {
    /// Files to rewrite in place; `-` formats standard input to standard output
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Change nothing; list the files that are not formatted and exit with status 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,

    /// Form of the answer: for people, or for programs (one JSON object a file)
    #[arg(long, value_enum, default_value_t = PlainFormat::Text, help_heading = OUTPUT)]
    pub(crate) format: PlainFormat,
}

const FORMAT_EXAMPLES: &str = "\
Examples:
  weir fmt *.weir              Rewrite in place
  weir fmt --check *.weir      For CI: exit status 1 if a file is not formatted
  weir fmt - < a.weir          To standard output";

/// Options of `weir completions`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weir completions bash > ~/.local/share/bash-completion/completions/weir")]
pub(crate) struct CompletionOptions {
    /// Which shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// Options of `weir man`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  weir man | man -l -\n  weir man ~/.local/share/man/man1")]
pub(crate) struct ManOptions {
    /// Where to write the pages [default: print the main page]
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

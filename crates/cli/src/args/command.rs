//! The commands.

use clap::Subcommand;

use super::check::CheckOptions;
use super::cover::CoverOptions;
use super::fences::FencesOptions;
use super::fmt::FormatOptions;
use super::litmus::LitmusOptions;
use super::meta::{CompletionOptions, ManOptions};
use super::paths;
use super::prob::ProbOptions;
use super::reach::ReachOptions;
use super::replay::ReplayOptions;
use super::robust::RobustOptions;
use super::translate::TranslateOptions;
use crate::input::is_stdin;

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
    /// not satisfy the condition of an `always`, deadlocks if the program says `forbid deadlock`, states after which a
    /// thread can never leave a wait or a loop (`forbid stuck`) or a condition can never hold again (`live`), and
    /// failing assertions.
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
    /// Weir computes whether a target is reached almost surely or almost never, with what probability, and at what
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
    /// files in it and its subfolders. A file whose name starts with `@` lists other files, one per line. They must be
    /// in the folder of the list or below, unless `--follow` is given.
    Litmus(LitmusOptions),
    /// Decide whether a Petri net or a thread transition system can cover a target
    ///
    /// A net has places that hold tokens, and transitions that need, take, move and give tokens. Weir reads the `.spec`
    /// format of the mist tools (Petri nets with transfers and resets) and the `.tts` format of BFC (thread transition
    /// systems: any number of threads with a shared state). A target is covered if some reachable marking has at least
    /// as many tokens as it asks for. This is decidable, even if there are infinitely many markings or the number of
    /// threads is not known.
    ///
    /// The answer is `reachable` with a run that was replayed, `unreachable` with a proof that was checked, or
    /// `unknown` if a limit was reached first. A target with upper bounds (`x = 2`) asks for more than coverability,
    /// and can be `unknown` for that reason.
    Cover(CoverOptions),
    /// Print the program in another form
    Translate(TranslateOptions),
    /// Check a saved run or proof against the program
    ///
    /// A small, separate interpreter executes the saved run again step by step, and checks that its last state violates
    /// the property that the run claims to violate. A proof (`weir reach --certificate`) is a set of states. It either
    /// contains the initial state, has no step leading out of it, and contains no violating state; or it contains every
    /// violating state, has no step leading into it, and does not contain the initial state. A proof about a net
    /// (`weir cover --certificate`) consists of markings and weighted sums in the same way.
    Replay(ReplayOptions),
    /// Format `.weir` files
    ///
    /// Comments and single blank lines are kept, and the meaning of the program never changes. A file that contains
    /// errors is left as it is.
    Fmt(FormatOptions),
    /// Print all limits, their values, and how to change them
    #[command(long_about = weir_report::limits(&crate::limits::ALL))]
    Limits,
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
    pub(super) fn check(&self) -> Result<(), String> {
        let files = match self {
            Self::Check(options) => &options.common.files,
            Self::Reach(options) => &options.common.files,
            Self::Robust(options) => &options.common.files,
            Self::Fences(options) => &options.files,
            Self::Prob(options) => &options.files,
            Self::Fmt(options) => &options.files,
            Self::Litmus(options) => &options.files,
            Self::Cover(options) => &options.files,
            _ => &Vec::new(),
        };
        if files.iter().filter(|file| is_stdin(file)).count() > 1 {
            return Err("standard input (`-`) can only be read once".into());
        }
        match self {
            Self::Check(options) => options.check(),
            Self::Reach(options) => options.check(),
            Self::Robust(options) => options.check(),
            Self::Fences(options) => options.check(),
            Self::Prob(options) => options.check(),
            Self::Translate(options) => options.program.check(),
            Self::Cover(options) => options.check(),
            Self::Replay(options) => options.check(),
            _ => Ok(()),
        }?;
        paths::check(self)
    }
}

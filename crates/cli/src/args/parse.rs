//! Parses the command line.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use super::command::Command;
use super::common::ConsoleOptions;

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

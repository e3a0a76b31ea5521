//! Parses the command line.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser};

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
    let given: Vec<OsString> = std::env::args_os().collect();
    let arguments = quickly(&given).unwrap_or_else(|| {
        Arguments::try_parse_from(given).unwrap_or_else(|error| without_hidden_suggestions(error).exit())
    });
    if let Err(reason) = arguments.command.check() {
        Arguments::command().error(ErrorKind::ArgumentConflict, reason).exit();
    }
    arguments
}

/// Parses by the declaration of a single command: those of all commands take longer than many an answer. `None` if it is
/// another command, or if there is anything to print; then the whole declaration is needed.
fn quickly(given: &[OsString]) -> Option<Arguments> {
    match given.get(1)?.to_str()? {
        "check" => parse_as("check", given, Command::Check),
        "reach" => parse_as("reach", given, Command::Reach),
        "robust" => parse_as("robust", given, Command::Robust),
        "fences" => parse_as("fences", given, Command::Fences),
        "prob" => parse_as("prob", given, Command::Prob),
        "litmus" => parse_as("litmus", given, Command::Litmus),
        "cover" => parse_as("cover", given, Command::Cover),
        _ => None,
    }
}

/// What is given, as the options of this command.
fn parse_as<O: Args>(name: &'static str, given: &[OsString], command: fn(O) -> Command) -> Option<Arguments> {
    let whole = ConsoleOptions::augment_args(clap::Command::new("weir"));
    let whole = whole.subcommand(O::augment_args(clap::Command::new(name)));
    let matches = whole.try_get_matches_from(given).ok()?;
    let (_, options) = matches.subcommand()?;
    Some(Arguments {
        command: command(O::from_arg_matches(options).ok()?),
        console: ConsoleOptions::from_arg_matches(&matches).ok()?,
    })
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
    use super::*;

    #[test]
    fn hidden_commands_are_not_suggested() {
        let suggestion = |word: &str| {
            let error = Arguments::try_parse_from(["weir", word]).expect_err("no such command");
            without_hidden_suggestions(error).to_string()
        };
        assert!(!suggestion("schem").contains("schema"));
        assert!(suggestion("rech").contains("'reach'"));
    }

    /// The two ways to parse must give the same; which one is taken is not to be seen.
    #[test]
    fn one_command_is_parsed_as_by_the_whole_declaration() {
        let lines = [
            "weir check a.weir",
            "weir check --quiet -D N=3 --model sc --goal 2 --format json a.weir b.weir",
            "weir reach --color never --engine dual --states 10 a.weir",
            "weir robust --method single --jobs 3 --color=always a.weir",
            "weir fences --for safe --cost loops -q a.weir",
            "weir prob --target 'P0 at critical' --limit prob-basis=7 a.weir",
            "weir litmus --model sc tests",
            "weir cover --timeout 60s a.spec",
        ];
        for line in lines {
            let given: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let quick = quickly(&given).map(|arguments| format!("{arguments:?}"));
            let whole = Arguments::try_parse_from(&given).ok().map(|arguments| format!("{arguments:?}"));
            assert!(line.contains('\'') || whole.is_some(), "{line}");
            assert_eq!(quick, whole, "{line}");
        }
    }

    #[test]
    fn what_has_something_to_print_is_left_to_the_whole_declaration() {
        for line in
            ["weir", "weir check", "weir check --help", "weir check -h", "weir check --modle sc a", "weir fmt a"]
        {
            let given: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert!(quickly(&given).is_none(), "{line}");
        }
    }

    #[test]
    fn the_declarations_are_consistent() {
        Arguments::command().debug_assert();
    }
}

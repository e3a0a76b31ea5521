//! The options of `weir translate`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use weir_report::Format;
use weir_report::answer::CommandName;

use super::common::{OUTPUT, ProgramOptions, ResourceOptions};
use super::values::{self, Target, Tool};
use crate::passes::{Pass, parse_pass};

/// Options of `weir translate`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TranslateOptions {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Output language: Weir's own, control-flow graphs for Graphviz, the input language of Trencher, automata in plain
    /// JSON (the form that evidence checkers read), a Promela model, C, a litmus test, or BTOR2
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) to: Target,

    /// What the export is for. Exports have the runs of the program under SC, except for `hardware`, where the
    /// processor decides; that is the default for C. Properties that the tool cannot check are left out with a warning;
    /// what else it cannot express is an error
    #[arg(long = "for", value_enum, value_name = "TOOL")]
    pub(crate) tool: Option<Tool>,

    /// Apply a pass before printing; several are applied in this order. `instrument=THREAD:STORE:LOAD` prints a program
    /// that sets `success` under SC if and only if that thread can break robustness by delaying that store past that
    /// load; STORE and LOAD are lines or labels. `instrument=N` selects the N-th such attack, and `instrument=all`
    /// combines all attacks in one program. `delay=` takes the same values, and prints a program that can also do under
    /// SC what the original does while that store is delayed past that load. `rounds=K` prints a program that does
    /// under SC what the original does with store buffers in runs with at most K rounds per thread, and `age=K` in runs
    /// in which stores wait for at most K rounds of their thread; procedures and `spawn` stay what they are. `fences`
    /// inserts the fewest fences that make the program robust (`weir fences --write` keeps your text). `places`, with
    /// `--to json`, prints the program with a step for each place where a fence can stand, and the list of these places,
    /// which is what certificates of `weir fences` are about. `unroll=N` replaces recursive procedures by copies of
    /// their code, for stacks of at most N calls, and `spawn=N`, for SC, replaces threads started at run time by N of
    /// each that wait until they are started
    #[arg(long = "pass", value_name = "PASS", value_parser = parse_pass)]
    pub(crate) passes: Vec<Pass>,

    #[command(flatten)]
    pub(crate) program: ProgramOptions,

    #[command(flatten)]
    pub(crate) limits: ResourceOptions,

    /// Output format: the plain text, or one JSON object that contains it
    #[arg(long, value_parser = values::format(CommandName::Translate), default_value = "text", help_heading = OUTPUT)]
    pub(crate) format: Format,
}

const EXAMPLES: &str = "\
Examples:
  weir translate peterson.weir --to dot | dot -Tsvg > peterson.svg
  weir translate -D N=3 lamport.weir --to weir    Print the program as Weir sees it, with N set to 3
  weir translate sb.weir --to weir --pass instrument=P0:6:7 | weir reach --model sc -
  weir translate peterson.weir --to weir --pass age=1 | weir reach --model sc -
  weir translate tree.weir --pass age=1 --pass spawn=3 --to promela > tree.pml
  weir translate peterson.weir --to promela > peterson.pml    A model for SPIN; its first lines say how to check it
  weir translate sb.weir --to c --for hardware > sb.c         Run it on this machine, and count the outcomes
  weir translate sb.weir --to litmus > sb.litmus              A litmus test, for herd7, litmus7 and `weir litmus`";

//! One file per command. A command reads, asks the library, builds an answer from what it got, and prints it.

mod analysis;
mod certificate;
mod check;
mod cover;
mod fences;
mod fmt;
mod litmus;
mod meta;
mod model_limit;
mod prob;
mod reach;
mod replay;
mod robust;
mod task;
mod translate;
mod watchdog;

use crate::args::Command;
use crate::console::Console;
use crate::exit::Status;

pub(crate) use task::REPORT_IT;

/// Does what the command line asks for.
pub(crate) fn run(command: Command, console: &mut Console) -> Status {
    // Work that outlives its limits is abandoned, and what it was asked for must outlive it.
    let command: &'static Command = Box::leak(Box::new(command));
    match command {
        Command::Check(options) => check::run(options, console),
        Command::Reach(options) => reach::run(options, console),
        Command::Robust(options) => robust::run(options, console),
        Command::Fences(options) => fences::run(options, console),
        Command::Prob(options) => prob::run(options, console),
        Command::Litmus(options) => litmus::run(options, console),
        Command::Cover(options) => cover::run(options, console),
        Command::Translate(options) => translate::run(options, console),
        Command::Replay(options) => replay::run(options, console),
        Command::Fmt(options) => fmt::run(options, console),
        Command::Limits => meta::limits(console),
        Command::Completions(options) => meta::completions(options, console),
        Command::Man(options) => meta::man(options, console),
        Command::Schema => meta::schema(console),
    }
}

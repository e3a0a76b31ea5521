//! The command line of Weir: the only part that reads files, prints, draws progress and exits.

mod args;
mod certificate_file;
mod commands;
mod console;
mod costs;
mod coverage;
mod cpu;
mod evidence;
mod exit;
mod fences;
mod gather;
mod goals;
mod input;
mod interrupt;
mod json;
mod load;
mod memory;
mod passes;
mod prob;
mod progress;
mod race;
mod render;
mod trouble;
mod units;
mod witness_file;

use std::io::Write;
use std::process::ExitCode;

use console::Console;
use exit::Status;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let what = format!("error: this is a bug in Weir, not in your program: {panic}");
        let _ = writeln!(std::io::stderr(), "{what}\nhelp: {}", commands::REPORT_IT);
    }));
    let arguments = args::parse();
    let mut console = Console::new(arguments.console);
    let status =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| commands::run(arguments.command, &mut console)));
    console.finish(status.unwrap_or(Status::Bad)).into()
}

//! The command line of Weir: the only part that reads files, prints, draws progress and exits.

mod args;
mod commands;
mod compiled;
mod console;
mod costs;
mod cpu;
mod error;
mod exit;
mod fences;
mod gather;
mod goals;
mod input;
mod interrupt;
mod limits;
mod load;
mod memory;
mod output;
mod passes;
mod prob;
mod progress;

use std::io::Write;
use std::process::ExitCode;

use weir_alloc::Allocator;

use console::Console;
use exit::Status;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    weir_alloc::watch();
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

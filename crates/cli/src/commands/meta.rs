//! Commands about the command line itself: completions, manual pages, the JSON Schema. All are generated.

use std::fs;
use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::{Arguments, CompletionOptions, ManOptions};
use crate::console::Console;
use crate::exit::Status;

/// `weir completions`.
pub(super) fn completions(options: &CompletionOptions, console: &mut Console) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "weir", &mut script);
    console.answer(&String::from_utf8_lossy(&script));
    Status::Holds
}

/// `weir man`.
pub(super) fn man(options: &ManOptions, console: &mut Console) -> Status {
    let result = match &options.directory {
        None => page(Arguments::command()).map(|text| console.answer(&text)),
        Some(directory) => write_pages(directory),
    };
    match result {
        Ok(()) => Status::Holds,
        Err(error) => {
            console.complain(&format!("error: cannot write the manual pages: {error}"));
            Status::Bad
        }
    }
}

/// `weir limits`.
pub(super) fn limits(console: &mut Console) -> Status {
    console.answer_wrapped(&weir_report::limits(&crate::limits::ALL));
    Status::Holds
}

/// `weir schema`.
pub(super) fn schema(console: &mut Console) -> Status {
    console.answer(weir_report::SCHEMA);
    Status::Holds
}

/// One page for the whole, one for each command that the help shows.
fn write_pages(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    clap_mangen::generate_to(Arguments::command().disable_help_subcommand(true), directory)
}

fn page(command: clap::Command) -> io::Result<String> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

//! The options of commands about the command line itself.

use std::path::PathBuf;

use clap::{Args, ValueHint};

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

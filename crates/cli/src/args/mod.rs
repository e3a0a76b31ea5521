//! The command line as it is written: every option is declared once, here. Help, man pages and shell
//! completions are generated from it.

mod check;
mod command;
mod common;
mod cover;
mod fences;
mod fmt;
mod litmus;
mod meta;
mod parse;
mod paths;
mod prob;
mod reach;
mod replay;
mod robust;
mod translate;
mod units;
mod values;

pub(crate) use check::CheckOptions;
pub(crate) use command::Command;
pub(crate) use common::{AnalysisOptions, ConsoleOptions, LimitOptions, ProgramOptions, ResourceOptions};
pub(crate) use cover::{CoverOptions, DEFAULT_START};
pub(crate) use fences::{CostChoice, FencesOptions};
pub(crate) use fmt::FormatOptions;
pub(crate) use litmus::LitmusOptions;
pub(crate) use meta::{CompletionOptions, ManOptions};
pub(crate) use parse::{Arguments, parse};
pub(crate) use prob::ProbOptions;
pub(crate) use reach::{Precision, ReachOptions};
pub(crate) use replay::ReplayOptions;
pub(crate) use robust::RobustOptions;
pub(crate) use translate::TranslateOptions;
pub(crate) use values::{Color, MethodChoice, SymmetryName, Target, Tool};

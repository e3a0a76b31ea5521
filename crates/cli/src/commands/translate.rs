//! `weir translate`: the program in another form.

use std::slice;

use clap::ValueEnum as _;
use weir::Session;
use weir::fences::Aim;
use weir_ir::{Comments, Diagnostic, Program};
use weir_report::answer::{Answer, CommandName, DiagnosticRecord, TranslateAnswer, YesNo};
use weir_report::saved::searched_text;
use weir_syntax::c::Purpose;
use weir_syntax::export::Export;
use weir_syntax::{btor2, c, litmus, promela, trencher};
use weir_witness::FencePlace;

use super::task::{Allowance, Task, Work};
use crate::args::{Target, Tool, TranslateOptions};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::fences::{Costs, candidates};
use crate::load::{Loaded, load};
use crate::passes::{Pass, Passed};

/// Runs it.
pub(super) fn run(options: &'static TranslateOptions, console: &mut Console) -> Status {
    let files = slice::from_ref(&options.file);
    let one = |task: &Task<'_>, console: &mut Console| {
        let loaded = load(task.file, &options.program, &task.session)?;
        if options.passes == [Pass::Places] && options.to == Target::Json {
            return with_places(task, options, &loaded, console);
        }
        let Passed { program, comments } = Pass::apply_all(&options.passes, &loaded.program, &task.session)?;
        let program = &program;
        let (to, export) = export(options, (program, &comments), &task.session)?;
        let warnings: Vec<Diagnostic> = loaded.warnings.iter().cloned().chain(export.warnings).collect();
        if !task.is_json() {
            console.diagnostics(&program.source, &warnings);
        }
        let warnings = DiagnosticRecord::all(&program.source, &warnings);
        let answer = TranslateAnswer { head: task.head(YesNo::Ok), to, text: export.text, warnings };
        Ok(task.answer(&Answer::Translate(answer), false, console))
    };
    let (command, format) = (CommandName::Translate, options.format);
    Work { command, format, files, limits: Allowance::of_resources(&options.limits), is_spaced: false, one }
        .run(console)
}

/// Prints the program with a step for each place where a fence can stand, and these places, at
/// the default costs.
fn with_places(
    task: &Task<'_>,
    options: &TranslateOptions,
    loaded: &Loaded,
    console: &mut Console,
) -> Result<Status, Error> {
    let (_, mut sites) = candidates(loaded, &options.program.defines, (Aim::Robust, false), &task.session)?;
    Costs::Unit.set(&mut sites, &task.session)?;
    let places: Vec<FencePlace> = sites.places().iter().map(FencePlace::from).collect();
    let text = searched_text(&sites.program, &places);
    let answer = TranslateAnswer { head: task.head(YesNo::Ok), to: "json", text, warnings: Vec::new() };
    Ok(task.answer(&Answer::Translate(answer), false, console))
}

/// The name of the output language, and the program in it.
fn export(
    options: &TranslateOptions,
    (program, comments): (&Program, &Comments),
    session: &Session,
) -> Result<(&'static str, Export), Error> {
    check_tool(options)?;
    let plain = |text: String| Ok(Export { text, warnings: Vec::new() });
    let (to, exported) = match options.to {
        Target::Weir => ("weir", plain(weir_syntax::weir::print::print_with(program, comments))),
        Target::Json => ("json", plain(weir_report::automaton::text(program))),
        Target::Dot => ("dot", plain(weir_syntax::dot::print(program))),
        Target::Trencher => ("trencher", trencher::print::print(program).and_then(plain)),
        Target::Promela => ("promela", promela::print(program, session)),
        Target::Litmus => ("litmus", litmus::print::print(program, session)),
        Target::Btor2 => ("btor2", btor2::print(program, session)),
        Target::C => ("c", c::print(program, purpose(options.tool), session)),
    };
    Ok((to, exported.map_err(|errors| Error::Source(program.source.clone(), errors))?))
}

/// Refuses a tool that does not read the output language.
fn check_tool(options: &TranslateOptions) -> Result<(), Error> {
    let Some(tool) = options.tool.filter(|tool| !tool.reads().contains(&options.to)) else { return Ok(()) };
    let name =
        |value: Option<clap::builder::PossibleValue>| value.map_or(String::new(), |value| value.get_name().to_owned());
    let read: Vec<String> =
        tool.reads().iter().map(|target| format!("`--to {}`", name(target.to_possible_value()))).collect();
    let message = format!("`--for {}` needs {}", name(tool.to_possible_value()), read.join(" or "));
    Err(Error::input(message))
}

/// What C is written for.
fn purpose(tool: Option<Tool>) -> Purpose {
    match tool {
        Some(Tool::Cbmc) => Purpose::Cbmc,
        Some(Tool::Esbmc) => Purpose::Esbmc,
        None | Some(Tool::Hardware | Tool::Spin) => Purpose::Hardware,
    }
}

//! `weir translate`: the program in another form.

use std::slice;

use weir_report::answer::{Answer, CommandName, DiagnosticRecord, TranslateAnswer, YesNo};

use super::task::{Allowance, Task, Work};
use crate::args::{Target, TranslateOptions};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::load::load;

/// Runs it.
pub(super) fn run(options: &'static TranslateOptions, console: &mut Console) -> Status {
    let files = slice::from_ref(&options.file);
    let one = |task: &Task<'_>, console: &mut Console| {
        let loaded = load(task.file, &options.program, &task.session)?;
        let passed = options.pass.as_ref().map(|pass| pass.apply(&loaded.program, &task.session)).transpose()?;
        let comments = passed.as_ref().map(|passed| passed.comments.clone()).unwrap_or_default();
        let program = passed.as_ref().map_or(&loaded.program, |passed| &passed.program);
        let (to, text) = match options.to {
            Target::Weir => ("weir", weir_syntax::weir::print::print_with(program, &comments)),
            Target::Json => ("json", weir_report::automaton::text(program)),
            Target::Dot => ("dot", weir_syntax::dot::print(program)),
            Target::Trencher => {
                let text = weir_syntax::trencher::print::print(program);
                ("trencher", text.map_err(|errors| Error::Source(program.source.clone(), errors))?)
            }
        };
        if !task.is_json() {
            console.diagnostics(&program.source, &loaded.warnings);
        }
        let warnings = DiagnosticRecord::all(&program.source, &loaded.warnings);
        let answer = TranslateAnswer { head: task.head(YesNo::Ok), to, text, warnings };
        Ok(task.answer(&Answer::Translate(answer), false, console))
    };
    let (command, format) = (CommandName::Translate, options.format);
    Work { command, format, files, limits: Allowance::of_resources(&options.limits), is_spaced: false, one }
        .run(console)
}

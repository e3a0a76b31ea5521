//! `weir translate`: the program in another form.

use std::slice;

use weir::Session;
use weir_report::answer::{Answer, CommandName, DiagnosticRecord, TranslateAnswer, YesNo};

use super::task::each_file;
use crate::args::{Target, TranslateOptions};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::interrupt;
use crate::load::load;

/// Runs it.
pub(super) fn run(options: &TranslateOptions, console: &mut Console) -> Status {
    let files = slice::from_ref(&options.file);
    each_file((CommandName::Translate, options.format), files, console, |task, console| {
        let session = Session::default().with_stop(interrupt::flag());
        let loaded = load(task.file, &options.program)?;
        let passed = options.pass.as_ref().map(|pass| pass.apply(&loaded.program, &session)).transpose()?;
        let program = passed.as_ref().unwrap_or(&loaded.program);
        let (to, text) = match options.to {
            Target::Weir => ("weir", weir_syntax::weir::print::print(program)),
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
    })
}

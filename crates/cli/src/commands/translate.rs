//! `weir translate`: the program in another form.

use std::slice;

use weir::Session;

use crate::args::{PlainFormat, Target, TranslateOptions};
use crate::console::Console;
use crate::exit::Status;
use crate::interrupt;
use crate::json::{CommandName, DiagnosticRecord, TranslateAnswer, YesNo};
use crate::load::load;
use crate::trouble::Trouble;

/// Runs it.
pub(super) fn run(options: &TranslateOptions, console: &mut Console) -> Status {
    let is_json = options.format == PlainFormat::Json;
    super::each_file(CommandName::Translate, slice::from_ref(&options.file), is_json, console, |task, console| {
        let session = Session::default().with_stop(interrupt::flag());
        let loaded = load(task.file, &options.program)?;
        let passed = options.pass.as_ref().map(|pass| pass.apply(&loaded.program, &session)).transpose()?;
        let program = passed.as_ref().unwrap_or(&loaded.program);
        let (to, text) = match options.to {
            Target::Weir => ("weir", weir_syntax::weir::print::print(program)),
            Target::Dot => ("dot", weir_syntax::dot::print(program)),
            Target::Trencher => {
                let text = weir_syntax::trencher::print::print(program);
                ("trencher", text.map_err(|errors| Trouble::Source(program.source.clone(), errors))?)
            }
        };
        if is_json {
            let warnings = DiagnosticRecord::all(&program.source, &loaded.warnings);
            console.json(&TranslateAnswer { head: task.head(YesNo::Ok), to, text, warnings });
        } else {
            console.diagnostics(&program.source, &loaded.warnings);
            console.answer(&text);
        }
        Ok(Status::Holds)
    })
}

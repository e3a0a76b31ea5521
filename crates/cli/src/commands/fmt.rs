//! `weir fmt`: formats files in place, or tells which are not formatted.

use weir_ir::Source;
use weir_report::answer::{Answer, CommandName, FormatAnswer, YesNo};
use weir_report::wording::clean::display_name;

use super::task::{Allowance, Task, Work};
use crate::args::FormatOptions;
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::input::{is_stdin, read_source};
use crate::output;

/// Runs it.
pub(super) fn run(options: &'static FormatOptions, console: &mut Console) -> Status {
    let one = |task: &Task<'_>, console: &mut Console| {
        let source = read_source(task.file)?;
        let text = weir_syntax::weir::format_until(&source, &task.session)
            .map_err(|error| Error::unread(source.clone(), error, &task.session))?;
        if options.check {
            check(task, &source, &text, console)
        } else if is_stdin(task.file) {
            print(task, text, console)
        } else {
            rewrite(task, &source, &text, console)
        }
    };
    let (command, format, files) = (CommandName::Fmt, options.format, options.files.as_slice());
    Work { command, format, files, limits: Allowance::of_resources(&options.limits), is_spaced: false, one }
        .run(console)
}

fn check(task: &Task<'_>, source: &Source, text: &str, console: &mut Console) -> Result<Status, Error> {
    let head = task.head(YesNo::new(source.text() == text));
    Ok(task.answer(&Answer::Format(FormatAnswer { head, changed: false, text: None }), false, console))
}

fn print(task: &Task<'_>, text: String, console: &mut Console) -> Result<Status, Error> {
    let answer = FormatAnswer { head: task.head(YesNo::Ok), changed: false, text: Some(text) };
    Ok(task.answer(&Answer::Format(answer), false, console))
}

fn rewrite(task: &Task<'_>, source: &Source, text: &str, console: &mut Console) -> Result<Status, Error> {
    let changed = source.text() != text;
    if changed {
        output::replace(task.file, text).map_err(|error| Error::input(format!("cannot write the file: {error}")))?;
        if !task.is_json() {
            console.remark(&format!("formatted {}", display_name(task.file)));
        }
    }
    let answer = FormatAnswer { head: task.head(YesNo::Ok), changed, text: None };
    Ok(task.answer(&Answer::Format(answer), false, console))
}

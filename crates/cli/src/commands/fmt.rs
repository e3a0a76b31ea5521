//! `weir fmt`: formats files in place, or tells which are not formatted.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use weir_ir::Source;

use super::Task;
use crate::args::{FormatOptions, PlainFormat};
use crate::console::Console;
use crate::exit::Status;
use crate::input::{display_name, is_stdin, read_source};
use crate::json::{CommandName, FormatAnswer, YesNo};
use crate::trouble::Trouble;

/// Runs it.
pub(super) fn run(options: &FormatOptions, console: &mut Console) -> Status {
    let is_json = options.format == PlainFormat::Json;
    super::each_file(CommandName::Fmt, &options.files, is_json, console, |task, console| {
        let source = read_source(task.file)?;
        let text = weir_syntax::weir::format(&source).map_err(|errors| Trouble::Source(source.clone(), errors))?;
        if options.check {
            check(task, &source, &text, console)
        } else if is_stdin(task.file) {
            print(task, text, console)
        } else {
            rewrite(task, &source, &text, console)
        }
    })
}

fn check(task: &Task<'_>, source: &Source, text: &str, console: &mut Console) -> Result<Status, Trouble> {
    let is_formatted = source.text() == text;
    if task.is_json {
        let head = task.head(if is_formatted { YesNo::Ok } else { YesNo::No });
        console.json(&FormatAnswer { head, changed: false, text: None });
    } else if !is_formatted {
        console.answer(&format!("{}: not formatted\n", display_name(task.file)));
    }
    Ok(if is_formatted { Status::Holds } else { Status::Violated })
}

fn print(task: &Task<'_>, text: String, console: &mut Console) -> Result<Status, Trouble> {
    if task.is_json {
        console.json(&FormatAnswer { head: task.head(YesNo::Ok), changed: false, text: Some(text) });
    } else {
        console.answer(&text);
    }
    Ok(Status::Holds)
}

fn rewrite(task: &Task<'_>, source: &Source, text: &str, console: &mut Console) -> Result<Status, Trouble> {
    let changed = source.text() != text;
    if changed {
        replace(task.file, text).map_err(|error| Trouble::input(format!("cannot write the file: {error}")))?;
    }
    if task.is_json {
        console.json(&FormatAnswer { head: task.head(YesNo::Ok), changed, text: None });
    } else if changed {
        console.remark(&format!("formatted {}", display_name(task.file)));
    }
    Ok(Status::Holds)
}

/// Puts a new text in place of a file in one step, so that no failure leaves half of it behind. A link stays a
/// link: the file it leads to is replaced.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".weir-{}", std::process::id()));
    let beside = path.with_file_name(name);
    let written = write_beside(&path, &beside, text).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_beside(path: &Path, beside: &Path, text: &str) -> io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let mut file = fs::File::options().write(true).create_new(true).open(beside)?;
    file.set_permissions(permissions)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

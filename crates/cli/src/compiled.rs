//! Compiled code: the file itself, the `.weir.toml` beside it, and the source files that it was compiled from.

use std::path::{Path, PathBuf};

use weir::Session;
use weir_report::wording::clean::display_name;
use weir_x86::{Compiled, Options, ReadError, Refusal, SourceFile};

use crate::args::ProgramOptions;
use crate::error::Error;
use crate::input;
use crate::limits::MAX_CODE_BYTES;

/// Reads compiled code as a program.
pub(crate) fn read(path: &Path, options: &ProgramOptions, session: &Session) -> Result<Compiled, Error> {
    if let Some((name, _)) = options.defines.first() {
        return Err(Error::input(format!("`-D {name}` cannot be used: only `.weir` programs have constants")));
    }
    let bytes = input::read_bytes(path, MAX_CODE_BYTES)?;
    let settings = settings(path, options)?;
    match weir_x86::read(&display_name(path), &bytes, &settings, &source_file, session) {
        Ok(compiled) => Ok(compiled),
        Err(ReadError::Refused(refusal)) => Err(refused(&refusal)),
        Err(ReadError::Invalid(source, diagnostic)) => Err(Error::Source(source, vec![*diagnostic])),
        Err(ReadError::Interrupted) => Err(Error::Stopped(session.ended_by())),
    }
}

fn refused(refusal: &Refusal) -> Error {
    match &refusal.help {
        Some(help) => Error::input_with_help(refusal.message.clone(), help.clone()),
        None => Error::input(refusal.message.clone()),
    }
}

/// What the command line says, and the file beside the code where it says nothing.
fn settings(path: &Path, options: &ProgramOptions) -> Result<Options, Error> {
    let beside = path.with_extension("weir.toml");
    let mut settings = if !input::is_stdin(path) && beside.is_file() {
        let name = display_name(&beside);
        let text = input::read_text(&beside, input::PROGRAM_LIMIT);
        let text = text.map_err(|error| Error::input(format!("{name}: {}", error.reason())))?;
        Options::parse(&text).map_err(|refusal| refused(&refusal.in_file(&name)))?
    } else {
        Options::default()
    };
    let given = &options.compiled;
    if !given.threads.is_empty() {
        settings.threads.clone_from(&given.threads);
    }
    if !given.init.is_empty() {
        settings.init.clone_from(&given.init);
    }
    settings.properties.extend(given.claims.iter().cloned());
    settings.models.extend(given.functions.iter().cloned());
    Ok(settings)
}

/// A source file, by the path that the compiler noted. Its name is relative to the current folder where it can be.
fn source_file(path: &str) -> SourceFile {
    let path = PathBuf::from(path);
    let text = input::read_text(&path, input::PROGRAM_LIMIT).ok();
    let here = std::env::current_dir().ok();
    let near = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned)).unwrap_or(path);
    SourceFile { name: display_name(&near), text }
}

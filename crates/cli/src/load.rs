//! From a path to a checked program.

use std::path::Path;

use weir::Session;
use weir_ir::{Diagnostic, Program, Source, Value};
use weir_syntax::{Language, Parsed};

use crate::args::ProgramOptions;
use crate::compiled;
use crate::error::Error;
use crate::input;

/// A program, with what there is to say about it.
pub(crate) struct Loaded {
    /// The program.
    pub(crate) program: Program,
    /// What it is written in.
    pub(crate) language: Language,
    /// Warnings and notes, in order of the source.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Where the model of compiled code ends.
    pub(crate) model_limits: Vec<weir_x86::ModelLimit>,
}

/// Reads, parses and checks a program.
pub(crate) fn load(path: &Path, options: &ProgramOptions, session: &Session) -> Result<Loaded, Error> {
    let language = input::language(path, options.from)?;
    if language == Language::X86 {
        let compiled = compiled::read(path, options, session)?;
        let model_limits = compiled.limits;
        return Ok(Loaded { program: compiled.program, language, warnings: Vec::new(), model_limits });
    }
    if let Some(option) = options.compiled.first_given() {
        return Err(Error::input(format!("`{option}` cannot be used: this is not compiled code")));
    }
    let source = input::read_source(path)?;
    check(source, language, &options.defines, session)
}

/// Parses and checks a program.
fn check(source: Source, language: Language, defines: &[(String, Value)], session: &Session) -> Result<Loaded, Error> {
    if let (Some((name, _)), false) = (defines.first(), language.has_constants()) {
        let reason = format!("`-D {name}` cannot be used: only `.weir` programs have constants");
        return Err(Error::input(reason));
    }
    match language.load_until(&source, defines, session) {
        Ok(Parsed { program, warnings }) => Ok(Loaded { program, language, warnings, model_limits: Vec::new() }),
        Err(error) => Err(Error::unread(source, error, session)),
    }
}

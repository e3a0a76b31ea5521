//! From a path to a checked program.

use std::path::Path;

use weir_ir::{Diagnostic, Program, Source, Value};

use crate::args::{Language, ProgramOptions};
use crate::input;
use crate::trouble::Trouble;

/// A program, with what there is to say about it.
pub(crate) struct Loaded {
    /// The program.
    pub(crate) program: Program,
    /// Warnings and notes, in order of the source.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads, parses and checks a program.
pub(crate) fn load(path: &Path, options: &ProgramOptions) -> Result<Loaded, Trouble> {
    let language = input::language(path, options.from)?;
    let source = input::read_source(path)?;
    check(source, language, options.defines.clone())
}

/// A litmus test as a program; its question is a property. The reader checks what it makes, and what our lints would remark
/// on, such tests do on purpose.
fn litmus(source: Source) -> Result<Loaded, Trouble> {
    match weir_syntax::litmus::parse(&source) {
        Ok(test) => Ok(Loaded { program: test.program, warnings: Vec::new() }),
        Err(diagnostics) => Err(Trouble::Source(source, diagnostics)),
    }
}

/// Parses and checks a program.
fn check(source: Source, language: Language, defines: Vec<(String, Value)>) -> Result<Loaded, Trouble> {
    if let (Some((name, _)), true) = (defines.first(), language != Language::Weir) {
        let reason = format!("`-D {name}`: only programs in `.weir` have constants that can be set");
        return Err(Trouble::input(reason));
    }
    let parsed = match language {
        Language::Weir => weir_syntax::weir::parse(&source, &weir_syntax::weir::Options { defines }),
        Language::Litmus => return litmus(source),
        Language::Rmm => weir_syntax::rmm::parse(&source),
        Language::Trencher => weir_syntax::trencher::parse(&source),
    };
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(diagnostics) => return Err(Trouble::Source(source, diagnostics)),
    };
    let mut warnings = parsed.warnings;
    let (errors, remarks): (Vec<_>, Vec<_>) =
        weir_ir::validate(&parsed.program).into_iter().partition(Diagnostic::is_error);
    if !errors.is_empty() {
        return Err(Trouble::Source(source, errors));
    }
    warnings.extend(remarks);
    warnings.extend(weir_ir::lint(&parsed.program));
    warnings.sort_by_key(|warning| (warning.primary.span, warning.code));
    Ok(Loaded { program: parsed.program, warnings })
}

//! From a path to a checked program.

use std::path::Path;

use weir::Session;
use weir_ir::{Diagnostic, EdgeId, Instruction, Program, Source, Span, ThreadId, Value};
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
    /// Where the model of compiled code or of a litmus test ends.
    pub(crate) model_limits: Vec<ModelLimit>,
}

/// An assertion that only fails where the model ends.
pub(crate) struct ModelLimit {
    /// The thread.
    pub(crate) thread: ThreadId,
    /// The assertion.
    pub(crate) edge: EdgeId,
    /// What is not modelled.
    pub(crate) diagnostic: Diagnostic,
}

/// Reads, parses and checks a program.
pub(crate) fn load(path: &Path, options: &ProgramOptions, session: &Session) -> Result<Loaded, Error> {
    let language = input::language(path, options.from)?;
    if language == Language::X86 {
        let compiled = compiled::read(path, options, session)?;
        let program = compiled.program;
        let limits = compiled.limits.into_iter();
        let model_limits = limits.map(|limit| ModelLimit {
            thread: limit.thread,
            edge: limit.edge,
            diagnostic: limit.diagnostic(&program),
        });
        let model_limits = model_limits.collect();
        return Ok(Loaded { program, language, warnings: compiled.warnings, model_limits });
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
        Ok(Parsed { program, warnings }) => {
            let model_limits = if language == Language::Litmus { limits_of_litmus(&program) } else { Vec::new() };
            Ok(Loaded { program, language, warnings, model_limits })
        }
        Err(error) => Err(Error::unread(source, error, session)),
    }
}

/// The assertions of a litmus test: that computed addresses are those of cells. The processor accesses any address.
fn limits_of_litmus(program: &Program) -> Vec<ModelLimit> {
    let mut limits = Vec::new();
    for thread in program.thread_ids() {
        for (number, edge) in program.body(thread).edges().iter().enumerate() {
            if matches!(edge.instruction, Instruction::Assert(_)) {
                limits.push(ModelLimit { thread, edge: EdgeId::new(number), diagnostic: no_cell(edge.span) });
            }
        }
    }
    limits
}

/// An access of a litmus test that is not modelled.
pub(crate) fn no_cell(span: Span) -> Diagnostic {
    Diagnostic::error("no-cell", "this instruction can access an address that is not a cell of its size", span)
        .help("initialize pointers with addresses of cells, as in `0:rax=x`; partial overlaps are not supported")
}

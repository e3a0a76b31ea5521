//! Warnings about what is declared and never used. A name that begins with `_` is meant to be unused.

use weir_ir::Diagnostic;

use super::super::ast::{File, Name};
use super::super::sink::Sink;
use super::names::{Globals, Used};

/// Warns about constants, cells, procedures and labels that nothing refers to.
pub(super) fn warn(file: &File, globals: &Globals, used: &Used, sink: &mut Sink) {
    let constants = file.constants.iter().map(|constant| constant.name);
    let procedures = file.procedures.iter().map(|procedure| procedure.name);
    report(constants.zip(used.constants.iter().copied()), "unused-constant", "constant", "never used", sink);
    report(procedures.zip(used.procedures.iter().copied()), "unused-procedure", "procedure", "never called", sink);
    let locals = file.thread_locals.iter().copied().zip(used.thread_locals.iter().copied());
    report(locals, "unused-register", "thread-local variable", "never used", sink);
    // An address that is computed can be that of any cell.
    if !used.memory {
        let shared = file.shared.iter().map(|shared| shared.name);
        report(shared.zip(used.shared.iter().copied()), "unused-cell", "shared cell", "never used", sink);
    }
    let facts = globals.thread_facts.iter().chain(globals.procedures.iter().map(|procedure| &procedure.facts));
    let labels = facts.flat_map(|facts| &facts.labels).map(|label| (*label, used.labels.contains(&label.span)));
    report(labels, "unused-label", "label", "never used", sink);
}

fn report<'a>(
    names: impl Iterator<Item = (Name<'a>, bool)>,
    code: &'static str,
    what: &str,
    never: &str,
    sink: &mut Sink,
) {
    for (name, is_used) in names {
        if !is_used && !name.text.starts_with('_') {
            let message = format!("the {what} `{}` is {never}", name.text);
            let warning = Diagnostic::warning(code, message, name.span);
            sink.warning(warning.help(format!("remove it, or rename it to `_{}`", name.text)));
        }
    }
}

//! What goes wrong where an assertion of compiled code fails that nobody wrote.

use weir_ir::{Expr, Instruction, Program};
use weir_witness::Event;

/// The kind of fault, if the last step of a run fails an assertion that stands for one.
pub fn fault(program: &Program, event: &Event) -> Option<&'static str> {
    let Instruction::Assert(condition) = &program.body(event.thread).edge(event.edge?).instruction else { return None };
    // Only of compiled code is asked what its threads are.
    if program.options.is_empty() {
        return None;
    }
    let code = program.source.text().get(event.span.range())?;
    match code.split_whitespace().next()? {
        // Calls of `abort` and of what reports a failed assertion speak for themselves.
        "call" | "jmp" | "ud2" | "int3" if *condition == Expr::Const(0) => None,
        "call" | "jmp" if code.contains("free") => Some("invalid `free`"),
        "call" | "jmp" => Some("call of an invalid pointer"),
        "div" | "idiv" => Some("division by zero or overflow"),
        _ if code.contains('[') => Some("invalid memory access"),
        // A branch to where an assertion fails.
        _ => None,
    }
}

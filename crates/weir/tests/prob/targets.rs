//! Conditions to look for.

use weir_ir::{Expr, Program, RegId, StateAtom, StateExpr, ThreadId};
use weir_syntax::weir::{Options, parse};

/// A program and the condition of its first property, which is a `forbid`.
pub(crate) fn read(text: &str) -> (Program, StateExpr) {
    let source = weir_ir::Source::new("test.weir", text.to_owned());
    let parsed = parse(&source, &Options::default()).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let weir_ir::PropertyKind::Forbid(target) = parsed.program.properties[0].kind.clone() else {
        panic!("the first property is no `forbid`")
    };
    (parsed.program, target)
}

/// What a condition sees of a register.
pub(crate) fn register(program: &Program, thread: u32, name: &str) -> StateExpr {
    let found: RegId = program.body(ThreadId(thread)).register(name).expect("the register exists");
    Expr::Leaf(StateAtom::Register { thread: ThreadId(thread), register: found })
}

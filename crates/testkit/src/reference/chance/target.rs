//! Whether a state is one that is looked for.

use weir_ir::{BinaryOp, Expr, Program, StateAtom, StateExpr, Value};

use super::super::state::State;

/// Of what `||` joins in a target, each part counts by itself; one that mentions cells counts in states with empty
/// buffers only.
pub(super) fn meets(program: &Program, state: &State, target: &StateExpr) -> bool {
    if let Expr::Binary(BinaryOp::Or, left, right) = target {
        return meets(program, state, left) || meets(program, state, right);
    }
    let mut speaks_of_cells = false;
    target.for_each_leaf(&mut |atom| speaks_of_cells |= matches!(atom, StateAtom::Cell(_)));
    if speaks_of_cells && !state.is_drained() {
        return false;
    }
    let leaf = |atom: &StateAtom| -> Value {
        match atom {
            StateAtom::At { thread, locations } => {
                let own = state.threads.get(thread);
                Value::from(own.is_some_and(|own| locations.contains(&own.location)))
            }
            StateAtom::Register { thread, register } => {
                state.threads.get(thread).map_or(0, |own| own.registers[register])
            }
            StateAtom::Cell(address) => state.read_memory(program, *address),
        }
    };
    target.eval(&mut { leaf }) != 0
}

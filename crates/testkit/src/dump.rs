//! A program as plain text, for failure messages: every automaton edge by edge, nothing left out that matters.

use std::fmt::Write;

use weir_ir::{LocId, Multiplicity, Program, Shared, ThreadId};

/// The program, edge by edge.
pub fn dump(program: &Program) -> String {
    let mut text = String::new();
    for shared in &program.shared {
        line(&mut text, &declaration(shared));
    }
    for thread in program.thread_ids() {
        dump_thread(&mut text, program, thread);
    }
    for property in &program.properties {
        line(&mut text, &program.property_text(property));
    }
    text
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn declaration(shared: &Shared) -> String {
    let Shared { name, address, initial, .. } = shared;
    let brackets = if shared.is_array { format!("[{}]", initial.len()) } else { String::new() };
    let range = shared.range.map_or(String::new(), |range| format!(": {}..{}", range.low, range.high));
    let width = shared.width.map_or(String::new(), |width| format!(": {}", width.name()));
    format!("shared {name}{brackets} @ {address}{range}{width} = {initial:?}")
}

fn dump_thread(text: &mut String, program: &Program, id: ThreadId) {
    let (thread, body) = (program.thread(id), program.body(id));
    let multiplicity = match thread.multiplicity {
        Multiplicity::One => "",
        Multiplicity::Spawned => "[0]",
        Multiplicity::Arbitrary => "[*]",
    };
    let registers: Vec<&str> = body.registers.iter().map(|register| register.name.as_str()).collect();
    let mut header = format!("thread {}{multiplicity} ({})", thread.name, registers.join(", "));
    let _ = write!(header, " enters at {}", place(program, id, body.entry));
    if let Some(failed) = body.failed {
        let _ = write!(header, ", fails at {}", place(program, id, failed));
    }
    line(text, &header);
    for loc in body.location_ids() {
        for (edge, step) in body.edges_from(loc) {
            let (from, to) = (place(program, id, loc), place(program, id, step.to));
            line(text, &format!("    {from} -> {to}: {}", program.instruction_text(id, edge)));
        }
    }
}

/// The first label, else the number.
fn place(program: &Program, thread: ThreadId, loc: LocId) -> String {
    let labels = program.body(thread).locations.get(loc.index()).map(|location| &location.labels);
    labels.and_then(|labels| labels.first().cloned()).unwrap_or_else(|| format!("#{}", loc.index()))
}

#[cfg(test)]
mod tests {
    use weir_ir::{Expr, Instruction, PropertyKind};

    use super::*;
    use crate::sketch::{all_of, at, cell, cell_value, equal, load, program, register_of, store, straight};

    #[test]
    fn shows_every_part() {
        let first = straight("P0", [store(1, 1), load(0, 2), Instruction::Assert(Expr::Const(1))]);
        let condition = all_of([at(0, LocId(1)), equal(register_of(0, 0), 0), equal(cell_value(1), 1)]);
        let program = program(
            vec![cell("x", 1)],
            vec![first, straight("P1", [])],
            vec![PropertyKind::Forbid(condition), PropertyKind::ForbidDeadlock],
        );
        let expected = "\
shared x @ 1 = [0]
thread P0 (r0) enters at l0, fails at l4
    l0 -> l1: x = 1
    l1 -> l2: r0 = mem[2]
    l2 -> l3: assert 1
thread P1 () enters at l0
forbid P0 at l1 && P0.r0 == 0 && x == 1
forbid deadlock
";
        assert_eq!(dump(&program), expected);
    }
}

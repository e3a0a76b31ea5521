//! A thread as a function of atomic sections.

use std::fmt::Write as _;

use weir_ir::{Diagnostic, Edge, EdgeId, Hindrance, Instruction, LocId, Register, ThreadId};

use super::Unit;
use super::steps::{Step, Writer};
use crate::c::code::{Line, Lines, label_names};
use crate::c::expressions::Longs;
use crate::export::lines::{comment, edge_comment, place, printed_locations};

impl Unit<'_> {
    /// The function of a thread.
    pub(super) fn function(&self, thread: ThreadId, longs: &mut Longs) -> Result<String, Vec<Diagnostic>> {
        let body = self.program.body(thread);
        let mut names = self.names.inner();
        let globals = &self.globals[thread.index()];
        let register = |(register, global): (&Register, &Option<String>)| match global {
            Some(global) => global.clone(),
            None if register.is_temporary => names.unused(register.name.trim_start_matches('_')),
            None => names.identifier(&register.name),
        };
        let registers: Vec<String> = body.registers.iter().zip(globals).map(register).collect();
        let printed = printed_locations(body, |edge| self.ranges.can_take(thread, edge));
        let labels = label_names(body, &printed, &mut names);
        let mut places = vec![0; body.locations.len()];
        for (nth, loc) in printed.iter().enumerate() {
            places[loc.index()] = nth;
        }
        let mut is_loop = vec![false; body.locations.len()];
        for edge in body.edges().iter().filter(|edge| places[edge.to.index()] <= places[edge.from.index()]) {
            is_loop[edge.to.index()] = true;
        }
        let mut lines = Lines::new(&labels);
        let mut refused = Vec::new();
        for (nth, &loc) in printed.iter().enumerate() {
            let edges: Vec<(EdgeId, &Edge)> =
                body.edges_from(loc).filter(|&(id, _)| self.ranges.can_take(thread, id)).collect();
            let next = printed.get(nth + 1).copied();
            let mut writer = Writer { unit: self, thread, registers: &registers, from: loc, longs };
            if let Err(errors) = self.location(&mut writer, &mut lines, (loc, next), &edges, is_loop[loc.index()]) {
                refused.extend(errors);
            }
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        let declared = self.program.thread(thread);
        let mut text = format!("\n/* {}thread {} */\n", place(self.program, declared.span), comment(&declared.name));
        for (name, identifier) in names.renamed() {
            let _ = writeln!(text, "/* {} is {identifier} here */", comment(name));
        }
        let procedure = self.procedure(thread);
        let _ = writeln!(text, "{}\n{{", self.signature(thread));
        let is_spawned = self.spawned.contains(&thread);
        if is_spawned && self.uses_own() {
            text.push_str("    struct own mine = {0};\n    struct own *own = &mine;\n");
        }
        let locals = || registers.iter().zip(globals).filter(|(_, global)| global.is_none()).map(|(name, _)| name);
        let parameters = procedure.map_or(&[][..], |procedure| &self.parameters[procedure]);
        for (at, name) in registers.iter().enumerate().filter(|&(at, _)| globals[at].is_none()) {
            match parameters.iter().position(|parameter| parameter.index() == at) {
                Some(argument) => {
                    let _ = writeln!(text, "    int64_t {name} = argument_{argument};");
                }
                None => {
                    let _ = writeln!(text, "    int64_t {name} = 0;");
                }
            }
        }
        let code = lines.render();
        let mut scratches: Vec<String> = ["held", "stored", "called"].map(str::to_owned).into();
        scratches.retain(|scratch| code.contains(&format!("{scratch} = ")));
        let loaded = (0..).map(|at| format!("loaded_{at}"));
        scratches.extend(loaded.take_while(|scratch| code.contains(&format!("{scratch} = "))));
        for scratch in &scratches {
            let _ = writeln!(text, "    int64_t {scratch} = 0;");
        }
        if is_spawned && self.uses_own() {
            text.push_str("    ATOMIC_BEGIN();\n    own->number = ++last_number;\n    ATOMIC_END();\n");
        }
        text.push_str(&code);
        if lines.jumps_to("stopped") || code.contains("goto stopped;") {
            text.push_str("stopped:\n");
        }
        if procedure.is_some() {
            text.push_str("    own->stopped = 1;\n");
        }
        for name in locals() {
            let _ = writeln!(text, "    (void){name};");
        }
        for scratch in scratches {
            let _ = writeln!(text, "    (void){scratch};");
        }
        if is_spawned && self.uses_own() {
            text.push_str("    (void)own;\n");
        }
        text.push_str(if procedure.is_some() { "    return 0;\n}\n" } else { "    return unused;\n}\n" });
        Ok(text)
    }

    /// One location, and the next one that is printed.
    fn location(
        &self,
        writer: &mut Writer<'_, '_>,
        lines: &mut Lines<'_>,
        (loc, next): (LocId, Option<LocId>),
        edges: &[(EdgeId, &Edge)],
        is_loop: bool,
    ) -> Result<(), Vec<Diagnostic>> {
        let body = self.program.body(writer.thread);
        lines.push(Line::Label(loc));
        if edges.is_empty() && body.is_done(loc) && self.procedure(writer.thread).is_some() {
            lines.push(Line::Text("    return 0;".to_owned()));
            return Ok(());
        }
        if edges.is_empty() {
            let note = if body.is_done(loc) { "done" } else { "no step leads on" };
            lines.push(Line::Text(format!("    /* {note} */")));
            lines.push(Line::Jump("stopped", 1));
            return Ok(());
        }
        let may_block = |edge: &Edge| {
            let waits_for_lock = self.program.uses_lock() && edge.instruction.accesses().next().is_some();
            waits_for_lock || edge.instruction.hindrance() != Hindrance::Nothing
        };
        if is_loop || edges.iter().any(|(_, edge)| may_block(edge)) {
            lines.push(Line::Text("    if (NONDET() == 0) /* never scheduled again */".to_owned()));
            lines.push(Line::Jump("stopped", 2));
        }
        let mut steps: Vec<(Step, String)> = Vec::new();
        let mut refused = Vec::new();
        for &(id, edge) in edges {
            match writer.steps(id, edge) {
                Ok(found) => {
                    let note = edge_comment(self.program, body, edge);
                    steps.extend(found.into_iter().map(|step| (step, note.clone())));
                }
                Err(refusal) => refused.push(refusal.at(edge.span)),
            }
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        let is_choice = steps.len() > 1;
        let branch = branch(writer, edges);
        if is_choice && branch.is_none() {
            lines.push(Line::Text("    switch (NONDET()) {".to_owned()));
        }
        let count = steps.len();
        for (at, (step, note)) in steps.into_iter().enumerate() {
            match &branch {
                Some(condition) if at == 0 => lines.push(Line::Text(format!("    if ({condition}) {{"))),
                Some(_) => lines.push(Line::Text("    } else {".to_owned())),
                None if is_choice && at + 1 == count => lines.push(Line::Text("    default:".to_owned())),
                None if is_choice => lines.push(Line::Text(format!("    case {at}:"))),
                None => {}
            }
            let is_call = step.before.iter().any(|line| line.starts_with("called = "));
            let moved = writer.moved(step.to, is_call);
            let before = if branch.is_some() { Vec::new() } else { step.before };
            let effects: Vec<String> = step.lines.into_iter().chain(moved).collect();
            section(lines, &before, &effects, &note, if is_choice { 2 } else { 1 });
            for line in &step.after {
                let blank = if line.starts_with(['#', '_']) {
                    String::new()
                } else {
                    "    ".repeat(1 + usize::from(is_choice))
                };
                lines.push(Line::Text(format!("{blank}{line}")));
            }
            if step.after.iter().any(|line| line.starts_with("return ")) {
                continue;
            }
            if is_choice || next != Some(step.to) {
                lines.push(Line::Goto(step.to, if is_choice { 2 } else { 1 }));
            }
        }
        if is_choice {
            lines.push(Line::Text("    }".to_owned()));
        }
        Ok(())
    }
}

/// The condition, if the edges are two tests of registers of which always just one holds.
fn branch(writer: &mut Writer<'_, '_>, edges: &[(EdgeId, &Edge)]) -> Option<String> {
    let [(_, first), (_, second)] = edges else { return None };
    let (Instruction::Assume(condition), Instruction::Assume(other)) = (&first.instruction, &second.instruction) else {
        return None;
    };
    if !condition.is_opposite_of(other) {
        return None;
    }
    writer.truth(condition).ok()
}

/// An atomic section, unless there is nothing to do in it, after what concerns the thread alone.
fn section(lines: &mut Lines<'_>, before: &[String], effects: &[String], note: &str, indent: usize) {
    let blank = "    ".repeat(indent);
    lines.push(Line::Text(format!("{blank}/* {note} */")));
    for line in before {
        lines.push(Line::Text(format!("{blank}{line}")));
    }
    if effects.is_empty() {
        return;
    }
    lines.push(Line::Text(format!("{blank}ATOMIC_BEGIN();")));
    for effect in effects {
        lines.push(Line::Text(format!("{blank}{effect}")));
    }
    lines.push(Line::Text(format!("{blank}ATOMIC_END();")));
}

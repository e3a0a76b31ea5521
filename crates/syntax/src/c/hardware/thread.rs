//! A thread as a function: labels for locations, jumps for edges.

use std::fmt::Write as _;

use weir_ir::{Diagnostic, Edge, EdgeId, Instruction, LocId, Register, ThreadId};

use super::Harness;
use super::steps::{Code, Writer};
use crate::c::code::{Line, Lines, label_names};
use crate::c::expressions::Longs;
use crate::export::lines::{comment, edge_comment, place, printed_locations};
use crate::export::names::Names;

impl Harness<'_> {
    /// The function of a thread.
    pub(super) fn function(&self, thread: ThreadId, longs: &mut Longs) -> Result<String, Vec<Diagnostic>> {
        let body = self.program.body(thread);
        let mut names = self.names.inner();
        names.reserve("c");
        let register = |register: &Register| match register.is_temporary {
            true => names.unused(register.name.trim_start_matches('_')),
            false => names.identifier(&register.name),
        };
        let registers: Vec<String> = body.registers.iter().map(register).collect();
        let printed = printed_locations(body, |edge| self.ranges.can_take(thread, edge));
        let labels = label_names(body, &printed, &mut names);
        let mut places = vec![0; body.locations.len()];
        for (nth, loc) in printed.iter().enumerate() {
            places[loc.index()] = nth;
        }
        let mut code = FunctionCode { places: &places, lines: Lines::new(&labels) };
        let mut refused = Vec::new();
        for (nth, &loc) in printed.iter().enumerate() {
            let edges: Vec<(EdgeId, &Edge)> =
                body.edges_from(loc).filter(|&(id, _)| self.ranges.can_take(thread, id)).collect();
            let mut writer = Writer { harness: self, thread, registers: &registers, from: loc, longs };
            if let Err(errors) = self.location(&mut writer, &mut code, nth, loc, &edges) {
                refused.extend(errors);
            }
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(self.assemble(thread, &registers, &names, &code))
    }

    /// One location: what can be done there.
    fn location(
        &self,
        writer: &mut Writer<'_, '_>,
        code: &mut FunctionCode<'_>,
        nth: usize,
        loc: LocId,
        edges: &[(EdgeId, &Edge)],
    ) -> Result<(), Vec<Diagnostic>> {
        let body = self.program.body(writer.thread);
        code.lines.push(Line::Label(loc));
        let note = |edge: &Edge| edge_comment(self.program, body, edge);
        if let [(_, first), (_, second)] = edges
            && let (Instruction::Assume(condition), Instruction::Assume(other)) =
                (&first.instruction, &second.instruction)
            && condition.is_opposite_of(other)
        {
            let condition = writer.truth(condition).map_err(|refusal| vec![refusal.at(first.span)])?;
            code.text(format!("    if ({condition}) {{ /* {} */", note(first)));
            code.jump(nth, first.to, 2);
            code.text("    }".to_owned());
            code.jump_unless_next(nth, second.to);
            return Ok(());
        }
        if edges.is_empty() {
            let end = match body.is_done(loc) {
                true => "DONE",
                false if body.failed == Some(loc) => "FAILED",
                false => "BLOCKED",
            };
            code.text(format!("    out->place = {};", loc.0));
            code.text(format!("    out->end = {end};"));
            code.lines.push(Line::Jump("ended", 1));
            return Ok(());
        }
        let mut refused = Vec::new();
        let is_choice = edges.len() > 1;
        let mut may_wait = false;
        if is_choice {
            code.text(format!("    switch (choose(self, {})) {{", edges.len()));
        }
        for (at, &(id, edge)) in edges.iter().enumerate() {
            let indent = if is_choice { 2 } else { 1 };
            if is_choice {
                let case = if at + 1 == edges.len() { "default".to_owned() } else { format!("case {at}") };
                code.text(format!("    {case}:"));
            }
            match writer.code(id, edge) {
                Ok(steps) => {
                    code.text(format!("{}/* {} */", "    ".repeat(indent), note(edge)));
                    for step in steps {
                        // Where there is a choice, another step may be possible.
                        let step = if is_choice { step.retried() } else { step };
                        may_wait |= code.step(step, indent, nth, loc);
                    }
                }
                Err(refusal) => refused.push(refusal.at(edge.span)),
            }
            match is_choice {
                true => code.jump(nth, edge.to, indent),
                false if may_wait => code.jump(nth, edge.to, indent),
                false => code.jump_unless_next(nth, edge.to),
            }
        }
        if is_choice {
            code.text("    }".to_owned());
        }
        if may_wait {
            code.lines.push(Line::WaitLabel(loc));
            code.text("    if (waits(self))".to_owned());
            code.lines.push(Line::Jump("blocked", 2));
            code.lines.push(Line::Goto(loc, 1));
        }
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// The function with its head, its registers and its ends.
    fn assemble(&self, thread: ThreadId, registers: &[String], names: &Names<'_>, code: &FunctionCode<'_>) -> String {
        let declared = self.program.thread(thread);
        let mut text = format!("\n/* {}thread {} */\n", place(self.program, declared.span), comment(&declared.name));
        for (name, identifier) in names.renamed() {
            let _ = writeln!(text, "/* {} is {identifier} here */", comment(name));
        }
        let function = &self.functions[thread.index()];
        let _ = writeln!(text, "static void {function}(struct cells *c, struct result *out, struct helper *self)\n{{");
        for register in registers {
            let _ = writeln!(text, "    int64_t {register} = 0;");
        }
        let lines = code.lines.render();
        for scratch in ["held", "stored", "loaded"] {
            if lines.contains(&format!("{scratch} = ")) {
                let _ = writeln!(text, "    int64_t {scratch};");
            }
        }
        text.push_str(&lines);
        for (label, end) in [("cut", "CUT"), ("blocked", "BLOCKED")] {
            if code.lines.jumps_to(label) {
                let _ = writeln!(text, "{label}:\n    out->place = -1;\n    out->end = {end};\n    goto ended;");
            }
        }
        if code.lines.jumps_to("ended") || code.lines.jumps_to("cut") || code.lines.jumps_to("blocked") {
            text.push_str("ended:\n");
        }
        for (slot, register) in self.kept(thread).enumerate() {
            let _ = writeln!(text, "    out->registers[{slot}] = {};", registers[register.index()]);
        }
        for name in registers.iter().map(String::as_str).chain(["c", "self"]) {
            let _ = writeln!(text, "    (void){name};");
        }
        text.push_str("}\n");
        text
    }
}

/// The code of a function.
struct FunctionCode<'l> {
    /// In which order locations are printed.
    places: &'l [usize],
    lines: Lines<'l>,
}

impl FunctionCode<'_> {
    fn text(&mut self, text: String) {
        self.lines.push(Line::Text(text));
    }

    /// A part of a step; says whether it may have to wait.
    fn step(&mut self, code: Code, indent: usize, nth: usize, loc: LocId) -> bool {
        let blank = "    ".repeat(indent);
        match code {
            Code::Line(line) => self.text(format!("{blank}{line}")),
            Code::WaitUnless(condition) => {
                self.text(format!("{blank}if (!({condition}))"));
                self.lines.push(Line::GotoWait(loc, indent + 1));
                return true;
            }
            Code::BlockUnless(condition) => {
                self.text(format!("{blank}if (!({condition}))"));
                self.lines.push(Line::Jump("blocked", indent + 1));
            }
            Code::FailUnless(condition, failed) => {
                self.text(format!("{blank}if (!({condition})) {{"));
                self.jump(nth, failed, indent + 1);
                self.text(format!("{blank}}}"));
            }
        }
        false
    }

    /// A jump from the `nth` location. Jumps back are counted, so that no thread goes on for ever.
    fn jump(&mut self, nth: usize, to: LocId, indent: usize) {
        if self.places[to.index()] <= nth {
            self.text(format!("{}if (steps(self))", "    ".repeat(indent)));
            self.lines.push(Line::Jump("cut", indent + 1));
        }
        self.lines.push(Line::Goto(to, indent));
    }

    fn jump_unless_next(&mut self, nth: usize, to: LocId) {
        if self.places[to.index()] != nth + 1 {
            self.jump(nth, to, 1);
        }
    }
}

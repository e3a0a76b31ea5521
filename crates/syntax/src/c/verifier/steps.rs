//! What a step of a thread is, inside an atomic section.

use weir_ir::{Edge, EdgeId, Instruction, LocId, Range, RegExpr, RegId, Rmw, ThreadId};

use super::Unit;
use crate::c::cells::between;
use crate::c::expressions::{Longs, number, truth};
use crate::c::scope::{Cell, Scope};
use crate::export::memory::{Access, Constraint};
use crate::export::refusal::Refusal;
use crate::export::term::{Operators as _, Term};

/// One way to take an edge.
pub(super) struct Step {
    /// What only concerns the own registers, and comes before the atomic section. CBMC does not accept an assumption
    /// inside of one that it can refute by constant propagation.
    pub(super) before: Vec<String>,
    pub(super) lines: Vec<String>,
    /// What comes after the atomic section.
    pub(super) after: Vec<String>,
    pub(super) to: LocId,
}

/// What is needed to write the steps from one location.
pub(super) struct Writer<'m, 'p> {
    pub(super) unit: &'m Unit<'p>,
    pub(super) thread: ThreadId,
    pub(super) registers: &'m [String],
    pub(super) from: LocId,
    pub(super) longs: &'m mut Longs,
}

fn assume(condition: &str) -> String {
    format!("ASSUME({condition});")
}

impl<'m> Writer<'m, '_> {
    /// All ways to take the edge.
    pub(super) fn steps(&mut self, id: EdgeId, edge: &Edge) -> Result<Vec<Step>, Refusal> {
        let accesses = self.unit.memory.accesses(self.thread, id).to_vec();
        let (mut before, mut lines, mut after) = (Vec::new(), Vec::new(), Vec::new());
        if self.unit.program.uses_lock() && !accesses.is_empty() {
            lines.push(assume(&format!("lock_holder == 0 || lock_holder == {}", self.number())));
        }
        for (address, access) in edge.instruction.accesses().zip(&accesses).filter(|(_, access)| access.is_checked) {
            let segment = self.unit.memory.segment(access.segment);
            let within = Range { low: segment.first, high: segment.last };
            if let Some(inside) = between(&self.expr(address)?, within) {
                let text = "\"an address is not that of a declared cell: nothing is known about the property\"";
                before.push(format!("ASSERT({}, {text});", inside.text));
                before.push(assume(&inside.text));
            }
        }
        match &edge.instruction {
            Instruction::Skip | Instruction::Terminate | Instruction::Fence | Instruction::Membarrier => {}
            Instruction::Load { register, address } => {
                let cell = self.cell(address, accesses[0])?;
                lines.push(self.set(*register, &cell.text));
            }
            Instruction::Snapshot(loads) => self.loads(&mut lines, loads, None, &accesses)?,
            Instruction::Await { loads, condition } => self.loads(&mut lines, loads, Some(condition), &accesses)?,
            Instruction::Store { address, value } => {
                let cell = self.cell(address, accesses[0])?;
                let value = self.expr(value)?;
                before.extend(self.admitted(&cell, &value).map(|admitted| assume(&admitted)));
                lines.push(format!("{} = {};", cell.text, self.kept(&cell, &value)));
            }
            Instruction::Assign { register, value } => {
                let value = self.expr(value)?.text;
                lines.push(self.set(*register, &value));
            }
            Instruction::Assume(condition) => {
                let condition = self.expr(condition)?;
                before.push(assume(&truth(&condition).text));
            }
            Instruction::Assert(condition) => return self.assertion(condition, edge),
            Instruction::ReadModifyWrite { register, address, operation } => {
                let cell = self.cell(address, accesses[0])?;
                self.read_modify_write((&mut before, &mut lines), *register, &cell, operation)?;
            }
            Instruction::Lock => {
                lines.push(assume("lock_holder == 0"));
                lines.push(format!("lock_holder = {};", self.number()));
            }
            Instruction::Unlock if self.unit.program.uses_lock() => {
                lines.push(assume(&format!("lock_holder == {}", self.number())));
                lines.push("lock_holder = 0;".to_owned());
            }
            Instruction::Unlock => before.push(assume("0")),
            Instruction::Havoc { register, range } => {
                let chosen = Term::simple("held", Range::FULL);
                before.push("held = NONDET();".to_owned());
                before.extend(between(&chosen, *range).map(|inside| assume(&inside.text)));
                lines.push(self.set(*register, "held"));
            }
            Instruction::Call { procedure, arguments, register } => {
                before.extend(self.call(procedure.index(), arguments)?);
                lines.extend(register.map(|register| self.set(register, "called")));
            }
            Instruction::Return(value) => {
                let value = self.expr(value)?.text;
                after.push(format!("return {value};"));
            }
            Instruction::Spawn(thread) => {
                if let Some(place) = &self.unit.places[thread.index()] {
                    let entry = self.unit.program.body(*thread).entry.0;
                    lines.push(format!("{place}[{entry}]++;"));
                    lines.push(format!("{place}_started++;"));
                }
                let function = &self.unit.functions[thread.index()];
                after.push("#ifdef __CPROVER__".to_owned());
                after.push(format!("__CPROVER_ASYNC_spawn_{}: {function}(NULL);", id.0));
                after.push("#else".to_owned());
                after.push(format!("start_thread({function});"));
                after.push("#endif".to_owned());
            }
        }
        Ok(vec![Step { before, lines, after, to: edge.to }])
    }

    /// A condition over registers.
    pub(super) fn truth(&mut self, condition: &RegExpr) -> Result<String, Refusal> {
        Ok(truth(&self.expr(condition)?).text)
    }

    /// The number of the thread as a holder of the lock.
    fn number(&self) -> String {
        if self.unit.initial.contains(&self.thread) {
            return (self.thread.index() + 1).to_string();
        }
        "own->number".to_owned()
    }

    /// A call, up to the moment before it returns: until then, the thread is at no place of its own.
    fn call(&mut self, procedure: usize, arguments: &[RegExpr]) -> Result<Vec<String>, Refusal> {
        let Some(callee) = self.unit.procedures[procedure] else { return Ok(Vec::new()) };
        let mut lines = Vec::new();
        if let Some(place) = &self.unit.places[self.thread.index()] {
            let leaves = match self.unit.spawned.contains(&self.thread) {
                true => Some(format!("{place}[{}]--;", self.from.0)),
                false => self.unit.initial.contains(&self.thread).then(|| format!("{place} = -1;")),
            };
            lines.extend(leaves.map(|leaves| format!("ATOMIC_BEGIN(); {leaves} ATOMIC_END();")));
        }
        let own =
            if let Some(own) = &self.unit.own[self.thread.index()] { format!("&{own}") } else { "own".to_owned() };
        let mut call = format!("called = {}({own}", self.unit.functions[callee.index()]);
        for argument in arguments {
            call = format!("{call}, {}", self.expr(argument)?.text);
        }
        lines.push(format!("{call});"));
        let stopped = if self.unit.initial.contains(&self.thread) {
            own.trim_start_matches('&').to_owned() + "."
        } else {
            "own->".to_owned()
        };
        lines.push(format!("if ({stopped}stopped)"));
        lines.push("    goto stopped;".to_owned());
        Ok(lines)
    }

    /// What moving to a place means for those who observe it.
    pub(super) fn moved(&self, to: LocId, is_call: bool) -> Vec<String> {
        let Some(place) = &self.unit.places[self.thread.index()] else { return Vec::new() };
        if self.unit.spawned.contains(&self.thread) {
            let leaves = (!is_call).then(|| format!("{place}[{}]--;", self.from.0));
            return leaves.into_iter().chain([format!("{place}[{}]++;", to.0)]).collect();
        }
        let is_observed = self.unit.initial.contains(&self.thread);
        is_observed.then(|| format!("{place} = {};", to.0)).into_iter().collect()
    }

    /// Two ways: the condition holds, or it does not.
    fn assertion(&mut self, condition: &RegExpr, edge: &Edge) -> Result<Vec<Step>, Refusal> {
        let condition = truth(&self.expr(condition)?);
        let failed = self.unit.program.body(self.thread).failed.unwrap_or(edge.to);
        let line = crate::export::lines::place(self.unit.program, edge.span);
        let text = crate::c::code::quoted(&format!("{line}assertion of the program"));
        let fails = vec![assume(&format!("!{}", condition.operand())), format!("ASSERT(!CHECKS_ASSERTIONS, {text});")];
        let failing = Step { before: fails, lines: Vec::new(), after: Vec::new(), to: failed };
        let holds = vec![assume(&condition.text)];
        Ok(vec![failing, Step { before: holds, lines: Vec::new(), after: Vec::new(), to: edge.to }])
    }

    fn expr(&mut self, expr: &RegExpr) -> Result<Term, Refusal> {
        self.expr_with(expr, &[])
    }

    /// An expression, with other names for some registers.
    fn expr_with(&mut self, expr: &RegExpr, instead: &[(RegId, String)]) -> Result<Term, Refusal> {
        let scope = self.scope();
        scope.expr(self.longs, expr, instead)
    }

    fn cell(&mut self, address: &RegExpr, access: Access) -> Result<Cell, Refusal> {
        let scope = self.scope();
        scope.cell(self.longs, address, access)
    }

    fn scope(&self) -> Scope<'m> {
        let Unit { program, ranges, memory, cells, .. } = self.unit;
        Scope { program, ranges, memory, cells, thread: self.thread, registers: self.registers, from: self.from }
    }

    fn set(&self, register: RegId, value: &str) -> String {
        format!("{} = {value};", self.registers[register.index()])
    }

    /// Loads in one step, and what must hold of the values.
    fn loads(
        &mut self,
        lines: &mut Vec<String>,
        loads: &[(RegId, RegExpr)],
        condition: Option<&RegExpr>,
        accesses: &[Access],
    ) -> Result<(), Refusal> {
        let mut loaded = Vec::new();
        for (at, ((register, address), access)) in loads.iter().zip(accesses).enumerate() {
            let cell = self.cell(address, *access)?;
            lines.push(format!("loaded_{at} = {};", cell.text));
            loaded.push((*register, format!("loaded_{at}")));
        }
        if let Some(condition) = condition {
            let condition = self.expr_with(condition, &loaded)?;
            lines.push(assume(&truth(&condition).text));
        }
        lines.extend(loaded.iter().map(|(register, value)| self.set(*register, value)));
        Ok(())
    }

    /// The condition under which a cell takes a value; none if it always does.
    fn admitted(&self, cell: &Cell, value: &Term) -> Option<String> {
        match cell.constraint {
            Constraint::Within(range) => between(value, range).map(|inside| inside.text),
            Constraint::Differing => {
                let function = self.unit.cells.admits(cell.segment);
                Some(format!("{function}({}, {})", cell.address.text, value.text))
            }
            Constraint::Free | Constraint::Wrapping(_) => None,
        }
    }

    /// What a cell keeps of a value.
    fn kept(&self, cell: &Cell, value: &Term) -> String {
        match cell.constraint {
            Constraint::Wrapping(width) => format!("{} & {}", value.operand(), number(width.range().high)),
            Constraint::Differing => {
                format!("{}({}, {})", self.unit.cells.keep(cell.segment), cell.address.text, value.text)
            }
            Constraint::Free | Constraint::Within(_) => value.text.clone(),
        }
    }

    fn read_modify_write(
        &mut self,
        (before, lines): (&mut Vec<String>, &mut Vec<String>),
        register: Option<RegId>,
        cell: &Cell,
        operation: &Rmw,
    ) -> Result<(), Refusal> {
        let held = Term::simple("held", Range::FULL);
        lines.push(format!("held = {};", cell.text));
        let (value, is_equal) = match operation {
            Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
                let expected = self.expr(expected)?;
                (self.expr(new)?, Some(format!("held == {}", expected.operand())))
            }
            Rmw::Exchange(value) => (self.expr(value)?, None),
            Rmw::Fetch(op, operand) => {
                let (op, operand) = (op.operator(), self.expr(operand)?);
                let range = weir_ir::flow::values_of_binary(op, held.range, operand.range);
                (self.longs.binary(op, &held, &operand, range)?, None)
            }
        };
        match (self.admitted(cell, &value), &is_equal) {
            (Some(admitted), Some(is_equal)) => lines.push(assume(&format!("!({is_equal}) || ({admitted})"))),
            (Some(admitted), None) if matches!(operation, Rmw::Exchange(_)) => before.push(assume(&admitted)),
            (Some(admitted), None) => lines.push(assume(&admitted)),
            (None, _) => {}
        }
        let kept = self.kept(cell, &value);
        lines.push(match &is_equal {
            Some(is_equal) => format!("stored = {is_equal} ? {kept} : held;"),
            None => format!("stored = {kept};"),
        });
        let result = match (operation, &is_equal) {
            (Rmw::CompareAndSwap { .. }, Some(is_equal)) => is_equal.clone(),
            _ => "held".to_owned(),
        };
        lines.push(format!("{} = stored;", cell.text));
        lines.extend(register.map(|register| self.set(register, &result)));
        Ok(())
    }
}

//! What a step of a thread is in C.

use weir_ir::{BinaryRmw, Edge, EdgeId, Instruction, LocId, Range, RegExpr, RegId, Rmw, ThreadId};

use super::Harness;
use crate::c::cells::between;
use crate::c::expressions::{Longs, truth};
use crate::c::scope::{Cell, Scope};
use crate::export::memory::{Access, Constraint};
use crate::export::refusal::Refusal;
use crate::export::term::{Operators as _, Term};

/// A part of a step.
pub(super) enum Code {
    /// A statement.
    Line(String),
    /// The step cannot be taken now, but may be later, unless this holds.
    WaitUnless(String),
    /// The thread can never go on unless this holds.
    BlockUnless(String),
    /// An assertion; where it leads if it fails.
    FailUnless(String, LocId),
}

impl Code {
    /// The same, but tried again instead of blocking the thread.
    pub(super) fn retried(self) -> Self {
        if let Self::BlockUnless(condition) = self { Self::WaitUnless(condition) } else { self }
    }
}

/// What is needed to write the steps from one location.
pub(super) struct Writer<'m, 'p> {
    pub(super) harness: &'m Harness<'p>,
    pub(super) thread: ThreadId,
    pub(super) registers: &'m [String],
    pub(super) from: LocId,
    pub(super) longs: &'m mut Longs,
}

/// A pointer to a cell.
fn pointer(cell: &Cell) -> String {
    format!("&c->{}", cell.text)
}

impl<'m> Writer<'m, '_> {
    /// A condition.
    pub(super) fn truth(&mut self, condition: &RegExpr) -> Result<String, Refusal> {
        Ok(truth(&self.expr(condition)?).text)
    }

    /// What an edge does. Where it may wait or block, that comes before anything is changed.
    pub(super) fn code(&mut self, id: EdgeId, edge: &Edge) -> Result<Vec<Code>, Refusal> {
        let mut code = Vec::new();
        let accesses = self.harness.memory.accesses(self.thread, id).to_vec();
        for (address, access) in edge.instruction.accesses().zip(&accesses).filter(|(_, access)| access.is_checked) {
            let segment = self.harness.memory.segment(access.segment);
            let within = Range { low: segment.first, high: segment.last };
            // There is no such cell in an instance: the run cannot go on, and is not counted.
            code.extend(between(&self.expr(address)?, within).map(|inside| Code::BlockUnless(inside.text)));
        }
        match &edge.instruction {
            Instruction::Skip | Instruction::Terminate => {}
            Instruction::Fence => code.push(Code::Line("fence();".to_owned())),
            Instruction::Load { register, address } => {
                let cell = self.cell(address, accesses[0])?;
                code.push(self.set(*register, &format!("load({})", pointer(&cell))));
            }
            Instruction::Await { loads, condition } => {
                let [(register, address)] = &loads[..] else { return Err(unsupported()) };
                let cell = self.cell(address, accesses[0])?;
                code.push(Code::Line(format!("loaded = load({});", pointer(&cell))));
                let condition = self.expr_with(condition, &[(*register, "loaded".to_owned())])?;
                code.push(Code::WaitUnless(truth(&condition).text));
                code.push(self.set(*register, "loaded"));
            }
            Instruction::Store { address, value } => {
                let cell = self.cell(address, accesses[0])?;
                let value = self.expr(value)?;
                code.extend(self.admitted(&cell, &value).map(Code::BlockUnless));
                let kept = self.kept(&cell, &value);
                code.push(Code::Line(format!("store({}, {kept});", pointer(&cell))));
            }
            Instruction::Assign { register, value } => {
                let value = self.expr(value)?.text;
                code.push(self.set(*register, &value));
            }
            Instruction::Assume(condition) => code.push(Code::BlockUnless(self.truth(condition)?)),
            Instruction::Assert(condition) => {
                let failed = self.harness.program.body(self.thread).failed.unwrap_or(edge.to);
                code.push(Code::FailUnless(self.truth(condition)?, failed));
            }
            Instruction::ReadModifyWrite { register, address, operation } => {
                let cell = self.cell(address, accesses[0])?;
                self.read_modify_write(&mut code, *register, &cell, operation)?;
            }
            Instruction::Havoc { register, range } => code.push(self.havoc(*register, *range)),
            Instruction::Snapshot(_)
            | Instruction::Membarrier
            | Instruction::Lock
            | Instruction::Unlock
            | Instruction::Call { .. }
            | Instruction::Return(_)
            | Instruction::Spawn(_) => return Err(unsupported()),
        }
        Ok(code)
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
        let Harness { program, ranges, memory, cells, .. } = self.harness;
        Scope { program, ranges, memory, cells, thread: self.thread, registers: self.registers, from: self.from }
    }

    fn set(&self, register: RegId, value: &str) -> Code {
        Code::Line(format!("{} = {value};", self.registers[register.index()]))
    }

    /// Any value of a range.
    fn havoc(&mut self, register: RegId, range: Range) -> Code {
        if range.low > range.high {
            return Code::BlockUnless("0".to_owned());
        }
        let low = crate::c::expressions::number(range.low);
        let value = match range.extent() {
            u64::MAX => "(int64_t)choose(self, UINT64_MAX)".to_owned(),
            extent => format!("(int64_t)((uint64_t){low} + choose(self, UINT64_C({})))", extent + 1),
        };
        self.set(register, &value)
    }

    /// The condition under which a cell takes a value; none if it always does.
    fn admitted(&self, cell: &Cell, value: &Term) -> Option<String> {
        match cell.constraint {
            Constraint::Within(range) => between(value, range).map(|inside| inside.text),
            Constraint::Differing => {
                let function = self.harness.cells.admits(cell.segment);
                Some(format!("{function}({}, {})", cell.address.text, value.text))
            }
            Constraint::Free | Constraint::Wrapping(_) => None,
        }
    }

    /// What a cell keeps of a value.
    fn kept(&self, cell: &Cell, value: &Term) -> String {
        match cell.constraint {
            Constraint::Wrapping(width) => {
                format!("{} & {}", value.operand(), crate::c::expressions::number(width.range().high))
            }
            Constraint::Differing => {
                format!("{}({}, {})", self.harness.cells.keep(cell.segment), cell.address.text, value.text)
            }
            Constraint::Free | Constraint::Within(_) => value.text.clone(),
        }
    }

    fn read_modify_write(
        &mut self,
        code: &mut Vec<Code>,
        register: Option<RegId>,
        cell: &Cell,
        operation: &Rmw,
    ) -> Result<(), Refusal> {
        if cell.constraint != Constraint::Free {
            return self.constrained(code, register, cell, operation);
        }
        let pointer = pointer(cell);
        let call = match operation {
            Rmw::CompareAndSwap { expected, new } => {
                format!("compare_and_swap({pointer}, {}, {})", self.expr(expected)?.text, self.expr(new)?.text)
            }
            Rmw::CompareExchange { expected, new } => {
                format!("compare_exchange({pointer}, {}, {})", self.expr(expected)?.text, self.expr(new)?.text)
            }
            Rmw::Exchange(value) => format!("exchange({pointer}, {})", self.expr(value)?.text),
            Rmw::Fetch(op, operand) => format!("{}({pointer}, {})", fetch(*op), self.expr(operand)?.text),
        };
        code.push(match register {
            Some(register) => self.set(register, &call),
            None => Code::Line(format!("(void){call};")),
        });
        Ok(())
    }

    /// A read-modify-write of a cell with a range or a width, as a loop around a compare-and-swap. A failed one drains
    /// the store buffer, too.
    fn constrained(
        &mut self,
        code: &mut Vec<Code>,
        register: Option<RegId>,
        cell: &Cell,
        operation: &Rmw,
    ) -> Result<(), Refusal> {
        let pointer = pointer(cell);
        let held = Term::simple("held", Range::FULL);
        let (value, expected) = match operation {
            Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
                (self.expr(new)?, Some(self.expr(expected)?))
            }
            Rmw::Exchange(value) => (self.expr(value)?, None),
            Rmw::Fetch(op, operand) => {
                let (op, operand) = (op.operator(), self.expr(operand)?);
                let range = weir_ir::flow::values_of_binary(op, held.range, operand.range);
                (self.longs.binary(op, &held, &operand, range)?, None)
            }
        };
        code.push(Code::Line(format!("held = load({pointer});")));
        let is_equal = expected.map(|expected| format!("held == {}", expected.operand()));
        if let Some(admitted) = self.admitted(cell, &value) {
            code.push(Code::WaitUnless(match &is_equal {
                Some(is_equal) => format!("!({is_equal}) || ({admitted})"),
                None => admitted,
            }));
        }
        let kept = self.kept(cell, &value);
        code.push(Code::Line(match &is_equal {
            Some(is_equal) => format!("stored = {is_equal} ? {kept} : held;"),
            None => format!("stored = {kept};"),
        }));
        // Somebody else was faster: the step has not been taken.
        code.push(Code::WaitUnless(format!("compare_and_swap({pointer}, held, stored)")));
        if let Some(register) = register {
            code.push(match (operation, is_equal) {
                (Rmw::CompareAndSwap { .. }, Some(is_equal)) => self.set(register, &is_equal),
                _ => self.set(register, "held"),
            });
        }
        Ok(())
    }
}

fn fetch(op: BinaryRmw) -> &'static str {
    match op {
        BinaryRmw::Add => "fetch_add",
        BinaryRmw::Subtract => "fetch_sub",
        BinaryRmw::And => "fetch_and",
        BinaryRmw::Or => "fetch_or",
        BinaryRmw::Xor => "fetch_xor",
    }
}

fn unsupported() -> Refusal {
    Refusal::new("this instruction cannot be run on hardware", "use loads, stores, fences and read-modify-writes")
}

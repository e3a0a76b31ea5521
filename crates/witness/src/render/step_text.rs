//! What a step of a run did, in a few words: `x = 1`, `r = y  reads 0`, `flush x=1`.
//!
//! Addresses are shown as the cells they turned out to be. A register that a pass made up is
//! shown as what it holds: after the load of `flag[1]`, a test of `_t1 == 1` reads `flag[1] == 1`.

use weir_ir::{
    Address, Body, Expr, Instruction, Program, RegExpr, RegId, Rmw, ThreadId, body_instruction_text, expr_text,
};

use crate::event::{Effect, Event, ReadFrom};
use crate::replay::Replay;

/// A step in words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StepText {
    /// What it does: `r = y`.
    pub what: String,
    /// What came of it: `reads 0`; empty if that is plain.
    pub outcome: String,
}

impl std::fmt::Display for StepText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        if self.outcome.is_empty() { Ok(()) } else { write!(f, "  {}", self.outcome) }
    }
}

/// Every step of a run in words.
pub fn step_texts(program: &Program, replay: &Replay) -> Vec<StepText> {
    let mut teller = Teller::new(program);
    replay.events().iter().map(|event| teller.tell(event)).collect()
}

/// Longer descriptions of what a made-up register holds are replaced by its value.
const LONGEST_STAND_IN: usize = 40;

/// Puts the steps of a run into words, one after the other.
pub(super) struct Teller<'p> {
    program: &'p Program,
    /// The bodies of the threads, with made-up registers named after what they hold.
    bodies: Vec<Body>,
}

impl<'p> Teller<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self { program, bodies: program.threads.iter().map(|thread| thread.body.clone()).collect() }
    }

    /// Takes note of the next step of the run without putting it into words.
    pub(super) fn pass(&mut self, event: &Event) {
        if event.effect.register().is_some_and(|(register, _)| self.is_temporary(event.thread, register)) {
            self.tell(event);
        }
    }

    /// The next step of the run in words.
    pub(super) fn tell(&mut self, event: &Event) -> StepText {
        let text = self.text(event);
        self.remember(event, &text.what);
        text
    }

    fn text(&self, event: &Event) -> StepText {
        let (thread, instruction) =
            (event.thread, event.edge.map(|edge| &self.body(event.thread).edge(edge).instruction));
        let cell = |address: Address| self.program.cell_name(address);
        let (what, outcome) = match (event.effect, instruction) {
            (Effect::Load { register, address, value, from }, _) => {
                let origin = if from == ReadFrom::Memory { "" } else { " from its buffer" };
                (self.into(thread, register, cell(address)), format!("reads {value}{origin}"))
            }
            (Effect::Store { address, value, .. }, _) => (format!("{} = {value}", cell(address)), String::new()),
            (Effect::Flush { address, value, .. }, _) => (format!("flush {}={value}", cell(address)), String::new()),
            (_, Some(Instruction::Assume(condition))) => (self.expr(thread, condition), "holds".to_string()),
            (Effect::Assert { holds }, Some(Instruction::Assert(condition))) => {
                let outcome = if holds { "holds" } else { "fails" };
                (format!("assert {}", self.expr(thread, condition)), outcome.to_string())
            }
            (
                Effect::ReadModifyWrite { address, read, written, .. },
                Some(Instruction::ReadModifyWrite { register, operation, .. }),
            ) => {
                let end = written.map_or("fails".to_string(), |value| format!("writes {value}"));
                (self.read_modify_write(thread, *register, address, operation), format!("reads {read}, {end}"))
            }
            (Effect::Assign { register, value }, Some(Instruction::Assign { value: expr, .. })) => {
                let outcome = if expr.constant().is_some() { String::new() } else { format!("is {value}") };
                (self.into(thread, register, self.expr(thread, expr)), outcome)
            }
            (Effect::Havoc { register, value }, Some(Instruction::Havoc { range, .. })) => {
                let what = format!("any {}..{}", range.low, range.high);
                (self.into(thread, register, what), format!("takes {value}"))
            }
            (effect, _) => (effect.name().to_string(), String::new()),
        };
        StepText { what, outcome }
    }

    fn body(&self, thread: ThreadId) -> &Body {
        &self.bodies[thread.index()]
    }

    fn is_temporary(&self, thread: ThreadId, register: RegId) -> bool {
        self.body(thread).registers[register.index()].is_temporary
    }

    /// `register = what`, or just what if the register is made up.
    fn into(&self, thread: ThreadId, register: RegId, what: String) -> String {
        if self.is_temporary(thread, register) {
            return what;
        }
        format!("{} = {what}", self.body(thread).registers[register.index()].name)
    }

    fn expr(&self, thread: ThreadId, expr: &RegExpr) -> String {
        expr_text(self.body(thread), expr)
    }

    fn read_modify_write(&self, thread: ThreadId, register: Option<RegId>, address: Address, rmw: &Rmw) -> String {
        let register = register.filter(|&register| !self.is_temporary(thread, register));
        let (address, operation) = (Expr::Const(address), rmw.clone());
        let instruction = Instruction::ReadModifyWrite { register, address, operation };
        body_instruction_text(self.program, self.body(thread), &instruction)
    }

    /// Names a made-up register after what it now holds.
    fn remember(&mut self, event: &Event, what: &str) {
        let Some((register, value)) = event.effect.register() else { return };
        let is_plain = matches!(event.effect, Effect::Load { .. } | Effect::ReadModifyWrite { .. });
        let register = &mut self.bodies[event.thread.index()].registers[register.index()];
        if register.is_temporary {
            let is_short = what.chars().count() <= LONGEST_STAND_IN;
            register.name = if is_plain && is_short { what.to_string() } else { value.to_string() };
        }
    }
}

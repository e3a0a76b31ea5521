//! What a step of a run did, in a few words: `x = 1`, `r = y  reads 0`, `flush x=1`.
//!
//! Addresses are shown as the cells they turned out to be. A register that a pass made up is
//! shown as what it holds: after the load of `flag[1]`, a test of `_t1 == 1` reads `flag[1] == 1`.

use std::collections::BTreeMap;

use weir_ir::{
    Address, Body, Expr, Gather, Instruction, ProcId, Program, RegExpr, RegId, Rmw, ThreadId, Value,
    body_instruction_text, expr_text,
};
use weir_witness::{Effect, Event, Loaded, ReadFrom, Replay};

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
    let mut describer = StepDescriber::new(program);
    replay.events().iter().map(|event| describer.describe(event)).collect()
}

/// Longer descriptions of what a made-up register holds are replaced by its value.
const LONGEST_STAND_IN: usize = 40;

/// Puts the steps of a run into words, one after the other.
pub struct StepDescriber<'p> {
    program: &'p Program,
    /// The bodies of the threads, with made-up registers named after what they hold.
    bodies: Vec<Body>,
}

impl<'p> StepDescriber<'p> {
    /// At the beginning of a run of `program`.
    pub fn new(program: &'p Program) -> Self {
        Self { program, bodies: program.threads.iter().map(|thread| thread.body.clone()).collect() }
    }

    /// Takes note of the next step of the run without putting it into words.
    pub fn skip(&mut self, event: &Event) {
        if event.effect.registers().any(|(register, _)| self.is_temporary(event.thread, register)) {
            self.describe(event);
        }
    }

    /// The next step of the run in words.
    pub fn describe(&mut self, event: &Event) -> StepText {
        let text = self.text(event);
        self.remember(event, &text.what);
        text
    }

    fn text(&self, event: &Event) -> StepText {
        let (thread, instruction) =
            (event.thread, event.edge.map(|edge| &self.body(event.thread).edge(edge).instruction));
        let cell = |address: Address| self.program.cell_name(address);
        let (what, outcome) = match (&event.effect, instruction) {
            (Effect::Load(loaded), _) => {
                (self.into(thread, loaded.register, cell(loaded.address)), format!("reads {}", found(loaded)))
            }
            (Effect::Snapshot(loads), _) => {
                let found: Vec<String> = loads.iter().map(found).collect();
                (self.snapshot(thread, loads), format!("reads {}", found.join(", ")))
            }
            (Effect::Await(loads), Some(Instruction::Await { condition, .. })) => self.wait(thread, loads, condition),
            (Effect::Store { address, value, .. }, _) => (format!("{} = {value}", cell(*address)), String::new()),
            (Effect::Flush { address, value, .. }, _) => (format!("flush {}={value}", cell(*address)), String::new()),
            (_, Some(Instruction::Assume(condition))) => (self.expr(thread, condition), "holds".to_string()),
            (Effect::Assert { holds }, Some(Instruction::Assert(condition))) => {
                let outcome = if *holds { "holds" } else { "fails" };
                (format!("assert {}", self.expr(thread, condition)), outcome.to_string())
            }
            (
                Effect::ReadModifyWrite { address, read, written, .. },
                Some(Instruction::ReadModifyWrite { register, operation, .. }),
            ) => {
                let end = written.map_or("fails".to_string(), |value| format!("writes {value}"));
                (self.read_modify_write(thread, *register, *address, operation), format!("reads {read}, {end}"))
            }
            (Effect::Assign { register, value }, Some(Instruction::Assign { value: expr, .. })) => {
                let outcome = if expr.constant().is_some() { String::new() } else { format!("is {value}") };
                (self.into(thread, *register, self.expr(thread, expr)), outcome)
            }
            (Effect::Havoc { register, value }, Some(Instruction::Havoc { range, .. })) => {
                let what = format!("any {}..{}", range.low, range.high);
                (self.into(thread, *register, what), format!("takes {value}"))
            }
            (Effect::Call { procedure, registers, .. }, Some(Instruction::Call { arguments, .. })) => {
                self.call(thread, *procedure, registers, arguments)
            }
            (Effect::Return { value, .. }, Some(Instruction::Return(expr))) => {
                let outcome = if expr.constant().is_some() { String::new() } else { format!("is {value}") };
                (format!("return {}", self.expr(thread, expr)), outcome)
            }
            (Effect::Spawn(started), _) => (format!("spawn {}", self.program.thread(*started).name), String::new()),
            (effect, _) => (effect.name().to_string(), String::new()),
        };
        StepText { what, outcome }
    }

    /// `f(n - 1)`, and what the parameters are.
    fn call(
        &self,
        thread: ThreadId,
        procedure: ProcId,
        registers: &[(RegId, Value)],
        arguments: &[RegExpr],
    ) -> (String, String) {
        let name = self.program.procedures.get(procedure.index()).map_or("?", |procedure| &procedure.name);
        let texts: Vec<String> = arguments.iter().map(|argument| self.expr(thread, argument)).collect();
        let frame = self.body(thread).frames.get(procedure.index()).and_then(Option::as_ref);
        let value = |parameter: &RegId| registers.iter().find(|(register, _)| register == parameter);
        let values = frame.into_iter().flat_map(|frame| frame.parameters.iter().filter_map(value));
        let values: Vec<String> = values.map(|(_, value)| value.to_string()).collect();
        let is_plain = arguments.iter().all(|argument| argument.constant().is_some());
        let outcome = if is_plain { String::new() } else { format!("with {}", values.join(", ")) };
        (format!("{name}({})", texts.join(", ")), outcome)
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

    /// `a, b = x, y`; what goes to registers that are made up stands alone.
    fn snapshot(&self, thread: ThreadId, loads: &[Loaded]) -> String {
        let cells: Vec<String> = loads.iter().map(|loaded| self.program.cell_name(loaded.address)).collect();
        if loads.iter().any(|loaded| self.is_temporary(thread, loaded.register)) {
            let each = loads.iter().zip(cells).map(|(loaded, cell)| self.into(thread, loaded.register, cell));
            return each.collect::<Vec<_>>().join(", ");
        }
        let name = |loaded: &Loaded| self.body(thread).registers[loaded.register.index()].name.clone();
        let registers: Vec<String> = loads.iter().map(name).collect();
        format!("{} = {}", registers.join(", "), cells.join(", "))
    }

    /// `await x == 1`: made-up registers are shown as the cells they were loaded from.
    fn wait(&self, thread: ThreadId, loads: &[Loaded], condition: &RegExpr) -> (String, String) {
        let mut body = self.body(thread).clone();
        let is_made_up = |loaded: &&Loaded| self.is_temporary(thread, loaded.register);
        for loaded in loads.iter().filter(is_made_up) {
            body.registers[loaded.register.index()].name = self.program.cell_name(loaded.address);
        }
        let named: Vec<Loaded> = loads.iter().filter(|loaded| !is_made_up(loaded)).copied().collect();
        let kept = if named.is_empty() { String::new() } else { format!("{} if ", self.snapshot(thread, &named)) };
        let found: Vec<String> = loads.iter().map(found).collect();
        (format!("await {kept}{}", expr_text(&body, condition)), format!("reads {}", found.join(", ")))
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
        let of_snapshot: BTreeMap<RegId, String> = match &event.effect {
            Effect::Snapshot(loads) | Effect::Await(loads) => {
                loads.iter().map(|loaded| (loaded.register, self.program.cell_name(loaded.address))).gather()
            }
            _ => BTreeMap::new(),
        };
        let is_plain = matches!(
            event.effect,
            Effect::Load(_) | Effect::Snapshot(_) | Effect::Await(_) | Effect::ReadModifyWrite { .. }
        );
        for (id, value) in event.effect.registers() {
            let register = &mut self.bodies[event.thread.index()].registers[id.index()];
            let what = of_snapshot.get(&id).map_or(what, String::as_str);
            if register.is_temporary {
                let is_short = what.chars().count() <= LONGEST_STAND_IN;
                register.name = if is_plain && is_short { what.to_string() } else { value.to_string() };
            }
        }
    }
}

/// What a load has read, and where, if not in memory.
fn found(loaded: &Loaded) -> String {
    let origin = if loaded.from == ReadFrom::Memory { "" } else { " from its buffer" };
    format!("{}{origin}", loaded.value)
}

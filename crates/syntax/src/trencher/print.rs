//! A program in Trencher's language, for the part of programs that it can express.
//!
//! The language: `thread NAME`, `initial STATE`, lines `transition FROM TO INSTRUCTION`, `end`, where an
//! instruction is `read REGISTER ADDRESS`, `write VALUE ADDRESS`, `local REGISTER VALUE`, `check CONDITION`,
//! `mfence`, `lock`, `unlock` or `noop`; comments stand between threads. Every cell and register starts
//! at 0.
//!
//! What has no instruction of its own is spelled out in several, with the same behaviour and more states:
//! a read-modify-write is `lock`, `read`, `write`, `unlock`; a choice of values is one `local` for each; an
//! assertion is a pair of `check`s; a store to a cell with a range has a `check` before it. Properties,
//! weights and costs are unknown there: properties become comments. Trencher computes in C's `int`, so
//! the two agree as long as nothing overflows 32 bits.
//!
//! What cannot be expressed is refused, with all reasons at once.

mod expressions;
mod ranges;
mod rmw;

use std::collections::VecDeque;
use std::fmt::Write as _;

use weir_ir::{
    Body, Diagnostic, Edge, Instruction, LocId, Multiplicity, Program, Range, RegExpr, RegId, Span, Thread,
    body_place_name,
};

use self::expressions::prefix;
use crate::export::refusal::UNROLL;
use crate::limits::MAX_TRENCHER_CHOICES;
use crate::weir::print::{Names, named};

/// The program in Trencher's language, or what stands in the way.
pub fn print(program: &Program) -> Result<String, Vec<Diagnostic>> {
    let (mut program, labels) = named(program);
    let states: Vec<Names> = program.threads.iter_mut().map(|thread| name_states(thread, labels.clone())).collect();
    let mut refused = refused_parts(&program);
    let mut text = header(&program);
    for (thread, states) in program.threads.iter().zip(states) {
        if thread.multiplicity != Multiplicity::One {
            continue;
        }
        let mut printer = ThreadPrinter::new(&program, thread, states);
        printer.thread();
        text.push_str(&printer.text);
        refused.extend(printer.refused);
    }
    if refused.is_empty() { Ok(text) } else { Err(refused) }
}

/// Makes sure that each location has a name, as states need one; and gives the names that are taken.
fn name_states(thread: &mut Thread, mut states: Names) -> Names {
    for location in &mut thread.body.locations {
        if location.labels.is_empty() {
            location.labels.push(states.fresh("q"));
        }
    }
    states
}

/// What is wrong beside single instructions.
fn refused_parts(program: &Program) -> Vec<Diagnostic> {
    let nonzero = program.shared.iter().filter(|shared| shared.initial.iter().any(|&value| value != 0));
    let initial = nonzero.map(|shared| {
        let message = format!("`{}` does not start at 0, but in Trencher's language every cell does", shared.name);
        let help = "let it start at 0, and store the difference: `x - 7` instead of `x`";
        Refusal::new(message, help).at(shared.span)
    });
    let many = program.threads.iter().filter(|thread| thread.multiplicity == Multiplicity::Arbitrary);
    let many = many.map(|thread| {
        let message = format!("Trencher's language has no `thread {}[*]`", thread.name);
        Refusal::new(message, "give a number of instances, such as `[2]`").at(thread.span)
    });
    let wrapping = program.shared.iter().filter_map(|shared| Some((shared, shared.width?)));
    let wrapping = wrapping.map(|(shared, width)| {
        let message = format!("`{}` is {}, but Trencher's language has one width only", shared.name, width.name());
        let help = "declare it without a width, and store `e & 255` (or the mask for its width) instead of `e`";
        Refusal::new(message, help).at(shared.span)
    });
    initial.chain(wrapping).chain(many).collect()
}

/// Something that Trencher's language cannot say, and a way out.
struct Refusal {
    message: String,
    help: String,
}

impl Refusal {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    fn at(self, span: Span) -> Diagnostic {
        Diagnostic::error("not-in-trencher", self.message, span).help(self.help)
    }
}

fn header(program: &Program) -> String {
    let mut text = String::from("# Every cell starts at 0.\n");
    for shared in &program.shared {
        let last = shared.address.wrapping_add(shared.initial.len() as i64 - 1);
        let _ = match shared.is_array {
            true => writeln!(text, "# {} to {} - {}", shared.address, last, shared.name),
            false => writeln!(text, "# {} - {}", shared.address, shared.name),
        };
    }
    for property in &program.properties {
        let _ = writeln!(text, "# not checked by Trencher: {}", program.property_text(property));
    }
    text
}

/// One thread under construction.
struct ThreadPrinter<'p> {
    program: &'p Program,
    thread: &'p Thread,
    /// The names of states that are taken.
    states: Names,
    /// Whether the lock may be free, and whether it may be held, at each location.
    lock: Vec<[bool; 2]>,
    /// Holds what a read-modify-write reads.
    scratch: String,
    text: String,
    refused: Vec<Diagnostic>,
}

impl<'p> ThreadPrinter<'p> {
    fn new(program: &'p Program, thread: &'p Thread, states: Names) -> Self {
        let mut scratch = String::from("held");
        while thread.body.register(&scratch).is_some() {
            scratch.push('_');
        }
        let lock = lock_states(&thread.body);
        Self { program, thread, states, lock, scratch, text: String::new(), refused: Vec::new() }
    }

    fn thread(&mut self) {
        let thread = self.thread;
        let initial = self.state(thread.body.entry);
        self.text = format!("\nthread {}\ninitial {initial}\n", thread.name);
        for edge in thread.body.edges() {
            if let Err(refusal) = self.edge(edge) {
                self.refused.push(refusal.at(edge.span));
            }
        }
        self.text.push_str("end\n");
    }

    fn edge(&mut self, edge: &Edge) -> Result<(), Refusal> {
        let (from, to) = (self.state(edge.from), self.state(edge.to));
        let expr = |value: &RegExpr| self.expr(value);
        let line = match &edge.instruction {
            Instruction::Skip | Instruction::Terminate => "noop".to_string(),
            Instruction::Fence => "mfence".to_string(),
            Instruction::Lock => "lock".to_string(),
            Instruction::Unlock => "unlock".to_string(),
            Instruction::Load { register, address } => format!("read {} {}", self.register(*register), expr(address)?),
            Instruction::Snapshot(_) => {
                let help =
                    "load them one by one, or between `lock` and `unlock`; either changes the program's behaviour";
                return Err(Refusal::new("Trencher's language cannot load several cells in one step", help));
            }
            Instruction::Await { .. } => {
                let help = "write a loop that loads the cells and tests them; that changes the program's deadlocks";
                return Err(Refusal::new("Trencher's language has no `await`", help));
            }
            Instruction::Membarrier => {
                let help = "write a fence in every thread where it may have stores waiting";
                return Err(Refusal::new("Trencher's language has no `membarrier`", help));
            }
            Instruction::Assign { register, value } => format!("local {} {}", self.register(*register), expr(value)?),
            Instruction::Assume(condition) => format!("check {}", expr(condition)?),
            Instruction::Assert(condition) => {
                let failed = self.thread.body.failed.unwrap_or(edge.to);
                let (holds, fails) = (expr(condition)?, expr(&condition.negated())?);
                self.line(&from, &self.state(failed), &format!("check {fails}"));
                format!("check {holds}")
            }
            Instruction::Store { address, value } => return self.store(edge, address, value),
            Instruction::ReadModifyWrite { register, address, operation } => {
                return self.read_modify_write(edge, *register, address, operation);
            }
            Instruction::Havoc { register, range } => return self.choice(edge, *register, *range),
            Instruction::Call { .. } | Instruction::Return(_) => {
                return Err(Refusal::new("Trencher's language has no procedures", UNROLL));
            }
            Instruction::Spawn(_) => {
                let help = "declare the thread so that it runs from the start";
                return Err(Refusal::new("Trencher's language cannot start threads", help));
            }
        };
        self.line(&from, &to, &line);
        Ok(())
    }

    fn store(&mut self, edge: &Edge, address: &RegExpr, value: &RegExpr) -> Result<(), Refusal> {
        let write = format!("write {} {}", self.expr(value)?, self.expr(address)?);
        let mut lines = ranges::checks(self, address, value)?;
        lines.push(write);
        self.chain(self.state(edge.from), lines, self.state(edge.to));
        Ok(())
    }

    fn choice(&mut self, edge: &Edge, register: RegId, range: Range) -> Result<(), Refusal> {
        if range.extent() >= MAX_TRENCHER_CHOICES {
            let message = format!("a choice among more than {MAX_TRENCHER_CHOICES} values");
            return Err(Refusal::new(message, "narrow the range; each value takes a line of its own"));
        }
        for value in range.low..=range.high {
            let value = self.expr(&RegExpr::Const(value))?;
            let line = format!("local {} {value}", self.register(register));
            self.line(&self.state(edge.from), &self.state(edge.to), &line);
        }
        Ok(())
    }

    fn expr(&self, expr: &RegExpr) -> Result<String, Refusal> {
        prefix(&self.thread.body, expr)
    }

    fn register(&self, register: RegId) -> String {
        self.thread.body.registers[register.index()].name.clone()
    }

    fn state(&self, loc: LocId) -> String {
        body_place_name(self.program, &self.thread.body, loc)
    }

    /// One instruction after the other, by states in between.
    fn chain(&mut self, from: String, lines: Vec<String>, to: String) {
        let mut at = from;
        let count = lines.len();
        for (nth, line) in lines.into_iter().enumerate() {
            let next = if nth + 1 == count { to.clone() } else { self.states.fresh("q") };
            self.line(&at, &next, &line);
            at = next;
        }
    }

    fn line(&mut self, from: &str, to: &str, instruction: &str) {
        let _ = writeln!(self.text, "transition {from} {to} {instruction}");
    }
}

/// Whether the thread can be at each location without the lock, and with it.
fn lock_states(body: &Body) -> Vec<[bool; 2]> {
    let mut states = vec![[false; 2]; body.locations.len()];
    let mut open = VecDeque::from([(body.entry, 0)]);
    while let Some((loc, held)) = open.pop_front() {
        if std::mem::replace(&mut states[loc.index()][held], true) {
            continue;
        }
        for (_, edge) in body.edges_from(loc) {
            match (&edge.instruction, held) {
                (Instruction::Lock, 0) => open.push_back((edge.to, 1)),
                (Instruction::Unlock, 1) => open.push_back((edge.to, 0)),
                (Instruction::Lock | Instruction::Unlock, _) => {}
                _ => open.push_back((edge.to, held)),
            }
        }
    }
    states
}

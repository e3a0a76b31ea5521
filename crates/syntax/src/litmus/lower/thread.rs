//! From a column of instructions to the automaton of a thread.

use std::collections::{BTreeSet, HashMap};

use weir_ir::{Diagnostic, Expr, Instruction as Step, LocId, Multiplicity, Thread, Value, nearest};

use super::super::Refused;
use super::super::header::Architecture;
use super::super::mnemonic::Operation;
use super::super::register::{Base, Part};
use super::super::tree::{Column, Instruction};
use super::bits::signed;
use super::chain::Chain;
use super::context::Context;
use super::flags::condition;
use super::registers::{Registers, Usage};
use super::usage::usage;

/// A thread made ready, and where its registers are.
pub(super) struct Lowered {
    pub(super) thread: Thread,
    pub(super) registers: Registers,
    pub(super) usage: Usage,
    /// Whether there is a locked addition.
    pub(super) adds_atomically: bool,
}

/// Lowers one thread. `observed` are the registers that the question looks at.
pub(super) fn lower(context: Context<'_>, column: &Column, observed: BTreeSet<Base>) -> Result<Lowered, Refused> {
    let usage = usage(context, column, observed)?;
    let initial =
        |base: &Base| context.registers.value(column.number, base).map_or(0, |constant| context.cells.value(constant));
    let is_upper = context.architecture == Architecture::X86;
    let registers = Registers::new(&usage, is_upper, column.span, initial);
    let mut lowering = Lowering { context, registers, chain: Chain::default(), adds_atomically: false };
    let entry = lowering.column(column, &usage, initial)?;
    let Lowering { mut registers, chain, adds_atomically, .. } = lowering;
    let body = chain.into_body(std::mem::take(&mut registers.list), entry);
    let name = format!("P{}", column.number);
    let family = (name.clone(), None);
    let thread = Thread { name, family, multiplicity: Multiplicity::One, weight: 1, body, span: column.span };
    Ok(Lowered { thread, registers, usage, adds_atomically })
}

/// A thread being lowered.
pub(super) struct Lowering<'a> {
    pub(super) context: Context<'a>,
    pub(super) registers: Registers,
    pub(super) chain: Chain,
    pub(super) adds_atomically: bool,
}

impl Lowering<'_> {
    fn column(&mut self, column: &Column, usage: &Usage, initial: impl Fn(&Base) -> Value) -> Result<LocId, Refused> {
        let count = column.instructions.len();
        let span_at = |at: usize| column.instructions.get(at).map_or(column.span, |instruction| instruction.span);
        let starts: Vec<LocId> = (0..=count).map(|at| self.chain.location(span_at(at))).collect();
        let mut labels = HashMap::new();
        for (name, at, _) in &column.labels {
            self.chain.label(starts[*at], name);
            labels.insert(name.as_str(), starts[*at]);
        }
        for (at, instruction) in column.instructions.iter().enumerate() {
            match &instruction.target {
                Some((label, span)) => {
                    let target = labels.get(label.as_str()).copied();
                    let target = target.ok_or_else(|| unknown_label(column, label, *span))?;
                    self.jump(instruction, starts[at], starts[at + 1], target);
                }
                None if instruction.operation == Operation::Return => {
                    self.chain.edge(starts[at], starts[count], Step::Skip, instruction.span);
                }
                None => {
                    self.chain.start(starts[at], starts[at + 1], instruction.span);
                    self.instruction(instruction)?;
                    self.chain.finish();
                }
            }
        }
        Ok(self.initialize(column, usage, initial, starts[0]))
    }

    /// Registers start at 0; others are set before the first instruction. Where the thread then starts.
    fn initialize(&mut self, column: &Column, usage: &Usage, initial: impl Fn(&Base) -> Value, start: LocId) -> LocId {
        let mut entry = start;
        for base in &usage.written {
            let part = if self.registers.direct(base, Part::Long).is_some() { Part::Long } else { Part::Quad };
            let value = signed(Expr::Const(initial(base)), part.size());
            if value == Expr::Const(0) {
                continue;
            }
            if let Some((register, value)) = self.registers.write(base, part, value) {
                let before = self.chain.location(column.span);
                self.chain.edge(before, entry, Step::Assign { register, value }, column.span);
                entry = before;
            }
        }
        entry
    }

    fn jump(&mut self, instruction: &Instruction, from: LocId, next: LocId, target: LocId) {
        let Operation::JumpIf(test) = instruction.operation else {
            self.chain.edge(from, target, Step::Skip, instruction.span);
            return;
        };
        let taken = condition(test, &self.registers);
        let passed = super::bits::not(taken.clone());
        self.chain.edge(from, target, Step::Assume(taken), instruction.span);
        self.chain.edge(from, next, Step::Assume(passed), instruction.span);
    }
}

fn unknown_label(column: &Column, label: &str, span: weir_ir::Span) -> Diagnostic {
    let message = format!("P{} has no label `{label}`", column.number);
    let error = Diagnostic::error("unknown-label", message, span);
    match nearest(label, column.labels.iter().map(|(name, _, _)| name.as_str())) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(format!("write `{label}:` before the instruction to jump to")),
    }
}

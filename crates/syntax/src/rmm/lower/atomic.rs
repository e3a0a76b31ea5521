//! Locked blocks.
//!
//! A block that writes waits for an empty buffer and takes the global lock. All that it needs to know is read
//! and tested first, with results in registers that are made up; only an alternative that goes through
//! to its end writes and sets registers. One that does not gives the lock back, and the process tries again. So no
//! process ever waits with the lock held, as none does in Memorax, where such a block cannot begin.
//!
//! A block that only reads flushes nothing and needs no lock: an alternative reads all its locations in one step, which
//! is all that others can notice of it.

use std::collections::BTreeMap;

use weir_ir::{Address, BinaryOp, Diagnostic, Expr, Instruction, LocId, Range, RegExpr, RegId, Span};

use super::super::ast::{Cell, Labelled, Name, RegisterExpr, StatementKind};
use super::process::Builder;
use super::ranges;
use crate::limits::MAX_LOCKED_INSTRUCTIONS;

/// An instruction of a locked block.
#[derive(Clone, Copy)]
enum Op<'f, 's> {
    Assign(Name<'s>, &'f RegisterExpr<'s>),
    Assume(&'f RegisterExpr<'s>),
    ReadInto(Name<'s>, &'f Cell<'s>),
    ReadEqual(&'f Cell<'s>, &'f RegisterExpr<'s>),
    Write(&'f Cell<'s>, &'f RegisterExpr<'s>),
}

type Alternative<'f, 's> = Vec<(Op<'f, 's>, Span)>;

impl<'s> Builder<'_, 's> {
    pub(super) fn locked(&mut self, blocks: &[Vec<Labelled<'s>>], from: LocId, to: LocId, span: Span) {
        let Some(alternatives) = self.flatten(blocks, span) else { return };
        if let [alternative] = alternatives.as_slice()
            && self.single_step(alternative, from, to, span)
        {
            return;
        }
        let writes = alternatives.iter().flatten().any(|(op, _)| matches!(op, Op::Write(..)));
        if writes {
            let start = self.step(from, Instruction::Lock, span);
            let failed = self.node();
            self.edge(failed, Instruction::Unlock, from, span);
            for alternative in &alternatives {
                let end = self.alternative(alternative, Run::new(start, failed));
                self.edge(end.here, Instruction::Unlock, to, span);
            }
            return;
        }
        for alternative in &alternatives {
            let together = self.read_together(alternative);
            let end = self.alternative(alternative, Run { together, ..Run::new(from, from) });
            match end.last {
                Some(edge) => self.edge_mut(edge).to = to,
                None => drop(self.edge(from, Instruction::Skip, to, span)),
            }
        }
    }

    /// Lowers a block that is one read-modify-write, if it is.
    fn single_step(&mut self, alternative: &Alternative<'_, 's>, from: LocId, to: LocId, span: Span) -> bool {
        match alternative.as_slice() {
            [(Op::Write(cell, value), _)] => self.locked_write(cell, value, from, to, span),
            [(Op::ReadEqual(read, expected), _), (Op::Write(written, new), _)] => {
                let (read_at, written_at) = (self.fixed(read).flatten(), self.fixed(written).flatten());
                if read_at.is_none() || read_at != written_at {
                    return false;
                }
                self.compare_and_swap(written, expected, new, (from, to), span);
            }
            _ => return false,
        }
        true
    }

    /// The memory locations that an alternative reads, each once, with where that is written first.
    fn read_together(&mut self, alternative: &Alternative<'_, 's>) -> Vec<(Address, Option<Range>, Span)> {
        let mut locations: Vec<(Address, Option<Range>, Span)> = Vec::new();
        for (op, span) in alternative {
            let (Op::ReadInto(_, cell) | Op::ReadEqual(cell, _)) = op else { continue };
            // What is in error is reported when it is read.
            if let Some(Some((address, domain))) = self.fixed(cell)
                && locations.iter().all(|(other, ..)| *other != address)
            {
                locations.push((address, domain, *span));
            }
        }
        locations
    }

    /// The sequences of instructions that a block stands for.
    fn flatten<'f>(&mut self, blocks: &'f [Vec<Labelled<'s>>], span: Span) -> Option<Vec<Alternative<'f, 's>>> {
        let mut alternatives = Vec::new();
        for block in blocks {
            alternatives.extend(self.flatten_sequence(block, span)?);
        }
        Some(alternatives)
    }

    fn flatten_sequence<'f>(&mut self, block: &'f [Labelled<'s>], span: Span) -> Option<Vec<Alternative<'f, 's>>> {
        let mut alternatives: Vec<Alternative<'f, 's>> = vec![Vec::new()];
        for labelled in block {
            if let Some(label) = labelled.label {
                let message = format!("label `{}` inside a locked block", label.text);
                let error = Diagnostic::error("label-in-locked", message, label.span);
                self.sink.error(error.help("a locked block is a single step; label the whole block"));
            }
            let parts = self.flatten_statement(&labelled.statement.kind, labelled.statement.span)?;
            let size = parts.iter().map(Vec::len).sum::<usize>() * alternatives.len()
                + alternatives.iter().map(Vec::len).sum::<usize>() * parts.len();
            if size > MAX_LOCKED_INSTRUCTIONS || parts.len() * alternatives.len() > MAX_LOCKED_INSTRUCTIONS {
                let message = format!("this locked block expands to more than {MAX_LOCKED_INSTRUCTIONS} instructions");
                self.sink.error(Diagnostic::error("program-too-large", message, span).help("split it"));
                return None;
            }
            let joined = alternatives.iter().flat_map(|first| {
                parts.iter().map(|second| first.iter().chain(second).copied().collect::<Alternative<'f, 's>>())
            });
            alternatives = joined.collect();
        }
        Some(alternatives)
    }

    fn flatten_statement<'f>(&mut self, kind: &'f StatementKind<'s>, span: Span) -> Option<Vec<Alternative<'f, 's>>> {
        let one = |op| Some(vec![vec![(op, span)]]);
        match kind {
            StatementKind::Nop => Some(vec![Vec::new()]),
            StatementKind::Assign(register, value) => one(Op::Assign(*register, value)),
            StatementKind::Assume(condition) => one(Op::Assume(condition)),
            StatementKind::ReadInto(register, cell) => one(Op::ReadInto(*register, cell)),
            StatementKind::ReadEqual(cell, value) => one(Op::ReadEqual(cell, value)),
            StatementKind::Write(cell, value) => one(Op::Write(cell, value)),
            StatementKind::CompareAndSwap(cell, expected, new) => {
                Some(vec![vec![(Op::ReadEqual(cell, expected), span), (Op::Write(cell, new), span)]])
            }
            StatementKind::Sequence(statements) => self.flatten_sequence(statements, span),
            StatementKind::Locked(blocks) => self.flatten(blocks, span),
            StatementKind::Weaker(keyword, inner) => {
                self.note(keyword, span);
                self.flatten_statement(inner, span)
            }
            StatementKind::Fence
            | StatementKind::If(..)
            | StatementKind::While(..)
            | StatementKind::Goto(_)
            | StatementKind::Either(_) => {
                let error = Diagnostic::error("not-in-locked", "this is not allowed in a locked block", span);
                self.sink.error(error.help("a locked block has its own alternatives: `locked{ … or … }`"));
                None
            }
        }
    }

    /// Lowers one alternative.
    fn alternative(&mut self, ops: &Alternative<'_, 's>, mut run: Run) -> Run {
        for (op, span) in ops {
            self.atomic_op(*op, *span, &mut run);
        }
        for (address, span) in std::mem::take(&mut run.written) {
            let value = run.cells[&address].0.clone();
            self.go(&mut run, Instruction::Store { address: Expr::Const(address), value }, span);
        }
        for (register, (value, span)) in std::mem::take(&mut run.registers) {
            self.go(&mut run, Instruction::Assign { register, value }, span);
        }
        run
    }

    fn atomic_op(&mut self, op: Op<'_, 's>, span: Span, run: &mut Run) {
        match op {
            Op::Assume(condition) => {
                let condition = self.current(condition, run);
                self.test(run, Some(condition), span);
            }
            Op::Assign(register, value) => {
                let value = self.current(value, run);
                let Some(register) = self.known_register(register) else { return };
                let known = self.range_in(&value, run);
                self.set(register, value, known, span, run);
            }
            Op::ReadInto(register, cell) => {
                let found = self.atomic_read(cell, span, run);
                let (Some(register), Some((value, known))) = (self.known_register(register), found) else { return };
                self.set(register, value, known, span, run);
            }
            Op::ReadEqual(cell, value) => {
                let value = self.current(value, run);
                let Some((held, _)) = self.atomic_read(cell, span, run) else { return };
                self.test(run, Some(Expr::binary(BinaryOp::Equal, held, value)), span);
            }
            Op::Write(cell, value) => {
                let value = self.current(value, run);
                let Some((address, domain)) = self.atomic_cell(cell) else { return };
                let known = self.range_in(&value, run);
                let fits = domain.and_then(|domain| ranges::within(&value, known, domain));
                self.test(run, fits, span);
                let value = self.kept(value, known, span, run);
                run.written.retain(|(other, _)| *other != address);
                run.written.push((address, span));
                run.cells.insert(address, (value, known));
            }
        }
    }

    /// Remembers the value that a register is to have.
    fn set(&mut self, register: RegId, value: RegExpr, known: Option<Range>, span: Span, run: &mut Run) {
        let fits = self.domain(register).and_then(|domain| ranges::within(&value, known, domain));
        self.test(run, fits, span);
        let value = self.kept(value, known, span, run);
        run.registers.insert(register, (value, span));
    }

    /// What a memory location holds at this point of the block.
    fn atomic_read(&mut self, cell: &Cell<'s>, span: Span, run: &mut Run) -> Option<(RegExpr, Option<Range>)> {
        let (address, domain) = self.atomic_cell(cell)?;
        if let Some(held) = run.cells.get(&address) {
            return Some(held.clone());
        }
        let together = std::mem::take(&mut run.together);
        let locations = if together.is_empty() { vec![(address, domain, span)] } else { together };
        let mut loads = Vec::new();
        let mut whole = span;
        for (address, domain, span) in locations {
            let register = self.made_up(domain, run);
            run.cells.insert(address, (Expr::Leaf(register), domain));
            loads.push((register, Expr::Const(address)));
            whole = whole.to(span);
        }
        let instruction = match loads.as_slice() {
            [(register, address)] => Instruction::Load { register: *register, address: address.clone() },
            _ => Instruction::Snapshot(loads),
        };
        self.go(run, instruction, whole);
        run.cells.get(&address).cloned()
    }

    fn atomic_cell(&mut self, cell: &Cell<'s>) -> Option<(Address, Option<Range>)> {
        let found = self.fixed(cell)?;
        if let (None, Cell::Pointer(_, span)) = (found, cell) {
            let error = Diagnostic::error("pointer-in-locked", "pointer inside a locked block", *span);
            self.sink.error(error.help(
                "only `locked write` and `cas` take pointers; alternatively, choose the location with `either` first",
            ));
        }
        found
    }

    /// An expression over what registers are to hold at this point of the block.
    fn current(&mut self, expr: &RegisterExpr<'s>, run: &Run) -> RegExpr {
        let expr = self.expr(expr);
        expr.map(&mut |register| run.registers.get(register).map_or(Expr::Leaf(*register), |(value, _)| value.clone()))
    }

    fn range_in(&self, expr: &RegExpr, run: &Run) -> Option<Range> {
        ranges::of(expr, &|register| run.made_up.get(&register).copied().unwrap_or_else(|| self.domain(register)))
    }

    /// The value in a register that nothing in the block sets, unless it is a constant or in one already.
    fn kept(&mut self, value: RegExpr, known: Option<Range>, span: Span, run: &mut Run) -> RegExpr {
        match value {
            Expr::Const(_) => value,
            Expr::Leaf(register) if run.made_up.contains_key(&register) => value,
            _ => {
                let register = self.made_up(known, run);
                self.go(run, Instruction::Assign { register, value }, span);
                Expr::Leaf(register)
            }
        }
    }

    fn made_up(&mut self, known: Option<Range>, run: &mut Run) -> RegId {
        let register = self.temporary(run.made_up.len());
        run.made_up.insert(register, known);
        register
    }

    /// Goes on only if the condition holds.
    fn test(&mut self, run: &mut Run, condition: Option<RegExpr>, span: Span) {
        let Some(condition) = condition else { return };
        let before = run.here;
        self.go(run, Instruction::Assume(condition.clone()), span);
        // Where nothing has happened yet there is nothing to go back from.
        if before != run.failed {
            self.edge(before, Instruction::Assume(condition.negated()), run.failed, span);
        }
    }

    fn go(&mut self, run: &mut Run, instruction: Instruction, span: Span) {
        let last = self.edge_count();
        run.here = self.step(run.here, instruction, span);
        run.last = Some(last);
    }
}

/// An alternative of a locked block as far as it is lowered.
struct Run {
    here: LocId,
    failed: LocId,
    /// The step that led here.
    last: Option<usize>,
    /// What registers are to hold in the end.
    registers: BTreeMap<RegId, (RegExpr, Span)>,
    /// The locations to read in one step with the first of them; none if each is to be read in a step of its own.
    together: Vec<(Address, Option<Range>, Span)>,
    /// What memory locations hold, as far as it is known.
    cells: BTreeMap<Address, (RegExpr, Option<Range>)>,
    /// The locations to write in the end.
    written: Vec<(Address, Span)>,
    /// The registers in use that are made up, with the values they can hold.
    made_up: BTreeMap<RegId, Option<Range>>,
}

impl Run {
    /// From `start`; tests that fail lead to `failed`.
    fn new(start: LocId, failed: LocId) -> Self {
        Self {
            here: start,
            failed,
            last: None,
            together: Vec::new(),
            registers: BTreeMap::new(),
            cells: BTreeMap::new(),
            written: Vec::new(),
            made_up: BTreeMap::new(),
        }
    }
}

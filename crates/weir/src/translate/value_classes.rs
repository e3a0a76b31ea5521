//! Value classes: of values that the program cannot tell apart, few are chosen.
//!
//! ```text
//! let r = any 0..999;             becomes        let r = any 0..1;
//! x = r;                                         x = r;
//! if x == 0 { … }                                if x == 0 { … }
//! ```
//!
//! Registers and cells between which values are copied form a group. If the values of a group are only copied and
//! compared with constants, these constants divide the integers into intervals, and two values of one interval behave
//! in the same way: they pass the same tests, they fit the same cells, and what they are copied to is in the group again.
//! States that differ by such values are bisimilar, under SC and under TSO. So a choice from a range needs only values
//! from each interval that the range meets; those of the smallest range that meets them all are kept. A group whose
//! values are used in any other way (arithmetic, addresses, comparison with each other, cells that wrap) is left alone.
//!
//! Every edge and every address stays as it is, and every run of the result is a run of the original.
//!
//! Direction of error: none, for properties and for robustness. It is not meant for probabilities, which depend on how
//! many values there are.

use std::collections::BTreeSet;

use weir_ir::flow::Ranges;
use weir_ir::{
    BinaryOp, Edge, EdgeId, Expr, Instruction, Program, Range, RegId, Rmw, Shared, StateAtom, ThreadId, UnaryOp, Value,
};
use weir_witness::Run;

use super::Translation;
use super::slice::is_supported;

/// A program that chooses among fewer values.
#[derive(Clone, Debug)]
pub struct ValueClasses {
    program: Program,
}

impl Translation for ValueClasses {
    fn program(&self) -> &Program {
        &self.program
    }

    /// The same run.
    fn map_back(&self, _original: &Program, run: &Run) -> Run {
        run.clone()
    }
}

/// The program with fewer values to choose from, if that makes a difference.
#[must_use]
pub fn value_classes(program: &Program, ranges: &Ranges) -> Option<ValueClasses> {
    let chooses = |edge: &Edge| matches!(edge.instruction, Instruction::Havoc { range, .. } if range.low < range.high);
    let mut threads = program.running_threads();
    if !threads.any(|thread| program.body(thread).edges().iter().any(chooses)) || !is_supported(program) {
        return None;
    }
    let mut groups = Groups::of(program, ranges);
    groups.gather();
    let mut result = program.clone();
    let mut changes = false;
    for thread in program.running_threads() {
        let body = &mut result.threads[thread.index()].body;
        *body = body.map_edges(|edge| {
            let Instruction::Havoc { register, range } = edge.instruction else { return edge.clone() };
            let fewer = groups.representatives(thread, register, range);
            changes |= fewer != range;
            Edge { instruction: Instruction::Havoc { register, range: fewer }, ..edge.clone() }
        });
    }
    changes.then_some(ValueClasses { program: result })
}

/// Registers and cells, joined where values are copied between them, with what is asked of the values.
struct Groups<'p> {
    program: &'p Program,
    /// For each thread, the number of its first register; then follow the declarations, and all other cells.
    first: Vec<usize>,
    /// Union-find: another member of the same group, or itself.
    parent: Vec<usize>,
    uses: Vec<Uses>,
}

/// What is asked of the values of a register or a cell.
#[derive(Clone, Default)]
struct Uses {
    /// Whether each value matters.
    exact: bool,
    /// Where intervals begin: the least value of each but the first.
    starts: BTreeSet<Value>,
}

impl Uses {
    /// The value is told apart from all others.
    fn single_out(&mut self, value: Value) {
        self.starts.insert(value);
        self.end_at(value);
    }

    /// An interval ends with this value.
    fn end_at(&mut self, value: Value) {
        self.starts.extend(value.checked_add(1));
    }

    /// It is compared with a constant, which stands on the right.
    fn compare(&mut self, operator: BinaryOp, constant: Value) {
        match operator {
            BinaryOp::Equal | BinaryOp::NotEqual => self.single_out(constant),
            BinaryOp::Less | BinaryOp::GreaterEqual => drop(self.starts.insert(constant)),
            BinaryOp::LessEqual | BinaryOp::Greater => self.end_at(constant),
            _ => self.exact = true,
        }
    }
}

impl<'p> Groups<'p> {
    fn of(program: &'p Program, ranges: &Ranges) -> Self {
        let mut count = 0;
        let first = program.threads.iter().map(|thread| {
            count += thread.body.registers.len();
            count - thread.body.registers.len()
        });
        let first: Vec<usize> = first.chain([0]).collect();
        let all = count + program.shared.len() + 1;
        let mut groups = Self { program, first, parent: (0..all).collect(), uses: vec![Uses::default(); all] };
        groups.first[program.threads.len()] = count;
        for (number, shared) in program.shared.iter().enumerate() {
            let uses = &mut groups.uses[count + number];
            uses.exact |= shared.width.is_some();
            if let Some(range) = shared.range {
                uses.starts.insert(range.low);
                uses.end_at(range.high);
            }
        }
        for thread in program.running_threads() {
            for (number, edge) in program.body(thread).edges().iter().enumerate() {
                groups.add(thread, &edge.instruction, ranges.addresses_of(thread, EdgeId::new(number)));
            }
        }
        for condition in program.properties.iter().filter_map(|property| property.kind.condition()) {
            groups.test(condition, &|groups: &Self, atom: &StateAtom| match atom {
                StateAtom::At { .. } => None,
                StateAtom::Register { thread, register } => Some(groups.register(*thread, register.index())),
                StateAtom::Cell(address) => Some(groups.cell(Range::single(*address))),
            });
        }
        groups
    }

    fn register(&self, thread: ThreadId, register: usize) -> usize {
        self.first[thread.index()] + register
    }

    /// The declaration that all these addresses are in, or the number of all other cells.
    fn cell(&self, addresses: Range) -> usize {
        let contains =
            |shared: &Shared| shared.offset_of(addresses.low).is_some() && shared.offset_of(addresses.high).is_some();
        let number = self.program.shared.iter().position(contains).unwrap_or(self.program.shared.len());
        self.first[self.program.threads.len()] + number
    }

    /// The cells of an access. What may be in several declarations joins these.
    fn accessed(&mut self, addresses: Range) -> usize {
        let cell = self.cell(addresses);
        if cell + 1 == self.parent.len() {
            for (number, shared) in self.program.shared.iter().enumerate() {
                let last = shared.address.saturating_add(shared.initial.len() as Value - 1);
                if addresses.meet(Range { low: shared.address, high: last }).is_some() {
                    self.join(cell, self.first[self.program.threads.len()] + number);
                }
            }
        }
        cell
    }

    fn root(&mut self, member: usize) -> usize {
        let mut root = member;
        while self.parent[root] != root {
            self.parent[root] = self.parent[self.parent[root]];
            root = self.parent[root];
        }
        root
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parent[one.max(other)] = one.min(other);
    }

    fn add(&mut self, thread: ThreadId, instruction: &Instruction, accessed: &[Range]) {
        let of = |groups: &Self, register: &RegId| Some(groups.register(thread, register.index()));
        for address in instruction.accesses() {
            self.exact(address, &of);
        }
        match instruction {
            Instruction::Load { register, .. } => self.load(thread, *register, accessed.first()),
            Instruction::Snapshot(loads) | Instruction::Await { loads, .. } => {
                for ((register, _), range) in loads.iter().zip(accessed) {
                    self.load(thread, *register, Some(range));
                }
                if let Instruction::Await { condition, .. } = instruction {
                    self.test(condition, &of);
                }
            }
            Instruction::Store { value, .. } => {
                if let Some(&range) = accessed.first() {
                    let cell = self.accessed(range);
                    self.copy(value, cell, &of);
                }
            }
            Instruction::ReadModifyWrite { register, operation, .. } => {
                if let Some(&range) = accessed.first() {
                    let cell = self.accessed(range);
                    self.combine(operation, cell, &of);
                    if let (Some(register), false) = (register, matches!(operation, Rmw::CompareAndSwap { .. })) {
                        self.join(cell, self.register(thread, register.index()));
                    }
                }
            }
            Instruction::Assign { register, value } => self.copy(value, self.register(thread, register.index()), &of),
            Instruction::Assume(condition) | Instruction::Assert(condition) => self.test(condition, &of),
            Instruction::Call { .. }
            | Instruction::Return(_)
            | Instruction::Spawn(_)
            | Instruction::Terminate
            | Instruction::Skip
            | Instruction::Fence
            | Instruction::Membarrier
            | Instruction::Lock
            | Instruction::Unlock
            | Instruction::Havoc { .. } => {}
        }
    }

    fn load(&mut self, thread: ThreadId, register: RegId, accessed: Option<&Range>) {
        if let Some(&range) = accessed {
            let cell = self.accessed(range);
            self.join(cell, self.register(thread, register.index()));
        }
    }

    /// An atomic operation on a cell.
    fn combine(&mut self, operation: &Rmw, cell: usize, of: &impl Fn(&Self, &RegId) -> Option<usize>) {
        match operation {
            Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
                match expected.constant() {
                    Some(constant) => self.uses[cell].single_out(constant),
                    None => {
                        self.uses[cell].exact = true;
                        self.exact(expected, of);
                    }
                }
                self.copy(new, cell, of);
            }
            Rmw::Exchange(value) => self.copy(value, cell, of),
            Rmw::Fetch(_, value) => {
                self.uses[cell].exact = true;
                self.exact(value, of);
            }
        }
    }

    /// The value of the expression gets to a register or a cell.
    fn copy<L>(&mut self, value: &Expr<L>, to: usize, place: &impl Fn(&Self, &L) -> Option<usize>) {
        match value {
            Expr::Leaf(leaf) => {
                if let Some(from) = place(self, leaf) {
                    self.join(from, to);
                }
            }
            other => self.exact(other, place),
        }
    }

    /// Each value of the expression matters.
    fn exact<L>(&mut self, value: &Expr<L>, place: &impl Fn(&Self, &L) -> Option<usize>) {
        match value {
            Expr::Const(_) => {}
            Expr::Leaf(leaf) => {
                if let Some(place) = place(self, leaf) {
                    self.uses[place].exact = true;
                }
            }
            Expr::Unary(UnaryOp::Not, operand) => self.test(operand, place),
            Expr::Unary(_, operand) => self.exact(operand, place),
            Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.test(left, place);
                self.test(right, place);
            }
            Expr::Binary(operator, left, right) => match (&**left, &**right) {
                (Expr::Leaf(leaf), Expr::Const(constant)) => self.compare(place(self, leaf), *operator, *constant),
                (Expr::Const(constant), Expr::Leaf(leaf)) => {
                    self.compare(place(self, leaf), mirrored(*operator), *constant);
                }
                _ => {
                    self.exact(left, place);
                    self.exact(right, place);
                }
            },
        }
    }

    /// Moves what is asked of each member to the root of its group.
    fn gather(&mut self) {
        for member in 0..self.parent.len() {
            let root = self.root(member);
            if root != member {
                let Uses { exact, starts } = std::mem::take(&mut self.uses[member]);
                self.uses[root].exact |= exact;
                self.uses[root].starts.extend(starts);
            }
        }
    }

    /// The smallest range within this one that meets all the intervals that this one meets.
    fn representatives(&mut self, thread: ThreadId, register: RegId, range: Range) -> Range {
        let root = self.root(self.register(thread, register.index()));
        let Uses { exact, starts } = &self.uses[root];
        if *exact || range.low >= range.high {
            return range;
        }
        let mut within = starts.range(range.low + 1..=range.high);
        match (within.next(), within.next_back()) {
            (None, _) => Range::single(range.low),
            (Some(first), last) => Range { low: first - 1, high: *last.unwrap_or(first) },
        }
    }

    fn compare(&mut self, place: Option<usize>, operator: BinaryOp, constant: Value) {
        if let Some(place) = place {
            self.uses[place].compare(operator, constant);
        }
    }

    /// It matters whether the expression is zero.
    fn test<L>(&mut self, condition: &Expr<L>, place: &impl Fn(&Self, &L) -> Option<usize>) {
        match condition {
            Expr::Leaf(leaf) => self.compare(place(self, leaf), BinaryOp::NotEqual, 0),
            other => self.exact(other, place),
        }
    }
}

/// The operator with its operands exchanged; one that is no comparison stays as it is.
fn mirrored(operator: BinaryOp) -> BinaryOp {
    match operator {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}

#[cfg(test)]
mod tests;

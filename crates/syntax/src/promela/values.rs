//! Values as Promela's integers.
//!
//! Promela computes in C's `int`. Every part of every expression is checked, by the analysis of value ranges, to stay
//! within 32 bits; what does not is refused. Where the analysis cannot bound a register or a cell, the export takes it
//! to stay within [`COVERED`] and asserts that it does, so that SPIN reports a run that leaves the range instead of
//! computing with other values than Weir.

use weir_ir::flow::Ranges;
use weir_ir::{BinaryOp, LocId, Program, Range, RegId, ThreadId, UnaryOp, Value};

use crate::export::memory::Memory;
use crate::export::refusal::Refusal;
use crate::export::term::{Kind, Operators, Term};

/// What an `int` holds. The least value is left out: C does not define all operations on it.
pub(super) const INT: Range = Range { low: -(i32::MAX as Value), high: i32::MAX as Value };

/// What a register or cell is taken to hold if nothing is known about it: sums and products of two such values fit.
pub(super) const COVERED: Range = Range { low: -32_767, high: 32_767 };

/// The values of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Held {
    pub(super) range: Range,
    /// Whether assignments must check that they stay in the range.
    pub(super) is_checked: bool,
}

impl Held {
    fn of(range: Range) -> Self {
        if includes(INT, range) { Self { range, is_checked: false } } else { Self { range: COVERED, is_checked: true } }
    }

    /// The smallest type for the values.
    pub(super) fn type_name(self) -> &'static str {
        match self.range {
            Range { low: 0.., high: ..=1 } => "bit",
            Range { low: 0.., high: ..=255 } => "byte",
            Range { low: -32_768.., high: ..=32_767 } => "short",
            _ => "int",
        }
    }
}

/// Whether the first range holds all values of the second.
pub(super) fn includes(outer: Range, inner: Range) -> bool {
    outer.low <= inner.low && inner.high <= outer.high
}

/// The values of all variables.
pub(super) struct Values<'p> {
    ranges: &'p Ranges,
    /// For each segment of memory.
    cells: Vec<Held>,
}

impl<'p> Values<'p> {
    pub(super) fn of(program: &Program, ranges: &'p Ranges, memory: &Memory) -> Self {
        let cell = |segment: &crate::export::memory::Segment| {
            let held = Held::of(segment.values);
            // What the cells hold at the start is covered in any case.
            let initial = segment.initial(program).into_iter().map(Range::single).reduce(Range::hull);
            let is_covered = initial.is_none_or(|initial| includes(INT, initial));
            let range = initial.filter(|_| is_covered).map_or(held.range, |initial| held.range.hull(initial));
            Held { range, ..held }
        };
        Self { ranges, cells: memory.segments().iter().map(cell).collect() }
    }

    pub(super) fn cell(&self, segment: usize) -> Held {
        self.cells[segment]
    }

    pub(super) fn register(&self, thread: ThreadId, register: RegId) -> Held {
        // Every register starts at 0.
        let held = Held::of(self.ranges.register(thread, register));
        Held { range: held.range.hull(Range::single(0)), ..held }
    }

    /// The values of a register at a location.
    pub(super) fn register_at(&self, thread: ThreadId, loc: LocId, register: RegId) -> Range {
        let held = self.register(thread, register).range;
        let here = self.ranges.register_at(thread, loc, register);
        here.and_then(|here| here.meet(held)).unwrap_or(held)
    }
}

/// Operators of Promela.
#[derive(Default)]
pub(super) struct Ints {
    /// Whether macros for these are used: division, remainder, shifts to the left and to the right.
    pub(super) used: [bool; 4],
}

/// The macros, in the order of [`Ints::used`]. They are total, as Weir's operators are.
pub(super) const MACROS: [&str; 4] = [
    "#define DIVIDE(a, b) ((b) == 0 -> 0 : (a) / (b)) /* dividing by 0 gives 0 */",
    "#define REMAINDER(a, b) ((b) == 0 -> 0 : (a) % (b))",
    "#define SHIFT_LEFT(a, b) (((b) & 63) > 31 -> 0 : (a) << ((b) & 63)) /* only used where the result fits */",
    "#define SHIFT_RIGHT(a, b) ((a) >> (((b) & 63) > 31 -> 31 : ((b) & 63)))",
];

/// The names of these macros, which nothing else may have.
pub(super) const MACRO_NAMES: [&str; 4] = ["DIVIDE", "REMAINDER", "SHIFT_LEFT", "SHIFT_RIGHT"];

impl Ints {
    fn call(&mut self, which: usize, left: &Term, right: &Term, range: Range) -> Term {
        self.used[which] = true;
        Term::simple(format!("{}({}, {})", MACRO_NAMES[which], left.text, right.text), range)
    }
}

/// The term, if it fits an `int`.
pub(super) fn fitting(term: Term) -> Result<Term, Refusal> {
    if includes(INT, term.range) {
        return Ok(term);
    }
    let Range { low, high } = term.range;
    let message = format!("`{}` may have values from {low} to {high}, and Promela computes in 32 bits", term.text);
    let help = "bound its operands, for example by a range of the cells (`shared x: 0..7;`) or a mask (`e & 255`)";
    Err(Refusal::new(message, help))
}

impl Operators for Ints {
    fn constant(&mut self, value: Value) -> Result<Term, Refusal> {
        let (text, range) = (value.to_string(), Range::single(value));
        let term = if value < 0 { Term::compound(text, range) } else { Term::simple(text, range) };
        Ok(term.of_kind(Kind::Constant(value)))
    }

    fn unary(&mut self, op: UnaryOp, operand: &Term, range: Range) -> Result<Term, Refusal> {
        fitting(Term::compound(format!("{}{}", op.symbol(), operand.operand()), range))
    }

    fn binary(&mut self, op: BinaryOp, left: &Term, right: &Term, range: Range) -> Result<Term, Refusal> {
        // Numbers are only checked where they are used: what they are part of may be a number, too.
        fitting(left.clone())?;
        fitting(right.clone())?;
        let may_be_zero = right.range.contains(0);
        let is_small = includes(Range { low: 0, high: 31 }, right.range);
        let macro_of = match op {
            BinaryOp::Divide if may_be_zero => Some(0),
            BinaryOp::Remainder if may_be_zero => Some(1),
            BinaryOp::ShiftLeft if !is_small => Some(2),
            BinaryOp::ShiftRight if !is_small => Some(3),
            _ => None,
        };
        fitting(match macro_of {
            Some(which) => self.call(which, left, right, range),
            None => Term::compound(format!("{} {} {}", left.operand(), op.symbol(), right.operand()), range),
        })
    }
}

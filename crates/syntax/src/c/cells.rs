//! Memory in C: one member or variable per segment.

use std::fmt::Write as _;

use weir_ir::{Address, BinaryOp, Program, Range, RegExpr};

use super::expressions::number;
use crate::export::memory::{Constraint, Form, Memory, limit};
use crate::export::names::Names;
use crate::export::term::{Kind, Term};

/// The names of segments.
#[derive(Debug)]
pub(super) struct Cells {
    pub(super) names: Vec<String>,
}

impl Cells {
    pub(super) fn new(program: &Program, memory: &Memory, names: &mut Names<'_>) -> Self {
        let name = |segment: &crate::export::memory::Segment| match (segment.form, &segment.shared[..]) {
            (Form::Scalar | Form::Array, &[only]) => names.identifier(&program.shared[only].name),
            (Form::Scalar, _) => names.unused(&format!("mem_{}", segment.first).replace('-', "minus_")),
            _ => names.unused("mem"),
        };
        Self { names: memory.segments().iter().map(name).collect() }
    }

    /// A cell of a segment, within an instance or on its own.
    pub(super) fn at(&self, memory: &Memory, segment: usize, address: Address) -> String {
        let cells = memory.segment(segment);
        match cells.form {
            Form::Scalar => self.names[segment].clone(),
            _ => format!("{}[{}]", self.names[segment], address.wrapping_sub(cells.first)),
        }
    }

    /// A cell at a computed address.
    pub(super) fn computed(&self, memory: &Memory, segment: usize, address: &Term, index: Option<&Term>) -> String {
        let (cells, name) = (memory.segment(segment), &self.names[segment]);
        match (cells.form, index) {
            (Form::Scalar, _) => name.clone(),
            (_, Some(index)) => format!("{name}[{}]", index.text),
            (_, None) if cells.first == 0 => format!("{name}[{}]", address.text),
            (_, None) => format!("{name}[{} - {}]", address.operand(), parenthesized(cells.first)),
        }
    }

    /// The name of the function that says whether a cell takes a value.
    pub(super) fn admits(&self, segment: usize) -> String {
        format!("{}_admits", self.names[segment])
    }

    /// The name of the function that says what a cell keeps of a value.
    pub(super) fn keep(&self, segment: usize) -> String {
        format!("{}_keep", self.names[segment])
    }

    /// Functions for segments whose cells have different ranges or widths. Each is used at least by one access with a
    /// computed address, or may go unused.
    pub(super) fn limits(&self, program: &Program, memory: &Memory) -> String {
        let mut text = String::new();
        for (at, segment) in memory.segments().iter().enumerate() {
            if segment.constraint(program) != Constraint::Differing {
                continue;
            }
            let (mut admits, mut keep) = (String::new(), String::new());
            for shared in segment.shared.iter().map(|&at| &program.shared[at]) {
                let last = shared.address.wrapping_add(shared.initial.len() as i64 - 1);
                let here = format!("    if (a >= {} && a <= {})\n", number(shared.address), number(last));
                match limit(shared) {
                    Constraint::Within(Range { low, high }) => {
                        let _ = writeln!(admits, "{here}        return v >= {} && v <= {};", number(low), number(high));
                    }
                    Constraint::Wrapping(width) => {
                        let _ = writeln!(keep, "{here}        return v & {};", number(width.range().high));
                    }
                    Constraint::Free | Constraint::Differing => {}
                }
            }
            let name = &self.names[at];
            let _ = writeln!(text, "/* Whether the cell of `{name}` at address a takes the value v. */");
            let _ = write!(text, "static inline int {}(int64_t a, int64_t v)\n{{\n", self.admits(at));
            let _ = write!(text, "{admits}    (void)a;\n    (void)v;\n    return 1;\n}}\n\n");
            text.push_str("/* What it keeps of the value. */\n");
            let _ = write!(text, "static inline int64_t {}(int64_t a, int64_t v)\n{{\n", self.keep(at));
            let _ = write!(text, "{keep}    (void)a;\n    return v;\n}}\n\n");
        }
        text
    }
}

/// The index of an address that is the start of the segment plus an index.
pub(super) fn index_of(first: Address, address: &RegExpr) -> Option<&RegExpr> {
    match address {
        RegExpr::Binary(BinaryOp::Add, base, index) if **base == RegExpr::Const(first) => Some(index),
        _ => None,
    }
}

fn parenthesized(value: i64) -> String {
    if value < 0 { format!("({})", number(value)) } else { number(value) }
}

/// The condition that a value lies in a range; none if it always does.
pub(super) fn between(value: &Term, range: Range) -> Option<Term> {
    if value.range.meet(range).is_none() {
        return Some(Term::simple("0", Range::single(0)));
    }
    let low = (value.range.low < range.low).then(|| format!("{} >= {}", value.operand(), number(range.low)));
    let high = (value.range.high > range.high).then(|| format!("{} <= {}", value.operand(), number(range.high)));
    let both: Vec<String> = low.into_iter().chain(high).collect();
    (!both.is_empty()).then(|| Term::compound(both.join(" && "), Range { low: 0, high: 1 }).of_kind(Kind::Truth))
}

//! Memory as variables of Promela.

use std::fmt::Write as _;

use weir_ir::{Address, Program, RegExpr, Value};

use super::number;
use super::values::{INT, Values};
use crate::export::lines::comment;
use crate::export::memory::{Constraint, Form, Memory, Segment, limit};
use crate::export::names::Names;

/// The names of cells.
pub(super) struct Cells {
    /// The variable or array of each segment.
    variables: Vec<String>,
    /// Macros for the scalars of mixed segments, by their place in the program.
    scalars: Vec<Option<String>>,
}

impl Cells {
    pub(super) fn new(program: &Program, memory: &Memory, names: &mut Names<'_>) -> Self {
        let mut scalars = vec![None; program.shared.len()];
        let mut variables = Vec::new();
        for segment in memory.segments() {
            let wanted = match (segment.form, &segment.shared[..]) {
                (Form::Scalar | Form::Array, &[only]) => names.identifier(&program.shared[only].name),
                (Form::Scalar, _) => names.unused(&format!("mem_{}", segment.first).replace('-', "minus_")),
                _ => names.unused("mem"),
            };
            variables.push(wanted);
            if segment.form == Form::Mixed {
                for &at in segment.shared.iter().filter(|&&at| !program.shared[at].is_array) {
                    scalars[at] = Some(names.identifier(&program.shared[at].name));
                }
            }
        }
        Self { variables, scalars }
    }

    /// The cell at a constant address of a segment.
    pub(super) fn at(&self, program: &Program, memory: &Memory, segment: usize, address: Address) -> String {
        let cells = memory.segment(segment);
        if cells.form == Form::Scalar {
            return self.variables[segment].clone();
        }
        let declared = cells.shared.iter().find(|&&at| program.shared[at].address == address);
        if let Some(name) = declared.and_then(|&at| self.scalars[at].as_ref()) {
            return name.clone();
        }
        format!("{}[{}]", self.variables[segment], address.wrapping_sub(cells.first))
    }

    /// The cell at a computed address, given the text of the address and, if the address is the start of the segment
    /// plus an index, of the index.
    pub(super) fn computed(&self, memory: &Memory, segment: usize, address: &str, index: Option<&str>) -> String {
        let cells = memory.segment(segment);
        match (cells.form, index) {
            (Form::Scalar, _) => self.variables[segment].clone(),
            (_, Some(index)) => format!("{}[{index}]", self.variables[segment]),
            (_, None) if cells.first == 0 => format!("{}[{address}]", self.variables[segment]),
            (_, None) => format!("{}[{address} - {}]", self.variables[segment], number(cells.first)),
        }
    }

    /// A condition over an address `a` and a value `v`: whether the cell takes the value.
    pub(super) fn admits_macro(&self, segment: usize) -> String {
        format!("ADMITS_{}", self.variables[segment])
    }

    /// What a cell at the address `a` keeps of the value `v`.
    pub(super) fn keep_macro(&self, segment: usize) -> String {
        format!("KEEP_{}", self.variables[segment])
    }

    pub(super) fn declarations(&self, program: &Program, memory: &Memory, values: &Values<'_>) -> String {
        let mut text = String::from("\n/* Shared cells. */\n");
        for (at, segment) in memory.segments().iter().enumerate() {
            let (name, type_name) = (&self.variables[at], values.cell(at).type_name());
            match segment.form {
                Form::Scalar => {
                    let _ = writeln!(text, "{type_name} {name}{};", initializer(&segment.initial(program)));
                }
                Form::Array => {
                    let initial = initializer(&segment.initial(program));
                    let _ = writeln!(text, "{type_name} {name}[{}]{initial};", segment.len());
                }
                Form::Mixed => {
                    let initial = initializer(&segment.initial(program));
                    let range = format!("addresses {} to {}", segment.first, segment.last);
                    let _ = writeln!(text, "{type_name} {name}[{}]{initial}; /* {range} */", segment.len());
                    self.describe_parts(program, segment, name, &mut text);
                    self.limits(program, segment, at, &mut text);
                }
            }
        }
        text
    }

    fn describe_parts(&self, program: &Program, segment: &Segment, array: &str, text: &mut String) {
        for &at in &segment.shared {
            let shared = &program.shared[at];
            let index = shared.address.wrapping_sub(segment.first);
            let _ = match &self.scalars[at] {
                Some(name) => writeln!(text, "#define {name} {array}[{index}]"),
                None => writeln!(text, "/* {} begins at {array}[{index}] */", comment(&shared.name)),
            };
        }
    }

    /// Macros for cells whose ranges or widths differ.
    fn limits(&self, program: &Program, segment: &Segment, at: usize, text: &mut String) {
        if segment.constraint(program) != Constraint::Differing {
            return;
        }
        let mut admits = String::from("true");
        let (mut keep, mut closing) = (String::new(), String::new());
        for shared in segment.shared.iter().map(|&at| &program.shared[at]) {
            let (first, last) = (number(shared.address), number(shared.address + shared.initial.len() as Value - 1));
            match limit(shared) {
                Constraint::Within(range) => {
                    let (low, high) = (number(range.low.max(INT.low)), number(range.high.min(INT.high)));
                    let _ = write!(
                        admits,
                        " && \\\n    ((a) < {first} || (a) > {last} || ((v) >= {low} && (v) <= {high}))"
                    );
                }
                Constraint::Wrapping(width) => {
                    let mask = width.range().high;
                    let _ = write!(keep, "((a) >= {first} && (a) <= {last} -> (v) & {mask} : \\\n    ");
                    closing.push(')');
                }
                Constraint::Free | Constraint::Differing => {}
            }
        }
        let _ = writeln!(text, "#define {}(a, v) ({admits})", self.admits_macro(at));
        let _ = writeln!(text, "#define {}(a, v) ({keep}(v){closing})", self.keep_macro(at));
    }

    /// Assignments for what declarations cannot say.
    pub(super) fn initial_values(&self, program: &Program, memory: &Memory) -> String {
        let mut text = String::new();
        for (segment, name) in memory.segments().iter().zip(&self.variables) {
            let initial = segment.initial(program);
            if is_uniform(&initial) {
                continue;
            }
            for (index, value) in initial.iter().enumerate().filter(|(_, value)| **value != 0) {
                let _ = writeln!(text, "        {name}[{index}] = {value};");
            }
        }
        text
    }
}

/// The index of an address that is written as the start of the segment plus an index.
pub(super) fn index_of(segment: &Segment, address: &RegExpr) -> Option<RegExpr> {
    match address {
        RegExpr::Binary(weir_ir::BinaryOp::Add, base, index) if **base == RegExpr::Const(segment.first) => {
            Some((**index).clone())
        }
        _ => None,
    }
}

/// Whether a declaration can give all of these values at once.
fn is_uniform(initial: &[Value]) -> bool {
    initial.iter().all(|value| *value == initial[0])
}

fn initializer(initial: &[Value]) -> String {
    match initial.first() {
        Some(&value) if value != 0 && is_uniform(initial) => format!(" = {value}"),
        _ => String::new(),
    }
}

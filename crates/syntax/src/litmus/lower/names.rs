//! What a test mentions: its cells, in the order of the text, and its numbers.

use weir_ir::{Span, Value};

use super::super::tree::{
    CellName, Comparand, Constant, Instruction, Memory, Operand, OperandKind, Place, Proposition, Test,
};
use super::access::memory;

/// Cells and numbers of a test.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Every mention of a cell outside declarations.
    pub(super) cells: Vec<(CellName, Span)>,
    /// The numbers that the test is about: a cell at one of them would be taken for it.
    pub(super) numbers: Vec<Value>,
    /// Whether addresses are values in the test: in registers, in cells, in computations.
    pub(super) are_addresses_values: bool,
}

impl Names {
    /// Collects them.
    pub(super) fn of(test: &Test) -> Self {
        let mut names = Self::default();
        for initial in &test.initial {
            for value in &initial.values {
                names.are_addresses_values |= matches!(value, Constant::Address(_));
                names.constant(value, initial.span);
            }
        }
        for instruction in test.threads.iter().flat_map(|column| &column.instructions) {
            instruction.operands.iter().for_each(|operand| names.operand(instruction, operand));
        }
        for (place, span) in &test.question.locations {
            names.place(place, *span);
        }
        for proposition in test.question.filter.iter().chain([&test.question.condition]) {
            names.proposition(proposition);
        }
        names
    }

    fn constant(&mut self, constant: &Constant, span: Span) {
        match constant {
            Constant::Number(number) => self.numbers.push(*number),
            Constant::Address(name) => self.cells.push((name.clone(), span)),
        }
    }

    fn place(&mut self, place: &Place, span: Span) {
        if let Place::Cell(name) = place {
            self.cells.push((name.clone(), span));
        }
    }

    fn operand(&mut self, instruction: &Instruction, operand: &Operand) {
        match &operand.kind {
            OperandKind::Immediate(constant) => {
                self.are_addresses_values |= matches!(constant, Constant::Address(_));
                self.constant(constant, operand.span);
            }
            OperandKind::Memory(Memory::Cell(name)) => {
                // An instruction that names a cell without accessing it wants its address.
                self.are_addresses_values |= memory(instruction).is_none();
                self.cells.push((CellName { name: name.clone(), index: None }, operand.span));
            }
            OperandKind::Memory(Memory::Computed { .. }) => self.are_addresses_values = true,
            OperandKind::Register(_) => {}
        }
    }

    /// Recursion is as deep as the parser allowed.
    fn proposition(&mut self, proposition: &Proposition) {
        match proposition {
            Proposition::Atom(atom) => {
                self.place(&atom.left, atom.span);
                match &atom.right {
                    Comparand::Constant(constant) => self.constant(constant, atom.span),
                    Comparand::Place(place) => self.place(place, atom.span),
                    Comparand::Elements(values) => values.iter().for_each(|value| self.constant(value, atom.span)),
                }
            }
            Proposition::Not(inner) => self.proposition(inner),
            Proposition::And(parts) | Proposition::Or(parts) => parts.iter().for_each(|part| self.proposition(part)),
            Proposition::Implies(left, right) => {
                self.proposition(left);
                self.proposition(right);
            }
        }
    }
}

//! Operands: where they are, what they hold, how they are written.

use weir_ir::{BinaryOp, Diagnostic, Expr, Instruction as Step, RegExpr, Value};

use super::super::Refused;
use super::super::register::RegisterName;
use super::super::tree::{CellName, Memory, Operand, OperandKind};
use super::access::{bytes, part};
use super::bits::{any, binary, signed};
use super::cells::cell_text;
use super::thread::Lowering;
use super::usage::pointer_part;

/// A place in memory with a size.
pub(super) struct Target {
    pub(super) address: RegExpr,
    pub(super) size: u32,
}

impl Lowering<'_> {
    /// The value of an operand, with its sign. A cell is loaded first.
    pub(super) fn value(&mut self, operand: &Operand, size: u32) -> Result<RegExpr, Refused> {
        Ok(match &operand.kind {
            OperandKind::Immediate(constant) => signed(Expr::Const(self.context.cells.value(constant)), size),
            OperandKind::Register(register) => self.registers.read(&register.base, part(register, size)),
            OperandKind::Memory(_) => {
                let target = self.target(operand, size)?;
                let register = self.registers.temporary(operand.span);
                self.chain.push(Step::Load { register, address: target.address });
                Expr::Leaf(register)
            }
        })
    }

    pub(super) fn write(&mut self, operand: &Operand, size: u32, value: RegExpr) -> Result<(), Refused> {
        if let OperandKind::Memory(_) = &operand.kind {
            let target = self.target(operand, size)?;
            self.chain.push(Step::Store { address: target.address, value });
        } else {
            self.write_register(operand, size, value);
        }
        Ok(())
    }

    pub(super) fn write_register(&mut self, operand: &Operand, size: u32, value: RegExpr) {
        if let OperandKind::Register(register) = &operand.kind {
            for step in self.assignment(register, size, value) {
                self.chain.push(step);
            }
        }
    }

    pub(super) fn assignment(&self, register: &RegisterName, size: u32, value: RegExpr) -> Vec<Step> {
        let write = self.registers.write(&register.base, part(register, size), value);
        write.into_iter().map(|(register, value)| Step::Assign { register, value }).collect()
    }

    pub(super) fn address(&self, memory: &Memory) -> RegExpr {
        let address_size = self.context.architecture.address_size();
        match memory {
            Memory::Cell(name) => {
                let name = CellName { name: name.clone(), index: None };
                Expr::Const(self.context.cells.find(&name).map_or(0, |cell| cell.address))
            }
            Memory::Computed { base, offset, index } => {
                let read =
                    |register: &RegisterName| self.registers.read(&register.base, pointer_part(register, address_size));
                let mut address = read(base);
                if *offset != 0 {
                    address = binary(BinaryOp::Add, address, Expr::Const(*offset));
                }
                if let Some((index, scale)) = index {
                    let scaled = binary(BinaryOp::Multiply, read(index), Expr::Const(*scale));
                    address = binary(BinaryOp::Add, address, scaled);
                }
                address
            }
        }
    }

    /// Where an operand in memory is. A computed address is checked when it is used: it must be that of a cell of this
    /// size.
    pub(super) fn target(&mut self, operand: &Operand, size: u32) -> Result<Target, Refused> {
        let OperandKind::Memory(memory) = &operand.kind else {
            return Ok(Target { address: Expr::Const(0), size });
        };
        let address = self.address(memory);
        let cells = self.context.cells;
        match (memory, &address) {
            (Memory::Cell(_), _) => {}
            (Memory::Computed { .. }, Expr::Const(fixed)) => match cells.at(*fixed) {
                None => return Err(no_cell(*fixed, operand).into()),
                Some(cell) if cell.kind.size != size => {
                    let (name, whole) = (cell_text(&cell.name), bytes(cell.kind.size));
                    let message = format!("mixed sizes: `{name}` has {whole}, but is accessed with {}", bytes(size));
                    let help = "Weir models whole cells: use one size per cell, and declare it, as in `uint64_t x`";
                    return Err(Diagnostic::error("mixed-size", message, operand.span).help(help).into());
                }
                Some(_) => {}
            },
            (Memory::Computed { .. }, _) => {
                let fitting = cells.iter().filter(|cell| cell.kind.size == size);
                let is = |cell: i64| binary(BinaryOp::Equal, address.clone(), Expr::Const(cell));
                self.chain.assert(any(fitting.map(|cell| is(cell.address)).collect()));
            }
        }
        Ok(Target { address, size })
    }
}

fn no_cell(address: Value, operand: &Operand) -> Diagnostic {
    let message = format!("there is no cell at this address ({address})");
    Diagnostic::error("no-cell", message, operand.span)
        .help("initialize the register with the address of a cell, as in `0:rax=x`")
}

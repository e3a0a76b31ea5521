//! Instructions of `X86_64` for the steps of a thread.

use weir_ir::{BinaryOp, BinaryRmw, Edge, Expr, Instruction, RegExpr, RegId, Rmw, UnaryOp, Value};

use super::{REGISTERS, Test, register};
use crate::export::refusal::Refusal;

/// Holds intermediate values.
const SCRATCH: &str = "r15";

/// The instructions of one thread.
pub(super) struct Assembler<'t, 'p> {
    pub(super) test: &'t Test<'p>,
    pub(super) lines: Vec<String>,
}

/// An operand that one instruction can take.
fn operand(expr: &RegExpr) -> Result<Option<String>, Refusal> {
    match expr {
        Expr::Const(value) if i32::try_from(*value).is_ok() => Ok(Some(format!("${value}"))),
        Expr::Const(value) => Err(unfit(*value)),
        Expr::Leaf(own) => Ok(Some(format!("%{}", register(*own)))),
        Expr::Unary(..) | Expr::Binary(..) => Ok(None),
    }
}

fn unfit(value: Value) -> Refusal {
    Refusal::new(format!("{value} does not fit an instruction of x86"), "use a value of 32 bits")
}

impl Assembler<'_, '_> {
    pub(super) fn instruction(&mut self, edge: &Edge) -> Result<(), Refusal> {
        match &edge.instruction {
            Instruction::Skip | Instruction::Terminate => self.line("nop"),
            Instruction::Fence => self.line("mfence"),
            Instruction::Load { register: own, address } => {
                let cell = self.cell(address)?;
                self.line(format!("movq ({cell}),%{}", register(*own)));
            }
            Instruction::Store { address, value } => {
                let cell = self.cell(address)?;
                let value = self.value(value)?;
                self.line(format!("movq {value},({cell})"));
            }
            Instruction::Assign { register: own, value } => {
                self.compute(value, SCRATCH)?;
                self.line(format!("movq %{SCRATCH},%{}", register(*own)));
            }
            Instruction::ReadModifyWrite { register: own, address, operation } => {
                let cell = self.cell(address)?;
                self.read_modify_write(*own, &cell, operation)?;
            }
            Instruction::Snapshot(_) => return Err(refused("a step that loads several cells")),
            Instruction::Await { .. } => return Err(refused("`await`")),
            Instruction::Membarrier => return Err(refused("`membarrier`")),
            Instruction::Assume(_) => return Err(refused("a step that may block")),
            Instruction::Assert(_) => return Err(refused("an assertion")),
            Instruction::Lock | Instruction::Unlock => return Err(refused("the global lock")),
            Instruction::Havoc { .. } => return Err(refused("`any`")),
            Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => {
                return Err(refused("a procedure or `spawn`"));
            }
        }
        Ok(())
    }

    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn cell(&self, address: &RegExpr) -> Result<String, Refusal> {
        match address.constant() {
            Some(address) => Ok(self.test.cell(address).to_owned()),
            None => Err(refused("a computed address")),
        }
    }

    /// An operand that holds the value, computed if need be.
    fn value(&mut self, expr: &RegExpr) -> Result<String, Refusal> {
        if let Some(operand) = operand(expr)? {
            return Ok(operand);
        }
        self.compute(expr, SCRATCH)?;
        Ok(format!("%{SCRATCH}"))
    }

    /// Computes a value into a register: one operation on constants and registers.
    fn compute(&mut self, expr: &RegExpr, into: &str) -> Result<(), Refusal> {
        if let Some(value) = expr.constant() {
            let value = operand(&RegExpr::Const(value))?.unwrap_or_default();
            self.line(format!("movq {value},%{into}"));
            return Ok(());
        }
        match expr {
            Expr::Const(_) | Expr::Leaf(_) => {
                let value = operand(expr)?.unwrap_or_default();
                self.line(format!("movq {value},%{into}"));
                Ok(())
            }
            Expr::Unary(UnaryOp::Not, _) => Err(arithmetic("!")),
            Expr::Unary(op, inner) => {
                self.compute(inner, into)?;
                self.line(format!("{} %{into}", if *op == UnaryOp::Negate { "negq" } else { "notq" }));
                Ok(())
            }
            Expr::Binary(op, left, right) => {
                let name = match op {
                    BinaryOp::Add => "addq",
                    BinaryOp::Subtract => "subq",
                    BinaryOp::BitAnd => "andq",
                    BinaryOp::BitOr => "orq",
                    BinaryOp::BitXor => "xorq",
                    other => return Err(arithmetic(other.symbol())),
                };
                let Some(right) = operand(right)? else { return Err(arithmetic("nested")) };
                self.compute(left, into)?;
                self.line(format!("{name} {right},%{into}"));
                Ok(())
            }
        }
    }

    fn read_modify_write(&mut self, own: Option<RegId>, cell: &str, operation: &Rmw) -> Result<(), Refusal> {
        match operation {
            Rmw::Exchange(value) => {
                self.compute(value, SCRATCH)?;
                self.line(format!("xchgq %{SCRATCH},({cell})"));
                self.keep(own, SCRATCH);
            }
            Rmw::Fetch(BinaryRmw::Add, value) => {
                self.compute(value, SCRATCH)?;
                self.line(format!("lock xaddq %{SCRATCH},({cell})"));
                self.keep(own, SCRATCH);
            }
            Rmw::Fetch(BinaryRmw::Subtract, value) => {
                self.compute(value, SCRATCH)?;
                self.line(format!("negq %{SCRATCH}"));
                self.line(format!("lock xaddq %{SCRATCH},({cell})"));
                self.keep(own, SCRATCH);
            }
            Rmw::Fetch(op, value) if own.is_none() => {
                let name = match op {
                    BinaryRmw::And => "andq",
                    BinaryRmw::Or => "orq",
                    _ => "xorq",
                };
                self.compute(value, SCRATCH)?;
                self.line(format!("lock {name} %{SCRATCH},({cell})"));
            }
            Rmw::Fetch(..) => {
                let help = "do not use its result: x86 has no instruction that keeps it";
                return Err(Refusal::new("the result of a bitwise `fetch` cannot be exported to a litmus test", help));
            }
            Rmw::CompareExchange { expected, new } | Rmw::CompareAndSwap { expected, new } => {
                self.compute(new, SCRATCH)?;
                self.compute(expected, "rax")?;
                let is_boolean = matches!(operation, Rmw::CompareAndSwap { .. });
                if let Some(own) = own.filter(|_| is_boolean) {
                    self.line(format!("movq $0,%{}", register(own)));
                }
                self.line(format!("lock cmpxchgq %{SCRATCH},({cell})"));
                match own {
                    Some(own) if is_boolean => self.line(format!("sete %{}", REGISTERS[own.index()].1)),
                    own => self.keep(own, "rax"),
                }
            }
        }
        Ok(())
    }

    /// Keeps a value in a register of the program, if it is wanted.
    fn keep(&mut self, own: Option<RegId>, from: &str) {
        if let Some(own) = own {
            self.line(format!("movq %{from},%{}", register(own)));
        }
    }
}

fn refused(what: &str) -> Refusal {
    let help = "a litmus test has loads, stores, fences and read-modify-writes of named cells; try another export";
    Refusal::new(format!("{what} cannot be exported to a litmus test"), help)
}

fn arithmetic(operator: &str) -> Refusal {
    let message = format!("this expression ({operator}) cannot be exported to a litmus test");
    Refusal::new(message, "use `+`, `-`, `&`, `|` and `^` with constants and registers, one after the other")
}

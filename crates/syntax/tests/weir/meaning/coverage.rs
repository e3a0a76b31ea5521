//! Which constructs the programs that were compared have, and how often.

use std::collections::BTreeMap;

use super::arithmetic::{BINARY, UNARY};
use super::tree::{Block, Condition, Expr, Program, Property, Statement};

/// How many of the programs have each construct.
#[derive(Default)]
pub(super) struct Coverage(BTreeMap<String, usize>);

const STATEMENTS: [&str; 32] = [
    "let",
    "assign register",
    "assign cell",
    "op= register",
    "op= cell",
    "snapshot",
    "evaluate call",
    "evaluate modify",
    "if",
    "else if",
    "else",
    "while",
    "loop",
    "for each other",
    "break",
    "continue",
    "label",
    "goto",
    "jump",
    "choose",
    "assume",
    "assert",
    "fence",
    "membarrier",
    "await",
    "await keeping",
    "skip",
    "lock",
    "unlock",
    "atomic",
    "return",
    "block",
];
const REST: [&str; 34] = [
    "terminate",
    "end",
    "call",
    "any",
    "element",
    "mem",
    "pointee",
    "address",
    "number of a thread",
    "constant",
    "defined constant",
    "array",
    "address of a cell",
    "range",
    "width",
    "initial",
    "initial list",
    "replicated",
    "weight",
    "forbid",
    "deadlock",
    "exists",
    "always",
    "at",
    "at end",
    "at of one",
    "count",
    "register of",
    "register of one",
    "cell",
    "memory",
    "cost",
    "label of a procedure",
    "procedure",
];
const MODIFY: [&str; 8] = ["cas", "cmpxchg", "xchg", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"];

impl Coverage {
    pub(super) fn add(&mut self, program: &Program) {
        let mut one = Coverage::default();
        one.program(program);
        one.0.into_keys().for_each(|name| *self.0.entry(name).or_default() += 1);
    }

    /// The constructs that fewer than so many programs have.
    pub(super) fn lacking(&self, least: usize) -> Vec<String> {
        let operators =
            BINARY.iter().map(|(op, _)| format!("binary {op}")).chain(UNARY.map(|op| format!("unary {op}")));
        let updates = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"].map(|op| format!("{op}="));
        let plain = STATEMENTS.into_iter().chain(REST).chain(MODIFY).map(String::from);
        let all = plain.chain(operators).chain(updates);
        let count = |name: &String| self.0.get(name).copied().unwrap_or(0);
        all.filter(|name| count(name) < least).map(|name| format!("{name}: {}", count(&name))).collect()
    }

    fn see(&mut self, name: impl Into<String>) {
        *self.0.entry(name.into()).or_default() += 1;
    }

    fn see_if(&mut self, name: &str, is_there: bool) {
        if is_there {
            self.see(name);
        }
    }

    fn program(&mut self, program: &Program) {
        for (_, value, given) in &program.constants {
            self.expr(value);
            self.see_if("defined constant", given.is_some());
        }
        for shared in &program.shared {
            self.see_if("array", shared.size.is_some());
            self.see_if("address of a cell", shared.address.is_some());
            self.see_if("range", shared.range.is_some());
            self.see_if("width", shared.bits.is_some());
            self.see_if("initial", shared.initial.len() == 1);
            self.see_if("initial list", shared.initial.len() > 1);
        }
        for procedure in &program.procedures {
            self.see("procedure");
            self.block(&procedure.body);
        }
        for thread in &program.threads {
            self.see_if("replicated", thread.copies.is_some());
            self.see_if("weight", thread.weight.is_some());
            self.block(&thread.body);
        }
        self.see_if("cost", !program.costs.is_empty());
        for property in &program.properties {
            match property {
                Property::Deadlock => self.see("deadlock"),
                Property::Forbid(condition) => self.property("forbid", condition),
                Property::Exists(condition) => self.property("exists", condition),
                Property::Always(condition) => self.property("always", condition),
            }
        }
    }

    fn property(&mut self, kind: &str, condition: &Condition) {
        self.see(kind);
        self.condition(condition);
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        let name = match statement {
            Statement::Let(names) => {
                names.iter().filter_map(|(_, value)| value.as_ref()).for_each(|value| self.expr(value));
                "let"
            }
            Statement::Assign(target, op, value) => {
                self.expr(target);
                self.expr(value);
                if !op.is_empty() {
                    self.see(format!("{op}="));
                }
                match (target, op.is_empty()) {
                    (Expr::Register(_), true) => "assign register",
                    (Expr::Register(_), false) => "op= register",
                    (_, true) => "assign cell",
                    (_, false) => "op= cell",
                }
            }
            Statement::Snapshot(_, cells) => {
                cells.iter().for_each(|cell| self.expr(cell));
                "snapshot"
            }
            Statement::Await { keeps, cell, other, .. } => {
                [cell, other].into_iter().for_each(|part| self.expr(part));
                if keeps.is_some() { "await keeping" } else { "await" }
            }
            Statement::Evaluate(value) => {
                self.expr(value);
                if matches!(value, Expr::Call(..)) { "evaluate call" } else { "evaluate modify" }
            }
            Statement::If(arms, otherwise) => {
                self.see_if("else if", arms.len() > 1);
                self.see_if("else", otherwise.is_some());
                for (test, then) in arms {
                    self.expr(test);
                    self.block(then);
                }
                otherwise.iter().for_each(|block| self.block(block));
                "if"
            }
            Statement::While(test, body) => {
                self.expr(test);
                self.block(body);
                "while"
            }
            Statement::ForEachOther(_, body) => self.within("for each other", body),
            Statement::Loop(body) => self.within("loop", body),
            Statement::Atomic(body) => self.within("atomic", body),
            Statement::Block(body) => self.within("block", body),
            Statement::Choose(branches) => {
                branches.iter().for_each(|branch| self.block(branch));
                "choose"
            }
            Statement::Assume(holds) => self.with("assume", holds),
            Statement::Assert(holds) => self.with("assert", holds),
            Statement::Return(value) => {
                value.iter().for_each(|value| self.expr(value));
                "return"
            }
            Statement::Break => "break",
            Statement::Continue => "continue",
            Statement::Label(_) => "label",
            Statement::Goto(_) => "goto",
            Statement::Jump(_) => "jump",
            Statement::Fence => "fence",
            Statement::Membarrier => "membarrier",
            Statement::Skip => "skip",
            Statement::Lock => "lock",
            Statement::Unlock => "unlock",
            Statement::Terminate => "terminate",
            Statement::End => "end",
        };
        self.see(name);
    }

    fn within(&mut self, name: &'static str, body: &Block) -> &'static str {
        self.block(body);
        name
    }

    fn with(&mut self, name: &'static str, expr: &Expr) -> &'static str {
        self.expr(expr);
        name
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Number(_) | Expr::Register(_) | Expr::Cell(_) => {}
            Expr::Constant(name) => self.see(if name == "i" { "number of a thread" } else { "constant" }),
            Expr::Element(_, inner) => drop(self.with("element", inner)),
            Expr::Memory(inner) => drop(self.with("mem", inner)),
            Expr::Pointee(inner) => drop(self.with("pointee", inner)),
            Expr::Address(_, inner) => inner.iter().for_each(|inner| self.expr(inner)),
            Expr::Unary(op, inner) => {
                self.see(format!("unary {op}"));
                self.expr(inner);
            }
            Expr::Binary(op, left, right) => {
                self.see(format!("binary {op}"));
                self.expr(left);
                self.expr(right);
            }
            Expr::Call(_, arguments) => {
                self.see("call");
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            Expr::Modify(operation, cell, operands) => {
                self.see(*operation);
                self.expr(cell);
                operands.iter().for_each(|operand| self.expr(operand));
            }
            Expr::Any(..) => self.see("any"),
        }
        let name = match expr {
            Expr::Element(..) => "element",
            Expr::Memory(_) => "mem",
            Expr::Pointee(_) => "pointee",
            Expr::Address(..) => "address",
            _ => return,
        };
        self.see(name);
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::At(_, number, label) => {
                self.see(if label.is_none() { "at end" } else { "at" });
                self.see_if("at of one", number.is_some());
                self.see_if("label of a procedure", label.as_ref().is_some_and(|label| label.contains('.')));
            }
            Condition::Count(..) => self.see("count"),
            Condition::Register(_, number, _) => {
                self.see(if number.is_some() { "register of one" } else { "register of" });
            }
            Condition::Cell(..) => self.see("cell"),
            Condition::Memory(_) => self.see("memory"),
            Condition::Unary(_, inner) => self.condition(inner),
            Condition::Binary(_, left, right) => {
                self.condition(left);
                self.condition(right);
            }
            Condition::Number(_) | Condition::Constant(_) | Condition::Address(_) => {}
        }
    }
}

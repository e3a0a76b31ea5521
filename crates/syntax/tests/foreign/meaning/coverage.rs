//! Which constructs a program has.

use std::collections::BTreeSet;

use super::{ALL as INTEGERS, Cell, Condition, Expr, Program, Statement};

/// What there must be enough of.
pub(super) const ALL: [&str; 33] = [
    "label",
    "nop",
    "fence",
    "assign",
    "assume",
    "read into",
    "read equal",
    "write",
    "locked write",
    "cas",
    "locked",
    "locked or",
    "locked in locked",
    "if",
    "else",
    "while",
    "goto",
    "either",
    "sequence",
    "own",
    "other",
    "pointer",
    "fixed pointer",
    "any start",
    "integers",
    "one text",
    "not",
    "and",
    "or",
    "constant",
    "negated",
    "sum",
    "difference",
];

pub(super) fn of(program: &Program) -> BTreeSet<&'static str> {
    let mut found = Found(BTreeSet::new());
    let declared = program.globals.iter().chain(program.processes.iter().flat_map(|one| &one.registers));
    for &(initial, low, high) in declared {
        found.add_if("any start", initial.is_none());
        found.add_if("integers", (low, high) == INTEGERS);
    }
    found.add_if("one text", program.is_one_text);
    program.processes.iter().for_each(|process| found.block(&process.text, false));
    found.0
}

struct Found(BTreeSet<&'static str>);

impl Found {
    fn add_if(&mut self, name: &'static str, is_there: bool) {
        self.0.extend(is_there.then_some(name));
    }

    fn block(&mut self, block: &[Statement], is_locked: bool) {
        block.iter().for_each(|statement| self.statement(statement, is_locked));
    }

    fn statement(&mut self, statement: &Statement, is_locked: bool) {
        let name = match statement {
            Statement::Labelled(_, inner) => {
                self.statement(inner, is_locked);
                "label"
            }
            Statement::Nop => "nop",
            Statement::Fence => "fence",
            Statement::Goto(_) => "goto",
            Statement::Assign(_, value) => self.with("assign", None, &[value]),
            Statement::ReadInto(_, cell) => self.with("read into", Some(cell), &[]),
            Statement::ReadEqual(cell, value) => self.with("read equal", Some(cell), &[value]),
            Statement::Write(cell, value) => self.with("write", Some(cell), &[value]),
            Statement::LockedWrite(cell, value) => self.with("locked write", Some(cell), &[value]),
            Statement::CompareAndSwap(cell, old, new) => self.with("cas", Some(cell), &[old, new]),
            Statement::Assume(condition) => {
                self.condition(condition);
                "assume"
            }
            Statement::Locked(blocks) => {
                self.add_if("locked or", blocks.len() > 1);
                self.add_if("locked in locked", is_locked);
                blocks.iter().for_each(|block| self.block(block, true));
                "locked"
            }
            Statement::Either(blocks) => {
                blocks.iter().for_each(|block| self.block(block, false));
                "either"
            }
            Statement::Sequence(block) => {
                self.block(block, false);
                "sequence"
            }
            Statement::If(condition, then, otherwise) => {
                self.add_if("else", otherwise.is_some());
                self.condition(condition);
                self.block(then, false);
                otherwise.iter().for_each(|block| self.block(block, false));
                "if"
            }
            Statement::While(condition, body) => {
                self.condition(condition);
                self.block(body, false);
                "while"
            }
        };
        self.0.insert(name);
    }

    fn with(&mut self, name: &'static str, cell: Option<&Cell>, values: &[&Expr]) -> &'static str {
        match cell {
            Some(Cell::Own) => self.add_if("own", true),
            Some(Cell::Other) => self.add_if("other", true),
            Some(Cell::Pointer(Expr::Number(_))) => self.add_if("fixed pointer", true),
            Some(Cell::Pointer(pointer)) => {
                self.add_if("pointer", true);
                self.expr(pointer);
            }
            _ => {}
        }
        values.iter().for_each(|value| self.expr(value));
        name
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Register(_) | Expr::Number(_) => {}
            Expr::Negated(inner) => {
                self.add_if("negated", true);
                self.expr(inner);
            }
            Expr::Sum(left, right) | Expr::Difference(left, right) => {
                self.add_if(if matches!(expr, Expr::Sum(..)) { "sum" } else { "difference" }, true);
                self.expr(left);
                self.expr(right);
            }
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Compare(_, left, right) => [left, right].into_iter().for_each(|side| self.expr(side)),
            Condition::Constant(_) => self.add_if("constant", true),
            Condition::Not(inner) => {
                self.add_if("not", true);
                self.condition(inner);
            }
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.add_if(if matches!(condition, Condition::And(..)) { "and" } else { "or" }, true);
                self.condition(left);
                self.condition(right);
            }
        }
    }
}

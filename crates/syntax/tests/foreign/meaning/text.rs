//! Programs as text.

use super::{Cell, Condition, Declared, Expr, Program, Statement};

/// All pairs of labels, in the order in which they are forbidden.
pub(super) fn combinations(program: &Program) -> Vec<(String, String)> {
    let [first, second] = &program.processes;
    let pairs = first.labels.iter().flat_map(|a| second.labels.iter().map(move |b| (a.clone(), b.clone())));
    pairs.collect()
}

pub(super) fn of(program: &Program) -> String {
    let rows: Vec<String> = combinations(program).iter().map(|(a, b)| format!("{a} {b}")).collect();
    let mut text = format!("forbidden {}\n", rows.join(" ; "));
    text += "data\n";
    for (number, &global) in program.globals.iter().enumerate() {
        text += &format!("  g{number} {}\n", declared(global));
    }
    for process in &program.processes {
        text += &format!("process\ndata local {}\nregisters\n", declared(process.local));
        for (number, &register) in process.registers.iter().enumerate() {
            text += &format!("  $r{number} {}\n", declared(register));
        }
        text += &format!("text\n{}\n", sequence(&process.text));
    }
    text
}

fn declared((initial, low, high): Declared) -> String {
    format!("= {} : [{low}:{high}]", initial.map_or("*".to_string(), |value| value.to_string()))
}

fn sequence(statements: &[Statement]) -> String {
    statements.iter().map(statement).collect::<Vec<_>>().join(";\n")
}

fn alternatives(blocks: &[Vec<Statement>]) -> String {
    blocks.iter().map(|block| sequence(block)).collect::<Vec<_>>().join("\nor\n")
}

fn statement(statement_: &Statement) -> String {
    match statement_ {
        Statement::Labelled(label, inner) => format!("{label}: {}", statement(inner)),
        Statement::Nop => "nop".to_string(),
        Statement::Fence => "fence".to_string(),
        Statement::Assign(register, value) => format!("$r{register} := {}", expr(value)),
        Statement::Assume(holds) => format!("assume: {}", condition(holds)),
        Statement::ReadInto(register, place) => format!("read: $r{register} := {}", cell(place)),
        Statement::ReadEqual(place, value) => format!("read: {} = {}", cell(place), expr(value)),
        Statement::Write(place, value) => format!("write: {} := {}", cell(place), expr(value)),
        Statement::LockedWrite(place, value) => format!("locked write: {} := {}", cell(place), expr(value)),
        Statement::CompareAndSwap(place, old, new) => format!("cas({}, {}, {})", cell(place), expr(old), expr(new)),
        Statement::Locked(blocks) => format!("locked{{\n{}\n}}", alternatives(blocks)),
        Statement::Either(blocks) => format!("either{{\n{}\n}}", alternatives(blocks)),
        Statement::If(holds, then, otherwise) => {
            format!("if {} then {{\n{}\n}} else {{\n{}\n}}", condition(holds), sequence(then), sequence(otherwise))
        }
    }
}

fn condition((op, left, right): &Condition) -> String {
    format!("{} {op} {}", expr(left), expr(right))
}

fn expr(expr_: &Expr) -> String {
    match expr_ {
        Expr::Register(number) => format!("$r{number}"),
        Expr::Number(value) => value.to_string(),
        Expr::Sum(left, right) => format!("({} + {})", expr(left), expr(right)),
        Expr::Difference(left, right) => format!("({} - {})", expr(left), expr(right)),
    }
}

fn cell(cell_: &Cell) -> String {
    match cell_ {
        Cell::Global(number) => format!("g{number}"),
        Cell::Own => "local[my]".to_string(),
        Cell::Other => "local[0]".to_string(),
        Cell::Pointer(pointer) => format!("[{}]", expr(pointer)),
    }
}

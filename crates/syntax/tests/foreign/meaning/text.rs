//! Programs as text, each thing in one of the ways to write it.

use weir_testkit::Rng;

use super::{ALL, Cell, Condition, Declared, Expr, Process, Program, Statement};

/// All pairs of labels, in the order in which they are forbidden.
pub(super) fn combinations(program: &Program) -> Vec<(String, String)> {
    let [first, second] = &program.processes;
    let pairs = first.labels.iter().flat_map(|a| second.labels.iter().map(move |b| (a.clone(), b.clone())));
    pairs.collect()
}

pub(super) fn of(program: &Program) -> String {
    let mut writer = Writer(Rng::new(program.style));
    let rows: Vec<String> = combinations(program).iter().map(|(a, b)| format!("{a} {b}")).collect();
    let mut text = format!("forbidden {}\n", rows.join(" ; "));
    text += "data\n";
    for (number, &global) in program.globals.iter().enumerate() {
        text += &format!("  g{number} {}\n", writer.declared(global));
    }
    text += "macro load(to, from) read: to := from endmacro\n";
    text += "macro twice(value) (value + value - value) endmacro\n";
    match &program.processes {
        [first, _] if program.is_one_text => text += &writer.process("process(2)", first),
        both => both.iter().for_each(|process| text += &writer.process("process", process)),
    }
    text
}

struct Writer(Rng);

impl Writer {
    fn process(&mut self, keyword: &str, process: &Process) -> String {
        let mut text = format!("{keyword}\ndata local {}\nregisters\n", self.declared(process.local));
        for (number, &register) in process.registers.iter().enumerate() {
            text += &format!("  $r{number} {}\n", self.declared(register));
        }
        text + &format!("text\n{}\n", self.sequence(&process.text))
    }

    fn declared(&mut self, (initial, low, high): Declared) -> String {
        let domain = match (low, high) == ALL {
            true if self.0.chance(50) => String::new(),
            true => " : Z".to_string(),
            false => format!(" : [{low}:{high}]"),
        };
        format!("= {}{domain}", initial.map_or("*".to_string(), |value| value.to_string()))
    }

    fn sequence(&mut self, statements: &[Statement]) -> String {
        statements.iter().map(|one| self.statement(one)).collect::<Vec<_>>().join(";\n")
    }

    fn alternatives(&mut self, blocks: &[Vec<Statement>]) -> String {
        blocks.iter().map(|block| self.sequence(block)).collect::<Vec<_>>().join("\nor\n")
    }

    /// One statement as it is, several in braces.
    fn body(&mut self, statements: &[Statement]) -> String {
        match statements {
            [only] if self.0.chance(50) => self.statement(only),
            several => format!("{{\n{}\n}}", self.sequence(several)),
        }
    }

    fn statement(&mut self, statement: &Statement) -> String {
        match statement {
            Statement::Labelled(label, inner) => format!("{label}: {}", self.statement(inner)),
            Statement::Nop => self.0.pick(&["nop", "nop", "ssfence", "llfence"]).to_string(),
            Statement::Fence => "fence".to_string(),
            Statement::Assign(register, value) => format!("$r{register} := {}", self.expr(value)),
            Statement::Assume(holds) => format!("assume: {}", self.condition(holds)),
            Statement::ReadInto(register, place) if self.0.chance(30) => {
                format!("load($r{register}, {})", self.cell(place))
            }
            Statement::ReadInto(register, place) => {
                format!("{}: $r{register} := {}", self.0.pick(&["read", "read", "syncrd"]), self.cell(place))
            }
            Statement::ReadEqual(place, value) => format!("read: {} = {}", self.cell(place), self.expr(value)),
            Statement::Write(place, value) => {
                let keyword = *self.0.pick(&["write", "write", "syncwr", "slocked write"]);
                format!("{keyword}: {} := {}", self.cell(place), self.expr(value))
            }
            Statement::LockedWrite(place, value) => {
                format!("locked write: {} := {}", self.cell(place), self.expr(value))
            }
            Statement::CompareAndSwap(place, old, new) => {
                format!("cas({}, {}, {})", self.cell(place), self.expr(old), self.expr(new))
            }
            Statement::Locked(blocks) => format!("locked{{\n{}\n}}", self.alternatives(blocks)),
            Statement::Either(blocks) => format!("either{{\n{}\n}}", self.alternatives(blocks)),
            Statement::Sequence(statements) => format!("{{\n{}\n}}", self.sequence(statements)),
            Statement::If(holds, then, otherwise) => {
                // An `else` belongs to the nearest `if`.
                let then = format!("{{\n{}\n}}", self.sequence(then));
                let otherwise = otherwise.as_ref().map_or(String::new(), |block| format!(" else {}", self.body(block)));
                format!("if {} then {then}{otherwise}", self.condition(holds))
            }
            Statement::While(holds, body) => format!("while {} do {}", self.condition(holds), self.body(body)),
            Statement::Goto(label) => format!("goto {label}"),
        }
    }

    /// `||` of `&&` of comparisons; anything else in brackets.
    fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::Or(left, right) => format!("{} || {}", self.condition(left), self.conjunction(right)),
            other => self.conjunction(other),
        }
    }

    fn conjunction(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::And(left, right) => format!("{} && {}", self.conjunction(left), self.comparison(right)),
            other => self.comparison(other),
        }
    }

    fn comparison(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::Not(inner) => match **inner {
                Condition::Compare(..) => format!("not {}", self.comparison(inner)),
                _ => format!("not [{}]", self.condition(inner)),
            },
            Condition::Compare(op, left, right) => format!("{} {op} {}", self.expr(left), self.expr(right)),
            Condition::Constant(holds) => holds.to_string(),
            other => format!("[{}]", self.condition(other)),
        }
    }

    fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Register(number) if self.0.chance(5) => format!("twice($r{number})"),
            Expr::Register(number) => format!("$r{number}"),
            Expr::Number(value) => value.to_string(),
            Expr::Negated(inner) => format!("-({})", self.expr(inner)),
            Expr::Sum(left, right) => format!("{} + {}", self.expr(left), self.operand(right)),
            Expr::Difference(left, right) => format!("{} - {}", self.expr(left), self.operand(right)),
        }
    }

    /// Sums bind to the left.
    fn operand(&mut self, expr: &Expr) -> String {
        let text = self.expr(expr);
        if matches!(expr, Expr::Sum(..) | Expr::Difference(..)) { format!("({text})") } else { text }
    }

    fn cell(&mut self, cell: &Cell) -> String {
        match cell {
            Cell::Global(number) => format!("g{number}"),
            Cell::Own => "local[my]".to_string(),
            Cell::Other => "local[0]".to_string(),
            Cell::Pointer(pointer) => format!("[{}]", self.expr(pointer)),
        }
    }
}

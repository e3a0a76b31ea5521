//! Random programs: small, without loops, with all that can block.

use weir_testkit::Rng;

use super::{ALL, Cell, Condition, Declared, Expr, Process, Program, Statement};

const REGISTERS: usize = 2;

pub(super) fn program(rng: &mut Rng) -> Program {
    let crossing = rng.chance(40);
    let is_one_text = !crossing && rng.chance(20);
    let count = if crossing { 2 } else { rng.between(1, 2) };
    let globals = (0..count).map(|_| declared(rng, 10)).collect::<Vec<_>>();
    let style = rng.bits();
    let mut process = |number: usize| {
        let local = declared(rng, 5);
        let registers: Vec<Declared> = (0..REGISTERS).map(|_| declared(rng, 25)).collect();
        let mut maker = Maker { rng, globals: globals.len(), labels: Vec::new() };
        let text = if crossing { maker.crossing(number) } else { maker.sequence(2) };
        observed(Process { local, registers, text, labels: maker.labels })
    };
    let first = process(0);
    let second = if is_one_text { first.clone() } else { process(1) };
    Program { globals, processes: [first, second], is_one_text, style }
}

/// The process with all its registers read at the end, so that what they hold first matters; and a label there.
pub(super) fn observed(mut process: Process) -> Process {
    let same = |at| Condition::Compare("=", Expr::Register(at), Expr::Register(at));
    let all = (1..process.registers.len()).fold(same(0), |all, at| Condition::And(Box::new(all), Box::new(same(at))));
    process.text.push(Statement::Labelled("END".into(), Box::new(Statement::Assume(all))));
    process.labels.push("END".into());
    process
}

/// A domain of two or three values, and a value in it or any; or all integers and a known one.
fn declared(rng: &mut Rng, any_percent: u32) -> Declared {
    if rng.chance(10) {
        return (Some(rng.below(2) as i64), ALL.0, ALL.1);
    }
    let low = rng.below(2) as i64 * i64::from(rng.chance(40)) - i64::from(rng.chance(15));
    let high = low + rng.between(1, 2) as i64;
    let initial = low + rng.below((high - low + 1) as usize) as i64;
    ((!rng.chance(any_percent)).then_some(initial), low, high)
}

struct Maker<'r> {
    rng: &'r mut Rng,
    globals: usize,
    labels: Vec<String>,
}

impl Maker<'_> {
    fn sequence(&mut self, depth: usize) -> Vec<Statement> {
        (0..self.rng.between(1, 3)).map(|_| self.statement(depth)).collect()
    }

    /// Writes one location and reads the one that the other process writes, with something in between: where
    /// buffers show.
    fn crossing(&mut self, number: usize) -> Vec<Statement> {
        let write = Statement::Write(Cell::Global(number), self.expr());
        let read = Statement::ReadInto(0, Cell::Global(1 - number));
        let between = (0..self.rng.below(2)).map(|_| self.statement(0)).collect::<Vec<_>>();
        let own = Statement::ReadInto(1, Cell::Global(number));
        let locked = match self.rng.below(6) {
            0 => Statement::Locked(vec![vec![read]]),
            1 => Statement::Locked(vec![vec![read, Statement::Assume(self.condition())]]),
            2 => Statement::Locked(vec![vec![self.instruction(false)], vec![read]]),
            3 => Statement::Locked(vec![vec![read, own]]),
            _ => read,
        };
        [vec![write], between, vec![locked]].concat()
    }

    fn labelled(&mut self, statement: Statement) -> Statement {
        let label = format!("L{}", self.labels.len());
        self.labels.push(label.clone());
        Statement::Labelled(label, Box::new(statement))
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let statement = match self.rng.below(if depth == 0 { 14 } else { 21 }) {
            0 => Statement::Fence,
            1 | 2 => Statement::LockedWrite(self.cell(true), self.expr()),
            3 => Statement::CompareAndSwap(self.cell(true), self.expr(), self.expr()),
            4..=6 => self.locked(1),
            7..=13 => self.instruction(true),
            14 | 15 => Statement::Either((0..self.rng.between(1, 3)).map(|_| self.sequence(depth - 1)).collect()),
            16 | 17 => {
                let condition = self.condition();
                let then = self.sequence(depth - 1);
                let otherwise = if self.rng.chance(70) { Some(self.sequence(depth - 1)) } else { None };
                Statement::If(condition, then, otherwise)
            }
            18 => {
                let condition = self.condition();
                Statement::While(condition, self.sequence(depth - 1))
            }
            19 if !self.labels.is_empty() => Statement::Goto(self.rng.pick(&self.labels).clone()),
            _ => Statement::Sequence(self.sequence(depth - 1)),
        };
        if self.labels.len() < 3 && self.rng.chance(25) { self.labelled(statement) } else { statement }
    }

    /// An instruction that can also stand in a locked block, if it uses no pointer.
    fn instruction(&mut self, pointers: bool) -> Statement {
        match self.rng.below(10) {
            0 => Statement::Nop,
            1 => Statement::Assign(self.rng.below(REGISTERS), self.expr()),
            2 => Statement::Assume(self.condition()),
            3 | 4 => Statement::ReadInto(self.rng.below(REGISTERS), self.cell(pointers)),
            5 | 6 => Statement::ReadEqual(self.cell(pointers), self.expr()),
            _ => Statement::Write(self.cell(pointers), self.expr()),
        }
    }

    fn locked(&mut self, depth: usize) -> Statement {
        let block = |maker: &mut Self| {
            let count = maker.rng.between(1, 4);
            let part = |maker: &mut Self| {
                if depth > 0 && maker.rng.chance(10) { maker.locked(depth - 1) } else { maker.instruction(false) }
            };
            (0..count).map(|_| part(maker)).collect()
        };
        let count = if self.rng.chance(70) { 1 } else { 2 };
        Statement::Locked((0..count).map(|_| block(self)).collect())
    }

    fn condition(&mut self) -> Condition {
        let op = *self.rng.pick(&["=", "!=", "<", ">=", ">", "<="]);
        let compared = Condition::Compare(op, Expr::Register(self.rng.below(REGISTERS)), self.expr());
        match self.rng.below(10) {
            0 => Condition::Not(Box::new(self.condition())),
            1 => Condition::And(Box::new(compared), Box::new(self.condition())),
            2 => Condition::Or(Box::new(compared), Box::new(self.condition())),
            3 => Condition::Constant(self.rng.chance(70)),
            _ => compared,
        }
    }

    fn expr(&mut self) -> Expr {
        let register = Expr::Register(self.rng.below(REGISTERS));
        match self.rng.below(9) {
            0..=3 => Expr::Number(self.rng.below(3) as i64),
            4 | 5 => register,
            6 => Expr::Sum(Box::new(register), Box::new(self.expr())),
            7 => Expr::Negated(Box::new(self.expr())),
            _ => Expr::Difference(Box::new(register), Box::new(self.expr())),
        }
    }

    fn cell(&mut self, pointers: bool) -> Cell {
        match self.rng.below(if pointers { 11 } else { 9 }) {
            0..=4 => Cell::Global(self.rng.below(self.globals)),
            5 => Cell::Own,
            6 | 7 => Cell::Other,
            8 => Cell::Pointer(Expr::Number(self.rng.below(self.globals) as i64)),
            _ => Cell::Pointer(self.expr()),
        }
    }
}

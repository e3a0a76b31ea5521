//! Random programs: small, and with every construct of the language somewhere.

use weir_testkit::Rng;

use super::arithmetic::{BINARY, UNARY};
use super::tree::{Block, Expr, Procedure, Program, Shared, Statement, Thread, Value};

/// Values at the ends of what there is, and some in between.
const ODD: [Value; 8] = [-1, -2, 63, 64, 1000, Value::MIN, Value::MAX, 1 << 40];

pub(super) fn program(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let constants = constants(&mut rng);
    let shared = shared(&mut rng);
    let mut program = Program {
        constants,
        shared,
        procedures: Vec::new(),
        threads: Vec::new(),
        properties: Vec::new(),
        costs: Vec::new(),
    };
    for name in ["f", "g"].iter().take(rng.below(3)) {
        let procedure = Maker::new(&mut rng, &program, true).procedure(name);
        program.procedures.push(procedure);
    }
    let replicated = rng.chance(30);
    let names: &[&str] = if replicated { &["T"] } else { &["T", "U"] };
    for name in names.iter().take(if replicated { 1 } else { rng.between(1, 2) }) {
        let number = rng.chance(60).then(|| "i".to_string());
        let copies = replicated.then_some((2, number));
        let is_alone = names.len() == 1 && !replicated;
        let body = {
            let mut maker = Maker::new(&mut rng, &program, false);
            maker.number = copies.as_ref().and_then(|(_, number)| number.clone());
            maker.is_copy = copies.is_some();
            maker.thread_body(if replicated || is_alone { 3 } else { 4 })
        };
        let weight = rng.chance(20).then(|| rng.between(1, 9) as u32);
        program.threads.push(Thread { name: name.to_string(), copies, weight, body });
    }
    super::properties::add(&mut program, &mut rng);
    program
}

fn constants(rng: &mut Rng) -> Vec<(String, Expr, Option<Value>)> {
    let first = Expr::Number(rng.below(3) as Value);
    let sum = Expr::Binary("+", Box::new(Expr::Constant("N".into())), Box::new(Expr::Number(1)));
    let given = rng.chance(25).then(|| rng.below(3) as Value);
    // The second uses the first, whichever is written first.
    let mut constants = vec![("N".to_string(), first, given), ("M".to_string(), sum, None)];
    if rng.chance(30) {
        constants.reverse();
    }
    constants
}

fn shared(rng: &mut Rng) -> Vec<Shared> {
    let scalar =
        |name: &str| Shared { name: name.into(), size: None, address: None, range: None, bits: None, initial: vec![] };
    let mut all = vec![scalar("x"), Shared { size: Some(2), ..scalar("a") }, scalar("y")];
    for shared in &mut all {
        if rng.chance(15) {
            shared.range = Some((-1, rng.between(0, 2) as Value));
        }
        if rng.chance(30) {
            shared.initial = match shared.size {
                Some(_) if rng.chance(50) => vec![0, -1],
                _ => vec![rng.below(2) as Value - 1],
            };
        }
        if shared.range.is_none() && rng.chance(20) {
            let bits = *rng.pick(&[8, 8, 16, 32]);
            shared.bits = Some(bits);
            shared.initial.iter_mut().for_each(|value| *value = value.rem_euclid(1 << bits));
        }
    }
    if rng.chance(30) {
        all[rng.below(2)].address = Some(10);
    }
    all
}

/// What can be named at a place of the text, and how much more may be written.
pub(super) struct Maker<'r> {
    rng: &'r mut Rng,
    /// Registers that can be named here.
    registers: Vec<String>,
    procedures: Vec<(String, usize, bool)>,
    pub(super) number: Option<String>,
    is_copy: bool,
    /// The names of the open `for each other`.
    others: Vec<String>,
    labels: Vec<String>,
    free_labels: Vec<String>,
    loops: usize,
    is_atomic: bool,
    /// The value that `return` must have, in a procedure.
    returns: Option<bool>,
    declared: usize,
}

impl<'r> Maker<'r> {
    fn new(rng: &'r mut Rng, program: &Program, is_procedure: bool) -> Self {
        let returns_value = |block: &Block| matches!(block.last(), Some(Statement::Return(Some(_))));
        let procedures = program.procedures.iter();
        let procedures = procedures.map(|one| (one.name.clone(), one.parameters.len(), returns_value(&one.body)));
        let labels: Vec<String> = (0..2).map(|at| format!("l{at}")).collect();
        Self {
            procedures: procedures.collect(),
            registers: Vec::new(),
            number: None,
            is_copy: false,
            others: Vec::new(),
            free_labels: labels.clone(),
            labels,
            loops: 0,
            is_atomic: false,
            returns: is_procedure.then(|| rng.chance(70)),
            declared: 0,
            rng,
        }
    }

    fn procedure(&mut self, name: &str) -> Procedure {
        let parameters: Vec<String> = ["p", "q"].iter().take(self.rng.below(3)).map(ToString::to_string).collect();
        self.registers = parameters.clone();
        let mut body = vec![Statement::Let(vec![("k".into(), None)])];
        self.registers.push("k".into());
        body.extend(self.block(2, 1));
        self.close_labels(&mut body);
        let value = if self.returns == Some(true) { Some(self.expr(2)) } else { None };
        body.push(Statement::Return(value));
        Procedure { name: name.into(), parameters, body }
    }

    fn thread_body(&mut self, statements: usize) -> Block {
        let mut body = vec![Statement::Let(vec![("r".into(), None), ("s".into(), None)])];
        self.registers = vec!["r".into(), "s".into()];
        body.extend(self.block(statements, 2));
        self.close_labels(&mut body);
        if self.rng.chance(50) {
            body.push(Statement::Skip);
        }
        body
    }

    /// Labels that jumps may want and nothing declared.
    fn close_labels(&mut self, body: &mut Block) {
        let rest = std::mem::take(&mut self.free_labels);
        body.extend(rest.into_iter().map(Statement::Label));
    }

    fn block(&mut self, most: usize, depth: usize) -> Block {
        let visible = self.registers.len();
        let count = self.rng.below(most + 1);
        let block = (0..count).map(|_| self.statement(depth)).collect();
        self.registers.truncate(visible);
        block
    }

    fn statement(&mut self, depth: usize) -> Statement {
        if depth > 0 && self.rng.chance(40) {
            return self.structure(depth - 1);
        }
        match self.rng.below(30) {
            0..=3 => {
                let (target, value) = (self.cell(1), self.expr(2));
                Statement::Assign(target, "", value)
            }
            4..=6 => Statement::Assign(self.register(), "", self.expr(2)),
            7 | 8 => {
                let op = *self.rng.pick(&["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]);
                let target = if self.rng.chance(50) { self.register() } else { self.cell(1) };
                Statement::Assign(target, op, self.expr(1))
            }
            9 | 10 => self.declare(),
            11 if self.registers.len() > 1 => {
                let cells = vec![self.cell(1), self.cell(1)];
                let mut names = vec![self.register_name()];
                let others: Vec<String> = self.registers.iter().filter(|name| !names.contains(name)).cloned().collect();
                names.push(self.rng.pick(&others).clone());
                Statement::Snapshot(names, cells)
            }
            12 | 13 => Statement::Evaluate(self.modify(1)),
            14 | 15 => match self.call(1) {
                Some(call) => Statement::Evaluate(call),
                None => Statement::Fence,
            },
            16 => self.rng.pick(&[Statement::Fence, Statement::Membarrier]).clone(),
            17 => self.wait(),
            18 => Statement::Assume(self.condition(1)),
            19 => Statement::Assert(self.condition(1)),
            20 if !self.is_atomic => self.rng.pick(&[Statement::Lock, Statement::Unlock]).clone(),
            21 if !self.is_atomic && self.returns.is_none() => {
                self.rng.pick(&[Statement::Terminate, Statement::End]).clone()
            }
            22 if !self.is_atomic => self.leave(),
            23 | 24 if self.loops > 0 => self.rng.pick(&[Statement::Break, Statement::Continue]).clone(),
            25 | 26 if !self.is_atomic => self.label_or_jump(),
            _ => Statement::Skip,
        }
    }

    fn leave(&mut self) -> Statement {
        match self.returns {
            Some(true) => Statement::Return(Some(self.expr(1))),
            Some(false) => Statement::Return(None),
            None => Statement::Skip,
        }
    }

    fn label_or_jump(&mut self) -> Statement {
        let label = self.rng.pick(&self.labels).clone();
        match self.rng.below(3) {
            0 => Statement::Goto(label),
            1 => Statement::Jump(label),
            _ => match self.free_labels.pop() {
                Some(label) => Statement::Label(label),
                None => Statement::Goto(label),
            },
        }
    }

    fn declare(&mut self) -> Statement {
        // A name that is declared again in a sibling block is the same register.
        let free = ["t", "u"].iter().find(|name| !self.registers.iter().any(|known| known == *name));
        let Some(name) = free.map(ToString::to_string) else { return Statement::Skip };
        self.declared += 1;
        let value = if self.rng.chance(80) { Some(self.expr(2)) } else { None };
        self.registers.push(name.clone());
        Statement::Let(vec![(name, value)])
    }

    fn structure(&mut self, depth: usize) -> Statement {
        match self.rng.below(9) {
            0..=2 => {
                let arms = (0..self.rng.between(1, 2)).map(|_| (self.condition(2), self.block(2, depth))).collect();
                let otherwise = if self.rng.chance(60) { Some(self.block(2, depth)) } else { None };
                Statement::If(arms, otherwise)
            }
            3 => {
                let test = self.condition(2);
                Statement::While(test, self.repeated(depth))
            }
            4 if self.is_copy && self.rng.chance(70) => self.for_each_other(depth),
            4 => Statement::Loop(self.repeated(depth)),
            5 | 6 => Statement::Choose((0..self.rng.between(1, 3)).map(|_| self.block(2, depth)).collect()),
            7 if !self.is_atomic && self.returns.is_none() => {
                let loops = std::mem::take(&mut self.loops);
                self.is_atomic = true;
                let procedures = std::mem::take(&mut self.procedures);
                let body = self.block(3, depth);
                (self.is_atomic, self.loops, self.procedures) = (false, loops, procedures);
                Statement::Atomic(body)
            }
            _ => Statement::Block(self.block(3, depth)),
        }
    }

    fn for_each_other(&mut self, depth: usize) -> Statement {
        let name = ["m", "n"][self.others.len()].to_string();
        self.others.push(name.clone());
        let body = self.repeated(depth);
        self.others.pop();
        Statement::ForEachOther(name, body)
    }

    fn repeated(&mut self, depth: usize) -> Block {
        self.loops += 1;
        let body = self.block(3, depth);
        self.loops -= 1;
        body
    }

    fn register_name(&mut self) -> String {
        self.rng.pick(&self.registers).clone()
    }

    fn register(&mut self) -> Expr {
        Expr::Register(self.register_name())
    }

    /// What it waits for is soon so.
    fn wait(&mut self) -> Statement {
        let op: &'static str = ["==", "!=", "<", ">=", "||"][self.rng.below(5)];
        let place = |maker: &mut Self| match maker.rng.below(3) {
            0 => Expr::Cell("x".into()),
            1 => Expr::Cell("y".into()),
            _ => Expr::Element("a".into(), Box::new(Expr::Number(maker.rng.below(2) as Value))),
        };
        let cell = place(self);
        let keeps = self.rng.chance(30).then(|| self.register_name());
        let other = match self.rng.below(4) {
            0 if keeps.is_none() => self.register(),
            1 if keeps.is_none() => place(self),
            _ => Expr::Number(self.rng.below(2) as Value),
        };
        Statement::Await { keeps, cell, op, other }
    }

    /// Mostly a comparison.
    fn condition(&mut self, depth: usize) -> Expr {
        let op: &'static str = ["==", "!=", "<", ">="][self.rng.below(4)];
        let compared = Expr::Binary(
            op,
            Box::new(self.expr(depth.saturating_sub(1))),
            Box::new(Expr::Number(self.rng.below(2) as Value)),
        );
        match self.rng.below(8) {
            0 => self.expr(depth),
            1 => Expr::Unary("!", Box::new(self.expr(depth))),
            2 | 3 => {
                let op = *self.rng.pick(&["&&", "||"]);
                Expr::Binary(op, Box::new(compared), Box::new(self.expr(depth.saturating_sub(1))))
            }
            4 => Expr::Unary("!", Box::new(Expr::Binary("&&", Box::new(compared), Box::new(self.cell(0))))),
            _ => compared,
        }
    }

    fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        match self.rng.below(16) {
            0..=6 => self.leaf(),
            7 => Expr::Unary(UNARY[self.rng.below(UNARY.len())], Box::new(self.expr(depth - 1))),
            8..=10 => {
                let (op, _) = *self.rng.pick(&BINARY);
                Expr::Binary(op, Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)))
            }
            11 => {
                let op = *self.rng.pick(&["&&", "||"]);
                Expr::Binary(op, Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)))
            }
            12 => self.modify(depth - 1),
            13 => Expr::Any(self.rng.below(2) as Value - 1, 1),
            14 => self.called_for_value(depth - 1).unwrap_or_else(|| self.leaf()),
            _ => self.cell(depth),
        }
    }

    fn leaf(&mut self) -> Expr {
        match self.rng.below(20) {
            0..=6 => Expr::Number(self.rng.below(3) as Value),
            7 => Expr::Number(*self.rng.pick(&ODD)),
            8..=10 if !self.others.is_empty() => Expr::Register(self.rng.pick(&self.others).clone()),
            8..=12 => self.register(),
            13 => Expr::Constant(self.rng.pick(&["N", "M"]).to_string()),
            14 => match &self.number {
                Some(number) => Expr::Constant(number.clone()),
                None => Expr::Constant("N".into()),
            },
            15 => {
                let (name, index) = match self.rng.below(3) {
                    0 => ("x", None),
                    1 => ("a", None),
                    _ => ("a", Some(Box::new(Expr::Number(self.rng.below(2) as Value)))),
                };
                Expr::Address(name.into(), index)
            }
            _ => self.cell(0),
        }
    }

    /// A cell: mostly one that is declared.
    fn cell(&mut self, depth: usize) -> Expr {
        let index = |maker: &mut Self| {
            let low_bit = |inner| Expr::Binary("&", Box::new(inner), Box::new(Expr::Number(1)));
            match maker.rng.below(4) {
                0 | 1 => Expr::Number(maker.rng.below(2) as Value),
                2 => low_bit(maker.register()),
                _ if depth > 0 => low_bit(maker.expr(depth - 1)),
                _ => low_bit(maker.register()),
            }
        };
        match self.rng.below(12) {
            0..=3 => Expr::Cell("x".into()),
            4..=6 => Expr::Cell("y".into()),
            7..=9 => Expr::Element("a".into(), Box::new(index(self))),
            10 => {
                let sum = Expr::Binary("+", Box::new(Expr::Address("a".into(), None)), Box::new(index(self)));
                Expr::Memory(Box::new(sum))
            }
            _ => Expr::Pointee(Box::new(match self.rng.below(3) {
                0 => self.register(),
                1 => Expr::Address("x".into(), None),
                _ => Expr::Cell("y".into()),
            })),
        }
    }

    fn modify(&mut self, depth: usize) -> Expr {
        let operations = ["cas", "cmpxchg", "xchg", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"];
        let operation = *self.rng.pick(&operations);
        let cell = Box::new(self.cell(0));
        let count = if matches!(operation, "cas" | "cmpxchg") { 2 } else { 1 };
        Expr::Modify(operation, cell, (0..count).map(|_| self.expr(depth)).collect())
    }

    fn call(&mut self, depth: usize) -> Option<Expr> {
        if self.procedures.is_empty() {
            return None;
        }
        let (name, count, _) = self.rng.pick(&self.procedures).clone();
        Some(Expr::Call(name, (0..count).map(|_| self.expr(depth)).collect()))
    }

    fn called_for_value(&mut self, depth: usize) -> Option<Expr> {
        let with_value: Vec<(String, usize)> =
            self.procedures.iter().filter(|one| one.2).map(|one| (one.0.clone(), one.1)).collect();
        if with_value.is_empty() {
            return None;
        }
        let (name, count) = self.rng.pick(&with_value).clone();
        Some(Expr::Call(name, (0..count).map(|_| self.expr(depth)).collect()))
    }
}

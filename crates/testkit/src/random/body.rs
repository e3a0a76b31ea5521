//! Random threads: structured statements, laid out as an automaton.

use weir_ir::{BinaryOp, BinaryRmw, Expr, Instruction, LocId, Range, RegExpr, RegId, Rmw, Shared, Thread, Value};

use super::expressions::{address, condition, operand, register};
use super::{Config, Statement};
use crate::rng::Rng;
use crate::sketch::ThreadSketch;

/// How deep compound statements nest.
const DEEPEST: u32 = 2;

/// How often a counted loop goes round.
const ROUNDS: Value = 2;

/// A random thread.
pub(super) fn thread(rng: &mut Rng, config: &Config, shared: &[Shared], name: &str) -> Thread {
    let mut sketch = ThreadSketch::new(name);
    sketch.reserve_registers(config.registers);
    let (entry, end) = (sketch.entry(), sketch.location());
    let length = rng.between(config.statements.0, config.statements.1);
    let mut generator = BodyGenerator { rng, config, shared, sketch, end, depth: 0, unbounded: 0 };
    generator.block(entry, end, length);
    generator.sketch.finish()
}

struct BodyGenerator<'a> {
    rng: &'a mut Rng,
    config: &'a Config,
    shared: &'a [Shared],
    sketch: ThreadSketch,
    /// Where the thread is done. No edge leaves it.
    end: LocId,
    depth: u32,
    /// How many loops without bound are around.
    unbounded: u32,
}

impl BodyGenerator<'_> {
    /// About `length` statements that lead from one location to another.
    fn block(&mut self, from: LocId, to: LocId, length: usize) {
        let mut at = from;
        for remaining in (1..=length.max(1)).rev() {
            let next = if remaining == 1 { to } else { self.sketch.location() };
            self.statement(at, next);
            at = next;
        }
    }

    /// A short block one level further in.
    fn inner_block(&mut self, from: LocId, to: LocId) {
        self.depth += 1;
        let length = self.rng.between(1, 2);
        self.block(from, to, length);
        self.depth -= 1;
    }

    fn statement(&mut self, from: LocId, to: LocId) {
        let drawn = self.rng.weighted(&self.config.weights).unwrap_or(Statement::Skip);
        let is_compound = matches!(
            drawn,
            Statement::Branch
                | Statement::Choice
                | Statement::BoundedLoop
                | Statement::UnboundedLoop
                | Statement::Atomic
        );
        match drawn {
            _ if is_compound && self.depth >= DEEPEST => self.simple(Statement::Load, from, to),
            Statement::Branch => self.branch(from, to),
            Statement::Choice => self.choice(from, to),
            Statement::BoundedLoop => self.bounded_loop(from, to),
            Statement::UnboundedLoop => self.unbounded_loop(from, to),
            Statement::Atomic => self.atomic(from, to),
            simple => self.simple(simple, from, to),
        }
    }

    fn simple(&mut self, statement: Statement, from: LocId, to: LocId) {
        let instruction = self.instruction(statement);
        let to = if instruction == Instruction::Terminate { self.end } else { to };
        self.sketch.edge(from, to, instruction);
    }

    fn instruction(&mut self, statement: Statement) -> Instruction {
        let (config, shared) = (self.config, self.shared);
        let rng = &mut *self.rng;
        match statement {
            Statement::Load => {
                Instruction::Load { register: register(rng, config), address: address(rng, config, shared) }
            }
            Statement::Snapshot => self.snapshot(),
            Statement::Await => self.wait(),
            Statement::Store => {
                Instruction::Store { address: address(rng, config, shared), value: operand(rng, config) }
            }
            Statement::Fence => Instruction::Fence,
            Statement::Membarrier => Instruction::Membarrier,
            Statement::ReadModifyWrite => self.read_modify_write(),
            Statement::Assign => Instruction::Assign { register: register(rng, config), value: operand(rng, config) },
            Statement::Havoc => self.havoc(),
            Statement::Assume => Instruction::Assume(condition(rng, config)),
            Statement::Assert => Instruction::Assert(condition(rng, config)),
            Statement::Terminate => Instruction::Terminate,
            Statement::StrayLock if rng.chance(50) => Instruction::Lock,
            Statement::StrayLock => Instruction::Unlock,
            _ => Instruction::Skip,
        }
    }

    fn snapshot(&mut self) -> Instruction {
        let (rng, config) = (&mut *self.rng, self.config);
        let first = register(rng, config);
        let count = if config.loads_in_one_step > 2 { rng.between(2, config.loads_in_one_step) as u32 } else { 2 };
        let registers = (0..count).map(|at| RegId((first.0 + at) % config.registers.max(count)));
        Instruction::Snapshot(registers.map(|register| (register, address(rng, config, self.shared))).collect())
    }

    /// One cell, or two; a condition that is not too hard to meet.
    fn wait(&mut self) -> Instruction {
        let loads = match self.snapshot() {
            Instruction::Snapshot(loads) if self.rng.chance(30) => loads,
            Instruction::Snapshot(loads) => loads[..1].to_vec(),
            _ => Vec::new(),
        };
        let loaded = Expr::Leaf(loads[0].0);
        let condition = match self.rng.below(3) {
            0 => condition(self.rng, self.config),
            1 => Expr::binary(BinaryOp::Equal, loaded, operand(self.rng, self.config)),
            _ => Expr::binary(BinaryOp::NotEqual, loaded, operand(self.rng, self.config)),
        };
        Instruction::Await { loads, condition }
    }

    fn havoc(&mut self) -> Instruction {
        let low = self.rng.below(3) as Value - 1;
        let range = Range { low, high: low + self.rng.below(3) as Value };
        Instruction::Havoc { register: register(self.rng, self.config), range }
    }

    fn read_modify_write(&mut self) -> Instruction {
        let (rng, config) = (&mut *self.rng, self.config);
        let register = rng.chance(80).then(|| register(rng, config));
        let operation = match rng.below(4) {
            0 => Rmw::CompareAndSwap { expected: operand(rng, config), new: operand(rng, config) },
            1 => Rmw::CompareExchange { expected: operand(rng, config), new: operand(rng, config) },
            2 => Rmw::Exchange(operand(rng, config)),
            // Adding again and again would make the data infinite.
            _ if self.unbounded > 0 => Rmw::Fetch(BinaryRmw::And, operand(rng, config)),
            _ => {
                let combine = [BinaryRmw::Add, BinaryRmw::Subtract, BinaryRmw::And, BinaryRmw::Or, BinaryRmw::Xor];
                Rmw::Fetch(*rng.pick(&combine), operand(rng, config))
            }
        };
        Instruction::ReadModifyWrite { register, address: address(rng, config, self.shared), operation }
    }

    /// `if c { … } else { … }`, or without `else`: then the other test leads straight on.
    fn branch(&mut self, from: LocId, to: LocId) {
        let test = condition(self.rng, self.config);
        let then = self.sketch.location();
        self.assume(from, then, test.clone());
        self.inner_block(then, to);
        if self.rng.chance(50) {
            self.assume(from, to, test.negated());
        } else {
            let otherwise = self.sketch.location();
            self.assume(from, otherwise, test.negated());
            self.inner_block(otherwise, to);
        }
    }

    fn choice(&mut self, from: LocId, to: LocId) {
        for _ in 0..self.rng.between(2, 3) {
            self.inner_block(from, to);
        }
    }

    fn bounded_loop(&mut self, from: LocId, to: LocId) {
        let counter = self.sketch.register();
        let (head, body, next) = (self.sketch.location(), self.sketch.location(), self.sketch.location());
        let counted = Expr::binary(BinaryOp::Less, Expr::Leaf(counter), Expr::Const(ROUNDS));
        let one_more = Expr::binary(BinaryOp::Add, Expr::Leaf(counter), Expr::Const(1));
        self.sketch.edge(from, head, Instruction::Assign { register: counter, value: Expr::Const(0) });
        self.assume(head, body, counted.clone());
        self.inner_block(body, next);
        self.sketch.edge(next, head, Instruction::Assign { register: counter, value: one_more });
        self.assume(head, to, counted.negated());
    }

    fn unbounded_loop(&mut self, from: LocId, to: LocId) {
        self.unbounded += 1;
        let shape = self.rng.below(5);
        if shape < 3 {
            // `while c { … }`
            let (test, body) = (condition(self.rng, self.config), self.sketch.location());
            self.assume(from, body, test.clone());
            self.inner_block(body, from);
            self.assume(from, to, test.negated());
        } else {
            // `loop { … }`, left by choice or never.
            self.inner_block(from, from);
            if shape == 3 {
                self.inner_block(from, to);
            }
        }
        self.unbounded -= 1;
    }

    fn atomic(&mut self, from: LocId, to: LocId) {
        let (locked, last) = (self.sketch.location(), self.sketch.location());
        self.sketch.edge(from, locked, Instruction::Lock);
        self.inner_block(locked, last);
        self.sketch.edge(last, to, Instruction::Unlock);
    }

    fn assume(&mut self, from: LocId, to: LocId, condition: RegExpr) {
        self.sketch.edge(from, to, Instruction::Assume(condition));
    }
}

//! Trees to code for a plain machine with a stack of values: every step of the reference is one instruction, and all
//! else is silent. Nothing is merged, folded or left out.

use std::collections::BTreeMap;

use super::tree::{Block, Expr, Procedure, Program, Statement, Value};

/// A place in the code that is known only later.
pub(super) type Mark = usize;

/// Where a value goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    Register(usize),
    Stack,
    /// It is worked out, and then forgotten.
    Forgotten,
    /// Nobody asks for it: a call as a statement.
    Unwanted,
}

/// An instruction. Those up to `Fork` are silent, the rest are one step each.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Push(Value),
    Register(usize),
    Unary(&'static str),
    Binary(&'static str),
    /// Copies the topmost value.
    Twice,
    Jump(Mark),
    Fork(Vec<Mark>),
    /// Pops an address.
    Load(Goal),
    /// Pops as many addresses as there are registers.
    Snapshot(Vec<usize>),
    /// Pops a number, or the address of another cell, and the address of a cell below it.
    Await {
        is_cell: bool,
        op: &'static str,
        keeps: Option<usize>,
    },
    /// Pops a value and the address below it.
    Store,
    /// Pops a value.
    Assign(Goal),
    Any(Value, Value, Goal),
    /// Pops the operands and the address below them.
    Modify(&'static str, Goal),
    /// Pops a value.
    Test(Mark, Mark),
    Assume,
    Assert,
    Fence,
    Membarrier,
    Skip,
    SkipTo(Mark),
    Lock,
    Unlock,
    End,
}

/// The code of one thread.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    /// Where each mark is.
    pub(super) marks: Vec<usize>,
    /// The registers by name; those of procedures have none.
    pub(super) registers: BTreeMap<String, usize>,
    pub(super) register_count: usize,
    /// The places of each label; `f.l` for one of a procedure.
    pub(super) labels: BTreeMap<String, Vec<Mark>>,
}

/// The thread or an open call.
struct Frame<'p> {
    procedure: Option<&'p Procedure>,
    registers: BTreeMap<String, usize>,
    labels: BTreeMap<String, Mark>,
    loops: Vec<(Mark, Mark)>,
    exit: Mark,
    result: Goal,
}

/// Compiles the body of a thread; `number` is the name and value of its number, and `copy` says which of how many it is.
pub(super) fn compile(program: &Program, body: &Block, number: Option<(&str, Value)>, copy: (Value, Value)) -> Code {
    let mut compiler = Compiler { program, number, copy, code: Code::default(), frames: Vec::new(), end: 0 };
    compiler.end = compiler.mark();
    compiler.open(None, Goal::Unwanted);
    compiler.block(body);
    let end = compiler.end;
    compiler.place(end);
    compiler.push(Op::End);
    let frame = compiler.frames.pop().expect("the frame of the thread");
    compiler.code.registers = frame.registers;
    compiler.code
}

struct Compiler<'p> {
    program: &'p Program,
    number: Option<(&'p str, Value)>,
    copy: (Value, Value),
    code: Code,
    frames: Vec<Frame<'p>>,
    end: Mark,
}

impl<'p> Compiler<'p> {
    fn push(&mut self, op: Op) {
        self.code.ops.push(op);
    }

    fn mark(&mut self) -> Mark {
        self.code.marks.push(usize::MAX);
        self.code.marks.len() - 1
    }

    fn place(&mut self, mark: Mark) {
        self.code.marks[mark] = self.code.ops.len();
    }

    fn frame(&mut self) -> &mut Frame<'p> {
        self.frames.last_mut().expect("a frame is open")
    }

    fn open(&mut self, procedure: Option<&'p Procedure>, result: Goal) {
        let exit = self.mark();
        let (registers, labels) = (BTreeMap::new(), BTreeMap::new());
        self.frames.push(Frame { procedure, registers, labels, loops: Vec::new(), exit, result });
    }

    fn fresh_register(&mut self) -> usize {
        self.code.register_count += 1;
        self.code.register_count - 1
    }

    /// The register of a name in the open frame.
    fn register(&mut self, name: &str) -> usize {
        if let Some(&known) = self.frame().registers.get(name) {
            return known;
        }
        let fresh = self.fresh_register();
        self.frame().registers.insert(name.to_string(), fresh);
        fresh
    }

    fn label(&mut self, name: &str) -> Mark {
        if let Some(&known) = self.frame().labels.get(name) {
            return known;
        }
        let mark = self.mark();
        self.frame().labels.insert(name.to_string(), mark);
        let whole = self.frame().procedure.map_or(name.to_string(), |procedure| format!("{}.{name}", procedure.name));
        self.code.labels.entry(whole).or_default().push(mark);
        mark
    }

    fn block(&mut self, block: &'p Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'p Statement) {
        match statement {
            Statement::Let(names) => {
                for (name, value) in names {
                    let register = self.register(name);
                    value.iter().for_each(|value| self.into(Goal::Register(register), value));
                }
            }
            Statement::Assign(target, op, value) => self.assign(target, op, value),
            Statement::Snapshot(registers, cells) => {
                cells.iter().for_each(|cell| self.address(cell));
                let registers = registers.iter().map(|name| self.register(name)).collect();
                self.push(Op::Snapshot(registers));
            }
            Statement::Await { keeps, cell, op, other } => {
                self.address(cell);
                let is_cell = matches!(other, Expr::Cell(_) | Expr::Element(..));
                if is_cell {
                    self.address(other)
                } else {
                    self.value(other)
                }
                let keeps = keeps.as_ref().map(|name| self.register(name));
                self.push(Op::Await { is_cell, op, keeps });
            }
            Statement::Evaluate(Expr::Call(name, arguments)) => self.call(name, arguments, Goal::Unwanted),
            Statement::Evaluate(Expr::Modify(operation, cell, operands)) => {
                self.modify(operation, cell, operands, Goal::Unwanted)
            }
            Statement::Evaluate(other) => panic!("{other:?} is no statement"),
            Statement::If(arms, otherwise) => self.branches(arms, otherwise.as_ref()),
            Statement::While(test, body) => {
                let (head, inside, exit) = (self.mark(), self.mark(), self.mark());
                self.place(head);
                self.test(test, inside, exit);
                self.place(inside);
                self.repeat(body, head, exit);
            }
            Statement::Loop(body) => {
                let (head, exit) = (self.mark(), self.mark());
                self.place(head);
                self.repeat(body, head, exit);
            }
            Statement::ForEachOther(name, body) => self.for_each_other(name, body),
            Statement::Break => {
                let (_, exit) = *self.frame().loops.last().expect("in a loop");
                self.push(Op::Jump(exit));
            }
            Statement::Continue => {
                let (head, _) = *self.frame().loops.last().expect("in a loop");
                self.push(Op::Jump(head));
            }
            Statement::Label(name) => {
                let mark = self.label(name);
                self.place(mark);
            }
            Statement::Goto(name) => {
                let mark = self.label(name);
                self.push(Op::SkipTo(mark));
            }
            Statement::Jump(name) => {
                let mark = self.label(name);
                self.push(Op::Jump(mark));
            }
            Statement::Choose(branches) => self.choose(branches),
            Statement::Assume(holds) => {
                self.value(holds);
                self.push(Op::Assume);
            }
            Statement::Assert(holds) => {
                self.value(holds);
                self.push(Op::Assert);
            }
            Statement::Fence => self.push(Op::Fence),
            Statement::Membarrier => self.push(Op::Membarrier),
            Statement::Skip => self.push(Op::Skip),
            Statement::Lock => self.push(Op::Lock),
            Statement::Unlock => self.push(Op::Unlock),
            Statement::Atomic(body) => {
                self.push(Op::Lock);
                self.block(body);
                self.push(Op::Unlock);
            }
            Statement::Return(value) => {
                let (exit, result) = (self.frame().exit, self.frame().result);
                match (value, result) {
                    (Some(value), Goal::Unwanted) => self.effects(value),
                    (Some(value), _) => self.into(result, value),
                    (None, _) => {}
                }
                self.push(Op::Jump(exit));
            }
            Statement::Terminate => self.push(Op::SkipTo(self.end)),
            Statement::End => self.push(Op::End),
            Statement::Block(body) => self.block(body),
        }
    }

    fn assign(&mut self, target: &'p Expr, op: &'static str, value: &'p Expr) {
        match target {
            Expr::Register(name) if op.is_empty() => {
                let register = self.register(name);
                self.into(Goal::Register(register), value);
            }
            Expr::Register(name) => {
                let register = self.register(name);
                self.push(Op::Register(register));
                self.value(value);
                self.push(Op::Binary(op));
                self.push(Op::Assign(Goal::Register(register)));
            }
            cell => {
                self.address(cell);
                if !op.is_empty() {
                    self.push(Op::Twice);
                    self.push(Op::Load(Goal::Stack));
                }
                self.value(value);
                if !op.is_empty() {
                    self.push(Op::Binary(op));
                }
                self.push(Op::Store);
            }
        }
    }

    fn branches(&mut self, arms: &'p [(Expr, Block)], otherwise: Option<&'p Block>) {
        let join = self.mark();
        for (test, then) in arms {
            let (yes, no) = (self.mark(), self.mark());
            self.test(test, yes, no);
            self.place(yes);
            self.block(then);
            self.push(Op::Jump(join));
            self.place(no);
        }
        otherwise.into_iter().for_each(|block| self.block(block));
        self.place(join);
    }

    fn repeat(&mut self, body: &'p Block, head: Mark, exit: Mark) {
        self.frame().loops.push((head, exit));
        self.block(body);
        self.push(Op::Jump(head));
        self.frame().loops.pop();
        self.place(exit);
    }

    /// Notes who is to come; then, while somebody is, chooses until that is one of them, and strikes it out.
    fn for_each_other(&mut self, name: &str, body: &'p Block) {
        let (me, count) = self.copy;
        let (other, left) = (self.register(name), self.fresh_register());
        let [choose, found, head, exit] = [(); 4].map(|()| self.mark());
        self.push(Op::Push((0..count).filter(|&number| number != me).map(|number| 1 << number).sum()));
        self.push(Op::Assign(Goal::Register(left)));
        if count == 1 {
            self.push(Op::Jump(exit));
        }
        self.place(choose);
        self.push(Op::Any(0, count - 1, Goal::Register(other)));
        self.push(Op::Register(left));
        self.push(Op::Register(other));
        self.push(Op::Binary(">>"));
        self.push(Op::Push(1));
        self.push(Op::Binary("&"));
        self.push(Op::Test(found, choose));
        self.place(found);
        self.push(Op::Register(left));
        self.push(Op::Push(1));
        self.push(Op::Register(other));
        self.push(Op::Binary("<<"));
        self.push(Op::Binary("-"));
        self.push(Op::Assign(Goal::Register(left)));
        self.frame().loops.push((head, exit));
        self.block(body);
        self.frame().loops.pop();
        self.place(head);
        self.push(Op::Register(left));
        self.push(Op::Test(choose, exit));
        self.place(exit);
    }

    fn choose(&mut self, branches: &'p [Block]) {
        // One branch is no choice.
        if let [only] = branches {
            return self.block(only);
        }
        let starts: Vec<Mark> = branches.iter().map(|_| self.mark()).collect();
        let join = self.mark();
        self.push(Op::Fork(starts.clone()));
        for (start, branch) in starts.into_iter().zip(branches) {
            self.place(start);
            self.block(branch);
            self.push(Op::Jump(join));
        }
        self.place(join);
    }

    /// Leads to one of two places, by as many tests as it takes.
    fn test(&mut self, test: &'p Expr, yes: Mark, no: Mark) {
        match test {
            Expr::Binary(op @ ("&&" | "||"), left, right) if takes_steps(right) => {
                let middle = self.mark();
                let (if_true, if_false) = if *op == "&&" { (middle, no) } else { (yes, middle) };
                self.test(left, if_true, if_false);
                self.place(middle);
                self.test(right, yes, no);
            }
            Expr::Unary("!", inner) if is_several_tests(inner) => self.test(inner, no, yes),
            _ => {
                self.value(test);
                self.push(Op::Test(yes, no));
            }
        }
    }

    /// Puts the value on the stack; each shared read is a load, from left to right.
    fn value(&mut self, expr: &'p Expr) {
        match expr {
            Expr::Number(value) => self.push(Op::Push(*value)),
            Expr::Register(name) => {
                let register = self.register(name);
                self.push(Op::Register(register));
            }
            Expr::Constant(name) => {
                let value = self.constant(name);
                self.push(Op::Push(value));
            }
            Expr::Cell(_) | Expr::Element(..) | Expr::Memory(_) | Expr::Pointee(_) => {
                self.address(expr);
                self.push(Op::Load(Goal::Stack));
            }
            Expr::Address(name, index) => self.element(name, index.as_deref()),
            Expr::Unary(op, inner) => {
                self.value(inner);
                self.push(Op::Unary(op));
            }
            Expr::Binary("&&" | "||", _, right) if takes_steps(right) => self.into(Goal::Stack, expr),
            Expr::Binary(op, left, right) => {
                self.value(left);
                self.value(right);
                self.push(Op::Binary(op));
            }
            Expr::Call(..) | Expr::Modify(..) | Expr::Any(..) => self.into(Goal::Stack, expr),
        }
    }

    fn constant(&self, name: &str) -> Value {
        match self.number {
            Some((number, value)) if number == name => value,
            _ => super::machine::constant(self.program, name),
        }
    }

    /// Puts the address of a cell on the stack.
    fn address(&mut self, cell: &'p Expr) {
        match cell {
            Expr::Cell(name) => self.element(name, None),
            Expr::Element(name, index) => self.element(name, Some(index)),
            Expr::Memory(address) | Expr::Pointee(address) => self.value(address),
            other => panic!("{other:?} is no cell"),
        }
    }

    fn element(&mut self, name: &str, index: Option<&'p Expr>) {
        self.push(Op::Push(self.program.address(name)));
        if let Some(index) = index {
            self.value(index);
            self.push(Op::Binary("+"));
        }
    }

    /// The steps inside an expression whose own value nobody asks for.
    fn effects(&mut self, expr: &'p Expr) {
        match expr {
            Expr::Number(_) | Expr::Register(_) | Expr::Constant(_) | Expr::Address(_, None) => {}
            Expr::Address(_, Some(inner)) | Expr::Unary(_, inner) => self.effects(inner),
            Expr::Binary(op, left, right) if !(matches!(*op, "&&" | "||") && takes_steps(right)) => {
                self.effects(left);
                self.effects(right);
            }
            _ => self.into(Goal::Forgotten, expr),
        }
    }

    /// The steps of an expression; the last one puts the value where it belongs.
    fn into(&mut self, goal: Goal, expr: &'p Expr) {
        match expr {
            Expr::Call(name, arguments) => self.call(name, arguments, goal),
            Expr::Modify(operation, cell, operands) => self.modify(operation, cell, operands, goal),
            Expr::Any(low, high) => self.push(Op::Any(*low, *high, goal)),
            Expr::Binary(op @ ("&&" | "||"), left, right) if takes_steps(right) => {
                let (more, short, join) = (self.mark(), self.mark(), self.mark());
                let shortcut = Value::from(*op == "||");
                let (yes, no) = if *op == "&&" { (more, short) } else { (short, more) };
                self.test(left, yes, no);
                self.place(more);
                self.value(right);
                self.push(Op::Push(0));
                self.push(Op::Binary("!="));
                self.push(Op::Assign(goal));
                self.push(Op::Jump(join));
                self.place(short);
                self.push(Op::Push(shortcut));
                self.push(Op::Assign(goal));
                self.place(join);
            }
            Expr::Cell(_) | Expr::Element(..) | Expr::Memory(_) | Expr::Pointee(_) => {
                self.address(expr);
                self.push(Op::Load(goal));
            }
            _ => {
                self.value(expr);
                self.push(Op::Assign(goal));
            }
        }
    }

    fn modify(&mut self, operation: &'static str, cell: &'p Expr, operands: &'p [Expr], goal: Goal) {
        self.address(cell);
        operands.iter().for_each(|operand| self.value(operand));
        self.push(Op::Modify(operation, goal));
    }

    /// A copy of the procedure, with registers of its own.
    fn call(&mut self, name: &str, arguments: &'p [Expr], result: Goal) {
        let procedure = self.program.procedures.iter().find(|one| one.name == name).expect("declared");
        self.open(Some(procedure), result);
        let parameters: Vec<usize> = procedure.parameters.iter().map(|name| self.register(name)).collect();
        let frame = self.frames.pop().expect("just opened");
        for (parameter, argument) in parameters.into_iter().zip(arguments) {
            self.into(Goal::Register(parameter), argument);
        }
        self.frames.push(frame);
        self.block(&procedure.body);
        if !matches!(result, Goal::Unwanted) {
            self.push(Op::Push(0));
            self.push(Op::Assign(result));
        }
        let exit = self.frame().exit;
        self.place(exit);
        self.frames.pop();
    }
}

/// Whether working an expression out takes steps: it reads shared memory, calls, and the like.
fn takes_steps(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Register(_) | Expr::Constant(_) | Expr::Address(_, None) => false,
        Expr::Address(_, Some(inner)) | Expr::Unary(_, inner) => takes_steps(inner),
        Expr::Binary(_, left, right) => takes_steps(left) || takes_steps(right),
        _ => true,
    }
}

fn is_several_tests(expr: &Expr) -> bool {
    match expr {
        Expr::Binary("&&" | "||", _, right) => takes_steps(right),
        Expr::Unary("!", inner) => is_several_tests(inner),
        _ => false,
    }
}

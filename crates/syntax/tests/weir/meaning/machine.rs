//! Runs the code of all threads, step by step, and judges properties.

use std::collections::{BTreeMap, BTreeSet};

use weir_testkit::Model;
use weir_testkit::product::{Action, Machine, State, visit_states};

use super::arithmetic::{binary, unary};
use super::code::{Code, Goal, Op, compile};
use super::tree::{Condition, Expr, Program, Property, Value};

/// Memory, and the named registers of each thread.
type Final = (BTreeMap<Value, Value>, Vec<BTreeMap<String, Value>>);

/// What all runs of a program come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// By property, then by thread for assertions: the least number of steps to what it looks for.
    pub(super) properties: BTreeMap<usize, usize>,
    pub(super) assertions: BTreeMap<usize, usize>,
    pub(super) final_states: BTreeSet<Final>,
}

/// The value of a constant.
pub(super) fn constant(program: &Program, name: &str) -> Value {
    let (_, written, given) = program.constants.iter().find(|(known, ..)| known == name).expect("declared");
    given.unwrap_or_else(|| constant_value(program, written))
}

fn constant_value(program: &Program, expr: &Expr) -> Value {
    match expr {
        Expr::Number(value) => *value,
        Expr::Constant(name) => constant(program, name),
        Expr::Unary(op, inner) => unary(op, constant_value(program, inner)),
        Expr::Binary(op, left, right) => binary(op, constant_value(program, left), constant_value(program, right)),
        other => panic!("{other:?} is no constant"),
    }
}

/// All runs of a program; nothing if there are more than `limit` states.
pub(super) fn run(program: &Program, model: Model, limit: usize) -> Option<Found> {
    let mut threads = Vec::new();
    let mut names = Vec::new();
    for thread in &program.threads {
        let number = thread.copies.as_ref().and_then(|(_, number)| number.as_deref());
        for at in 0..thread.count() {
            let number = number.map(|number| (number, at as Value));
            threads.push(compile(program, &thread.body, number, (at as Value, thread.count() as Value)));
            names.push((thread.name.clone(), at));
        }
    }
    let runner = Runner { program, threads, names };
    let mut found = Found::default();
    let is_whole = visit_states(&runner, model, limit, &mut |state, depth, is_stuck| {
        runner.note(state, depth, is_stuck, &mut found);
    });
    is_whole.then_some(found)
}

/// Where a thread is, and what it holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Local {
    /// The next step or choice.
    at: usize,
    registers: Vec<Value>,
    stack: Vec<Value>,
    has_failed: bool,
}

impl Local {
    fn put(&mut self, goal: Goal, value: Value) {
        match goal {
            Goal::Register(register) => self.registers[register] = value,
            Goal::Stack => self.stack.push(value),
            Goal::Forgotten | Goal::Unwanted => {}
        }
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().expect("the code leaves a value here")
    }
}

struct Runner<'p> {
    program: &'p Program,
    threads: Vec<Code>,
    names: Vec<(String, usize)>,
}

impl Code {
    fn op(&self, at: usize) -> &Op {
        &self.ops[at]
    }

    /// Where computing and jumps lead from a place: to a step, a choice or the end. A cycle of jumps alone is named by
    /// the first of them.
    fn led_to(&self, mut at: usize) -> usize {
        let mut passed = Vec::new();
        loop {
            match self.op(at) {
                Op::Push(_) | Op::Register(_) | Op::Unary(_) | Op::Binary(_) | Op::Twice => at += 1,
                Op::Jump(mark) => {
                    if let Some(start) = passed.iter().position(|&before| before == at) {
                        return passed[start..].iter().copied().min().unwrap_or(at);
                    }
                    passed.push(at);
                    at = self.marks[*mark];
                }
                _ => return at,
            }
        }
    }

    /// The place that control is at: choices that lead to each other without a step are one place.
    fn place(&self, at: usize) -> usize {
        let at = self.led_to(at);
        let is_same = |other: &usize| self.choices(*other).contains(&at);
        self.choices(at).into_iter().filter(is_same).min().unwrap_or(at)
    }

    /// The choices that can be made one after the other without a step, from one on.
    fn choices(&self, at: usize) -> BTreeSet<usize> {
        let (mut open, mut seen) = (vec![at], BTreeSet::new());
        while let Some(at) = open.pop() {
            if let Op::Fork(marks) = self.op(at)
                && seen.insert(at)
            {
                open.extend(marks.iter().map(|&mark| self.led_to(self.marks[mark])));
            }
        }
        seen
    }

    fn is_end(&self, at: usize) -> bool {
        matches!(self.op(at), Op::End)
    }
}

impl Machine for Runner<'_> {
    type Local = Local;

    fn initial(&self) -> Vec<Local> {
        let start = |(thread, code): (usize, &Code)| {
            let registers = vec![0; code.register_count];
            self.arrived(thread, Local { at: 0, registers, stack: Vec::new(), has_failed: false }, 0)
        };
        self.threads.iter().enumerate().map(start).collect()
    }

    fn initial_value(&self, address: Value) -> Value {
        self.program.declaration(address).map_or(0, |(shared, offset)| match shared.initial.as_slice() {
            [] => 0,
            [one] => *one,
            several => several[offset],
        })
    }

    fn admits(&self, address: Value, value: Value) -> bool {
        let range = self.program.declaration(address).and_then(|(shared, _)| shared.range);
        range.is_none_or(|(low, high)| low <= value && value <= high)
    }

    fn stored(&self, address: Value, value: Value) -> Value {
        let bits = self.program.declaration(address).and_then(|(shared, _)| shared.bits);
        bits.map_or(value, |bits| value.rem_euclid(1 << bits))
    }

    fn actions<'a>(&'a self, thread: usize, local: &Local) -> Vec<Action<'a, Local>> {
        let code = &self.threads[thread];
        if local.has_failed {
            return Vec::new();
        }
        match code.op(local.at) {
            Op::End => Vec::new(),
            Op::Jump(_) => vec![Action::Local(local.clone())],
            Op::Fork(_) => self.choose(thread, local),
            step => self.taken(thread, step, local.clone()),
        }
    }
}

impl Runner<'_> {
    /// Lets a thread compute and jump from a place on, up to a step, a choice or the end.
    fn settled(&self, thread: usize, mut local: Local, at: usize) -> Local {
        let code = &self.threads[thread];
        let (mut at, goal) = (at, code.led_to(at));
        while at != goal {
            match code.op(at) {
                Op::Jump(mark) => {
                    at = code.marks[*mark];
                    continue;
                }
                Op::Push(value) => local.stack.push(*value),
                Op::Register(register) => local.stack.push(local.registers[*register]),
                Op::Unary(op) => {
                    let operand = local.pop();
                    local.stack.push(unary(op, operand));
                }
                Op::Binary(op) => {
                    let (right, left) = (local.pop(), local.pop());
                    local.stack.push(binary(op, left, right));
                }
                Op::Twice => {
                    let top = local.pop();
                    local.stack.extend([top, top]);
                }
                step => panic!("{step:?} is no computation"),
            }
            at += 1;
        }
        local.at = goal;
        local
    }

    /// The same, with choices that are one place called by one name.
    fn arrived(&self, thread: usize, local: Local, at: usize) -> Local {
        let local = self.settled(thread, local, at);
        Local { at: self.threads[thread].place(local.at), ..local }
    }

    /// The first step of a branch is taken from the place of the choice.
    fn choose<'a>(&'a self, thread: usize, local: &Local) -> Vec<Action<'a, Local>> {
        let code = &self.threads[thread];
        let (mut open, mut seen) = (vec![local.clone()], BTreeSet::new());
        let (mut actions, mut is_empty) = (Vec::new(), true);
        while let Some(local) = open.pop() {
            if !seen.insert(local.at) {
                continue;
            }
            match code.op(local.at) {
                Op::Fork(marks) => {
                    open.extend(marks.iter().map(|&mark| self.settled(thread, local.clone(), code.marks[mark])));
                    continue;
                }
                // A branch that ends the thread without a step takes one, and so does a loop without steps.
                Op::End | Op::Jump(_) => actions.push(Action::Local(local)),
                step => actions.extend(self.taken(thread, step, local)),
            }
            is_empty = false;
        }
        if is_empty {
            actions.push(Action::Local(local.clone()));
        }
        actions
    }

    fn taken<'a>(&'a self, thread: usize, op: &Op, mut local: Local) -> Vec<Action<'a, Local>> {
        let code = &self.threads[thread];
        let next = local.at + 1;
        let moved = move |local: Local| self.arrived(thread, local, next);
        let one = |action: Action<'a, Local>| vec![action];
        match op {
            Op::Load(goal) => {
                let (address, goal) = (local.pop(), *goal);
                one(Action::Load(
                    vec![address],
                    Box::new(move |values| {
                        let mut local = local;
                        local.put(goal, values[0]);
                        self.arrived(thread, local, next)
                    }),
                ))
            }
            Op::Snapshot(registers) => {
                let addresses = local.stack.split_off(local.stack.len() - registers.len());
                let registers = registers.clone();
                one(Action::Load(
                    addresses,
                    Box::new(move |values| {
                        let mut local = local;
                        registers.iter().zip(values).for_each(|(&register, &value)| local.registers[register] = value);
                        self.arrived(thread, local, next)
                    }),
                ))
            }
            Op::Await { is_cell, op, keeps } => {
                let (other, address) = (local.pop(), local.pop());
                let (is_cell, op, keeps) = (*is_cell, *op, *keeps);
                let cells = if is_cell { vec![address, other] } else { vec![address] };
                one(Action::Await(
                    cells,
                    Box::new(move |values| {
                        let right = if is_cell { values[1] } else { other };
                        let mut local = local;
                        keeps.into_iter().for_each(|register| local.registers[register] = values[0]);
                        (binary(op, values[0], right) != 0).then(|| self.arrived(thread, local, next))
                    }),
                ))
            }
            Op::Store => {
                let (value, address) = (local.pop(), local.pop());
                one(Action::Store(address, value, moved(local)))
            }
            Op::Assign(goal) => {
                let value = local.pop();
                local.put(*goal, value);
                one(Action::Local(moved(local)))
            }
            Op::Any(low, high, goal) => {
                let with = |value| {
                    let mut local = local.clone();
                    local.put(*goal, value);
                    Action::Local(moved(local))
                };
                (*low..=*high).map(with).collect()
            }
            Op::Modify(operation, goal) => one(modify(operation, *goal, local, moved)),
            Op::Test(yes, no) => {
                let mark = if local.pop() != 0 { *yes } else { *no };
                one(Action::Local(self.arrived(thread, local, code.marks[mark])))
            }
            Op::Assume => {
                if local.pop() != 0 {
                    one(Action::Local(moved(local)))
                } else {
                    Vec::new()
                }
            }
            Op::Assert => {
                local.has_failed = local.pop() == 0;
                one(Action::Local(moved(local)))
            }
            Op::Fence => one(Action::Fence(moved(local))),
            Op::Membarrier => one(Action::Membarrier(moved(local))),
            Op::Skip => one(Action::Local(moved(local))),
            Op::SkipTo(mark) => one(Action::Local(self.arrived(thread, local, code.marks[*mark]))),
            Op::Lock => one(Action::Lock(moved(local))),
            Op::Unlock => one(Action::Unlock(moved(local))),
            silent => panic!("{silent:?} is no step"),
        }
    }

    fn is_done(&self, thread: usize, local: &Local) -> bool {
        !local.has_failed && self.threads[thread].is_end(local.at)
    }

    fn note(&self, state: &State<Local>, depth: usize, is_stuck: bool, found: &mut Found) {
        let is_done = |(thread, local): (usize, &Local)| self.is_done(thread, local);
        let all_done = state.locals.iter().enumerate().all(is_done);
        let is_final = state.is_drained() && all_done;
        for (at, property) in self.program.properties.iter().enumerate() {
            let holds = |condition: &Condition| self.observe(state, condition) != 0;
            let is_shown = match property {
                Property::Forbid(condition) => state.is_drained() && holds(condition),
                Property::Deadlock => is_stuck && !all_done,
                Property::Exists(condition) => is_final && holds(condition),
                Property::Always(condition) => is_final && !holds(condition),
            };
            if is_shown {
                found.properties.entry(at).or_insert(depth);
            }
        }
        for (thread, _) in state.locals.iter().enumerate().filter(|(_, local)| local.has_failed) {
            found.assertions.entry(thread).or_insert(depth);
        }
        if is_final {
            let registers = |(code, local): (&Code, &Local)| {
                code.registers.iter().map(|(name, &at)| (name.clone(), local.registers[at])).collect()
            };
            let registers = self.threads.iter().zip(&state.locals).map(registers).collect();
            found.final_states.insert((state.memory.clone(), registers));
        }
    }

    /// The threads of a family, or one of them.
    fn family(&self, name: &str, number: Option<usize>) -> Vec<usize> {
        let is_meant = |thread: &usize| {
            let (family, at) = &self.names[*thread];
            family == name && number.is_none_or(|number| number == *at)
        };
        (0..self.threads.len()).filter(is_meant).collect()
    }

    fn is_at(&self, state: &State<Local>, thread: usize, label: Option<&String>) -> bool {
        let (code, local) = (&self.threads[thread], &state.locals[thread]);
        if local.has_failed {
            return false;
        }
        match label {
            None => code.is_end(local.at),
            Some(label) => {
                let places = code.labels.get(label).map_or(&[][..], Vec::as_slice);
                places.iter().any(|&mark| code.place(code.marks[mark]) == local.at)
            }
        }
    }

    fn observe(&self, state: &State<Local>, condition: &Condition) -> Value {
        match condition {
            Condition::Number(value) => *value,
            Condition::Constant(name) => constant(self.program, name),
            Condition::Cell(name, index) => state.cell(self, self.program.address(name) + index.unwrap_or(0)),
            Condition::Memory(address) => state.cell(self, *address),
            Condition::Address(name) => self.program.address(name),
            Condition::Register(name, number, register) => {
                let thread = self.family(name, *number)[0];
                state.locals[thread].registers[self.threads[thread].registers[register]]
            }
            Condition::At(name, number, label) => {
                let mut threads = self.family(name, *number).into_iter();
                Value::from(threads.any(|thread| self.is_at(state, thread, label.as_ref())))
            }
            Condition::Count(name, label) => {
                let threads = self.family(name, None).into_iter();
                threads.filter(|&thread| self.is_at(state, thread, label.as_ref())).count() as Value
            }
            Condition::Unary(op, inner) => unary(op, self.observe(state, inner)),
            Condition::Binary(op, left, right) => binary(op, self.observe(state, left), self.observe(state, right)),
        }
    }
}

fn modify<'a>(
    operation: &'static str,
    goal: Goal,
    mut local: Local,
    moved: impl FnOnce(Local) -> Local + 'a,
) -> Action<'a, Local> {
    let new = local.pop();
    let expected = if matches!(operation, "cas" | "cmpxchg") { Some(local.pop()) } else { None };
    let address = local.pop();
    Action::Modify(
        address,
        Box::new(move |held| {
            let written = match operation {
                "cas" | "cmpxchg" => (expected == Some(held)).then_some(new),
                "xchg" => Some(new),
                "fetch_add" => Some(binary("+", held, new)),
                "fetch_sub" => Some(binary("-", held, new)),
                "fetch_and" => Some(binary("&", held, new)),
                "fetch_or" => Some(binary("|", held, new)),
                "fetch_xor" => Some(binary("^", held, new)),
                _ => panic!("no operation {operation}"),
            };
            let result = if operation == "cas" { Value::from(written.is_some()) } else { held };
            local.put(goal, result);
            (written, moved(local))
        }),
    )
}

//! Memorax' semantics, from its manual: control structures make automata, whose instructions are executed one by one.

use std::collections::{BTreeMap, BTreeSet};

use weir_testkit::Model;

use super::{Cell, Combinations, Condition, Declared, Expr, Finals, Program, Statement, Value};

/// The combinations of labels and the final states that can be reached; nothing if there are more than `limit` states.
pub(super) fn reached(program: &Program, model: Model, limit: usize) -> Option<(Combinations, Finals)> {
    let automata = [0, 1].map(|number| Automaton::of(program, number));
    let machine = Machine { program, model, automata };
    let mut seen: BTreeSet<State> = machine.initial_states();
    let mut open: Vec<State> = seen.iter().cloned().collect();
    let (mut reached, mut finals) = (Combinations::new(), Finals::new());
    while let Some(state) = open.pop() {
        machine.labels(&state, &mut reached);
        if state.at == [END; 2] && state.buffers.iter().all(Vec::is_empty) {
            finals.insert((state.memory.clone(), state.registers.clone()));
        }
        for next in machine.successors(&state) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
        if seen.len() > limit {
            return None;
        }
    }
    Some((reached, finals))
}

/// The state behind the last statement.
const END: usize = 1;

/// The automaton of a process: transitions that carry one instruction each.
#[derive(Default)]
struct Automaton {
    transitions: Vec<(usize, Statement, usize)>,
    labels: BTreeMap<String, usize>,
    /// Transitions that lead to a label.
    gotos: Vec<(usize, String)>,
    states: usize,
}

impl Automaton {
    fn of(program: &Program, number: usize) -> Self {
        let mut automaton = Self { states: 2, ..Self::default() };
        automaton.sequence(program, &program.processes[number].text, 0, END, false);
        for (transition, label) in std::mem::take(&mut automaton.gotos) {
            automaton.transitions[transition].2 = automaton.labels[&label];
        }
        automaton
    }

    fn state(&mut self) -> usize {
        self.states += 1;
        self.states - 1
    }

    fn sequence(&mut self, program: &Program, statements: &[Statement], from: usize, to: usize, is_choice: bool) {
        let mut here = from;
        for (nth, statement) in statements.iter().enumerate() {
            let next = if nth + 1 == statements.len() { to } else { self.state() };
            self.statement(program, statement, here, next, is_choice && nth == 0);
            here = next;
        }
    }

    fn statement(&mut self, program: &Program, statement: &Statement, mut from: usize, to: usize, is_choice: bool) {
        match statement {
            Statement::Labelled(label, inner) => {
                if is_choice {
                    // Memorax puts a `nop` before a label that begins a branch.
                    let labelled = self.state();
                    self.transitions.push((from, Statement::Nop, labelled));
                    from = labelled;
                }
                self.labels.insert(label.clone(), from);
                self.statement(program, inner, from, to, false);
            }
            Statement::Either(branches) => {
                branches.iter().for_each(|branch| self.sequence(program, branch, from, to, true));
            }
            Statement::Sequence(statements) => self.sequence(program, statements, from, to, is_choice),
            Statement::If(condition, then, otherwise) => {
                let chosen = self.state();
                self.transitions.push((from, Statement::Assume(condition.clone()), chosen));
                self.sequence(program, then, chosen, to, false);
                let rejected = if otherwise.is_some() { self.state() } else { to };
                self.transitions.push((from, opposite(condition), rejected));
                otherwise.iter().for_each(|branch| self.sequence(program, branch, rejected, to, false));
            }
            Statement::While(condition, body) => {
                if is_choice {
                    let head = self.state();
                    self.transitions.push((from, Statement::Nop, head));
                    from = head;
                }
                let inside = self.state();
                self.transitions.push((from, Statement::Assume(condition.clone()), inside));
                self.sequence(program, body, inside, from, false);
                self.transitions.push((from, opposite(condition), to));
            }
            Statement::Goto(label) => {
                self.gotos.push((self.transitions.len(), label.clone()));
                self.transitions.push((from, Statement::Nop, from));
            }
            instruction => self.instruction(program, instruction, from, to),
        }
    }

    /// A pointer is sugar for a choice of all global locations.
    fn instruction(&mut self, program: &Program, instruction: &Statement, from: usize, to: usize) {
        let Some(pointer) = pointer_of(instruction) else {
            self.transitions.push((from, without_sugar(instruction), to));
            return;
        };
        for number in 0..program.globals.len() {
            let points = self.state();
            let is_this = Condition::Compare("=", pointer.clone(), Expr::Number(number as Value));
            self.transitions.push((from, Statement::Assume(is_this), points));
            self.transitions.push((points, without_sugar(&to_cell(instruction, number)), to));
        }
    }
}

fn opposite(condition: &Condition) -> Statement {
    Statement::Assume(Condition::Not(Box::new(condition.clone())))
}

fn pointer_of(statement: &Statement) -> Option<&Expr> {
    match statement {
        Statement::ReadInto(_, Cell::Pointer(pointer))
        | Statement::ReadEqual(Cell::Pointer(pointer), _)
        | Statement::Write(Cell::Pointer(pointer), _)
        | Statement::LockedWrite(Cell::Pointer(pointer), _)
        | Statement::CompareAndSwap(Cell::Pointer(pointer), ..) => Some(pointer),
        _ => None,
    }
}

fn to_cell(statement: &Statement, number: usize) -> Statement {
    let mut statement = statement.clone();
    match &mut statement {
        Statement::ReadInto(_, cell)
        | Statement::ReadEqual(cell, _)
        | Statement::Write(cell, _)
        | Statement::LockedWrite(cell, _)
        | Statement::CompareAndSwap(cell, ..) => *cell = Cell::Global(number),
        _ => {}
    }
    statement
}

/// Locked writes and compare-and-swaps are locked blocks.
fn without_sugar(statement: &Statement) -> Statement {
    match statement {
        Statement::LockedWrite(cell, value) => {
            Statement::Locked(vec![vec![Statement::Write(cell.clone(), value.clone())]])
        }
        Statement::CompareAndSwap(cell, old, new) => {
            let (read, write) =
                (Statement::ReadEqual(cell.clone(), old.clone()), Statement::Write(cell.clone(), new.clone()));
            Statement::Locked(vec![vec![read, write]])
        }
        other => other.clone(),
    }
}

/// Locations: global ones, then those of the processes.
type Place = usize;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct State {
    memory: Vec<Value>,
    registers: [Vec<Value>; 2],
    at: [usize; 2],
    /// The oldest first.
    buffers: [Vec<(Place, Value)>; 2],
}

struct Machine<'p> {
    program: &'p Program,
    model: Model,
    automata: [Automaton; 2],
}

impl Machine<'_> {
    fn domains(&self) -> Vec<Declared> {
        let [first, second] = &self.program.processes;
        self.program.globals.iter().copied().chain([first.local, second.local]).collect()
    }

    fn initial_states(&self) -> BTreeSet<State> {
        let [first, second] = &self.program.processes;
        let memory = all_starts(&self.domains());
        let (firsts, seconds) = (all_starts(&first.registers), all_starts(&second.registers));
        let mut states = BTreeSet::new();
        for memory in &memory {
            for first in &firsts {
                for second in &seconds {
                    let registers = [first.clone(), second.clone()];
                    states.insert(State { memory: memory.clone(), registers, at: [0, 0], buffers: [vec![], vec![]] });
                }
            }
        }
        states
    }

    fn labels(&self, state: &State, reached: &mut Combinations) {
        for (first, _) in self.automata[0].labels.iter().filter(|(_, at)| **at == state.at[0]) {
            for (second, _) in self.automata[1].labels.iter().filter(|(_, at)| **at == state.at[1]) {
                reached.insert((first.clone(), second.clone()));
            }
        }
    }

    fn successors(&self, state: &State) -> Vec<State> {
        let mut successors = Vec::new();
        for process in 0..2 {
            if !state.buffers[process].is_empty() {
                successors.push(updated(state.clone(), process));
            }
            let transitions = self.automata[process].transitions.iter();
            for (_, instruction, to) in transitions.filter(|(from, ..)| *from == state.at[process]) {
                for mut next in self.execute(state, process, instruction) {
                    next.at[process] = *to;
                    successors.push(next);
                }
            }
        }
        successors
    }

    /// The states that an instruction leads to: none if it blocks.
    fn execute(&self, state: &State, process: usize, instruction: &Statement) -> Vec<State> {
        let value = |expr: &Expr| eval(expr, &state.registers[process]);
        let only_if = |holds: bool| if holds { vec![state.clone()] } else { vec![] };
        match instruction {
            Statement::Nop => only_if(true),
            Statement::Fence => only_if(state.buffers[process].is_empty()),
            Statement::Assume(condition) => only_if(holds(condition, &state.registers[process])),
            Statement::ReadEqual(cell, expected) => only_if(self.read(state, process, cell) == value(expected)),
            Statement::Assign(register, expr) => self.set(state, process, *register, value(expr)),
            Statement::ReadInto(register, cell) => self.set(state, process, *register, self.read(state, process, cell)),
            Statement::Write(cell, expr) => {
                let (place, value) = (self.place(process, cell), value(expr));
                let (_, low, high) = self.domains()[place];
                if !(low..=high).contains(&value) {
                    return vec![];
                }
                let mut next = state.clone();
                next.buffers[process].push((place, value));
                if self.model == Model::Sc { vec![updated(next, process)] } else { vec![next] }
            }
            Statement::Locked(blocks) => {
                if contains_write(instruction) && !state.buffers[process].is_empty() {
                    return vec![];
                }
                blocks.iter().flat_map(|block| self.execute_locked(state, process, block)).collect()
            }
            // In a locked block.
            Statement::CompareAndSwap(..) | Statement::LockedWrite(..) => {
                self.execute(state, process, &without_sugar(instruction))
            }
            other => panic!("{other:?} is no instruction"),
        }
    }

    /// Executes a sequence in one go; writes reach memory at once.
    fn execute_locked(&self, state: &State, process: usize, block: &[Statement]) -> Vec<State> {
        let mut states = vec![state.clone()];
        for instruction in block {
            let after = states.iter().flat_map(|state| self.execute(state, process, instruction));
            let is_write = matches!(instruction, Statement::Write(..)) && self.model == Model::Tso;
            states = after.map(|state| if is_write { updated(state, process) } else { state }).collect();
        }
        states
    }

    fn set(&self, state: &State, process: usize, register: usize, value: Value) -> Vec<State> {
        let (_, low, high) = self.program.processes[process].registers[register];
        if !(low..=high).contains(&value) {
            return vec![];
        }
        let mut next = state.clone();
        next.registers[process][register] = value;
        vec![next]
    }

    fn place(&self, process: usize, cell: &Cell) -> Place {
        match cell {
            Cell::Global(number) => *number,
            Cell::Own => self.program.globals.len() + process,
            Cell::Other => self.program.globals.len() + (1 - process),
            Cell::Pointer(Expr::Number(number)) => *number as usize,
            Cell::Pointer(_) => panic!("pointers are resolved"),
        }
    }

    fn read(&self, state: &State, process: usize, cell: &Cell) -> Value {
        let place = self.place(process, cell);
        let newest = state.buffers[process].iter().rev().find(|(written, _)| *written == place);
        newest.map_or(state.memory[place], |(_, value)| *value)
    }
}

/// All combinations of first values.
fn all_starts(declared: &[Declared]) -> Vec<Vec<Value>> {
    let mut starts = vec![vec![]];
    for &(initial, low, high) in declared {
        let values: Vec<Value> = initial.map_or_else(|| (low..=high).collect(), |value| vec![value]);
        let longer =
            |start: &Vec<Value>| values.iter().map(|&value| [start.as_slice(), &[value]].concat()).collect::<Vec<_>>();
        starts = starts.iter().flat_map(longer).collect();
    }
    starts
}

/// The oldest store of a process reaches memory.
fn updated(mut state: State, process: usize) -> State {
    let (place, value) = state.buffers[process].remove(0);
    state.memory[place] = value;
    state
}

fn contains_write(statement: &Statement) -> bool {
    match statement {
        Statement::Write(..) | Statement::CompareAndSwap(..) | Statement::LockedWrite(..) => true,
        Statement::Locked(blocks) => blocks.iter().flatten().any(contains_write),
        _ => false,
    }
}

fn eval(expr: &Expr, registers: &[Value]) -> Value {
    match expr {
        Expr::Register(number) => registers[*number],
        Expr::Number(value) => *value,
        Expr::Negated(inner) => -eval(inner, registers),
        Expr::Sum(left, right) => eval(left, registers) + eval(right, registers),
        Expr::Difference(left, right) => eval(left, registers) - eval(right, registers),
    }
}

fn holds(condition: &Condition, registers: &[Value]) -> bool {
    let part = |condition: &Condition| holds(condition, registers);
    match condition {
        Condition::Constant(holds) => *holds,
        Condition::Not(inner) => !part(inner),
        Condition::And(left, right) => part(left) && part(right),
        Condition::Or(left, right) => part(left) || part(right),
        Condition::Compare(op, left, right) => {
            let (left, right) = (eval(left, registers), eval(right, registers));
            match *op {
                "=" => left == right,
                "!=" => left != right,
                "<" => left < right,
                ">" => left > right,
                "<=" => left <= right,
                _ => left >= right,
            }
        }
    }
}

//! Memorax' semantics, from its manual: control structures make automata, whose instructions are executed one by one.

use std::collections::{BTreeMap, BTreeSet};

use weir_testkit::Model;

use super::{Cell, Combinations, Condition, Declared, Expr, Program, Statement, Value};

/// States that are visited at most.
const LIMIT: usize = 30_000;

/// The combinations of labels that can be reached; nothing if there are too many states.
pub(super) fn reached(program: &Program, model: Model) -> Option<Combinations> {
    let automata = [0, 1].map(|number| Automaton::of(program, number));
    let machine = Machine { program, model, automata };
    let mut seen: BTreeSet<State> = machine.initial_states();
    let mut open: Vec<State> = seen.iter().cloned().collect();
    let mut reached = Combinations::new();
    while let Some(state) = open.pop() {
        machine.labels(&state, &mut reached);
        for next in machine.successors(&state) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
        if seen.len() > LIMIT {
            return None;
        }
    }
    Some(reached)
}

/// The automaton of a process: transitions that carry one instruction each.
#[derive(Default)]
struct Automaton {
    transitions: Vec<(usize, Statement, usize)>,
    labels: BTreeMap<String, usize>,
    states: usize,
}

impl Automaton {
    fn of(program: &Program, number: usize) -> Self {
        let mut automaton = Self { states: 2, ..Self::default() };
        automaton.sequence(program, &program.processes[number].text, 0, 1, false);
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
            Statement::If((op, left, right), then, otherwise) => {
                let opposite = [("=", "!="), ("!=", "="), ("<", ">="), (">=", "<")].iter().find(|(this, _)| this == op);
                for (op, branch) in [(*op, then), (opposite.unwrap().1, otherwise)] {
                    let chosen = self.state();
                    self.transitions.push((from, Statement::Assume((op, left.clone(), right.clone())), chosen));
                    self.sequence(program, branch, chosen, to, false);
                }
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
            let is_this = ("=", pointer.clone(), Expr::Number(number as Value));
            self.transitions.push((from, Statement::Assume(is_this), points));
            self.transitions.push((points, without_sugar(&to_cell(instruction, number)), to));
        }
    }
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
        let values: Vec<Value> = initial.map_or((low..=high).collect(), |value| vec![value]);
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
        Statement::Write(..) => true,
        Statement::Locked(blocks) => blocks.iter().flatten().any(contains_write),
        _ => false,
    }
}

fn eval(expr: &Expr, registers: &[Value]) -> Value {
    match expr {
        Expr::Register(number) => registers[*number],
        Expr::Number(value) => *value,
        Expr::Sum(left, right) => eval(left, registers) + eval(right, registers),
        Expr::Difference(left, right) => eval(left, registers) - eval(right, registers),
    }
}

fn holds((op, left, right): &Condition, registers: &[Value]) -> bool {
    let (left, right) = (eval(left, registers), eval(right, registers));
    match *op {
        "=" => left == right,
        "!=" => left != right,
        "<" => left < right,
        _ => left >= right,
    }
}

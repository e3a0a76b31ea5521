//! Local state graphs: all states of each thread on its own, with all values that its loads might yield.
//!
//! The values of a cell are computed along the way: its initial value, and whatever some thread stores there in one of
//! the states found so far. This over-approximates (it ignores where the other threads are) under any memory model.

use std::collections::HashMap;

use rustc_hash::FxHashMap;
use weir_ir::flow::{Liveness, RegisterSet, live_registers, observed_registers};
use weir_ir::{Address, Body, EdgeId, Instruction, LocId, Program, RegExpr, RegId, Rmw, ThreadId, Value};

use crate::bounds::Bound;
use crate::session::Session;
use crate::translate::instantiate::templates;
use crate::verdict::Limit;

/// After so many moves the limits are looked at.
const A_CHECK: u32 = 512;

/// A cell, by number.
pub(super) type Cell = u16;

/// A value of a cell, by number.
pub(super) type Val = u16;

/// What a step of a thread does to memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Label {
    /// Nothing.
    Silent,
    /// Finds this value in the cell.
    Load(Cell, Val),
    /// Finds these values in several cells at once: a number of [`Cells::snapshots`].
    Snapshot(u16),
    Store(Cell, Val),
    Fence,
    /// Needs the buffers of all threads empty.
    Membarrier,
    /// Finds the first value and leaves the second, in one step.
    Rmw(Cell, Val, Val),
    Lock,
    Unlock,
}

/// A state of one thread by itself. Registers that are not read any more are 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Local {
    pub(super) location: LocId,
    pub(super) registers: Box<[Value]>,
    /// Whether it holds the global lock.
    pub(super) holds: bool,
}

/// A step from one state of a thread to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Move {
    pub(super) label: Label,
    pub(super) to: u32,
    pub(super) edge: EdgeId,
    pub(super) choice: Value,
}

/// All states of threads with the same body; the first is where they start.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) states: Vec<Local>,
    pub(super) moves: Vec<Vec<Move>>,
    /// For each location the registers that may be read again.
    pub(super) live: Vec<RegisterSet>,
    numbers: HashMap<Local, u32, rustc_hash::FxBuildHasher>,
}

/// The cells that threads touch, and the values that they may hold.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) addresses: Vec<Address>,
    /// For each cell the values, the initial one first.
    pub(super) values: Vec<Vec<Value>>,
    /// What loads of several cells may find, each cell once, in order.
    pub(super) snapshots: Vec<Vec<(Cell, Val)>>,
    numbers: FxHashMap<Address, Cell>,
}

impl Graph {
    /// The number of a state.
    pub(super) fn number(&self, local: &Local) -> Option<u32> {
        self.numbers.get(local).copied()
    }
}

impl Cells {
    /// The number of the cell at this address, if some thread touches it.
    pub(super) fn number(&self, address: Address) -> Option<Cell> {
        self.numbers.get(&address).copied()
    }
}

/// The local state graphs of a program.
#[derive(Debug)]
pub(super) struct LocalGraphs {
    /// The threads of which there is one each.
    pub(super) threads: Vec<ThreadId>,
    /// For each thread, which graph is its own.
    pub(super) group_of: Vec<usize>,
    /// The threads of which there are arbitrarily many, and which graph is their own.
    pub(super) templates: Vec<(ThreadId, usize)>,
    pub(super) graphs: Vec<Graph>,
    pub(super) cells: Cells,
}

impl LocalGraphs {
    /// The graph of the thread at this position.
    pub(super) fn of(&self, thread: usize) -> &Graph {
        &self.graphs[self.group_of[thread]]
    }

    /// The same, to be changed.
    pub(super) fn of_mut(&mut self, thread: usize) -> &mut Graph {
        &mut self.graphs[self.group_of[thread]]
    }
}

/// Why no finite graph was built.
#[derive(Debug)]
pub(super) enum GraphError {
    Limit(Limit),
    /// The cell at this address takes too many values.
    Cell(Address),
    /// There are too many cells.
    Cells,
    /// The thread has too many states.
    Thread(ThreadId),
}

/// What to do with threads that have the same body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Symmetry {
    /// Symmetric threads share one graph: configurations are the same up to the order of these threads.
    Reduce,
    /// Each thread has its own graph.
    Ignore,
}

/// Builds the local state graphs of all threads.
pub(super) fn build(program: &Program, symmetry: Symmetry, session: &Session) -> Result<LocalGraphs, GraphError> {
    let threads: Vec<ThreadId> = program.running_threads().collect();
    let mut models: Vec<ThreadId> = Vec::new();
    let mut group_of = Vec::new();
    let mut observed: Vec<RegisterSet> = Vec::new();
    for &thread in &threads {
        let seen = observed_registers(program, thread);
        let is_symmetric = |&model: &ThreadId| program.body(model).does_the_same(program.body(thread));
        let known = models.iter().position(|model| symmetry == Symmetry::Reduce && is_symmetric(model));
        let group = known.unwrap_or_else(|| {
            models.push(thread);
            observed.push(RegisterSet::new());
            models.len() - 1
        });
        observed[group].union_with(&seen);
        group_of.push(group);
    }
    let mut template_graphs = Vec::new();
    for thread in templates(program) {
        template_graphs.push((thread, models.len()));
        models.push(thread);
        observed.push(observed_registers(program, thread));
    }
    let bodies = models.iter().zip(&observed).map(|(&thread, observed)| {
        let body = program.body(thread);
        Model { body, live: live_registers(body, observed), thread }
    });
    let mut builder = GraphBuilder {
        program,
        models: bodies.collect(),
        graphs: Vec::new(),
        cells: Cells::default(),
        readers: Vec::new(),
        snapshot_numbers: FxHashMap::default(),
        open: Vec::new(),
        states: 0,
        moves: 0,
        session,
    };
    builder.graphs = builder.models.iter().map(Model::graph).collect();
    builder.run()?;
    let (graphs, cells) = (builder.graphs, builder.cells);
    Ok(LocalGraphs { threads, group_of, templates: template_graphs, graphs, cells })
}

struct Model<'a> {
    body: &'a Body,
    live: Liveness,
    thread: ThreadId,
}

impl Model<'_> {
    fn graph(&self) -> Graph {
        let live = self.body.location_ids().map(|location| self.live.at(location).clone()).collect();
        Graph { live, ..Graph::default() }
    }
}

/// Something that depends on the values of a cell.
#[derive(Clone, Copy)]
struct Reader {
    group: usize,
    state: u32,
    edge: EdgeId,
}

struct GraphBuilder<'a> {
    program: &'a Program,
    models: Vec<Model<'a>>,
    graphs: Vec<Graph>,
    cells: Cells,
    /// For each cell, who loads it.
    readers: Vec<Vec<Reader>>,
    /// The number of each of [`Cells::snapshots`].
    snapshot_numbers: FxHashMap<Vec<(Cell, Val)>, usize>,
    /// States whose moves are not known yet.
    open: Vec<(usize, u32)>,
    states: usize,
    moves: u32,
    session: &'a Session,
}

impl GraphBuilder<'_> {
    fn run(&mut self) -> Result<(), GraphError> {
        for group in 0..self.models.len() {
            let body = self.models[group].body;
            let registers = vec![0; body.registers.len()];
            self.state(group, body.entry, registers, false)?;
        }
        while let Some((group, state)) = self.open.pop() {
            let location = self.graphs[group].states[state as usize].location;
            let body = self.models[group].body;
            for (id, edge) in body.edges_from(location) {
                self.follow(group, state, id, &edge.instruction)?;
            }
        }
        for graph in &mut self.graphs {
            for moves in &mut graph.moves {
                moves.sort_unstable();
                moves.dedup();
            }
        }
        Ok(())
    }

    /// The number of a state, which may be new.
    fn state(
        &mut self,
        group: usize,
        location: LocId,
        mut registers: Vec<Value>,
        holds: bool,
    ) -> Result<u32, GraphError> {
        let live = self.models[group].live.at(location);
        for (number, value) in registers.iter_mut().enumerate() {
            if !live.contains(RegId::new(number)) {
                *value = 0;
            }
        }
        let local = Local { location, registers: registers.into(), holds };
        let graph = &mut self.graphs[group];
        if let Some(&known) = graph.numbers.get(&local) {
            return Ok(known);
        }
        self.states += 1;
        if self.states > self.session.size_bound(Bound::DualLocalStates) {
            return Err(GraphError::Thread(self.models[group].thread));
        }
        let number = graph.states.len() as u32;
        graph.numbers.insert(local.clone(), number);
        graph.states.push(local);
        graph.moves.push(Vec::new());
        self.open.push((group, number));
        Ok(number)
    }

    fn cell(&mut self, address: Address) -> Result<Cell, GraphError> {
        let next = self.cells.addresses.len() as Cell;
        if usize::from(next) >= self.session.size_bound(Bound::DualCells) {
            return Err(GraphError::Cells);
        }
        let known = *self.cells.numbers.entry(address).or_insert(next);
        if known == next {
            self.cells.addresses.push(address);
            self.cells.values.push(vec![self.program.initial_value(address)]);
            self.readers.push(Vec::new());
        }
        Ok(known)
    }

    /// The number of a value that is stored to a cell. Threads that load the cell are notified of new ones.
    fn value(&mut self, cell: Cell, value: Value) -> Result<Val, GraphError> {
        let values = &mut self.cells.values[usize::from(cell)];
        if let Some(known) = values.iter().position(|&known| known == value) {
            return Ok(known as Val);
        }
        // More values most likely mean that the cell counts without end.
        if values.len() >= self.session.size_bound(Bound::DualValues) {
            return Err(GraphError::Cell(self.cells.addresses[usize::from(cell)]));
        }
        values.push(value);
        let number = (values.len() - 1) as Val;
        for reader in self.readers[usize::from(cell)].clone() {
            self.read(reader, cell, number)?;
        }
        Ok(number)
    }

    fn eval(&self, group: usize, state: u32, expr: &RegExpr) -> Value {
        let registers = &self.graphs[group].states[state as usize].registers;
        expr.eval(&mut |register| registers[register.index()])
    }

    /// Adds the moves of a state along an edge.
    fn follow(&mut self, group: usize, state: u32, edge: EdgeId, instruction: &Instruction) -> Result<(), GraphError> {
        let body = self.models[group].body;
        let holds = self.graphs[group].states[state as usize].holds;
        let to = body.edge(edge).to;
        let at = Reader { group, state, edge };
        match instruction {
            Instruction::Load { address, .. } | Instruction::ReadModifyWrite { address, .. } => {
                let cell = self.cell(self.eval(group, state, address))?;
                self.readers[usize::from(cell)].push(at);
                for value in 0..self.cells.values[usize::from(cell)].len() {
                    self.read(at, cell, value as Val)?;
                }
                Ok(())
            }
            Instruction::Snapshot(loads) | Instruction::Await { loads, .. } => {
                let cells = self.cells_of(group, state, loads)?;
                for cell in cells {
                    self.readers[usize::from(cell)].push(at);
                }
                self.snapshot(at, loads, None)
            }
            Instruction::Store { address, value } => {
                let (address, value) = (self.eval(group, state, address), self.eval(group, state, value));
                if !self.program.admits(address, value) {
                    return Ok(());
                }
                let cell = self.cell(address)?;
                let value = self.value(cell, self.program.stored(address, value))?;
                self.go(at, Label::Store(cell, value), to, None, holds, 0)
            }
            Instruction::Fence => self.go(at, Label::Fence, to, None, holds, 0),
            Instruction::Membarrier => self.go(at, Label::Membarrier, to, None, holds, 0),
            Instruction::Assign { register, value } => {
                let value = self.eval(group, state, value);
                self.go(at, Label::Silent, to, Some((*register, value)), holds, 0)
            }
            Instruction::Assume(condition) => {
                if self.eval(group, state, condition) == 0 {
                    return Ok(());
                }
                self.go(at, Label::Silent, to, None, holds, 0)
            }
            Instruction::Assert(condition) => {
                let holds_true = self.eval(group, state, condition) != 0;
                let to = if holds_true { to } else { body.failed.unwrap_or(to) };
                self.go(at, Label::Silent, to, None, holds, 0)
            }
            Instruction::Lock if holds => Ok(()),
            Instruction::Lock => self.go(at, Label::Lock, to, None, true, 0),
            Instruction::Unlock if !holds => Ok(()),
            Instruction::Unlock => self.go(at, Label::Unlock, to, None, false, 0),
            Instruction::Havoc { register, range } => {
                // All choices are the same if nobody looks at the value.
                let is_seen = self.models[group].live.at(to).contains(*register);
                let high = if is_seen { range.high } else { range.low };
                for value in range.low..=high {
                    self.go(at, Label::Silent, to, Some((*register, value)), holds, value)?;
                }
                Ok(())
            }
            Instruction::Skip | Instruction::Terminate => self.go(at, Label::Silent, to, None, holds, 0),
            // Refused before.
            Instruction::Call { .. } | Instruction::Return(_) | Instruction::Spawn(_) => Ok(()),
        }
    }

    /// Adds the move of a load or read-modify-write that finds this value.
    fn read(&mut self, at: Reader, cell: Cell, found: Val) -> Result<(), GraphError> {
        let Reader { group, state, edge } = at;
        let body = self.models[group].body;
        let holds = self.graphs[group].states[state as usize].holds;
        let old = self.cells.values[usize::from(cell)][usize::from(found)];
        let step = body.edge(edge);
        let (register, label) = match &step.instruction {
            Instruction::Snapshot(loads) | Instruction::Await { loads, .. } => {
                return self.snapshot(at, loads, Some((cell, found)));
            }
            Instruction::Load { register, .. } => (Some((*register, old)), Label::Load(cell, found)),
            Instruction::ReadModifyWrite { register, operation, .. } => {
                let (new, result) = self.modify(group, state, operation, old);
                if !new.is_none_or(|new| self.program.admits(self.cells.addresses[usize::from(cell)], new)) {
                    return Ok(());
                }
                let address = self.cells.addresses[usize::from(cell)];
                let new = new.map(|new| self.program.stored(address, new));
                let left = new.map_or(Ok(found), |new| self.value(cell, new))?;
                (register.map(|register| (register, result)), Label::Rmw(cell, found, left))
            }
            _ => return Ok(()),
        };
        self.go(at, label, step.to, register, holds, 0)
    }

    /// The cells that are loaded, each once.
    fn cells_of(&mut self, group: usize, state: u32, loads: &[(RegId, RegExpr)]) -> Result<Vec<Cell>, GraphError> {
        let mut cells = Vec::new();
        for (_, address) in loads {
            cells.push(self.cell(self.eval(group, state, address))?);
        }
        cells.sort_unstable();
        cells.dedup();
        Ok(cells)
    }

    /// Adds the moves of several loads at once, for all values that the cells may hold by now; of an await, for those
    /// with which its condition holds. If a cell has just got a new value, the moves with the others are there already.
    fn snapshot(&mut self, at: Reader, loads: &[(RegId, RegExpr)], new: Option<(Cell, Val)>) -> Result<(), GraphError> {
        let Reader { group, state, edge } = at;
        let holds = self.graphs[group].states[state as usize].holds;
        let cells = self.cells_of(group, state, loads)?;
        for found in self.combinations(&cells, new).ok_or(GraphError::Thread(self.models[group].thread))? {
            self.count_move()?;
            let mut registers = Vec::new();
            for (register, address) in loads {
                let cell = self.cell(self.eval(group, state, address))?;
                let value = found.iter().find(|(other, _)| *other == cell).map_or(0, |&(_, value)| value);
                registers.push((*register, self.cells.values[usize::from(cell)][usize::from(value)]));
            }
            if !self.goes_on(at, &registers) {
                continue;
            }
            let label = self.snapshot_label(found).ok_or(GraphError::Thread(self.models[group].thread))?;
            let to = self.models[group].body.edge(edge).to;
            self.go(at, label, to, registers, holds, 0)?;
        }
        Ok(())
    }

    /// What these cells can hold together by now: all of it, or only what has the new value. None if it is too much.
    fn combinations(&self, cells: &[Cell], new: Option<(Cell, Val)>) -> Option<Vec<Vec<(Cell, Val)>>> {
        let count = |cell: &Cell| self.cells.values[usize::from(*cell)].len();
        let all = cells.iter().try_fold(1_usize, |all, cell| all.checked_mul(count(cell)))?;
        // The values of one cell have a bound of their own.
        if cells.len() > 1 && all > self.session.size_bound(Bound::DualCombinations) {
            return None;
        }
        let mut combinations: Vec<Vec<(Cell, Val)>> = vec![Vec::new()];
        for &cell in cells {
            let values = match new {
                Some((other, value)) if other == cell => value..value + 1,
                _ => 0..count(&cell) as Val,
            };
            let longer = |known: &Vec<(Cell, Val)>| {
                let known = known.clone();
                values.clone().map(move |value| [known.as_slice(), &[(cell, value)]].concat())
            };
            combinations = combinations.iter().flat_map(longer).collect();
        }
        Some(combinations)
    }

    /// Whether the condition of an await holds once these registers are loaded; true of any other instruction.
    fn goes_on(&self, at: Reader, loaded: &[(RegId, Value)]) -> bool {
        let instruction = &self.models[at.group].body.edge(at.edge).instruction;
        let Instruction::Await { condition, .. } = instruction else { return true };
        let kept = &self.graphs[at.group].states[at.state as usize].registers;
        let value = |register: RegId| {
            let found = loaded.iter().find(|(other, _)| *other == register).map(|(_, value)| *value);
            found.unwrap_or(kept[register.index()])
        };
        condition.eval(&mut |&register| value(register)) != 0
    }

    /// None if there are no numbers left.
    fn snapshot_label(&mut self, found: Vec<(Cell, Val)>) -> Option<Label> {
        if let [(cell, value)] = found[..] {
            return Some(Label::Load(cell, value));
        }
        let known = &mut self.cells.snapshots;
        let number = *self.snapshot_numbers.entry(found).or_insert_with_key(|found| {
            known.push(found.clone());
            known.len() - 1
        });
        u16::try_from(number).ok().map(Label::Snapshot)
    }

    fn modify(&self, group: usize, state: u32, operation: &Rmw, old: Value) -> (Option<Value>, Value) {
        let eval = |expr| self.eval(group, state, expr);
        match operation {
            Rmw::CompareAndSwap { expected, new } => {
                let equal = old == eval(expected);
                (equal.then(|| eval(new)), Value::from(equal))
            }
            Rmw::CompareExchange { expected, new } => ((old == eval(expected)).then(|| eval(new)), old),
            Rmw::Exchange(new) => (Some(eval(new)), old),
            Rmw::Fetch(combine, value) => (Some(combine.operator().apply(old, eval(value))), old),
        }
    }

    /// Counts a move that was tried, and checks limits now and then.
    fn count_move(&mut self) -> Result<(), GraphError> {
        self.moves += 1;
        if self.moves.is_multiple_of(A_CHECK)
            && let Some(limit) = self.session.exceeded()
        {
            return Err(GraphError::Limit(limit));
        }
        Ok(())
    }

    fn go(
        &mut self,
        from: Reader,
        label: Label,
        location: LocId,
        set: impl IntoIterator<Item = (RegId, Value)>,
        holds: bool,
        choice: Value,
    ) -> Result<(), GraphError> {
        self.count_move()?;
        let mut registers = self.graphs[from.group].states[from.state as usize].registers.to_vec();
        for (register, value) in set {
            registers[register.index()] = value;
        }
        let to = self.state(from.group, location, registers, holds)?;
        let moves = &mut self.graphs[from.group].moves[from.state as usize];
        moves.push(Move { label, to, edge: from.edge, choice });
        Ok(())
    }
}

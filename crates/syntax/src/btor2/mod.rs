//! A program as a transition system in BTOR2, the format of hardware model checkers (Niemetz, Preiner, Wolf, Biere:
//! BTOR2, BtorMC and Boolector 3.0, 2018), under sequential consistency.
//!
//! States are the places of threads, their registers, the cells and the holder of the lock, each as wide as its values
//! need. An input chooses the step; a step that is not enabled changes nothing. Each property is a `bad` state: for
//! `exists` that means that it is met. A step writes few states, so the file is linear in the program; cells with
//! computed addresses are arrays.
//!
//! All values have at most 64 bits and wrap as Weir's do, so nothing is refused for its values.

mod expressions;
mod nodes;
mod properties;
mod steps;

use weir_ir::flow::Ranges;
use weir_ir::{Diagnostic, EdgeId, Interrupt, Program, Range, RegId, ThreadId, Value};

use self::nodes::{Node, Nodes, width_of};
use crate::export::Export;
use crate::export::lines::{comment, edge_comment, title};
use crate::export::memory::{Form, Memory};
use crate::export::names::{Names, cleaned};
use crate::export::refusal::unsupported_parts;

/// The program in BTOR2, or what stands in the way.
///
/// # Errors
/// Everything that cannot be expressed, in order of the source.
pub fn print(program: &Program, interrupt: &dyn Interrupt) -> Result<Export, Vec<Diagnostic>> {
    let refused = unsupported_parts(program, "BTOR2");
    if !refused.is_empty() {
        return Err(refused);
    }
    let ranges = Ranges::of_until(program, interrupt);
    let memory = Memory::of(program, &ranges)?;
    let mut system = System::new(program, &ranges, &memory);
    system.steps()?;
    system.transitions();
    let warnings = system.properties();
    Ok(Export { text: system.nodes.into_text(), warnings })
}

/// A state of the system, and what steps change it to.
struct Variable {
    state: Node,
    sort: usize,
    /// Steps and new values.
    changes: Vec<(Node, Node)>,
}

/// A transition system under construction.
struct System<'p> {
    program: &'p Program,
    ranges: &'p Ranges,
    memory: &'p Memory,
    nodes: Nodes,
    /// By segment. A scalar is a bit vector, any other an array.
    cells: Vec<Variable>,
    /// By thread and register; none for threads that do not run.
    registers: Vec<Vec<Variable>>,
    places: Vec<Option<Variable>>,
    lock: Option<Variable>,
    /// The input that chooses the step.
    choice: Node,
    /// The input that chooses a value.
    any: Option<Node>,
    /// Steps that are possible, whichever values are chosen.
    enabled: Vec<Node>,
    /// Accesses outside of the cells that the file has.
    outside: Vec<Node>,
}

/// The bits that tell so many things apart.
fn bits_for(count: usize) -> u32 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

impl<'p> System<'p> {
    fn new(program: &'p Program, ranges: &'p Ranges, memory: &'p Memory) -> Self {
        let mut nodes = Nodes::default();
        nodes.comment(&format!("{}, as a transition system under sequential consistency.", title(program)));
        nodes.comment("Check it, for example, by: btormc -kmax 50 SYSTEM.btor2");
        nodes.comment("Every `bad` is a property; its comment says what it means if the state can be reached.");
        let edges: usize = program.running_threads().map(|thread| program.body(thread).edges().len()).sum();
        nodes.comment("The step that is taken, if it is enabled.");
        let width = bits_for(edges.max(1));
        let sort = nodes.bits(width);
        let choice = Node { id: nodes.line(&format!("input {sort} step")), width, is_truth: false };
        let mut system = Self {
            program,
            ranges,
            memory,
            nodes,
            cells: Vec::new(),
            registers: Vec::new(),
            places: Vec::new(),
            lock: None,
            choice,
            any: None,
            enabled: Vec::new(),
            outside: Vec::new(),
        };
        system.declare_any();
        system.declare_cells();
        system.declare_threads();
        system
    }

    /// The input for choices of values, wide enough for all of them.
    fn declare_any(&mut self) {
        let edges = self.program.running_threads().flat_map(|thread| self.program.body(thread).edges());
        let range = edges.filter_map(|edge| match edge.instruction {
            weir_ir::Instruction::Havoc { range, .. } => Some(range),
            _ => None,
        });
        if let Some(range) = range.reduce(Range::hull) {
            let width = width_of(range);
            let sort = self.nodes.bits(width);
            self.nodes.comment("The value of an `any`.");
            let id = self.nodes.line(&format!("input {sort} any"));
            self.any = Some(Node { id, width, is_truth: false });
        }
    }

    fn declare_cells(&mut self) {
        let mut names = Names::new([]);
        self.nodes.comment("Shared cells.");
        for segment in self.memory.segments() {
            let name = match &segment.shared[..] {
                &[only] if segment.form != Form::Mixed => cleaned(&self.program.shared[only].name),
                _ => cleaned(&format!("mem_{}", segment.first)),
            };
            let name = names.unused(&name);
            let width = width_of(segment.values);
            let initial = segment.initial(self.program);
            let variable = match segment.form {
                Form::Scalar => self.declare(&name, width, initial[0]),
                _ => self.declare_array(&name, bits_for(segment.len()), width, &initial),
            };
            self.cells.push(variable);
        }
    }

    fn declare(&mut self, name: &str, width: u32, initial: Value) -> Variable {
        let initial = self.nodes.constant(initial, width);
        let sort = self.nodes.bits(width);
        let id = self.nodes.line(&format!("state {sort} {name}"));
        self.nodes.line(&format!("init {sort} {id} {}", initial.id));
        Variable { state: Node { id, width, is_truth: false }, sort, changes: Vec::new() }
    }

    /// An array; where its cells start with different values, an array of zeros is filled with them.
    fn declare_array(&mut self, name: &str, index: u32, width: u32, initial: &[Value]) -> Variable {
        let sort = self.nodes.array(index, width);
        let first = initial.first().copied().unwrap_or(0);
        let start = self.nodes.constant(first, width);
        let mut filled = start.id;
        if initial.iter().any(|value| *value != first) {
            let base = self.nodes.line(&format!("state {sort} {name}.start"));
            self.nodes.line(&format!("init {sort} {base} {}", start.id));
            self.nodes.line(&format!("next {sort} {base} {base}"));
            filled = base;
            for (at, value) in initial.iter().enumerate().filter(|(_, value)| **value != first) {
                let at = self.nodes.constant(at as Value, index);
                let value = self.nodes.constant(*value, width);
                filled = self.nodes.line(&format!("write {sort} {filled} {} {}", at.id, value.id));
            }
        }
        let id = self.nodes.line(&format!("state {sort} {name}"));
        self.nodes.line(&format!("init {sort} {id} {filled}"));
        Variable { state: Node { id, width, is_truth: false }, sort, changes: Vec::new() }
    }

    fn declare_threads(&mut self) {
        for thread in self.program.thread_ids() {
            if !self.program.running_threads().any(|running| running == thread) {
                self.registers.push(Vec::new());
                self.places.push(None);
                continue;
            }
            let declared = self.program.thread(thread);
            self.nodes.comment(&format!("Thread {}: where it is, and its registers.", comment(&declared.name)));
            let owner = cleaned(&declared.name);
            let width = bits_for(declared.body.locations.len()) + 1;
            let place = self.declare(&format!("{owner}.at"), width, Value::from(declared.body.entry.0));
            self.places.push(Some(place));
            let registers = declared.body.registers.iter().enumerate();
            let own = registers.map(|(at, register)| {
                let range = self.ranges.register(thread, RegId::new(at)).hull(Range::single(0));
                self.declare(&format!("{owner}.{}", cleaned(&register.name)), width_of(range), 0)
            });
            let own = own.collect();
            self.registers.push(own);
        }
        if self.program.uses_lock() {
            self.nodes.comment("The global lock: 0 if it is free, else the number of its holder.");
            let width = bits_for(self.program.threads.len() + 1) + 1;
            let lock = self.declare("lock", width, 0);
            self.lock = Some(lock);
        }
    }

    /// All steps of all threads.
    fn steps(&mut self) -> Result<(), Vec<Diagnostic>> {
        let mut refused = Vec::new();
        let mut number = 0;
        let threads: Vec<ThreadId> = self.program.running_threads().collect();
        for thread in threads {
            let program = self.program;
            let body = program.body(thread);
            for (at, edge) in body.edges().iter().enumerate() {
                let id = EdgeId::new(at);
                if self.ranges.can_take(thread, id) {
                    let owner = comment(&program.thread(thread).name);
                    self.nodes.comment(&format!("Step {number}: {owner}, {}", edge_comment(program, body, edge)));
                    if let Err(refusal) = self.step(thread, id, edge, number) {
                        refused.push(refusal.at(edge.span));
                    }
                }
                number += 1;
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// What becomes of every state.
    fn transitions(&mut self) {
        self.nodes.comment("The next state.");
        let Self { nodes, cells, registers, places, lock, .. } = self;
        let threads = registers.iter().flatten().chain(places.iter().flatten());
        for variable in cells.iter().chain(threads).chain(lock.as_ref()) {
            let mut next = variable.state.id;
            for (taken, value) in &variable.changes {
                next = nodes.line(&format!("ite {} {} {} {next}", variable.sort, taken.id, value.id));
            }
            nodes.line(&format!("next {} {} {next}", variable.sort, variable.state.id));
        }
    }
}

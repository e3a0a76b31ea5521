//! A program as a Promela model, for the model checker SPIN, under sequential consistency.
//!
//! One process per thread; every step of the program is one statement or one `d_step`, so that the model has the same
//! states as the program under SC (plus the start of the processes). A monitor process asserts the properties: it can
//! look at any state, since it can move whenever a forbidden condition holds. What properties observe (places,
//! registers) is global; of places, only what properties tell apart, so that steps between others stay local and SPIN's
//! partial order reduction can use that. A deadlock is a state in which only `timeout` is enabled; done threads wait for
//! ever, which keeps their values.
//!
//! Values that do not fit Promela's `int`, unbounded addresses, recursion and `spawn` are refused; `live` and
//! `forbid stuck` are not expressible (they are no LTL properties) and are left out with a warning.

mod cells;
mod properties;
mod steps;
mod thread;
mod values;
mod words;

use std::fmt::Write as _;

use weir_ir::flow::Ranges;
use weir_ir::sort::sort_by_key;
use weir_ir::{Diagnostic, Instruction, Interrupt, LocId, Program, PropertyKind, RegId, ThreadId, Value};

use self::cells::Cells;
use self::properties::Monitor;
use self::steps::loads_depend;
use self::values::{INT, Ints, MACRO_NAMES, MACROS, Values};
use crate::export::Export;
use crate::export::lines::{comment, title};
use crate::export::memory::Memory;
use crate::export::names::Names;
use crate::export::observed::Observed;
use crate::export::refusal::{Refusal, unsupported_parts};

/// SPIN runs at most 255 processes; two are ours.
const MOST_THREADS: usize = 253;

/// The program in Promela, or what stands in the way.
///
/// # Errors
/// Everything that cannot be expressed, in order of the source.
pub fn print(program: &Program, interrupt: &dyn Interrupt) -> Result<Export, Vec<Diagnostic>> {
    let mut refused = unsupported_parts(program, "Promela");
    if let Some(thread) = program.running_threads().nth(MOST_THREADS) {
        let message = format!("more than {MOST_THREADS} threads: SPIN cannot run that many processes");
        refused.push(Refusal::new(message, "export fewer instances").at(program.thread(thread).span));
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let ranges = Ranges::of_until(program, interrupt);
    let memory = Memory::of(program, &ranges)?;
    let refused = unfit_initial_values(program, &memory);
    if !refused.is_empty() {
        return Err(refused);
    }
    Model::new(program, &ranges, &memory).print()
}

fn unfit_initial_values(program: &Program, memory: &Memory) -> Vec<Diagnostic> {
    let used = memory.segments().iter().flat_map(|segment| &segment.shared).map(|&at| &program.shared[at]);
    let unfit = used.filter_map(|shared| {
        let value = shared.initial.iter().find(|&&value| !INT.contains(value))?;
        let message = format!("`{}` starts at {value}, and Promela computes in 32 bits", shared.name);
        Some(Refusal::new(message, "start at a smaller value").at(shared.span))
    });
    unfit.collect()
}

/// What everything in a model refers to.
struct Model<'p> {
    program: &'p Program,
    ranges: &'p Ranges,
    memory: &'p Memory,
    observed: Observed,
    values: Values<'p>,
    cells: Cells,
    /// The names of processes, by thread.
    processes: Vec<String>,
    /// The names of global registers, by thread and register.
    globals: Vec<Vec<Option<String>>>,
    /// The variables that say where threads are.
    places: Vec<Option<String>>,
    lock: Option<String>,
    /// Holds what a read-modify-write reads, within one step.
    held: String,
    /// Holds what loads of several cells read, within one step.
    loaded: String,
    monitor: String,
    names: Names<'static>,
}

/// Whether the monitor can check the property.
fn is_expressed(kind: &PropertyKind) -> bool {
    !kind.is_liveness()
}

impl<'p> Model<'p> {
    fn new(program: &'p Program, ranges: &'p Ranges, memory: &'p Memory) -> Self {
        let mut names = Names::new(words::reserved().chain(MACRO_NAMES));
        let observed = Observed::by(program, is_expressed);
        let values = Values::of(program, ranges, memory);
        let cells = Cells::new(program, memory, &mut names);
        let processes: Vec<String> = program.threads.iter().map(|thread| names.identifier(&thread.name)).collect();
        let monitor = names.unused("Monitor");
        for process in processes.iter().map(String::as_str).chain([monitor.as_str(), "init"]) {
            // The verifier has a macro of this name for each process.
            names.reserve(&format!("P{process}"));
        }
        let mut globals = Vec::new();
        let mut places = Vec::new();
        for thread in program.thread_ids() {
            let process = &processes[thread.index()];
            let registers = program.body(thread).registers.iter().enumerate().map(|(at, register)| {
                let is_global = observed.register(thread, RegId::new(at));
                is_global.then(|| names.identifier(&format!("{process}_{}", register.name)))
            });
            globals.push(registers.collect());
            places.push(observed.place(thread).then(|| names.unused(&format!("{process}_at"))));
        }
        let lock = program.uses_lock().then(|| names.unused("lock_holder"));
        let held = names.unused("held");
        let loaded = names.unused("loaded");
        Self {
            program,
            ranges,
            memory,
            observed,
            values,
            cells,
            processes,
            globals,
            places,
            lock,
            held,
            loaded,
            monitor,
            names,
        }
    }

    fn print(self) -> Result<Export, Vec<Diagnostic>> {
        let mut refused = Vec::new();
        let mut ints = Ints::default();
        let mut bodies = String::new();
        for thread in self.program.running_threads() {
            match self.process(thread, &mut ints) {
                Ok(text) => bodies.push_str(&text),
                Err(errors) => refused.extend(errors),
            }
        }
        let monitor = self.monitor(&mut ints).unwrap_or_else(|errors| {
            refused.extend(errors);
            Monitor::default()
        });
        if !refused.is_empty() {
            sort_by_key(&mut refused, |error| error.primary.span);
            return Err(refused);
        }
        let mut text = self.header();
        for (which, _) in ints.used.iter().enumerate().filter(|(_, is_used)| **is_used) {
            let _ = writeln!(text, "{}", MACROS[which]);
        }
        text.push_str(&self.declarations());
        text.push_str(&monitor.macros);
        text.push_str(&bodies);
        text.push_str(&monitor.process);
        text.push_str(&self.start());
        Ok(Export { text, warnings: monitor.warnings })
    }

    fn header(&self) -> String {
        let mut text = format!("/*\n * {}, for the model checker SPIN.\n", title(self.program));
        text.push_str(
            " *\n * The model has the runs of the program under sequential consistency: every step is one statement or one d_step.\n",
        );
        text.push_str(&self.how_to_check());
        let renamed = self.names.renamed();
        if !renamed.is_empty() {
            text.push_str(" *\n * Names that Promela does not allow, or that were not unique:\n");
            for (name, identifier) in renamed {
                let _ = writeln!(text, " *     {} is {identifier}", comment(name));
            }
        }
        text.push_str(" */\n\n#ifndef PROPERTY\n#define PROPERTY 0\n#endif\n");
        text
    }

    /// The commands, with the options that the model needs.
    fn how_to_check(&self) -> String {
        let mut text = String::from(" *\n * To check property N of this list (0, the default: all but `exists`):\n");
        let vector = match self.vector_size() {
            ..900 => String::new(),
            bytes => format!(" -DVECTORSZ={}", bytes * 2),
        };
        let _ = writeln!(text, " *     spin -DPROPERTY=N -a MODEL.pml");
        let _ = writeln!(text, " *     gcc -O2 -DSAFETY{vector} -o pan pan.c");
        let _ = writeln!(
            text,
            " *     ./pan -m1000000        and for the run of an error: spin -DPROPERTY=N -t -p MODEL.pml"
        );
        let _ = writeln!(text, " * `errors: 0` and `assertion violated` mean:");
        text.push_str(&self.property_list());
        if self.is_checked() {
            let covered = values::COVERED.high;
            let _ = writeln!(
                text,
                " *\n * Some values or addresses are not bounded by the text. The model asserts OUTSIDE == 0"
            );
            let _ = writeln!(
                text,
                " * if they leave the range it covers (values from -{covered} to {covered}, declared cells):"
            );
            let _ = writeln!(text, " * after that error, nothing is known about the property.");
        }
        text
    }

    /// About how many bytes a state takes.
    fn vector_size(&self) -> usize {
        let cells: usize = self.memory.segments().iter().map(|segment| 4 * segment.len()).sum();
        let registers: usize = self.program.threads.iter().map(|thread| 32 + 4 * thread.body.registers.len()).sum();
        cells + registers
    }

    /// Whether some values or addresses are checked at run time.
    fn is_checked(&self) -> bool {
        let cells = (0..self.memory.segments().len()).any(|segment| self.values.cell(segment).is_checked);
        let registers = |thread: ThreadId| {
            (0..self.program.body(thread).registers.len())
                .any(|register| self.values.register(thread, RegId::new(register)).is_checked)
        };
        cells || self.program.running_threads().any(registers) || self.has_checked_address()
    }

    fn has_checked_address(&self) -> bool {
        self.program.running_threads().any(|thread| {
            let edges = 0..self.program.body(thread).edges().len();
            edges
                .map(weir_ir::EdgeId::new)
                .any(|edge| self.memory.accesses(thread, edge).iter().any(|access| access.is_checked))
        })
    }

    fn declarations(&self) -> String {
        let mut text = self.cells.declarations(self.program, self.memory, &self.values);
        if let Some(lock) = &self.lock {
            let _ =
                writeln!(text, "\nbyte {lock}; /* the global lock: 0 if it is free, else the number of its holder */");
        }
        let mut lines = String::new();
        for (thread, register) in self.observed.registers() {
            let Some(name) = &self.globals[thread.index()][register.index()] else { continue };
            let declared = &self.program.body(thread).registers[register.index()].name;
            let type_name = self.values.register(thread, register).type_name();
            let owner = comment(&self.program.thread(thread).name);
            let _ = writeln!(lines, "{type_name} {name}; /* {owner}.{} */", comment(declared));
        }
        for thread in self.program.thread_ids() {
            let Some(place) = &self.places[thread.index()] else { continue };
            let body = self.program.body(thread);
            let type_name = if body.locations.len() <= 256 { "byte" } else { "int" };
            let owner = comment(&self.program.thread(thread).name);
            let entry = self.seen_at(thread, body.entry).0;
            let _ = writeln!(lines, "{type_name} {place} = {entry}; /* where {owner} is, as far as properties tell */");
        }
        if !lines.is_empty() {
            let _ = write!(text, "\n/* What properties observe of threads. */\n{lines}");
        }
        text.push_str(&self.scratch());
        if self.is_checked() {
            text.push_str("\nhidden byte OUTSIDE; /* stays 0: names what an assertion is about */\n");
        }
        text
    }

    /// The location that stands for this one in the variable that says where the thread is.
    fn seen_at(&self, thread: ThreadId, at: LocId) -> LocId {
        self.observed.seen_at(self.program, thread, at)
    }

    /// Variables that hold values within a step only, as far as the program needs them.
    fn scratch(&self) -> String {
        let instructions = || {
            self.program.running_threads().flat_map(|thread| self.program.body(thread).edges()).map(|e| &e.instruction)
        };
        let mut text = String::new();
        if instructions().any(|instruction| matches!(instruction, Instruction::ReadModifyWrite { .. })) {
            let _ = writeln!(text, "\nhidden int {}; /* what a read-modify-write reads */", self.held);
        }
        let dependent = instructions().filter_map(Instruction::loads_at_once).filter(|loads| loads_depend(loads));
        if let Some(most) = dependent.map(<[_]>::len).max() {
            let _ = writeln!(text, "\nhidden int {}[{most}]; /* what loads of several cells read */", self.loaded);
        }
        text
    }

    /// The process that starts the others.
    fn start(&self) -> String {
        let mut text = String::from("\ninit {\n    atomic {\n");
        text.push_str(&self.cells.initial_values(self.program, self.memory));
        for thread in self.program.running_threads() {
            let _ = writeln!(text, "        run {}();", self.processes[thread.index()]);
        }
        let _ = writeln!(text, "        run {}()\n    }}\n}}", self.monitor);
        text
    }
}

/// A number as an operand.
fn number(value: Value) -> String {
    if value < 0 { format!("({value})") } else { value.to_string() }
}

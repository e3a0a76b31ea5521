//! C for bounded model checkers, under sequential consistency.
//!
//! Every step is an atomic section; a step that blocks is an assumption. Since an assumption that fails ends the whole
//! run, a thread may also stop for good wherever it might block or has gone round a loop: what the others can still do
//! is then explored as well, also beyond the bound on loops. `main` starts the threads and asserts the properties at
//! any moment. What properties observe of threads is global.
//!
//! A deadlock cannot be told from a thread that stops: `forbid deadlock` is left out with a warning, as are
//! `forbid stuck` and `live`.

mod procedures;
mod steps;
mod thread;

use std::fmt::Write as _;

use weir_ir::flow::Ranges;
use weir_ir::{
    Diagnostic, Instruction, Interrupt, Multiplicity, Program, PropertyKind, Range, RegId, StateAtom, ThreadId,
};

use self::procedures::{Flattened, unsupported};
use super::cells::Cells;
use super::code::{all_or_refused, quoted};
use super::expressions::{Longs, number, truth};
use super::words;
use crate::export::Export;
use crate::export::lines::{comment, place, title};
use crate::export::memory::{Form, Memory};
use crate::export::names::{Names, cleaned};
use crate::export::observed::{Observed, done_locations};
use crate::export::refusal::left_out;
use crate::export::term::{Term, write};

/// A bounded model checker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Checker {
    Cbmc,
    Esbmc,
}

impl Checker {
    fn name(self) -> &'static str {
        match self {
            Self::Cbmc => "CBMC",
            Self::Esbmc => "ESBMC",
        }
    }

    /// How it is called.
    fn command(self) -> &'static str {
        match self {
            Self::Cbmc => "cbmc --unwind 5 -DPROPERTY=N PROGRAM.c",
            Self::Esbmc => "esbmc --unwind 5 --no-unwinding-assertions -DPROPERTY=N PROGRAM.c",
        }
    }

    fn primitives(self) -> &'static str {
        match self {
            Self::Cbmc => include_str!("cbmc.c"),
            Self::Esbmc => include_str!("esbmc.c"),
        }
    }
}

const SIMULATE: &str = include_str!("simulate.c");

/// The program for a bounded model checker.
pub(super) fn print(program: &Program, checker: Checker, interrupt: &dyn Interrupt) -> Result<Export, Vec<Diagnostic>> {
    let refused = unsupported(program, &format!("C for {}", checker.name()));
    if !refused.is_empty() {
        return Err(refused);
    }
    let flattened = Flattened::of(program);
    let ranges = Ranges::of_until(&flattened.analysed, interrupt);
    let memory = Memory::of(&flattened.program, &ranges)?;
    Unit::new((program, &flattened), checker, &ranges, &memory).print()
}

/// A whole C program.
struct Unit<'p> {
    /// With procedures as threads, after all others.
    program: &'p Program,
    /// The threads that run from the start.
    initial: Vec<ThreadId>,
    /// The threads that `spawn` starts.
    spawned: Vec<ThreadId>,
    /// The thread that each procedure has become.
    procedures: Vec<Option<ThreadId>>,
    /// For each thread that runs from the start, the variable with what it has for itself, if it needs that.
    own: Vec<Option<String>>,
    /// The parameters of each procedure.
    parameters: Vec<Vec<RegId>>,
    /// The thread-local variables, and what they are called.
    thread_locals: Vec<(String, String)>,
    checker: Checker,
    ranges: &'p Ranges,
    memory: &'p Memory,
    observed: Observed,
    cells: Cells,
    functions: Vec<String>,
    /// The names of global registers, by thread and register.
    globals: Vec<Vec<Option<String>>>,
    /// The variables that say where threads are.
    places: Vec<Option<String>>,
    names: Names<'static>,
}

/// Whether `main` can assert the property.
fn is_expressed(kind: &PropertyKind) -> bool {
    matches!(kind, PropertyKind::Forbid(_) | PropertyKind::Exists(_) | PropertyKind::Always(_))
}

impl<'p> Unit<'p> {
    fn new(
        (original, flattened): (&Program, &'p Flattened),
        checker: Checker,
        ranges: &'p Ranges,
        memory: &'p Memory,
    ) -> Self {
        let program = &flattened.program;
        let mut names = Names::new(words::reserved());
        for name in ["own", "mine", "called", "start_thread", "last_number"] {
            names.reserve(name);
        }
        let can_be_spawned = original.can_be_spawned();
        let spawned: Vec<ThreadId> = original.thread_ids().filter(|thread| can_be_spawned[thread.index()]).collect();
        let initial: Vec<ThreadId> = original.initial_threads().collect();
        let edges = program.running_threads().flat_map(|thread| program.body(thread).edges());
        let most = edges.filter_map(|edge| Some(edge.instruction.loads_at_once()?.len())).max().unwrap_or(0);
        (0..most).for_each(|at| names.reserve(&format!("loaded_{at}")));
        let observed = Observed::by(program, is_expressed);
        let cells = Cells::new(program, memory, &mut names);
        let mut function = |(at, thread): (usize, &weir_ir::Thread)| {
            let kind = if at < original.threads.len() { "thread" } else { "proc" };
            names.unused(&format!("{kind}_{}", cleaned(&thread.name)))
        };
        let functions = program.threads.iter().enumerate().map(&mut function).collect();
        let (mut globals, mut places) = (Vec::<Vec<Option<String>>>::new(), Vec::new());
        for thread in program.thread_ids() {
            let owner = cleaned(&program.thread(thread).name);
            let registers = program.body(thread).registers.iter().enumerate().map(|(at, register)| {
                let is_global = observed.register(thread, RegId::new(at));
                is_global.then(|| names.unused(&format!("{owner}_{}", cleaned(&register.name))))
            });
            globals.push(registers.collect());
            places.push(observed.place(thread).then(|| names.unused(&format!("{owner}_at"))));
        }
        let needs_own = original.calls() || original.spawns() && original.uses_lock();
        let mut thread_locals: Vec<(String, String)> = Vec::new();
        for body in program.threads.iter().map(|thread| &thread.body) {
            for register in body.thread_locals() {
                let name = &body.registers[register.index()].name;
                if !thread_locals.iter().any(|(known, _)| known == name) {
                    thread_locals.push((name.clone(), names.unused(&cleaned(name))));
                }
            }
        }
        let mut own = vec![None; program.threads.len()];
        for thread in initial.iter().filter(|_| needs_own || !thread_locals.is_empty()) {
            let name = format!("own_{}", cleaned(&program.thread(*thread).name));
            own[thread.index()] = Some(names.unused(&name));
        }
        for thread in program.thread_ids() {
            let body = program.body(thread);
            for register in body.thread_locals() {
                let of = &body.registers[register.index()].name;
                let field = thread_locals.iter().find(|(name, _)| name == of).map_or("", |(_, field)| field);
                globals[thread.index()][register.index()] = Some(match &own[thread.index()] {
                    Some(own) => format!("{own}.{field}"),
                    None => format!("own->{field}"),
                });
            }
        }
        let procedures = flattened.procedures.clone();
        let parameters = original.procedures.iter().map(|procedure| procedure.parameters.clone()).collect();
        Self {
            initial,
            spawned,
            procedures,
            parameters,
            own,
            thread_locals,
            program,
            checker,
            ranges,
            memory,
            observed,
            cells,
            functions,
            globals,
            places,
            names,
        }
    }

    fn print(self) -> Result<Export, Vec<Diagnostic>> {
        let mut longs = Longs::default();
        let written = || self.procedures.iter().flatten().chain(&self.initial).chain(&self.spawned);
        let bodies = written().map(|&thread| self.function(thread, &mut longs)).collect();
        let check = self.check(&mut longs);
        let (bodies, check) = all_or_refused(bodies, check)?;
        let mut text = self.header();
        text.push_str(&longs.functions());
        text.push_str(&self.cells.limits(self.program, self.memory));
        text.push_str(&self.declarations());
        text.push_str(&bodies);
        text.push_str(&check);
        text.push_str(&self.main());
        Ok(Export { text, warnings: self.warnings() })
    }

    fn header(&self) -> String {
        let checker = self.checker.name();
        let mut text = format!("/*\n * {}, for the bounded model checker {checker}.\n *\n", title(self.program));
        text.push_str(
            " * The program has its runs under sequential consistency. To check property N of this list (0, the\n",
        );
        let _ = writeln!(text, " * default: all but `exists`), with every loop entered at most five times:\n *");
        let _ = writeln!(text, " *     {}\n *", self.checker.command());
        text.push_str(" * A failed assertion and none within the bound mean:\n");
        for (at, property) in self.program.properties.iter().enumerate() {
            let meaning = match property.kind {
                PropertyKind::Exists(_) => "met / not met within the bound",
                _ if is_expressed(&property.kind) => "violated / holds within the bound",
                _ => "not exported; `weir check` decides it",
            };
            let line = place(self.program, property.span);
            let name = comment(&self.program.property_text(property));
            let _ = writeln!(text, " *     {}: {line}{name} ({meaning})", at + 1);
        }
        if let Some(number) = self.assertions() {
            let _ = writeln!(text, " *     {number}: the assertions of the program (violated / hold within the bound)");
        }
        let renamed = self.names.renamed();
        if !renamed.is_empty() {
            text.push_str(" *\n * Names that C does not allow, or that were not unique:\n");
            for (name, identifier) in renamed {
                let _ = writeln!(text, " *     {} is {identifier}", comment(name));
            }
        }
        text.push_str(" */\n\n#include <pthread.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
        text.push_str("#ifdef __GNUC__\n#pragma GCC diagnostic ignored \"-Wtautological-compare\" ");
        text.push_str("/* programs may compare a value with itself */\n#endif\n\n");
        text.push_str("#ifndef PROPERTY\n#define PROPERTY 0\n#endif\n\n#ifdef SIMULATE\n");
        let _ = write!(text, "{SIMULATE}#else\n{}#endif\n\n", self.checker.primitives());
        text
    }

    /// The number that stands for the assertions, if there are some.
    fn assertions(&self) -> Option<usize> {
        let edges = self.program.running_threads().flat_map(|thread| self.program.body(thread).edges());
        let asserts = edges.into_iter().any(|edge| matches!(edge.instruction, Instruction::Assert(_)));
        asserts.then_some(self.program.properties.len() + 1)
    }

    fn declarations(&self) -> String {
        let mut text = String::from("/* Shared cells. */\n");
        for (segment, name) in self.memory.segments().iter().zip(&self.cells.names) {
            let initial = segment.initial(self.program);
            let note = match segment.form {
                Form::Mixed => format!(" /* addresses {} to {} */", segment.first, segment.last),
                _ => String::new(),
            };
            let _ = match segment.form {
                Form::Scalar => writeln!(text, "int64_t {name} = {};", number(initial[0])),
                _ => writeln!(text, "int64_t {name}[{}]{};{note}", segment.len(), initializer(&initial)),
            };
        }
        if self.program.uses_lock() {
            text.push_str("\n/* The global lock: 0 if it is free, else the number of its holder. */\n");
            text.push_str("int lock_holder = 0;\n");
        }
        let mut lines = String::new();
        for (thread, register) in self.observed.registers() {
            let Some(name) = &self.globals[thread.index()][register.index()] else { continue };
            if self.program.body(thread).registers[register.index()].is_thread_local {
                continue;
            }
            let declared = &self.program.body(thread).registers[register.index()].name;
            let owner = comment(&self.program.thread(thread).name);
            let _ = writeln!(lines, "int64_t {name} = 0; /* {owner}.{} */", comment(declared));
        }
        for thread in self.program.thread_ids() {
            let Some(place) = &self.places[thread.index()] else { continue };
            let owner = comment(&self.program.thread(thread).name);
            let entry = self.program.body(thread).entry.0;
            if self.spawned.contains(&thread) {
                let count = self.program.body(thread).locations.len();
                let _ = writeln!(lines, "int {place}[{count}]; /* how many instances of {owner} are where */");
                let _ = writeln!(lines, "int {place}_started = 0; /* how many there are */");
            } else if self.initial.contains(&thread) {
                let _ = writeln!(lines, "int {place} = {entry}; /* where {owner} is; -1 in a procedure */");
            }
        }
        if !lines.is_empty() {
            let _ = write!(text, "\n/* What properties observe of threads. */\n{lines}");
        }
        text.push_str(&self.own_declarations());
        if let Some(number) = self.assertions() {
            let _ = writeln!(text, "\n#define CHECKS_ASSERTIONS (PROPERTY == 0 || PROPERTY == {number})");
        }
        text
    }

    /// Whether procedures are called, or threads number themselves.
    fn uses_own(&self) -> bool {
        !self.thread_locals.is_empty() || self.own.iter().any(Option::is_some)
    }

    /// What each thread has for itself, and the functions that are used before they are defined.
    fn own_declarations(&self) -> String {
        let mut text = String::new();
        if self.uses_own() {
            text.push_str("\n/* What each thread has for itself, in all procedures. */\nstruct own {\n");
            text.push_str("    int stopped; /* it takes no step any more */\n");
            text.push_str("    int number; /* as a holder of the lock */\n");
            for (name, field) in &self.thread_locals {
                let _ = writeln!(text, "    int64_t {field}; /* {} */", comment(name));
            }
            text.push_str("};\n");
            for thread in &self.initial {
                let number = thread.index() + 1;
                if let Some(own) = &self.own[thread.index()] {
                    let _ = writeln!(text, "struct own {own} = {{.number = {number}}};");
                }
            }
            if !self.spawned.is_empty() {
                let _ = writeln!(text, "int last_number = {};", self.program.threads.len());
            }
        }
        for thread in self.procedures.iter().flatten() {
            let _ = writeln!(text, "{};", self.signature(*thread));
        }
        for thread in &self.spawned {
            let _ = writeln!(text, "{};", self.signature(*thread));
        }
        if !self.spawned.is_empty() {
            text.push_str(
                "#ifndef __CPROVER__\nstatic void start_thread(void *(*function)(void *))\n{\n    pthread_t id;\n    \
                 pthread_create(&id, NULL, function, NULL);\n#ifdef SIMULATE\n    pthread_detach(id);\n#endif\n}\n\
                 #endif\n",
            );
        }
        text
    }

    /// The head of the function of a thread, or of a procedure.
    fn signature(&self, thread: ThreadId) -> String {
        let function = &self.functions[thread.index()];
        match self.procedure(thread) {
            None => format!("static void *{function}(void *unused)"),
            Some(procedure) => {
                let list: Vec<String> =
                    (0..self.parameters[procedure].len()).map(|at| format!(", int64_t argument_{at}")).collect();
                format!("static int64_t {function}(struct own *own{})", list.concat())
            }
        }
    }

    /// The procedure that a thread stands for.
    fn procedure(&self, thread: ThreadId) -> Option<usize> {
        self.procedures.iter().position(|&one| one == Some(thread))
    }

    /// The function that asserts the properties.
    fn check(&self, longs: &mut Longs) -> Result<String, Vec<Diagnostic>> {
        let mut refused = Vec::new();
        let mut lines = String::new();
        for (at, property) in self.program.properties.iter().enumerate().filter(|(_, p)| is_expressed(&p.kind)) {
            let Some(condition) = property.kind.condition() else { continue };
            let number = at + 1;
            let term = match write(longs, condition, &mut |atom| Ok(self.atom(atom))) {
                Ok(term) => truth(&term),
                Err(refusal) => {
                    refused.push(refusal.at(property.span));
                    continue;
                }
            };
            let (selected, asserted) = match property.kind {
                PropertyKind::Exists(_) => {
                    (format!("PROPERTY == {number}"), format!("!(ALL_DONE && {})", term.operand()))
                }
                PropertyKind::Always(_) => {
                    (format!("PROPERTY == 0 || PROPERTY == {number}"), format!("!ALL_DONE || {}", term.operand()))
                }
                _ => (format!("PROPERTY == 0 || PROPERTY == {number}"), format!("!{}", term.operand())),
            };
            let name = self.program.property_text(property);
            let line = place(self.program, property.span);
            let message = quoted(&format!("property {number}: {line}{name}"));
            let _ = writeln!(lines, "#if {selected}\n    ASSERT({asserted}, {message});\n#endif");
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        let mut text = String::new();
        if lines.contains("ALL_DONE") {
            let done = |&thread: &ThreadId| {
                let place = self.places[thread.index()].as_deref().unwrap_or("-1");
                let locations = done_locations(self.program, thread);
                if self.spawned.contains(&thread) {
                    return format!("({} == {place}_started)", count_at(place, &locations));
                }
                at_one_of(place, locations.iter().map(|loc| loc.0))
            };
            let all: Vec<String> = self.initial.iter().chain(&self.spawned).map(done).collect();
            let _ = writeln!(text, "\n/* All threads are done. */\n#define ALL_DONE ({})", all.join(" && "));
        }
        let _ = write!(
            text,
            "\n/* Asserts the properties, at whatever moment it is called. */\nstatic void check(void)\n{{\n    \
             ATOMIC_BEGIN();\n{lines}    ATOMIC_END();\n}}\n"
        );
        Ok(text)
    }

    fn main(&self) -> String {
        let running = &self.initial;
        let mut text = format!("\nint main(void)\n{{\n    pthread_t threads[{}];\n", running.len());
        let mut starts = String::new();
        for (at, thread) in running.iter().enumerate() {
            let function = &self.functions[thread.index()];
            let _ = writeln!(starts, "    pthread_create(&threads[{at}], NULL, {function}, NULL);");
        }
        if self.checker == Checker::Cbmc {
            // CBMC's own way to start a thread; its `pthread_create` goes through a function pointer.
            text.push_str("#ifdef __CPROVER__\n    (void)threads;\n");
            for (at, thread) in running.iter().enumerate() {
                let _ = writeln!(text, "__CPROVER_ASYNC_{at}:\n    {}(NULL);", self.functions[thread.index()]);
            }
            let _ = write!(text, "#else\n{starts}#endif\n");
        } else {
            text.push_str(&starts);
        }
        text.push_str("    check();\n#ifdef SIMULATE\n");
        let _ = writeln!(text, "    for (int i = 0; i < {}; i++)", running.len());
        text.push_str("        pthread_join(threads[i], NULL);\n    check();\n#endif\n    return 0;\n}\n");
        text
    }

    fn atom(&self, atom: &StateAtom) -> Term {
        let nothing = Term::simple("0", Range::single(0));
        let runs = |thread: ThreadId| self.program.thread(thread).multiplicity == Multiplicity::One;
        match atom {
            StateAtom::At { thread, locations } if self.spawned.contains(thread) && !locations.is_empty() => {
                let Some(place) = &self.places[thread.index()] else { return nothing };
                let text = format!("(int64_t){}", count_at(place, locations));
                Term::simple(text, Range { low: 0, high: i64::from(i32::MAX) })
            }
            StateAtom::At { thread, locations } if runs(*thread) && !locations.is_empty() => {
                let Some(place) = &self.places[thread.index()] else { return nothing };
                let text = at_one_of(place, locations.iter().map(|loc| loc.0));
                Term::simple(format!("(int64_t){text}"), Range { low: 0, high: 1 })
            }
            StateAtom::Register { thread, register } if runs(*thread) => {
                match &self.globals[thread.index()][register.index()] {
                    Some(name) => Term::simple(name, Range::FULL),
                    None => nothing,
                }
            }
            StateAtom::At { .. } | StateAtom::Register { .. } => nothing,
            StateAtom::Cell(address) => {
                let segment = self.memory.observed(*address);
                Term::simple(self.cells.at(self.memory, segment, *address), Range::FULL)
            }
        }
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let checker = self.checker.name();
        let left = self.program.properties.iter().filter(|property| !is_expressed(&property.kind));
        let warning = |property: &weir_ir::Property| {
            let name = self.program.property_text(property);
            let message = format!("`{name}` is not exported: {checker} cannot ask what can still happen");
            left_out(message, "`weir check` decides it", property.span)
        };
        left.map(warning).collect()
    }
}

/// Values of an array; none if all are 0.
fn initializer(initial: &[i64]) -> String {
    if initial.iter().all(|value| *value == 0) {
        return String::new();
    }
    let values: Vec<String> = initial.iter().map(|value| number(*value)).collect();
    format!(" = {{{}}}", values.join(", "))
}

/// How many instances are at one of these locations, in parentheses.
fn count_at(place: &str, locations: &[weir_ir::LocId]) -> String {
    let counts: Vec<String> = locations.iter().map(|loc| format!("{place}[{}]", loc.0)).collect();
    if counts.is_empty() { "(0)".to_owned() } else { format!("({})", counts.join(" + ")) }
}

/// Whether a variable has one of these values, in parentheses.
fn at_one_of(place: &str, locations: impl Iterator<Item = u32>) -> String {
    let tests: Vec<String> = locations.map(|loc| format!("{place} == {loc}")).collect();
    if tests.is_empty() { "(0)".to_owned() } else { format!("({})", tests.join(" || ")) }
}

//! C for a real processor: every thread is a function over one instance of the shared cells; `main.c` runs many
//! instances and counts how they end.
//!
//! Only final states are observed, as litmus tests do: `exists` and `always` are counted, assertions stop a run. A run
//! in which a thread waits for too long, or goes on for too long, counts as one that did not end. So what is printed
//! was observed, and nothing follows from what was not.
//!
//! The processor must not be able to do more than Weir's TSO: the global lock (no processor has one that stops the
//! plain accesses of others), steps that load several cells and `membarrier` are refused.

mod steps;
mod thread;

use std::fmt::Write as _;

use weir_ir::flow::Ranges;
use weir_ir::sort::sort_by_key;
use weir_ir::{
    Address, Diagnostic, Instruction, Interrupt, Multiplicity, Program, PropertyKind, Range, RegId, StateAtom,
    StateExpr, ThreadId,
};

use super::cells::Cells;
use super::code::{all_or_refused, quoted};
use super::expressions::{Longs, number, truth};
use super::words;
use crate::export::Export;
use crate::export::lines::{comment, place, title};
use crate::export::memory::{Form, Memory};
use crate::export::names::{Names, cleaned};
use crate::export::refusal::{Refusal, left_out, unsupported_parts};
use crate::export::term::{Term, write};

const PRELUDE: &str = include_str!("prelude.c");
const MAIN: &str = include_str!("main.c");

/// The most values that are shown for each outcome if no property names any.
const MOST_SHOWN: usize = 16;

/// The program for a processor.
pub(super) fn print(program: &Program, interrupt: &dyn Interrupt) -> Result<Export, Vec<Diagnostic>> {
    let mut refused = unsupported_parts(program, "C for hardware");
    refused.extend(unsupported_instructions(program));
    if !refused.is_empty() {
        sort_by_key(&mut refused, |error| error.primary.span);
        return Err(refused);
    }
    let ranges = Ranges::of_until(program, interrupt);
    let memory = Memory::of(program, &ranges)?;
    Harness::new(program, &ranges, &memory).print()
}

fn unsupported_instructions(program: &Program) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    for edge in program.running_threads().flat_map(|thread| program.body(thread).edges()) {
        let (what, help) = match &edge.instruction {
            Instruction::Lock | Instruction::Unlock => (
                "the global lock cannot be run on hardware: it keeps others from all loads and stores",
                "use a read-modify-write, or a lock built from one (`while !cas(l, 0, 1) { }`)",
            ),
            Instruction::Membarrier => {
                ("`membarrier` cannot be run on hardware as one step", "write a fence in every thread")
            }
            Instruction::Snapshot(_) => {
                ("no processor loads several cells in one step", "load them one by one; that adds behaviours")
            }
            Instruction::Await { loads, .. } if loads.len() > 1 => (
                "no processor waits for several cells in one step",
                "write a loop that loads the cells one by one; that adds behaviours",
            ),
            _ => continue,
        };
        refused.push(Refusal::new(what, help).at(edge.span));
    }
    refused
}

/// One of the values that are observed at the end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Seen {
    Register(ThreadId, RegId),
    Cell(Address),
    /// The number of the location at which a thread ended.
    Place(ThreadId),
}

struct Harness<'p> {
    program: &'p Program,
    ranges: &'p Ranges,
    memory: &'p Memory,
    cells: Cells,
    names: Names<'static>,
    functions: Vec<String>,
    seen: Vec<Seen>,
}

/// Whether runs show something about the property.
fn is_counted(kind: &PropertyKind) -> bool {
    matches!(kind, PropertyKind::Exists(_) | PropertyKind::Always(_))
}

impl<'p> Harness<'p> {
    fn new(program: &'p Program, ranges: &'p Ranges, memory: &'p Memory) -> Self {
        let mut names = Names::new(words::reserved());
        let cells = Cells::new(program, memory, &mut names);
        let mut function = |thread: &weir_ir::Thread| names.unused(&format!("thread_{}", cleaned(&thread.name)));
        let functions = program.threads.iter().map(&mut function).collect();
        let seen = seen(program);
        Self { program, ranges, memory, cells, names, functions, seen }
    }

    fn print(self) -> Result<Export, Vec<Diagnostic>> {
        let mut longs = Longs::default();
        let bodies = self.program.running_threads().map(|thread| self.function(thread, &mut longs)).collect();
        let conditions = self.conditions(&mut longs);
        let (bodies, conditions) = all_or_refused(bodies, conditions)?;
        let mut text = self.header();
        text.push_str(PRELUDE);
        text.push('\n');
        text.push_str(&longs.functions());
        text.push_str(&self.cells.limits(self.program, self.memory));
        text.push_str(&self.declarations());
        text.push_str(&bodies);
        text.push_str(&self.tables());
        text.push_str(&conditions);
        text.push_str(MAIN);
        Ok(Export { text, warnings: self.warnings() })
    }

    fn header(&self) -> String {
        let mut text = format!("/*\n * {}, to be run on a processor with TSO (x86).\n *\n", title(self.program));
        text.push_str(" *     gcc -std=c11 -O2 -Wall -Wextra -pedantic -pthread -o TEST TEST.c\n");
        text.push_str(" *     ./TEST [RUNS [SEED]]        one million runs unless told otherwise\n *\n");
        text.push_str(
            " * prints how often each outcome was observed. Exit status: 0, or 1 if an `always` or an assertion\n",
        );
        text.push_str(" * was violated, or 2 for bad usage. What was not observed may still be possible.\n");
        let renamed = self.names.renamed();
        if !renamed.is_empty() {
            text.push_str(" *\n * Names that C does not allow, or that were not unique:\n");
            for (name, identifier) in renamed {
                let _ = writeln!(text, " *     {} is {identifier}", comment(name));
            }
        }
        text.push_str(" */\n\n");
        text
    }

    fn declarations(&self) -> String {
        let mut text = String::from("/* The shared cells of one instance. */\nstruct cells {\n");
        let mut reset = String::new();
        for (segment, name) in self.memory.segments().iter().zip(&self.cells.names) {
            let size = if segment.form == Form::Scalar { String::new() } else { format!("[{}]", segment.len()) };
            let note = match segment.form {
                Form::Mixed => format!(" /* addresses {} to {} */", segment.first, segment.last),
                _ => String::new(),
            };
            let _ = writeln!(text, "    struct cell {name}{size};{note}");
            let initial = segment.initial(self.program);
            if segment.form == Form::Scalar {
                let _ = writeln!(reset, "    store(&c->{name}, {});", number(initial[0]));
                continue;
            }
            let _ = writeln!(reset, "    for (int i = 0; i < {}; i++)", segment.len());
            let _ = writeln!(reset, "        store(&c->{name}[i], {});", number(initial[0]));
            for (at, value) in initial.iter().enumerate().filter(|(_, value)| **value != initial[0]) {
                let _ = writeln!(reset, "    store(&c->{name}[{at}], {});", number(*value));
            }
        }
        if self.memory.segments().is_empty() {
            text.push_str("    struct cell none;\n");
            reset.push_str("    store(&c->none, 0);\n");
        }
        let registers = self.registers_kept().max(1);
        let _ = write!(
            text,
            "}};\n\n/* What is kept of one thread of an instance. */\nstruct result {{\n    int end;\n    \
             int place;\n    int64_t registers[{registers}];\n}};\n\n\
             static void reset(struct cells *c)\n{{\n{reset}}}\n"
        );
        text
    }

    /// The most registers of one thread that are observed.
    fn registers_kept(&self) -> usize {
        self.program.thread_ids().map(|thread| self.kept(thread).count()).max().unwrap_or(0)
    }

    /// The observed registers of a thread, in the order in which they are kept.
    fn kept(&self, thread: ThreadId) -> impl Iterator<Item = RegId> + '_ {
        self.seen.iter().filter_map(move |seen| match seen {
            Seen::Register(owner, register) if *owner == thread => Some(*register),
            _ => None,
        })
    }

    /// Threads, names of what is observed, and how it is read off.
    fn tables(&self) -> String {
        let running: Vec<ThreadId> = self.program.running_threads().collect();
        let functions: Vec<&str> = running.iter().map(|thread| self.functions[thread.index()].as_str()).collect();
        let mut text = format!("\n#define THREADS {}\n#define SEEN {}\n\n", running.len(), self.seen.len().max(1));
        let parameters = "struct cells *c, struct result *out, struct helper *self";
        let _ = writeln!(text, "static void (*const bodies[THREADS])({parameters}) = {{{}}};", functions.join(", "));
        let names: Vec<String> = self.seen.iter().map(|seen| quoted(&self.seen_name(seen))).collect();
        let _ = writeln!(text, "static const char *const names[] = {{{}NULL}};", list(&names));
        text.push_str("static struct result *results[THREADS];\n\n");
        text.push_str("static void observe(struct cells *c, size_t instance, int64_t *seen)\n{\n");
        for (at, seen) in self.seen.iter().enumerate() {
            let number_of = |thread: &ThreadId| running.iter().position(|other| other == thread);
            let value = match seen {
                Seen::Register(thread, register) => {
                    match (number_of(thread), self.kept(*thread).position(|r| r == *register)) {
                        (Some(number), Some(slot)) => format!("results[{number}][instance].registers[{slot}]"),
                        _ => "0".to_owned(),
                    }
                }
                Seen::Place(thread) => {
                    number_of(thread).map_or("0".to_owned(), |number| format!("results[{number}][instance].place"))
                }
                Seen::Cell(address) => {
                    let segment = self.memory.observed(*address);
                    format!("load(&c->{})", self.cells.at(self.memory, segment, *address))
                }
            };
            let _ = writeln!(text, "    seen[{at}] = {value};");
        }
        text.push_str("    (void)c;\n    (void)instance;\n    (void)seen;\n}\n");
        text
    }

    fn seen_name(&self, seen: &Seen) -> String {
        match seen {
            Seen::Register(thread, register) => {
                let name = &self.program.body(*thread).registers[register.index()].name;
                format!("{}.{name}", self.program.thread(*thread).name)
            }
            Seen::Place(thread) => format!("{}.place", self.program.thread(*thread).name),
            Seen::Cell(address) => self.program.cell_name(*address),
        }
    }

    fn conditions(&self, longs: &mut Longs) -> Result<String, Vec<Diagnostic>> {
        let mut refused = Vec::new();
        let (mut functions, mut rows) = (String::new(), String::new());
        for (at, property) in self.program.properties.iter().enumerate().filter(|(_, p)| is_counted(&p.kind)) {
            let Some(condition) = property.kind.condition() else { continue };
            match write(longs, condition, &mut |atom| Ok(self.atom(atom))) {
                Ok(term) => {
                    let name = self.program.property_text(property);
                    let at_line = place(self.program, property.span);
                    let _ = write!(
                        functions,
                        "\n/* {at_line}{} */\nstatic int condition_{at}(const int64_t *seen)\n{{\n    (void)seen;\n    \
                         return {};\n}}\n",
                        comment(&name),
                        truth(&term).text
                    );
                    let is_exists = u8::from(matches!(property.kind, PropertyKind::Exists(_)));
                    let _ = writeln!(rows, "    {{{}, {is_exists}, condition_{at}}},", quoted(&name));
                }
                Err(refusal) => refused.push(refusal.at(property.span)),
            }
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        Ok(format!(
            "{functions}\nstatic const struct {{\n    const char *text;\n    int is_exists;\n    int (*holds)(const \
             int64_t *seen);\n}} conditions[] = {{\n{rows}    {{NULL, 0, NULL}},\n}};\n"
        ))
    }

    fn atom(&self, atom: &StateAtom) -> Term {
        let place_of = |wanted: &Seen| self.seen.iter().position(|seen| seen == wanted);
        let value = |wanted: Seen| match place_of(&wanted) {
            Some(at) => Term::simple(format!("seen[{at}]"), Range::FULL),
            None => Term::simple("0", Range::single(0)),
        };
        match atom {
            StateAtom::At { thread, locations } => {
                let Some(at) = place_of(&Seen::Place(*thread)) else { return Term::simple("0", Range::single(0)) };
                let tests: Vec<String> = locations.iter().map(|loc| format!("seen[{at}] == {}", loc.0)).collect();
                if tests.is_empty() {
                    return Term::simple("0", Range::single(0));
                }
                Term::simple(format!("(int64_t)({})", tests.join(" || ")), Range { low: 0, high: 1 })
            }
            StateAtom::Register { thread, register } => value(Seen::Register(*thread, *register)),
            StateAtom::Cell(address) => value(Seen::Cell(*address)),
        }
    }

    /// What runs do not show.
    fn warnings(&self) -> Vec<Diagnostic> {
        let not_counted = self.program.properties.iter().filter(|property| !is_counted(&property.kind));
        let warning = |property: &weir_ir::Property| {
            let name = self.program.property_text(property);
            let message = format!("`{name}` is not exported: runs on hardware are only observed at their end");
            left_out(message, "ask about the end of runs (`exists`, `always`), or use `weir check`", property.span)
        };
        not_counted.map(warning).collect()
    }
}

/// What is observed: what the conditions on final states mention; without any, the first named registers and cells.
fn seen(program: &Program) -> Vec<Seen> {
    let mut seen: Vec<Seen> = Vec::new();
    let runs = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::One;
    let mut known = std::collections::HashSet::new();
    let mut mention = |condition: &StateExpr| {
        condition.for_each_leaf(&mut |atom| {
            let found = match atom {
                StateAtom::Register { thread, register } if runs(thread) => Seen::Register(*thread, *register),
                StateAtom::At { thread, .. } if runs(thread) => Seen::Place(*thread),
                StateAtom::Cell(address) => Seen::Cell(*address),
                StateAtom::Register { .. } | StateAtom::At { .. } => return,
            };
            let key = match &found {
                Seen::Register(thread, register) => (0, i64::from(thread.0), i64::from(register.0)),
                Seen::Place(thread) => (1, i64::from(thread.0), 0),
                Seen::Cell(address) => (2, *address, 0),
            };
            if known.insert(key) {
                seen.push(found);
            }
        });
    };
    let counted = program.properties.iter().filter(|property| is_counted(&property.kind));
    counted.filter_map(|property| property.kind.condition()).for_each(&mut mention);
    if !seen.is_empty() {
        return seen;
    }
    for thread in program.running_threads() {
        let registers = program.body(thread).registers.iter().enumerate();
        let named = registers.filter(|(_, register)| !register.is_temporary);
        seen.extend(named.map(|(at, _)| Seen::Register(thread, RegId::new(at))));
    }
    seen.extend(program.shared.iter().flat_map(|shared| shared.addresses().take(MOST_SHOWN)).map(Seen::Cell));
    seen.truncate(MOST_SHOWN);
    seen
}

/// Elements of an initializer, each with a comma.
fn list(elements: &[String]) -> String {
    elements.iter().map(|element| format!("{element}, ")).collect()
}

//! A straight-line program as a litmus test for `X86_64`, which herd7, litmus7 and Weir read.
//!
//! Cells and registers have 64 bits. Each register of a thread is one of the processor; arithmetic takes several
//! instructions, of which only the last or the first accesses memory, so that the final states are the same. A test
//! asks one question about its final states: the first `exists` or `always` of the program.
//!
//! Choices, loops, waiting, assertions, computed addresses, the lock and cells with ranges or widths are refused.

mod code;
mod condition;

use std::fmt::Write as _;

use weir_ir::flow::Ranges;
use weir_ir::sort::sort_by_key;
use weir_ir::{Diagnostic, EdgeId, Interrupt, LocId, Program, PropertyKind, RegId, StateAtom, ThreadId};

use self::code::Assembler;
use crate::export::Export;
use crate::export::names::{Names, cleaned};
use crate::export::refusal::{Refusal, left_out, unsupported_parts};

/// Registers of the processor that hold those of a thread. `rax` and `r15` are left for intermediate values.
const REGISTERS: [(&str, &str); 12] = [
    ("rbx", "bl"),
    ("rcx", "cl"),
    ("rdx", "dl"),
    ("rsi", "sil"),
    ("rdi", "dil"),
    ("r8", "r8b"),
    ("r9", "r9b"),
    ("r10", "r10b"),
    ("r11", "r11b"),
    ("r12", "r12b"),
    ("r13", "r13b"),
    ("r14", "r14b"),
];

/// The program as a litmus test, or what stands in the way.
///
/// # Errors
/// Everything that cannot be expressed, in order of the source.
pub fn print(program: &Program, interrupt: &dyn Interrupt) -> Result<Export, Vec<Diagnostic>> {
    let mut refused = unsupported_parts(program, "a litmus test");
    refused.extend(unfit_cells(program));
    if !refused.is_empty() {
        sort_by_key(&mut refused, |error| error.primary.span);
        return Err(refused);
    }
    let ranges = Ranges::of_until(program, interrupt);
    Test::new(program, &ranges).print()
}

fn unfit_cells(program: &Program) -> Vec<Diagnostic> {
    let unfit = program.shared.iter().filter_map(|shared| {
        let what = match (shared.range, shared.width) {
            (Some(_), _) => "a range",
            (None, Some(_)) => "a width",
            (None, None) => return None,
        };
        let message = format!("`{}` has {what}, and the cells of an exported litmus test have none", shared.name);
        Some(Refusal::new(message, "declare it without").at(shared.span))
    });
    unfit.collect()
}

/// What everything in a test refers to.
struct Test<'p> {
    program: &'p Program,
    ranges: &'p Ranges,
    /// The names of all cells that are accessed or observed.
    cells: Vec<(i64, String)>,
}

impl<'p> Test<'p> {
    fn new(program: &'p Program, ranges: &'p Ranges) -> Self {
        let mut addresses: Vec<i64> = Vec::new();
        for edge in program.running_threads().flat_map(|thread| program.body(thread).edges()) {
            addresses.extend(edge.instruction.accesses().filter_map(|address| address.constant()));
        }
        for condition in program.properties.iter().filter_map(|property| property.kind.condition()) {
            condition.for_each_leaf(&mut |atom| {
                if let StateAtom::Cell(address) = atom {
                    addresses.push(*address);
                }
            });
        }
        addresses.sort_unstable();
        addresses.dedup();
        let mut names = Names::new(reserved());
        let mut name = |address: i64| {
            let wanted = cleaned(&program.cell_name(address));
            (address, names.unused(&wanted))
        };
        let cells = addresses.into_iter().map(&mut name).collect();
        Self { program, ranges, cells }
    }

    fn print(&self) -> Result<Export, Vec<Diagnostic>> {
        let mut refused = Vec::new();
        let mut columns = Vec::new();
        for thread in self.program.running_threads() {
            match self.column(thread) {
                Ok(column) => columns.push(column),
                Err(error) => refused.push(*error),
            }
        }
        let (question, warnings) = self.question().unwrap_or_else(|error| {
            refused.push(*error);
            Default::default()
        });
        if !refused.is_empty() {
            sort_by_key(&mut refused, |error| error.primary.span);
            return Err(refused);
        }
        let text = format!("{}{}{question}\n", self.header(), table(&columns));
        Ok(Export { text, warnings })
    }

    fn header(&self) -> String {
        let file = self.program.source.name().rsplit('/').next().unwrap_or_default();
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let is_allowed = |character: &char| character.is_ascii_alphanumeric() || "+-_".contains(*character);
        let name: String = stem.chars().filter(is_allowed).collect();
        let mut text = format!("X86_64 {}\n", if name.is_empty() { "test" } else { &name });
        let mut named = Vec::new();
        for (number, thread) in self.program.running_threads().enumerate() {
            let registers = &self.program.body(thread).registers;
            let used = registers.iter().zip(REGISTERS).filter(|(register, _)| !register.is_temporary);
            let owner = &self.program.thread(thread).name;
            named.extend(used.map(|(own, (name, _))| format!("{owner}.{} is {number}:{name}", own.name)));
        }
        let _ = writeln!(text, "\"{}\"", named.join(", ").replace(['"', '{', '}', '\n'], "_"));
        text.push_str("{\n");
        for (address, name) in &self.cells {
            let _ = writeln!(text, "  int64_t {name}={};", self.program.initial_value(*address));
        }
        text.push_str("}\n");
        text
    }

    /// The instructions of a thread.
    fn column(&self, thread: ThreadId) -> Result<Vec<String>, Box<Diagnostic>> {
        let body = self.program.body(thread);
        if body.registers.len() > REGISTERS.len() {
            let message = format!(
                "thread `{}` has {} registers, and a litmus test has {} for it",
                self.program.thread(thread).name,
                body.registers.len(),
                REGISTERS.len()
            );
            let refusal = Refusal::new(message, "use fewer registers");
            return Err(Box::new(refusal.at(self.program.thread(thread).span)));
        }
        let mut assembler = Assembler { test: self, lines: Vec::new() };
        for edge in self.path(thread)? {
            let edge = body.edge(edge);
            assembler.instruction(edge).map_err(|refusal| Box::new(refusal.at(edge.span)))?;
        }
        Ok(assembler.lines)
    }

    /// The edges of a thread, one after the other, if that is all it can do.
    fn path(&self, thread: ThreadId) -> Result<Vec<EdgeId>, Box<Diagnostic>> {
        let body = self.program.body(thread);
        let mut visited = vec![false; body.locations.len()];
        let mut path = Vec::new();
        let mut at: LocId = body.entry;
        loop {
            let edges: Vec<EdgeId> =
                body.edges_from(at).map(|(id, _)| id).filter(|&id| self.ranges.can_take(thread, id)).collect();
            let is_again = std::mem::replace(&mut visited[at.index()], true);
            let refused = |message: &str, edge: EdgeId| {
                let help = "a litmus test is written for straight-line threads; unroll loops, or try `--to c`";
                Box::new(Refusal::new(message, help).at(body.edge(edge).span))
            };
            match edges[..] {
                [] if body.is_done(at) => return Ok(path),
                [] => {
                    let message = format!("thread `{}` cannot end", self.program.thread(thread).name);
                    let refusal = Refusal::new(message, "a litmus test asks about final states");
                    return Err(Box::new(refusal.at(body.locations[at.index()].span)));
                }
                [only] if is_again => return Err(refused("a loop cannot be exported to a litmus test", only)),
                [only] => {
                    path.push(only);
                    at = body.edge(only).to;
                }
                [first, ..] => return Err(refused("a choice cannot be exported to a litmus test", first)),
            }
        }
    }

    /// The question, and warnings about others.
    fn question(&self) -> Result<(String, Vec<Diagnostic>), Box<Diagnostic>> {
        let is_final = |kind: &PropertyKind| matches!(kind, PropertyKind::Exists(_) | PropertyKind::Always(_));
        let asked = self.program.properties.iter().position(|property| is_final(&property.kind));
        let others = self.program.properties.iter().enumerate().filter(|(at, _)| Some(*at) != asked);
        let warnings = others.map(|(_, property)| {
            let name = self.program.property_text(property);
            let message = format!("`{name}` is not exported: a litmus test asks one question about final states");
            left_out(message, "leave only this `exists` or `always`, or use `weir check`", property.span)
        });
        let warnings = warnings.collect();
        let Some(property) = asked.map(|at| &self.program.properties[at]) else {
            let places: Vec<String> = self.cells.iter().map(|(_, name)| format!("{name};")).collect();
            return Ok((format!("locations [{}]\nforall (true)", places.join(" ")), warnings));
        };
        let Some(condition) = property.kind.condition() else { return Ok((String::new(), warnings)) };
        let text = condition::text(self, condition).map_err(|refusal| Box::new(refusal.at(property.span)))?;
        let quantifier = if matches!(property.kind, PropertyKind::Exists(_)) { "exists" } else { "forall" };
        Ok((format!("{quantifier} ({text})"), warnings))
    }

    /// Where a straight-line thread ends.
    fn end(&self, thread: ThreadId) -> Option<LocId> {
        let body = self.program.body(thread);
        let path = self.path(thread).ok()?;
        Some(path.last().map_or(body.entry, |edge| body.edge(*edge).to))
    }

    fn cell(&self, address: i64) -> &str {
        let found = self.cells.binary_search_by_key(&address, |(address, _)| *address);
        found.map_or("", |at| self.cells[at].1.as_str())
    }

    /// The number of a thread in the test, if it runs.
    fn number(&self, thread: ThreadId) -> Option<usize> {
        self.program.running_threads().position(|other| other == thread)
    }
}

/// The register of the processor.
fn register(register: RegId) -> &'static str {
    REGISTERS[register.index() % REGISTERS.len()].0
}

/// Names of registers and keywords, which no cell can have.
fn reserved() -> impl Iterator<Item = &'static str> {
    let keywords = "exists forall observed locations filter true false not final with and or eax ebx ecx edx esi edi \
                    ebp esp rbp rsp eip rip ax bx cx dx al ah bh ch dh si di bp sp";
    REGISTERS.iter().flat_map(|(wide, low)| [*wide, *low]).chain(["rax", "r15"]).chain(keywords.split_whitespace())
}

/// The columns side by side.
fn table(columns: &[Vec<String>]) -> String {
    let widths: Vec<usize> =
        columns.iter().map(|column| column.iter().map(String::len).max().unwrap_or(0).max(2)).collect();
    let mut text = String::new();
    let mut row = |cells: Vec<&str>| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| format!(" {cell:width$} ")).collect();
        let _ = writeln!(text, "{};", padded.join("|"));
    };
    let names: Vec<String> = (0..columns.len()).map(|number| format!("P{number}")).collect();
    row(names.iter().map(String::as_str).collect());
    let length = columns.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..length {
        row(columns.iter().map(|column| column.get(at).map_or("", String::as_str)).collect());
    }
    text
}

//! From an ELF file to a program.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Body, Diagnostic, Gather, Interrupt, Multiplicity, Program, Source, Span, Thread, ThreadId, Value};

use crate::accesses::{Accesses, accesses, note_uses};
use crate::call::Call;
use crate::cells::Cells;
use crate::debug::{Debug, Missing, Returned};
use crate::emit::emit;
use crate::flow::{Start, explore};
use crate::graph::Flow;
use crate::heap;
use crate::image::Image;
use crate::limit::{Compiled, ModelLimit};
use crate::listing::{Files, Listing, Point};
use crate::local;
use crate::models::{Models, Outcome};
use crate::objects::{Objects, Part};
use crate::ops::Reg;
use crate::pointers;
use crate::property::{NamedThread, Written};
use crate::refusal::Refusal;
use crate::run;

/// What to make of a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The calls that threads make: `producer(&q, 3)`, or `P=producer(&q, 3)` for a thread called `P`.
    pub threads: Vec<String>,
    /// Calls that are made before the threads begin, in order.
    pub init: Vec<String>,
    /// What must hold: `forbid q.len > 4`.
    pub properties: Vec<String>,
    /// What functions do, by name.
    pub models: BTreeMap<String, Outcome>,
}

impl Options {
    /// As options of the command line.
    fn given(&self) -> Vec<(String, String)> {
        let calls = [("--thread", &self.threads), ("--init", &self.init), ("--claim", &self.properties)];
        let texts = calls.iter().flat_map(|(option, texts)| texts.iter().map(|text| ((*option).into(), text.clone())));
        let models = self.models.iter().map(|(name, what)| ("--function".into(), format!("{name}={}", what.word())));
        texts.chain(models).collect()
    }
}

/// More threads than this are refused.
const MOST_THREADS: usize = 256;

/// How often threads are followed, to find out which functions they call through pointers.
const MOST_ROUNDS: usize = 4;

/// Refusals that debugging information may well prevent.
const NEEDS_NAMES: [&str; 3] = ["unknown-object", "not-a-number", "no-step"];

/// Why there is no program.
#[derive(Clone, Debug)]
pub enum ReadError {
    /// The file or the options cannot be used.
    Refused(Refusal),
    /// The code cannot be used, for a reason that has a place in it.
    Invalid(Source, Box<Diagnostic>),
    /// Reading was interrupted.
    Interrupted,
}

/// Reads a file called `name` as a program.
///
/// # Errors
/// If the file is damaged, names are unknown, or the code does something that is not supported.
pub fn read(
    name: &str,
    bytes: &[u8],
    options: &Options,
    files: &Files<'_>,
    interrupt: &dyn Interrupt,
) -> Result<Compiled, ReadError> {
    let image = Image::read(bytes).map_err(ReadError::Refused)?;
    let debug = Debug::read(&image.debug);
    let mut reader = Reader { name, image, debug, options, files, interrupt };
    reader.program().map_err(|refusal| reader.error(refusal))
}

/// Names and types are not there, for a reason that can be told.
fn no_names(missing: &Missing, span: Span) -> Diagnostic {
    Diagnostic::warning("no-names", missing.message(), span).label("in the file with this code").help(missing.help())
}

/// What the allocator of the model does not do.
fn no_reuse(span: Span) -> Diagnostic {
    let message = "errors that need the same block of memory twice (ABA) are not found";
    Diagnostic::warning("no-reuse", message, span)
        .label("threads free and allocate memory, and in the model freed memory is not given out again")
        .help("to look for them, take nodes from a list of your own in place of `malloc`")
}

/// The name that a thread is given. Conditions must be able to mention it.
fn thread_name<'t>(name: &'t str, text: &str) -> Result<&'t str, Refusal> {
    let is_word = |c: char| c.is_alphanumeric() || "_.#:$".contains(c);
    if !name.is_empty() && name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(name);
    }
    let message = if name.is_empty() {
        format!("`{text}` gives the thread an empty name")
    } else {
        format!("`{name}` cannot be the name of a thread")
    };
    Err(Refusal::new("malformed-call", message).help("write `P=producer(&q, 3)`, or leave `P=` out"))
}

struct Reader<'a> {
    name: &'a str,
    image: Image,
    debug: Debug,
    options: &'a Options,
    files: &'a Files<'a>,
    interrupt: &'a dyn Interrupt,
}

/// A thread, on its way to become an automaton.
struct Planned {
    name: String,
    /// What its function returns, if there is debugging information about it.
    result: Option<Returned>,
    flow: Flow,
    accesses: Accesses,
}

impl Planned {
    fn named<'p>(&'p self, body: &'p Body) -> NamedThread<'p> {
        NamedThread { name: &self.name, result: self.result, body }
    }
}

impl Reader<'_> {
    fn objects(&self) -> Objects {
        Objects::new(&self.image, |address, name| match name.starts_with("malloc#") {
            true => self.allocated(address, name),
            false if name.starts_with("freed#") => {
                vec![Part { offset: 0, size: 8, name: name.to_owned(), is_signed: false }]
            }
            false => self.debug.parts(address),
        })
    }

    /// The parts of allocated memory, by how code has used it at load time. What it has not used is one part where it
    /// can only be one.
    fn allocated(&self, base: u64, name: &str) -> Vec<Part> {
        let Some(symbol) = self.image.symbols.iter().find(|symbol| symbol.address == base && symbol.name == name)
        else {
            return Vec::new();
        };
        let end = base + symbol.size;
        let mut parts = Vec::new();
        let mut at = base;
        let written = self.image.written.range(base..end).map(|(&at, &size)| (at, size));
        for (start, size) in written.chain([(end, 0)]) {
            if start > at {
                let gap = start - at;
                match gap {
                    1 | 2 | 4 if at.is_multiple_of(gap) => parts.push((at, gap as u32)),
                    // Padding.
                    ..8 => {}
                    _ => return Vec::new(),
                }
            }
            if size > 0 {
                parts.push((start, size));
            }
            at = start + u64::from(size);
        }
        let part =
            |(at, size)| Part { offset: at - base, size, name: format!("{name}+{:#x}", at - base), is_signed: false };
        parts.into_iter().map(part).collect()
    }

    fn program(&mut self) -> Result<Compiled, Refusal> {
        if self.options.threads.is_empty() {
            return Err(Refusal::new("no-thread", "nothing says which functions of the file run as threads")
                .help("name a call for each thread: `--thread 'producer(&q, 3)' --thread 'consumer(&q)'`"));
        }
        if self.options.threads.len() > MOST_THREADS {
            return Err(Refusal::new("too-large", format!("there are more than {MOST_THREADS} threads")));
        }
        let properties: Vec<Written> =
            self.options.properties.iter().map(|text| Written::parse(text)).collect::<Result<_, _>>()?;
        local::declare(&mut self.image, self.options.threads.len())?;
        self.initialize()?;
        let threads = self.explore()?;
        let frees = threads.iter().any(|thread| thread.flow.frees);
        if frees && heap::has_large_block(&self.image) {
            return Err(Refusal::new("too-large", "memory is freed, and a block of more than 4032 bytes is allocated")
                .help("allocate less, or model the function that frees: `--function free=nothing`"));
        }
        let headers = if frees { heap::name_headers(&mut self.image) } else { Vec::new() };
        let objects = self.objects();
        let names: Vec<&str> = threads.iter().map(|thread| thread.name.as_str()).collect();
        let mut observed: Vec<(Value, u32)> = headers.into_iter().map(|header| (header, 8)).collect();
        for property in &properties {
            observed.extend(property.observed(&objects, &names)?);
        }
        let shared: Vec<_> = threads.iter().flat_map(|thread| thread.accesses.shared.iter().copied()).collect();
        let cells = Cells::new(&self.image, &objects, &shared, &observed)?;
        let listing = self.listing(&objects, &threads, &properties);
        let (mut bodies, mut limits) = (Vec::new(), Vec::new());
        for (number, thread) in threads.iter().enumerate() {
            let registers: Vec<Reg> =
                properties.iter().flat_map(|property| property.registers(&names, number)).collect();
            let span = |node: usize| listing.span(self.point(&thread.flow, node));
            let private = (&thread.accesses.private[..], frees);
            let (body, ends) = emit(&self.image, &thread.flow, &cells, private, &span, &registers)?;
            bodies.push(body);
            limits.extend(ends.iter().map(|&(edge, kind)| ModelLimit { thread: ThreadId::new(number), edge, kind }));
        }
        let named: Vec<NamedThread<'_>> =
            threads.iter().zip(&bodies).map(|(thread, body)| thread.named(body)).collect();
        let mut lowered = Vec::new();
        for (property, &span) in properties.iter().zip(&listing.header[threads.len()..]) {
            lowered.push(property.lower(&listing.source, &named, (&objects, &cells), span)?);
        }
        let mut program = Program {
            source: listing.source.clone(),
            options: self.options.given(),
            shared: cells.declarations(),
            properties: lowered,
            ..Program::default()
        };
        for ((thread, body), &span) in threads.iter().zip(bodies).zip(&listing.header) {
            program.threads.push(Thread {
                name: thread.name.clone(),
                family: (thread.name.clone(), None),
                multiplicity: Multiplicity::One,
                weight: 1,
                body,
                span,
            });
        }
        match weir_ir::validate(&program).into_iter().find(Diagnostic::is_error) {
            Some(error) => Err(Refusal::new("not-valid", format!("the program is not valid: {}", error.message))),
            None => {
                let allocates = threads.iter().any(|thread| !thread.flow.sites.is_empty());
                let first = program.threads[0].span;
                let mut warnings: Vec<Diagnostic> =
                    self.debug.missing.iter().map(|missing| no_names(missing, first)).collect();
                warnings.extend((frees && allocates).then(|| no_reuse(first)));
                Ok(Compiled { program, limits, warnings })
            }
        }
    }

    /// Runs what prepares memory.
    fn initialize(&mut self) -> Result<(), Refusal> {
        for text in &self.options.init {
            let call = Call::parse(text, &self.image, &self.objects(), &self.debug)?;
            run::call(&mut self.image, call.entry, &call.arguments, self.interrupt)?;
        }
        Ok(())
    }

    fn explore(&mut self) -> Result<Vec<Planned>, Refusal> {
        let models = Models::new(self.options.models.clone());
        let objects = self.objects();
        let mut calls: Vec<(Option<&str>, Call)> = Vec::new();
        for text in &self.options.threads {
            let (name, call) = match text.split_once('=') {
                Some((name, call)) => (Some(thread_name(name.trim(), text)?), call),
                None => (None, text.as_str()),
            };
            calls.push((name, Call::parse(call, &self.image, &objects, &self.debug)?));
        }
        let flows = self.flows(&models, &calls)?;
        flows.iter().flat_map(|flow| &flow.sites).for_each(|site| site.declare(&mut self.image));
        let mut threads: Vec<Planned> = Vec::new();
        for (number, flow) in flows.into_iter().enumerate() {
            let accesses = accesses(&self.image, number, &flow)?;
            note_uses(&mut self.image, &accesses.shared);
            let named = |(name, call): &(Option<&str>, Call)| name.unwrap_or(&call.name).to_owned();
            let name = named(&calls[number]);
            let copies = calls.iter().filter(|call| named(call) == name).count();
            let before = calls[..number].iter().filter(|call| named(call) == name).count();
            let name = if copies > 1 { format!("{name}#{}", before + 1) } else { name };
            threads.push(Planned { name, result: calls[number].1.result, flow, accesses });
        }
        Ok(threads)
    }

    /// The code of all threads. What calls of pointers can go to depends on what all of them store.
    fn flows(&self, models: &Models, calls: &[(Option<&str>, Call)]) -> Result<Vec<Flow>, Refusal> {
        let mut functions = pointers::functions(&self.image, &BTreeSet::new());
        for round in 1.. {
            let mut flows = Vec::new();
            for (number, (_, call)) in calls.iter().enumerate() {
                let start = Start { thread: number, entry: call.entry, arguments: call.arguments.clone() };
                flows.push(explore(&self.image, models, &start, &functions, self.interrupt)?);
            }
            if !flows.iter().any(|flow| flow.calls_pointers) {
                return Ok(flows);
            }
            let stored = flows.iter().flat_map(|flow| pointers::stored(&self.image, flow)).gather();
            let more = pointers::functions(&self.image, &stored);
            if round == MOST_ROUNDS || more.iter().all(|function| functions.contains(function)) {
                return Ok(flows);
            }
            functions = more;
        }
        Ok(Vec::new())
    }

    /// The code as text: after the calls of the threads and the properties.
    fn listing(&self, objects: &Objects, threads: &[Planned], properties: &[Written]) -> Listing {
        let calls = self.options.threads.iter().map(|call| format!("thread {call}"));
        let header: Vec<String> = calls.chain(properties.iter().map(|property| property.text.clone())).collect();
        let flows = threads.iter().map(|thread| &thread.flow);
        let points: BTreeSet<Point> =
            flows.flat_map(|flow| (0..flow.nodes.len()).map(|node| self.point(flow, node))).gather();
        Listing::new(self.name, &header, &self.image, objects, (&self.debug, self.files), points)
    }

    /// The instruction at a point of the code.
    fn point(&self, flow: &Flow, node: usize) -> Point {
        let node = &flow.nodes[node];
        Point::new(&self.debug, node.address, &flow.callers[node.context])
    }

    /// A refusal with the instruction that it is about.
    fn error(&self, refusal: Refusal) -> ReadError {
        if refusal.code == "interrupted" {
            return ReadError::Interrupted;
        }
        let refusal = match &self.debug.missing {
            Some(missing) if NEEDS_NAMES.contains(&refusal.code) => {
                refusal.help(format!("{}; {}", missing.message(), missing.help()))
            }
            _ => refusal,
        };
        let Some(address) = refusal.at else { return ReadError::Refused(refusal) };
        let objects = self.objects();
        let point = Point::new(&self.debug, address, &refusal.callers);
        let listing = Listing::new(self.name, &[], &self.image, &objects, (&self.debug, self.files), [point]);
        let span: Span = listing.span(point);
        let text = listing.source.text().split("  ; ").next().unwrap_or_default().trim_end();
        let text: Vec<&str> = text.split_whitespace().collect();
        let mut diagnostic =
            Diagnostic::error(refusal.code, refusal.message, span).label(format!("compiled to `{}`", text.join(" ")));
        diagnostic.help = refusal.help;
        ReadError::Invalid(listing.source, Box::new(diagnostic))
    }
}

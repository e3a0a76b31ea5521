//! Threads and procedures: headers, then bodies. Replicated threads become one thread each.

use std::collections::{HashMap, HashSet};

use weir_ir::{Body, Diagnostic, Instruction, LocId, Multiplicity, Poll, Procedure, Span, Thread, ThreadId, Value};

use super::super::ast::{File, Name, Replication, ThreadDecl};
use super::super::limits::MAX_THREADS;
use super::super::sink::Sink;
use super::builder::{self, Budget, Lowered, Returns, Surroundings, Task};
use super::calls::classify;
use super::check;
use super::constants::Constants;
use super::name_errors::duplicate;
use super::names::{Copies, Family, Globals, ProcInfo, Used};
use super::properties::View;
use super::size::Size;

/// Checks headers and texts of all threads and procedures, and numbers the threads.
pub(super) fn prepare<'a>(file: &'a File<'a>, globals: &mut Globals<'a>, used: &mut Used, sink: &mut Sink) {
    if file.threads.is_empty() {
        let error = Diagnostic::error("no-threads", "the program has no threads", Span::default());
        sink.error(error.help("add one: `thread P0 { … }`"));
    }
    used.thread_locals = vec![false; file.thread_locals.len()];
    used.procedures = vec![false; file.procedures.len()];
    globals.thread_facts = file.threads.iter().map(|thread| check::thread_body(&thread.body, sink)).collect();
    for declaration in &file.procedures {
        refuse_repeated_parameters(&declaration.parameters, sink);
        let facts = check::procedure_body(&declaration.body, sink);
        globals.procedures.push(ProcInfo { declaration, facts, kept: None, stays: false, size: Size::default() });
    }
    classify(globals, sink);
    let mut count = 0;
    for (at, declaration) in file.threads.iter().enumerate() {
        let given = globals.given_copies.get(at).and_then(|given| given.as_ref().map(|&(_, number)| number));
        let mut constants = Constants { globals, parameter: None, registers: None, sink, used };
        let copies = copies(declaration, given, MAX_THREADS.saturating_sub(count), &mut constants);
        let weight = weight(declaration, &mut constants);
        let family = Family { declaration, first: ThreadId::new(count), copies, weight };
        count += family.threads().count();
        globals.families.push(family);
    }
    refuse_idle_program(globals, sink);
}

/// Threads that only `spawn` starts need someone to start them.
fn refuse_idle_program(globals: &Globals, sink: &mut Sink) {
    let Some(first) = globals.families.first() else { return };
    if globals.families.iter().all(|family| family.copies == Copies::Spawned) {
        let error = Diagnostic::error("no-threads", "no thread runs at the start", first.declaration.span);
        let is_template =
            |family: &Family<'_>| matches!(family.declaration.replication, Some(Replication::Arbitrary(_)));
        let help = if globals.families.iter().any(is_template) {
            "give at least one copy of a thread, as in `-D 'T[*]=1'`"
        } else {
            "a thread with `[0]` runs only when another thread spawns it; add a thread that does"
        };
        sink.error(error.help(help));
    }
}

fn refuse_repeated_parameters(parameters: &[Name], sink: &mut Sink) {
    let mut first: HashMap<&str, Span> = HashMap::new();
    for &parameter in parameters {
        if let Some(&span) = first.get(parameter.text) {
            sink.error(duplicate(parameter, "a parameter", span));
        }
        first.entry(parameter.text).or_insert(parameter.span);
    }
}

/// How many threads a declaration stands for, if this many copies are given of what would be arbitrarily many.
fn copies(declaration: &ThreadDecl, given: Option<Value>, left: usize, constants: &mut Constants) -> Copies {
    let name = declaration.name.text;
    let copies = match &declaration.replication {
        None => Copies::One,
        Some(Replication::Arbitrary(span)) => match given {
            None => Copies::Arbitrary,
            Some(0) => Copies::Spawned,
            Some(number) if (1..=left as Value).contains(&number) => Copies::Instances(number as u32),
            Some(number) if number < 0 => {
                let message = format!("there cannot be {number} copies of `{name}`");
                constants.sink.error(Diagnostic::error("bad-replication", message, *span));
                Copies::One
            }
            Some(_) => {
                too_many_threads(*span, constants.sink);
                Copies::One
            }
        },
        Some(Replication::Times(times)) => match constants.value(times) {
            Some(0) => Copies::Spawned,
            Some(times) if (1..=left as Value).contains(&times) => return Copies::Instances(times as u32),
            Some(count) if count < 0 => {
                let message = format!("a thread cannot be replicated {count} times");
                constants.sink.error(Diagnostic::error("bad-replication", message, times.span));
                Copies::One
            }
            Some(_) => {
                too_many_threads(times.span, constants.sink);
                Copies::One
            }
            None => Copies::One,
        },
    };
    if left == 0 {
        too_many_threads(declaration.span, constants.sink);
    }
    let is_arbitrary = matches!(declaration.replication, Some(Replication::Arbitrary(_)));
    let has_numbers = matches!(copies, Copies::Instances(_)) && !is_arbitrary;
    if let (Some(parameter), false) = (declaration.parameter, has_numbers) {
        let why = match copies {
            _ if is_arbitrary => "the copies of a `[*]` thread have no numbers",
            Copies::Spawned => "spawned threads have no numbers",
            _ => "a single thread has no number",
        };
        let mut error = Diagnostic::error("bad-parameter", why, parameter.span);
        if let Some(Replication::Arbitrary(span)) = declaration.replication {
            error = error.also(span, "arbitrarily many");
        }
        constants.sink.error(error.help(format!("remove it, or give the number of copies: `thread {name}(i)[3]`")));
    }
    copies
}

fn too_many_threads(span: Span, sink: &mut Sink) {
    let message = format!("the program has more than {MAX_THREADS} threads");
    let error = Diagnostic::error("too-many-threads", message, span);
    sink.error(error.help("`[*]` stands for arbitrarily many"));
}

fn weight(declaration: &ThreadDecl, constants: &mut Constants) -> u32 {
    let Some(written) = &declaration.weight else { return 1 };
    let Some(weight) = constants.value(written) else { return 1 };
    match u32::try_from(weight) {
        Ok(weight) if weight >= 1 => weight,
        _ => {
            let message = format!("a weight must be between 1 and {}, but this is {weight}", u32::MAX);
            constants.sink.error(Diagnostic::error("bad-weight", message, written.span));
            1
        }
    }
}

/// The bodies of a program.
#[derive(Default)]
pub(super) struct Bodies<'a> {
    pub(super) threads: Vec<Thread>,
    pub(super) procedures: Vec<Procedure>,
    /// One for each thread; none for one in error.
    pub(super) views: Vec<Option<View<'a>>>,
}

/// Lowers all bodies.
pub(super) fn lower<'a>(
    globals: &Globals<'a>,
    reserved: &HashSet<&'a str>,
    mut budget: Budget,
    used: &mut Used,
    sink: &mut Sink,
    poll: &Poll<'_>,
) -> Bodies<'a> {
    let mut bodies = Bodies::default();
    let failed_before = sink.failed();
    for (family, facts) in globals.families.iter().zip(&globals.thread_facts) {
        for instance in 0..family.threads().count() {
            let number = family.declaration.parameter.map(|parameter| (parameter, instance as Value));
            let block = &family.declaration.body;
            let copy = Some((family, instance));
            let task = Task { block, facts, returns: Returns::Nowhere, number, copy, parameters: &[] };
            refuse_hidden_name(globals, family, sink);
            let errors = sink.errors();
            let around = Surroundings { globals, reserved, used, budget: &mut budget, sink, poll };
            let lowered = builder::lower(&task, around).filter(|_| sink.errors() == errors);
            // A thread that seems to do nothing may only lack what was in error, or be meant to.
            let may_be_idle = failed_before || facts.has_end;
            let (thread, view) = thread(family, instance, lowered, may_be_idle, sink).unzip();
            bodies.threads.extend(thread);
            bodies.views.push(view);
        }
    }
    // Procedures that nobody calls are lowered too, for their errors.
    for (at, procedure) in globals.procedures.iter().enumerate() {
        if procedure.kept.is_none() && used.procedures.get(at) == Some(&true) && !procedure.stays {
            continue;
        }
        let declaration = procedure.declaration;
        let (block, parameters) = (&declaration.body, &declaration.parameters[..]);
        let (facts, returns) = (&procedure.facts, Returns::Instruction);
        let task = Task { block, facts, returns, number: None, copy: None, parameters };
        let around = Surroundings { globals, reserved, used, budget: &mut budget, sink, poll };
        let lowered = builder::lower(&task, around);
        if let (Some(_), Some(Lowered { body, parameters, .. })) = (procedure.kept, lowered) {
            let name = declaration.name.text.to_string();
            bodies.procedures.push(Procedure { name, parameters, body, span: declaration.span });
        }
    }
    bodies
}

/// The number of a replicated thread must not hide what the whole file can see.
fn refuse_hidden_name(globals: &Globals, family: &Family, sink: &mut Sink) {
    let Some(parameter) = family.declaration.parameter else { return };
    if let Some((global, span)) = globals.declared(parameter.text) {
        sink.error(duplicate(parameter, global.describe(), span));
    }
}

fn thread<'a>(
    family: &Family<'a>,
    instance: usize,
    lowered: Option<Lowered<'a>>,
    may_be_idle: bool,
    sink: &mut Sink,
) -> Option<(Thread, View<'a>)> {
    let Lowered { body, registers, .. } = lowered?;
    let declaration = family.declaration;
    if body.edges().is_empty() && !may_be_idle {
        let message = format!("thread `{}` does nothing", declaration.name.text);
        let error = Diagnostic::error("empty-thread", message, declaration.span);
        sink.error(error.help("give it something to do (`skip;` is one step), or remove it"));
    }
    let family_name = declaration.name.text.to_string();
    let (name, number, multiplicity) = match family.copies {
        Copies::One => (family_name.clone(), None, Multiplicity::One),
        Copies::Instances(_) => (format!("{family_name}[{instance}]"), Some(instance as u32), Multiplicity::One),
        Copies::Spawned => (family_name.clone(), None, Multiplicity::Spawned),
        Copies::Arbitrary => (family_name.clone(), None, Multiplicity::Arbitrary),
    };
    let view = view(&body, registers);
    let span = declaration.span;
    let thread = Thread { name, family: (family_name, number), multiplicity, weight: family.weight, body, span };
    Some((thread, view))
}

fn view<'a>(body: &Body, registers: HashMap<&'a str, weir_ir::RegId>) -> View<'a> {
    let mut places: HashMap<String, Vec<LocId>> = HashMap::new();
    for loc in body.location_ids() {
        for label in &body.locations[loc.index()].labels {
            places.entry(label.clone()).or_default().push(loc);
        }
    }
    let ends = body.location_ids().filter(|&loc| body.is_done(loc)).collect();
    let calls = body.edges().iter().any(|edge| matches!(edge.instruction, Instruction::Call { .. }));
    View { registers, places, ends, calls }
}

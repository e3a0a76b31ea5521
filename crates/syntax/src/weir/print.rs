//! A program as `.weir` text: any program, from any front end or pass, with any control flow.
//!
//! Reading the text back gives the same program: the same automata on the locations that control flow
//! reaches (edges of one location may come in another order), the same cells, registers and properties.
//! So it has as many states, and the same verdicts. What is not in the text: constants (their values
//! are), spans, and locations that no path reaches.
//!
//! Some things read back differently, with the same meaning. Names that `.weir` does not allow are
//! replaced. A replicated thread is printed once for each instance. `terminate` is a `skip` where it does not
//! lead to the end of the text. An edge other than an assertion that leads to the place of failed assertions
//! takes one step more to get there, and so does a failing assertion where a property looks at that place:
//! then there may be more states. A procedure that does not call itself is `noinline`, so that it stays one.
//!
//! What no source can say cannot be read back: a program in which no thread runs from the start, a cell
//! that starts outside its range.

mod ends;
mod layout;
mod names;
mod prune;
mod shape;
mod text;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use weir_ir::flow::strongly_connected_components;
use weir_ir::{
    Body, Comments, CostRule, CostSubject, Gather, Instruction, LocId, Multiplicity, Procedure, Program, RegId,
    Register, Shared, StateAtom, Thread, ThreadId,
};

pub(crate) use self::names::Names;
use self::text::{BodyText, wrapped};

/// The program as `.weir` text.
pub fn print(program: &Program) -> String {
    print_with(program, &Comments::default())
}

/// The program as `.weir` text, with comments.
pub fn print_with(program: &Program, comments: &Comments) -> String {
    let (mut program, mut labels) = tidy(program);
    let header = comments.header.iter().map(|line| format!("{}\n", format!("// {line}").trim_end()));
    let mut blocks = vec![header.collect(), shared_text(&program.shared), thread_locals_text(&program)];
    let recursive = recursive(&program);
    for (procedure, is_recursive) in program.procedures.iter().zip(recursive) {
        let text = procedure_text(&program, comments, procedure, &mut labels);
        let noinline = if is_recursive { "" } else { "noinline " };
        blocks.push(format!("{noinline}{text}"));
    }
    for thread in program.thread_ids() {
        let wanted = observed_places(&program, thread);
        let (text, new_labels) = thread_text(&program, comments, program.thread(thread), &wanted, &mut labels);
        blocks.push(text);
        // Properties come after the threads, and mention places by these names.
        for (loc, label) in new_labels {
            program.threads[thread.index()].body.locations[loc.index()].labels.push(label);
        }
    }
    let properties = program.properties.iter().map(|property| format!("{};\n", program.property_text(property)));
    blocks.push(properties.collect());
    blocks.push(program.costs.iter().map(cost_text).collect());
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// The program without what no path reaches, with ends as the text has them and with valid names; and the
/// labels that are taken.
fn tidy(program: &Program) -> (Program, Names) {
    let spelled_out = ends::spelled_out(&prune::reachable(program));
    names::with_valid_names(&prune::reachable(&spelled_out))
}

/// The program without what no path reaches and with valid names; and the labels that are taken.
pub(crate) fn named(program: &Program) -> (Program, Names) {
    names::with_valid_names(&prune::reachable(program))
}

fn shared_text(declarations: &[Shared]) -> String {
    let mut free = Some(1);
    let mut texts = Vec::new();
    // A declaration of no cells names nothing.
    for shared in declarations.iter().filter(|shared| !shared.initial.is_empty()) {
        texts.push(declaration(shared, free));
        // After the greatest address there is none.
        free = shared.address.checked_add(shared.initial.len() as i64);
    }
    wrapped("shared ", &texts)
}

/// The thread-local variables of all bodies.
fn thread_locals_text(program: &Program) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    let bodies = program.threads.iter().map(|thread| &thread.body);
    for body in bodies.chain(program.procedures.iter().map(|procedure| &procedure.body)) {
        for register in body.thread_locals() {
            let name = &body.registers[register.index()].name;
            if seen.insert(name) {
                names.push(name.clone());
            }
        }
    }
    wrapped("let ", &names)
}

/// For each procedure, whether it can reach a call of itself: others are inlined unless the text says `noinline`.
fn recursive(program: &Program) -> Vec<bool> {
    let called = |procedure: &Procedure| -> Vec<usize> {
        let edges = procedure.body.edges().iter();
        let calls = edges.filter_map(|edge| match edge.instruction {
            Instruction::Call { procedure, .. } => Some(procedure.index()),
            _ => None,
        });
        calls.gather::<BTreeSet<_>>().into_iter().collect()
    };
    let callees: Vec<Vec<usize>> = program.procedures.iter().map(called).collect();
    let mut recursive = vec![false; callees.len()];
    for group in strongly_connected_components(&callees) {
        let is_one = group.len() > 1 || callees[group[0]].contains(&group[0]);
        group.into_iter().for_each(|member| recursive[member] = is_one);
    }
    recursive
}

/// One declaration, where the next free address is `free`.
fn declaration(shared: &Shared, free: Option<i64>) -> String {
    let mut text = shared.name.clone();
    if shared.is_array {
        let _ = write!(text, "[{}]", shared.initial.len());
    }
    if Some(shared.address) != free {
        let _ = write!(text, " @ {}", shared.address);
    }
    if let Some(range) = shared.range {
        let _ = write!(text, ": {}..{}", range.low, range.high);
    }
    if let Some(width) = shared.width {
        let _ = write!(text, ": {}", width.name());
    }
    let first = shared.initial[0];
    if shared.initial.iter().any(|&value| value != first) {
        let values: Vec<String> = shared.initial.iter().map(ToString::to_string).collect();
        let _ = write!(text, " = {{{}}}", values.join(", "));
    } else if first != 0 {
        let _ = write!(text, " = {first}");
    }
    text
}

fn procedure_text(program: &Program, comments: &Comments, procedure: &Procedure, labels: &mut Names) -> String {
    let is_parameter = |register: usize| procedure.parameters.iter().any(|parameter| parameter.index() == register);
    let registers = procedure.body.registers.iter().enumerate();
    let is_own = |at: usize, register: &Register| !is_parameter(at) && !register.is_thread_local;
    let locals: Vec<&Register> =
        registers.filter(|&(at, register)| is_own(at, register)).map(|(_, register)| register).collect();
    let name = |register: &RegId| procedure.body.registers[register.index()].name.clone();
    let parameters: Vec<String> = procedure.parameters.iter().map(name).collect();
    let header = format!("proc {}({})", procedure.name, parameters.join(", "));
    let mut text = body_text((program, comments), &header, &procedure.body, &locals, &[], labels).0;
    let returns = procedure.body.edges().iter().any(|edge| matches!(edge.instruction, Instruction::Return(_)));
    if !returns && is_called_for_a_value(program, procedure) {
        // It never returns, or 0; but the text must say that it has a result.
        text.truncate(text.trim_end().len() - 1);
        text.push_str("    return 0;\n}\n");
    }
    text
}

fn is_called_for_a_value(program: &Program, procedure: &Procedure) -> bool {
    let threads = program.threads.iter().map(|thread| &thread.body);
    let mut edges = threads.chain(program.procedures.iter().map(|one| &one.body)).flat_map(|body| body.edges());
    edges.any(|edge| match edge.instruction {
        Instruction::Call { procedure: called, register: Some(_), .. } => {
            program.procedures.get(called.index()).is_some_and(|one| one.name == procedure.name)
        }
        _ => false,
    })
}

fn thread_text(
    program: &Program,
    comments: &Comments,
    thread: &Thread,
    wanted: &[LocId],
    labels: &mut Names,
) -> (String, Vec<(LocId, String)>) {
    let replication = match thread.multiplicity {
        Multiplicity::One => "",
        Multiplicity::Spawned => "[0]",
        Multiplicity::Arbitrary => "[*]",
    };
    let weight = if thread.weight == 1 { String::new() } else { format!(" weight {}", thread.weight) };
    let header = format!("thread {}{replication}{weight}", thread.name);
    let registers: Vec<&Register> = thread.body.registers.iter().filter(|one| !one.is_thread_local).collect();
    body_text((program, comments), &header, &thread.body, &registers, wanted, labels)
}

/// A body with its header, and the labels that it needed beside its own.
fn body_text(
    (program, comments): (&Program, &Comments),
    header: &str,
    body: &Body,
    registers: &[&Register],
    wanted: &[LocId],
    labels: &mut Names,
) -> (String, Vec<(LocId, String)>) {
    let statements = layout::statements(body);
    let mut text = BodyText::new((program, comments), body, &statements, wanted, labels);
    text.line(&format!("{header} {{"));
    text.declare(registers);
    text.statements(&statements);
    text.line("}");
    text.finish()
}

/// The places of a thread that properties look at and that no name covers.
fn observed_places(program: &Program, thread: ThreadId) -> Vec<LocId> {
    let body = program.body(thread);
    let done: Vec<LocId> = body.location_ids().filter(|&loc| body.is_done(loc)).collect();
    let mut observed = Vec::new();
    for condition in prune::conditions(program) {
        condition.for_each_leaf(&mut |atom| match atom {
            StateAtom::At { thread: seen, locations } if *seen == thread && *locations != done => {
                observed.extend(locations.iter().filter(|loc| body.locations[loc.index()].labels.is_empty()));
            }
            _ => {}
        });
    }
    observed
}

fn cost_text(rule: &CostRule) -> String {
    let subject = match &rule.subject {
        CostSubject::Load => "load",
        CostSubject::Store => "store",
        CostSubject::Fence => "fence",
        CostSubject::ReadModifyWrite => "rmw",
        CostSubject::Lock => "lock",
        CostSubject::Local => "local",
        CostSubject::Label(label) => label,
    };
    format!("cost {subject} = {};\n", rule.cost)
}

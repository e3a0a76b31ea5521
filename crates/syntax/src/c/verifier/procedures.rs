//! Procedures as functions, and threads that are started at run time.
//!
//! A procedure is exported as the body of one more thread, which nobody starts: so all that is known about steps of a
//! thread also serves for those of a procedure, with parameters and thread-local variables that may hold anything. What
//! a thread has for itself in all procedures (thread-local variables, its number as a holder of the lock, whether it
//! goes on at all) is in a `struct own`, to which every function has a pointer.

use weir_ir::{
    Body, Diagnostic, Edge, Instruction, LocId, Location, Multiplicity, ProcId, Program, Range, RegId, Span, Thread,
    ThreadId,
};

use crate::export::refusal::{Refusal, START, UNROLL};

/// A program whose procedures are threads, after all others.
pub(super) struct Flattened {
    pub(super) program: Program,
    /// The same for the analysis of values: parameters and thread-local variables hold anything at the start.
    pub(super) analysed: Program,
    /// The thread that each procedure has become, if it is called.
    pub(super) procedures: Vec<Option<ThreadId>>,
}

impl Flattened {
    pub(super) fn of(program: &Program) -> Self {
        let mut flattened = program.clone();
        let mut analysed = program.clone();
        let mut procedures = vec![None; program.procedures.len()];
        for called in program.called_procedures() {
            let procedure = &program.procedures[called.index()];
            procedures[called.index()] = Some(ThreadId::new(flattened.threads.len()));
            let unknown = procedure.parameters.iter().copied().chain(procedure.body.thread_locals()).collect();
            let thread = |body: Body| Thread {
                name: procedure.name.clone(),
                family: (procedure.name.clone(), None),
                multiplicity: Multiplicity::One,
                weight: 1,
                body,
                span: procedure.span,
            };
            analysed.threads.push(thread(entered_with(&procedure.body, unknown)));
            flattened.threads.push(thread(procedure.body.clone()));
        }
        Self { program: flattened, analysed, procedures }
    }
}

/// The same body, entered with anything in these registers. Locations and edges keep their numbers.
fn entered_with(body: &Body, unknown: Vec<RegId>) -> Body {
    let (mut locations, mut edges) = (body.locations.clone(), body.edges().to_vec());
    let mut to = body.entry;
    for register in unknown {
        locations.push(Location::default());
        let from = LocId::new(locations.len() - 1);
        let instruction = Instruction::Havoc { register, range: Range::FULL };
        edges.push(Edge { from, to, instruction, span: Span::default() });
        to = from;
    }
    Body::new(body.registers.clone(), locations, to, body.failed, edges)
}

/// What cannot be exported with procedures and `spawn`.
pub(super) fn unsupported(program: &Program, target: &str) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    for thread in program.threads.iter().filter(|thread| thread.multiplicity == Multiplicity::Arbitrary) {
        let message = format!("`thread {}[*]` cannot be exported to {target}", thread.name);
        refused.push(Refusal::new(message, "give a number of instances, such as `[2]`").at(thread.span));
    }
    let called: Vec<ProcId> = program.called_procedures().into_iter().collect();
    let procedures = called.iter().map(|procedure| &program.procedures[procedure.index()].body);
    for edge in procedures.clone().flat_map(|body| body.edges()) {
        if edge.instruction == Instruction::Terminate {
            let message = format!("`terminate` in a procedure cannot be exported to {target}");
            refused.push(Refusal::new(message, UNROLL).at(edge.span));
        }
    }
    for edge in program.running_threads().map(|thread| program.body(thread)).chain(procedures).flat_map(Body::edges) {
        if let Instruction::Spawn(thread) = edge.instruction
            && program.thread(thread).multiplicity != Multiplicity::Spawned
        {
            let name = &program.thread(thread).name;
            let message =
                format!("`spawn {name}` cannot be exported to {target}, since `{name}` also runs from the start");
            refused.push(Refusal::new(message, START).at(edge.span));
        }
    }
    refused
}

//! Where the model of compiled code ends, in a way that only runs show.

use weir_ir::{Diagnostic, Edge, EdgeId, Instruction, Program, ThreadId};

/// Compiled code as a program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Where its model ends.
    pub limits: Vec<ModelLimit>,
    /// What whoever reads an answer should know.
    pub warnings: Vec<Diagnostic>,
}

/// What is not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitKind {
    /// An access of so many bytes to memory that is no variable of this size.
    Access(u32),
    /// A call or a jump to a computed address that is none of the functions that were expected.
    Target,
    /// An allocation of more blocks than one call in a thread can get, which is so many.
    Allocation(u64),
}

/// An assertion that only fails where the model ends: the processor goes on, and the program does not tell what comes
/// of it. An answer that relies on what no run does says nothing about the code if it can fail.
#[derive(Clone, Copy, Debug)]
pub struct ModelLimit {
    /// The thread.
    pub thread: ThreadId,
    /// The assertion.
    pub edge: EdgeId,
    /// What is not modelled.
    pub kind: LimitKind,
}

impl ModelLimit {
    /// What is not modelled, in terms of the source of the program.
    pub fn diagnostic(self, program: &Program) -> Diagnostic {
        let thread = program.thread(self.thread);
        let span = thread.body.edge(self.edge).span;
        match self.kind {
            LimitKind::Access(size) => {
                let message = format!(
                    "mixed sizes: `{}` accesses {size} bytes at a computed address that is not that of a variable of \
                     this size",
                    thread.name
                );
                Diagnostic::error("mixed-size", message, span)
                    .label("a run gets here, and what this access does is not modelled")
                    .help(
                        "access each variable in one size, as its type says; compile with `-g`, so that types are known",
                    )
            }
            LimitKind::Allocation(most) => {
                let message = format!("`{}` allocates more than {most} blocks in one place", thread.name);
                Diagnostic::error("too-many-blocks", message, span)
                    .label("a run gets here so often, and in the model memory is not given out a second time")
                    .help("let the loop allocate less often, or allocate in a function for `--init`")
            }
            LimitKind::Target => {
                let message = format!("`{}` calls or jumps to an address that is only known at run time", thread.name);
                Diagnostic::error("unknown-target", message, span)
                    .label("a run gets here with another address than those of functions that memory holds")
                    .help("call the function by its name")
            }
        }
    }
}

/// The program with assertions that fail only where the model ends. Where another one would fail, its thread ends.
pub fn limited(program: &Program, limits: &[(ThreadId, EdgeId)]) -> Program {
    let mut program = Program { properties: Vec::new(), ..program.clone() };
    for (number, thread) in program.threads.iter_mut().enumerate() {
        let is_limit = |edge: usize| limits.contains(&(ThreadId::new(number), EdgeId::new(edge)));
        let mut places = 0..;
        thread.body = thread.body.map_edges(|edge| match (&edge.instruction, places.next()) {
            (Instruction::Assert(holds), Some(place)) if !is_limit(place) => {
                Edge { instruction: Instruction::Assume(holds.clone()), ..edge.clone() }
            }
            _ => edge.clone(),
        });
    }
    program
}

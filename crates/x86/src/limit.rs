//! Where the model of compiled code ends, in a way that only runs show.

use weir_ir::{Diagnostic, Edge, EdgeId, Instruction, Program, ThreadId};

/// Compiled code as a program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Where its model ends.
    pub limits: Vec<ModelLimit>,
}

/// An assertion that only fails where the model ends: the processor makes the access, and the program does not tell
/// what comes of it. An answer that relies on what no run does says nothing about the code if it can fail.
#[derive(Clone, Copy, Debug)]
pub struct ModelLimit {
    /// The thread.
    pub thread: ThreadId,
    /// The assertion.
    pub edge: EdgeId,
    /// How many bytes are accessed.
    pub size: u32,
}

impl ModelLimit {
    /// What is not modelled, in terms of the source of the program.
    pub fn diagnostic(self, program: &Program) -> Diagnostic {
        let thread = program.thread(self.thread);
        let message = format!(
            "mixed sizes: `{}` accesses {} bytes at a computed address that is not that of a variable of this size",
            thread.name, self.size
        );
        Diagnostic::error("mixed-size", message, thread.body.edge(self.edge).span)
            .label("a run gets here, and what this access does is not modelled")
            .help("access each variable in one size, as its type says; compile with `-g`, so that types are known")
    }
}

/// The program with assertions that fail only where the model ends. Where another one would fail, its thread ends.
pub fn limited(program: &Program, limits: &[ModelLimit]) -> Program {
    let mut program = Program { properties: Vec::new(), ..program.clone() };
    for (number, thread) in program.threads.iter_mut().enumerate() {
        let is_limit = |edge: usize| {
            let place = (ThreadId::new(number), EdgeId::new(edge));
            limits.iter().any(|limit| (limit.thread, limit.edge) == place)
        };
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

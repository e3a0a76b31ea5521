//! What the explicit engine cannot handle, said before it starts.

use weir_ir::{Diagnostic, Instruction, Multiplicity, Program, Span};

use crate::Failure;

/// The largest state, in words.
pub(crate) const MOST_WORDS: usize = 256;

/// Refuses programs whose states have no fixed shape.
pub(crate) fn unsupported(program: &Program) -> Result<(), Failure> {
    for thread in &program.threads {
        if thread.multiplicity == Multiplicity::Arbitrary {
            let what = format!("the explicit engine cannot run arbitrarily many copies of `{}`", thread.name);
            let help = "no engine of this version can; give a number, such as `[3]`: what goes wrong with few threads goes wrong with many";
            return refused("arbitrary-threads", what, thread.span, help);
        }
        for edge in thread.body.edges() {
            instruction(program, &edge.instruction, edge.span)?;
        }
    }
    Ok(())
}

fn instruction(program: &Program, instruction: &Instruction, span: Span) -> Result<(), Failure> {
    match instruction {
        Instruction::Call { procedure, .. } => {
            let name = &program.procedures[procedure.index()].name;
            let what = format!("the explicit engine cannot follow recursion, and `{name}` calls itself");
            let help = "no engine of this version can; write it as a loop, or give each depth a procedure of its own: procedures that do not call \
                        themselves are inlined";
            refused("recursion", what, span, help)
        }
        Instruction::Spawn(thread) => {
            let name = &program.thread(*thread).name;
            let what = format!("the explicit engine cannot start `{name}` at run time");
            let help = "no engine of this version can; declare as many threads as there can be, and let each wait for a flag \
                        that the spawner sets";
            refused("spawn", what, span, help)
        }
        _ => Ok(()),
    }
}

/// The failure for a program whose states do not fit the largest size.
pub(crate) fn too_large(program: &Program, words: usize) -> Failure {
    let (bytes, most) = (words * size_of::<u64>(), MOST_WORDS * size_of::<u64>());
    let what = format!("a state of this program takes {bytes} bytes, and the explicit engine can hold {most}");
    let cells: usize = program.shared.iter().map(|shared| shared.initial.len()).sum();
    let registers: usize = program.threads.iter().map(|thread| thread.body.registers.len() + 1).sum();
    let largest = program.shared.iter().max_by_key(|shared| shared.initial.len()).map(|shared| shared.span);
    let longest = program.threads.iter().max_by_key(|thread| thread.body.registers.len()).map(|thread| thread.span);
    let (span, help) = if cells >= registers {
        (largest, "declare ranges (`shared a[100]: 0..3;`) so that each cell takes fewer bits, or make arrays smaller")
    } else {
        (longest, "use fewer threads or fewer registers, or keep the values of registers small")
    };
    Failure::Refused(Box::new(Diagnostic::error("state-too-large", what, span.unwrap_or_default()).help(help)))
}

fn refused(code: &'static str, what: String, span: Span, help: &str) -> Result<(), Failure> {
    Err(Failure::Refused(Box::new(Diagnostic::error(code, what, span).help(help))))
}

//! Compiled code, with a real compiler. Without one, the tests say so and do nothing.

#![allow(clippy::print_stderr)] // A skipped test says so.

mod compiler;
mod computed;
mod cpu;
mod damaged;
mod declared;
mod decoder;
mod execute;
mod generate;
mod heap;
mod instructions;
mod local;
mod pointers;
mod refused;
mod results;
mod shapes;
mod sizes;
mod tables;
mod wide;

use weir_ir::Program;

/// Reads an object file that must be right.
fn read(file: &str, bytes: &[u8], options: &weir_x86::Options) -> Program {
    let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
    match weir_x86::read(file, bytes, options, &files, &weir_ir::Uninterrupted) {
        Ok(compiled) => compiled.program,
        Err(error) => panic!("{file}: {error:#?}"),
    }
}

//! Thread-local variables: each thread has its own, at an address of its own.
//!
//! As the System V ABI has it (variant II), the variables of a thread end where its `fs` register points, and there is
//! that address itself. They are ordinary memory: another thread that is given their address can access them.

use weir_ir::sort::sort_by_key;
use weir_ir::{BinaryOp, Value};

use crate::image::{Image, Region, Symbol};
use crate::ops::{Op, Reg, binary, constant, register};
use crate::refusal::Refusal;

/// Where the storage of threads is, and how far apart.
const STORAGE: u64 = 0x4C00_0000;
const STRIDE: u64 = 0x1_0000;
/// What follows the variables: the address of this, and what belongs to the library.
const CONTROL: u64 = 64;
/// The thread that prepares memory, which is none of those that run afterwards.
pub(crate) const PREPARATION: usize = 256;

/// Where the storage of a thread ends.
pub(crate) fn end(thread: usize) -> u64 {
    STORAGE + STRIDE * (thread as u64 + 1) - CONTROL
}

/// What finding a variable does, by a pair of a module and its place among the variables.
pub(crate) fn find(image: &Image) -> Vec<Op> {
    let begin = binary(BinaryOp::Subtract, register(Reg::FS), constant(image.local.size() as Value));
    vec![
        Op::Load { to: Reg::AX, address: binary(BinaryOp::Add, register(Reg::DI), constant(8)), size: 8 },
        Op::Set(Reg::AX, binary(BinaryOp::Add, begin, register(Reg::AX))),
    ]
}

/// Makes the variables of so many threads objects of the program.
pub(crate) fn declare(image: &mut Image, threads: usize) -> Result<(), Refusal> {
    let template = image.local.clone();
    if template.bytes.is_empty() {
        return Ok(());
    }
    if template.size() > STRIDE - CONTROL || template.align > STRIDE {
        return Err(Refusal::new("too-large", "the thread-local variables take more than 65472 bytes")
            .help("make the arrays that are not needed for the check smaller"));
    }
    for thread in (0..threads).chain([PREPARATION]) {
        let base = end(thread) - template.size();
        let mut bytes = template.bytes.clone();
        bytes.resize(template.size() as usize, 0);
        bytes.extend(end(thread).to_le_bytes());
        bytes.resize((template.size() + CONTROL) as usize, 0);
        image.regions.push(Region { base, bytes, is_writable: true, is_executable: false });
        let whose = if thread == PREPARATION { "init".to_owned() } else { (thread + 1).to_string() };
        // A damaged file may have variables elsewhere.
        let is_inside = |offset: u64, size: u64| offset.checked_add(size).is_some_and(|end| end <= template.size());
        for (name, offset, size) in template.variables.iter().filter(|(_, offset, size)| is_inside(*offset, *size)) {
            let name = format!("{name}#{whose}");
            image.symbols.push(Symbol::variable(name, base + offset, *size));
        }
    }
    sort_by_key(&mut image.regions, |region| region.base);
    sort_by_key(&mut image.symbols, |symbol| symbol.address);
    Ok(())
}

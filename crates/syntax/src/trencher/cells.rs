//! Cells: the language has numbers for addresses and no declarations. Those that instructions name are
//! declared under the name `m` and their number, so that runs can be read; any other cell exists all the same.

use std::collections::BTreeMap;

use weir_ir::{Address, Instruction, Program, RegExpr, Shared, Span, Thread};

/// Declares the cells that instructions name by a number.
pub(super) fn declared(threads: &[Thread]) -> Vec<Shared> {
    let mut named: BTreeMap<Address, Span> = BTreeMap::new();
    for edge in threads.iter().flat_map(|thread| thread.body.edges()) {
        let address = address_of(&edge.instruction).and_then(RegExpr::constant);
        if let Some(address) = address.filter(|&address| address >= 0) {
            named.entry(address).or_insert(edge.span);
        }
    }
    let stem = free_stem(threads);
    let cell = |(address, span): (Address, Span)| Shared {
        name: format!("{stem}{address}"),
        address,
        is_array: false,
        initial: vec![0],
        range: None,
        width: None,
        span,
    };
    named.into_iter().map(cell).collect()
}

/// The declared cells at or after an address.
pub(super) fn beyond(program: &Program, size: Address) -> impl Iterator<Item = &Shared> {
    program.shared.iter().filter(move |shared| shared.address >= size)
}

fn address_of(instruction: &Instruction) -> Option<&RegExpr> {
    match instruction {
        Instruction::Load { address, .. } | Instruction::Store { address, .. } => Some(address),
        _ => None,
    }
}

/// A beginning of names that no thread and no register has.
fn free_stem(threads: &[Thread]) -> String {
    let mut stem = "m".to_string();
    let is_taken = |stem: &str, name: &str| {
        name.strip_prefix(stem).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let names = || {
        let registers = threads.iter().flat_map(|thread| &thread.body.registers);
        threads.iter().map(|thread| &thread.name).chain(registers.map(|register| &register.name))
    };
    while names().any(|name| is_taken(&stem, name)) {
        stem.push('_');
    }
    stem
}

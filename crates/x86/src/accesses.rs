//! What threads access.

use weir_ir::Value;

use crate::cells::{Access, Kind};
use crate::graph::{Flow, Node};
use crate::heap;
use crate::image::Image;
use crate::known::{Known, is_private};
use crate::ops::{E, Op, Shape};
use crate::refusal::Refusal;
use crate::transfer::{apply, upper_half};

/// What a thread accesses.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    pub(crate) shared: Vec<Access>,
    /// Address and size.
    pub(crate) private: Vec<(Value, u32)>,
}

/// What an operation accesses: address, size, and how.
pub(crate) fn of(op: &Op) -> Vec<(E, u32, Kind)> {
    match op {
        Op::Load { address, size, .. } => vec![(address.clone(), *size, Kind::Load)],
        Op::Store { address, size, .. } => vec![(address.clone(), *size, Kind::Store)],
        Op::Change { address, size, .. } => vec![(address.clone(), *size, Kind::Change)],
        Op::ChangePair { address, .. } => {
            [address.clone(), upper_half(address)].map(|half| (half, 8, Kind::Change)).to_vec()
        }
        _ => Vec::new(),
    }
}

/// All accesses of a thread, given its number.
pub(crate) fn accesses(image: &Image, thread: usize, flow: &Flow) -> Result<Accesses, Refusal> {
    let mut found = Accesses::default();
    for (number, node) in flow.nodes.iter().enumerate() {
        let mut state = node.state.clone();
        for (part, op) in node.lifted.ops.iter().enumerate() {
            let is_table = flow.tables.contains_key(&(number, part));
            for (address, size, kind) in of(op).into_iter().filter(|_| !is_table) {
                found.add(image, thread, node, (state.value(&address), size, kind))?;
            }
            apply(image, op, &mut state).map_err(|refusal| refusal.at(node.address))?;
        }
        for exit in &flow.exits[number] {
            let mut state = state.clone();
            for op in &exit.effects {
                for (address, size, kind) in of(op) {
                    let known = state.value(&address);
                    // Headers of blocks are cells in any case.
                    if known.constant().is_some_and(is_private) {
                        found.add(image, thread, node, (known, size, kind))?;
                    }
                }
                apply(image, op, &mut state).map_err(|refusal| refusal.at(node.address))?;
            }
        }
    }
    Ok(found)
}

impl Accesses {
    fn add(
        &mut self,
        image: &Image,
        thread: usize,
        node: &Node,
        (address, size, kind): (Known, u32, Kind),
    ) -> Result<(), Refusal> {
        match address {
            Known::Const(address) if is_private(address) => self.private.push((address, size)),
            // What never changes can be loaded in any way.
            Known::Const(address) if kind == Kind::Load && is_constant(image, address, size) => {}
            Known::Const(address) if node.lifted.shape == Shape::Wide && address % 8 != 0 => return Err(wide(node)),
            _ if node.lifted.shape == Shape::Unordered => return Err(unordered(node)),
            known => {
                let address = known.constant();
                self.shared.push(Access { thread, code: node.address, address, size, kind });
            }
        }
        Ok(())
    }
}

/// Whether these bytes never change.
pub(crate) fn is_constant(image: &Image, address: Value, size: u32) -> bool {
    image.region(address as u64, size as usize).is_some_and(|region| !region.is_writable)
}

fn wide(node: &Node) -> Refusal {
    let message = "this instruction accesses 16 bytes of shared memory, at an address that is no multiple of 8";
    Refusal::new("wide-access", message)
        .help("compile with `-O1`, or with `-O2 -fno-tree-vectorize -fno-store-merging -mgeneral-regs-only`")
        .at(node.address)
}

fn unordered(node: &Node) -> Refusal {
    let message = "the processor may make the accesses of this instruction to shared memory in any order";
    Refusal::new("string-access", message)
        .help("copy and clear shared memory in a loop (`-fno-tree-loop-distribute-patterns`, `-mmemcpy-strategy=…`)")
        .at(node.address)
}

/// Remembers how a thread uses allocated memory, where code at load time has not shown it.
pub(crate) fn note_uses(image: &mut Image, accesses: &[Access]) {
    for access in accesses {
        let Some(address) = access.address.map(|address| address as u64) else { continue };
        if heap::RANGE.contains(&address) && access.kind != Kind::Load {
            let end = address + u64::from(access.size);
            let mut near = image.written.range(address.saturating_sub(8)..end);
            if !near.any(|(&at, &size)| at + u64::from(size) > address) {
                image.written.insert(address, access.size);
            }
        }
    }
}

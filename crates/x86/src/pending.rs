//! Loads that must wait for stores of their own thread.
//!
//! A load takes its bytes from the newest store in the buffer that overlaps it. If that store does not contain all of
//! them, the processor does not put the value together: the load waits until the store is in memory. A wait for the
//! newest store in the buffer is a wait until the buffer is empty, which a fence says. If other stores may have come after
//! it, the wait has no counterpart in the program's language, and the load is refused.
//!
//! What is found errs to one side: stores may be thought to wait in the buffer that do not.

use std::collections::{BTreeSet, HashSet, VecDeque};

use weir_ir::Value;

use crate::accesses::of;
use crate::cells::{Cells, Kind};
use crate::graph::{Flow, Node, Target};
use crate::image::Image;
use crate::known::{Known, State, is_private};
use crate::ops::{Op, Shape};
use crate::refusal::Refusal;
use crate::transfer::apply;

/// Which bytes a store may write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Store {
    /// Where; `None` if that is only known at run time.
    address: Option<Value>,
    size: u32,
    /// Whether it is half of a store of 16 bytes, which the processor may keep as one.
    is_half: bool,
}

impl Store {
    fn covers(self, address: Value, size: u32) -> bool {
        self.address.is_some_and(|at| at <= address && address + Value::from(size) <= at + Value::from(self.size))
    }

    /// Whether a load of these bytes, in so many cells, must wait for this store.
    fn delays(self, address: Value, size: u32, cells: usize) -> bool {
        match self.address {
            Some(at) => {
                let overlaps = at < address + Value::from(size) && address < at + Value::from(self.size);
                overlaps && !self.covers(address, size)
            }
            // It writes one cell, which may be one of several.
            None => cells > 1,
        }
    }
}

/// What may be in the buffer.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Buffer {
    /// Stores of which no newer store covers all bytes.
    stores: BTreeSet<Store>,
    /// Those that may be the newest.
    newest: BTreeSet<Store>,
}

impl Buffer {
    fn push(&mut self, store: Store) {
        self.stores.retain(|old| !old.address.is_some_and(|at| store.covers(at, old.size)));
        self.stores.insert(store);
        self.newest = [store].into();
    }

    /// Whether that made a difference.
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.stores.len(), self.newest.len());
        self.stores.extend(&other.stores);
        self.newest.extend(&other.newest);
        before != (self.stores.len(), self.newest.len())
    }
}

/// The loads of a thread before which it waits until its buffer is empty: points and operations.
pub(crate) fn waiting(image: &Image, flow: &Flow, cells: &Cells) -> Result<HashSet<(usize, usize)>, Refusal> {
    let mut buffers: Vec<Option<Buffer>> = vec![None; flow.nodes.len()];
    let mut found = HashSet::new();
    if !may_wait(image, flow, cells)? {
        return Ok(found);
    }
    buffers[0] = Some(Buffer::default());
    let mut work: VecDeque<usize> = [0].into();
    while let Some(number) = work.pop_front() {
        let Some(mut buffer) = buffers[number].clone() else { continue };
        let node = &flow.nodes[number];
        let mut state = node.state.clone();
        for (part, op) in node.lifted.ops.iter().enumerate() {
            match waits(op, &state, cells, &buffer) {
                Wait::No => {
                    found.remove(&(number, part));
                }
                Wait::Empty => {
                    found.insert((number, part));
                    buffer = Buffer::default();
                }
                Wait::Other => return Err(refused().at(node.address)),
            }
            step(op, node, &state, &mut buffer);
            apply(image, op, &mut state).map_err(|refusal| refusal.at(node.address))?;
        }
        for exit in &flow.exits[number] {
            let Target::Node(to) = exit.to else { continue };
            let is_news = match &mut buffers[to] {
                Some(known) => known.join(&buffer),
                unknown => {
                    *unknown = Some(buffer.clone());
                    true
                }
            };
            if is_news && !work.contains(&to) {
                work.push_back(to);
            }
        }
    }
    Ok(found)
}

enum Wait {
    No,
    /// Until the buffer is empty.
    Empty,
    /// Until some stores have left it, and not all.
    Other,
}

/// What a load waits for.
fn waits(op: &Op, state: &State, cells: &Cells, buffer: &Buffer) -> Wait {
    let Some((address, size, count)) = loaded(op, state, cells) else { return Wait::No };
    let delays = |store: &Store| store.delays(address, size, count);
    let mut delaying = buffer.stores.iter().filter(|store| delays(store)).peekable();
    if delaying.peek().is_none() {
        Wait::No
    } else if delaying.any(|store| store.is_half) {
        // It may contain the load.
        Wait::Other
    } else if buffer.newest.iter().all(delays) {
        Wait::Empty
    } else {
        Wait::Other
    }
}

/// The bytes of a load from shared memory at a known address, and how many cells they are.
fn loaded(op: &Op, state: &State, cells: &Cells) -> Option<(Value, u32, usize)> {
    let Op::Load { address, size, .. } = op else { return None };
    let address = state.value(address).constant().filter(|&address| !is_private(address))?;
    Some((address, *size, cells.covering(address, *size)?.len()))
}

fn stored(op: &Op, node: &Node, state: &State) -> Option<Store> {
    let (address, size, kind) = of(op).into_iter().next()?;
    let known = state.value(&address);
    let is_own = known.constant().is_some_and(is_private);
    let address = match known {
        Known::Const(address) => Some(address),
        Known::Any { .. } => None,
    };
    let is_half = node.lifted.shape == Shape::Wide;
    (kind == Kind::Store && !is_own).then_some(Store { address, size, is_half })
}

/// What an operation does to the buffer.
fn step(op: &Op, node: &Node, state: &State, buffer: &mut Buffer) {
    match op {
        Op::Fence | Op::Membarrier | Op::Change { .. } | Op::ChangePair { .. } => *buffer = Buffer::default(),
        op => {
            if let Some(store) = stored(op, node, state) {
                buffer.push(store);
            }
        }
    }
}

/// Whether some load and some store of the thread can be such a pair at all. Most programs have none.
fn may_wait(image: &Image, flow: &Flow, cells: &Cells) -> Result<bool, Refusal> {
    let (mut loads, mut stores) = (BTreeSet::new(), BTreeSet::new());
    for node in &flow.nodes {
        let mut state = node.state.clone();
        for op in &node.lifted.ops {
            loads.extend(loaded(op, &state, cells));
            stores.extend(stored(op, node, &state));
            apply(image, op, &mut state).map_err(|refusal| refusal.at(node.address))?;
        }
    }
    Ok(loads.iter().any(|&(address, size, count)| stores.iter().any(|store| store.delays(address, size, count))))
}

fn refused() -> Refusal {
    Refusal::new(
        "mixed-size",
        "mixed sizes: this load takes bytes of a store that does not contain it and may not be the last one in the buffer",
    )
    .help("access the variable in one size, or put a fence before the load")
}

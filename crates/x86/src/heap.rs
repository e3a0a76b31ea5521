//! Allocated memory, in threads and before they begin.
//!
//! Each block lies in a slot of its own, behind a header that says whether it was freed. Memory is never given out a
//! second time, so that an access to a freed block can be told. A call in a thread gets the same blocks in every run,
//! one after the other, up to [`MOST_BLOCKS`]; a run that needs more gets to where the model ends.

use std::ops::Range;

use weir_ir::sort::sort_by_key;
use weir_ir::{BinaryOp, Expr, Value};

use crate::image::{Image, Region, Symbol};
use crate::known::stack_end;
use crate::limit::LimitKind;
use crate::models::Size;
use crate::ops::{E, Op, Reg, binary, constant, register};
use crate::refusal::Refusal;

/// Where blocks can be.
pub(crate) const RANGE: Range<u64> = 0x5000_0000..0x7000_0000;
/// Where those of threads begin, and how far those of two threads are apart.
const THREADS: u64 = 0x6000_0000;
const STRIDE: u64 = 0x10_0000;
/// Slots begin at multiples of this.
const SLOT: u64 = 0x1000;
/// Blocks begin so far behind the start of the slot, where the header is.
pub(crate) const HEADER: u64 = 64;
/// How many blocks one call in a thread can get.
const MOST_BLOCKS: u64 = 4;
/// How many calls a thread can have that allocate memory.
pub(crate) const MOST_CALLS: usize = 16;
/// How far below the end of a stack the counters of its thread are: farther than code can reach.
const COUNTERS: Value = 0xF0_0000;

/// A call that allocates memory.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The calls that led there, and the address of the call.
    pub(crate) at: (usize, u64),
    /// Where its first slot is.
    slot: u64,
    size: u64,
    /// Whether it can be executed several times.
    pub(crate) is_repeated: bool,
}

/// How many bytes of slots a block takes.
fn room(size: u64) -> u64 {
    (HEADER + size).next_multiple_of(SLOT)
}

/// Where a thread counts the blocks of a call.
pub(crate) fn counter(thread: usize, site: usize) -> Value {
    stack_end(thread) - COUNTERS + 8 * site as Value
}

impl Site {
    /// A further call of a thread.
    pub(crate) fn new(thread: usize, at: (usize, u64), size: u64, before: &[Site]) -> Result<Self, Refusal> {
        let first = THREADS + STRIDE * thread as u64;
        let slot = before.last().map_or(first, |last| last.slot + MOST_BLOCKS * room(last.size));
        let is_small = size <= STRIDE && slot + MOST_BLOCKS * room(size) <= first + STRIDE;
        if before.len() >= MOST_CALLS || !is_small {
            return Err(Refusal::new("too-large", "the thread allocates too much memory, or in too many places")
                .help("threads can allocate in 16 places, and 256 KiB in all: allocate in a function for `--init`"));
        }
        Ok(Self { at, slot, size, is_repeated: false })
    }

    /// What the call does: the next block.
    pub(crate) fn ops(&self, counter: Value) -> Vec<Op> {
        let number = Reg::own(0);
        let next = binary(BinaryOp::Add, register(number), constant(1));
        let offset = binary(BinaryOp::Multiply, register(number), constant(room(self.size) as Value));
        let address = binary(BinaryOp::Add, offset, constant((self.slot + HEADER) as Value));
        let is_left = binary(BinaryOp::Less, register(number), constant(MOST_BLOCKS as Value));
        vec![
            Op::Load { to: number, address: constant(counter), size: 8 },
            Op::Limit(is_left, LimitKind::Allocation(MOST_BLOCKS)),
            Op::Set(Reg::AX, address),
            Op::Store { address: constant(counter), value: next, size: 8 },
        ]
    }

    /// Makes its blocks objects of the program.
    pub(crate) fn declare(&self, image: &mut Image) {
        let blocks = if self.is_repeated { MOST_BLOCKS } else { 1 };
        for number in 0..blocks {
            add(image, self.slot + number * room(self.size), self.size);
        }
    }
}

/// Adds a block to memory.
fn add(image: &mut Image, slot: u64, size: u64) {
    let number = image.symbols.iter().filter(|symbol| symbol.name.starts_with("malloc#")).count() + 1;
    let bytes = vec![0; (HEADER + size) as usize];
    image.regions.push(Region { base: slot, bytes, is_writable: true, is_executable: false });
    sort_by_key(&mut image.regions, |region| region.base);
    let name = format!("malloc#{number}");
    image.symbols.push(Symbol::variable(name, slot + HEADER, size));
    sort_by_key(&mut image.symbols, |symbol| symbol.address);
}

/// Makes the headers of all blocks objects of the program; their addresses.
pub(crate) fn name_headers(image: &mut Image) -> Vec<Value> {
    let blocks = image.symbols.iter().filter(|symbol| symbol.name.starts_with("malloc#"));
    let headers: Vec<Symbol> = blocks
        .map(|block| Symbol::variable(block.name.replacen("malloc", "freed", 1), block.address - HEADER, 8))
        .collect();
    let addresses = headers.iter().map(|header| header.address as Value).collect();
    image.symbols.extend(headers);
    sort_by_key(&mut image.symbols, |symbol| symbol.address);
    addresses
}

/// A new block before threads begin.
pub(crate) fn allocate(image: &mut Image, size: Value) -> Result<u64, Refusal> {
    let last = image.regions.iter().rfind(|region| (RANGE.start..THREADS).contains(&region.base));
    let slot = last.map_or(RANGE.start, |region| (region.base + region.bytes.len() as u64).next_multiple_of(SLOT));
    let size = u64::try_from(size).ok().filter(|&size| size <= 1 << 20 && slot + room(size) <= THREADS);
    let size = size.ok_or_else(|| Refusal::new("too-large", "the code allocates too much memory"))?;
    add(image, slot, size);
    Ok(slot + HEADER)
}

/// Whether a block is so large that its header cannot be found from every address in it.
pub(crate) fn has_large_block(image: &Image) -> bool {
    image.regions.iter().any(|region| RANGE.contains(&region.base) && region.bytes.len() as u64 > SLOT)
}

/// Where the header of the block is that an address lies in.
pub(crate) fn header_of<L>(address: Expr<L>) -> Expr<L> {
    binary(BinaryOp::BitAnd, address, Expr::Const(!(SLOT as Value - 1)))
}

/// Whether an address lies where blocks are.
pub(crate) fn is_block<L: Clone>(address: &Expr<L>) -> Expr<L> {
    let from = binary(BinaryOp::GreaterEqual, address.clone(), Expr::Const(RANGE.start as Value));
    let to = binary(BinaryOp::Less, address.clone(), Expr::Const(RANGE.end as Value));
    binary(BinaryOp::And, from, to)
}

/// What freeing the block in the first argument does: it must be one, and not have been freed.
pub(crate) fn free() -> Vec<Op> {
    let block = || register(Reg::DI);
    let header = || binary(BinaryOp::Subtract, block(), constant(HEADER as Value));
    let offset = binary(BinaryOp::BitAnd, block(), constant(SLOT as Value - 1));
    let is_start = binary(BinaryOp::Equal, offset, constant(HEADER as Value));
    let was_freed = Reg::own(0);
    let is_live: E = binary(BinaryOp::Equal, register(was_freed), constant(0));
    vec![
        Op::Check(binary(BinaryOp::And, is_block(&block()), is_start)),
        Op::Load { to: was_freed, address: header(), size: 8 },
        Op::Check(is_live),
        Op::Store { address: header(), value: constant(1), size: 8 },
    ]
}

/// How many bytes a call allocates, by its arguments.
pub(crate) fn size(size: Size, arguments: [Option<Value>; 2]) -> Option<u64> {
    let size = match (size, arguments) {
        (Size::First, [Some(size), _]) | (Size::Second, [_, Some(size)]) => size,
        (Size::Product, [Some(count), Some(size)]) => count.checked_mul(size)?,
        _ => return None,
    };
    u64::try_from(size).ok()
}

/// Where there is memory, or such that can be written: addresses and lengths. Of allocated memory, that is the mark of a
/// block and the block, but not what is around them.
pub(crate) fn memory(image: &Image, is_written: bool) -> impl Iterator<Item = (u64, u64)> + '_ {
    let regions = image.regions.iter().filter(move |region| region.is_writable || !is_written);
    regions.flat_map(|region| {
        let (base, length) = (region.base, region.bytes.len() as u64);
        match RANGE.contains(&base) {
            true => vec![(base, 8), (base + HEADER, length.saturating_sub(HEADER))],
            false => vec![(base, length)],
        }
    })
}

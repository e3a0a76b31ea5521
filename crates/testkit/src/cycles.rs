//! Seeded random programs around a cycle of happens-before that may or may not close: most random programs are robust
//! for a dull reason, and these are not.
//!
//! One thread, the attacker, stores to a cell and later loads another; helpers lead from that cell to the first one,
//! each by an access to the cell that the one before it has accessed. What is in between is drawn at random: fences on
//! some branches, loads of own stores, waiting for others, loops, locked sections, read-modify-writes, snapshots,
//! computed addresses, ranges.

mod attacker;
mod helper;

use weir_ir::{Address, Expr, Instruction, Program, Range, RegExpr, RegId, Rmw, Shared, Value};

use crate::blocks::{Block, thread};
use crate::rng::Rng;
use crate::sketch::{self, cell, load, rmw, store};

/// What the programs look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The greatest number of helpers.
    pub helpers: usize,
    /// The greatest number of statements that are added to a thread.
    pub noise: usize,
    /// How often there is a loop without bound, in percent.
    pub loops: u32,
    /// How often a helper locks, in percent.
    pub locks: u32,
    /// How often an address is computed, a cell has a range, and a helper reads several cells at once, in percent.
    pub data: u32,
}

/// The cell of the delayed store.
const Z: Address = 1;
/// The cell of the load that overtakes it.
const Y: Address = 2;
/// Others.
const X: Address = 3;
const W: Address = 4;

/// The program that `seed` names.
pub fn program(seed: u64, config: &Config) -> Program {
    let mut rng = Rng::new(seed);
    let mut generator = Generator { rng: &mut rng, config };
    let (attacker, waits) = generator.attacker();
    let mut bodies = vec![("A".to_owned(), attacker)];
    bodies.extend(generator.helpers());
    if waits {
        bodies.push(("B".to_owned(), vec![store(X, 1).into()]));
    }
    let shared = [("z", Z), ("y", Y), ("x", X), ("w", W)].map(|(name, address)| generator.declared(name, address));
    let mut threads: Vec<_> = bodies.iter().map(|(name, blocks)| thread(name, blocks)).collect();
    let turn = generator.rng.below(threads.len());
    threads.rotate_left(turn);
    sketch::program(shared.to_vec(), threads, Vec::new())
}

struct Generator<'a> {
    rng: &'a mut Rng,
    config: &'a Config,
}

impl Generator<'_> {
    fn declared(&mut self, name: &str, address: Address) -> Shared {
        let range = self.rng.chance(self.config.data / 2).then_some(Range { low: 0, high: 1 });
        Shared { range, ..cell(name, address) }
    }

    fn value(&mut self) -> Value {
        if self.rng.chance(80) { 1 } else { 2 }
    }

    /// A constant, or a register that holds it: then the block that sets it comes first.
    fn address(&mut self, address: Address, before: &mut Vec<Block>) -> RegExpr {
        if !self.rng.chance(self.config.data / 2) {
            return Expr::Const(address);
        }
        let pointer = RegId(3);
        before.push(Instruction::Assign { register: pointer, value: Expr::Const(address) }.into());
        Expr::Leaf(pointer)
    }

    fn stored(&mut self, address: Address) -> Vec<Block> {
        let mut blocks = Vec::new();
        let (address, value) = (self.address(address, &mut blocks), Expr::Const(self.value()));
        blocks.push(Instruction::Store { address, value }.into());
        blocks
    }

    fn loaded(&mut self, register: u32, address: Address) -> Vec<Block> {
        let mut blocks = Vec::new();
        let address = self.address(address, &mut blocks);
        blocks.push(Instruction::Load { register: RegId(register), address }.into());
        blocks
    }

    /// A read-modify-write, which may or may not write.
    fn modified(&mut self, address: Address) -> Block {
        let one = || Expr::Const(1);
        let operation = match self.rng.below(5) {
            0 => Rmw::Exchange(one()),
            1 => Rmw::Fetch(weir_ir::BinaryRmw::Or, one()),
            2 => Rmw::CompareAndSwap { expected: Expr::Const(0), new: one() },
            3 => Rmw::CompareExchange { expected: Expr::Const(0), new: one() },
            _ => Rmw::CompareAndSwap { expected: Expr::Const(7), new: one() },
        };
        match rmw(2, address, operation) {
            Instruction::ReadModifyWrite { address, operation, .. } if self.rng.chance(30) => {
                Instruction::ReadModifyWrite { register: None, address, operation }.into()
            }
            wanted => wanted.into(),
        }
    }

    fn fence_perhaps(&mut self, percent: u32) -> Vec<Block> {
        if self.rng.chance(percent) { vec![Instruction::Fence.into()] } else { Vec::new() }
    }

    /// Around the blocks, or some of them, a loop.
    fn looped(&mut self, blocks: Vec<Block>) -> Vec<Block> {
        if !self.rng.chance(self.config.loops) {
            return blocks;
        }
        match self.rng.below(5) {
            0 => vec![Block::Repeat(blocks)],
            1 => vec![Block::Forever(blocks)],
            2 => vec![
                load(2, Y).into(),
                Block::While(crate::blocks::is(2, 0), [blocks, vec![load(2, Y).into()]].concat()),
            ],
            3 => {
                let mut blocks = blocks;
                let last = blocks.pop().into_iter().collect();
                [vec![Block::Repeat(blocks)], last].concat()
            }
            _ => {
                let mut first = blocks;
                let rest = first.split_off(1.min(first.len()));
                [first, vec![Block::Repeat(rest)]].concat()
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! The threads that lead from the attacker's load to its store.

use weir_ir::{Address, Instruction};

use super::{Generator, W, X, Y, Z};
use crate::blocks::{Block, assume, locked};
use crate::sketch::{load, snapshot, store};

impl Generator<'_> {
    /// Each accesses the cell that the one before it has accessed last; the last one accesses that of the delayed
    /// store.
    pub(super) fn helpers(&mut self) -> Vec<(String, Vec<Block>)> {
        let count = self.rng.between(1, self.config.helpers);
        let others = [X, W];
        let mut at = Y;
        let helper = |number: usize| {
            let to = if number + 1 == count { Z } else { others[number % 2] };
            let blocks = self.helper(at, to);
            at = to;
            (format!("H{number}"), blocks)
        };
        (0..count).map(helper).collect()
    }

    fn helper(&mut self, from: Address, to: Address) -> Vec<Block> {
        let (mut first, mut second) = (self.joins(from), self.leads(to));
        if self.rng.chance(12) {
            std::mem::swap(&mut first, &mut second);
        }
        if self.rng.chance(self.config.data / 2) {
            second = vec![snapshot([(0, to), (1, *self.rng.pick(&[X, Y]))]).into()];
        }
        let noise = self.rng.below(self.config.noise + 1) > 0 && self.rng.chance(40);
        let middle = if noise { self.something() } else { Vec::new() };
        let fence = self.fence_perhaps(45);
        let blocks = [first, middle, fence, second].concat();
        let blocks = if self.rng.chance(self.config.locks) { self.in_section(blocks) } else { blocks };
        self.looped(blocks)
    }

    /// By which a helper may come onto the path.
    fn joins(&mut self, cell: Address) -> Vec<Block> {
        match self.rng.below(10) {
            0..=5 => self.stored(cell),
            6 | 7 => self.loaded(0, cell),
            8 => vec![load(0, cell).into(), assume(0, 1)],
            _ => vec![self.modified(cell)],
        }
    }

    /// By which it may lead on.
    fn leads(&mut self, cell: Address) -> Vec<Block> {
        match self.rng.below(10) {
            0..=4 => self.loaded(1, cell),
            5..=7 => self.stored(cell),
            8 => vec![load(1, cell).into(), assume(1, 0)],
            _ => vec![self.modified(cell)],
        }
    }

    fn something(&mut self) -> Vec<Block> {
        match self.rng.below(6) {
            0 => vec![store(W, 1).into()],
            1 => vec![load(1, X).into()],
            2 => vec![Block::Choose(vec![vec![store(X, 1).into()], vec![Instruction::Skip.into()]])],
            3 => vec![load(1, X).into(), assume(1, 0)],
            4 => vec![Block::Choose(vec![vec![Instruction::Fence.into()], vec![Instruction::Skip.into()]])],
            _ => vec![self.modified(W)],
        }
    }

    /// All of it in a locked section, or a part; or a lock that is never released.
    fn in_section(&mut self, mut blocks: Vec<Block>) -> Vec<Block> {
        match self.rng.below(6) {
            0..=2 => locked(blocks),
            3 => {
                let last = blocks.pop().into_iter().collect();
                [locked(blocks), last].concat()
            }
            4 => {
                let rest = blocks.split_off(1);
                [blocks, locked(rest)].concat()
            }
            _ => [vec![Instruction::Lock.into()], blocks].concat(),
        }
    }
}

//! The thread that delays its store.

use weir_ir::Instruction;

use super::{Generator, W, X, Y, Z};
use crate::blocks::{Block, assume, when};
use crate::sketch::{load, snapshot, store};

impl Generator<'_> {
    /// The store, the load, and what is around and between them; and whether somebody must move in between.
    pub(super) fn attacker(&mut self) -> (Vec<Block>, bool) {
        let mut waits = false;
        let mut blocks = Vec::new();
        if self.rng.chance(20) {
            blocks.extend(self.noise(&mut waits));
        }
        blocks.extend(self.stored(Z));
        for _ in 0..self.rng.below(self.config.noise + 1) {
            blocks.extend(self.noise(&mut waits));
        }
        blocks.extend(self.fence_perhaps(8));
        blocks.extend(self.attacked_load());
        if self.rng.chance(15) {
            blocks.extend(self.noise(&mut waits));
        }
        (self.looped(blocks), waits)
    }

    /// The load that overtakes, alone or on one of two branches.
    fn attacked_load(&mut self) -> Vec<Block> {
        let load = match self.rng.chance(self.config.data) {
            true => vec![snapshot([(0, Y), (1, *self.rng.pick(&[X, Z]))]).into()],
            false => self.loaded(0, Y),
        };
        match self.rng.below(8) {
            0 => vec![Block::Choose(vec![load, vec![Instruction::Skip.into()]])],
            1 => vec![Block::Choose(vec![[self.fence_perhaps(70), load].concat(), vec![self::load(0, W).into()]])],
            _ => load,
        }
    }

    fn noise(&mut self, waits: &mut bool) -> Vec<Block> {
        match self.rng.below(13) {
            0 => self.stored(X),
            1 => vec![store(Z, 2).into()],
            2 => vec![load(1, Z).into()],
            3 => vec![store(W, 1).into(), load(1, W).into()],
            4 => vec![load(1, X).into()],
            5 | 6 => vec![Block::Choose(vec![vec![Instruction::Fence.into()], vec![Instruction::Skip.into()]])],
            7 => {
                *waits = true;
                vec![load(1, X).into(), assume(1, 0), load(1, X).into(), assume(1, 1)]
            }
            8 => vec![self.modified(X)],
            9 => vec![load(1, X).into(), when(1, 0, self.fence_perhaps(60))],
            10 => vec![Instruction::Lock.into(), Instruction::Unlock.into()],
            11 => vec![load(1, Z).into(), assume(1, 1)],
            _ => self.stored(Y),
        }
    }
}

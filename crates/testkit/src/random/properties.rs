//! Random properties: rare enough conditions, so that a search has something to look for.

use weir_ir::{
    BinaryOp, Expr, LocId, PropertyKind, RegId, Shared, StateAtom, StateExpr, Thread, ThreadId, UnaryOp, Value,
};

use super::Config;
use super::expressions::compare_with_constant;
use crate::rng::Rng;
use crate::sketch::all_of;

/// Up to as many properties as the configuration says; maybe none.
pub(super) fn properties(rng: &mut Rng, config: &Config, shared: &[Shared], threads: &[Thread]) -> Vec<PropertyKind> {
    let mut observer = Observer { rng, config, shared, threads };
    let count = observer.rng.between(0, config.properties);
    (0..count).map(|_| observer.property()).collect()
}

struct Observer<'a> {
    rng: &'a mut Rng,
    config: &'a Config,
    shared: &'a [Shared],
    threads: &'a [Thread],
}

impl Observer<'_> {
    fn property(&mut self) -> PropertyKind {
        match self.rng.below(10) {
            0 | 1 => PropertyKind::ForbidDeadlock,
            2 | 3 => PropertyKind::Exists(self.condition()),
            4 => PropertyKind::Always(self.condition()),
            _ => PropertyKind::Forbid(self.condition()),
        }
    }

    fn condition(&mut self) -> StateExpr {
        let count = self.rng.between(2, 4);
        let conjunction = all_of((0..count).map(|_| self.observation()));
        match self.rng.below(8) {
            0 => Expr::binary(BinaryOp::Or, conjunction, self.observation()),
            1 => Expr::binary(BinaryOp::And, conjunction, Expr::unary(UnaryOp::Not, self.observation())),
            _ => conjunction,
        }
    }

    /// One thing about a state that holds or not.
    fn observation(&mut self) -> StateExpr {
        let thread = ThreadId::new(self.rng.below(self.threads.len()));
        let body = &self.threads[thread.index()].body;
        match self.rng.below(3) {
            0 => {
                let count = self.rng.between(1, 2);
                let mut locations: Vec<LocId> =
                    (0..count).map(|_| LocId::new(self.rng.below(body.locations.len()))).collect();
                locations.sort();
                locations.dedup();
                Expr::Leaf(StateAtom::At { thread, locations })
            }
            1 => {
                let register = RegId::new(self.rng.below(body.registers.len()));
                compare_with_constant(self.rng, self.config, Expr::Leaf(StateAtom::Register { thread, register }))
            }
            _ => self.cell(),
        }
    }

    fn cell(&mut self) -> StateExpr {
        let declaration = self.rng.pick(self.shared);
        let offset = self.rng.below(declaration.initial.len() + 1) as Value;
        let observed = Expr::Leaf(StateAtom::Cell(declaration.address.wrapping_add(offset)));
        compare_with_constant(self.rng, self.config, observed)
    }
}

//! Where the cells beside the program's own lie: at the same address, one, two or three distances further.

use weir_ir::flow::Ranges;
use weir_ir::{Address, BinaryOp, Diagnostic, EdgeId, Expr, Program, Range, RegExpr};

use crate::verdict::Failure;

/// Which cell beside a cell: how many distances further.
pub(super) type Beside = Address;

/// What the attacker has stored and nobody else has seen.
pub(super) const DELAYED: Beside = 1;
/// Whether there is such a store.
pub(super) const WAITS: Beside = 2;
/// How helpers on the path have accessed the cell.
pub(super) const LEVEL: Beside = 3;

/// The address space of an instrumented program.
#[derive(Clone, Debug)]
pub(super) struct Space {
    distance: Address,
    /// All addresses in use, ascending.
    used: Vec<Range>,
}

impl Space {
    /// Finds a distance such that no cell lies where another cell's companion is, whatever addresses the program
    /// computes.
    ///
    /// # Errors
    /// If the program may touch so many addresses that there is no room.
    pub(super) fn new(program: &Program) -> Result<Self, Failure> {
        let touched = touched(program);
        let lowest = touched.first().map_or(0, |range| range.low);
        let highest = touched.iter().map(|range| range.high).max().unwrap_or(0);
        // First beyond all cells, which reads best; if that does not fit, between them.
        let extent = highest.wrapping_sub(lowest) as u64;
        let enough = u64::BITS - extent.leading_zeros();
        let candidates = (enough..Address::BITS - 1).chain(0..enough.min(Address::BITS - 1));
        candidates
            .map(|bits| 1 << bits)
            .find_map(|distance| Some(Self { distance, used: placed(&touched, distance)? }))
            .ok_or_else(|| no_room(program))
    }

    /// The address of a companion.
    pub(super) fn beside(&self, address: Address, which: Beside) -> Address {
        address.wrapping_add(self.distance.wrapping_mul(which))
    }

    /// The address of a companion, computed. Sums with a constant keep their form, so that they still read as an
    /// element of an array.
    pub(super) fn beside_computed(&self, address: &RegExpr, which: Beside) -> RegExpr {
        let moved = |value: Address| Expr::Const(self.beside(value, which));
        match address {
            Expr::Const(value) => moved(*value),
            Expr::Binary(BinaryOp::Add, left, right) => match (&**left, &**right) {
                (Expr::Const(base), index) => Expr::binary(BinaryOp::Add, moved(*base), index.clone()),
                (index, Expr::Const(base)) => Expr::binary(BinaryOp::Add, index.clone(), moved(*base)),
                _ => Expr::binary(BinaryOp::Add, moved(0), address.clone()),
            },
            _ => Expr::binary(BinaryOp::Add, moved(0), address.clone()),
        }
    }

    /// The address of a companion if the condition is 1, of the cell itself if it is 0.
    pub(super) fn beside_if(&self, condition: RegExpr, address: &RegExpr, which: Beside) -> RegExpr {
        let further = Expr::binary(BinaryOp::Multiply, condition, Expr::Const(self.beside(0, which)));
        Expr::binary(BinaryOp::Add, address.clone(), further)
    }

    /// Two addresses that nothing uses.
    pub(super) fn two_free_addresses(&self) -> (Address, Address) {
        let first = self.free_from(self.used.last().map_or(1, |range| range.high.wrapping_add(1)));
        (first, self.free_from(first.wrapping_add(1)))
    }

    /// The first address from here on that nothing uses.
    fn free_from(&self, mut address: Address) -> Address {
        // Each turn leaves one stretch behind, and the stretches do not cover everything.
        for _ in 0..=self.used.len() {
            match self.used.iter().find(|range| range.contains(address)) {
                Some(range) => address = range.high.wrapping_add(1),
                None => break,
            }
        }
        address
    }
}

/// The addresses that the program declares or may touch, as disjoint ascending stretches.
fn touched(program: &Program) -> Vec<Range> {
    let ranges = Ranges::of(program);
    let declared = program
        .shared
        .iter()
        .filter_map(|shared| Some(Range { low: shared.addresses().next()?, high: shared.addresses().last()? }));
    let computed = program.running_threads().flat_map(|thread| {
        let edges = (0..program.body(thread).edges().len()).map(EdgeId::new);
        edges.flat_map(|edge| ranges.addresses_of(thread, edge).to_vec()).collect::<Vec<_>>()
    });
    let mut all: Vec<Range> = declared.chain(computed).collect();
    all.sort_unstable();
    let mut merged: Vec<Range> = Vec::new();
    for range in all {
        match merged.last_mut() {
            Some(last) if range.low <= last.high => last.high = last.high.max(range.high),
            _ => merged.push(range),
        }
    }
    merged
}

/// The stretches and their companions in ascending order, if no two meet and none runs over the end of the address
/// space.
fn placed(touched: &[Range], distance: Address) -> Option<Vec<Range>> {
    let mut all = Vec::with_capacity(4 * touched.len());
    for which in 0..=LEVEL {
        let by = distance.wrapping_mul(which);
        for range in touched {
            let moved = Range { low: range.low.wrapping_add(by), high: range.high.wrapping_add(by) };
            if moved.low > moved.high {
                return None;
            }
            all.push(moved);
        }
    }
    all.sort_unstable();
    // Room for the two flags is left as well.
    let is_apart = all.windows(2).all(|pair| pair[0].high < pair[1].low);
    let size: u128 = all.iter().map(|range| u128::from(range.extent()) + 1).sum();
    (is_apart && size + 2 <= 1 << 64).then_some(all)
}

fn no_room(program: &Program) -> Failure {
    let ranges = Ranges::of(program);
    let widest = program
        .running_threads()
        .flat_map(|thread| (0..program.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge))))
        .flat_map(|(thread, edge)| {
            ranges.addresses_of(thread, edge).iter().map(move |range| (range.extent(), thread, edge))
        })
        .max();
    let span = widest.map_or_else(Default::default, |(_, thread, edge)| program.body(thread).edge(edge).span);
    let what =
        "the instrumentation needs free addresses beside each cell, but this access may touch nearly any address";
    let help = "bound the address (`assume p < 100;`, or an array index), or use `--method attacks`";
    Failure::Refused(Box::new(Diagnostic::error("no-room", what, span).help(help)))
}

#[cfg(test)]
mod tests;

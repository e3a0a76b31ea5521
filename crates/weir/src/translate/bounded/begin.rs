//! The start of a round: common code of a thread, entered with `resume` set to where the thread goes on.
//!
//! What was kept for this round reaches memory, what was kept for later ones moves up by one round, and the view is set
//! anew: memory first, then what is still kept, oldest first. All stores that reach memory do so before anything is
//! read: the view of one cell may depend on memory only.

use std::collections::BTreeMap;

use weir_ir::{Address, BinaryOp, BinaryRmw, Expr, Instruction, LocId, RegExpr, RegId, Span, Value};

use super::RunBound;
use super::access::count;
use super::thread::{Traced, Writer, assign, compare, equals, plain, set, test};

impl Writer<'_> {
    /// Writes the code from `begin` to `look`.
    pub(super) fn begin_round(&mut self) {
        let span = self.context.span;
        let counted = self.count_round(self.begin, span);
        match self.ahead {
            None => self.link(counted, self.look, span, [plain(Instruction::Skip)]),
            Some(ahead) => {
                let flush = self.common("flush", span);
                self.link(counted, self.look, span, [test(equals(ahead, 0))]);
                self.link(counted, flush, span, [test(compare(BinaryOp::NotEqual, ahead, 0))]);
                let flushed = self.flush(flush, span);
                let moved = self.move_up(flushed, span);
                self.come_closer(ahead, (moved, self.look), span);
            }
        }
    }

    /// One more round.
    fn count_round(&mut self, from: LocId, span: Span) -> LocId {
        let (Some(round), RunBound::Rounds(most)) = (self.round, self.context.bound) else { return from };
        let counted = self.middle(span);
        for number in 0..Value::from(most) {
            self.link(from, counted, span, [test(equals(round, number)), set(round, number + 1)]);
        }
        counted
    }

    /// What was kept for this round reaches memory.
    fn flush(&mut self, from: LocId, span: Span) -> LocId {
        let mut at = from;
        for (cell, (mask, queue)) in self.copy(0) {
            let next = self.middle(span);
            let store = Instruction::Store { address: Expr::Const(cell), value: Expr::Leaf(queue) };
            self.link(at, next, span, [test(compare(BinaryOp::NotEqual, mask, 0)), plain(store)]);
            self.link(at, next, span, [test(equals(mask, 0))]);
            at = next;
        }
        at
    }

    /// What was kept for later rounds is one round closer.
    fn move_up(&mut self, from: LocId, span: Span) -> LocId {
        let mut steps: Vec<Traced> = Vec::new();
        for rounds in 0..self.copies.kept.len() {
            for (cell, (mask, queue)) in self.copy(rounds) {
                let later = self.copies.kept.get(rounds + 1).and_then(|copy| copy.get(&cell)).copied();
                let value = |register: Option<RegId>| register.map_or(Expr::Const(0), Expr::Leaf);
                let next: [RegExpr; 2] = [value(later.map(|later| later.0)), value(later.map(|later| later.1))];
                steps.extend([mask, queue].into_iter().zip(next).map(|(to, from)| plain(assign(to, from))));
            }
        }
        let moved = self.common("moved", span);
        self.link(from, moved, span, steps);
        moved
    }

    fn come_closer(&mut self, ahead: RegId, (from, to): (LocId, LocId), span: Span) {
        for rounds in 1..=Value::from(self.context.cells.copies) {
            let drained = self.context.pending.filter(|_| rounds == 1).map(|cell| count(cell, BinaryRmw::Subtract));
            let steps = [test(equals(ahead, rounds))].into_iter().chain(drained).chain([set(ahead, rounds - 1)]);
            self.link(from, to, span, steps);
        }
    }

    /// Sets the view anew, from `look` to `go_on`.
    pub(super) fn look_anew(&mut self) {
        let (from, to, span) = (self.look, self.go_on, self.context.span);
        let views: Vec<(RegId, RegExpr)> =
            self.copies.view.iter().map(|(&cell, &view)| (view, Expr::Const(cell))).collect();
        let see = match &views[..] {
            [] => Instruction::Skip,
            [(register, address)] => Instruction::Load { register: *register, address: address.clone() },
            _ => Instruction::Snapshot(views),
        };
        let is_covered = |copy: &BTreeMap<Address, _>| copy.keys().any(|cell| self.copies.view.contains_key(cell));
        let Some(ahead) = self.ahead.filter(|_| self.copies.kept.iter().any(is_covered)) else {
            return self.link(from, to, span, [plain(see)]);
        };
        let seen = self.middle(span);
        self.link(from, seen, span, [plain(see)]);
        self.link(seen, to, span, [test(equals(ahead, 0))]);
        let mut at = self.middle(span);
        self.link(seen, at, span, [test(compare(BinaryOp::NotEqual, ahead, 0))]);
        for rounds in 0..self.copies.kept.len() {
            for (cell, (mask, queue)) in self.copy(rounds) {
                let Some(&view) = self.copies.view.get(&cell) else { continue };
                let next = self.middle(span);
                self.link(
                    at,
                    next,
                    span,
                    [test(compare(BinaryOp::NotEqual, mask, 0)), plain(assign(view, Expr::Leaf(queue)))],
                );
                self.link(at, next, span, [test(equals(mask, 0))]);
                at = next;
            }
        }
        self.link(at, to, span, [plain(Instruction::Skip)]);
    }

    /// The copies for the round of this number from now, less one.
    fn copy(&self, rounds: usize) -> Vec<(Address, (RegId, RegId))> {
        self.copies.kept[rounds].iter().map(|(&cell, &registers)| (cell, registers)).collect()
    }
}

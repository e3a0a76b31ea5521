//! Loads, stores and read-modify-writes of the original, in a round.
//!
//! Where the address is a constant, the copies of that cell are accessed in place. Where it is computed, common code
//! finds the copies: it is written once per thread, with the address and the value in registers, or as a procedure
//! (`group.rs`).

use std::collections::BTreeMap;

use weir_ir::{
    Address, BinaryOp, BinaryRmw, BodyBuilder, Edge, EdgeId, Expr, Instruction, LocId, Program, RegExpr, RegId, Rmw,
    Span, Value,
};

use super::group::{Common, in_the_middle};
use super::thread::{MIDDLE, Traced, Writer, and, assign, compare, equals, execute, plain, set, test};
use super::{Context, Origin, RunBound};

/// The copies of cells that a thread has, and what it needs to find them.
#[derive(Default)]
pub(super) struct Copies {
    /// What the thread reads from each cell that it loads.
    pub(super) view: BTreeMap<Address, RegId>,
    /// For each number of rounds from now, less one, and each cell that the thread stores to, whether a store reaches
    /// memory then, and the value of the last one.
    pub(super) kept: Vec<BTreeMap<Address, (RegId, RegId)>>,
    pub(super) address: Option<RegId>,
    /// A value on its way to or from common code.
    pub(super) value: Option<RegId>,
    /// What a step with several loads has loaded so far.
    loaded: Vec<RegId>,
    /// Where common code for loads and for stores begins and ends.
    find: Option<(LocId, LocId)>,
    put: Option<(LocId, LocId)>,
}

impl Copies {
    /// Declares the registers.
    pub(super) fn new(context: &Context<'_>, builder: &mut BodyBuilder<Origin>) -> Self {
        let cells = context.cells;
        let name = |address: Address| match context.group {
            Some(group) => group.cell_name(address).to_owned(),
            None => cell_name(context.program, address),
        };
        let mut view = BTreeMap::new();
        for &cell in &cells.loaded {
            view.insert(cell, context.register(builder, &format!("view_{}", name(cell))));
        }
        let mut kept = Vec::new();
        for rounds in 1..=cells.copies {
            let mut copies = BTreeMap::new();
            for &cell in &cells.stored {
                let mask = context.register(builder, &format!("mask{rounds}_{}", name(cell)));
                copies.insert(cell, (mask, context.register(builder, &format!("queue{rounds}_{}", name(cell)))));
            }
            kept.push(copies);
        }
        let computes = cells.computes.loads || cells.computes.stores;
        let address = computes.then(|| builder.register("address"));
        let value = (computes || context.pending.is_some()).then(|| builder.register("value"));
        let several = |edge: &Edge| match edge.instruction.loads_at_once() {
            Some(loads) if loads.iter().any(|(_, address)| address.constant().is_none()) => loads.len(),
            _ => 0,
        };
        let longest = context.body.edges().iter().map(several).max().unwrap_or(0);
        let loaded = (1..=longest).map(|number| builder.register(&format!("loaded{number}"))).collect();
        Self { view, kept, address, value, loaded, find: None, put: None }
    }
}

/// A cell's name as part of a register's.
pub(super) fn cell_name(program: &Program, address: Address) -> String {
    let name = match program.shared_at(address) {
        None => format!("mem_{address}"),
        Some(_) => program.cell_name(address),
    };
    let letters = name.chars().filter_map(|letter| match letter {
        ']' => None,
        '-' => Some('m'),
        letter if letter.is_ascii_alphanumeric() => Some(letter),
        _ => Some('_'),
    });
    letters.collect()
}

/// What a cell keeps of a value.
fn kept(program: &Program, cell: Address, value: RegExpr) -> RegExpr {
    match program.shared_at(cell).and_then(|(shared, _)| shared.width) {
        Some(width) => Expr::binary(BinaryOp::BitAnd, value, Expr::Const(width.range().high)),
        None => value,
    }
}

/// That a cell admits a value, if it does not admit every one.
fn admits(program: &Program, cell: Address, value: &RegExpr) -> Option<RegExpr> {
    let range = program.shared_at(cell).and_then(|(shared, _)| shared.range)?;
    let bound = |op, bound| Expr::binary(op, value.clone(), Expr::Const(bound));
    Some(and(bound(BinaryOp::GreaterEqual, range.low), bound(BinaryOp::LessEqual, range.high)))
}

impl Writer<'_> {
    /// What the thread reads from a cell.
    fn view(&self, cell: Address) -> Option<RegExpr> {
        self.copies.view.get(&cell).map(|&register| Expr::Leaf(register))
    }

    // Loads.

    pub(super) fn load(&mut self, id: EdgeId, edge: &Edge, register: RegId, address: &RegExpr) {
        match (address.constant().and_then(|cell| self.view(cell)), self.copies.value) {
            (Some(view), _) => self.step(edge, 0, [(assign(register, view), execute(id))]),
            (None, Some(value)) if self.context.group.is_some() => {
                let found = plain(assign(register, Expr::Leaf(value)));
                let find = self.call_common(Common::Find, vec![address.clone()], Some(value));
                self.step(
                    edge,
                    find.len() + 2,
                    in_the_middle(self.resume, find.into_iter().chain([found]), execute(id)),
                );
            }
            (None, _) => {
                let from = self.inside[edge.from.index()];
                let Some((back, value)) = self.find(from, edge, address) else { return };
                let (exit, number) = back;
                let to = self.inside[edge.to.index()];
                self.return_to((exit, to), number, edge.span, [plain(assign(register, value))], execute(id));
            }
        }
    }

    /// Calls the common code for loads: where and with which number it returns, and what it has found.
    fn find(&mut self, from: LocId, edge: &Edge, address: &RegExpr) -> Option<((LocId, Value), RegExpr)> {
        let (wanted, value) = (self.copies.address?, self.copies.value?);
        let (entry, exit) = self.find_code(edge.span);
        let number = self.number();
        let call = [plain(assign(wanted, address.clone())), set(self.resume, number)];
        self.link_as(edge.from, (from, entry), edge.span, call);
        Some(((exit, number), Expr::Leaf(value)))
    }

    fn find_code(&mut self, span: Span) -> (LocId, LocId) {
        let code = self.copies.find.unwrap_or_else(|| (self.common("find", span), self.common("found", span)));
        self.copies.find = Some(code);
        code
    }

    /// Several loads in one step, or a wait.
    pub(super) fn loads(&mut self, id: EdgeId, edge: &Edge, loads: &[(RegId, RegExpr)], condition: Option<&RegExpr>) {
        let mut at = self.inside[edge.from.index()];
        let mut values: Vec<(RegId, RegExpr)> = Vec::new();
        let mut is_middle = false;
        for (number, (register, address)) in loads.iter().enumerate() {
            let Some(view) = address.constant().and_then(|cell| self.view(cell)) else {
                let keep = self.copies.loaded[number];
                if self.context.group.is_some() {
                    let to = self.middle(edge.span);
                    let begin = (!is_middle).then(|| set(self.resume, MIDDLE));
                    let find = self.call_common(Common::Find, vec![address.clone()], Some(keep));
                    self.link(at, to, edge.span, begin.into_iter().chain(find));
                    values.push((*register, Expr::Leaf(keep)));
                    (at, is_middle) = (to, true);
                    continue;
                }
                let Some(((exit, back), value)) = self.find(at, edge, address) else { return };
                at = self.middle(edge.span);
                let taken = [test(equals(self.resume, back)), plain(assign(keep, value)), set(self.resume, MIDDLE)];
                self.link(exit, at, edge.span, taken);
                values.push((*register, Expr::Leaf(keep)));
                is_middle = true;
                continue;
            };
            values.push((*register, view));
        }
        let with_values = |condition: &RegExpr| {
            let value = |leaf: &RegId| values.iter().find(|(register, _)| register == leaf).map(|(_, value)| value);
            condition.map(&mut |leaf| value(leaf).cloned().unwrap_or(Expr::Leaf(*leaf)))
        };
        let mut steps: Vec<Traced> = condition.map(|condition| test(with_values(condition))).into_iter().collect();
        let tests = steps.len();
        if !is_middle && let [(register, value)] = &values[..] {
            steps.push((assign(*register, value.clone()), execute(id)));
            return self.step(edge, tests, steps);
        }
        steps.push(set(self.resume, MIDDLE));
        steps.extend(values.iter().map(|(register, value)| plain(assign(*register, value.clone()))));
        steps.push((assign(self.resume, Expr::Const(0)), execute(id)));
        if is_middle {
            self.link(at, self.inside[edge.to.index()], edge.span, steps);
        } else {
            self.step(edge, tests, steps);
        }
    }

    // Stores.

    pub(super) fn store(&mut self, id: EdgeId, edge: &Edge, address: &RegExpr, value: &RegExpr) {
        let Some(cell) = address.constant() else { return self.store_anywhere(id, edge, address, value) };
        let value_kept = kept(self.context.program, cell, value.clone());
        let look = self.copies.view.get(&cell).map(|&view| plain(assign(view, value_kept.clone())));
        let now = Origin { lands: Some(0), ..execute(id) };
        let steps: Vec<Traced> =
            self.drained().into_iter().chain([(edge.instruction.clone(), now)]).chain(look.clone()).collect();
        self.step(edge, usize::from(self.ahead.is_some()), steps);
        for rounds in 1..=self.context.cells.copies {
            let tests = admits(self.context.program, cell, value).map(test);
            let inside = self.inside[edge.from.index()];
            let Some(at) = self.may_keep(inside, Some(edge.from), edge.span, rounds, tests) else { continue };
            let keep = self.keep(rounds, cell, value_kept.clone(), execute(id)).into_iter().chain(look.clone());
            self.link(at, self.inside[edge.to.index()], edge.span, keep);
        }
    }

    /// Goes on if a store can be kept for the `rounds`-th round from now: the location after the tests.
    fn may_keep(
        &mut self,
        from: LocId,
        stands_for: Option<LocId>,
        span: Span,
        rounds: u32,
        tests: Option<Traced>,
    ) -> Option<LocId> {
        let ahead = self.ahead?;
        let mut can = compare(BinaryOp::LessEqual, ahead, Value::from(rounds));
        if let (Some(round), RunBound::Rounds(most)) = (self.round, self.context.bound) {
            can = and(compare(BinaryOp::LessEqual, round, Value::from(most - rounds)), can);
        }
        // The lock is not given back before the store has reached memory, and the round does not end before that.
        can = self.held.map(|held| equals(held, 0)).into_iter().fold(can, and);
        let at = self.middle_as(span, stands_for);
        self.chain(from, at, span, (stands_for, stands_for, 0), [test(can)].into_iter().chain(tests));
        let Some(pending) = self.context.pending else { return Some(at) };
        let counted = self.middle_as(span, stands_for);
        let one_more = [test(equals(ahead, 0)), count(pending, BinaryRmw::Add)];
        self.chain(at, counted, span, (stands_for, stands_for, 0), one_more);
        self.chain(at, counted, span, (stands_for, stands_for, 0), [test(compare(BinaryOp::NotEqual, ahead, 0))]);
        Some(counted)
    }

    /// Keeps a store. From the first instruction on, the thread is not drained.
    fn keep(&self, rounds: u32, cell: Address, value: RegExpr, origin: Origin) -> Vec<Traced> {
        let copy = self.copies.kept.get(rounds as usize - 1).and_then(|copy| copy.get(&cell));
        let (Some(ahead), Some(&(mask, queue))) = (self.ahead, copy) else { return Vec::new() };
        let first = assign(ahead, Expr::Const(Value::from(rounds)));
        vec![(first, Origin { lands: Some(rounds), ..origin }), set(mask, 1), plain(assign(queue, value))]
    }

    /// A store to a computed address.
    fn store_anywhere(&mut self, id: EdgeId, edge: &Edge, address: &RegExpr, value: &RegExpr) {
        if self.context.group.is_some() {
            let put = self.call_common(Common::Put, vec![address.clone(), value.clone()], None);
            return self.step(edge, put.len() + 1, in_the_middle(self.resume, put, execute(id)));
        }
        let (Some(to_address), Some(to_value)) = (self.copies.address, self.copies.value) else { return };
        let span = edge.span;
        let (entry, exit) =
            self.copies.put.unwrap_or_else(|| (self.common("put", span), self.common("put_done", span)));
        self.copies.put = Some((entry, exit));
        let number = self.number();
        let call = [
            plain(assign(to_address, address.clone())),
            plain(assign(to_value, value.clone())),
            set(self.resume, number),
        ];
        let (from, to) = (self.inside[edge.from.index()], self.inside[edge.to.index()]);
        self.link_as(edge.from, (from, entry), span, call);
        self.return_to((exit, to), number, span, [], execute(id));
    }

    // Read-modify-writes.

    pub(super) fn read_modify_write(&mut self, id: EdgeId, edge: &Edge, address: &RegExpr) {
        let mut steps: Vec<Traced> = self.drained().into_iter().collect();
        let effect = steps.len();
        steps.push((edge.instruction.clone(), execute(id)));
        match address.constant() {
            None if self.context.group.is_some_and(|group| !group.cells.loaded.is_empty()) => {
                // Any view may have changed.
                let look = self.call_common(Common::Look, Vec::new(), None);
                steps.extend(in_the_middle(self.resume, look, Origin::default()));
                self.step(edge, effect, steps);
            }
            None if !self.copies.view.is_empty() => {
                // Any view may have changed.
                let number = self.number();
                steps.push(set(self.resume, number));
                let (from, to) = (self.inside[edge.from.index()], self.inside[edge.to.index()]);
                self.chain(from, self.look, edge.span, (Some(edge.from), Some(edge.to), effect), steps);
                self.return_to((self.go_on, to), number, edge.span, [], Origin::default());
            }
            cell => {
                let view = cell.and_then(|cell| self.copies.view.get(&cell));
                steps.extend(view.map(|&register| plain(Instruction::Load { register, address: address.clone() })));
                self.step(edge, effect, steps);
            }
        }
    }

    // Common code.

    /// The code that finds the copies of a cell whose address is in a register.
    pub(super) fn common_accesses(&mut self) {
        let (Some(address), Some(value)) = (self.copies.address, self.copies.value) else { return };
        if let Some(ends) = self.copies.find {
            self.find_anywhere(ends, (address, value));
        }
        if let Some(ends) = self.copies.put {
            self.put_anywhere(ends, (address, value));
        }
    }

    /// Loads from the cell at an address.
    pub(super) fn find_anywhere(&mut self, ends: (LocId, LocId), (address, value): (RegId, RegId)) {
        let take = |&(_, register): &(Address, RegId)| vec![plain(assign(value, Expr::Leaf(register)))];
        let views: Vec<(Address, RegId)> = self.copies.view.iter().map(|(&cell, &view)| (cell, view)).collect();
        let ways = views.iter().map(|view| (view.0, take(view))).collect();
        self.select(ends, address, self.context.span, ways);
    }

    /// Stores to the cell at an address, now or later.
    pub(super) fn put_anywhere(&mut self, (entry, exit): (LocId, LocId), (address, value): (RegId, RegId)) {
        let span = self.context.span;
        let now = (
            Instruction::Store { address: Expr::Leaf(address), value: Expr::Leaf(value) },
            Origin { lands: Some(0), ..Origin::default() },
        );
        let made = self.middle(span);
        let steps: Vec<Traced> = self.drained().into_iter().chain([now]).collect();
        self.link(entry, made, span, steps);
        let ways: Vec<_> = self.cells_of_stores().map(|cell| (cell, self.look_at_stored(cell, value))).collect();
        self.select((made, exit), address, span, ways);
        for rounds in 1..=self.context.cells.copies {
            let Some(at) = self.may_keep(entry, None, span, rounds, None) else { continue };
            let way = |cell: Address| {
                let value_kept = kept(self.context.program, cell, Expr::Leaf(value));
                let tests = admits(self.context.program, cell, &Expr::Leaf(value)).map(test);
                let keep = self.keep(rounds, cell, value_kept, Origin::default());
                (cell, tests.into_iter().chain(keep).chain(self.look_at_stored(cell, value)).collect())
            };
            let ways: Vec<_> = self.cells_of_stores().map(way).collect();
            self.select((at, exit), address, span, ways);
        }
    }

    fn cells_of_stores(&self) -> impl Iterator<Item = Address> {
        self.context.cells.stored.iter().copied()
    }

    /// Sets the view of a cell to what was stored there, if the thread ever looks.
    fn look_at_stored(&self, cell: Address, value: RegId) -> Vec<Traced> {
        let view = self.copies.view.get(&cell);
        let seen = view.map(|&view| plain(assign(view, kept(self.context.program, cell, Expr::Leaf(value)))));
        seen.into_iter().collect()
    }

    /// Does one of several things, depending on the address: the cells are all that it can name.
    fn select(&mut self, (from, to): (LocId, LocId), address: RegId, span: Span, ways: Vec<(Address, Vec<Traced>)>) {
        let mut at = from;
        let last = ways.len();
        for (number, (cell, steps)) in ways.into_iter().enumerate() {
            self.link(at, to, span, [test(equals(address, cell))].into_iter().chain(steps));
            if number + 1 < last {
                let next = self.middle(span);
                self.link(at, next, span, [test(compare(BinaryOp::NotEqual, address, cell))]);
                at = next;
            }
        }
    }
}

/// Counts this thread among those with stores that have not reached memory, or no longer.
pub(super) fn count(pending: Address, operation: BinaryRmw) -> Traced {
    let operation = Rmw::Fetch(operation, Expr::Const(1));
    plain(Instruction::ReadModifyWrite { register: None, address: Expr::Const(pending), operation })
}

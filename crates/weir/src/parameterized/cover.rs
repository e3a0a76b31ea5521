//! Backward coverability in a thread transition system.
//!
//! A configuration is a control state and the local states of some copies; it stands for all states with that control
//! state and at least these copies. Copies in an initial local state are left out: there are always more of them that
//! have not moved yet. So a target is reachable in some instance if and only if a configuration with an initial control
//! state and no copies is found.

use rustc_hash::FxHashSet;

use super::system::{ControlId, Incomplete, LocalId, Move, System, Table};
use crate::session::Session;
use crate::wsts::{BackwardSearch, Outcome, WellStructured};

/// A control state and the copies beside it, by their local states, ascending.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Configuration {
    pub(super) control: ControlId,
    pub(super) copies: Vec<LocalId>,
}

/// Whether a target is reachable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cover {
    /// In no instance.
    Unreachable,
    /// In an instance with at most so many copies.
    Reachable(usize),
}

/// Stands for all initial control states: each of them follows it in one step.
pub(super) const START: u32 = u32::MAX;

/// Decides whether one of the targets is reachable in some instance.
pub(super) fn cover(
    system: &System,
    targets: &[Configuration],
    most: u64,
    session: &Session,
) -> Result<Cover, Incomplete> {
    let backward = Backward { table: &system.table };
    let mut search = BackwardSearch::new(&backward, Some(&[START]));
    for target in targets {
        search.add([&[target.control], &target.copies[..]].concat(), None);
    }
    match search.run(session, most) {
        Outcome::Saturated => Ok(Cover::Unreachable),
        Outcome::Stopped(limit) => Err(Incomplete::Stopped(limit)),
        Outcome::Covered(mut id) => {
            // Each step is one of a copy that was not seen before, at most.
            let mut steps = 0;
            while search.basis.parent(id) != id {
                id = search.basis.parent(id);
                steps += 1;
            }
            let target = search.basis.row(id).len() - 1;
            // Copies of the target in an initial local state are not part of its row.
            let most_of_targets = targets.iter().map(|target| target.copies.len()).max().unwrap_or(0);
            Ok(Cover::Reachable(steps + target.max(most_of_targets)))
        }
    }
}

/// The system as the search sees it: rows of a control state and local states.
pub(super) struct Backward<'s> {
    pub(super) table: &'s Table,
}

impl Backward<'_> {
    /// What must be there before the move so that all copies are there after it; `None` if that never occurs, or if it is
    /// no less than what must be there after it.
    fn before(&self, step: &Move, control: ControlId, copies: &[LocalId]) -> Option<Vec<u32>> {
        let moved = step.after.and_then(|after| copies.iter().position(|&copy| copy == after));
        if moved.is_none() && step.from == control {
            // Nothing that is looked at has changed.
            return None;
        }
        let mut row = vec![step.from];
        row.extend_from_slice(copies);
        if let Some(at) = moved {
            row.remove(at + 1);
        }
        row.extend(step.before);
        row[1..].iter().all(|&local| self.table.can_occur(step.from, local)).then_some(row)
    }
}

impl WellStructured for Backward<'_> {
    type Unit = u32;
    type Pattern = u32;

    fn is_below(&self, small: &[u32], large: &[u32]) -> bool {
        let mut rest = large[1..].iter();
        small[0] == large[0] && small[1..].iter().all(|local| rest.any(|own| own == local))
    }

    fn predecessor_basis(&self, row: &[u32], emit: &mut impl FnMut(Vec<u32>)) {
        let Some(moves) = self.table.moves_into.get(row[0] as usize) else { return };
        if row.len() == 1 && self.table.initial_controls.contains(&row[0]) {
            emit(vec![START]);
        }
        moves.iter().filter_map(|step| self.before(step, row[0], &row[1..])).for_each(emit);
    }

    fn normalize(&self, row: &mut Vec<u32>) {
        let is_initial = |local: &u32| self.table.initial_locals.contains(local);
        let mut copies: Vec<u32> = row.drain(1..).filter(|local| !is_initial(local)).collect();
        copies.sort_unstable();
        row.extend(copies);
    }

    fn weight(&self, row: &[u32]) -> u32 {
        row.len() as u32
    }

    /// The control state and the first copy.
    fn key(&self, row: &[u32]) -> u64 {
        key(row[0], first(row))
    }

    fn class(&self, row: &[u32]) -> usize {
        if row[0] == START { 0 } else { row[0] as usize + 1 }
    }

    fn pattern(&self, row: &[u32]) -> u32 {
        first(row)
    }

    /// The first copy of a row below is one of those in this row, if it has any.
    fn keys_below(&self, row: &[u32], firsts: &FxHashSet<u32>, mut is_found: impl FnMut(u64) -> bool) -> bool {
        let mut candidates = row[1..].iter().copied().chain([NO_COPY]);
        candidates.any(|first| firsts.contains(&first) && is_found(key(row[0], first)))
    }

    fn all_keys_below(&self, row: &[u32], firsts: &FxHashSet<u32>, is_found: impl FnMut(u64) -> bool) -> bool {
        self.keys_below(row, firsts, is_found)
    }

    /// The first copy of a row above comes before that of this row, or is the same.
    fn keys_above(&self, row: &[u32], firsts: &FxHashSet<u32>, mut visit: impl FnMut(u64)) {
        let own = first(row);
        firsts.iter().filter(|&&first| first < own).for_each(|&first| visit(key(row[0], first)));
    }
}

/// In place of the first copy if there is none.
const NO_COPY: LocalId = LocalId::MAX;

fn first(row: &[u32]) -> LocalId {
    row.get(1).copied().unwrap_or(NO_COPY)
}

fn key(control: ControlId, first: LocalId) -> u64 {
    u64::from(control) << 32 | u64::from(first)
}

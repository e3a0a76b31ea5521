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
    /// What must be there before the move so that all copies are there after it; `None` if that never occurs.
    fn before(&self, step: &Move, copies: &[LocalId]) -> Option<Vec<u32>> {
        let mut row = vec![step.from];
        row.extend_from_slice(copies);
        if let Some(at) = step.after.and_then(|after| copies.iter().position(|&copy| copy == after)) {
            row.remove(at + 1);
        }
        row.extend(step.before);
        row[1..].iter().all(|&local| self.table.can_occur(step.from, local)).then_some(row)
    }
}

impl WellStructured for Backward<'_> {
    type Unit = u32;
    type Pattern = ();

    fn is_below(&self, small: &[u32], large: &[u32]) -> bool {
        let mut rest = large[1..].iter();
        small[0] == large[0] && small[1..].iter().all(|local| rest.any(|own| own == local))
    }

    fn predecessor_basis(&self, row: &[u32], emit: &mut impl FnMut(Vec<u32>)) {
        let Some(moves) = self.table.moves_into.get(row[0] as usize) else { return };
        if row.len() == 1 && self.table.initial_controls.contains(&row[0]) {
            emit(vec![START]);
        }
        moves.iter().filter_map(|step| self.before(step, &row[1..])).for_each(emit);
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

    fn key(&self, row: &[u32]) -> u64 {
        row[0].into()
    }

    fn pattern(&self, _row: &[u32]) {}

    fn keys_below(&self, row: &[u32], _: &FxHashSet<()>, mut is_found: impl FnMut(u64) -> bool) -> bool {
        is_found(self.key(row))
    }

    fn all_keys_below(&self, row: &[u32], patterns: &FxHashSet<()>, is_found: impl FnMut(u64) -> bool) -> bool {
        self.keys_below(row, patterns, is_found)
    }
}

//! What is known of all reachable configurations: sign analysis and linear facts.

use std::cell::Cell;

use weir_ir::net::Net;
use weir_ir::{ControlId, Poll};
use weir_witness::net::{CoverProof, MinimalMarking, NeverMarked};

use super::facts::Facts;
use super::prune::Prune;
use super::signs::never_marked;
use super::system::{control_of, count_of, place_of, row};

/// After so many configurations in a row without a new fact, only every second one is tried, and so on.
const PATIENCE: u32 = 64;

/// What is known of all reachable configurations.
pub(super) struct Known<'n> {
    net: &'n Net,
    /// What is never marked.
    pub(super) never: NeverMarked,
    /// Linear facts; more are found on the way.
    pub(super) facts: Facts<'n>,
    /// How many configurations in a row no fact was found for, and how many are left out until the next attempt.
    failures: Cell<u32>,
    skipping: Cell<u32>,
}

impl<'n> Known<'n> {
    /// What sign analysis and the invariants that the net comes with tell. Once the poll is over, it is of no use.
    pub(super) fn new(net: &'n Net, poll: &Poll<'_>) -> Self {
        let never = never_marked(net, poll);
        let facts = Facts::new(net, &never);
        Self { net, never, facts, failures: Cell::new(0), skipping: Cell::new(0) }
    }

    /// The targets that are not excluded, as rows.
    pub(super) fn open_targets(&self) -> Vec<Vec<u64>> {
        let controls = |control: Option<ControlId>| {
            let all = 0..self.net.controls.len() as u32;
            control.map_or(all, |control| control.0..control.0 + 1).map(ControlId)
        };
        let targets = self.net.targets.iter();
        let rows = targets.flat_map(|target| controls(target.control).map(|control| row(control, &target.at_least)));
        rows.filter(|row| !self.learn(row)).collect()
    }

    /// The proof that what is not excluded is a closed set.
    pub(super) fn proof<'r>(&self, rows: impl Iterator<Item = &'r [u64]>) -> CoverProof {
        let minimal = |row: &[u64]| MinimalMarking {
            control: control_of(row),
            counts: row[1..].iter().map(|&word| (place_of(word), count_of(word))).collect(),
        };
        let mut basis: Vec<MinimalMarking> = rows.filter(|row| !self.is_excluded(row)).map(minimal).collect();
        basis.sort_unstable();
        CoverProof::Backward { never: self.never.clone(), facts: self.facts.known(), basis }
    }

    fn is_never(&self, row: &[u64]) -> bool {
        self.never.has_control(control_of(row)) || row[1..].iter().any(|&word| self.never.has_place(place_of(word)))
    }
}

impl Prune for Known<'_> {
    fn is_excluded(&self, row: &[u64]) -> bool {
        self.is_never(row) || self.facts.is_excluded(row)
    }

    /// Looks for a new fact, unless that has been in vain for long: then only now and then.
    fn learn(&self, row: &[u64]) -> bool {
        if self.is_excluded(row) {
            return true;
        }
        if self.skipping.get() > 0 {
            self.skipping.set(self.skipping.get() - 1);
            return false;
        }
        let is_found = self.facts.find(row);
        let failures = if is_found { 0 } else { self.failures.get().saturating_add(1) };
        self.failures.set(failures);
        self.skipping.set(failures / PATIENCE);
        is_found
    }
}

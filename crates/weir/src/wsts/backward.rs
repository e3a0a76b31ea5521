//! The saturation loop: predecessors of the minimal basis are added until nothing is new.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Basis, Id, WellStructured};
use crate::session::{Progress, Session};
use crate::verdict::Limit;

/// Number of configurations expanded and predecessors computed between two checks of the limits: each takes as long as
/// many steps of a forward search.
const A_CHECK: u64 = 32;

/// The result of a search.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The initial configuration is above this one.
    Covered(Id),
    /// No predecessor adds anything, and the initial configuration is not in the upward closure.
    Saturated,
    Stopped(Limit),
}

/// A backward search.
pub(crate) struct BackwardSearch<'a, S: WellStructured> {
    pub(crate) system: &'a S,
    /// The search ends when this is covered; without it, at saturation.
    initial: Option<&'a [S::Unit]>,
    pub(crate) basis: Basis<S>,
    open: BinaryHeap<Reverse<(u32, Id)>>,
    /// How many predecessors were computed.
    pub(crate) steps: u64,
    /// How many configurations were expanded.
    expanded: u64,
    /// How many checks of the limits there were.
    checks: u64,
    covering: Option<Id>,
    /// How many configurations may be kept.
    most: u64,
    /// Whether one was left out for that reason.
    is_full: bool,
}

impl<'a, S: WellStructured> BackwardSearch<'a, S> {
    pub(crate) fn new(system: &'a S, initial: Option<&'a [S::Unit]>) -> Self {
        Self {
            system,
            initial,
            basis: Basis::default(),
            open: BinaryHeap::new(),
            steps: 0,
            expanded: 0,
            checks: 0,
            covering: None,
            most: u64::MAX,
            is_full: false,
        }
    }

    /// Keeps no more than so many configurations, goals included: one more ends the search.
    pub(crate) fn keep(mut self, most: u64) -> Self {
        self.most = most;
        self
    }

    /// Adds a configuration, in its normal form, unless one below it is known. Goals have no parent.
    pub(crate) fn add(&mut self, mut config: Vec<S::Unit>, parent: Option<Id>) {
        let system = self.system;
        system.normalize(&mut config);
        if self.basis.covers(system, &config) {
            return;
        }
        if self.basis.len() as u64 >= self.most {
            self.is_full = true;
            return;
        }
        let id = self.basis.insert(system, &config, parent);
        self.open.push(Reverse((system.weight(&config), id)));
        if self.covering.is_none() && self.initial.is_some_and(|initial| system.is_below(&config, initial)) {
            self.covering = Some(id);
        }
    }

    /// Runs until the initial configuration is covered, until saturation, or until a limit is reached.
    pub(crate) fn run(&mut self, session: &Session, states: u64) -> Outcome {
        loop {
            if let Some(outcome) = self.run_some(session, states, u32::MAX) {
                return outcome;
            }
        }
    }

    /// The same, but returns `None` once so many configurations were expanded. The search can go on from there.
    pub(crate) fn run_some(&mut self, session: &Session, states: u64, most: u32) -> Option<Outcome> {
        let mut row = Vec::new();
        let mut expanded = 0u32;
        while expanded < most {
            if let Some(id) = self.covering {
                return Some(Outcome::Covered(id));
            }
            // What was left out is missing from the basis.
            if self.is_full {
                return Some(Outcome::Stopped(Limit::States));
            }
            let Some(Reverse((weight, id))) = self.open.pop() else { return Some(Outcome::Saturated) };
            if self.basis.is_covered(id) {
                continue;
            }
            expanded += 1;
            self.expanded += 1;
            if let Some(limit) = self.exceeded(weight, session, states) {
                return Some(Outcome::Stopped(limit));
            }
            row.clear();
            row.extend_from_slice(self.basis.row(id));
            let system = self.system;
            system.predecessor_basis(&row, &mut |before| {
                self.steps += 1;
                self.add(before, Some(id));
            });
        }
        None
    }

    /// Checks the limits, and reports progress, from time to time.
    fn exceeded(&mut self, weight: u32, session: &Session, states: u64) -> Option<Limit> {
        // One configuration can have many predecessors: each check counts as work.
        while self.checks < (self.expanded + self.steps) / A_CHECK {
            self.checks += 1;
            if let Some(limit) = session.exceeded_with(self.basis.bytes(), 0) {
                return Some(limit);
            }
            if self.checks.is_multiple_of(64) {
                let (states, open) = (self.basis.len() as u64, self.open.len() as u64);
                let unit = "minimal configurations";
                session.report(Progress { states, unit, open, depth: u64::from(weight), ..Progress::default() });
            }
        }
        (self.basis.len() as u64 > states).then_some(Limit::States)
    }
}

//! Expand, enlarge and check: forward search with counters that are exact up to a bound and beyond it mean any number.
//!
//! After G. Geeraerts, J.-F. Raskin, L. Van Begin, "Expand, Enlarge and Check", 2006. Counters that exceed the bound
//! are taken to be unbounded, so that finitely many configurations contain everything that can be reached. If none of
//! them is in a target, they are a proof. Otherwise the bound grows: for every net in which no target can be covered,
//! some bound proves it. Runs are found by other searches.

use std::collections::VecDeque;

use weir_ir::net::Net;
use weir_ir::{ControlId, NetTransitionId, PlaceId, Poll};
use weir_witness::net::{CoverProof, Ideal, NeverMarked};

use super::forward::tokens;
use super::member::{Member, Turn};
use super::system::{MAX_COUNT, Step, control_of, count_of, place_of, row, word};
use crate::session::Session;
use crate::verdict::Limit;

/// The search, which can be interrupted and resumed.
pub(super) struct Enlarge<'n> {
    net: &'n Net,
    poll: &'n Poll<'n>,
    leaving: Vec<Vec<Step>>,
    /// Counters are exact up to this number.
    bound: u64,
    /// The largest configurations found with this bound, by control state.
    largest: Vec<Vec<Box<[u64]>>>,
    open: VecDeque<Box<[u64]>>,
    size: u64,
    /// How many configurations were stored with any bound: what limits the search if a target can be covered.
    stored: u64,
    bytes: u64,
    is_incomplete: bool,
}

impl<'n> Enlarge<'n> {
    pub(super) fn new(net: &'n Net, never: &NeverMarked, poll: &'n Poll<'n>) -> Self {
        let mut leaving: Vec<Vec<Step>> = net.controls.iter().map(|_| Vec::new()).collect();
        for (number, transition) in net.transitions.iter().enumerate() {
            if !never.is_dead(transition) {
                leaving[transition.from.index()].push(Step::new(NetTransitionId::new(number), transition));
            }
        }
        let largest = net.controls.iter().map(|_| Vec::new()).collect();
        let (open, size, stored, bytes, is_incomplete) = (VecDeque::new(), 0, 0, 0, false);
        let mut search = Self { net, poll, leaving, bound: 0, largest, open, size, stored, bytes, is_incomplete };
        search.restart(1);
        search
    }

    /// Starts again with this bound.
    fn restart(&mut self, bound: u64) {
        self.bound = bound;
        self.largest.iter_mut().for_each(Vec::clear);
        self.open.clear();
        (self.size, self.bytes) = (0, 0);
        let counts = self.net.initial.counts.iter().enumerate();
        let counts = counts.map(|(place, count)| (PlaceId::new(place), count.high.unwrap_or(MAX_COUNT)));
        let counts: Vec<_> = counts.filter(|entry| entry.1 > 0).collect();
        // An initial target is not found here, but by the search for runs.
        self.add(row(self.net.initial.control, &counts));
    }

    /// Adds what can follow; returns whether no target is among it.
    fn expand(&mut self, row: &[u64]) -> bool {
        if self.is_target(row) {
            return false;
        }
        let control = control_of(row).index();
        let leaving = std::mem::take(&mut self.leaving[control]);
        let mut is_safe = true;
        for step in &leaving {
            step.after(row, &mut |after, _| {
                is_safe &= self.add(after);
                self.is_incomplete |= self.poll.is_over();
                is_safe && !self.poll.was_over()
            });
        }
        self.leaving[control] = leaving;
        is_safe
    }

    /// Adds a configuration, enlarged, unless one above it is known. Returns whether it is in no target.
    fn add(&mut self, mut config: Vec<u64>) -> bool {
        for entry in &mut config[1..] {
            if count_of(*entry) > self.bound {
                *entry = word(place_of(*entry), MAX_COUNT);
            }
        }
        let known = &mut self.largest[control_of(&config).index()];
        if known.iter().any(|known| is_below(&config, known)) {
            return true;
        }
        let before = known.len();
        known.retain(|known| !is_below(known, &config));
        self.size = self.size + 1 + known.len() as u64 - before as u64;
        self.stored += 1;
        self.bytes += 16 * config.len() as u64 + 64;
        let config = config.into_boxed_slice();
        known.push(config.clone());
        let is_safe = !self.is_target(&config);
        self.open.push_back(config);
        is_safe
    }

    /// Whether something below a configuration is in a target, apart from upper bounds.
    fn is_target(&self, row: &[u64]) -> bool {
        self.net.targets.iter().any(|target| {
            target.control.is_none_or(|control| control == control_of(row))
                && target.at_least.iter().all(|&(place, count)| tokens(row, place) >= count)
        })
    }

    fn proof(&self) -> CoverProof {
        let ideal = |row: &[u64]| {
            let mut counts = vec![Some(0); self.net.places.len()];
            for &word in &row[1..] {
                let count = count_of(word);
                counts[place_of(word).index()] = (count < MAX_COUNT).then_some(count);
            }
            Ideal { control: ControlId(control_of(row).0), counts }
        };
        let mut ideals: Vec<Ideal> = self.largest.iter().flatten().map(|row| ideal(row)).collect();
        ideals.sort_unstable();
        CoverProof::Forward(ideals)
    }
}

impl Member for Enlarge<'_> {
    fn turn(&mut self, session: &Session, expansions: u32) -> Option<Turn> {
        for expanded in 0..expansions {
            if expanded % 16 == 0 {
                let limit = session.exceeded_with(self.bytes, 0);
                if let Some(limit) = limit.or_else(|| (self.stored > session.states_left()).then_some(Limit::States)) {
                    return Some(Turn::Stopped(limit));
                }
            }
            let Some(next) = self.open.pop_front() else {
                let is_over = self.is_incomplete.then(|| Turn::Stopped(session.ended_by()));
                return Some(is_over.unwrap_or_else(|| Turn::Proof(self.proof())));
            };
            let is_kept = self.largest[control_of(&next).index()].contains(&next);
            if is_kept && !self.expand(&next) {
                self.restart(self.bound + 1);
            }
        }
        None
    }

    fn size(&self) -> u64 {
        self.size
    }
}

/// Whether all counts of a row are at most those of another with the same control state.
fn is_below(small: &[u64], large: &[u64]) -> bool {
    small.len() <= large.len() && small[1..].iter().all(|&word| tokens(large, place_of(word)) >= count_of(word))
}

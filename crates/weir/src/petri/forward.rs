//! Directed forward search: runs of growing instances, the most promising first.
//!
//! It starts from every initial marking, those with few tokens first, and expands the configuration with the smallest
//! sum of tokens added to the smallest initial marking, steps so far, and a lower bound on the steps that are missing:
//! tokens that the nearest target lacks, divided by the most that one transition adds. The bound never exceeds the
//! truth, so that the first run found has the fewest steps and tokens together (A*). If the net has one initial
//! marking and all configurations were visited, they are a proof.
//!
//! It is the only method here for targets with upper bounds, which are not upward-closed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use weir_ir::net::{Count, CoverTarget, Net};
use weir_ir::{NetTransitionId, PlaceId, Poll};
use weir_witness::net::{CoverProof, Firing, FiringStep, NeverMarked};

use super::member::{Member, Turn};
use super::system::{MAX_COUNT, Step, control_of, count_of, first_spread, next_spread, place_of, row};
use crate::session::Session;
use crate::verdict::Limit;

/// Bytes that may be stored between two checks of the limits.
const UNCHECKED: u64 = 8 << 20;

/// With more places whose initial number of tokens is not fixed, not all ways to choose these numbers are tried.
const MAX_GROWING: usize = 12;

/// A configuration that was found.
struct Found {
    /// The configuration before, and the step; none for initial ones.
    before: Option<(u32, FiringStep)>,
    row: Box<[u64]>,
    /// Steps since the initial one, and tokens added to the smallest initial marking.
    steps: u32,
    added: u32,
}

/// The search, which can be interrupted and resumed.
pub(super) struct Directed<'n> {
    net: &'n Net,
    poll: &'n Poll<'n>,
    /// The transitions that leave each control state.
    leaving: Vec<Vec<Step>>,
    /// The most tokens that one transition adds.
    largest_gain: u64,
    found: Vec<Found>,
    numbers: FxHashMap<Box<[u64]>, u32>,
    open: BinaryHeap<Reverse<(u32, u32)>>,
    /// How many tokens were added to the smallest initial marking so far, and whether more can be.
    instances: u32,
    can_grow: bool,
    /// Whether something was left out: numbers that do not fit, or after an interruption.
    is_incomplete: bool,
    bytes: u64,
}

impl<'n> Directed<'n> {
    pub(super) fn new(net: &'n Net, never: &NeverMarked, poll: &'n Poll<'n>) -> Self {
        let mut leaving: Vec<Vec<Step>> = net.controls.iter().map(|_| Vec::new()).collect();
        let mut largest_gain = 1;
        for (number, transition) in net.transitions.iter().enumerate() {
            if !never.is_dead(transition) {
                leaving[transition.from.index()].push(Step::new(NetTransitionId::new(number), transition));
                let given = transition.gives.iter().map(|entry| entry.1).sum();
                largest_gain = if transition.moves.is_empty() { given } else { u64::MAX }.max(largest_gain);
            }
        }
        let can_grow = net.initial.counts.iter().any(|count| count.high != Some(count.low));
        let (found, numbers, open) = (Vec::new(), FxHashMap::default(), BinaryHeap::new());
        let (instances, is_incomplete, bytes) = (0, false, 0);
        let mut search =
            Self { net, poll, leaving, largest_gain, found, numbers, open, instances, can_grow, is_incomplete, bytes };
        search.start(0);
        search
    }

    /// Adds larger initial configurations, if they are the most promising.
    fn grow(&mut self) {
        while self.can_grow && self.open.peek().is_none_or(|Reverse((score, _))| *score > self.instances) {
            self.instances += 1;
            self.start(self.instances);
        }
    }

    /// Adds the initial configurations with this many tokens more than the smallest one; if many places can have more,
    /// only one with this many tokens more in each of them.
    fn start(&mut self, added: u32) {
        let counts = &self.net.initial.counts;
        let room = |count: &Count| count.high.map_or(u64::MAX, |high| high - count.low);
        let is_growing = |place: &usize| room(&counts[*place]) > 0;
        let growing: Vec<usize> = (0..counts.len()).filter(is_growing).collect();
        if growing.len() > MAX_GROWING {
            self.can_grow &= growing.iter().any(|&place| u64::from(added) <= room(&counts[place]));
            self.start_with(added, &|place| u64::from(added).min(room(&counts[place])));
            return;
        }
        let mut parts = first_spread(u64::from(added), growing.len().max(1));
        let mut is_any = false;
        loop {
            if growing.iter().zip(&parts).all(|(&place, &part)| part <= room(&counts[place])) {
                is_any = true;
                let more = |place| growing.iter().position(|&other| other == place).map_or(0, |at| parts[at]);
                self.start_with(added, &more);
            }
            if self.poll.is_over() {
                (self.can_grow, self.is_incomplete) = (false, true);
                return;
            }
            if !next_spread(&mut parts) {
                break;
            }
        }
        // Where nothing can be added, nothing more can be added either.
        self.can_grow &= is_any;
    }

    /// Adds the initial configuration with this many tokens more per place.
    fn start_with(&mut self, added: u32, more: &dyn Fn(usize) -> u64) {
        let counts = self.net.initial.counts.iter().enumerate();
        let tokens = counts.map(|(place, count)| (PlaceId::new(place), count.low + more(place)));
        let tokens: Vec<_> = tokens.filter(|entry| entry.1 > 0).collect();
        self.add(row(self.net.initial.control, &tokens), None, 0, added);
    }

    fn add(&mut self, row: Vec<u64>, before: Option<(u32, FiringStep)>, steps: u32, added: u32) {
        if row[1..].iter().any(|&word| count_of(word) == MAX_COUNT) {
            self.is_incomplete = true;
            return;
        }
        let bound = self.bound(&row);
        let score = steps.saturating_add(added).saturating_add(bound);
        if let Some(&known) = self.numbers.get(row.as_slice()) {
            let found = &mut self.found[known as usize];
            if steps + added < found.steps + found.added {
                (found.before, found.steps, found.added) = (before, steps, added);
                self.open.push(Reverse((score, known)));
            }
            return;
        }
        self.bytes += 16 * row.len() as u64 + 150;
        let id = self.found.len() as u32;
        let row = row.into_boxed_slice();
        self.numbers.insert(row.clone(), id);
        self.found.push(Found { before, row, steps, added });
        self.open.push(Reverse((score, id)));
    }

    /// A lower bound on the number of steps to a target.
    fn bound(&self, row: &[u64]) -> u32 {
        let lacking = |target: &CoverTarget| {
            let lacking = target.at_least.iter().map(|&(place, count)| count.saturating_sub(tokens(row, place)));
            let lacking = lacking.sum::<u64>().div_ceil(self.largest_gain);
            let is_elsewhere = target.control.is_some_and(|control| control != control_of(row));
            u32::try_from(lacking.max(u64::from(is_elsewhere))).unwrap_or(u32::MAX / 4)
        };
        self.net.targets.iter().map(lacking).min().unwrap_or(0)
    }

    fn is_target(&self, id: u32) -> bool {
        let row = &self.found[id as usize].row;
        self.net.targets.iter().any(|target| {
            target.control.is_none_or(|control| control == control_of(row))
                && target.at_least.iter().all(|&(place, count)| tokens(row, place) >= count)
                && target.at_most.iter().all(|&(place, count)| tokens(row, place) <= count)
        })
    }

    fn expand(&mut self, id: u32) {
        let found = &self.found[id as usize];
        let (row, steps, added) = (found.row.clone(), found.steps.saturating_add(1), found.added);
        let control = control_of(&row).index();
        let leaving = std::mem::take(&mut self.leaving[control]);
        for step in &leaving {
            step.after(&row, &mut |after, sent| {
                let step = FiringStep { transition: step.id, sent };
                self.add(after, Some((id, step)), steps, added);
                self.is_incomplete |= self.poll.is_over();
                !self.poll.was_over()
            });
        }
        self.leaving[control] = leaving;
    }

    /// All configurations, of a net with one initial marking.
    fn proof(&self) -> CoverProof {
        let marking = |found: &Found| {
            let mut marking = vec![0; self.net.places.len()];
            found.row[1..].iter().for_each(|&word| marking[place_of(word).index()] = count_of(word));
            (control_of(&found.row), marking)
        };
        let mut all: Vec<_> = self.found.iter().map(marking).collect();
        all.sort_unstable();
        CoverProof::Listed(all)
    }

    fn firing(&self, id: u32) -> Firing {
        let (mut steps, mut at) = (Vec::new(), id);
        while let Some((before, step)) = &self.found[at as usize].before {
            steps.push(step.clone());
            at = *before;
        }
        steps.reverse();
        let mut initial = vec![0; self.net.places.len()];
        for &word in &self.found[at as usize].row[1..] {
            initial[place_of(word).index()] = count_of(word);
        }
        Firing { initial, steps }
    }
}

impl Member for Directed<'_> {
    fn turn(&mut self, session: &Session, expansions: u32) -> Option<Turn> {
        let mut checked = 0;
        for expanded in 0..expansions {
            if expanded % 64 == 0 || self.bytes > checked + UNCHECKED {
                checked = self.bytes;
                let limit = session.exceeded_with(self.bytes, 0);
                if let Some(limit) = limit.or_else(|| (self.size() > session.states_left()).then_some(Limit::States)) {
                    return Some(Turn::Stopped(limit));
                }
            }
            self.grow();
            let Some(Reverse((_, id))) = self.open.pop() else {
                return Some(if self.is_incomplete || self.instances > 0 {
                    Turn::Spent
                } else {
                    Turn::Proof(self.proof())
                });
            };
            if self.is_target(id) {
                return Some(Turn::Firing(self.firing(id)));
            }
            self.expand(id);
        }
        None
    }

    fn size(&self) -> u64 {
        self.found.len() as u64
    }
}

/// The tokens of a place.
pub(super) fn tokens(row: &[u64], place: PlaceId) -> u64 {
    row[1..].binary_search_by_key(&place, |&word| place_of(word)).map_or(0, |at| count_of(row[at + 1]))
}

//! A net as a well-structured transition system: configurations as rows of numbers, their order, their predecessors.
//!
//! A row is a control state, then the places that hold tokens, sorted, each with its number of tokens in one word.
//! Rows with the same control state and the same set of marked places (the *support*) share an index key. A row can
//! only be below another if its support is a subset of the other's, which a signature of 64 bits decides for most
//! pairs.

use std::cell::Cell;
use std::hash::Hasher;

use rustc_hash::{FxHashSet, FxHasher};
use weir_ir::net::{Move, Net, NetTransition, Tokens};
use weir_ir::{ControlId, NetTransitionId, PlaceId, Poll};

use super::prune::Prune;
use crate::wsts::WellStructured;

/// Bits of a word that hold a number of tokens.
const COUNT_BITS: u32 = 40;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// More tokens than this do not fit a row. In forward searches it stands for any number of them.
pub(super) const MAX_COUNT: u64 = COUNT_MASK;

/// A place and its tokens, as one word of a row.
pub(super) fn word(place: PlaceId, count: u64) -> u64 {
    u64::from(place.0) << COUNT_BITS | count
}

/// The place of a word.
pub(super) fn place_of(word: u64) -> PlaceId {
    PlaceId((word >> COUNT_BITS) as u32)
}

/// The tokens of a word.
pub(super) fn count_of(word: u64) -> u64 {
    word & COUNT_MASK
}

/// The control state of a row.
pub(super) fn control_of(row: &[u64]) -> ControlId {
    ControlId(row[0] as u32)
}

/// The row of a configuration, given as a sorted list.
pub(super) fn row(control: ControlId, counts: &[Tokens]) -> Vec<u64> {
    let words = counts.iter().map(|&(place, count)| word(place, count));
    std::iter::once(u64::from(control.0)).chain(words).collect()
}

/// A transition, with what it does to each place in one list.
pub(super) struct Step {
    pub(super) id: NetTransitionId,
    pub(super) from: ControlId,
    pub(super) to: ControlId,
    touched: Vec<Touched>,
    pub(super) moves: Vec<Move>,
}

/// What a transition does to a place, apart from moving its tokens.
#[derive(Clone, Copy)]
struct Touched {
    place: PlaceId,
    needs: u64,
    takes: u64,
    gives: u64,
}

impl Step {
    pub(super) fn new(id: NetTransitionId, transition: &NetTransition) -> Self {
        let NetTransition { from, to, needs, takes, moves, gives, .. } = transition;
        let mut places: Vec<PlaceId> = needs.iter().chain(gives).map(|entry| entry.0).collect();
        places.sort_unstable();
        places.dedup();
        let count = |list: &[Tokens], place| {
            list.binary_search_by_key(&place, |entry: &Tokens| entry.0).map_or(0, |at| list[at].1)
        };
        let touched = places.into_iter().map(|place| Touched {
            place,
            needs: count(needs, place),
            takes: count(takes, place),
            gives: count(gives, place),
        });
        Self { id, from: *from, to: *to, touched: touched.collect(), moves: moves.clone() }
    }

    /// Whether it can lead to more tokens in a marked place of a row: otherwise what was before is above the row, if
    /// the control state is the same.
    fn adds_to(&self, row: &[u64]) -> bool {
        let mut touched = self.touched.iter().filter(|touched| touched.gives > 0).peekable();
        for &word in &row[1..] {
            let place = place_of(word);
            while touched.next_if(|touched| touched.place < place).is_some() {}
            if touched.peek().is_some_and(|touched| touched.place == place) {
                return true;
            }
        }
        self.moves.iter().any(|step| step.to.iter().any(|&to| has_place(row, to)))
    }

    fn at(&self, place: PlaceId) -> Option<&Touched> {
        self.touched.binary_search_by_key(&place, |touched| touched.place).ok().map(|at| &self.touched[at])
    }

    /// Whether a configuration has what it needs.
    pub(super) fn is_enabled(&self, row: &[u64]) -> bool {
        let mut words = row[1..].iter();
        control_of(row) == self.from
            && self.touched.iter().filter(|touched| touched.needs > 0).all(|touched| {
                let word = words.find(|&&word| place_of(word) >= touched.place);
                word.is_some_and(|&word| place_of(word) == touched.place && count_of(word) >= touched.needs)
            })
    }

    /// Calls `emit` for the configurations after the step, if it is enabled, with how tokens are moved where there is a
    /// choice, as long as it returns `true`. A count of [`MAX_COUNT`] stands for any number and stays so.
    pub(super) fn after(&self, row: &[u64], emit: &mut impl FnMut(Vec<u64>, Sent) -> bool) {
        if !self.is_enabled(row) {
            return;
        }
        let (mut stay, mut choices, mut spread): (Vec<Tokens>, Vec<&Move>, Vec<Vec<u64>>) = Default::default();
        for &word in &row[1..] {
            let (place, count) = (place_of(word), count_of(word));
            let count = less(count, self.at(place).map_or(0, |touched| touched.takes));
            match self.moves.binary_search_by_key(&place, |step| step.from).map(|at| &self.moves[at]) {
                Err(_) => stay.push((place, count)),
                Ok(step) if count == MAX_COUNT || step.to.len() < 2 => {
                    stay.extend(step.to.iter().map(|&to| (to, count)));
                }
                Ok(step) => {
                    choices.push(step);
                    spread.push(first_spread(count, step.to.len()));
                }
            }
        }
        stay.extend(
            self.touched.iter().filter(|touched| touched.gives > 0).map(|touched| (touched.place, touched.gives)),
        );
        loop {
            let mut sent = Sent::new();
            for (step, parts) in choices.iter().zip(&spread) {
                let parts = step.to.iter().zip(parts).filter(|(_, part)| **part > 0);
                sent.extend(parts.map(|(&to, &part)| (step.from, to, part)));
            }
            let mut counts = stay.clone();
            counts.extend(sent.iter().map(|&(_, to, part)| (to, part)));
            if !emit(self.summed(counts), sent) || !spread.iter_mut().any(|parts| next_spread(parts)) {
                return;
            }
        }
    }

    /// The configuration after the step that has these tokens.
    fn summed(&self, mut counts: Vec<Tokens>) -> Vec<u64> {
        counts.sort_unstable_by_key(|entry| entry.0);
        let mut row = Vec::with_capacity(counts.len() + 1);
        row.push(u64::from(self.to.0));
        for (place, count) in counts {
            match row[1..].last_mut() {
                Some(last) if place_of(*last) == place => *last = word(place, more(count_of(*last), count)),
                _ if count > 0 => row.push(word(place, count)),
                _ => {}
            }
        }
        row
    }

    /// The smallest configuration before a plain step to a row.
    fn before_plain(&self, row: &[u64]) -> Option<Vec<u64>> {
        let mut before = Vec::with_capacity(row.len() + self.touched.len());
        before.push(u64::from(self.from.0));
        let mut touched = self.touched.iter().peekable();
        let mut push = |place, count: u64| {
            if count > 0 {
                before.push(word(place, count));
            }
            count <= MAX_COUNT
        };
        let mut fits = true;
        for &word in &row[1..] {
            let (place, count) = (place_of(word), count_of(word));
            while let Some(touched) = touched.next_if(|touched| touched.place < place) {
                fits &= push(touched.place, touched.needs);
            }
            let count = match touched.next_if(|touched| touched.place == place) {
                Some(touched) => touched.needs.max(count.saturating_sub(touched.gives) + touched.takes),
                None => count,
            };
            fits &= push(place, count);
        }
        for touched in touched {
            fits &= push(touched.place, touched.needs);
        }
        fits.then_some(before)
    }
}

/// Fewer tokens, unless there can be any number.
fn less(count: u64, taken: u64) -> u64 {
    if count == MAX_COUNT { count } else { count.saturating_sub(taken) }
}

/// More tokens, up to any number.
fn more(count: u64, given: u64) -> u64 {
    count.saturating_add(given).min(MAX_COUNT)
}

fn has_place(row: &[u64], place: PlaceId) -> bool {
    row[1..].binary_search_by_key(&place, |&word| place_of(word)).is_ok()
}

/// A way to get the tokens of a row where a transition moves tokens: from which place to which, and how many.
pub(super) type Sent = Vec<(PlaceId, PlaceId, u64)>;

/// A net as a well-structured transition system, without what cannot be reached for known reasons.
pub(super) struct System<'n> {
    pub(super) net: &'n Net,
    /// The transitions that may ever fire, by the control state they lead to.
    pub(super) into: Vec<Vec<Step>>,
    /// What decides that a configuration need not be considered.
    pub(super) prune: &'n dyn Prune,
    poll: &'n Poll<'n>,
    /// Whether some predecessors are missing: too many tokens, or interrupted.
    pub(super) is_incomplete: Cell<bool>,
}

impl<'n> System<'n> {
    pub(super) fn new(
        net: &'n Net,
        is_dead: impl Fn(&NetTransition) -> bool,
        prune: &'n dyn Prune,
        poll: &'n Poll<'n>,
    ) -> Self {
        let mut into: Vec<Vec<Step>> = net.controls.iter().map(|_| Vec::new()).collect();
        for (number, transition) in net.transitions.iter().enumerate() {
            if !is_dead(transition) {
                into[transition.to.index()].push(Step::new(NetTransitionId::new(number), transition));
            }
        }
        Self { net, into, prune, poll, is_incomplete: Cell::new(false) }
    }

    /// Calls `emit` for the minimal configurations before a step to a row, with how tokens are moved, as long as it
    /// returns `true`.
    pub(super) fn before(&self, step: &Step, row: &[u64], emit: &mut impl FnMut(Vec<u64>, Sent) -> bool) {
        if step.moves.is_empty() {
            match step.before_plain(row) {
                Some(before) => drop(emit(before, Sent::new())),
                None => self.is_incomplete.set(true),
            }
        } else {
            self.before_moves(step, row, emit);
        }
    }

    /// The same for a step that moves tokens. What is wanted in a place and not given was before in one of the places
    /// from which tokens get there: all ways to spread it over them are tried.
    fn before_moves(&self, step: &Step, row: &[u64], emit: &mut impl FnMut(Vec<u64>, Sent) -> bool) {
        let Some(wanted) = wanted(step, row) else { return };
        let mut spread: Vec<Vec<u64>> =
            wanted.iter().map(|(_, left, sources)| first_spread(*left, sources.len())).collect();
        loop {
            if self.poll.is_over() {
                self.is_incomplete.set(true);
                return;
            }
            let mut sent = Sent::new();
            for ((place, _, sources), parts) in wanted.iter().zip(&spread) {
                let parts = sources.iter().zip(parts).filter(|(_, part)| **part > 0);
                sent.extend(parts.map(|(&source, &part)| (source, *place, part)));
            }
            match gather(step, &sent) {
                Some(before) => {
                    if !emit(before, sent) {
                        return;
                    }
                }
                None => self.is_incomplete.set(true),
            }
            if !spread.iter_mut().any(|parts| next_spread(parts)) {
                return;
            }
        }
    }

    fn signature(row: &[u64]) -> u64 {
        row[1..].iter().fold(0, |signature, &word| signature | 1 << (place_of(word).0 % 64))
    }
}

/// What a row wants and the step does not give: the place, how many, and where these can come from. `None` if a place
/// is wanted that nothing gets to.
fn wanted(step: &Step, row: &[u64]) -> Option<Vec<(PlaceId, u64, Vec<PlaceId>)>> {
    let mut wanted = Vec::new();
    for &word in &row[1..] {
        let place = place_of(word);
        let left = count_of(word).saturating_sub(step.at(place).map_or(0, |touched| touched.gives));
        if left > 0 {
            let is_left = step.moves.binary_search_by_key(&place, |step| step.from).is_ok();
            let arrives = step.moves.iter().filter(|step| step.to.contains(&place)).map(|step| step.from);
            let sources: Vec<PlaceId> = arrives.chain((!is_left).then_some(place)).collect();
            if sources.is_empty() {
                return None;
            }
            wanted.push((place, left, sources));
        }
    }
    Some(wanted)
}

/// The smallest configuration that has these tokens and what the step needs.
fn gather(step: &Step, sent: &[(PlaceId, PlaceId, u64)]) -> Option<Vec<u64>> {
    let mut counts: Vec<Tokens> = sent.iter().map(|&(source, _, part)| (source, part)).collect();
    counts.extend(step.touched.iter().filter(|touched| touched.needs > 0).map(|touched| (touched.place, 0)));
    counts.sort_unstable_by_key(|entry| entry.0);
    counts.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    let mut before = vec![u64::from(step.from.0)];
    for (place, count) in counts {
        let count = step.at(place).map_or(count, |touched| touched.needs.max(count + touched.takes));
        if count > MAX_COUNT {
            return None;
        }
        before.push(word(place, count));
    }
    Some(before)
}

/// All of `total` in the first of so many parts.
pub(super) fn first_spread(total: u64, parts: usize) -> Vec<u64> {
    let mut spread = vec![0; parts];
    spread[0] = total;
    spread
}

/// The next way to write a number as a sum of so many parts. After the last one, starts again and returns `false`.
pub(super) fn next_spread(parts: &mut [u64]) -> bool {
    let last = parts.len() - 1;
    let tail = std::mem::take(&mut parts[last]);
    match parts[..last].iter().rposition(|&part| part > 0) {
        Some(at) => {
            parts[at] -= 1;
            parts[at + 1] = tail + 1;
            true
        }
        None => {
            parts[0] = tail;
            false
        }
    }
}

impl WellStructured for System<'_> {
    type Unit = u64;
    /// The signature of the support, and the key.
    type Pattern = (u64, u64);

    fn is_below(&self, small: &[u64], large: &[u64]) -> bool {
        if small[0] != large[0] || small.len() > large.len() {
            return false;
        }
        if large.len() > 8 * small.len() {
            return small[1..].iter().all(|&word| {
                let at = large[1..].binary_search_by_key(&place_of(word), |&other| place_of(other));
                at.is_ok_and(|at| large[at + 1] >= word)
            });
        }
        let mut rest = large[1..].iter();
        small[1..].iter().all(|&word| {
            let place = place_of(word);
            rest.find(|&&other| place_of(other) >= place)
                .is_some_and(|&other| place_of(other) == place && other >= word)
        })
    }

    fn predecessor_basis(&self, config: &[u64], emit: &mut impl FnMut(Vec<u64>)) {
        if self.prune.learn(config) {
            return;
        }
        let control = control_of(config);
        for step in &self.into[control.index()] {
            if step.from != control || step.adds_to(config) {
                self.before(step, config, &mut |before, _| {
                    if !self.prune.is_excluded(&before) {
                        emit(before);
                    }
                    true
                });
            }
        }
    }

    fn normalize(&self, _config: &mut Vec<u64>) {}

    fn weight(&self, config: &[u64]) -> u32 {
        let total = config[1..].iter().map(|&word| count_of(word)).sum::<u64>();
        u32::try_from(total).unwrap_or(u32::MAX)
    }

    fn class(&self, config: &[u64]) -> usize {
        control_of(config).index()
    }

    fn key(&self, config: &[u64]) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_u64(config[0]);
        for &word in &config[1..] {
            hasher.write_u32(place_of(word).0);
        }
        hasher.finish()
    }

    fn pattern(&self, config: &[u64]) -> (u64, u64) {
        (Self::signature(config), self.key(config))
    }

    fn keys_below(
        &self,
        config: &[u64],
        patterns: &FxHashSet<(u64, u64)>,
        mut is_found: impl FnMut(u64) -> bool,
    ) -> bool {
        let other = !Self::signature(config);
        patterns.iter().any(|&(signature, key)| signature & other == 0 && is_found(key))
    }

    fn all_keys_below(
        &self,
        config: &[u64],
        patterns: &FxHashSet<(u64, u64)>,
        is_found: impl FnMut(u64) -> bool,
    ) -> bool {
        self.keys_below(config, patterns, is_found)
    }

    fn keys_above(&self, config: &[u64], patterns: &FxHashSet<(u64, u64)>, mut visit: impl FnMut(u64)) {
        let (own, key) = (Self::signature(config), self.key(config));
        for &(signature, other) in patterns {
            if own & !signature == 0 && other != key {
                visit(other);
            }
        }
    }
}

//! Proofs that no target can be covered.
//!
//! A backward proof is a set of minimal markings `B`, and facts about reachable configurations. It holds if every
//! target, and every configuration from which a transition leads to or above a marking of `B`, is itself above a
//! marking of `B` or contradicts a fact; and if no initial configuration is above a marking of `B`. Then no reachable
//! configuration is in or above `B`: the first one on a run would need a predecessor that is.
//!
//! A forward proof is a set of *ideals*: markings in which the number of tokens of a place can be unbounded, each
//! standing for all markings below it. It holds if the initial configurations are below some of them, every transition
//! leads from each of them to configurations below some of them, and no target is below one.
//!
//! If there are finitely many reachable configurations, they can be listed. This is the only proof that takes upper
//! bounds of targets into account.

use std::collections::{HashMap, HashSet};
use std::fmt;

use weir_ir::net::{CoverTarget, Move, Net, NetTransition, Tokens};
use weir_ir::{ControlId, Interrupt, PlaceId, Poll};

use super::linear::{Checked, LinearFact};
use super::marking::{Ideal, MinimalMarking};
use super::structure::NeverMarked;

/// A claim that no target can be covered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CoverProof {
    /// The minimal markings from which a target might be covered, and facts that exclude others.
    Backward {
        /// What is never marked.
        never: NeverMarked,
        /// Weighted sums that never grow.
        facts: Vec<LinearFact>,
        /// The markings.
        basis: Vec<MinimalMarking>,
    },
    /// Ideals that together contain all reachable configurations.
    Forward(Vec<Ideal>),
    /// All reachable configurations.
    Listed(Vec<(ControlId, Vec<u64>)>),
}

/// Why a proof is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProofFault {
    /// The net itself is malformed.
    Net(String),
    /// Something in the proof is not there in the net, or not sorted.
    Malformed,
    /// What is claimed never to be marked can be.
    Marked,
    /// This linear fact does not hold.
    Fact(usize),
    /// This target is not taken into account.
    Target(usize),
    /// An initial configuration is above this marking of the basis, or below no ideal.
    Initial(usize),
    /// A step leads to this marking of the basis from outside, or from this ideal to the outside.
    NotClosed(usize),
    /// The check was interrupted.
    Interrupted,
}

impl fmt::Display for ProofFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Net(fault) => write!(f, "the net is malformed: {fault}"),
            Self::Malformed => f.write_str("it names something that the net does not have"),
            Self::Marked => f.write_str("a place or control state that it calls unreachable may be reached"),
            Self::Fact(number) => write!(f, "fact {} does not hold", number + 1),
            Self::Target(number) => write!(f, "target {} is not excluded", number + 1),
            Self::Initial(number) => write!(f, "marking {} can be an initial one", number + 1),
            Self::NotClosed(number) => write!(f, "a step crosses its border at marking {}", number + 1),
            Self::Interrupted => f.write_str("the check was interrupted"),
        }
    }
}

impl std::error::Error for ProofFault {}

/// Checks a proof.
///
/// # Errors
/// What is wrong with it.
pub fn check_cover_proof(net: &Net, proof: &CoverProof, interrupt: &dyn Interrupt) -> Result<(), ProofFault> {
    if let Some(fault) = net.fault() {
        return Err(ProofFault::Net(fault));
    }
    let poll = Poll::new(interrupt);
    match proof {
        CoverProof::Backward { never, facts, basis } => check_backward(net, never, facts, basis, &poll),
        CoverProof::Forward(ideals) => check_forward(net, ideals, &poll),
        CoverProof::Listed(all) => check_listed(net, all, &poll),
    }
}

/// What is known of all reachable configurations, and the basis.
struct Known<'p> {
    never: &'p NeverMarked,
    facts: Vec<Checked<'p>>,
    /// The markings of the basis by control state, each with the set of places that it marks, modulo 64.
    basis: HashMap<ControlId, Vec<(u64, &'p MinimalMarking)>>,
}

impl Known<'_> {
    /// Whether everything above a marking is excluded, or in the upward closure of the basis.
    fn accounts_for(&self, marking: &MinimalMarking) -> bool {
        self.never.has_control(marking.control)
            || marking.counts.iter().any(|&(place, _)| self.never.has_place(place))
            || self.is_above_basis(marking)
            || self.facts.iter().any(|fact| fact.excludes(marking))
    }

    fn is_above_basis(&self, marking: &MinimalMarking) -> bool {
        let unmarked = !marked(marking);
        let known = self.basis.get(&marking.control).map_or(&[][..], Vec::as_slice);
        known.iter().any(|(places, known)| places & unmarked == 0 && is_below(known, marking))
    }
}

/// The places that are marked, modulo 64.
fn marked(marking: &MinimalMarking) -> u64 {
    marking.counts.iter().fold(0, |places, &(place, _)| places | 1 << (place.0 % 64))
}

fn is_below(small: &MinimalMarking, large: &MinimalMarking) -> bool {
    let has = |&(place, count): &Tokens| {
        large.counts.binary_search_by_key(&place, |entry| entry.0).is_ok_and(|at| large.counts[at].1 >= count)
    };
    small.control == large.control && small.counts.iter().all(has)
}

fn check_backward(
    net: &Net,
    never: &NeverMarked,
    facts: &[LinearFact],
    basis: &[MinimalMarking],
    poll: &Poll<'_>,
) -> Result<(), ProofFault> {
    if !never.holds(net) {
        return Err(ProofFault::Marked);
    }
    let facts = facts.iter().enumerate();
    let facts = facts.map(|(number, fact)| fact.check(net, never).ok_or(ProofFault::Fact(number)));
    let facts = facts.collect::<Result<_, _>>()?;
    let mut known = Known { never, facts, basis: HashMap::new() };
    for marking in basis {
        known.basis.entry(marking.control).or_default().push((marked(marking), marking));
    }
    let is_sound = |marking: &MinimalMarking| {
        marking.control.index() < net.controls.len()
            && marking.counts.is_sorted_by(|one, next| one.0 < next.0)
            && marking.counts.iter().all(|(place, _)| place.index() < net.places.len())
    };
    if !basis.iter().all(is_sound) {
        return Err(ProofFault::Malformed);
    }
    for (number, marking) in basis.iter().enumerate() {
        let fits = |&(place, count): &Tokens| net.initial.counts[place.index()].high.is_none_or(|high| count <= high);
        if marking.control == net.initial.control && marking.counts.iter().all(fits) {
            return Err(ProofFault::Initial(number));
        }
    }
    for (number, target) in net.targets.iter().enumerate() {
        let of = |control| MinimalMarking { control, counts: target.at_least.clone() };
        let mut all = controls(net, target).map(of);
        if !all.all(|marking| known.accounts_for(&marking)) {
            return Err(ProofFault::Target(number));
        }
    }
    for (number, marking) in basis.iter().enumerate() {
        let into = net.transitions.iter().filter(|transition| transition.to == marking.control);
        for transition in into.filter(|transition| !never.is_dead(transition)) {
            let all = predecessors(net, transition, marking, poll, &mut |before| {
                is_below(marking, &before) || known.accounts_for(&before)
            });
            if poll.was_over() {
                return Err(ProofFault::Interrupted);
            }
            if !all {
                return Err(ProofFault::NotClosed(number));
            }
        }
    }
    Ok(())
}

/// The control states that a target is about.
fn controls(net: &Net, target: &CoverTarget) -> impl Iterator<Item = ControlId> {
    let all = target.control.map_or(0..net.controls.len() as u32, |control| control.0..control.0 + 1);
    all.map(ControlId)
}

/// Whether `is_known` holds for the minimal markings from which a transition leads to or above a marking. Tokens that
/// are wanted and that the transition does not give were there before, in one of the places from which tokens get
/// there: all ways to spread them over these places are tried.
fn predecessors(
    net: &Net,
    transition: &NetTransition,
    after: &MinimalMarking,
    poll: &Poll<'_>,
    is_known: &mut impl FnMut(MinimalMarking) -> bool,
) -> bool {
    let count = |list: &[Tokens], place: PlaceId| list.iter().find(|entry| entry.0 == place).map_or(0, |entry| entry.1);
    let mut wanted: Vec<(PlaceId, u64, Vec<PlaceId>)> = Vec::new();
    for &(place, tokens) in &after.counts {
        let left = tokens.saturating_sub(count(&transition.gives, place));
        if left > 0 {
            let is_left = transition.moves.iter().any(|step| step.from == place);
            let arrives = transition.moves.iter().filter(|step| step.to.contains(&place)).map(|step| step.from);
            let sources: Vec<PlaceId> = arrives.chain((!is_left).then_some(place)).collect();
            if sources.is_empty() {
                return true;
            }
            wanted.push((place, left, sources));
        }
    }
    let mut spread: Vec<Vec<u64>> =
        wanted.iter().map(|(_, left, sources)| first_spread(*left, sources.len())).collect();
    loop {
        if poll.is_over() {
            return false;
        }
        let mut before = vec![0u64; net.places.len()];
        for ((_, _, sources), parts) in wanted.iter().zip(&spread) {
            for (source, part) in sources.iter().zip(parts) {
                before[source.index()] = before[source.index()].saturating_add(*part);
            }
        }
        for &(place, tokens) in &transition.takes {
            before[place.index()] = before[place.index()].saturating_add(tokens);
        }
        for &(place, tokens) in &transition.needs {
            before[place.index()] = before[place.index()].max(tokens);
        }
        let counts = before.iter().enumerate().filter(|(_, tokens)| **tokens > 0);
        let counts = counts.map(|(place, &tokens)| (PlaceId::new(place), tokens)).collect();
        if !is_known(MinimalMarking { control: transition.from, counts }) {
            return false;
        }
        if !spread.iter_mut().any(|parts| next_spread(parts)) {
            return true;
        }
    }
}

/// All of `total` in the first of so many parts.
fn first_spread(total: u64, parts: usize) -> Vec<u64> {
    let mut spread = vec![0; parts];
    spread[0] = total;
    spread
}

/// The next way to write a number as a sum of so many parts. After the last one, starts again and returns `false`.
fn next_spread(parts: &mut [u64]) -> bool {
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

fn check_forward(net: &Net, ideals: &[Ideal], poll: &Poll<'_>) -> Result<(), ProofFault> {
    let is_sound = |ideal: &Ideal| ideal.control.index() < net.controls.len() && ideal.counts.len() == net.places.len();
    if !ideals.iter().all(is_sound) {
        return Err(ProofFault::Malformed);
    }
    let is_inside = |ideal: &Ideal| ideals.iter().any(|known| contains(known, ideal));
    let initial = net.initial.counts.iter().map(|count| count.high).collect();
    if !is_inside(&Ideal { control: net.initial.control, counts: initial }) {
        return Err(ProofFault::Initial(0));
    }
    for (number, target) in net.targets.iter().enumerate() {
        let is_hit = |ideal: &Ideal| {
            let has = |&(place, count): &Tokens| ideal.counts[place.index()].is_none_or(|most| most >= count);
            target.control.is_none_or(|control| control == ideal.control) && target.at_least.iter().all(has)
        };
        if ideals.iter().any(is_hit) {
            return Err(ProofFault::Target(number));
        }
    }
    for (number, ideal) in ideals.iter().enumerate() {
        for transition in net.transitions.iter().filter(|transition| transition.from == ideal.control) {
            let all = successors(transition, ideal, poll, &mut |after| is_inside(&after));
            if poll.was_over() {
                return Err(ProofFault::Interrupted);
            }
            if !all {
                return Err(ProofFault::NotClosed(number));
            }
        }
    }
    Ok(())
}

/// Whether the only initial configuration is listed, every step from one that is listed leads to one that is, and none
/// is in a target. An ideal without unbounded counts is its largest configuration here.
fn check_listed(net: &Net, all: &[(ControlId, Vec<u64>)], poll: &Poll<'_>) -> Result<(), ProofFault> {
    let is_sound = |(control, marking): &(ControlId, Vec<u64>)| {
        control.index() < net.controls.len() && marking.len() == net.places.len()
    };
    if !all.iter().all(is_sound) || net.initial.counts.iter().any(|count| count.high != Some(count.low)) {
        return Err(ProofFault::Malformed);
    }
    let known: HashSet<(ControlId, &[u64])> = all.iter().map(|(control, marking)| (*control, &marking[..])).collect();
    let initial: Vec<u64> = net.initial.counts.iter().map(|count| count.low).collect();
    if !known.contains(&(net.initial.control, &initial[..])) {
        return Err(ProofFault::Initial(0));
    }
    for (number, (control, marking)) in all.iter().enumerate() {
        if let Some(target) = net.targets.iter().position(|target| is_in(target, *control, marking)) {
            return Err(ProofFault::Target(target));
        }
        let before = Ideal { control: *control, counts: marking.iter().map(|&count| Some(count)).collect() };
        for transition in net.transitions.iter().filter(|transition| transition.from == *control) {
            let is_closed = successors(transition, &before, poll, &mut |after| {
                let counts: Option<Vec<u64>> = after.counts.iter().copied().collect();
                counts.is_some_and(|counts| known.contains(&(after.control, &counts[..])))
            });
            if poll.was_over() {
                return Err(ProofFault::Interrupted);
            }
            if !is_closed {
                return Err(ProofFault::NotClosed(number));
            }
        }
    }
    Ok(())
}

/// Whether a configuration is in a target.
fn is_in(target: &CoverTarget, control: ControlId, marking: &[u64]) -> bool {
    target.control.is_none_or(|wanted| wanted == control)
        && target.at_least.iter().all(|&(place, count)| marking[place.index()] >= count)
        && target.at_most.iter().all(|&(place, count)| marking[place.index()] <= count)
}

fn contains(large: &Ideal, small: &Ideal) -> bool {
    let is_more = |(large, small): (&Option<u64>, &Option<u64>)| match (large, small) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(large), Some(small)) => large >= small,
    };
    large.control == small.control && large.counts.iter().zip(&small.counts).all(is_more)
}

/// Whether `is_known` holds for ideals that together contain everything a transition leads to from an ideal. Tokens
/// that are moved and can go to several places are spread in all ways; if there can be any number of them, there can
/// be any number in each of these places.
fn successors(
    transition: &NetTransition,
    before: &Ideal,
    poll: &Poll<'_>,
    is_known: &mut impl FnMut(Ideal) -> bool,
) -> bool {
    let has = |&(place, count): &Tokens| before.counts[place.index()].is_none_or(|most| most >= count);
    if !transition.needs.iter().all(has) {
        return true;
    }
    let mut counts = before.counts.clone();
    for &(place, tokens) in &transition.takes {
        counts[place.index()] = counts[place.index()].map(|most| most - tokens);
    }
    let mut arrived = vec![Some(0u64); counts.len()];
    let mut choices: Vec<(&Move, Vec<u64>)> = Vec::new();
    for step in &transition.moves {
        match counts[step.from.index()].replace(0) {
            None => step.to.iter().for_each(|to| arrived[to.index()] = None),
            Some(_) if step.to.is_empty() => {}
            Some(tokens) => choices.push((step, first_spread(tokens, step.to.len()))),
        }
    }
    let plus = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
    loop {
        if poll.is_over() {
            return false;
        }
        let mut after: Vec<Option<u64>> = counts.iter().zip(&arrived).map(|(&one, &other)| plus(one, other)).collect();
        for (step, parts) in &choices {
            for (to, part) in step.to.iter().zip(parts) {
                after[to.index()] = plus(after[to.index()], Some(*part));
            }
        }
        for &(place, tokens) in &transition.gives {
            after[place.index()] = plus(after[place.index()], Some(tokens));
        }
        if !is_known(Ideal { control: transition.to, counts: after }) {
            return false;
        }
        if !choices.iter_mut().any(|(_, parts)| next_spread(parts)) {
            return true;
        }
    }
}

//! Linear facts about reachable configurations: a weighted sum of tokens that never grows, and traps, which always keep
//! a token once they have one.
//!
//! Weights are numbers of type `u64`: a rational vector, scaled. With the weight `u(p)` of a place and the weights
//! `λ(Q)` of traps, `z(p)` is `u(p)` plus the weights of all traps that contain `p`; the same holds for control states.
//! If no transition increases `z · m`, then every reachable marking `m` has `z · m ≤ b`, the largest initial value.
//! On the other hand `z · m = u · m + Σ λ(Q) m(Q)`, and each trap that is marked initially has `m(Q) ≥ 1`. So no
//! marking above `r` is reachable if `u · r + Σ λ(Q) max(1, r(Q)) > b`.

use weir_ir::net::{Net, NetTransition, Tokens};
use weir_ir::{ControlId, PlaceId};

use super::marking::MinimalMarking;
use super::structure::NeverMarked;

/// A weighted sum that never grows, with traps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinearFact {
    /// Weights of places, sorted.
    pub places: Vec<(PlaceId, u64)>,
    /// Weights of control states, sorted.
    pub controls: Vec<(ControlId, u64)>,
    /// Traps, and their weights.
    pub traps: Vec<(Trap, u64)>,
}

/// Places and control states, both sorted: whatever takes a token from them puts one back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trap {
    /// Its places.
    pub places: Vec<PlaceId>,
    /// Its control states.
    pub controls: Vec<ControlId>,
}

/// A fact that was checked, ready for use: all weights and the bound.
pub(super) struct Checked<'f> {
    fact: &'f LinearFact,
    bound: i128,
}

impl LinearFact {
    /// Checks it, given what is never marked: transitions that are dead do not count.
    pub(super) fn check(&self, net: &Net, never: &NeverMarked) -> Option<Checked<'_>> {
        let (places, controls) = self.sums(net)?;
        let live = || net.transitions.iter().filter(|transition| !never.is_dead(transition));
        let grows = |transition: &NetTransition| {
            let sum = |list: &[Tokens]| -> i128 {
                list.iter().map(|&(place, count)| places[place.index()] * i128::from(count)).sum()
            };
            let change = controls[transition.to.index()] - controls[transition.from.index()] + sum(&transition.gives)
                - sum(&transition.takes);
            let moves = transition.moves.iter().filter(|step| !never.has_place(step.from));
            let mut pairs = moves.flat_map(|step| step.to.iter().map(|to| (step.from, *to)));
            change > 0 || pairs.any(|(from, to)| places[to.index()] > places[from.index()])
        };
        if live().any(grows) || !self.traps.iter().all(|(trap, _)| trap.holds(net, never)) {
            return None;
        }
        let mut bound = controls[net.initial.control.index()];
        for (weight, count) in places.iter().zip(&net.initial.counts) {
            match count.high {
                Some(high) => bound += weight * i128::from(high),
                None if *weight == 0 => {}
                None => return None,
            }
        }
        Some(Checked { fact: self, bound })
    }

    /// `z` for all places and control states; `None` if something named is not there or a weight is too large.
    fn sums(&self, net: &Net) -> Option<(Vec<i128>, Vec<i128>)> {
        let (mut places, mut controls) = (vec![0i128; net.places.len()], vec![0i128; net.controls.len()]);
        let add = |sum: Option<&mut i128>, weight: u64| {
            *sum? += i128::from(weight);
            (weight <= MAX_WEIGHT).then_some(())
        };
        for &(place, weight) in &self.places {
            add(places.get_mut(place.index()), weight)?;
        }
        for &(control, weight) in &self.controls {
            add(controls.get_mut(control.index()), weight)?;
        }
        for (trap, weight) in &self.traps {
            for place in &trap.places {
                add(places.get_mut(place.index()), *weight)?;
            }
            for control in &trap.controls {
                add(controls.get_mut(control.index()), *weight)?;
            }
        }
        Some((places, controls))
    }
}

/// With larger weights, sums might not fit.
const MAX_WEIGHT: u64 = 1 << 40;

impl Checked<'_> {
    /// Whether no configuration above this one is reachable.
    pub(super) fn excludes(&self, marking: &MinimalMarking) -> bool {
        let own = |list: &[(PlaceId, u64)]| -> i128 {
            list.iter().map(|&(place, weight)| i128::from(weight) * i128::from(tokens(marking, place))).sum()
        };
        let control = self.fact.controls.iter().filter(|(control, _)| *control == marking.control);
        let control: i128 = control.map(|&(_, weight)| i128::from(weight)).sum();
        let trapped = self.fact.traps.iter().map(|(trap, weight)| {
            let inside: i128 = trap.places.iter().map(|&place| i128::from(tokens(marking, place))).sum();
            let inside = inside + i128::from(trap.controls.contains(&marking.control));
            i128::from(*weight) * inside.max(1)
        });
        own(&self.fact.places) + control + trapped.sum::<i128>() > self.bound
    }
}

fn tokens(marking: &MinimalMarking, place: PlaceId) -> u64 {
    marking.counts.iter().find(|(known, _)| *known == place).map_or(0, |&(_, count)| count)
}

impl Trap {
    fn has_place(&self, place: PlaceId) -> bool {
        self.places.binary_search(&place).is_ok()
    }

    fn has_control(&self, control: ControlId) -> bool {
        self.controls.binary_search(&control).is_ok()
    }

    /// Whether every initial marking marks it, and no transition can empty it.
    fn holds(&self, net: &Net, never: &NeverMarked) -> bool {
        let is_sorted = self.places.is_sorted() && self.controls.is_sorted();
        let low = |place: &PlaceId| net.initial.counts.get(place.index()).is_some_and(|count| count.low > 0);
        let starts = self.has_control(net.initial.control) || self.places.iter().any(low);
        let live = || net.transitions.iter().filter(|transition| !never.is_dead(transition));
        is_sorted && starts && live().all(|transition| !self.loses(transition) || self.keeps(transition))
    }

    /// Whether a transition takes something from it.
    fn loses(&self, transition: &NetTransition) -> bool {
        transition.takes.iter().any(|&(place, _)| self.has_place(place))
            || self.has_control(transition.from)
            || transition.moves.iter().any(|step| {
                self.has_place(step.from) && (step.to.is_empty() || !step.to.iter().all(|&to| self.has_place(to)))
            })
    }

    /// Whether it is marked after a transition in any case.
    fn keeps(&self, transition: &NetTransition) -> bool {
        self.has_control(transition.to) || transition.gives.iter().any(|&(place, _)| self.has_place(place))
    }
}

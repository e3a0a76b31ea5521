//! The state inequation with traps: linear facts that exclude configurations.
//!
//! If a marking `m ≥ r` is reachable, then `m₀ + C x ≥ r` for some `x ≥ 0`, where `C` is what each transition adds to
//! each place. By Farkas' lemma there is no such `x` iff there are weights `y ≥ 0` with `y · C ≤ 0` and `y · r > y ·
//! m₀`: a sum that never grows, and would have to. A linear program finds them; they are rounded to integers and
//! checked, so that no answer depends on floating point. Control states are places with one token in all, and moving
//! all tokens of a place is moving one as often as one likes.
//!
//! If there are no such weights, the program yields `x`, and with it a marking that the inequation cannot exclude. A
//! trap that is marked initially and not in this marking excludes it: the trap is added to the program as one more
//! variable, and so on (J. Esparza, R. Ledesma-Garza, R. Majumdar, P. Meyer, F. Niksic, "An SMT-based approach to
//! coverability analysis", 2014, adds the same constraints). `weir_witness::net::LinearFact` says why such facts are
//! right.
//!
//! Facts are kept. Each excludes further configurations at the cost of one scalar product.

use std::cell::RefCell;

use weir_ir::net::{Net, NetTransition};
use weir_ir::{ControlId, PlaceId};
use weir_witness::net::{LinearFact, NeverMarked, Trap};

use super::prune::Prune;
use super::simplex::{Program, solve};
use super::system::{control_of, count_of, place_of};

/// Programs with more coefficients are not solved: a pivot visits all of them.
const MAX_CELLS: usize = 1 << 20;
/// Pivots per program: those that are of any use take fewer.
const MAX_PIVOTS: usize = 2_000;
/// Traps per configuration.
const MAX_TRAPS: usize = 12;
/// Facts that are kept.
const MAX_FACTS: usize = 400;
/// Weights of all facts together.
const MAX_WEIGHTS: usize = 1 << 24;
/// For nets with more pairs of a place and a transition, no facts are looked for.
const MAX_PAIRS: usize = 1 << 26;
/// Coefficients that may be computed for one program.
const MAX_WORK: usize = 1 << 28;

/// The linear facts about a net that are known so far.
pub(super) struct Facts<'n> {
    net: &'n Net,
    /// What each variable of the programs is the weight of.
    variables: Vec<Weighted>,
    /// The number of the variable of each place and control state, if it can have a weight.
    of_place: Vec<Option<usize>>,
    of_control: Vec<Option<usize>>,
    /// What must not be positive: one sum of weights per effect.
    effects: Vec<Vec<(usize, i64)>>,
    /// The transitions that may fire.
    live: Vec<&'n NetTransition>,
    traps: RefCell<Vec<Trap>>,
    known: RefCell<Vec<Known>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weighted {
    Place(PlaceId),
    Control(ControlId),
}

/// A fact, ready for use.
struct Known {
    fact: LinearFact,
    places: Vec<u64>,
    controls: Vec<u64>,
    bound: u64,
}

impl<'n> Facts<'n> {
    pub(super) fn new(net: &'n Net, never: &NeverMarked) -> Self {
        let live: Vec<&NetTransition> =
            net.transitions.iter().filter(|transition| !never.is_dead(transition)).collect();
        let (places, controls) = (net.places.len(), net.controls.len());
        let is_large = (places + controls).saturating_mul(live.len()) > MAX_PAIRS;
        let mut effects = if is_large { Vec::new() } else { effects(net, never, &live) };
        // A weight must be 0 if there can be any number of tokens initially, or an effect adds it without taking one.
        let mut is_zero: Vec<bool> = net.initial.counts.iter().map(|count| count.high.is_none()).collect();
        is_zero.resize(places + controls, controls == 1);
        loop {
            let before = is_zero.iter().filter(|&&zero| zero).count();
            for effect in &effects {
                if effect.iter().all(|&(at, change)| change > 0 || is_zero[at]) {
                    effect.iter().for_each(|&(at, _)| is_zero[at] = true);
                }
            }
            if is_zero.iter().filter(|&&zero| zero).count() == before {
                break;
            }
        }
        let mut numbers = vec![None; places + controls];
        let mut variables = Vec::new();
        // Without variables, no facts are looked for.
        for at in (0..places + controls).filter(|&at| !is_large && !is_zero[at]) {
            let is_never = if at < places {
                never.has_place(PlaceId::new(at))
            } else {
                never.has_control(ControlId::new(at - places))
            };
            if !is_never {
                numbers[at] = Some(variables.len());
                let weighted = if at < places {
                    Weighted::Place(PlaceId::new(at))
                } else {
                    Weighted::Control(ControlId::new(at - places))
                };
                variables.push(weighted);
            }
        }
        for effect in &mut effects {
            *effect = effect.iter().filter_map(|&(at, change)| Some((numbers[at]?, change))).collect();
        }
        effects.retain(|effect| effect.iter().any(|&(_, change)| change > 0));
        effects.sort_unstable();
        effects.dedup();
        let of_control = numbers.split_off(places);
        Self {
            net,
            variables,
            of_place: numbers,
            of_control,
            effects,
            live,
            traps: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// The facts found so far.
    pub(super) fn known(&self) -> Vec<LinearFact> {
        self.known.borrow().iter().map(|known| known.fact.clone()).collect()
    }

    /// How many facts were found so far.
    pub(super) fn count(&self) -> u64 {
        self.known.borrow().len() as u64
    }

    /// Whether programs for this net are small enough to be solved.
    pub(super) fn is_feasible(&self) -> bool {
        !self.variables.is_empty() && self.effects.len().saturating_mul(self.variables.len()) <= MAX_CELLS
    }

    /// Looks for a fact that excludes a configuration; it is kept.
    pub(super) fn find(&self, row: &[u64]) -> bool {
        if !self.is_feasible() {
            return false;
        }
        for _ in 0..=MAX_TRAPS {
            let program = self.program(row);
            let size = (program.rows.len() * program.gains.len()).max(1);
            let Some(solution) = solve(&program, MAX_PIVOTS.min(MAX_WORK / size)) else { return false };
            if solution.value > 1e-7 {
                return self.keep(row, &solution.values);
            }
            let Some(trap) = self.trap(&solution.prices) else { return false };
            let mut traps = self.traps.borrow_mut();
            if traps.contains(&trap) {
                return false;
            }
            traps.push(trap);
        }
        false
    }

    /// The program that looks for weights that exclude a configuration. The last constraint keeps it bounded.
    fn program(&self, row: &[u64]) -> Program {
        let traps = self.traps.borrow();
        let width = self.variables.len() + traps.len();
        let mut gains = vec![0.0; width];
        for (variable, gain) in self.variables.iter().zip(&mut gains) {
            *gain = -(self.initially(*variable) as f64);
        }
        for &word in &row[1..] {
            if let Some(variable) = self.of_place[place_of(word).index()] {
                gains[variable] += count_of(word) as f64;
            }
        }
        if let Some(variable) = self.of_control[control_of(row).index()] {
            gains[variable] += 1.0;
        }
        let members: Vec<Vec<usize>> = traps.iter().map(|trap| self.members(trap)).collect();
        for ((trap, members), gain) in traps.iter().zip(&members).zip(&mut gains[self.variables.len()..]) {
            let initially: u64 = members.iter().map(|&variable| self.initially(self.variables[variable])).sum();
            *gain = inside(trap, row).max(1) as f64 - initially as f64;
        }
        let mut rows = Vec::with_capacity(self.effects.len() + 1);
        for effect in &self.effects {
            let mut coefficients = vec![0.0; width];
            effect.iter().for_each(|&(variable, change)| coefficients[variable] = change as f64);
            for (at, members) in members.iter().enumerate() {
                coefficients[self.variables.len() + at] = members.iter().map(|&variable| coefficients[variable]).sum();
            }
            rows.push(coefficients);
        }
        rows.push(vec![1.0; width]);
        let mut bounds = vec![0.0; rows.len()];
        bounds[rows.len() - 1] = 1.0;
        Program { rows, bounds, gains }
    }

    /// The most tokens that there can be initially, which is bounded for everything that can have a weight.
    fn initially(&self, weighted: Weighted) -> u64 {
        match weighted {
            Weighted::Place(place) => self.net.initial.counts[place.index()].high.unwrap_or(0),
            Weighted::Control(control) => u64::from(control == self.net.initial.control),
        }
    }

    /// The variables of the places and control states of a trap.
    fn members(&self, trap: &Trap) -> Vec<usize> {
        let places = trap.places.iter().filter_map(|place| self.of_place[place.index()]);
        let controls = trap.controls.iter().filter_map(|control| self.of_control[control.index()]);
        places.chain(controls).collect()
    }

    /// Rounds weights, and keeps them if they are a fact that excludes the configuration.
    fn keep(&self, row: &[u64], values: &[f64]) -> bool {
        let Some(weights) = integers(values) else { return false };
        let traps = self.traps.borrow();
        let mut sums: Vec<i128> = weights[..self.variables.len()].iter().map(|&weight| i128::from(weight)).collect();
        for (trap, &weight) in traps.iter().zip(&weights[self.variables.len()..]) {
            self.members(trap).into_iter().for_each(|variable| sums[variable] += i128::from(weight));
        }
        let grows = |effect: &Vec<(usize, i64)>| {
            effect.iter().map(|&(variable, change)| sums[variable] * i128::from(change)).sum::<i128>() > 0
        };
        if self.effects.iter().any(grows) {
            return false;
        }
        let initially = sums.iter().zip(&self.variables);
        let bound: i128 = initially.map(|(sum, &weighted)| sum * i128::from(self.initially(weighted))).sum();
        let Ok(bound) = u64::try_from(bound) else { return false };
        let mut known = Known {
            fact: LinearFact::default(),
            places: vec![0; self.net.places.len()],
            controls: vec![0; self.net.controls.len()],
            bound,
        };
        for (&weighted, &weight) in self.variables.iter().zip(&weights).filter(|(_, weight)| **weight > 0) {
            match weighted {
                Weighted::Place(place) => {
                    known.places[place.index()] = weight;
                    known.fact.places.push((place, weight));
                }
                Weighted::Control(control) => {
                    known.controls[control.index()] = weight;
                    known.fact.controls.push((control, weight));
                }
            }
        }
        let used = traps.iter().zip(&weights[self.variables.len()..]).filter(|(_, weight)| **weight > 0);
        known.fact.traps = used.map(|(trap, &weight)| (trap.clone(), weight)).collect();
        let excludes = known.excludes(row);
        let mut all = self.known.borrow_mut();
        let size = self.net.places.len() + self.net.controls.len();
        if excludes && all.len() < MAX_FACTS.min(MAX_WEIGHTS / size) {
            all.push(known);
            return true;
        }
        false
    }

    /// The largest trap that is marked initially and not in the marking that these numbers of firings lead to.
    fn trap(&self, firings: &[f64]) -> Option<Trap> {
        let mut marking: Vec<f64> = self.variables.iter().map(|&weighted| self.initially(weighted) as f64).collect();
        for (effect, times) in self.effects.iter().zip(firings) {
            effect.iter().for_each(|&(variable, change)| marking[variable] += change as f64 * times);
        }
        let mut inside: Vec<bool> = marking.iter().map(|&tokens| tokens < 1e-6).collect();
        loop {
            let mut changed = false;
            for transition in &self.live {
                changed |= self.drop_lost(transition, &mut inside);
            }
            if !changed {
                break;
            }
        }
        let mut trap = Trap::default();
        let mut is_marked = false;
        for (&weighted, _) in self.variables.iter().zip(&inside).filter(|(_, is_inside)| **is_inside) {
            match weighted {
                Weighted::Place(place) => {
                    is_marked |= self.net.initial.counts[place.index()].low > 0;
                    trap.places.push(place);
                }
                Weighted::Control(control) => {
                    is_marked |= control == self.net.initial.control;
                    trap.controls.push(control);
                }
            }
        }
        is_marked.then_some(trap)
    }

    /// Drops what a transition takes away without putting anything back.
    fn drop_lost(&self, transition: &NetTransition, inside: &mut [bool]) -> bool {
        let place = |place: PlaceId| self.of_place[place.index()];
        let control = |control: ControlId| self.of_control[control.index()];
        let has = |inside: &[bool], variable: Option<usize>| variable.is_some_and(|variable| inside[variable]);
        if has(inside, control(transition.to)) || transition.gives.iter().any(|entry| has(inside, place(entry.0))) {
            return false;
        }
        let mut changed = false;
        let mut drop = |inside: &mut [bool], variable: Option<usize>| {
            if let Some(variable) = variable {
                changed |= std::mem::replace(&mut inside[variable], false);
            }
        };
        transition.takes.iter().for_each(|entry| drop(inside, place(entry.0)));
        drop(inside, control(transition.from));
        for step in &transition.moves {
            if step.to.is_empty() || !step.to.iter().all(|&to| has(inside, place(to))) {
                drop(inside, place(step.from));
            }
        }
        changed
    }
}

impl Known {
    fn excludes(&self, row: &[u64]) -> bool {
        let mut sum = self.controls[control_of(row).index()];
        for &word in &row[1..] {
            sum = sum.saturating_add(self.places[place_of(word).index()].saturating_mul(count_of(word)));
        }
        for (trap, weight) in &self.fact.traps {
            sum = sum.saturating_add(weight.saturating_mul(inside(trap, row).max(1)));
        }
        sum > self.bound
    }
}

impl Prune for Facts<'_> {
    fn is_excluded(&self, row: &[u64]) -> bool {
        self.known.borrow().iter().any(|known| known.excludes(row))
    }

    fn learn(&self, row: &[u64]) -> bool {
        self.is_excluded(row) || self.find(row)
    }
}

/// How many tokens of a configuration are in a trap.
fn inside(trap: &Trap, row: &[u64]) -> u64 {
    let tokens = row[1..].iter().filter(|&&word| trap.places.binary_search(&place_of(word)).is_ok());
    let tokens = tokens.map(|&word| count_of(word)).sum::<u64>();
    tokens + u64::from(trap.controls.binary_search(&control_of(row)).is_ok())
}

/// What transitions add, by the number of the place, or behind the places the number of the control state.
fn effects(net: &Net, never: &NeverMarked, live: &[&NetTransition]) -> Vec<Vec<(usize, i64)>> {
    let mut all = Vec::new();
    for transition in live {
        let mut effect: Vec<(usize, i64)> = Vec::new();
        effect.extend(transition.gives.iter().map(|&(place, count)| (place.index(), count as i64)));
        effect.extend(transition.takes.iter().map(|&(place, count)| (place.index(), -(count as i64))));
        effect.push((net.places.len() + transition.to.index(), 1));
        effect.push((net.places.len() + transition.from.index(), -1));
        all.push(summed(effect));
        for step in transition.moves.iter().filter(|step| !never.has_place(step.from)) {
            for &to in step.to.iter().filter(|&&to| to != step.from) {
                all.push(summed(vec![(to.index(), 1), (step.from.index(), -1)]));
            }
        }
    }
    all
}

/// Sorted, with one entry per place, and without those that cancel out.
fn summed(mut effect: Vec<(usize, i64)>) -> Vec<(usize, i64)> {
    effect.sort_unstable();
    effect.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    effect.retain(|&(_, change)| change != 0);
    effect
}

/// Integers in the same proportions, if small ones are nearly so.
fn integers(values: &[f64]) -> Option<Vec<u64>> {
    let least = values.iter().copied().filter(|&value| value > 1e-7).fold(f64::INFINITY, f64::min);
    if !least.is_finite() {
        return None;
    }
    let near = |factor: f64| {
        let scaled = values.iter().map(|value| value * factor / least);
        let is_near = |value: f64| (value - value.round()).abs() < 1e-4 && value.round() < 1e9;
        let rounded: Option<Vec<u64>> = scaled.map(|value| is_near(value).then_some(value.round() as u64)).collect();
        rounded
    };
    (1..=60).find_map(|factor| near(f64::from(factor)))
}

//! Petri nets: coverability by its definition, and nets to try it on.
//!
//! [`coverable`] computes the configurations from which a target can be covered, backwards, as a list of minimal ones.
//! Predecessors are not calculated: every marking that might be one is fired.

use std::collections::BTreeSet;

use weir_ir::net::{Count, CoverTarget, InitialMarkings, Move, Net, NetTransition, Place, Tokens};
use weir_ir::{ControlId, PlaceId, Source, Span};

use crate::rng::Rng;

/// More markings than this are not tried for one step.
const MAX_TRIED: u64 = 20_000;
/// More minimal configurations than this are too many.
const MAX_BASIS: usize = 300;

/// Whether a target can be covered; its upper bounds are left out. `None` if finding out takes too long.
pub fn coverable(net: &Net) -> Option<bool> {
    let mut basis: Vec<(ControlId, Vec<u64>)> = Vec::new();
    let mut open: Vec<(ControlId, Vec<u64>)> = Vec::new();
    for target in &net.targets {
        let mut marking = vec![0; net.places.len()];
        target.at_least.iter().for_each(|&(place, count)| marking[place.index()] = count);
        let controls = (0..net.controls.len()).map(ControlId::new);
        let controls = controls.filter(|&control| target.control.is_none_or(|wanted| wanted == control));
        open.extend(controls.map(|control| (control, marking.clone())));
    }
    while let Some((control, marking)) = open.pop() {
        if basis.iter().any(|(known, small)| *known == control && is_below(small, &marking)) {
            continue;
        }
        basis.retain(|(known, large)| *known != control || !is_below(&marking, large));
        basis.push((control, marking.clone()));
        if basis.len() > MAX_BASIS {
            return None;
        }
        for transition in net.transitions.iter().filter(|transition| transition.to == control) {
            let before = before(net, transition, &marking)?;
            open.extend(before.into_iter().map(|before| (transition.from, before)));
        }
    }
    let starts = |marking: &[u64]| {
        let fits = |(&count, bounds): (&u64, &Count)| bounds.high.is_none_or(|high| count <= high);
        marking.iter().zip(&net.initial.counts).all(fits)
    };
    Some(basis.iter().any(|(control, marking)| *control == net.initial.control && starts(marking)))
}

fn is_below(small: &[u64], large: &[u64]) -> bool {
    small.iter().zip(large).all(|(small, large)| small <= large)
}

/// Markings after which a transition can lead to or above a marking: all minimal ones are among them.
fn before(net: &Net, transition: &NetTransition, marking: &[u64]) -> Option<Vec<Vec<u64>>> {
    let all: u64 = marking.iter().sum();
    let of =
        |list: &[Tokens], place: usize| list.iter().find(|entry| entry.0.index() == place).map_or(0, |entry| entry.1);
    let most = (0..net.places.len()).map(|place| of(&transition.needs, place).max(of(&transition.takes, place) + all));
    let most: Vec<u64> = most.collect();
    let size = most.iter().fold(1u64, |size, most| size.saturating_mul(most + 1));
    if size > MAX_TRIED {
        return None;
    }
    let mut found: Vec<Vec<u64>> = Vec::new();
    let mut tried = vec![0; most.len()];
    loop {
        let is_new = !found.iter().any(|small| is_below(small, &tried));
        if is_new && successors(transition, &tried).iter().any(|after| is_below(marking, after)) {
            found.push(tried.clone());
        }
        // The next one, as a number with the first digit first.
        let Some(place) = (0..most.len()).find(|&place| tried[place] < most[place]) else { return Some(found) };
        tried[..place].fill(0);
        tried[place] += 1;
    }
}

/// All markings that a transition can lead to.
pub fn successors(transition: &NetTransition, marking: &[u64]) -> BTreeSet<Vec<u64>> {
    if transition.needs.iter().any(|&(place, count)| marking[place.index()] < count) {
        return BTreeSet::new();
    }
    let mut left = marking.to_vec();
    transition.takes.iter().for_each(|&(place, count)| left[place.index()] -= count);
    let mut moved = Vec::new();
    for step in &transition.moves {
        for _ in 0..std::mem::take(&mut left[step.from.index()]) {
            moved.push(&step.to);
        }
    }
    transition.gives.iter().for_each(|&(place, count)| left[place.index()] += count);
    // One token after the other goes where it can.
    let mut all = BTreeSet::from([left]);
    for to in moved.into_iter().filter(|to| !to.is_empty()) {
        let sent = |marking: &Vec<u64>| {
            let marking = marking.clone();
            to.iter().map(move |place| {
                let mut marking = marking.clone();
                marking[place.index()] += 1;
                marking
            })
        };
        all = all.iter().flat_map(sent).collect();
    }
    all
}

/// What random nets look like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The greatest number of places; at least 1.
    pub places: usize,
    /// The greatest number of control states; at least 1.
    pub controls: usize,
    /// The greatest number of transitions.
    pub transitions: usize,
    /// The greatest number of tokens anywhere.
    pub tokens: usize,
    /// Whether transitions move and remove all tokens of places.
    pub moves: bool,
}

/// A random net with an initial marking and one or two targets.
pub fn random_net(rng: &mut Rng, shape: Shape) -> Net {
    let (places, controls) = (rng.between(1, shape.places), rng.between(1, shape.controls));
    let transitions = rng.between(1, shape.transitions);
    let transitions = (0..transitions).map(|_| random_transition(rng, shape, places, controls)).collect();
    let count = |rng: &mut Rng| {
        let low = if rng.chance(60) { 0 } else { rng.below(shape.tokens + 1) as u64 };
        let high = if rng.chance(15) { None } else { Some(low + u64::from(rng.chance(10))) };
        Count { low, high }
    };
    let counts = (0..places).map(|_| count(rng)).collect();
    let target = |rng: &mut Rng| CoverTarget {
        control: rng.chance(70).then(|| ControlId::new(rng.below(controls))),
        at_least: tokens(rng, places, shape.tokens + 1, 50),
        at_most: Vec::new(),
        span: Span::default(),
    };
    let targets = (0..rng.between(1, 2)).map(|_| target(rng)).collect();
    let initial = InitialMarkings { control: ControlId(0), counts, span: Span::default() };
    net(places, controls, transitions, initial, targets)
}

fn net(
    places: usize,
    controls: usize,
    transitions: Vec<NetTransition>,
    initial: InitialMarkings,
    targets: Vec<CoverTarget>,
) -> Net {
    let place = |number| Place { name: format!("p{number}"), span: Span::default() };
    Net {
        source: Source::default(),
        controls: (0..controls).map(|number| format!("s{number}")).collect(),
        places: (0..places).map(place).collect(),
        transitions,
        initial,
        targets,
        invariants: Vec::new(),
    }
}

fn tokens(rng: &mut Rng, places: usize, most: usize, percent: u32) -> Vec<Tokens> {
    let drawn: Vec<PlaceId> = (0..places).filter(|_| rng.chance(percent)).map(PlaceId::new).collect();
    drawn.into_iter().map(|place| (place, rng.between(1, most.max(1)) as u64)).collect()
}

fn random_transition(rng: &mut Rng, shape: Shape, places: usize, controls: usize) -> NetTransition {
    let needs = tokens(rng, places, shape.tokens, 45);
    let mut takes = needs.clone();
    takes.retain(|_| rng.chance(80));
    let mut moves = Vec::new();
    if shape.moves && rng.chance(60) {
        for from in (0..places).filter(|_| rng.chance(35)).map(PlaceId::new).collect::<Vec<_>>() {
            let to = if rng.chance(25) { Vec::new() } else { (0..places).filter(|_| rng.chance(40)).collect() };
            moves.push(Move { from, to: to.into_iter().map(PlaceId::new).collect() });
        }
    }
    NetTransition {
        from: ControlId::new(rng.below(controls)),
        to: ControlId::new(rng.below(controls)),
        gives: tokens(rng, places, shape.tokens, 40),
        needs,
        takes,
        moves,
        span: Span::default(),
    }
}

/// Every net of two places with two transitions of a simple kind: what happens to each place is nothing, taking a
/// token, giving one or needing one, and besides all tokens may be moved or removed. `initial` and `target` are
/// numbers of tokens; an initial number of 9 stands for any.
pub fn tiny_nets(initial: [u64; 2], target: [u64; 2]) -> impl Iterator<Item = Net> {
    let all = tiny_transitions();
    let pairs: Vec<(usize, usize)> =
        (0..all.len()).flat_map(|one| (one..all.len()).map(move |two| (one, two))).collect();
    pairs.into_iter().map(move |(one, two)| {
        let count =
            |&tokens: &u64| if tokens == 9 { Count::default() } else { Count { low: tokens, high: Some(tokens) } };
        let counts = initial.iter().map(count).collect();
        let initial = InitialMarkings { control: ControlId(0), counts, span: Span::default() };
        let at_least = target.iter().enumerate().filter(|(_, count)| **count > 0);
        let at_least = at_least.map(|(place, &count)| (PlaceId::new(place), count)).collect();
        let target = CoverTarget { control: None, at_least, at_most: Vec::new(), span: Span::default() };
        net(2, 1, vec![all[one].clone(), all[two].clone()], initial, vec![target])
    })
}

fn tiny_transitions() -> Vec<NetTransition> {
    let (first, second) = (PlaceId(0), PlaceId(1));
    let step = |from, to: &[PlaceId]| vec![Move { from, to: to.to_vec() }];
    let moves = [
        Vec::new(),
        step(first, &[second]),
        step(second, &[first]),
        step(first, &[]),
        step(second, &[first, second]),
        vec![Move { from: first, to: vec![second] }, Move { from: second, to: vec![first] }],
    ];
    let mut all = Vec::new();
    for kinds in 0..16usize {
        for moves in &moves {
            let mut transition = NetTransition { moves: moves.clone(), ..NetTransition::default() };
            for (place, kind) in [(first, kinds % 4), (second, kinds / 4)] {
                if kind == 1 || kind == 3 {
                    transition.needs.push((place, 1));
                }
                match kind {
                    1 => transition.takes.push((place, 1)),
                    2 => transition.gives.push((place, 1)),
                    _ => {}
                }
            }
            all.push(transition);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transition(needs: &[Tokens], takes: &[Tokens], gives: &[Tokens]) -> NetTransition {
        let (needs, takes, gives) = (needs.to_vec(), takes.to_vec(), gives.to_vec());
        NetTransition { needs, takes, gives, ..NetTransition::default() }
    }

    #[test]
    fn tokens_are_taken_then_moved_then_given() {
        let (a, b) = (PlaceId(0), PlaceId(1));
        let mut step = transition(&[(a, 1)], &[(a, 1)], &[(a, 1)]);
        step.moves = vec![Move { from: a, to: vec![b] }];
        assert_eq!(successors(&step, &[3, 1]), BTreeSet::from([vec![1, 3]]));
        assert!(successors(&step, &[0, 1]).is_empty());
        step.moves = vec![Move { from: a, to: vec![a, b] }];
        assert_eq!(successors(&step, &[3, 0]), BTreeSet::from([vec![3, 0], vec![2, 1], vec![1, 2]]));
        step.moves = vec![Move { from: a, to: Vec::new() }];
        assert_eq!(successors(&step, &[3, 0]), BTreeSet::from([vec![1, 0]]));
    }

    #[test]
    fn what_can_be_covered_is_found_backwards() {
        let (a, b) = (PlaceId(0), PlaceId(1));
        let counts = |tokens: [u64; 2]| tokens.map(|tokens| Count { low: tokens, high: Some(tokens) }).to_vec();
        let ask = |start: [u64; 2], target: &[Tokens]| {
            let trade = transition(&[(a, 2)], &[(a, 2)], &[(b, 1)]);
            let initial = InitialMarkings { counts: counts(start), ..InitialMarkings::default() };
            let target = CoverTarget { at_least: target.to_vec(), ..CoverTarget::default() };
            coverable(&net(2, 1, vec![trade], initial, vec![target]))
        };
        assert_eq!(ask([4, 0], &[(b, 2)]), Some(true));
        assert_eq!(ask([3, 0], &[(b, 2)]), Some(false));
        assert_eq!(ask([3, 0], &[(a, 1), (b, 1)]), Some(true));
    }
}

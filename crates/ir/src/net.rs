//! Petri nets with an explicit control state, and questions about which markings they can cover.
//!
//! A *configuration* is a control state and a marking: a number of tokens per place. A net without control has one
//! control state. A transition leads from one control state to another and does four things in one step: it needs
//! tokens (it is enabled only if they are there), takes some of them, moves all tokens that are left in some places
//! (a transfer; to nowhere: a reset), and gives tokens.
//!
//! Nets are what thread templates become when copies are counted: the shared state is the control state, and there is a
//! place per local state. Larger markings can do whatever smaller ones can, so that coverability is decidable.

use crate::ids::{ControlId, NetTransitionId, PlaceId};
use crate::span::{Source, Span};

/// Numbers in a net must not be larger, so that sums of a few of them always fit.
pub const MAX_TOKENS: u64 = 1_000_000_000;

/// A number of tokens in a place. Lists of these are sorted by place, name no place twice, and have no zeros.
pub type Tokens = (PlaceId, u64);

/// A net, where it starts, and what it should not cover.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// The text it was read from.
    pub source: Source,
    /// The names of the control states; at least one.
    pub controls: Vec<String>,
    /// The places.
    pub places: Vec<Place>,
    /// The transitions.
    pub transitions: Vec<NetTransition>,
    /// Where it starts.
    pub initial: InitialMarkings,
    /// What is looked for: any of these.
    pub targets: Vec<CoverTarget>,
    /// Weighted sums of tokens that are said never to change.
    pub invariants: Vec<InvariantClaim>,
}

/// A place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
}

/// A transition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NetTransition {
    /// The control state before.
    pub from: ControlId,
    /// The control state after.
    pub to: ControlId,
    /// What must be there.
    pub needs: Vec<Tokens>,
    /// What is taken first; no more than what is needed.
    pub takes: Vec<Tokens>,
    /// Where all tokens of some places go then, sorted by the place they leave.
    pub moves: Vec<Move>,
    /// What is added last.
    pub gives: Vec<Tokens>,
    /// Where it was written.
    pub span: Span,
}

/// Every token that is left in a place goes to one of some places, each to any of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// The place that tokens leave.
    pub from: PlaceId,
    /// Where they can go, sorted, possibly to the same place; if there is none, they vanish.
    pub to: Vec<PlaceId>,
}

/// Where a net starts: in any marking between these bounds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InitialMarkings {
    /// The control state.
    pub control: ControlId,
    /// The bounds, one pair per place.
    pub counts: Vec<Count>,
    /// Where it was written.
    pub span: Span,
}

/// Bounds on the tokens of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// At least so many.
    pub low: u64,
    /// At most so many, if there is a bound.
    pub high: Option<u64>,
}

/// A set of configurations to look for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CoverTarget {
    /// The control state; none means any.
    pub control: Option<ControlId>,
    /// How many tokens there must be at least.
    pub at_least: Vec<Tokens>,
    /// How many there may be at most, by place and sorted; zeros are meant. If there are such bounds, the set is not
    /// upward-closed, and the question is more than coverability.
    pub at_most: Vec<Tokens>,
    /// Where it was written.
    pub span: Span,
}

/// A weighted sum of tokens that is said to be the same in all reachable markings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InvariantClaim {
    /// The weights.
    pub weights: Vec<Tokens>,
    /// Where it was written.
    pub span: Span,
}

impl Net {
    /// The transition of this number.
    pub fn transition(&self, id: NetTransitionId) -> &NetTransition {
        &self.transitions[id.index()]
    }

    /// The name of a place.
    pub fn place_name(&self, place: PlaceId) -> &str {
        &self.places[place.index()].name
    }

    /// The name of a control state.
    pub fn control_name(&self, control: ControlId) -> &str {
        &self.controls[control.index()]
    }

    /// Whether some transition moves all tokens of a place.
    pub fn has_moves(&self) -> bool {
        self.transitions.iter().any(|transition| !transition.moves.is_empty())
    }

    /// Whether all targets are upward-closed, so that the question is coverability.
    pub fn is_cover_question(&self) -> bool {
        self.targets.iter().all(|target| target.at_most.is_empty())
    }

    /// A transition that changes the sum of a claim, if there is one.
    pub fn contradicts(&self, claim: &InvariantClaim) -> Option<NetTransitionId> {
        let weight = |place: PlaceId| {
            let at = claim.weights.binary_search_by_key(&place, |entry| entry.0);
            at.map_or(0, |at| i128::from(claim.weights[at].1))
        };
        let sum =
            |list: &[Tokens]| -> i128 { list.iter().map(|&(place, count)| weight(place) * i128::from(count)).sum() };
        let changes = |transition: &NetTransition| {
            let is_changed = |step: &Move| {
                let before = weight(step.from);
                step.to.is_empty() && before > 0 || step.to.iter().any(|&to| weight(to) != before)
            };
            sum(&transition.gives) != sum(&transition.takes) || transition.moves.iter().any(is_changed)
        };
        self.transitions.iter().position(changes).map(NetTransitionId::new)
    }

    /// What is wrong with a net that was not read from text, if anything: each field says what must hold.
    pub fn fault(&self) -> Option<String> {
        if self.controls.is_empty() {
            return Some("a net needs a control state".to_owned());
        }
        if self.initial.counts.len() != self.places.len() {
            return Some("the initial markings need bounds for every place".to_owned());
        }
        let sound = |count: &Count| {
            count.low <= MAX_TOKENS && count.high.is_none_or(|high| (count.low..=MAX_TOKENS).contains(&high))
        };
        if !self.is_control(self.initial.control) || !self.initial.counts.iter().all(sound) {
            return Some("the initial markings are out of bounds".to_owned());
        }
        let at = self.transitions.iter().position(|transition| !self.is_sound(transition));
        if let Some(at) = at {
            return Some(format!("transition {at} is malformed"));
        }
        let is_sound = |target: &CoverTarget| {
            let is_list = self.is_list(&target.at_least) && self.is_sorted(&target.at_most);
            target.control.is_none_or(|control| self.is_control(control)) && is_list
        };
        let at = self.targets.iter().position(|target| !is_sound(target));
        at.map(|at| format!("target {at} is malformed"))
    }

    fn is_sound(&self, transition: &NetTransition) -> bool {
        let NetTransition { from, to, needs, takes, moves, gives, .. } = transition;
        let is_needed = |&(place, count): &Tokens| {
            needs.binary_search_by_key(&place, |need| need.0).is_ok_and(|at| needs[at].1 >= count)
        };
        let is_move = |step: &Move| {
            self.is_place(step.from)
                && step.to.iter().all(|&place| self.is_place(place))
                && step.to.is_sorted_by(|one, next| one < next)
        };
        self.is_control(*from)
            && self.is_control(*to)
            && [needs, takes, gives].into_iter().all(|list| self.is_list(list))
            && takes.iter().all(is_needed)
            && moves.iter().all(is_move)
            && moves.is_sorted_by(|one, next| one.from < next.from)
    }

    fn is_control(&self, control: ControlId) -> bool {
        control.index() < self.controls.len()
    }

    fn is_place(&self, place: PlaceId) -> bool {
        place.index() < self.places.len()
    }

    fn is_sorted(&self, list: &[Tokens]) -> bool {
        list.is_sorted_by(|one, next| one.0 < next.0)
            && list.iter().all(|&(place, count)| self.is_place(place) && count <= MAX_TOKENS)
    }

    fn is_list(&self, list: &[Tokens]) -> bool {
        self.is_sorted(list) && list.iter().all(|&(_, count)| count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net() -> Net {
        let count = Count { low: 1, high: Some(1) };
        let transition = NetTransition {
            needs: vec![(PlaceId(0), 1)],
            takes: vec![(PlaceId(0), 1)],
            gives: vec![(PlaceId(1), 1)],
            ..NetTransition::default()
        };
        Net {
            controls: vec![String::new()],
            places: vec![Place::default(), Place::default()],
            transitions: vec![transition],
            initial: InitialMarkings { counts: vec![count, count], ..InitialMarkings::default() },
            ..Net::default()
        }
    }

    #[test]
    fn malformed_nets_are_found_out() {
        assert_eq!(net().fault(), None);
        let faulty: [fn(&mut Net); 10] = [
            |net| net.controls.clear(),
            |net| net.places.push(Place::default()),
            |net| net.initial.control = ControlId(1),
            |net| net.initial.counts[0].high = Some(0),
            |net| net.transitions[0].to = ControlId(7),
            |net| net.transitions[0].needs.clear(),
            |net| net.transitions[0].gives = vec![(PlaceId(1), 0)],
            |net| net.transitions[0].gives = vec![(PlaceId(1), 1), (PlaceId(0), 1)],
            |net| net.transitions[0].moves = vec![Move { from: PlaceId(0), to: vec![PlaceId(2)] }],
            |net| {
                net.targets =
                    vec![CoverTarget { at_least: vec![(PlaceId(0), MAX_TOKENS + 1)], ..CoverTarget::default() }]
            },
        ];
        for (number, change) in faulty.into_iter().enumerate() {
            let mut net = net();
            change(&mut net);
            assert!(net.fault().is_some(), "{number}");
        }
    }

    #[test]
    fn claims_are_checked_against_every_transition() {
        let mut net = net();
        let claim = |weights: [u64; 2]| InvariantClaim {
            weights: weights.into_iter().enumerate().map(|(place, weight)| (PlaceId::new(place), weight)).collect(),
            span: Span::default(),
        };
        assert_eq!(net.contradicts(&claim([2, 2])), None);
        assert_eq!(net.contradicts(&claim([2, 1])), Some(NetTransitionId(0)));
        net.transitions
            .push(NetTransition { moves: vec![Move { from: PlaceId(1), to: vec![] }], ..NetTransition::default() });
        assert_eq!(net.contradicts(&claim([2, 2])), Some(NetTransitionId(1)));
        net.transitions[1].moves[0].to = vec![PlaceId(0), PlaceId(1)];
        assert_eq!(net.contradicts(&claim([2, 2])), None);
    }
}

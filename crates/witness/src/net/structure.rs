//! Places that never hold a token and control states that are never reached: an unmarked siphon.

use weir_ir::net::{Move, Net, NetTransition};
use weir_ir::{ControlId, PlaceId};

/// A claim that no reachable configuration has a token in these places or is in these control states.
///
/// It holds if it holds initially, and every transition that would end this needs it to have ended before.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NeverMarked {
    /// The places, sorted.
    pub places: Vec<PlaceId>,
    /// The control states, sorted.
    pub controls: Vec<ControlId>,
}

impl NeverMarked {
    /// Whether it says so of a place.
    pub fn has_place(&self, place: PlaceId) -> bool {
        self.places.binary_search(&place).is_ok()
    }

    /// Whether it says so of a control state.
    pub fn has_control(&self, control: ControlId) -> bool {
        self.controls.binary_search(&control).is_ok()
    }

    /// Whether a transition can never fire because of it.
    pub fn is_dead(&self, transition: &NetTransition) -> bool {
        self.has_control(transition.from) || transition.needs.iter().any(|&(place, _)| self.has_place(place))
    }

    /// Whether the claim is true, by what is said above.
    pub(super) fn holds(&self, net: &Net) -> bool {
        let is_sorted = self.places.is_sorted() && self.controls.is_sorted();
        let initial = &net.initial;
        let is_empty = |place: &PlaceId| initial.counts.get(place.index()).is_some_and(|count| count.high == Some(0));
        is_sorted
            && self.places.iter().all(is_empty)
            && !self.has_control(initial.control)
            && net.transitions.iter().all(|transition| self.is_dead(transition) || !self.is_ended_by(transition))
    }

    /// Whether a transition that fires while it holds can end it.
    fn is_ended_by(&self, transition: &NetTransition) -> bool {
        let enters = |step: &Move| !self.has_place(step.from) && step.to.iter().any(|&place| self.has_place(place));
        self.has_control(transition.to)
            || transition.gives.iter().any(|&(place, _)| self.has_place(place))
            || transition.moves.iter().any(enters)
    }
}

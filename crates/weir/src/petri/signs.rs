//! Sign analysis: which places can ever hold a token, and which control states can be reached, if every transition that
//! has been enabled once stays enabled.
//!
//! What is left is a siphon that is not marked initially: it never will be. Direction of error: none for what it
//! excludes; it need not find all.

use weir_ir::net::{Net, NetTransition};
use weir_ir::{ControlId, PlaceId, Poll};
use weir_witness::net::NeverMarked;

/// What is never marked. Once the poll is over, the result is of no use.
pub(super) fn never_marked(net: &Net, poll: &Poll<'_>) -> NeverMarked {
    let mut search = Search {
        net,
        places: vec![false; net.places.len()],
        controls: vec![false; net.controls.len()],
        missing: net.transitions.iter().map(|transition| transition.needs.len() + 1).collect(),
        waiting: vec![Vec::new(); net.places.len()],
        leaving: vec![Vec::new(); net.controls.len()],
        carrying: vec![Vec::new(); net.places.len()],
        fired: vec![false; net.transitions.len()],
        open: Vec::new(),
    };
    search.index();
    search.control(net.initial.control);
    for (place, count) in net.initial.counts.iter().enumerate() {
        if count.high != Some(0) {
            search.place(PlaceId::new(place));
        }
    }
    while let Some(transition) = search.open.pop() {
        if poll.is_over() {
            break;
        }
        search.fire(transition);
    }
    let places = (0..net.places.len()).filter(|&place| !search.places[place]).map(PlaceId::new).collect();
    let controls = (0..net.controls.len()).filter(|&control| !search.controls[control]).map(ControlId::new).collect();
    NeverMarked { places, controls }
}

struct Search<'n> {
    net: &'n Net,
    /// Whether it can be marked.
    places: Vec<bool>,
    /// Whether it can be reached.
    controls: Vec<bool>,
    /// How many of the places that a transition needs, and its control state, are not known to be there.
    missing: Vec<usize>,
    /// The transitions that need a place, and those that leave a control state.
    waiting: Vec<Vec<usize>>,
    leaving: Vec<Vec<usize>>,
    /// The transitions that move the tokens of a place.
    carrying: Vec<Vec<usize>>,
    fired: Vec<bool>,
    open: Vec<usize>,
}

impl Search<'_> {
    fn index(&mut self) {
        for (number, transition) in self.net.transitions.iter().enumerate() {
            self.leaving[transition.from.index()].push(number);
            for &(place, _) in &transition.needs {
                self.waiting[place.index()].push(number);
            }
            for step in &transition.moves {
                self.carrying[step.from.index()].push(number);
            }
        }
    }

    fn place(&mut self, place: PlaceId) {
        if !std::mem::replace(&mut self.places[place.index()], true) {
            let waiting = std::mem::take(&mut self.waiting[place.index()]);
            waiting.into_iter().for_each(|transition| self.found(transition));
            let carrying = std::mem::take(&mut self.carrying[place.index()]);
            self.open.extend(carrying.into_iter().filter(|&transition| self.fired[transition]));
        }
    }

    fn control(&mut self, control: ControlId) {
        if !std::mem::replace(&mut self.controls[control.index()], true) {
            let leaving = std::mem::take(&mut self.leaving[control.index()]);
            leaving.into_iter().for_each(|transition| self.found(transition));
        }
    }

    fn found(&mut self, transition: usize) {
        self.missing[transition] -= 1;
        if self.missing[transition] == 0 {
            self.open.push(transition);
        }
    }

    fn fire(&mut self, number: usize) {
        self.fired[number] = true;
        let NetTransition { to, gives, moves, .. } = &self.net.transitions[number];
        self.control(*to);
        for &(place, _) in gives {
            self.place(place);
        }
        for step in moves.iter() {
            if self.places[step.from.index()] {
                step.to.iter().for_each(|&to| self.place(to));
            }
        }
    }
}

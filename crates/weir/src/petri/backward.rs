//! Backward search from the targets, pruned by what is known of reachable configurations.
//!
//! It decides coverability: it ends by saturation, with the minimal basis as the proof, or when an initial
//! configuration is above a configuration found, with the transitions on the way back to the target as the run.

use weir_ir::net::{Count, Net};
use weir_ir::{NetTransitionId, PlaceId, Poll};
use weir_witness::net::{Firing, FiringStep};

use super::known::Known;
use super::member::{Member, Turn};
use super::system::{MAX_COUNT, Sent, System, control_of, count_of, place_of, row};
use crate::session::Session;
use crate::verdict::Limit;
use crate::wsts::{BackwardSearch, Id, Outcome, WellStructured};

/// A system and the configuration that all initial ones are below.
pub(super) struct Setting<'n> {
    system: System<'n>,
    initial: Vec<u64>,
}

impl<'n> Setting<'n> {
    pub(super) fn new(net: &'n Net, known: &'n Known<'n>, poll: &'n Poll<'n>) -> Self {
        let system = System::new(net, |transition| known.never.is_dead(transition), known, poll);
        let most = |(place, count): (usize, &Count)| (PlaceId::new(place), count.high.unwrap_or(MAX_COUNT));
        let counts: Vec<(PlaceId, u64)> = net.initial.counts.iter().enumerate().map(most).collect();
        let counts: Vec<(PlaceId, u64)> = counts.into_iter().filter(|entry| entry.1 > 0).collect();
        Self { system, initial: row(net.initial.control, &counts) }
    }
}

/// The search, which can be interrupted and resumed.
pub(super) struct Backward<'s, 'n> {
    setting: &'s Setting<'n>,
    known: &'n Known<'n>,
    search: BackwardSearch<'s, System<'n>>,
}

impl<'s, 'n> Backward<'s, 'n> {
    pub(super) fn new(setting: &'s Setting<'n>, known: &'n Known<'n>, targets: &[Vec<u64>]) -> Self {
        let mut search = BackwardSearch::new(&setting.system, Some(&setting.initial));
        targets.iter().for_each(|target| search.add(target.clone(), None));
        Self { setting, known, search }
    }

    /// The firing sequence from a configuration that an initial one is above, along its parents.
    fn firing(&self, covered: Id) -> Firing {
        let net = self.setting.system.net;
        let mut marking: Vec<u64> = net.initial.counts.iter().map(|count| count.low).collect();
        for &word in &self.search.basis.row(covered)[1..] {
            let tokens = &mut marking[place_of(word).index()];
            *tokens = count_of(word).max(*tokens);
        }
        let (mut id, mut steps) = (covered, Vec::new());
        while self.search.basis.parent(id) != id {
            let parent = self.search.basis.parent(id);
            match self.step(self.search.basis.row(id), self.search.basis.row(parent)) {
                Some((transition, sent)) => steps.push(FiringStep { transition, sent }),
                // Replaying what there is so far fails, and says that this is a bug.
                None => break,
            }
            id = parent;
        }
        let sent = |step: &FiringStep| net.transition(step.transition).moves.iter().any(|step| step.to.len() > 1);
        for step in &mut steps {
            if !sent(step) {
                step.sent.clear();
            } else {
                let moves = &net.transition(step.transition).moves;
                step.sent.retain(|(from, _, _)| moves.iter().any(|step| step.from == *from));
            }
        }
        Firing { initial: marking, steps }
    }

    /// The transition that leads from a configuration to or above its parent.
    fn step(&self, from: &[u64], to: &[u64]) -> Option<(NetTransitionId, Sent)> {
        let system = &self.setting.system;
        let mut found = None;
        for step in system.into[control_of(to).index()].iter().filter(|step| step.from == control_of(from)) {
            system.before(step, to, &mut |before, sent| {
                if found.is_none() && system.is_below(&before, from) {
                    found = Some((step.id, sent));
                }
                found.is_none()
            });
            if found.is_some() {
                break;
            }
        }
        found
    }
}

impl Member for Backward<'_, '_> {
    fn turn(&mut self, session: &Session, expansions: u32) -> Option<Turn> {
        let turn = match self.search.run_some(session, session.states_left(), expansions)? {
            Outcome::Covered(id) => Turn::Firing(self.firing(id)),
            Outcome::Stopped(limit) => Turn::Stopped(limit),
            // Without an interruption, a number of tokens that does not fit has kept it from being complete.
            Outcome::Saturated if self.setting.system.is_incomplete.get() => {
                Turn::Stopped(session.exceeded_before_work().unwrap_or(Limit::Extensions))
            }
            Outcome::Saturated => Turn::Proof(self.known.proof(self.search.basis.minimal())),
        };
        Some(turn)
    }

    fn size(&self) -> u64 {
        self.search.basis.len() as u64
    }
}

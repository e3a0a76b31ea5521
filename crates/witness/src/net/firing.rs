//! Firing sequences: from an initial marking, transition by transition, to a target.

use std::fmt;

use weir_ir::net::{Move, Net, NetTransition, Tokens};
use weir_ir::{ControlId, NetTransitionId, PlaceId};

/// A claim that a target can be covered: a marking to start from, and what to fire.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Firing {
    /// The marking to start from: tokens per place.
    pub initial: Vec<u64>,
    /// The transitions.
    pub steps: Vec<FiringStep>,
}

/// One transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiringStep {
    /// Which one.
    pub transition: NetTransitionId,
    /// How tokens are moved where the transition leaves a choice: from where, to where, and how many. What is not
    /// listed goes to the first place that it can go to.
    pub sent: Vec<(PlaceId, PlaceId, u64)>,
}

/// A firing sequence that was replayed: it starts in an initial marking and ends in a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedFiring {
    firing: Firing,
    target: usize,
}

impl CheckedFiring {
    /// The firing sequence.
    pub fn firing(&self) -> &Firing {
        &self.firing
    }

    /// The control state and marking before each step, and after the last one, in the net that it is a run of. They are
    /// computed again, since all of them together can be large.
    pub fn configurations<'n>(&'n self, net: &'n Net) -> impl Iterator<Item = (ControlId, Vec<u64>)> + 'n {
        let first = (net.initial.control, self.firing.initial.clone());
        let rest = self.firing.steps.iter().scan(first.1.clone(), |marking, step| {
            let transition = net.transitions.get(step.transition.index())?;
            *marking = fire(transition, marking, &step.sent).ok()?;
            Some((transition.to, marking.clone()))
        });
        std::iter::once(first).chain(rest)
    }

    /// The number of the target that the last configuration is in.
    pub fn target(&self) -> usize {
        self.target
    }
}

/// Why a firing sequence does not show that a target can be covered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FiringError {
    /// The net itself is malformed.
    Net(String),
    /// The net cannot start in this marking.
    Start,
    /// This step is not possible, for this reason.
    Step(usize, &'static str),
    /// The last configuration is in no target.
    NoTarget,
}

impl fmt::Display for FiringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Net(fault) => write!(f, "the net is malformed: {fault}"),
            Self::Start => f.write_str("the net cannot start in this marking"),
            Self::Step(step, reason) => write!(f, "step {} is not possible: {reason}", step + 1),
            Self::NoTarget => f.write_str("the last marking is in no target"),
        }
    }
}

impl std::error::Error for FiringError {}

/// Replays a firing sequence.
///
/// # Errors
/// Where it goes wrong.
pub fn check_firing(net: &Net, firing: Firing) -> Result<CheckedFiring, FiringError> {
    if let Some(fault) = net.fault() {
        return Err(FiringError::Net(fault));
    }
    if !is_initial(net, &firing.initial) {
        return Err(FiringError::Start);
    }
    let (mut control, mut marking) = (net.initial.control, firing.initial.clone());
    for (number, step) in firing.steps.iter().enumerate() {
        let problem = |reason| FiringError::Step(number, reason);
        let Some(transition) = net.transitions.get(step.transition.index()) else {
            return Err(problem("there is no such transition"));
        };
        if transition.from != control {
            return Err(problem("the control state is another one"));
        }
        marking = fire(transition, &marking, &step.sent).map_err(problem)?;
        control = transition.to;
    }
    let target = net.targets.iter().position(|target| {
        target.control.is_none_or(|wanted| wanted == control)
            && target.at_least.iter().all(|&(place, count)| marking[place.index()] >= count)
            && target.at_most.iter().all(|&(place, count)| marking[place.index()] <= count)
    });
    let target = target.ok_or(FiringError::NoTarget)?;
    Ok(CheckedFiring { firing, target })
}

/// Whether a net can start in a marking.
fn is_initial(net: &Net, marking: &[u64]) -> bool {
    let counts = &net.initial.counts;
    let fits = |(&tokens, count): (&u64, &weir_ir::net::Count)| {
        tokens >= count.low && count.high.is_none_or(|high| tokens <= high)
    };
    marking.len() == counts.len() && marking.iter().zip(counts).all(fits)
}

/// The marking after a transition.
fn fire(
    transition: &NetTransition,
    before: &[u64],
    sent: &[(PlaceId, PlaceId, u64)],
) -> Result<Vec<u64>, &'static str> {
    let mut marking = before.to_vec();
    let has = |marking: &[u64], &(place, count): &Tokens| marking[place.index()] >= count;
    if !transition.needs.iter().all(|need| has(&marking, need)) {
        return Err("tokens are missing");
    }
    for &(place, count) in &transition.takes {
        marking[place.index()] -= count;
    }
    let mut arrived = vec![0u64; marking.len()];
    let mut used = 0;
    for Move { from, to } in &transition.moves {
        let mut left = std::mem::take(&mut marking[from.index()]);
        for &(_, place, count) in sent.iter().filter(|(place, _, _)| place == from) {
            used += 1;
            if !to.contains(&place) {
                return Err("tokens are sent where they cannot go");
            }
            left = left.checked_sub(count).ok_or("more tokens are sent than there are")?;
            add(&mut arrived[place.index()], count)?;
        }
        if let Some(first) = to.first() {
            add(&mut arrived[first.index()], left)?;
        }
    }
    if used < sent.len() {
        return Err("tokens are sent from a place that they do not leave");
    }
    for (place, count) in arrived.into_iter().enumerate() {
        add(&mut marking[place], count)?;
    }
    for &(place, count) in &transition.gives {
        add(&mut marking[place.index()], count)?;
    }
    Ok(marking)
}

fn add(tokens: &mut u64, more: u64) -> Result<(), &'static str> {
    *tokens = tokens.checked_add(more).ok_or("there are too many tokens")?;
    Ok(())
}

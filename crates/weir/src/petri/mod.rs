//! Coverability of Petri nets with an explicit control state, with transfers and resets.
//!
//! Several methods answer the same question, in turns, with more work per turn each time:
//! - what is known of all reachable configurations: sign analysis (`signs`), the state inequation and traps
//!   (`facts`), which often is an answer by itself;
//! - `backward`: backward search from the targets over minimal bases (an instance of `wsts`), pruned by these facts;
//! - `forward`: directed forward search of growing instances, for short runs;
//! - `enlarge`: forward search with saturated counters (expand, enlarge and check), for proofs.
//!
//! A run is replayed and a proof is checked by `weir-witness` before it is returned. Which method answers depends only
//! on the net, not on time.
//!
//! Direction of error: none. With upper bounds in targets the question is reachability, which these methods need not
//! decide: they find runs, proofs that not even the lower bounds can be met, and proofs for nets with finitely many
//! configurations; otherwise the answer is unknown.

mod backward;
mod enlarge;
mod facts;
mod forward;
mod known;
mod member;
mod prune;
mod signs;
mod simplex;
mod system;
#[cfg(test)]
mod tests;

use weir_ir::net::Net;
use weir_ir::{Diagnostic, Poll, Span};
use weir_witness::net::{CheckedFiring, CoverProof, Firing, FiringError, ProofFault, check_cover_proof, check_firing};

use crate::session::Session;
use crate::verdict::{Limit, Verdict};
use backward::{Backward, Setting};
use enlarge::Enlarge;
use forward::Directed;
use known::Known;
use member::{Member, Turn};

/// A method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// All others, in turns.
    Auto,
    /// Sign analysis, the state inequation and traps only.
    Facts,
    /// Backward search, pruned by these facts.
    Backward,
    /// Directed forward search.
    Forward,
    /// Forward search with saturated counters.
    Enlarge,
}

impl Engine {
    /// All methods; the first is the default.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Facts, Self::Backward, Self::Forward, Self::Enlarge];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Facts => "facts",
            Self::Backward => "backward",
            Self::Forward => "forward",
            Self::Enlarge => "enlarge",
        }
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Auto => "All of the others, in turns; always answers if the target has no upper bounds",
            Self::Facts => "Sign analysis, the state inequation and traps; only proofs",
            Self::Backward => "Backward search from the target, pruned by these facts; always answers",
            Self::Forward => "Directed forward search of growing instances: short runs, proofs for finite nets only",
            Self::Enlarge => "Forward search with saturated counters; only proofs",
        }
    }
}

/// The answer, and how it came about.
#[derive(Clone, Debug)]
pub struct Report {
    /// Violated if a target can be covered.
    pub verdict: Verdict<CheckedFiring>,
    /// The proof that no target can be covered, if the verdict is that.
    pub proof: Option<CoverProof>,
    /// The method that answered; [`Engine::Auto`] if none did.
    pub engine: Engine,
    /// What was done.
    pub statistics: Statistics,
}

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Minimal configurations of the backward search.
    pub minimal: u64,
    /// Configurations of both forward searches.
    pub forward: u64,
    /// Linear facts.
    pub facts: u64,
}

/// How many configurations each search expands in its first turn.
const FIRST_TURN: u32 = 64;
/// And in any turn at most.
const LONGEST_TURN: u32 = 1 << 20;
/// Once a run is known, how many configurations the directed search may expand to find a shorter one.
const FOR_A_SHORTER_RUN: u32 = 1 << 13;

/// Decides whether a target of a net can be covered.
///
/// # Errors
/// If the net is malformed or has no target.
pub fn cover(net: &Net, engine: Engine, session: &Session) -> Result<Report, Box<Diagnostic>> {
    if let Some(fault) = net.fault() {
        let error = Diagnostic::error("malformed-net", fault, Span::default());
        return Err(Box::new(error.help("the documentation of `Net` says what must hold")));
    }
    if net.targets.is_empty() {
        let error = Diagnostic::error("no-target", "the net has no target", Span::default());
        return Err(Box::new(error.help("say which configurations to look for")));
    }
    Ok(Question { net, engine, session }.ask())
}

/// A net, the method that is asked, and a session.
struct Question<'q> {
    net: &'q Net,
    engine: Engine,
    session: &'q Session,
}

impl Question<'_> {
    fn ask(&self) -> Report {
        let engine = self.engine;
        let poll = Poll::new(self.session);
        let known = Known::new(self.net, &poll);
        let targets = known.open_targets();
        let facts = Statistics { facts: known.facts.count(), ..Statistics::default() };
        if poll.was_over() {
            return self.unknown(self.session.ended_by(), facts);
        }
        if targets.is_empty() && matches!(engine, Engine::Auto | Engine::Facts | Engine::Backward) {
            return self.proved(known.proof(std::iter::empty()), Engine::Facts, facts);
        }
        if engine == Engine::Facts {
            return self.unknown(Limit::Alarm, facts);
        }
        let setting = Setting::new(self.net, &known, &poll);
        let is_asked = |member: Engine| engine == Engine::Auto || engine == member;
        let mut backward = is_asked(Engine::Backward).then(|| Backward::new(&setting, &known, &targets));
        let mut forward = is_asked(Engine::Forward).then(|| Directed::new(self.net, &known.never, &poll));
        let mut enlarge = is_asked(Engine::Enlarge).then(|| Enlarge::new(self.net, &known.never, &poll));
        let mut members: Vec<(Engine, &mut dyn Member)> = Vec::new();
        members.extend(backward.as_mut().map(|member| (Engine::Backward, member as &mut dyn Member)));
        members.extend(forward.as_mut().map(|member| (Engine::Forward, member as &mut dyn Member)));
        members.extend(enlarge.as_mut().map(|member| (Engine::Enlarge, member as &mut dyn Member)));
        let (winner, outcome) = self.take_turns(&mut members);
        let size = |member: Option<u64>| member.unwrap_or(0);
        let (forward, enlarge) = (size(forward.map(|member| member.size())), size(enlarge.map(|member| member.size())));
        let minimal = size(backward.map(|member| member.size()));
        let statistics = Statistics { minimal, forward: forward + enlarge, facts: known.facts.count() };
        self.session.spend(minimal + forward + enlarge);
        match outcome {
            Ok(Shown::Proof(proof)) => self.proved(proof, winner, statistics),
            Ok(Shown::Firing(firing)) => {
                Report { verdict: Verdict::Violated(firing), proof: None, engine: winner, statistics }
            }
            Err(limit) => self.unknown(limit, statistics),
        }
    }

    /// Lets methods take turns until one of them answers.
    fn take_turns(&self, members: &mut Vec<(Engine, &mut dyn Member)>) -> (Engine, Result<Shown, Limit>) {
        let (mut expansions, mut limit) = (FIRST_TURN, Limit::Alarm);
        while !members.is_empty() {
            let mut at = 0;
            while let Some((engine, member)) = members.get_mut(at) {
                match member.turn(self.session, expansions) {
                    None => at += 1,
                    Some(Turn::Proof(proof)) => return (*engine, Ok(Shown::Proof(proof))),
                    Some(Turn::Firing(firing)) => match self.replayed(firing) {
                        Some(firing) => {
                            let (engine, firing) = self.shortest(*engine, firing, members);
                            return (engine, Ok(Shown::Firing(firing)));
                        }
                        // The lower bounds of the target can be met: only this search takes upper bounds into account.
                        None => members.retain(|(engine, _)| *engine == Engine::Forward),
                    },
                    Some(Turn::Stopped(reached)) => {
                        if reached != Limit::Extensions {
                            return (self.engine, Err(reached));
                        }
                        limit = reached;
                        members.remove(at);
                    }
                    Some(Turn::Spent) => drop(members.remove(at)),
                }
            }
            expansions = expansions.saturating_mul(2).min(LONGEST_TURN);
        }
        (self.engine, Err(limit))
    }

    /// A run that was found, or a shorter one that the directed search finds without much more work.
    fn shortest(
        &self,
        engine: Engine,
        firing: CheckedFiring,
        members: &mut [(Engine, &mut dyn Member)],
    ) -> (Engine, CheckedFiring) {
        let forward = members.iter_mut().find(|(member, _)| *member == Engine::Forward && engine != *member);
        let Some((_, forward)) = forward else { return (engine, firing) };
        match forward.turn(self.session, FOR_A_SHORTER_RUN) {
            Some(Turn::Firing(other)) => match self.replayed(other) {
                Some(other) if other.firing().steps.len() <= firing.firing().steps.len() => (Engine::Forward, other),
                _ => (engine, firing),
            },
            _ => (engine, firing),
        }
    }

    /// A run, replayed, with no more initial tokens than it takes. A run to a marking that exceeds an upper bound of
    /// the target shows nothing.
    fn replayed(&self, firing: Firing) -> Option<CheckedFiring> {
        match check_firing(self.net, firing) {
            Ok(firing) => {
                let trimmed = trimmed(self.net, &firing).and_then(|trimmed| check_firing(self.net, trimmed).ok());
                Some(trimmed.unwrap_or(firing))
            }
            Err(FiringError::NoTarget) if !self.net.is_cover_question() => None,
            Err(error) => panic!("a run that was found does not replay: {error}"),
        }
    }

    /// The answer that no target can be covered, if the proof is right.
    fn proved(&self, proof: CoverProof, engine: Engine, statistics: Statistics) -> Report {
        match check_cover_proof(self.net, &proof, self.session) {
            Ok(()) => Report { verdict: Verdict::Holds, proof: Some(proof), engine, statistics },
            Err(ProofFault::Interrupted) => self.unknown(self.session.ended_by(), statistics),
            Err(fault) => panic!("a proof that was found is wrong: {fault}"),
        }
    }

    fn unknown(&self, limit: Limit, statistics: Statistics) -> Report {
        Report { verdict: Verdict::Unknown(limit), proof: None, engine: self.engine, statistics }
    }
}

/// The same run from the smallest marking that its steps and its target ask for, unless it moves tokens.
fn trimmed(net: &Net, checked: &CheckedFiring) -> Option<Firing> {
    let (firing, target) = (checked.firing(), &net.targets[checked.target()]);
    let steps = firing.steps.iter().map(|step| net.transition(step.transition));
    if !target.at_most.is_empty() || steps.clone().any(|transition| !transition.moves.is_empty()) {
        return None;
    }
    let mut needed = vec![0u64; net.places.len()];
    target.at_least.iter().for_each(|&(place, count)| needed[place.index()] = count);
    for transition in steps.rev() {
        for &(place, count) in &transition.gives {
            needed[place.index()] = needed[place.index()].saturating_sub(count);
        }
        for &(place, count) in &transition.takes {
            needed[place.index()] = needed[place.index()].saturating_add(count);
        }
        for &(place, count) in &transition.needs {
            needed[place.index()] = needed[place.index()].max(count);
        }
    }
    let initial = needed.iter().zip(&net.initial.counts).map(|(&needed, count)| count.low.max(needed)).collect();
    Some(Firing { initial, steps: firing.steps.clone() })
}

/// What was found and can be shown.
enum Shown {
    Proof(CoverProof),
    Firing(CheckedFiring),
}

//! Certificates of probabilities: for every configuration, between which numbers the probability lies.
//!
//! The chain is enumerated anew, with the rules of `weir-witness` and without slices. The numbers come from the same
//! solver as elsewhere, moved apart by so little that every inequality holds in exact fractions, too; `weir-witness`
//! checks them before they count as a proof.

use rustc_hash::FxHashMap;
use weir_ir::{Program, StateExpr};
use weir_witness::{
    ChanceConfiguration as Configuration, ChanceFault, ChanceMove, ChanceProof, ChanceQuestion, ChanceSystem, Fault,
    ListedRegisters, ONE, Odds, Packer, Updates, Wanted,
};

use crate::bounds::Bound;
use crate::certify::{Unproved, live};
use crate::session::Session;
use crate::verdict::Limit;

use super::enclosure::Enclosure;
use super::prob01::Class;
use super::probability::{Interval, Question};
use super::settings::{Settings, UpdatePolicy};
use super::target::{Alternative, Target};
use super::transitions::{Entry, Transitions};

/// How far the numbers are moved apart, in proportion to the steps that are left: the least first.
const MARGINS: [f64; 4] = [1e-15, 1e-13, 1e-11, 1e-9];

/// The question as `weir-witness` has it; `None` if the target is one that its proofs cannot be about.
pub fn chance_question(question: &Question) -> Option<ChanceQuestion> {
    let (wanted, Settings { stickiness, updates, .. }) = (wanted(&question.target)?, &question.settings);
    let updates = match updates {
        UpdatePolicy::Uniform => Updates::Uniform,
        UpdatePolicy::Geometric(p) => Updates::Geometric(p.numerator, p.denominator),
        UpdatePolicy::Single => Updates::Single,
    };
    let stickiness = stickiness.map(|factor| (factor.numerator, factor.denominator));
    Some(ChanceQuestion { wanted, repeated: question.repeated, odds: Odds { updates, stickiness } })
}

fn wanted(target: &Target) -> Option<Wanted> {
    let alternatives = target.alternatives();
    let condition = |one: &Alternative| match one {
        Alternative::Condition(condition) => Some(condition.clone()),
        Alternative::Deadlock | Alternative::Stuck => None,
    };
    let conditions: Vec<StateExpr> = alternatives.iter().filter_map(condition).collect();
    let deadlock = alternatives.contains(&Alternative::Deadlock);
    (!alternatives.contains(&Alternative::Stuck)).then_some(Wanted { conditions, deadlock })
}

/// What an answer claims of the probability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Claimed {
    /// It is 1.
    One,
    /// It is 0.
    Zero,
    /// It lies in an interval that is no wider than this, or hardly.
    Within(f64),
}

/// A proof of what was answered, checked.
pub fn certify_chance(
    program: &Program,
    question: &Question,
    claimed: Claimed,
    session: &Session,
) -> Result<ChanceProof, Unproved> {
    let session = &session.doing("writing out the proof");
    let unsuitable = |reason: &str| Unproved::Unsuitable(reason.to_owned());
    let asked = chance_question(question).ok_or_else(|| unsuitable("a target of stuck threads has none"))?;
    // The target takes the place of the properties.
    let listed = live(&Program { properties: question.target.properties(), ..program.clone() }, true);
    let system = ChanceSystem::new(program, &asked, &listed).map_err(|fault| unsuitable(&fault.to_string()))?;
    let chain = Chain::of(&system, question.repeated, session)?;
    let classes = chain.classes(question.repeated);
    let enclosure = Enclosure::new(&chain.transitions, &classes, session);
    let mut reason = unsuitable("it would take numbers that are more precise");
    for margin in MARGINS {
        let proof = chain.proof(&listed, &system, &classes, &enclosure, margin);
        match proof.check(program, &asked, session) {
            Err(ChanceFault::Interrupted) => return Err(Unproved::Stopped(session.ended_by())),
            Err(fault) => reason = unsuitable(&format!("the checker rejects the proof: {fault}")),
            Ok(()) => {
                let shown = proof.interval(program, &asked).map_err(|fault| unsuitable(&fault.to_string()))?;
                return if claimed.is_shown_by(shown) { Ok(proof) } else { Err(chain.too_wide(shown)) };
            }
        }
    }
    Err(reason)
}

impl Claimed {
    fn is_shown_by(self, (low, high): (u64, u64)) -> bool {
        match self {
            Self::One => low == ONE,
            Self::Zero => high == 0,
            Self::Within(width) => interval((low, high)).width() <= width * 1.01,
        }
    }
}

/// In floating-point numbers.
pub fn interval((low, high): (u64, u64)) -> Interval {
    let part = |number: u64| number as f64 / ONE as f64;
    let (lower, upper) = (part(low), part(high));
    // A number of more than 53 bits was rounded.
    let lower = if lower * (ONE as f64) as u64 as f64 > low as f64 { lower.next_down() } else { lower };
    Interval { lower, upper }
}

/// The chain as far as it was enumerated.
struct Chain {
    configurations: Vec<Configuration>,
    numbers: FxHashMap<Configuration, usize>,
    transitions: Transitions,
}

impl Chain {
    fn of(system: &ChanceSystem<'_>, repeated: bool, session: &Session) -> Result<Self, Unproved> {
        let failed = |why: String| Unproved::Unsuitable(why);
        let (configurations, numbers, transitions) = (Vec::new(), FxHashMap::default(), Transitions::default());
        let mut chain = Self { configurations, numbers, transitions };
        let most = session.states_left().min(session.bound(Bound::ProbExactStates)) as usize;
        chain.number(system, system.initial().map_err(|fault| failed(fault.to_string()))?)?;
        let mut at = 0;
        while at < chain.configurations.len().min(most) {
            if session.exceeded().is_some() {
                return Err(Unproved::Stopped(session.ended_by()));
            }
            if repeated || !chain.transitions.is_target(at) {
                chain.expand(system, at)?;
            }
            at += 1;
        }
        if (most as u64) < session.bound(Bound::ProbExactStates) && at < chain.configurations.len() {
            return Err(Unproved::Stopped(Limit::States));
        }
        Ok(chain)
    }

    fn number(&mut self, system: &ChanceSystem<'_>, configuration: Configuration) -> Result<usize, Unproved> {
        if let Some(&number) = self.numbers.get(&configuration) {
            return Ok(number);
        }
        let is_target = system.is_target(&configuration.state).map_err(|fault| no_step(&fault))?;
        let number = self.configurations.len();
        self.configurations.push(configuration.clone());
        self.numbers.insert(configuration, number);
        self.transitions.add(is_target);
        Ok(number)
    }

    fn expand(&mut self, system: &ChanceSystem<'_>, at: usize) -> Result<(), Unproved> {
        let moves = system.moves(&self.configurations[at].clone()).map_err(|fault| no_step(&fault))?;
        let mut shares: FxHashMap<usize, f64> = FxHashMap::default();
        let mut order = Vec::new();
        for ChanceMove { probability, to, .. } in moves {
            let to = self.number(system, to)?;
            *shares.entry(to).or_insert_with(|| {
                order.push(to);
                0.0
            }) += probability.to_f64().value();
        }
        let entry = |to: usize| Entry { to: to as u32, edge: super::model::NO_EDGE, p: shares[&to] };
        let entries: Vec<Entry> = order.into_iter().map(entry).collect();
        self.transitions.expand(at, &entries);
        Ok(())
    }

    /// Whether the question is settled in each configuration.
    fn classes(&self, repeated: bool) -> Vec<Class> {
        let graph = &self.transitions;
        let is_unknown = |at: usize| !graph.is_expanded(at) && (repeated || !graph.is_target(at));
        let backward = graph.backward(|at| repeated || !graph.is_target(at));
        let can = graph.can_reach(&backward, |at| graph.is_target(at) || is_unknown(at));
        let may_fail = graph.can_reach(&backward, |at| !can[at] || is_unknown(at));
        // Again and again: only where no configuration without a way to a target can be reached.
        let may_win = graph.can_reach(&backward, |at| can[at] && !may_fail[at] || is_unknown(at));
        let class = |at: usize| match (if repeated { may_win[at] } else { can[at] }, may_fail[at]) {
            (false, _) => Class::Prob0,
            (true, false) => Class::Prob1,
            (true, true) => Class::Open,
        };
        (0..graph.len()).map(class).collect()
    }

    fn proof(
        &self,
        listed: &ListedRegisters,
        system: &ChanceSystem<'_>,
        classes: &[Class],
        enclosure: &Enclosure,
        margin: f64,
    ) -> ChanceProof {
        let mut packer = Packer::new(listed.clone());
        self.configurations.iter().for_each(|one| packer.add(&one.state));
        let states = packer.finish();
        let mut proof = ChanceProof::unknown(system, states);
        for (at, configuration) in self.configurations.iter().enumerate() {
            let moved = margin * enclosure.steps[at];
            let bounds = match classes[at] {
                Class::Prob0 => (0, 0),
                Class::Prob1 => (ONE, ONE),
                Class::Open => (units(enclosure.lower[at] - moved), units(enclosure.upper[at] + moved)),
            };
            proof.set(system, configuration, bounds);
        }
        proof
    }

    /// Why the numbers are not as precise as was claimed.
    fn too_wide(&self, shown: (u64, u64)) -> Unproved {
        let is_complete =
            (0..self.transitions.len()).all(|at| self.transitions.is_expanded(at) || self.transitions.is_target(at));
        let Interval { lower, upper } = interval(shown);
        let most = self.transitions.len();
        Unproved::Unsuitable(if is_complete {
            format!("exact numbers show no more than that it is between {lower} and {upper}")
        } else {
            format!(
                "such a proof needs all configurations, and there are more than {most}; `--limit prob-exact-states=N` \
                 allows more"
            )
        })
    }
}

fn no_step(fault: &Fault) -> Unproved {
    Unproved::Unsuitable(match fault {
        Fault::Unsupported => "a step has too many outcomes".to_owned(),
        fault => format!("the checker cannot follow the steps: {fault:?}"),
    })
}

/// In units of 1 / [`ONE`]; no less than 0, and no more than 1.
fn units(number: f64) -> u64 {
    (number.clamp(0.0, 1.0) * ONE as f64) as u64
}

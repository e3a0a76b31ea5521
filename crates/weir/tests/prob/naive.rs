//! One program, one target, one choice of odds: every question, compared with the naive chain.

use std::num::NonZeroUsize;
use std::time::Duration;

use dashu_ratio::RBig;
use weir::prob::{
    Almost, Certainty, Claimed, Exact, ExactAnswer, Interval, Question, Rational, Simulation, Target, almost,
    certify_chance, chance_question, cost, curve, exact_cost, exact_probability, frequencies, probability, simulate,
};
use weir::{Limits, Session};
use weir_ir::Program;
use weir_testkit::chance::{Chain, RunStep};
use weir_testkit::{Rng, dump};
use weir_witness::{Action, Effect, Event, ONE, Step};

use crate::odds::BothOdds;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) target: Target,
    pub(crate) settings: BothOdds,
}

/// What was compared: a test says how much of it there must be.
#[derive(Default, Debug)]
pub(crate) struct Score {
    pub(crate) compared: usize,
    /// Targets that are reached with a probability between 0 and 1.
    pub(crate) open: usize,
    /// The same for again and again.
    pub(crate) open_again: usize,
    /// Targets that are reached.
    pub(crate) reached: usize,
    /// Runs that show that something is not almost sure, or not almost never.
    pub(crate) shown: usize,
    /// Configurations of all naive chains.
    pub(crate) configurations: usize,
}

impl Score {
    /// Out of so many programs, at least these percentages must have been compared, had an open answer once and again
    /// and again, and must have been reached.
    pub(crate) fn check(&self, programs: u64, [compared, open, open_again, reached]: [usize; 4]) {
        let least = |percent: usize| programs as usize * percent / 100;
        let enough = self.compared >= least(compared)
            && self.open >= least(open)
            && self.open_again >= least(open_again)
            && self.reached >= least(reached);
        assert!(enough && self.shown > 2 * self.compared, "too little was compared: {self:?} of {programs}");
    }
}

/// Every call comes to an end, also if something is broken.
pub(crate) fn session() -> Session {
    let limits = Limits { states: Some(60_000), time: Some(Duration::from_secs(20)), ..Limits::default() };
    Session::new(limits)
}

/// The same number, to calculate with.
pub(crate) fn big(value: &Rational) -> RBig {
    value.to_string().parse().expect("a fraction")
}

/// The exact answer, which there must be.
fn known(answer: ExactAnswer, context: &str) -> Exact {
    match answer {
        ExactAnswer::Known(exact) => exact,
        ExactAnswer::Unknown(obstacle) => panic!("{obstacle:?} {context}"),
    }
}

/// Whether a probability is neither 0 nor 1.
pub(crate) fn is_open(value: &RBig) -> bool {
    *value != RBig::ZERO && *value != RBig::ONE
}

/// Whether an interval holds a fraction, without any slack.
pub(crate) fn holds(interval: Interval, value: &RBig) -> bool {
    let exact = |end: f64| RBig::try_from(end).expect("finite");
    exact(interval.lower) <= *value && *value <= exact(interval.upper)
}

/// A run, as the naive chain takes it.
fn from_steps(steps: &[Step]) -> Vec<RunStep> {
    let step = |step: &Step| match step.action {
        Action::Execute { edge, choice } => RunStep::Step(step.thread, edge, choice),
        Action::Flush => RunStep::Flush(step.thread),
    };
    steps.iter().map(step).collect()
}

/// The same from what the witness checker saw.
fn from_events(events: &[Event]) -> Vec<RunStep> {
    let step = |event: &Event| {
        let value = if let Effect::Havoc { value, .. } = event.effect { value } else { 0 };
        event.edge.map_or(RunStep::Flush(event.thread), |edge| RunStep::Step(event.thread, edge, value))
    };
    events.iter().map(step).collect()
}

impl Case {
    pub(crate) fn question(&self, repeated: bool) -> Question {
        Question { target: self.target.clone(), repeated, settings: self.settings.settings() }
    }

    fn context(&self) -> String {
        let target = self.target.text(&self.program);
        let rules = self.program.costs.iter().map(|rule| format!("{:?}={}", rule.subject, rule.cost));
        let weights: Vec<u32> = self.program.threads.iter().map(|thread| thread.weight).collect();
        let costs = rules.collect::<Vec<_>>().join(" ");
        format!(
            "{}\n{}\ntarget {target}\n{:?}\nweights {weights:?}\ncosts {costs}",
            self.name,
            dump(&self.program),
            self.settings
        )
    }

    /// Asks everything that can be asked.
    pub(crate) fn compare(&self, chain: &Chain, score: &mut Score) {
        let (once, again) = (chain.probability(), chain.again_and_again());
        for (repeated, value) in [(false, &once), (true, &again)] {
            self.probability(repeated, value);
            for which in [Almost::Surely, Almost::Never] {
                score.shown += usize::from(self.almost(chain, which, repeated, value));
            }
        }
        self.cost(chain);
        self.soon(chain);
        score.compared += 1;
        score.open += usize::from(is_open(&once));
        score.open_again += usize::from(is_open(&again));
        score.reached += usize::from(once != RBig::ZERO);
        score.configurations += chain.size();
    }

    fn probability(&self, repeated: bool, value: &RBig) {
        let question = self.question(repeated);
        let exact = exact_probability(&self.program, &question, &session()).expect("it can be handled");
        let exact = known(exact, &self.context());
        assert_eq!(big(&exact.probability), *value, "repeated: {repeated} {}", self.context());
        assert_eq!(exact.cost, None, "nobody asked");
        let found = probability(&self.program, &question, 1e-9, &session()).expect("it can be handled");
        assert_eq!((found.obstacle, found.is_complete), (None, true), "{found:?} {}", self.context());
        self.certificate(&question, value);
        let fits = found.interval.width() <= 1e-9 && holds(found.interval, value);
        assert!(fits, "repeated: {repeated} {found:?} {value} {}", self.context());
    }

    /// There is a proof, it is about the right number, and no proof of any other number is accepted.
    fn certificate(&self, question: &Question, value: &RBig) {
        let claimed = if *value == RBig::ONE {
            Claimed::One
        } else if *value == RBig::ZERO {
            Claimed::Zero
        } else {
            Claimed::Within(1e-6)
        };
        let Some(asked) = chance_question(question) else { return };
        let proof = certify_chance(&self.program, question, claimed, &session());
        let mut proof = proof.unwrap_or_else(|why| panic!("{why:?} {}", self.context()));
        let (lower, upper) = proof.interval(&self.program, &asked).expect("it is about the program");
        let exact = |units: u64| RBig::from(units) / RBig::from(ONE);
        assert!(exact(lower) <= *value && *value <= exact(upper), "{lower} {upper} {value} {}", self.context());
        // Every number is needed: none can be better than the truth.
        let mut rng = Rng::new(lower ^ upper);
        for _ in 0..4 {
            let at = rng.below(proof.bounds.len());
            let (low, high) = proof.bounds[at];
            proof.bounds[at] = match rng.below(4) {
                0 => (ONE, high),
                1 => (low, 0),
                2 => ((low + (ONE >> 20)).min(ONE), high),
                _ => (low, high.saturating_sub(ONE >> 20)),
            };
            if proof.check(&self.program, &asked, &weir_ir::Uninterrupted).is_ok() {
                let (lower, upper) = proof.interval(&self.program, &asked).expect("it is about the program");
                assert!(exact(lower) <= *value && *value <= exact(upper), "{lower} {upper} {}", self.context());
            } else {
                proof.bounds[at] = (low, high);
            }
        }
    }

    /// Whether a run was shown.
    fn almost(&self, chain: &Chain, which: Almost, repeated: bool, value: &RBig) -> bool {
        let wanted = if which == Almost::Surely { RBig::ONE } else { RBig::ZERO };
        let found = almost(&self.program, &self.question(repeated), which, &session()).expect("it can be handled");
        let context = || format!("{which:?} repeated: {repeated} {value} {found:?} {}", self.context());
        match &found.certainty {
            Certainty::Holds { drained, shown } => {
                assert_eq!(*value, wanted, "{}", context());
                assert_eq!(*drained, shown.len(), "{}", context());
                false
            }
            Certainty::Fails(replay) => {
                assert_ne!(*value, wanted, "{}", context());
                let run = from_events(replay.events());
                let continuation = chain.continuation(&run).unwrap_or_else(|| panic!("no run {}", context()));
                match (which, repeated) {
                    (Almost::Surely, false) => {
                        assert!(!continuation.met && continuation.once == RBig::ZERO, "{continuation:?} {}", context());
                    }
                    (Almost::Never, false) => assert!(continuation.met, "{continuation:?} {}", context()),
                    (Almost::Surely, true) => assert_eq!(continuation.again, RBig::ZERO, "{}", context()),
                    (Almost::Never, true) => assert_eq!(continuation.again, RBig::ONE, "{}", context()),
                }
                true
            }
            Certainty::Unknown(obstacle) => panic!("{obstacle:?} {}", context()),
        }
    }

    fn cost(&self, chain: &Chain) {
        let (settings, value) = (self.settings.settings(), chain.cost());
        let exact = exact_cost(&self.program, &self.target, &settings, &session()).expect("it can be handled");
        let exact = known(exact, &self.context());
        assert_eq!(exact.cost.as_ref().map(big), value, "{}", self.context());
        let found = cost(&self.program, &self.target, &settings, 1e-6, &session()).expect("it can be handled");
        assert_eq!((found.obstacle, found.is_complete), (None, true), "{found:?} {}", self.context());
        assert_eq!(found.cost.is_some(), value.is_some(), "{found:?} {}", self.context());
        assert!(holds(found.probability, &big(&exact.probability)), "{found:?} {}", self.context());
        let (Some(interval), Some(value)) = (found.cost, value) else { return };
        let narrow = 1e-6 * interval.lower.max(1.0);
        let fits = interval.width() <= narrow && holds(interval, &value);
        assert!(fits, "{interval:?} {value} {}", self.context());
        let counts = chain.counts().expect("it is reached");
        for (name, interval) in &found.visits {
            let edges = counts.iter().filter(|((thread, edge), _)| {
                let body = self.program.body(*thread);
                let labels = &body.locations[body.edge(*edge).from.index()].labels;
                labels.iter().any(|label| *name == format!("{} at {label}", self.program.thread(*thread).name))
            });
            let visits = edges.fold(RBig::ZERO, |sum, (_, count)| sum + count);
            let fits = interval.width() <= 1e-5 && holds(*interval, &visits);
            assert!(fits, "{name} {interval:?} {visits} {}", self.context());
        }
    }

    /// How soon, and how often.
    fn soon(&self, chain: &Chain) {
        const STEPS: usize = 6;
        let settings = self.settings.settings();
        let found = curve(&self.program, &self.target, &settings, STEPS, &session()).expect("it can be handled");
        assert_eq!((found.points.len(), found.obstacle), (STEPS + 1, None), "{}", self.context());
        for (point, value) in found.points.iter().zip(chain.curve(STEPS)) {
            assert!(holds(*point, &value) && point.width() <= 1e-9, "{point:?} {value} {}", self.context());
        }
        let found = frequencies(&self.program, &settings, STEPS, 1 << 20, &session()).expect("it can be handled");
        let counts = chain.frequencies(STEPS);
        for (edge, interval) in found.expect("it is small") {
            let value = counts.get(&edge).cloned().unwrap_or(RBig::ZERO);
            let fits = interval.width() <= 1e-9 && holds(interval, &value);
            assert!(fits, "{edge:?} {interval:?} {value} {}", self.context());
        }
    }

    /// Random runs, as many.
    pub(crate) fn simulate(&self, chain: &Chain, runs: u64) {
        let simulation = Simulation { runs, seed: 11, most_steps: 5_000, doubt: 1e-6, jobs: NonZeroUsize::MIN };
        let found = simulate(&self.program, &self.target, &self.settings.settings(), &simulation, &session());
        let found = found.expect("it can be handled");
        assert_eq!((found.runs, found.limit), (runs, None), "{}", self.context());
        let value = chain.probability();
        assert!(holds(found.probability, &value), "{:?} {value} {}", found, self.context());
        let continuation = chain.continuation(&from_steps(&found.sample.steps)).expect("a run");
        assert_eq!(continuation.met, found.hits > 0, "{}", self.context());
    }
}

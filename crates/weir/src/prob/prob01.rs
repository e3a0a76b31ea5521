//! Prob0 and Prob1 states: configurations from which the target is reached with probability 0, or with probability 1.
//!
//! *Reached once*: targets are Prob1; configurations from which no target can be reached are Prob0. *Reached infinitely
//! often*: configurations from which no target can be reached are Prob0; those from which no Prob0 configuration can be
//! reached are Prob1, since every run visits drained configurations infinitely often and there are finitely many of
//! them ("Probabilistic Total Store Ordering", Lemma 5). Configurations that were not expanded count as able to reach
//! anything, unless the [abstraction](super::abstraction) or the [oracle](super::oracle) proves that they cannot; so a
//! class once given is certain.

use super::abstraction::Abstraction;
use super::chain::Config;
use super::graph::Graph;
use super::oracle::{Oracle, ToProb0};
use crate::semantics::state::Packed;
use crate::session::Session;

/// What is known about the probability from a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Neither is known.
    Open,
    /// The probability is 1 from here.
    Prob1,
    /// The probability is 0 from here.
    Prob0,
}

/// Classifies configurations.
pub(super) struct Classifier<const N: usize> {
    /// Whether the target must be reached again and again.
    pub(super) repeated: bool,
    pub(super) abstraction: Option<Abstraction<N>>,
    pub(super) oracle: Option<Oracle>,
    /// If targets must be reached infinitely often: from which drained configurations Prob0 ones can be reached.
    to_prob0: Option<ToProb0>,
    /// For each configuration that was classified, whether abstraction or oracle prove that no target follows.
    prob0: Vec<bool>,
}

impl<const N: usize> Classifier<N> {
    pub(super) fn new(repeated: bool) -> Self {
        Self { repeated, abstraction: None, oracle: None, to_prob0: None, prob0: Vec::new() }
    }

    pub(super) fn set_abstraction(&mut self, abstraction: Option<Abstraction<N>>) {
        self.abstraction = abstraction;
        self.prob0.clear();
    }

    /// Whether there are drained configurations for which it is undecided whether a target can be reached.
    pub(super) fn has_undecided(&mut self, graph: &Graph<'_, '_, N>) -> bool {
        self.classify_up_to(graph, graph.len());
        let can = graph.can_reach(&graph.backward(|_| true), |number| graph.is_target(number));
        let is_undecided = |number: usize| !can[number] && !self.prob0[number] && graph.is_drained(number);
        self.repeated || (0..graph.len()).any(is_undecided)
    }

    /// Adds the exact engine's answers about drained configurations. The abstraction must know those that may occur.
    pub(super) fn add_oracle(&mut self, graph: &Graph<'_, '_, N>, session: &Session) {
        let model = graph.chain.model;
        self.oracle = Oracle::new(model, self.repeated, session);
        self.prob0.clear();
        if let (Some(oracle), Some(abstraction)) = (&self.oracle, &self.abstraction)
            && self.repeated
            && model.always_drains()
            && model.follows_every_run()
        {
            let all = abstraction.drained(graph.chain).map(|(_, state)| state);
            let prob0 = filtered(all, |state| !oracle.can_reach(model, state), session);
            self.to_prob0 = prob0.and_then(|prob0| oracle.to_prob0(model, &prob0, session));
        }
    }

    /// Whether nothing beyond this configuration matters.
    pub(super) fn is_settled(&mut self, graph: &Graph<'_, '_, N>, number: usize) -> bool {
        self.classify_up_to(graph, number + 1);
        (!self.repeated && graph.is_target(number)) || self.prob0[number]
    }

    fn classify_up_to(&mut self, graph: &Graph<'_, '_, N>, end: usize) {
        for number in self.prob0.len()..end {
            let prob0 = self.proves_prob0(graph, number);
            self.prob0.push(prob0);
        }
    }

    fn proves_prob0(&self, graph: &Graph<'_, '_, N>, number: usize) -> bool {
        let (model, state) = (graph.chain.model, &graph.config(number).state);
        self.abstraction.as_ref().is_some_and(|abstraction| abstraction.is_prob0(graph.chain, state))
            || (model.is_drained(state) && self.oracle.as_ref().is_some_and(|oracle| !oracle.can_reach(model, state)))
    }

    /// Whether it is known from where Prob0 configurations can be reached.
    pub(super) fn knows_paths_to_prob0(&self) -> bool {
        self.to_prob0.is_some()
    }

    /// Whether no Prob0 configuration can be reached from a drained configuration.
    pub(super) fn avoids_prob0(&self, graph: &Graph<'_, '_, N>, state: &Packed<N>) -> bool {
        let (Some(oracle), Some(to_prob0)) = (&self.oracle, &self.to_prob0) else { return false };
        graph.chain.model.is_drained(state) && !oracle.can_reach_prob0(graph.chain.model, to_prob0, state)
    }

    /// The class of each configuration of the graph.
    pub(super) fn classes(&mut self, graph: &Graph<'_, '_, N>) -> Vec<Class> {
        self.classify_up_to(graph, graph.len());
        if self.repeated { self.repeated_classes(graph) } else { self.single_classes(graph) }
    }

    fn single_classes(&self, graph: &Graph<'_, '_, N>) -> Vec<Class> {
        let backward = graph.backward(|number| !graph.is_target(number));
        let may = graph.can_reach(&backward, |number| {
            graph.is_target(number) || (!graph.is_expanded(number) && !self.prob0[number])
        });
        let class = |number: usize| match may[number] && !self.prob0[number] {
            _ if graph.is_target(number) => Class::Prob1,
            true => Class::Open,
            false => Class::Prob0,
        };
        (0..graph.len()).map(class).collect()
    }

    fn repeated_classes(&self, graph: &Graph<'_, '_, N>) -> Vec<Class> {
        let backward = graph.backward(|_| true);
        let may = graph.can_reach(&backward, |number| {
            graph.is_target(number) || (!graph.is_expanded(number) && !self.prob0[number])
        });
        let is_prob0 = |number: usize| !may[number] || self.prob0[number];
        let sure = self.surely_again(graph, &graph.can_reach(&backward, |number| graph.is_target(number)));
        let leaks =
            graph.can_reach(&backward, |number| is_prob0(number) || (!graph.is_expanded(number) && !sure[number]));
        let class = |number: usize| match (is_prob0(number), leaks[number] && !sure[number]) {
            (true, _) => Class::Prob0,
            (false, false) => Class::Prob1,
            (false, true) => Class::Open,
        };
        (0..graph.len()).map(class).collect()
    }

    /// From which configurations every drained one that may follow certainly can reach a target. As there are always
    /// more drained configurations to come, targets are then reached again and again, almost surely. Where buffers need
    /// not drain, since others hold the lock forever, nothing is sure here.
    fn surely_again(&self, graph: &Graph<'_, '_, N>, can: &[bool]) -> Vec<bool> {
        let Some(abstraction) = self.abstraction.as_ref().filter(|_| graph.chain.model.always_drains()) else {
            return vec![false; graph.len()];
        };
        let mut is_undecided = vec![false; 0];
        for (number, state) in abstraction.drained(graph.chain) {
            is_undecided.resize(is_undecided.len().max(number + 1), false);
            is_undecided[number] = !certainly(graph, state, can);
        }
        let may_reach_undecided = abstraction.closure(|number| is_undecided.get(number).copied().unwrap_or(false));
        let sure = |number: usize| {
            let state = &graph.config(number).state;
            self.avoids_prob0(graph, state)
                || abstraction.number_of(graph.chain, state).is_some_and(|number| !may_reach_undecided[number])
        };
        (0..graph.len()).map(sure).collect()
    }
}

/// The states that satisfy a predicate. None at a limit: checking many takes time.
pub(super) fn filtered<const N: usize>(
    states: impl Iterator<Item = Packed<N>>,
    predicate: impl Fn(&Packed<N>) -> bool,
    session: &Session,
) -> Option<Vec<Packed<N>>> {
    let mut found = Vec::new();
    for (count, state) in states.enumerate() {
        if count.is_multiple_of(256) && session.exceeded().is_some() {
            return None;
        }
        if predicate(&state) {
            found.push(state);
        }
    }
    Some(found)
}

/// Whether a drained state is known to be able to reach what `can` says. The thread that stepped last changes odds,
/// never what is possible.
pub(super) fn certainly<const N: usize>(graph: &Graph<'_, '_, N>, state: Packed<N>, can: &[bool]) -> bool {
    graph.chain.lasts().filter_map(|last| graph.number_of(&Config { state, last })).any(|number| can[number])
}

#[cfg(test)]
mod tests {
    use weir_testkit::random::{Config as Drawn, condition, program};
    use weir_testkit::{Rng, dump};

    use super::*;
    use crate::prob::chain::{Chain, Visitor, with_chain};
    use crate::prob::explore::expand;
    use crate::prob::model::Model;
    use crate::prob::settings::{Fraction, Settings};
    use crate::prob::testing::model;

    /// Compares what is certain of each state with what is known about its configurations, one by one; how many have
    /// several.
    struct OneIsEnough;

    impl Visitor for OneIsEnough {
        type Output = usize;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> usize {
            let session = Session::default();
            let mut graph = Graph::new(chain);
            for at in 0..40 {
                assert!(at >= graph.len() || expand(&mut graph, at, at, &session).is_none());
            }
            let mut several = 0;
            for number in 0..graph.len() {
                let state = graph.config(number).state;
                let is_same = |other: usize| graph.config(other).state == state;
                let with = |can: &dyn Fn(usize) -> bool| -> Vec<bool> { (0..graph.len()).map(can).collect() };
                assert!(certainly(&graph, state, &with(&|other| other == number)));
                assert!(!certainly(&graph, state, &with(&|other| !is_same(other))));
                several += usize::from((0..graph.len()).filter(|&other| is_same(other)).count() > 1);
            }
            several
        }
    }

    #[test]
    fn the_last_thread_to_step_does_not_change_what_is_possible() {
        let text =
            "shared x; thread P { loop { x = 1; fence; x = 2; } } thread Q { loop { let r = x; } } forbid x == 3;";
        let sticky = Settings { stickiness: Some(Fraction { numerator: 3, denominator: 1 }), ..Settings::default() };
        assert!(with_chain(&model(text, &sticky), OneIsEnough) > 5);
        assert_eq!(with_chain(&model(text, &Settings::default()), OneIsEnough), 0);
    }

    /// Compares where the oracle says that Prob0 configurations can be reached from with a chain that is known as a
    /// whole; how often they can, and how often not.
    struct Avoids<'a>(&'a dyn Fn() -> String);

    impl Visitor for Avoids<'_> {
        type Output = [usize; 2];

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> [usize; 2] {
            let (session, mut graph, mut at) = (Session::default(), Graph::new(chain), 0);
            while at < graph.len() {
                if at > 1_000 {
                    return [0; 2];
                }
                assert!(expand(&mut graph, at, at, &session).is_none());
                at += 1;
            }
            let mut classifier = Classifier::new(true);
            classifier.set_abstraction(Abstraction::new(chain, true, 10_000, &session));
            classifier.add_oracle(&graph, &session);
            let is_asked = chain.model.always_drains() && chain.model.follows_every_run();
            let is_known = is_asked && classifier.abstraction.is_some() && classifier.oracle.is_some();
            assert_eq!(classifier.knows_paths_to_prob0(), is_known, "{}", (self.0)());
            let backward = graph.backward(|_| true);
            let can = graph.can_reach(&backward, |number| graph.is_target(number));
            let loses = graph.can_reach(&backward, |number| graph.is_drained(number) && !can[number]);
            let mut counts = [0; 2];
            for (number, loses) in loses.into_iter().enumerate() {
                let expected = is_known && graph.is_drained(number) && !loses;
                let avoids = classifier.avoids_prob0(&graph, &graph.config(number).state);
                assert_eq!(avoids, expected, "{number} {}", (self.0)());
                counts[usize::from(expected)] += usize::from(is_known && graph.is_drained(number));
            }
            counts
        }
    }

    #[test]
    fn where_prob0_cannot_be_reached_from_is_classified_correctly() {
        let mut all = [0; 2];
        for seed in 0..120 {
            let program = program(seed, &Drawn::cyclic());
            let target = condition(&program, &mut Rng::new(seed));
            let model = Model::new(&program, &target, &Settings::default(), &crate::session::Session::default())
                .expect("handled");
            let context = || format!("seed {seed}\n{}\ntarget {}", dump(&program), program.condition_text(&target));
            let counts = with_chain(&model, Avoids(&context));
            all = [all[0] + counts[0], all[1] + counts[1]];
        }
        assert!(all.iter().all(|&count| count > 100), "{all:?}");
    }
}

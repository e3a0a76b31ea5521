//! Which configurations settle the question: from some it is certain, or almost sure, that the answer is yes; from others, that it is no.
//!
//! *Reached once*: a target is a yes; whoever cannot reach one any more is a no. *Reached again and again*: whoever cannot
//! reach a target is a no; whoever cannot reach a no is a yes, since every run visits drained configurations for ever and there are
//! finitely many of them ("Probabilistic Total Store Ordering", Lemma 5). Configurations that were not expanded count as able to
//! reach anything, unless the [abstraction](super::abstraction) or the [oracle](super::oracle) knows better; so a role once given is certain.

use super::abstraction::Abstraction;
use super::chain::Config;
use super::graph::Graph;
use super::oracle::{Oracle, ToHopeless};
use crate::Session;
use crate::semantics::state::Packed;

/// What a configuration means for the question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Not settled.
    Open,
    /// From here, yes with probability 1.
    Yes,
    /// From here, yes with probability 0.
    No,
}

/// Gives out roles.
pub(super) struct Judge<const N: usize> {
    /// Whether the target must be reached again and again.
    pub(super) repeated: bool,
    pub(super) abstraction: Option<Abstraction<N>>,
    pub(super) oracle: Option<Oracle>,
    /// If targets must be reached again and again: from which drained configurations that can go wrong.
    to_hopeless: Option<ToHopeless>,
    /// For each configuration that was asked about, whether abstraction or oracle say that no target follows.
    hopeless: Vec<bool>,
}

impl<const N: usize> Judge<N> {
    pub(super) fn new(repeated: bool) -> Self {
        Self { repeated, abstraction: None, oracle: None, to_hopeless: None, hopeless: Vec::new() }
    }

    pub(super) fn learn(&mut self, abstraction: Option<Abstraction<N>>) {
        self.abstraction = abstraction;
        self.hopeless.clear();
    }

    /// Whether there are drained configurations of which it is not known whether a target can be reached.
    pub(super) fn is_in_doubt(&mut self, graph: &Graph<'_, '_, N>) -> bool {
        self.ask_up_to(graph, graph.len());
        let can = graph.can_reach(&graph.backward(|_| true), |number| graph.is_target(number));
        let is_doubtful = |number: usize| !can[number] && !self.hopeless[number] && graph.is_plain(number);
        self.repeated || (0..graph.len()).any(is_doubtful)
    }

    /// Asks the exact engine about drained configurations. Those that may turn up must be known from the abstraction.
    pub(super) fn consult(&mut self, graph: &Graph<'_, '_, N>, session: &Session) {
        let model = graph.chain.model;
        self.oracle = Oracle::new(model, self.repeated, session);
        self.hopeless.clear();
        if let (Some(oracle), Some(abstraction)) = (&self.oracle, &self.abstraction)
            && self.repeated
            && model.always_drains()
            && model.follows_every_run()
        {
            let all = abstraction.plain(graph.chain).map(|(_, state)| state);
            let hopeless = those(all, |state| !oracle.can_reach(model, state), session);
            self.to_hopeless = hopeless.and_then(|hopeless| oracle.to_hopeless(model, &hopeless, session));
        }
    }

    /// Whether it makes no sense to look further.
    pub(super) fn is_settled(&mut self, graph: &Graph<'_, '_, N>, number: usize) -> bool {
        self.ask_up_to(graph, number + 1);
        (!self.repeated && graph.is_target(number)) || self.hopeless[number]
    }

    fn ask_up_to(&mut self, graph: &Graph<'_, '_, N>, end: usize) {
        for number in self.hopeless.len()..end {
            let hopeless = self.ask(graph, number);
            self.hopeless.push(hopeless);
        }
    }

    fn ask(&self, graph: &Graph<'_, '_, N>, number: usize) -> bool {
        let (model, state) = (graph.chain.model, &graph.config(number).state);
        self.abstraction.as_ref().is_some_and(|abstraction| abstraction.is_hopeless(graph.chain, state))
            || (model.is_plain(state) && self.oracle.as_ref().is_some_and(|oracle| !oracle.can_reach(model, state)))
    }

    /// Whether it is known from where things can go wrong for good.
    pub(super) fn knows_what_loses(&self) -> bool {
        self.to_hopeless.is_some()
    }

    /// Whether a drained configuration can reach targets for ever, whatever happens.
    pub(super) fn never_loses(&self, graph: &Graph<'_, '_, N>, state: &Packed<N>) -> bool {
        let (Some(oracle), Some(to_hopeless)) = (&self.oracle, &self.to_hopeless) else { return false };
        graph.chain.model.is_plain(state) && !oracle.can_lose(graph.chain.model, to_hopeless, state)
    }

    /// The role of each configuration of the graph.
    pub(super) fn roles(&mut self, graph: &Graph<'_, '_, N>) -> Vec<Role> {
        self.ask_up_to(graph, graph.len());
        if self.repeated { self.repeated_roles(graph) } else { self.single_roles(graph) }
    }

    fn single_roles(&self, graph: &Graph<'_, '_, N>) -> Vec<Role> {
        let backward = graph.backward(|number| !graph.is_target(number));
        let may = graph.can_reach(&backward, |number| {
            graph.is_target(number) || (!graph.is_expanded(number) && !self.hopeless[number])
        });
        let role = |number: usize| match may[number] && !self.hopeless[number] {
            _ if graph.is_target(number) => Role::Yes,
            true => Role::Open,
            false => Role::No,
        };
        (0..graph.len()).map(role).collect()
    }

    fn repeated_roles(&self, graph: &Graph<'_, '_, N>) -> Vec<Role> {
        let backward = graph.backward(|_| true);
        let may = graph.can_reach(&backward, |number| {
            graph.is_target(number) || (!graph.is_expanded(number) && !self.hopeless[number])
        });
        let no = |number: usize| !may[number] || self.hopeless[number];
        let sure = self.surely_again(graph, &graph.can_reach(&backward, |number| graph.is_target(number)));
        let leaks = graph.can_reach(&backward, |number| no(number) || (!graph.is_expanded(number) && !sure[number]));
        let role = |number: usize| match (no(number), leaks[number] && !sure[number]) {
            (true, _) => Role::No,
            (false, false) => Role::Yes,
            (false, true) => Role::Open,
        };
        (0..graph.len()).map(role).collect()
    }

    /// From which configurations every drained one that may follow certainly can reach a target. As there are always more drained
    /// configurations to come, targets are then reached again and again, almost surely. Where buffers need
    /// not drain, since others hold the lock for ever, nothing is sure here.
    fn surely_again(&self, graph: &Graph<'_, '_, N>, can: &[bool]) -> Vec<bool> {
        let Some(abstraction) = self.abstraction.as_ref().filter(|_| graph.chain.model.always_drains()) else {
            return vec![false; graph.len()];
        };
        let mut is_doubtful = vec![false; 0];
        for (number, state) in abstraction.plain(graph.chain) {
            is_doubtful.resize(is_doubtful.len().max(number + 1), false);
            is_doubtful[number] = !certainly(graph, state, can);
        }
        let may_doubt = abstraction.closure(|number| is_doubtful.get(number).copied().unwrap_or(false));
        let sure = |number: usize| {
            let state = &graph.config(number).state;
            self.never_loses(graph, state)
                || abstraction.number_of(graph.chain, state).is_some_and(|number| !may_doubt[number])
        };
        (0..graph.len()).map(sure).collect()
    }
}

/// Those states that are `wanted`. None at a limit: asking about many takes time.
pub(super) fn those<const N: usize>(
    states: impl Iterator<Item = Packed<N>>,
    wanted: impl Fn(&Packed<N>) -> bool,
    session: &Session,
) -> Option<Vec<Packed<N>>> {
    let mut found = Vec::new();
    for (count, state) in states.enumerate() {
        if count.is_multiple_of(256) && session.exceeded().is_some() {
            return None;
        }
        if wanted(&state) {
            found.push(state);
        }
    }
    Some(found)
}

/// Whether a drained state is known to be able to reach what `can` tells. Who stepped last changes odds, never what is possible.
pub(super) fn certainly<const N: usize>(graph: &Graph<'_, '_, N>, state: Packed<N>, can: &[bool]) -> bool {
    graph.chain.lasts().filter_map(|last| graph.number_of(&Config { state, last })).any(|number| can[number])
}

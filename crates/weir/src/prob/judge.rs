//! Which configurations settle the question: from some it is certain, or almost sure, that the answer is yes; from others, that it is no.
//!
//! *Reached once*: a target is a yes; whoever cannot reach one any more is a no. *Reached again and again*: whoever cannot
//! reach a target is a no; whoever cannot reach a no is a yes, since every run visits drained configurations for ever and there are
//! finitely many of them ("Probabilistic Total Store Ordering", Lemma 5). Configurations that were not expanded count as able to
//! reach anything, unless the [abstraction](super::abstraction) knows better; so a role once given is certain.

use super::abstraction::Abstraction;
use super::chain::Config;
use super::graph::Graph;

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
    /// For each configuration that was asked about, whether the abstraction says that no target follows.
    hopeless: Vec<bool>,
}

impl<const N: usize> Judge<N> {
    pub(super) fn new(repeated: bool) -> Self {
        Self { repeated, abstraction: None, hopeless: Vec::new() }
    }

    pub(super) fn learn(&mut self, abstraction: Option<Abstraction<N>>) {
        self.abstraction = abstraction;
        self.hopeless.clear();
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
        let state = &graph.config(number).state;
        self.abstraction.as_ref().is_some_and(|abstraction| abstraction.is_hopeless(graph.chain, state))
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
    /// configurations to come, targets are then reached again and again, almost surely. Buffers of threads that others lock out need
    /// not drain, so with locks nothing is sure here.
    fn surely_again(&self, graph: &Graph<'_, '_, N>, can: &[bool]) -> Vec<bool> {
        let Some(abstraction) = self.abstraction.as_ref().filter(|_| !graph.chain.model.uses_lock) else {
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
            abstraction.number_of(graph.chain, state).is_some_and(|number| !may_doubt[number])
        };
        (0..graph.len()).map(sure).collect()
    }
}

/// Whether a drained state is known to be able to reach what `can` tells. Who stepped last changes odds, never what is possible.
pub(super) fn certainly<const N: usize>(
    graph: &Graph<'_, '_, N>,
    state: crate::semantics::state::Packed<N>,
    can: &[bool],
) -> bool {
    graph.chain.lasts().filter_map(|last| graph.number_of(&Config { state, last })).any(|number| can[number])
}

//! The Markov chain of a program: "Probabilistic Total Store Ordering", §4.
//!
//! From a configuration, the scheduler picks an enabled thread by its weight; the thread takes one of its enabled
//! edges, all equally likely, with one of its values, all equally likely (the paper's programs have no such choices);
//! then one update step follows. If no thread is enabled, only the update step does. Probabilities are exact fractions
//! of whole numbers.
//!
//! If the model is [lumped](Model::lumped), every transition leads to the representative of a configuration up to the
//! numbering of interchangeable threads.

use crate::search::scalarsets::representative;
use crate::semantics::machine::{EdgeCode, System};
use crate::semantics::size::with_state_size;
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;
use crate::semantics::{StepCode, TransitionSystem};

use super::model::{Model, NO_EDGE};
use super::obstacle::Obstacle;
use super::updates::{Outcomes, outcomes};

/// Nobody stepped last, or the scheduler does not remember.
pub(super) const NOBODY: u32 = u32::MAX;

/// A configuration: a state, and who stepped last if that matters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Config<const N: usize> {
    pub(super) state: Packed<N>,
    pub(super) last: u32,
}

/// One transition of a configuration, taken with probability `numerator / denominator`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move<const N: usize> {
    pub(super) to: Config<N>,
    /// The edge that was taken, or [`NO_EDGE`].
    pub(super) edge: u32,
    pub(super) numerator: u128,
    pub(super) denominator: u128,
}

/// What a thread can do: a step, and the state right after it, before any update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<const N: usize> {
    pub(super) thread: usize,
    pub(super) step: StepCode,
    pub(super) state: Packed<N>,
}

/// Configurations with more transitions than this are not expanded.
pub(crate) const MOST_CHOICES: usize = 1 << 16;

/// The chain of a model with states of at most `N` words.
pub(super) struct Chain<'a, const N: usize> {
    pub(super) model: &'a Model,
    pub(super) system: System<'a, Tso, N>,
}

/// What can be done with the chain of a model, whatever the size of its states.
pub(super) trait Visitor {
    type Output;
    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output;
}

/// Calls the visitor with the smallest size of states that is large enough.
pub(super) fn with_chain<V: Visitor>(model: &Model, visitor: V) -> V::Output {
    with_state_size!(model.compiled.machine.layout.words, from 16, N => visitor.visit(&Chain::<N>::new(model)))
}

impl<'a, const N: usize> Chain<'a, N> {
    fn new(model: &'a Model) -> Self {
        Self { model, system: System::new(&model.compiled.machine) }
    }

    pub(super) fn initial(&self) -> Config<N> {
        Config { state: self.system.initial(), last: NOBODY }
    }

    /// What each thread can do, in order of threads and edges; `None` if there is too much of it.
    pub(super) fn choices(&self, from: &Packed<N>) -> Option<Vec<Choice<N>>> {
        let mut choices = Vec::new();
        for thread in 0..self.model.compiled.machine.threads.len() {
            for edge in self.edges(from, thread) {
                self.system.take(from, thread, edge, &mut |step, state| {
                    choices.push(Choice { thread, step, state });
                    choices.len() <= MOST_CHOICES
                });
            }
        }
        (choices.len() <= MOST_CHOICES).then_some(choices)
    }

    pub(super) fn edges(&self, from: &Packed<N>, thread: usize) -> &[EdgeCode] {
        self.model.compiled.machine.threads[thread].edges_at(from)
    }

    /// The weight of a thread.
    pub(super) fn weight(&self, thread: usize, last: u32) -> u128 {
        let weights = if thread as u32 == last { &self.model.sticky_weights } else { &self.model.weights };
        weights[thread]
    }

    /// Who is remembered as having stepped last.
    pub(super) fn remembered(&self, thread: usize) -> u32 {
        if self.model.settings.stickiness.is_some() { thread as u32 } else { NOBODY }
    }

    /// Who may have stepped last.
    pub(super) fn lasts(&self) -> impl Iterator<Item = u32> + use<N> {
        let threads = if self.model.settings.stickiness.is_some() { self.model.weights.len() as u32 } else { 0 };
        (0..threads).chain([NOBODY])
    }

    /// All transitions.
    ///
    /// # Errors
    /// If numbers or their number become too large; then nothing is known about what follows.
    pub(super) fn moves(&self, from: &Config<N>) -> Result<Vec<Move<N>>, Obstacle> {
        let choices = self.choices(&from.state).ok_or(Obstacle::Choices)?;
        self.weighed(from, &choices).ok_or(Obstacle::Odds)
    }

    fn weighed(&self, from: &Config<N>, choices: &[Choice<N>]) -> Option<Vec<Move<N>>> {
        let mut moves = Vec::new();
        if choices.is_empty() {
            self.updated(&from.state, (NO_EDGE, from.last, 1, 1), &mut moves)?;
            return Some(moves);
        }
        let mut weights = 0_u128;
        let mut previous = usize::MAX;
        for choice in choices {
            if choice.thread != previous {
                weights = weights.checked_add(self.weight(choice.thread, from.last))?;
                previous = choice.thread;
            }
        }
        for of_thread in choices.chunk_by(|left, right| left.thread == right.thread) {
            let thread = of_thread[0].thread;
            let edges = of_thread.chunk_by(|left, right| left.step.number == right.step.number);
            let edge_count = edges.clone().count() as u128;
            for of_edge in edges {
                let denominator = weights.checked_mul(edge_count)?.checked_mul(of_edge.len() as u128)?;
                for choice in of_edge {
                    let weight = self.weight(thread, from.last);
                    let how = (choice.step.number, self.remembered(thread), weight, denominator);
                    self.updated(&choice.state, how, &mut moves)?;
                }
            }
        }
        Some(moves)
    }

    /// The update step after a step of a thread.
    fn updated(
        &self,
        state: &Packed<N>,
        (edge, last, numerator, denominator): (u32, u32, u128, u128),
        moves: &mut Vec<Move<N>>,
    ) -> Option<()> {
        let machine = &self.model.compiled.machine;
        let Outcomes { list, total } = outcomes(machine, self.model.settings.updates, state)?;
        let denominator = denominator.checked_mul(total)?;
        for (state, share) in list {
            let numerator = numerator.checked_mul(share)?;
            let state = representative(&self.model.families, machine, &state);
            moves.push(Move { to: Config { state, last }, edge, numerator, denominator });
        }
        (moves.len() <= 4 * MOST_CHOICES).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prob::settings::{Fraction, Settings};
    use crate::prob::testing::model;

    struct Lasts;

    impl Visitor for Lasts {
        type Output = (Vec<u32>, u32);

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
            (chain.lasts().collect(), chain.remembered(1))
        }
    }

    /// Who stepped last matters only if threads tend to go on.
    #[test]
    fn the_last_thread_to_step_is_remembered_where_it_matters() {
        let text = "shared x; thread P { x = 1; } thread Q { x = 2; } forbid x == 2;";
        let sticky = Settings { stickiness: Fraction::parse("3"), ..Settings::default() };
        assert_eq!(with_chain(&model(text, &sticky), Lasts), (vec![0, 1, NOBODY], 1));
        assert_eq!(with_chain(&model(text, &Settings::default()), Lasts), (vec![NOBODY], NOBODY));
    }
}

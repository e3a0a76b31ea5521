//! What is possible from drained configurations, decided: the exact engine asked.
//!
//! The paper needs a complete answer to "can the target be reached from here?" for drained configurations only
//! ("Probabilistic Total Store Ordering", Lemma 4). One backward search, run to its end, answers it for all of them; a
//! second one tells from which of them those can be reached that have no target before them any more. Both take no more
//! than [`Bound::ProbBasis`] minimal configurations; beyond, nothing is said.

use weir_witness::Step;

use crate::bounds::Bound;
use crate::reach::dual::{Backwards, Drained, Region};
use crate::semantics::state::Packed;
use crate::session::Session;

use super::model::Model;

/// Knows what is possible from drained configurations that the program can be in.
pub(super) struct Oracle {
    backwards: Backwards,
    to_target: Region,
}

/// Drained configurations from which those without a target before them can be reached.
pub(super) struct ToProb0(Region);

impl Oracle {
    /// None if the exact engine cannot handle the program, or at a limit. Where others are locked out, a target can be
    /// met with stores on their way that never arrive; the exact engine looks at drained states only, so nothing is
    /// asked of it then. It knows nothing of deadlocks.
    pub(super) fn new(model: &Model, past_targets: bool, session: &Session) -> Option<Self> {
        if model.uses_lock && !model.is_judged_when_drained() || model.seeks_deadlocks() || model.seeks_stuck() {
            return None;
        }
        // Where a target counts only once buffers are empty, a thread may pass it before.
        let ends = if past_targets { Vec::new() } else { model.goals_met_at_once() };
        let backwards =
            Backwards::new(&model.judged, &model.goals, &ends, session.bound(Bound::ProbBasis), session).ok()?;
        let to_target = backwards.to_goals(session)?;
        Some(Self { backwards, to_target })
    }

    /// Whether a target can be reached from a drained configuration; yes if that is not known.
    pub(super) fn can_reach<const N: usize>(&self, model: &Model, state: &Packed<N>) -> bool {
        self.backwards.is_in(&self.to_target, &drained(model, state)).unwrap_or(true)
    }

    /// From where these, from none of which a target can be reached, can.
    pub(super) fn to_prob0<const N: usize>(
        &self,
        model: &Model,
        prob0: &[Packed<N>],
        session: &Session,
    ) -> Option<ToProb0> {
        let prob0: Vec<Drained<'_>> = prob0.iter().map(|state| drained(model, state)).collect();
        self.backwards.to(&prob0, session).map(ToProb0)
    }

    /// Whether a drained configuration is among those; yes if that is not known.
    pub(super) fn can_reach_prob0<const N: usize>(&self, model: &Model, way: &ToProb0, state: &Packed<N>) -> bool {
        self.backwards.is_in(&way.0, &drained(model, state)).unwrap_or(true)
    }

    /// A run to a target, where there is one. None at a limit.
    pub(super) fn run_to_target(&self, session: &Session) -> Option<Vec<Step>> {
        self.backwards.run_to_goals(session)?
    }

    /// A run to one of these drained configurations, or to one that is as good; the inner value is none if there is
    /// none. None at a limit.
    pub(super) fn run_to<const N: usize>(
        &self,
        model: &Model,
        states: &[Packed<N>],
        session: &Session,
    ) -> Option<Option<Vec<Step>>> {
        let states: Vec<Drained<'_>> = states.iter().map(|state| drained(model, state)).collect();
        self.backwards.run_to(&states, session)
    }
}

/// What is in a drained configuration.
fn drained<'a, const N: usize>(model: &'a Model, state: &'a Packed<N>) -> Drained<'a> {
    Drained::of(&model.compiled, state)
}

#[cfg(test)]
mod tests {
    use weir_ir::Program;
    use weir_testkit::random::{Config, condition, program};
    use weir_testkit::{Rng, dump};

    use super::*;
    use crate::prob::Settings;
    use crate::prob::chain::{Chain, Visitor, with_chain};
    use crate::prob::explore::expand;
    use crate::prob::graph::Graph;
    use crate::session::Session;

    /// Compares what the oracle says with a chain that is known as a whole.
    struct Comparison<'a> {
        past_targets: bool,
        context: &'a dyn Fn() -> String,
    }

    #[derive(Default)]
    struct Count {
        yes: usize,
        no: usize,
    }

    impl Visitor for Comparison<'_> {
        type Output = Count;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Count {
            const MOST: usize = 3_000;
            let (session, model) = (Session::default(), chain.model);
            let mut graph = Graph::new(chain);
            let mut at = 0;
            while at < graph.len() {
                if self.past_targets || !graph.is_target(at) {
                    assert!(expand(&mut graph, at, at, &session).is_none());
                }
                at += 1;
                if at > MOST {
                    return Count::default();
                }
            }
            let Some(oracle) = Oracle::new(model, self.past_targets, &session) else { return Count::default() };
            let backward = graph.backward(|_| true);
            let can = graph.can_reach(&backward, |number| graph.is_target(number));
            let drained: Vec<usize> = (0..graph.len()).filter(|&number| graph.is_drained(number)).collect();
            let mut count = Count::default();
            for &number in &drained {
                let state = graph.config(number).state;
                assert_eq!(oracle.can_reach(model, &state), can[number], "{state:?} {}", (self.context)());
                let run = oracle.run_to(model, &[state], &session).expect("no limit");
                assert!(run.is_some(), "{state:?} can be reached {}", (self.context)());
                if can[number] { count.yes += 1 } else { count.no += 1 }
            }
            // If targets end a run, nobody asks what follows.
            if !self.past_targets {
                return count;
            }
            let prob0: Vec<Packed<N>> =
                drained.iter().filter(|&&number| !can[number]).map(|&number| graph.config(number).state).collect();
            let way = oracle.to_prob0(model, &prob0, &session).expect("no limit");
            let loses = graph.can_reach(&backward, |number| graph.is_drained(number) && !can[number]);
            for &number in &drained {
                let state = graph.config(number).state;
                assert_eq!(
                    oracle.can_reach_prob0(model, &way, &state),
                    loses[number],
                    "{state:?} {}",
                    (self.context)()
                );
            }
            count
        }
    }

    fn compare(config: &Config, seeds: u64) {
        let mut all = Count::default();
        for seed in 0..seeds {
            let program: Program = program(seed, config);
            let target = condition(&program, &mut Rng::new(seed));
            let model = Model::new(&program, &target, &Settings::default(), &crate::session::Session::default())
                .expect("it can be handled");
            let context = || format!("seed {seed}\n{}\ntarget {}", dump(&program), program.condition_text(&target));
            for past_targets in [false, true] {
                let count = with_chain(&model, Comparison { past_targets, context: &context });
                all.yes += count.yes;
                all.no += count.no;
            }
        }
        let least = seeds as usize;
        assert!(all.yes > least && all.no > least, "only {} and {} were compared", all.yes, all.no);
    }

    #[test]
    fn every_drained_state_of_a_finite_chain_is_classified_correctly() {
        compare(&Config::acyclic(), 150);
    }

    #[test]
    fn also_in_programs_with_loops() {
        compare(&Config::cyclic(), 150);
    }
}

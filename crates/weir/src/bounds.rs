//! Bounds: how far single stages of an analysis go before they give up.
//!
//! Time, memory and states limit a session as a whole ([`Limits`](crate::Limits)). A bound limits one stage, so that a
//! stage that is unlikely to succeed leaves its resources to others. A bound that is reached never makes an answer
//! wrong: it makes it `Unknown`, refused, or less detailed.

/// A bound on one stage. Sessions have the [default](Bound::default_value) unless
/// [told otherwise](crate::Session::with_bound).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Bound {
    /// States of the portfolio's SC search.
    CheckScStates,
    /// States of the portfolio's depth-first search.
    CheckDepthFirstStates,
    /// States of the portfolio's search for attacks, and of the one without store buffers that follows.
    CheckRobustStates,
    /// States of the portfolio's last members, which search runs within a bound.
    CheckBoundedStates,
    /// States searched to find out whether a property holds vacuously.
    CheckVacuityStates,
    /// States enumerated to write out a proof of another kind than the engine's own, where they may be infinitely many.
    CertifyStates,
    /// States searched without store buffers for a simpler run of a violated property.
    CheckSimplerStates,
    /// States searched for a short attack before the runs of single attackers are searched, and again for these.
    RobustFirstStates,
    /// States of the SC search that finds unexecuted instructions of a robust program.
    CoverageStates,
    /// States searched for the number of fences that another aim takes.
    FencesAsideStates,
    /// Control states, moves and pairs of states of a program with arbitrarily many threads.
    CoverStates,
    /// Copies of threads in the largest instance that is searched for a violation that is not known to exist.
    InstanceCopies,
    /// States searched in one instance for such a violation.
    InstanceStates,
    /// Frames on the stack of a thread: calls of recursive procedures that have not returned.
    StackFrames,
    /// Threads started by `spawn`, per thread that it names.
    SpawnedThreads,
    /// States per call that the summaries of recursive procedures store.
    SummaryStates,
    /// Edges of the programs that the lazy engine builds.
    LazyEdges,
    /// Buffered stores kept in order by the refinement of `coherence`.
    CoherenceStores,
    /// States tried when turning an abstract run into a run under TSO.
    ConcretizeStates,
    /// States of single threads in the exact engine.
    DualLocalStates,
    /// Cells in the exact engine.
    DualCells,
    /// Values of one cell in the exact engine.
    DualValues,
    /// Combinations of values that one step can load in the exact engine.
    DualCombinations,
    /// Minimal configurations of a property in the exact engine.
    DualGoals,
    /// Length of runs that are shortened step by step.
    ShortenSteps,
    /// Abstract states of a probabilistic program.
    ProbAbstractStates,
    /// Minimal configurations that decide reachability for probabilistic programs.
    ProbBasis,
    /// Configurations of a Markov chain that is solved in exact fractions.
    ProbExactStates,
    /// Configurations of one strongly connected component that is solved in exact fractions.
    ProbExactComponent,
    /// Iterations over one strongly connected component.
    ProbSweeps,
    /// States searched to prove that no run reaches the target of a probabilistic program.
    ProbImpossibleStates,
    /// States of a probabilistic program in which threads that are stuck are looked for.
    ProbStuckStates,
    /// Stores in the buffers of configurations that qualitative questions about probabilistic programs search.
    ProbAlmostStores,
}

/// What there is to know about a bound.
struct Entry {
    name: &'static str,
    default: u64,
    most: u64,
    what: &'static str,
    beyond: &'static str,
}

impl Bound {
    /// All bounds, in the order of the documentation.
    pub const ALL: [Self; 33] = [
        Self::CheckScStates,
        Self::CheckDepthFirstStates,
        Self::CheckRobustStates,
        Self::CheckBoundedStates,
        Self::CheckVacuityStates,
        Self::CertifyStates,
        Self::CheckSimplerStates,
        Self::RobustFirstStates,
        Self::CoverageStates,
        Self::FencesAsideStates,
        Self::CoverStates,
        Self::InstanceCopies,
        Self::InstanceStates,
        Self::StackFrames,
        Self::SpawnedThreads,
        Self::SummaryStates,
        Self::LazyEdges,
        Self::CoherenceStores,
        Self::ConcretizeStates,
        Self::DualLocalStates,
        Self::DualCells,
        Self::DualValues,
        Self::DualCombinations,
        Self::DualGoals,
        Self::ShortenSteps,
        Self::ProbAbstractStates,
        Self::ProbBasis,
        Self::ProbExactStates,
        Self::ProbExactComponent,
        Self::ProbSweeps,
        Self::ProbImpossibleStates,
        Self::ProbStuckStates,
        Self::ProbAlmostStores,
    ];

    fn entry(self) -> Entry {
        let entry = |name, default, most, what, beyond| Entry { name, default, most, what, beyond };
        let any = u64::MAX;
        match self {
            Self::CheckScStates => entry(
                "check-sc-states",
                500_000,
                any,
                "states that `check` searches under SC",
                "that member of the portfolio gives up",
            ),
            Self::CheckDepthFirstStates => entry(
                "check-depth-first-states",
                10_000,
                any,
                "states that `check` searches depth-first for violations",
                "that member of the portfolio gives up",
            ),
            Self::CheckRobustStates => entry(
                "check-robust-states",
                5_000_000,
                any,
                "states that `check` searches for attacks, and then under SC if there are none",
                "that member of the portfolio gives up",
            ),
            Self::CheckBoundedStates => entry(
                "check-bounded-states",
                1_000_000,
                any,
                "states that `check` searches with `age`, and with `rounds`, once all other members have given up",
                "that member of the portfolio gives up",
            ),
            Self::CheckVacuityStates => entry(
                "check-vacuity-states",
                100_000,
                any,
                "states that `check` searches to find out whether a property holds vacuously",
                "vacuity is not reported",
            ),
            Self::CertifyStates => entry(
                "certify-states",
                1_000_000,
                any,
                "states enumerated to write out a proof of another kind than the engine's own",
                "no certificate is saved",
            ),
            Self::CheckSimplerStates => entry(
                "check-simpler-states",
                100_000,
                any,
                "states that `check` searches without store buffers for a simpler run of a violated property",
                "the run is shown as it was found",
            ),
            Self::RobustFirstStates => entry(
                "robust-first-states",
                20_000,
                any,
                "states searched for a short attack, and again for one whose attacker runs alone before it",
                "all runs are searched",
            ),
            Self::CoverageStates => entry(
                "coverage-states",
                300_000,
                any,
                "states searched to find instructions that no run of a robust program executes",
                "unexecuted instructions are not reported",
            ),
            Self::FencesAsideStates => entry(
                "fences-aside-states",
                1_000_000,
                any,
                "states that `fences` searches to find out how many fences another aim takes",
                "that number is not reported",
            ),
            Self::CoverStates => entry(
                "cover-states",
                10_000_000,
                any,
                "control states and moves where copies of a `[*]` thread are counted",
                "only small numbers of threads are searched",
            ),
            Self::InstanceCopies => entry(
                "instance-copies",
                4,
                100,
                "copies of `[*]` threads in the largest instance searched for a violation that may not exist",
                "unknown",
            ),
            Self::InstanceStates => {
                entry("instance-states", 1_000_000, any, "states searched per instance for such a violation", "unknown")
            }
            Self::StackFrames => entry(
                "stack-frames",
                64,
                100_000,
                "calls of recursive procedures on a thread's stack; `check` and `reach` start with few, and double them",
                "unknown",
            ),
            Self::SpawnedThreads => entry(
                "spawned-threads",
                8,
                10_000,
                "threads started per thread that `spawn` names; `check` and `reach` start with one, and double it",
                "unknown",
            ),
            Self::SummaryStates => entry(
                "summary-states",
                200_000,
                any,
                "states, told apart by the call they are in, that summaries of recursive procedures store",
                "stacks are searched up to a bound",
            ),
            Self::LazyEdges => entry("lazy-edges", 100_000, any, "edges of the programs that `lazy` builds", "unknown"),
            Self::CoherenceStores => entry(
                "coherence-stores",
                64,
                1_000,
                "stores per buffer that the refinement of `coherence` keeps in order",
                "unknown",
            ),
            Self::ConcretizeStates => entry(
                "concretize-states",
                100_000,
                any,
                "states tried to confirm a run that an over-approximation found",
                "the alarm stays unconfirmed",
            ),
            Self::DualLocalStates => {
                entry("dual-local-states", 400_000, 4_000_000_000, "states of single threads in `dual`", "refused")
            }
            Self::DualCells => entry("dual-cells", 4_096, 65_000, "cells in `dual`", "refused"),
            Self::DualValues => entry("dual-values", 2_000, 65_000, "values of one cell in `dual`", "refused"),
            Self::DualCombinations => entry(
                "dual-combinations",
                4_096,
                65_000,
                "combinations of values that one step can load in `dual`",
                "refused",
            ),
            Self::DualGoals => {
                entry("dual-goals", 200_000, any, "minimal configurations of a property in `dual`", "refused")
            }
            Self::ShortenSteps => entry(
                "shorten-steps",
                2_000,
                any,
                "length of runs that are shortened step by step, in quadratic time",
                "the run is shown as it was found",
            ),
            Self::ProbAbstractStates => entry(
                "prob-abstract-states",
                400_000,
                any,
                "abstract states that `prob` searches to prove a target unreachable",
                "the proof is not found",
            ),
            Self::ProbBasis => entry(
                "prob-basis",
                50_000,
                any,
                "minimal configurations of the backward search of `prob`",
                "`prob` continues without the exact engine",
            ),
            Self::ProbExactStates => entry(
                "prob-exact-states",
                50_000,
                any,
                "configurations that `prob --exact` solves, or that a saved proof has",
                "unknown",
            ),
            Self::ProbExactComponent => entry(
                "prob-exact-component",
                200,
                any,
                "configurations in one strongly connected component that `prob --exact` solves",
                "unknown",
            ),
            Self::ProbSweeps => entry(
                "prob-sweeps",
                20_000,
                any,
                "iterations over one strongly connected component in `prob`",
                "the interval stays wider",
            ),
            Self::ProbImpossibleStates => entry(
                "prob-impossible-states",
                50_000,
                any,
                "states that `prob` searches, in the part of the program that matters, to prove a target unreachable",
                "the proof is not found",
            ),
            Self::ProbStuckStates => entry(
                "prob-stuck-states",
                500_000,
                any,
                "states of programs for which `stuck` is a target of `prob`",
                "refused",
            ),
            Self::ProbAlmostStores => entry(
                "prob-almost-stores",
                8,
                1_000,
                "buffered stores of configurations that `almost-sure` and `almost-never` search",
                "unknown",
            ),
        }
    }

    /// Its name, for instance on the command line.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The bound with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bound| bound.name() == name)
    }

    /// Its value unless another is requested.
    pub fn default_value(self) -> u64 {
        self.entry().default
    }

    /// The largest value it can be given; larger ones are reduced to this.
    pub fn largest_value(self) -> u64 {
        self.entry().most
    }

    /// What it bounds.
    pub fn description(self) -> &'static str {
        self.entry().what
    }

    /// What happens when it is reached.
    pub fn beyond(self) -> &'static str {
        self.entry().beyond
    }
}

/// The values of all bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bounds([u64; Bound::ALL.len()]);

impl Default for Bounds {
    fn default() -> Self {
        Self(Bound::ALL.map(Bound::default_value))
    }
}

impl Bounds {
    pub(crate) fn get(&self, bound: Bound) -> u64 {
        self.0[bound as usize]
    }

    pub(crate) fn set(&mut self, bound: Bound, value: u64) {
        self.0[bound as usize] = value.min(bound.largest_value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_has_its_own_place_and_name() {
        for (at, bound) in Bound::ALL.into_iter().enumerate() {
            assert_eq!((bound as usize, Bound::by_name(bound.name())), (at, Some(bound)));
            assert!(bound.default_value() <= bound.largest_value(), "{}", bound.name());
        }
        assert_eq!(Bound::by_name("dual"), None);
    }

    #[test]
    fn a_bound_is_changed_alone_and_not_beyond_its_maximum() {
        let mut bounds = Bounds::default();
        bounds.set(Bound::DualValues, u64::MAX);
        bounds.set(Bound::LazyEdges, 7);
        let expected = |bound| match bound {
            Bound::DualValues => bound.largest_value(),
            Bound::LazyEdges => 7,
            _ => bound.default_value(),
        };
        for bound in Bound::ALL {
            assert_eq!(bounds.get(bound), expected(bound), "{}", bound.name());
        }
    }
}

//! Values that options can take; the first line of each is its help.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use weir_syntax::Language;

/// When to use colours.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Memory models.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelName {
    /// Sequential consistency: every store is visible at once.
    Sc,
    /// Total Store Order: each thread's stores wait in a buffer.
    Tso,
}

/// Ways to find out.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Visits every state one by one.
    Explicit,
    /// Lets stores wait only where that can matter, and finds out where by checking robustness.
    Lazy,
    /// Exact with unbounded buffers, for finitely many values.
    Dual,
    /// Takes buffers as sets: proves quickly, also where buffers have no bound, or does not know.
    Set,
    /// Takes buffers as multisets: as `set`, but counts stores.
    Multiset,
    /// Keeps the oldest stores in order, the others as a set. Without --bound: more and more of them.
    Coherence,
}

impl Engine {
    /// Whether it takes buffers that forget.
    pub(crate) fn approximates(self) -> bool {
        matches!(self, Self::Set | Self::Multiset | Self::Coherence)
    }

    /// Whether its proofs can be saved.
    pub(crate) fn certifies(self) -> bool {
        self.approximates() || self == Self::Dual
    }
}

/// How the lazy engine extends the program.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LazyForm {
    /// Keeps the code and adds what store buffers can do along several paths in each round.
    Keep,
    /// One path in each round, and its first store is removed: the algorithm as published. For comparison.
    First,
}

/// Ways to find out whether a program is robust.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// One search, without buffers, for all pairs of a store and a load that it could be delayed past.
    Attacks,
    /// One search for each pair, in a program that simulates the delay. Slower; for comparison.
    Instrumented,
    /// One search in one program that simulates every delay. Slower; for comparison.
    Single,
    /// Looks for triangular races: without one the program is robust, with one this method cannot tell.
    Trf,
}

/// What fences are to bring about.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AimName {
    /// Store buffers do not change what the program does.
    Robust,
    /// No property can be broken: often fewer than for robustness.
    Safe,
    /// No triangular race is left: more than robust, and easier to see in a program.
    Trf,
}

/// Orders of the search.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchName {
    /// Breadth-first: finds a shortest run.
    Bfs,
    /// Depth-first: goes deep early.
    Dfs,
}

/// Ways to visit fewer states with the same answer.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReductionName {
    /// Every state is visited.
    None,
}

/// Reads the name of an input language.
pub(crate) fn language() -> impl TypedValueParser<Value = Language> {
    let names = Language::ALL.map(|language| PossibleValue::new(language.name()).help(language.description()));
    PossibleValuesParser::new(names).map(|name| Language::by_name(&name).unwrap_or(Language::Weir))
}

/// Forms a program can be printed in.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Weir's own language.
    Weir,
    /// Control-flow graphs for Graphviz.
    Dot,
    /// The input language of Trencher.
    Trencher,
}

/// Forms of an answer that may hold a run.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunFormat {
    /// For people.
    Text,
    /// One JSON object a file.
    Json,
    /// The run's happens-before graph for Graphviz.
    Dot,
}

/// Forms of the answers about litmus tests.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LitmusFormat {
    /// For people.
    Text,
    /// One JSON object a test.
    Json,
    /// A log as herd7 prints it, for tools that compare such logs.
    Herd,
}

/// Forms of an answer without a run.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlainFormat {
    /// For people.
    Text,
    /// One JSON object a file.
    Json,
}

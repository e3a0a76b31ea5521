//! The values that options can take. The first line of each doc comment is its help text.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use weir_syntax::Language;

/// When to use colours.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Memory models.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelName {
    /// Sequential consistency: every store is visible immediately.
    Sc,
    /// Total Store Order: stores wait in a buffer per thread.
    Tso,
}

/// Engines of `weir reach`.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Visits every reachable state.
    Explicit,
    /// Delays stores only where that can make a difference, which it finds out by checking robustness.
    Lazy,
    /// Backward coverability: exact for unbounded buffers, if there are finitely many values.
    Dual,
    /// Over-approximates buffers as sets: fast proofs, even for unbounded buffers, but can be inconclusive.
    Set,
    /// Over-approximates buffers as multisets: like `set`, but counts stores.
    Multiset,
    /// Keeps the oldest stores in order and the others as a set. Without --bound, keeps more and more in order.
    Coherence,
}

impl Engine {
    /// Whether it over-approximates buffers.
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
    /// Keeps the code, and adds what store buffers can do along several paths per round.
    Keep,
    /// Extends by one path per round and removes its first store: the algorithm as published, for comparison.
    First,
}

/// Methods of deciding robustness.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// One search under SC for all attacks: pairs of a store and a later load that it could be delayed past.
    Attacks,
    /// One search per attack, in a program that simulates the delay. Slower; for comparison.
    Instrumented,
    /// One search in a single program that simulates every delay. Slower; for comparison.
    Single,
    /// Looks for triangular races. Without one, the program is robust; with one, the method is inconclusive.
    Trf,
}

/// What the fences must achieve.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AimName {
    /// Store buffers do not change the program's behaviour.
    Robust,
    /// Every property holds; often takes fewer fences than robustness.
    Safe,
    /// No triangular races remain; may take more fences than robustness, but is easier to see in the code.
    Trf,
}

/// Search orders.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchName {
    /// Breadth-first: finds a shortest run.
    Bfs,
    /// Depth-first: goes deep early.
    Dfs,
}

/// Partial order reductions.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReductionName {
    /// Every state is visited.
    None,
}

/// Parses the name of an input language.
pub(crate) fn language() -> impl TypedValueParser<Value = Language> {
    let names = Language::ALL.map(|language| PossibleValue::new(language.name()).help(language.description()));
    PossibleValuesParser::new(names).map(|name| Language::by_name(&name).unwrap_or(Language::Weir))
}

/// Output languages of `weir translate`.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Weir's own language.
    Weir,
    /// Control-flow graphs for Graphviz.
    Dot,
    /// The input language of Trencher.
    Trencher,
}

/// Formats of an answer that may contain a run.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunFormat {
    /// Plain text.
    Text,
    /// One JSON object per file.
    Json,
    /// The run's happens-before graph for Graphviz.
    Dot,
}

/// Formats of the results of litmus tests.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LitmusFormat {
    /// Plain text.
    Text,
    /// One JSON object per test.
    Json,
    /// A log in the format of herd7, for tools that compare such logs.
    Herd,
}

/// Formats of an answer without a run.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlainFormat {
    /// Plain text.
    Text,
    /// One JSON object per file.
    Json,
}

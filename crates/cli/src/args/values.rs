//! The values that options can take. Where the library has a list of them, that list is used; of the enumerations here,
//! the first line of each doc comment is its help text.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use weir::fences::Aim;
use weir::petri::Engine as CoverEngine;
use weir::reach::{Engine, Form, Reduction, Search};
use weir::robust::{Criterion, Method};
use weir_report::Format;
use weir_report::answer::{CommandName, ProbQuestion, RACES};
use weir_syntax::Language;
use weir_syntax::nets::NetFormat;
use weir_witness::Model;

/// Parses one of `all`, given by their names.
fn choice<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    help: impl Fn(T) -> String,
) -> impl TypedValueParser<Value = T> {
    let values = all.iter().map(|&value| PossibleValue::new(name(value)).help(help(value)));
    PossibleValuesParser::new(values).try_map(move |text| {
        all.iter().copied().find(|&value| name(value) == text).ok_or("not one of the possible values")
    })
}

/// Parses the name of an input language.
pub(super) fn language() -> impl TypedValueParser<Value = Language> {
    choice(&Language::ALL, Language::name, |language| language.description().to_owned())
}

/// Parses the name of a format of nets.
pub(super) fn net_format() -> impl TypedValueParser<Value = NetFormat> {
    choice(&NetFormat::ALL, NetFormat::name, |format| format.description().to_owned())
}

/// Parses the name of a method of `weir cover`.
pub(super) fn cover_engine() -> impl TypedValueParser<Value = CoverEngine> {
    choice(&CoverEngine::ALL, CoverEngine::name, |engine| engine.description().to_owned())
}

/// Parses the name of a memory model.
pub(super) fn model() -> impl TypedValueParser<Value = Model> {
    choice(&Model::ALL, Model::name, |model| model.description().to_owned())
}

/// Parses the name of an engine of `weir reach`.
pub(super) fn engine() -> impl TypedValueParser<Value = Engine> {
    choice(&Engine::ALL, Engine::name, |engine| engine.description().to_owned())
}

/// Parses the name of a search order.
pub(super) fn search() -> impl TypedValueParser<Value = Search> {
    choice(&Search::ALL, Search::name, |order| order.description().to_owned())
}

/// Parses the name of a form of the lazy engine.
pub(super) fn lazy_form() -> impl TypedValueParser<Value = Form> {
    choice(&Form::ALL, Form::name, |form| form.description().to_owned())
}

/// Parses the name of an aim of `weir fences`.
pub(super) fn aim() -> impl TypedValueParser<Value = Aim> {
    choice(&Aim::ALL, Aim::name, |aim| aim.description().to_owned())
}

/// Parses the name of what `weir robust` compares.
pub(super) fn criterion() -> impl TypedValueParser<Value = Criterion> {
    choice(&Criterion::ALL, Criterion::name, |criterion| criterion.description().to_owned())
}

/// Parses the name of a partial order reduction.
pub(super) fn reduction() -> impl TypedValueParser<Value = Reduction> {
    choice(&Reduction::ALL, Reduction::name, |reduction| reduction.description().to_owned())
}

/// Parses the name of a question of `weir prob`.
pub(super) fn question() -> impl TypedValueParser<Value = ProbQuestion> {
    choice(&ProbQuestion::ALL, ProbQuestion::name, |question| question.description().to_owned())
}

/// Parses the name of a format that the command offers.
pub(super) fn format(command: CommandName) -> impl TypedValueParser<Value = Format> {
    let unit = if command == CommandName::Litmus { "test" } else { "file" };
    choice(Format::of(command), Format::name, |format| format.description(unit))
}

/// Methods of `weir robust`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodChoice {
    /// Decides robustness.
    Decide(Method),
    /// Looks for triangular races.
    Races,
}

impl MethodChoice {
    /// The method if none is named.
    pub(super) const DEFAULT: Self = Self::Decide(Method::Attacks);

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Decide(method) => method.name(),
            Self::Races => RACES,
        }
    }
}

/// Parses the name of a method of `weir robust`.
pub(super) fn method() -> impl TypedValueParser<Value = MethodChoice> {
    let races = "Looks for triangular races. Without one, the program is robust; with one, the method is inconclusive";
    let values = Method::ALL.map(|method| PossibleValue::new(method.name()).help(method.description()));
    let values = values.into_iter().chain([PossibleValue::new(RACES).help(races)]);
    PossibleValuesParser::new(values).map(|text| {
        let named = Method::ALL.into_iter().find(|method| method.name() == text);
        named.map_or(MethodChoice::Races, MethodChoice::Decide)
    })
}

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

/// Whether to make use of symmetric threads.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SymmetryName {
    /// Where the engine supports it.
    Auto,
    /// As `auto`, and say what keeps copies of a thread apart.
    On,
    /// Distinguish all states.
    Off,
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
    /// The automata in plain JSON, the form that evidence checkers read.
    Json,
    /// A model for SPIN, under SC.
    Promela,
    /// C; see `--for`.
    C,
    /// A litmus test for `X86_64`, for herd7 and litmus7. Straight-line programs only.
    Litmus,
    /// A transition system in BTOR2, for hardware model checkers, under SC.
    Btor2,
}

/// What an export is for.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The model checker SPIN (with `--to promela`).
    Spin,
    /// The bounded model checker CBMC (with `--to c`).
    Cbmc,
    /// The bounded model checker ESBMC (with `--to c`).
    Esbmc,
    /// A C compiler and a real processor: the program runs in a loop that counts outcomes (with `--to c`).
    Hardware,
}

impl Tool {
    /// The output languages it reads.
    pub(crate) fn reads(self) -> &'static [Target] {
        match self {
            Self::Spin => &[Target::Promela],
            Self::Cbmc | Self::Esbmc | Self::Hardware => &[Target::C],
        }
    }
}

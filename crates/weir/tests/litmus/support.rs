//! Running a litmus test.

use weir::Session;
use weir::outcomes::{End, outcomes};
use weir_ir::Source;
use weir_syntax::litmus::{Litmus, Results, parse};
use weir_witness::Model;

/// Reads a test that must be right.
pub(crate) fn read(name: &str, text: &str) -> Litmus {
    let source = Source::new(name, text);
    parse(&source).unwrap_or_else(|errors| {
        let error = &errors[0];
        let at = source.line_column(error.primary.span.start);
        panic!("{name}:{}:{}: {}", at.line, at.column, error.message)
    })
}

/// All final states.
pub(crate) fn run(test: &Litmus, model: Model) -> Results {
    let report = outcomes(&test.program, &test.expressions(), model, &Session::default())
        .unwrap_or_else(|failure| panic!("{}: {failure}", test.name));
    assert_eq!(report.end, End::Complete, "{}", test.name);
    test.results(&report.outcomes)
}

/// `Sometimes 1 3`.
pub(crate) fn summary(results: &Results) -> String {
    format!("{} {} {}", results.observation().text(), results.positive(), results.negative())
}

/// The memory models, as the engine and as the judge call them.
pub(crate) const MODELS: [(Model, weir_testkit::Model); 2] =
    [(Model::Tso, weir_testkit::Model::Tso), (Model::Sc, weir_testkit::Model::Sc)];

//! The examples of the reference are programs.

use crate::dump::{messages, parsed};

const REFERENCE: &str = include_str!("../../../../docs/language.md");

/// The blocks marked `weir`.
fn blocks() -> Vec<&'static str> {
    let rest = |part: &'static str| part.split("\n```").next();
    REFERENCE.split("```weir\n").skip(1).filter_map(rest).collect()
}

#[test]
fn every_example_of_the_reference_parses_without_warnings() {
    assert!(blocks().len() > 15);
    for block in blocks() {
        assert_eq!(messages(block, &parsed(block).warnings), "", "{block}");
    }
}

#[test]
fn the_examples_of_the_reference_are_formatted() {
    for block in blocks() {
        let formatted = weir_syntax::weir::format(&weir_ir::Source::new("reference", block)).expect("it parses");
        assert_eq!(formatted.trim_end(), block.trim_end());
    }
}

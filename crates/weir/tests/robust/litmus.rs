//! The litmus shapes among the examples.

use std::path::Path;

use weir_ir::Source;

use crate::reference::{Count, LIMITS, judge};

#[test]
fn litmus_examples_agree_with_the_definition() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/litmus");
    let mut count = Count::default();
    for entry in std::fs::read_dir(folder).expect("examples/litmus is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "weir") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let parsed = weir_syntax::weir::parse(&Source::new("litmus", text), &weir_syntax::weir::Options::default());
        let program = parsed.unwrap_or_else(|errors| panic!("{}: {errors:#?}", path.display())).program;
        judge(&program, LIMITS, &mut count).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
    assert!(count.programs >= 18 && count.not_robust == 3, "{count:?}");
    assert_eq!((count.decided, count.answered), (count.programs, [count.programs; 3]));
}

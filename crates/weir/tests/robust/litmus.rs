//! The litmus shapes among the examples.

use std::path::Path;

use weir_ir::Source;

use crate::definition::is_robust;
use crate::verdict;

#[test]
fn litmus_examples_agree_with_the_definition() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/litmus");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).expect("examples/litmus is there") {
        let path = entry.expect("readable").path();
        let source = Source::new(path.display().to_string(), std::fs::read_to_string(&path).expect("readable"));
        let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
        let program = parsed.expect("examples are right").program;
        let expected = is_robust(&program, 100_000).expect("litmus shapes have few traces");
        assert_eq!(verdict(&program, 1), Some(expected), "{}", path.display());
        checked += 1;
    }
    assert!(checked >= 18, "only {checked} shapes");
}

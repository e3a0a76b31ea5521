//! Reading litmus tests: what is refused and how it is said, and that nothing makes the reader panic.

mod errors;
mod fuzz;
mod meaning;
mod shape;

use weir_ir::{Diagnostic, Source};
use weir_syntax::litmus::{Litmus, parse};

/// Reads a text.
fn read(text: &str) -> Result<Litmus, Vec<Diagnostic>> {
    parse(&Source::new("test.litmus", text))
}

/// Our own tests, as texts.
fn samples() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/litmus");
    let entries = std::fs::read_dir(folder).expect("tests/litmus is there");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension() == Some("litmus".as_ref())).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("readable")).collect()
}

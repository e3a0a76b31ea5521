//! Every example of the repository is a program.

use std::path::{Path, PathBuf};

use crate::dump::messages;
use weir_ir::Source;
use weir_syntax::weir::{Options, parse};

/// All `.weir` files under `examples/`, in alphabetical order, with their texts.
pub(crate) fn examples() -> Vec<(PathBuf, String)> {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "weir") {
                found.push((path.clone(), std::fs::read_to_string(&path).expect("an example is readable")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_example_parses() {
    for (path, text) in examples() {
        match parse(&Source::new(path.display().to_string(), text.as_str()), &Options::default()) {
            Ok(parsed) => assert_eq!(weir_ir::validate(&parsed.program), [], "{}", path.display()),
            Err(errors) => panic!("{}:\n{}", path.display(), messages(&text, &errors)),
        }
    }
}

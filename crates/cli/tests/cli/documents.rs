//! The form of the documents.

use std::path::{Path, PathBuf};

use crate::support::root;

/// Lines of text in Markdown are easy to read and to compare if they are not long. Tables cannot be wrapped, and code
/// is as it is.
#[test]
fn lines_of_text_have_at_most_120_characters() {
    let mut files = Vec::new();
    for folder in ["", "docs", "examples", "tests/cli"] {
        files.extend(markdown(&root().join(folder)));
    }
    assert!(files.len() > 15, "{files:?}");
    let too_long: Vec<String> = files.iter().flat_map(|file| long_lines(file)).collect();
    assert!(too_long.is_empty(), "{}", too_long.join("\n"));
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension() == Some("md".as_ref())).collect()
}

fn long_lines(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a text");
    let mut is_code = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if !is_code && !line.starts_with('|') && line.chars().count() > 120 {
            found.push(format!("{}:{}: {line}", file.display(), index + 1));
        }
    }
    found
}

//! The form of the documents.

use std::path::{Path, PathBuf};

use crate::support::{root, weir_with_input};

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

/// The programs in a document, in order.
fn programs(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(document)).expect("a text");
    let blocks = text.split("```weir\n").skip(1);
    blocks.map(|block| block.split("```").next().expect("it is closed").to_owned()).collect()
}

/// What `docs/from-code.md` says about its three examples.
#[test]
fn models_of_code_answer_as_their_page_says() {
    let answer = |command: &[&str], program: &str| {
        let ran = weir_with_input(&[command, &["-q", "-"]].concat(), program.as_bytes());
        ran.assert_no_bug();
        (ran.status, ran.stdout)
    };
    let programs = programs("docs/from-code.md");
    let [peterson, publication, sleep] = programs.as_slice() else { panic!("{} programs", programs.len()) };
    assert_eq!(answer(&["check"], peterson).0, Some(1));
    let exchanging = |cells: [&str; 2]| {
        let replaced = cells.iter().fold(peterson.clone(), |text, cell| {
            let (name, value) = cell.split_once(" = ").expect("a store");
            text.replacen(&format!("{cell};"), &format!("xchg({name}, {value});"), 1)
        });
        assert_eq!(replaced.matches("xchg").count(), 2);
        replaced
    };
    assert_eq!(answer(&["check"], &exchanging(["turn = 1", "turn = 0"])).0, Some(0), "stores to `turn` are seq_cst");
    assert_eq!(answer(&["check"], &exchanging(["flag[0] = 1", "flag[1] = 1"])).0, Some(1), "stores to `flag` are");
    assert_eq!(answer(&["robust"], publication).0, Some(0));
    assert_eq!(answer(&["check"], sleep).0, Some(1));
    let property = sleep.lines().last().expect("a property");
    let stuck = sleep.replace(property, "forbid stuck;");
    assert_eq!((answer(&["check"], &stuck).0, answer(&["check", "--model", "sc"], &stuck).0), (Some(1), Some(0)));
    let (_, fences) = answer(&["fences"], sleep);
    assert!(fences.starts_with("2 fences make the program robust"), "{fences}");
}

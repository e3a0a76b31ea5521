//! Sessions in Markdown: `tests/cli/*.md`, README and the guide. Each block marked `console` is run line by line, and
//! what the program prints must be what stands there; `status=N` after `console` is the status of the last command, 0
//! if it is not given. To accept what the program prints now: `WEIR_BLESS=1 cargo test -p weir-cli transcripts`, and
//! read the difference.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{root, scratch};

#[test]
fn the_sessions_in_the_documents_are_real() {
    let mut files =
        ["README.md", "docs/guide.md", "docs/nets.md", "docs/probability.md"].map(|name| root().join(name)).to_vec();
    let cases = std::fs::read_dir(root().join("tests/cli")).expect("tests/cli is there");
    files.extend(
        cases.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.extension() == Some("md".as_ref())),
    );
    files.sort();
    assert!(files.len() > 1);
    let is_blessing = std::env::var_os("WEIR_BLESS").is_some();
    let mut failures = Vec::new();
    for file in &files {
        let written = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let real = replayed(&written, &stage(file));
        if is_blessing {
            std::fs::write(file, real).expect("the document can be written");
        } else if real != written {
            failures.push(format!("{}:\n{}", file.display(), difference(&written, &real)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A directory in which the commands of a document run: with the examples and the test programs in it.
fn stage(file: &Path) -> PathBuf {
    let name = file.file_stem().expect("a name").to_string_lossy();
    let directory = scratch(&format!("transcript-{name}"));
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(root().join(from), directory.join(to)).expect("links can be made");
    };
    link("examples", "examples");
    link("tests/cli/programs", "programs");
    link("tests/litmus", "litmus");
    directory
}

/// The document with what the program really prints.
fn replayed(document: &str, directory: &Path) -> String {
    let mut real = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        real += line;
        real.push('\n');
        if let Some(info) = line.strip_prefix("```console") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let (printed, status) = run_block(&block, directory);
            let expected = info.trim().strip_prefix("status=").unwrap_or("0");
            assert_eq!(status.to_string(), expected, "the status of `{}`", block.first().unwrap_or(&""));
            real += &printed;
            real += "```\n";
        }
    }
    real
}

/// Runs the commands of a block; what they print stands below each.
fn run_block(block: &[&str], directory: &Path) -> (String, i32) {
    let mut printed = String::new();
    let mut status = 0;
    for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
        let bin = Path::new(env!("CARGO_BIN_EXE_weir")).parent().expect("a directory");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([bin.to_owned()].into_iter().chain(std::env::split_paths(&path)));
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {}\n}} 2>&1", command.replace(BUILT_FIRST, "weir "))])
            .current_dir(directory)
            .env("PATH", path.expect("a path"))
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("sh is there");
        status = output.status.code().unwrap_or(-1);
        printed += &format!("$ {command}\n{}", steady(&String::from_utf8_lossy(&output.stdout)));
        if !printed.ends_with('\n') {
            printed.push('\n');
        }
    }
    (printed, status)
}

/// How README runs Weir before it is installed.
const BUILT_FIRST: &str = "cargo run --release -- ";

/// What differs from run to run or from version to version, replaced by something fixed.
fn steady(text: &str) -> String {
    let fixed = [
        ("\"seconds\":", "0.01"),
        ("\"search_seconds\":", "0.01"),
        ("\"cpu_seconds\":", "0.01"),
        ("\"wall_seconds\":", "0.01"),
        ("\"peak_memory_bytes\":", "8000000"),
        ("\"stored_bytes\":", "8000"),
        ("\"state_bytes\":", "16"),
    ];
    let mut text = text.replace(&format!("\"weir\":\"{}\"", env!("CARGO_PKG_VERSION")), "\"weir\":\"0.1.0\"");
    for (field, value) in fixed {
        let parts: Vec<&str> = text.split(field).collect();
        let steady = |part: &&str| {
            let end = part.find([',', '}']).unwrap_or(part.len());
            format!("{field}{value}{}", &part[end..])
        };
        text = parts[0].to_owned() + &parts[1..].iter().map(steady).collect::<String>();
    }
    without_times(&text)
}

/// With the same time in each line of the table of `weir check`, which comes last.
fn without_times(text: &str) -> String {
    let mut is_table = false;
    let mut steady = String::new();
    for line in text.split_inclusive('\n') {
        let has_time =
            is_table && line.starts_with("  ") && [" s\n", "ms\n", "µs\n"].iter().any(|unit| line.ends_with(unit));
        match line.rfind("  ") {
            Some(at) if has_time => steady += &format!("{}  1 ms\n", &line[..at]),
            _ => steady += line,
        }
        is_table = line.starts_with("  property ") || has_time;
    }
    steady
}

/// The first lines that differ.
fn difference(written: &str, real: &str) -> String {
    let at = written.lines().zip(real.lines()).take_while(|(left, right)| left == right).count();
    let show = |text: &str| text.lines().skip(at).take(12).map(|line| format!("    {line}\n")).collect::<String>();
    format!("line {}: the document says\n{}  but the program prints\n{}", at + 1, show(written), show(real))
}

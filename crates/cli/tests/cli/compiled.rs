//! Compiled code: the examples in C, built by the compiler that is installed. Without one, the tests say so.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{root, scratch, weir};

/// A folder with the examples, compiled at a level.
#[allow(clippy::print_stdout, reason = "whoever runs the tests should know")]
fn compiled(level: &str) -> Option<PathBuf> {
    let has_gcc = Command::new("gcc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !cfg!(target_arch = "x86_64") || !has_gcc {
        println!("skipped: there is no gcc for x86-64 here");
        return None;
    }
    let folder = scratch(&format!("compiled{level}"));
    for source in sources() {
        let name = source.file_stem().and_then(|name| name.to_str()).expect("a name");
        let output = Command::new("gcc")
            .args(["-g", level, "-c"])
            .arg(&source)
            .arg("-o")
            .arg(folder.join(format!("{name}.o")))
            .output()
            .expect("gcc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::copy(source.with_extension("weir.toml"), folder.join(format!("{name}.weir.toml"))).expect("a copy");
    }
    Some(folder)
}

fn sources() -> Vec<PathBuf> {
    let folder = root().join("examples/compiled");
    let files = std::fs::read_dir(folder).expect("the folder of examples").map(|entry| entry.expect("a file").path());
    let mut sources: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "c")).collect();
    sources.sort();
    sources
}

/// What the header of an example says about a command at a level.
fn expected(source: &Path, level: &str, command: &str) -> Option<String> {
    let text = std::fs::read_to_string(source).expect("an example");
    let lines = text.lines().filter_map(|line| line.trim_start_matches(" *").trim().strip_prefix("expect "));
    let heads = [format!("{command}: "), format!("{level} {command}: ")];
    lines.filter_map(|line| heads.iter().find_map(|head| line.strip_prefix(head.as_str()))).next().map(str::to_owned)
}

fn check_examples(level: &str) {
    let Some(folder) = compiled(level) else { return };
    let mut checked = 0;
    for source in sources() {
        let object = folder.join(source.file_stem().expect("a name")).with_extension("o");
        let object = object.to_str().expect("UTF-8");
        for command in ["check", "robust", "fences", "remove"] {
            let Some(expected) = expected(&source, level, command) else { continue };
            let asked: &[&str] = if command == "remove" { &["fences", "--remove"] } else { &[command] };
            let answer = weir(&[asked, &["--format", "json", object]].concat()).json();
            let found = match command {
                "fences" => answer["cost"].to_string(),
                "remove" => {
                    let [removed, kept] = ["removed", "fences"].map(|list| answer[list].as_array().map_or(0, Vec::len));
                    format!("{removed} of {}", removed + kept)
                }
                _ => answer["verdict"].as_str().unwrap_or_default().replace('-', " "),
            };
            assert_eq!(found, expected, "weir {command} {object}: {answer}");
            checked += 1;
        }
    }
    assert!(checked >= 20, "{checked} expectations");
}

#[test]
fn examples_without_optimisation_are_answered_as_their_headers_say() {
    check_examples("-O0");
}

#[test]
fn examples_with_optimisation_are_answered_as_their_headers_say() {
    check_examples("-O2");
}

/// rustc is there, since it has built this test.
#[test]
fn the_example_in_rust_is_answered_as_its_header_says() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return;
    }
    let folder = scratch("compiled-rust");
    let (source, object) = (root().join("examples/compiled/spsc.rs"), folder.join("spsc.o"));
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "obj", "-g", "-O", "-C", "panic=abort"])
        .arg(&source)
        .arg("-o")
        .arg(&object)
        .output()
        .expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::copy(source.with_extension("weir.toml"), folder.join("spsc.weir.toml")).expect("a copy");
    let object = object.to_str().expect("UTF-8");
    assert_eq!(weir(&["check", "--format", "json", object]).json()["verdict"], "safe");
    let answer = weir(&["robust", object]);
    assert!(answer.stdout.contains("not robust: consumer can delay its store to `RING.tail`"), "{answer:?}");
    assert!(answer.stdout.contains("spsc.rs:"), "{answer:?}");
}

#[test]
fn options_of_compiled_code_are_for_compiled_code() {
    let output = weir(&["robust", "--thread", "f()", "examples/litmus/sb.weir"]);
    assert_eq!(output.status, Some(2));
    assert!(output.stderr.contains("`--thread` cannot be used: this is not compiled code"), "{}", output.stderr);
}

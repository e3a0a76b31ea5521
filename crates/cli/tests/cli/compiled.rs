//! Compiled code: the examples in C, built by the compiler that is installed. Without one, the tests say so.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{root, scratch, weir};

/// Whether C can be compiled here; if not, this says so.
#[allow(clippy::print_stdout, reason = "whoever runs the tests should know")]
pub(crate) fn has_gcc() -> bool {
    let has_gcc = Command::new("gcc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !cfg!(target_arch = "x86_64") || !has_gcc {
        println!("skipped: there is no gcc for x86-64 here");
        return false;
    }
    true
}

/// A folder of this name with the examples, compiled at a level.
fn compiled(level: &str, name: &str) -> Option<PathBuf> {
    if !has_gcc() {
        return None;
    }
    let folder = scratch(name);
    for source in sources("c") {
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

fn sources(language: &str) -> Vec<PathBuf> {
    let folder = root().join("examples/compiled");
    let files = std::fs::read_dir(folder).expect("the folder of examples").map(|entry| entry.expect("a file").path());
    let mut sources: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == language)).collect();
    sources.sort();
    sources
}

/// What the header of an example says about a command at a level.
fn expected(source: &Path, level: &str, command: &str) -> Option<String> {
    let text = std::fs::read_to_string(source).expect("an example");
    let lines = text
        .lines()
        .filter_map(|line| line.trim_start_matches(" *").trim_start_matches("//!").trim().strip_prefix("expect "));
    let heads = [format!("{command}: "), format!("{level} {command}: ")];
    lines.filter_map(|line| heads.iter().find_map(|head| line.strip_prefix(head.as_str()))).next().map(str::to_owned)
}

fn check_examples(level: &str) {
    let Some(folder) = compiled(level, &format!("compiled{level}")) else { return };
    let mut checked = 0;
    for source in sources("c") {
        let object = folder.join(source.file_stem().expect("a name")).with_extension("o");
        checked += check_example(&source, &object, level);
    }
    assert!(checked >= 20, "{checked} expectations");
}

/// Asks about an example what its header answers; how many answers there are.
fn check_example(source: &Path, object: &Path, level: &str) -> usize {
    let object = object.to_str().expect("UTF-8");
    let mut checked = 0;
    for command in ["check", "robust", "fences", "remove"] {
        let Some(expected) = expected(source, level, command) else { continue };
        let asked: &[&str] = if command == "remove" { &["fences", "--remove"] } else { &[command] };
        let answer = weir(&[asked, &["--format", "json", object]].concat()).json();
        let found = match command {
            "fences" => answer["cost"].to_string(),
            "remove" => {
                let kept = answer["fences"].as_array().into_iter().flatten();
                let named = kept.filter(|fence| fence["exchanges"].as_array().is_some_and(|lines| !lines.is_empty()));
                assert_eq!(named.count(), 0, "what is needed is there: {answer}");
                let [removed, kept] = ["removed", "fences"].map(|list| answer[list].as_array().map_or(0, Vec::len));
                format!("{removed} of {}", removed + kept)
            }
            _ => answer["verdict"].as_str().unwrap_or_default().replace('-', " "),
        };
        assert_eq!(found, expected, "weir {command} {object} at {level}: {answer}");
        checked += 1;
    }
    checked
}

/// A fence that the answer asks for, put into the source, and the store it names instead, made an exchange: both do.
#[test]
fn a_suggested_fence_in_the_source_makes_the_check_pass() {
    let Some(folder) = compiled("-O2", "compiled-mended") else { return };
    let source = std::fs::read_to_string(root().join("examples/compiled/eventcount_broken.c")).expect("an example");
    let object = folder.join("eventcount_broken.o");
    let answer = weir(&["fences", "--format", "json", object.to_str().expect("UTF-8")]).json();
    let fences = answer["fences"].as_array().expect("a list");
    assert_eq!((fences.len(), &fences[0]["thread"]), (1, &"notifier".into()));
    let (before, instead) = (&fences[0]["line"], &fences[0]["exchanges"][0]);
    let lines: Vec<&str> = source.lines().collect();
    let number = |line: &serde_json::Value| line.as_u64().expect("a line") as usize - 1;
    let mut fenced = lines.clone();
    fenced.insert(number(before), "atomic_thread_fence(memory_order_seq_cst);");
    let store = lines[number(instead)].replace("memory_order_release", "memory_order_seq_cst");
    assert_ne!(store, lines[number(instead)]);
    let mut exchanged = lines.clone();
    exchanged[number(instead)] = &store;
    for text in [fenced, exchanged] {
        std::fs::write(folder.join("mended.c"), text.join("\n")).expect("a file");
        let output = Command::new("gcc").args(["-g", "-O2", "-c", "mended.c"]).current_dir(&folder).output();
        assert!(output.expect("gcc runs").status.success());
        let threads = ["--thread", "notifier()", "--thread", "waiter()", "--claim", "forbid stuck"];
        let mended = folder.join("mended.o");
        let answer = weir(&[&["check", "--format", "json", mended.to_str().expect("UTF-8")][..], &threads].concat());
        assert_eq!(answer.json()["verdict"], "safe");
    }
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
fn examples_in_rust_are_answered_as_their_headers_say() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return;
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut checked = 0;
    for level in ["-O0", "-O2"] {
        let folder = scratch(&format!("compiled-rust{level}"));
        let objects: Vec<(PathBuf, PathBuf)> =
            sources("rs").into_iter().map(|source| (build_rust(&rustc, &source, level, &folder), source)).collect();
        for (object, source) in objects {
            checked += check_example(&source, &object, level);
        }
    }
    assert!(checked >= 20, "{checked} expectations");
}

/// Without optimisation, the accesses are in functions of the standard library: the lines of the calls count.
#[test]
fn answers_about_rust_name_the_lines_of_the_program() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return;
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let source = root().join("examples/compiled/peterson.rs");
    let text = std::fs::read_to_string(&source).expect("an example");
    let line = |code: &str| text.lines().position(|line| line.contains(code)).expect("a line") as u64 + 1;
    let (first, store, load) = (line("FLAG[number].store"), line("TURN.store(other"), line("while FLAG[other].load"));
    for level in ["-O0", "-O2"] {
        let object = build_rust(&rustc, &source, level, &scratch(&format!("compiled-lines{level}")));
        let object = object.to_str().expect("UTF-8");
        let answer = weir(&["fences", "--format", "json", object]).json();
        let fence = &answer["fences"][0];
        assert_eq!((&fence["line"], &fence["exchanges"][0]), (&load.into(), &store.into()), "{level}: {answer}");
        assert_eq!(fence["reason"]["load"]["line"], load, "{level}: {answer}");
        let run = weir(&["check", object]).stdout;
        let is_named = |store: u64| run.contains(&format!("peterson.rs:{store}:"));
        assert!((is_named(first) || is_named(store)) && !run.contains("/rustc/"), "{level}: {run}");
    }
}

/// Builds an example as a library of one file.
fn build_rust(rustc: &std::ffi::OsStr, source: &Path, level: &str, folder: &Path) -> PathBuf {
    let object = folder.join(source.file_stem().expect("a name")).with_extension("o");
    let output = Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "obj", "-g", "-C", "panic=abort"])
        .args(["-C", if level == "-O0" { "opt-level=0" } else { "opt-level=3" }])
        .arg(source)
        .arg("-o")
        .arg(&object)
        .output()
        .expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::copy(source.with_extension("weir.toml"), object.with_extension("weir.toml")).expect("a copy");
    object
}

#[test]
fn options_of_compiled_code_are_for_compiled_code() {
    let output = weir(&["robust", "--thread", "f()", "examples/litmus/sb.weir"]);
    assert_eq!(output.status, Some(2));
    assert!(output.stderr.contains("`--thread` cannot be used: this is not compiled code"), "{}", output.stderr);
}

/// What fails is no assertion of theirs, and what they claim stands on no line of theirs.
#[test]
fn faults_of_compiled_code_are_named() {
    if !has_gcc() {
        return;
    }
    let folder = scratch("compiled-faults");
    let source = "#include <stdatomic.h>\n#include <stdlib.h>\n#include <assert.h>\n\
        _Atomic(int *) where; void (*function)(void); atomic_int number, divisor;\n\
        void store(void) { *atomic_load(&where) = 1; }\n\
        void call(void) { number = 1; function(); }\n\
        void divide(void) { number = 7 / atomic_load(&divisor); }\n\
        void twice(void) { void *block = malloc(8); where = block; free(block); free((void *)where); }\n\
        void own(void) { assert(number == 2); }\n";
    std::fs::write(folder.join("f.c"), source).expect("a file");
    let object = folder.join("f.o");
    let output = Command::new("gcc").args(["-g", "-O1", "-c", "f.c"]).current_dir(&folder).output().expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let object = object.to_str().expect("text");
    for (thread, headline) in [
        ("store()", "invalid memory access: *atomic_load(&where) = 1 in store ("),
        ("call()", "call of an invalid pointer: function() in call ("),
        ("divide()", "division by zero or overflow: number = 7 / atomic_load(&divisor) in divide ("),
        ("twice()", "invalid `free`: free((void *)where) in twice ("),
        ("own()", "TSO: assert(number == 2) in own ("),
    ] {
        let output = weir(&["check", object, "--thread", thread]);
        assert!(output.stdout.contains(headline), "{thread}: {}{}", output.stdout, output.stderr);
    }
    let output = weir(&["check", object, "--thread", "divide()", "--claim", "always divisor == 0"]);
    assert!(output.stdout.contains("always divisor == 0      -"), "{}", output.stdout);
}

//! Programs after a pass, searched by other tools: `spin` and `gcc`, where they are installed.

use std::path::Path;
use std::process::Command;

use crate::support::{scratch, weir};

/// Whether the tools are there; says so if not.
#[allow(clippy::print_stdout, reason = "whoever runs the tests should know")]
fn has(tools: &[(&str, &str)]) -> bool {
    let is_there = |(tool, flag): &(&str, &str)| {
        let found = Command::new(tool).arg(flag).output().is_ok_and(|output| output.status.success());
        if !found {
            println!("{tool} is not installed: it was not asked");
        }
        found
    };
    tools.iter().all(is_there)
}

fn exported(file: &str, passes: &[&str], to: &[&str]) -> String {
    let passes = passes.iter().flat_map(|pass| ["--pass", pass]);
    let arguments: Vec<&str> = ["translate", file].into_iter().chain(passes).chain(to.iter().copied()).collect();
    let ran = weir(&arguments);
    assert_eq!(ran.status, Some(0), "{arguments:?}: {}", ran.stderr);
    ran.stdout
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).current_dir(folder).args(arguments).output().expect("it starts");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether SPIN finds a violation.
fn spin_violates(name: &str, model: &str) -> bool {
    let folder = scratch(&format!("spin-{name}"));
    std::fs::write(folder.join("model.pml"), model).expect("a file");
    run(&folder, "spin", &["-o1", "-o2", "-o3", "-a", "model.pml"]);
    let said = run(&folder, "gcc", &["-O0", "-w", "-DSAFETY", "-DVECTORSZ=4096", "-o", "pan", "pan.c"]);
    assert!(said.is_empty(), "{name}: {said}");
    let pan = folder.join("pan");
    let said = run(&folder, pan.to_str().expect("UTF-8"), &["-m1000000", "-w22"]);
    assert!(!said.contains("max search depth") && !said.contains("OUTSIDE"), "{name}: {said}");
    assert!(said.contains("errors: 0") || said.contains("assertion violated"), "{name}: {said}");
    said.contains("assertion violated")
}

/// Table 1 of the paper, by SPIN: mutexes without fences are unsafe within small bounds, with fences they are not. With
/// `WEIR_TABLE=1`, all of them with fences too, which takes minutes.
#[test]
fn spin_agrees_about_the_mutexes_of_the_paper() {
    if !has(&[("spin", "-V"), ("gcc", "--version")]) {
        return;
    }
    let is_long = std::env::var_os("WEIR_TABLE").is_some();
    let fenced: &[&str] = if is_long { &["dekker", "lamport", "peterson", "szymanski"] } else { &["peterson"] };
    for name in ["dekker", "lamport", "peterson", "szymanski"] {
        let model = exported(&format!("examples/mutex/{name}.weir"), &["age=1"], &["--to", "promela"]);
        assert!(spin_violates(name, &model), "{name}");
    }
    for name in fenced {
        let model = exported(&format!("examples/mutex/{name}-fenced.weir"), &["age=1"], &["--to", "promela"]);
        assert!(!spin_violates(&format!("{name}-fenced"), &model), "{name}-fenced");
    }
}

/// Recursion and `spawn`: stores that wait, and threads that are started.
#[test]
fn spin_agrees_about_recursion_and_spawn() {
    if !has(&[("spin", "-V"), ("gcc", "--version")]) {
        return;
    }
    for (file, passes, violated) in [
        ("spawn/publish", &["age=1", "spawn=1"][..], true),
        ("spawn/publish", &["spawn=1"], false),
        ("spawn/publish-fenced", &["age=1", "spawn=1"], false),
        ("spawn/servers", &["rounds=2", "spawn=2"], true),
        ("recursion/flags", &["unroll=2", "age=1"], true),
        ("recursion/flags", &["unroll=2"], false),
    ] {
        // The sections of the translated program are not locks of the original.
        let model = exported(&format!("examples/dynamic/{file}.weir"), passes, &["--to", "promela"]);
        let name = format!("{}-{}", file.replace('/', "-"), passes.join("-").replace('=', ""));
        assert_eq!(spin_violates(&name, &model), violated, "{name}");
    }
}

#[test]
fn translated_programs_compile_as_c_without_warnings() {
    if !has(&[("gcc", "--version")]) {
        return;
    }
    for (file, passes) in [("mutex/szymanski", &["age=1"][..]), ("dynamic/recursion/flags", &["unroll=2", "rounds=2"])]
    {
        let text = exported(&format!("examples/{file}.weir"), passes, &["--to", "c", "--for", "cbmc"]);
        let folder = scratch(&format!("c-{}", file.replace('/', "-")));
        std::fs::write(folder.join("it.c"), text).expect("a file");
        let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread", "-DSIMULATE", "-c", "it.c"];
        let said = run(&folder, "gcc", &flags);
        assert!(said.is_empty(), "{file}: {said}");
    }
}

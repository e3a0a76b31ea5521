//! Help, manual pages and completions.

use crate::support::{program, sample, scratch, weir};

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let fenced = sample("fenced");
    assert!(!weir(&["reach", &fenced]).stdout.contains('\u{1b}'));
    assert!(!weir(&["reach", "--color", "never", &fenced]).stdout.contains('\u{1b}'));
    assert!(weir(&["reach", "--color", "always", &fenced]).stdout.contains('\u{1b}'));
    assert!(weir(&["--color", "always", "reach", &sample("bad/names")]).stderr.contains('\u{1b}'));
    let output = program().args(["reach", "--color", "always", &fenced]).env("NO_COLOR", "1").output();
    let output = output.expect("the program runs");
    assert!(output.stdout.contains(&0x1b), "what the command line says counts more than the environment");
}

#[test]
fn quiet_is_one_line_and_verbose_has_statistics() {
    let peterson = sample("peterson");
    let quiet = weir(&["reach", "-q", &peterson]);
    assert_eq!((quiet.stdout.lines().count(), quiet.stderr.as_str()), (1, ""));
    let verbose = weir(&["reach", "-v", &peterson]).stdout;
    for row in ["states", "transitions", "depth", "memory", "time"] {
        assert!(verbose.contains(&format!("\n  {row} ")), "{verbose}");
    }
    assert!(verbose.starts_with(&quiet.stdout));
}

#[test]
fn help_and_version_exit_with_zero() {
    for arguments in
        [&["--help"][..], &["-h"], &["--version"], &["help", "reach"], &["reach", "--help"], &["fmt", "-h"]]
    {
        let ran = weir(arguments);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(!ran.stdout.is_empty());
    }
    assert_eq!(weir(&["--version"]).stdout, format!("weir {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_offers_only_what_there_is() {
    let commands = ["--help", "reach", "robust", "fences", "prob", "litmus", "cover", "translate", "replay", "fmt"];
    let all = commands.map(|command| match command {
        "--help" => weir(&["--help"]).stdout,
        command => weir(&[command, "--help"]).stdout,
    });
    let all = all.concat();
    for absent in ["sarif", "html", "schema"] {
        assert!(!all.contains(absent), "help speaks of {absent}");
    }
    for present in ["4GiB", "Examples:", "Exit status", "--keep-dead-registers", "-D <NAME=VALUE>"] {
        assert!(all.contains(present), "help does not speak of {present}");
    }
}

#[test]
fn completions_are_there_for_common_shells() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = weir(&["completions", shell]);
        assert_eq!(ran.status, Some(0));
        assert!(ran.stdout.contains("keep-dead-registers"), "{shell}");
    }
}

#[test]
fn manual_pages_are_printed_or_written() {
    let page = weir(&["man"]);
    assert_eq!(page.status, Some(0));
    assert!(page.stdout.contains(".TH weir 1") && page.stdout.contains("weir\\-reach"), "{}", page.stdout);
    let directory = scratch("man").join("man1");
    let ran = weir(&["man", directory.to_str().expect("the path is UTF-8")]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let mut names: Vec<String> = std::fs::read_dir(&directory)
        .expect("the directory was made")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let expected = [
        "check",
        "completions",
        "cover",
        "fences",
        "fmt",
        "limits",
        "litmus",
        "man",
        "prob",
        "reach",
        "replay",
        "robust",
        "translate",
    ]
    .map(|name| format!("weir-{name}.1"));
    assert_eq!(names, [&expected[..], &["weir.1".to_owned()]].concat());
}

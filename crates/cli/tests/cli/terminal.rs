//! What a terminal of 80 columns shows: no line is longer, so that the terminal breaks none in the middle of a word.

#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::support::{root, scratch, write};

const COLUMNS: usize = 80;

/// What the program prints to a terminal, line by line and without colours; nothing where there is no `script` to make
/// one.
fn on_terminal(arguments: &[&str]) -> Option<Vec<String>> {
    let weir = env!("CARGO_BIN_EXE_weir");
    let line = format!("stty cols {COLUMNS} rows 50; exec {weir} {}", arguments.join(" "));
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(root()).stdin(Stdio::null()).env_remove("COLUMNS");
    let Ok(output) = command.env("TERM", "xterm").output() else {
        let _ =
            std::io::Write::write_all(&mut std::io::stderr(), b"skipped: there is no `script` to make a terminal\n");
        return None;
    };
    let text = plain(&String::from_utf8_lossy(&output.stdout));
    // A line that is drawn again and again, as progress is, counts as it was drawn last.
    Some(
        text.replace("\r\n", "\n")
            .lines()
            .map(|line| line.rsplit('\r').next().unwrap_or_default().to_owned())
            .collect(),
    )
}

/// Without escape sequences.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        plain + part.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).get(1..).unwrap_or("")
    })
}

/// Lines that are longer although they could have been broken: at the last space, the rest would still have fitted.
fn too_long(lines: &[String]) -> Vec<&String> {
    let could_be_broken = |line: &&String| line.trim().contains(' ');
    lines.iter().filter(|line| line.chars().count() > COLUMNS).filter(could_be_broken).collect()
}

fn check(arguments: &[&str], expected: &str) {
    let Some(lines) = on_terminal(arguments) else { return };
    let text = lines.join("\n");
    assert_eq!(too_long(&lines), Vec::<&String>::new(), "{arguments:?}\n{text}");
    assert!(text.contains(expected), "{arguments:?}\n{text}");
}

#[test]
fn answers_fit() {
    for (command, file, expected) in [
        ("reach", "examples/mutex/peterson.weir", "thread    step"),
        ("check", "examples/mutex/peterson.weir", "unsafe under TSO"),
        ("check", "examples/structures/parker.weir", "sleeping == 1"),
        ("check", "examples/structures/rcu.weir", "(at a failed assertion)"),
        ("check", "examples/structures/event-count.weir", "Notifier"),
        ("check", "examples/papers/endless-stores.weir", "holds (vacuous)"),
        ("check", "tests/cli/programs/endless.weir", "under TSO"),
        ("robust", "examples/structures/hazard-pointers.weir", "not robust"),
        ("robust", "examples/structures/parker-fenced.weir", "ruled out by"),
        ("robust", "examples/litmus/sb.weir", "buffer P0    buffer P1    memory"),
        ("fences", "examples/mutex/peterson.weir", "2 fences make"),
        ("prob", "examples/litmus/sb.weir", "probability"),
        ("litmus", "tests/litmus/sb.litmus", "Sometimes"),
        ("limits", "", "beyond that"),
    ] {
        let limits = if matches!(command, "limits" | "litmus" | "prob") { "" } else { "--states=20000" };
        check(&[command, limits, file], expected);
    }
}

#[test]
fn wide_programs_fit() {
    let source = "shared a_cell_with_a_rather_long_name_indeed[8], another_cell_with_quite_a_long_name;
thread A_thread_with_a_long_name(i)[8] {
    let the_value_that_was_seen;
    a_cell_with_a_rather_long_name_indeed[i] = 1;
    the_value_that_was_seen = a_cell_with_a_rather_long_name_indeed[(i + 1) % 8];
    if the_value_that_was_seen == 0 && another_cell_with_quite_a_long_name == 0 {
    a_critical_section_with_a_long_name:
        skip;
    }
}
forbid count(A_thread_with_a_long_name at a_critical_section_with_a_long_name) >= 3 && the_end == 0;
shared the_end;
";
    let file = write(&scratch("terminal"), "wide.weir", source);
    check(&["reach", "--search=dfs", &file], "(at a_critical_section_with_a_long_name)");
    let file = write(&scratch("terminal-errors"), "wrong.weir", source.replace("the_end ==", "the_ned =="));
    check(&["check", &file], "the_ned");
}

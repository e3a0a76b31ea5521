//! Ctrl-C and other signals end in a partial result, and so does a lack of memory.

#![cfg(unix)]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{program, sample};

/// The program as from a terminal: where the tests run in the background, signals may be ignored, and would stay so.
fn listening() -> Command {
    let default = "--default-signal=INT,TERM,HUP";
    let has_env = Command::new("env").args([default, "true"]).status().is_ok_and(|status| status.success());
    if !has_env {
        return program();
    }
    let mut command = Command::new("env");
    command.args([default, env!("CARGO_BIN_EXE_weir")]).current_dir(crate::support::root());
    command
}

fn endless() -> Child {
    let mut command = listening();
    command.args(["reach", "--format", "json", &sample("endless")]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

fn interrupt(child: &Child) {
    send("-INT", child);
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "the signal is sent");
}

fn is_over(child: &mut Child) -> bool {
    child.try_wait().expect("the child can be asked").is_some()
}

/// The program listens for signals before it says so in any way, so wait until it does, where the system can tell, and
/// then until it is searching.
fn wait_until_searching(child: &Child) {
    let status = || std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let catches = || {
        let status = status();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> 14 & 1 == 1)
    };
    let begun = Instant::now();
    while !catches() && begun.elapsed() < Duration::from_secs(20) && !status().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(1_000));
}

#[test]
fn the_first_ctrl_c_gives_a_partial_result() {
    let mut child = endless();
    wait_until_searching(&child);
    assert!(!is_over(&mut child));
    interrupt(&child);
    let asked = Instant::now();
    let output = child.wait_with_output().expect("the program ends");
    assert!(asked.elapsed() < Duration::from_secs(20), "took {:?}", asked.elapsed());
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
    assert_eq!(answer["verdict"], "unknown");
    assert_eq!(answer["limit"], "interrupted");
    assert!(answer["states"].as_u64().is_some_and(|states| states > 0), "{answer}");
}

#[test]
fn other_signals_do_the_same() {
    let children: Vec<(&str, Child)> = ["-TERM", "-HUP"].map(|signal| (signal, endless())).into();
    for (signal, child) in children {
        wait_until_searching(&child);
        send(signal, &child);
        // As `timeout` does it.
        send(signal, &child);
        let output = child.wait_with_output().expect("the program ends");
        assert_eq!(output.status.code(), Some(3), "{signal}: {output:?}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
        assert_eq!((&answer["verdict"], &answer["limit"]), (&"unknown".into(), &"interrupted".into()), "{signal}");
    }
}

/// Runs the program by way of a shell that does this first.
fn shell(first: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{first}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_weir")]).args(arguments);
    command.current_dir(crate::support::root()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the shell starts")
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    // As `nohup` does it. What comes after must not be ignored, whoever runs the tests.
    let mut child = shell(
        "trap '' HUP; set -- env --default-signal=INT \"$@\"",
        &["reach", "--format", "json", &sample("endless")],
    );
    wait_until_searching(&child);
    send("-HUP", &child);
    std::thread::sleep(Duration::from_millis(300));
    assert!(!is_over(&mut child));
    interrupt(&child);
    assert_eq!(child.wait_with_output().expect("the program ends").status.code(), Some(3));
}

#[test]
fn out_of_memory_is_an_answer() {
    let run = |memory: &[&str]| {
        let endless = sample("endless");
        let arguments = [&["reach", "--jobs", "2", "--format", "json"], memory, &[&endless]].concat();
        let output = shell("ulimit -v 80000", &arguments).wait_with_output().expect("the program ends");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("stdout is JSON")
    };
    let answer = run(&["--memory", "100GB"]);
    assert_eq!(answer["verdict"], "unknown");
    assert_eq!(answer["reason"], "out of memory: the system refused an allocation");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut command = program();
    command.args(["reach", &sample("peterson")]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("stderr is piped").read_to_string(&mut said).expect("stderr is UTF-8");
    let status = child.wait().expect("the program ends");
    assert_eq!(status.code(), Some(1), "the verdict still counts: {said}");
    assert!(!said.contains("error"), "{said}");
}

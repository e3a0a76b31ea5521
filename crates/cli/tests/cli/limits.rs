//! Limits are honoured, and coverage is reported.

use std::time::Duration;

use crate::support::{Ran, sample, scratch, weir};

#[track_caller]
fn unknown(ran: &Ran, reason: &str, help: &str) {
    ran.assert_no_bug();
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stdout.starts_with(&format!("unknown under TSO: {reason}")), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nexplored ") && ran.stdout.contains(help), "{}", ran.stdout);
}

#[test]
fn a_limit_on_states_ends_in_unknown() {
    let ran = weir(&["reach", "--states", "10", &sample("endless")]);
    unknown(&ran, "the limit of 10 states was reached", "raise the limit with `--states`");
    let json = weir(&["reach", "--states", "10", "--format", "json", &sample("endless")]).json();
    assert_eq!(json["verdict"], "unknown");
    assert_eq!(json["limit"], "states");
    assert!(json["states"].as_u64().is_some_and(|states| states <= 10), "{json}");
}

#[test]
fn a_limit_on_time_ends_in_unknown_soon_after() {
    let ran = weir(&["reach", "--timeout", "1ms", &sample("endless")]);
    unknown(&ran, "the time limit of 1 ms was reached", "`--timeout`");
    let ran = weir(&["reach", "--timeout", "1s", &sample("endless")]);
    unknown(&ran, "the time limit of 1.0 s was reached", "`--timeout`");
    assert!((Duration::from_millis(900)..Duration::from_secs(20)).contains(&ran.took), "took {:?}", ran.took);
}

#[test]
fn a_limit_on_memory_ends_in_unknown_and_is_not_overstepped() {
    let ran = weir(&["reach", "--memory", "1MiB", &sample("endless")]);
    unknown(&ran, "the memory limit of 1 MiB was reached", "`--memory`");
    let json = weir(&["reach", "--memory", "100MiB", "--format", "json", &sample("endless")]).json();
    assert_eq!(json["limit"], "memory");
    let peak = json["statistics"]["peak_memory_bytes"].as_u64();
    assert!(peak.is_none_or(|peak| peak <= 115 << 20), "{peak:?} bytes");
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_jobs() {
    let answer = |jobs| weir(&["reach", "--jobs", jobs, &sample("peterson")]).stdout;
    let one = answer("1");
    assert!(one.starts_with("reachable under TSO"));
    assert_eq!(one, answer("2"));
    assert_eq!(one, answer("7"));
}

#[test]
fn of_several_files_the_gravest_status_counts() {
    let (holds, violated, endless) = (sample("fenced"), sample("peterson"), sample("endless"));
    let status = |files: &[&str]| weir(&[&["reach", "-q", "--states", "1000"], files].concat()).status;
    assert_eq!(status(&[&holds]), Some(0));
    assert_eq!(status(&[&holds, &endless]), Some(3));
    assert_eq!(status(&[&violated, &endless, &holds]), Some(1));
    assert_eq!(status(&[&violated, "no-such-file.weir", &endless]), Some(2));
}

/// A pipe that nobody writes to: reading it never ends by itself.
#[cfg(unix)]
fn silent_pipe(folder: &str, name: &str) -> String {
    let path = scratch(folder).join(name);
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    path.display().to_string()
}

#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_read_in_time_does_not_keep_the_others_from_their_answer() {
    let pipe = silent_pipe("silent", "silent.weir");
    let fenced = sample("fenced");
    let ran = weir(&["reach", "-q", "--timeout", "300ms", &pipe, &fenced]);
    assert_eq!(ran.status, Some(3), "{}", ran.stdout);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.stdout);
    assert!(
        lines[0].starts_with("unknown: the time limit of 300 ms was reached (") && lines[0].contains("silent.weir")
    );
    assert!(lines[1].starts_with("unreachable"), "{}", ran.stdout);
    let answers = crate::json::answers(&weir(&["reach", "--format", "json", "--timeout", "300ms", &pipe, &fenced]));
    assert_eq!((&answers[0]["verdict"], &answers[1]["verdict"]), (&"unknown".into(), &"unreachable".into()));
}

/// An answer that was given stands, although a file beside it could not be written in time.
#[test]
#[cfg(unix)]
fn a_limit_after_the_answer_does_not_take_it_back() {
    let pipe = silent_pipe("unread", "unread.json");
    let ran = weir(&["reach", "-q", "--format", "json", "--timeout", "1s", "--witness", &pipe, &sample("peterson")]);
    let answers = crate::json::answers(&ran);
    assert_eq!((ran.status, answers.len()), (Some(1), 1), "{}", ran.stdout);
    assert_eq!(answers[0]["verdict"], "reachable");
    assert!(ran.stderr.contains("before everything was written"), "{}", ran.stderr);
}

#[test]
#[cfg(unix)]
fn a_litmus_test_that_cannot_be_read_in_time_does_not_keep_the_others_from_their_answer() {
    let pipe = silent_pipe("silent-litmus", "silent.litmus");
    let folder = scratch("beside-silent");
    let text = "X86 sb\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
                exists (0:EAX=0 /\\ 1:EAX=0)\n";
    let test = crate::support::write(&folder, "sb.litmus", text);
    for jobs in ["1", "2"] {
        let ran = weir(&["litmus", "--format", "json", "--jobs", jobs, "--timeout", "300ms", &pipe, &test]);
        let answers = crate::json::answers(&ran);
        assert_eq!((ran.status, answers.len()), (Some(3), 2), "{}", ran.stdout);
        assert_eq!((&answers[0]["verdict"], &answers[1]["verdict"]), (&"unknown".into(), &"ok".into()));
        assert!(ran.took < Duration::from_secs(10), "took {:?}", ran.took);
    }
}

/// Commands that do not search have limits too.
#[test]
#[cfg(unix)]
fn every_command_that_reads_a_file_ends_in_time() {
    let pipe = silent_pipe("silent-others", "silent.weir");
    let sample = sample("fenced");
    for args in [&["translate", "--to", "weir", &pipe][..], &["fmt", "--check", &pipe], &["replay", &sample, &pipe]] {
        let ran = weir(&[args, &["--timeout", "100ms"]].concat());
        assert_eq!(ran.status, Some(3), "{args:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.starts_with("unknown: the time limit of 100 ms was reached"), "{args:?}: {}", ran.stdout);
    }
}

//! Saved runs, and what `weir replay` says of them once they were changed.

use serde_json::Value;

use crate::support::{Ran, scratch, weir};

/// The run that a command saves for a program, and where it is; `test` names the test.
#[track_caller]
pub(crate) fn saved(command: &str, program: &str, test: &str) -> (String, Value) {
    let path = scratch(test).join("run.json");
    let path = path.to_str().expect("the path is UTF-8").to_owned();
    let ran = weir(&[command, "-q", "--witness", &path, program]);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let text = std::fs::read_to_string(&path).expect("the witness was saved");
    (path, serde_json::from_str(&text).expect("the witness is JSON"))
}

/// Replays a saved run after something in it was changed.
pub(crate) fn replay_changed(command: &str, program: &str, test: &str, change: impl FnOnce(&mut Value)) -> Ran {
    let (path, mut witness) = saved(command, program, test);
    change(&mut witness);
    std::fs::write(&path, witness.to_string()).expect("it can be written");
    replayed(command, program, &path)
}

/// What `weir replay` says of a run that a command has saved.
pub(crate) fn replayed(command: &str, program: &str, path: &str) -> Ran {
    let mut arguments = vec!["replay", program, path];
    if command == "robust" {
        arguments.extend(["--property", "robust"]);
    }
    let ran = weir(&arguments);
    ran.assert_no_bug();
    ran
}

/// The program of a file, as evidence describes it: for evidence that was made for another one.
pub(crate) fn program_record(file: &str) -> Value {
    let folder = scratch(&format!("record-{}", file.replace(['/', '.'], "-")));
    let evidence = folder.join("evidence");
    let path = evidence.to_str().expect("the path is UTF-8");
    let ran = weir(&["reach", "-q", "--states", "100000", "--witness", path, file]);
    if ran.status == Some(0) {
        weir(&["reach", "-q", "--states", "100000", "--certificate", path, file]);
    }
    let bytes = std::fs::read(&evidence).expect("it was saved");
    let line = bytes.split(|&byte| byte == b'\n').next().expect("a line");
    let whole: Value = serde_json::from_slice(if line == b"{" { &bytes } else { line }).expect("it is JSON");
    whole["metadata"]["program"].clone()
}

/// The run was not accepted, for this reason.
#[track_caller]
pub(crate) fn is_no(ran: &Ran, reason: &str) {
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.starts_with("no: ") && ran.stdout.contains(reason), "expected {reason:?} in {}", ran.stdout);
}

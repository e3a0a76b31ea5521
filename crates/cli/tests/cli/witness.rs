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
    let ran = weir(&["replay", program, &path]);
    ran.assert_no_bug();
    ran
}

/// The run was not accepted, for this reason.
#[track_caller]
pub(crate) fn is_no(ran: &Ran, reason: &str) {
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.starts_with("no: ") && ran.stdout.contains(reason), "expected {reason:?} in {}", ran.stdout);
}

//! `weir robust`: verdicts, exit statuses, and what can be saved.

use serde_json::{Value, json};

use crate::support::{Ran, sample, scratch, weir, weir_with_input};
use crate::witness;

const STORE_BUFFERING: &str = "examples/litmus/sb.weir";

/// A saved violation of robustness, and where it is.
fn saved(test: &str) -> (String, Value) {
    witness::saved("robust", STORE_BUFFERING, test)
}

/// Replays a saved violation after something in it was changed.
fn replay_changed(test: &str, change: impl FnOnce(&mut Value)) -> Ran {
    witness::replay_changed("robust", STORE_BUFFERING, test, change)
}

#[track_caller]
fn is_no(ran: &Ran, reason: &str) {
    witness::is_no(ran, reason);
    assert!(ran.stdout.contains("`weir robust` finds a new run"), "{}", ran.stdout);
}

#[test]
fn the_exit_status_is_that_of_the_gravest_file() {
    let (robust, not_robust) = (sample("fenced"), sample("peterson"));
    let status = |files: &[&str]| weir(&[&["robust", "-q", "--states", "1000"], files].concat()).status;
    assert_eq!(status(&[&robust]), Some(0));
    assert_eq!(status(&[&not_robust, &robust]), Some(1));
    assert_eq!(status(&[&robust, &sample("endless")]), Some(3));
    assert_eq!(status(&[&sample("endless"), &not_robust]), Some(1));
    assert_eq!(status(&[&not_robust, "nowhere.weir"]), Some(2));
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_workers() {
    for file in [sample("peterson"), "examples/structures/treiber.weir".to_owned()] {
        let answers = ["1", "2", "3"].map(|jobs| weir(&["robust", "--jobs", jobs, &file]).stdout);
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[0], answers[2]);
    }
}

#[test]
fn all_methods_give_the_same_answer() {
    for method in ["attacks", "instrumented", "single"] {
        let answer = |file: &str| weir(&["robust", "--format", "json", "--method", method, file]).json();
        let (robust, not_robust) = (answer("examples/papers/triangular-race.weir"), answer(STORE_BUFFERING));
        assert_eq!((&robust["verdict"], &robust["method"]), (&"robust".into(), &method.into()));
        assert_eq!(robust["attacks"], json!({"total": 1, "by_control_flow": 0, "infeasible": 1, "feasible": 0}));
        assert_eq!((&not_robust["verdict"], &not_robust["method"]), (&"not-robust".into(), &method.into()));
        assert!(not_robust["delay"]["store"]["line"].is_u64(), "{not_robust:#}");
    }
}

#[test]
fn a_violation_names_the_store_and_the_load() {
    let answer = weir(&["robust", "--format", "json", STORE_BUFFERING]).json();
    assert_eq!((&answer["verdict"], &answer["method"]), (&"not-robust".into(), &"attacks".into()));
    assert_eq!(answer["attacks"], json!({"total": 2, "by_control_flow": 0, "infeasible": 0, "feasible": 1}));
    let (store, load) = (&answer["delay"]["store"], &answer["delay"]["load"]);
    assert_eq!(store["thread"], load["thread"]);
    assert!(store["line"].as_u64() < load["line"].as_u64(), "{answer:#}");
    let cycle = answer["witness"]["cycle"].as_array().expect("a cycle");
    assert!(cycle.iter().any(|event| event["line"] == store["line"]), "{cycle:?}");
    assert!(cycle.iter().any(|event| event["line"] == load["line"]), "{cycle:?}");
}

#[test]
fn a_saved_violation_replays() {
    let (path, witness) = saved("robust-replay");
    let metadata = &witness["metadata"];
    assert_eq!((&metadata["specification"], &metadata["model"]), (&json!(["not-robust"]), &"tso".into()));
    let ran = weir(&["replay", "--property", "robust", STORE_BUFFERING, &path]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("ok: a run of 6 steps under TSO that sequential consistency forbids"), "{ran:?}");
    assert!(ran.stdout.contains("cycle: "), "{ran:?}");
}

#[test]
fn a_violation_that_was_tampered_with_is_refused() {
    let is_flush = |step: &Value| step["action"] == "flush";
    let ran = replay_changed("robust-undrained", |witness| {
        let steps = witness["steps"].as_array_mut().expect("steps");
        let last = steps.iter().rposition(is_flush).expect("a flush");
        steps.remove(last);
    });
    is_no(&ran, "the last state is not drained");
    let ran = replay_changed("robust-early-flush", |witness| {
        let steps = witness["steps"].as_array_mut().expect("steps");
        let last = steps.iter().rposition(is_flush).expect("a flush");
        let flush = steps.remove(last);
        let store = steps.iter().position(|step| step["cell"] == flush["cell"]).expect("its store");
        steps.insert(store + 1, flush);
        steps.iter_mut().for_each(|step| {
            step.as_object_mut()
                .expect("an object")
                .retain(|key, _| ["thread", "action", "edge", "choice"].contains(&key.as_str()))
        });
    });
    is_no(&ran, "");
    let ran = replay_changed("robust-empty", |witness| {
        witness["steps"] = json!([]);
        witness["cycle"] = json!([]);
    });
    is_no(&ran, "");
    let ran = replay_changed("robust-value", |witness| {
        let steps = witness["steps"].as_array_mut().expect("steps");
        let load = steps.iter_mut().find(|step| step["action"] == "load").expect("a load");
        load["value"] = json!(1);
        load.as_object_mut().expect("an object").remove("text");
    });
    is_no(&ran, "the file says the value is 1, but it is 0");
    let ran = replay_changed("robust-model", |witness| witness["metadata"]["model"] = json!("sc"));
    is_no(&ran, "the file is about SC, not TSO");
}

#[test]
fn the_picture_is_written_where_there_is_a_cycle() {
    let path = scratch("robust-svg").join("cycle.svg");
    let name = path.to_str().expect("the path is UTF-8");
    assert_eq!(weir(&["robust", "-q", "--svg", name, &sample("fenced")]).status, Some(0));
    assert!(!path.exists(), "there is nothing to draw");
    assert_eq!(weir(&["robust", "-q", "--svg", name, STORE_BUFFERING]).status, Some(1));
    let picture = std::fs::read_to_string(&path).expect("the picture was written");
    assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("stays in the buffer until step 6"), "{picture}");
    let ran = weir(&["robust", "-q", "--svg", "/no/such/folder/cycle.svg", STORE_BUFFERING]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("cannot write the image /no/such/folder/cycle.svg"), "{ran:?}");
}

#[test]
fn constants_can_be_set_and_properties_play_no_part() {
    let program = b"const K = 0; shared x, y; \
        thread P { x = 1; if K == 1 { fence; } let r = y; assert r == 7; } thread Q { y = 1; fence; let _s = x; }";
    assert_eq!(weir_with_input(&["robust", "-q", "-"], program).status, Some(1));
    assert_eq!(weir_with_input(&["robust", "-q", "-D", "K=1", "-"], program).status, Some(0));
}

//! `weir fences`: what is found is enough, in every language, and says what it costs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{root, sample, scratch, weir, weir_with_input, write};

const STORE_BUFFERING: &str = "examples/litmus/sb.weir";

fn files(directory: &str, extensions: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().join(directory)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            let is_wanted =
                |path: &Path| path.extension().is_some_and(|end| extensions.iter().any(|wanted| end == *wanted));
            if path.is_dir() {
                folders.push(path);
            } else if is_wanted(&path) {
                found.push(path.to_str().expect("the path is UTF-8").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The answer with the program, which was found to be enough and is.
#[track_caller]
fn mended(file: &str) -> Value {
    let ran = weir(&["fences", "--format", "json", "--write", "--timeout", "60s", file]);
    ran.assert_no_bug();
    let answer = ran.json();
    assert_eq!((ran.status, &answer["verdict"]), (Some(0), &"fenced".into()), "{file}: {answer:#}");
    assert_eq!((&answer["optimal"], &answer["checked"]), (&true.into(), &true.into()), "{file}");
    let (text, language) = (answer["program"].as_str().expect("a text"), answer["program_language"].as_str());
    let language = language.expect("a language");
    let robust = weir_with_input(&["robust", "-q", "--from", language, "-"], text.as_bytes());
    assert_eq!(robust.status, Some(0), "{file}: {robust:?}\n{text}");
    answer
}

fn fences(answer: &Value) -> usize {
    answer["fences"].as_array().map_or(usize::MAX, Vec::len)
}

#[test]
fn every_example_is_mended() {
    let mut files = files("examples", &["weir"]);
    // Whether a program with recursion or `spawn` is robust is not decided.
    files.retain(|file| !file.contains("/dynamic/"));
    let needed = files.iter().filter(|file| fences(&mended(file)) > 0).count();
    assert!(files.len() > 60 && needed > 20, "{needed} of {} needed fences", files.len());
}

#[test]
fn programs_of_other_languages_are_mended_in_their_language() {
    for (directory, extension, least) in
        [("tests/litmus", "litmus", 3), ("tests/rmm", "rmm", 3), ("tests/trencher", "txt", 2)]
    {
        let answers: Vec<Value> = files(directory, &[extension]).iter().map(|file| mended(file)).collect();
        let own = if extension == "txt" { "trencher" } else { extension };
        let in_own = |answer: &&Value| fences(answer) > 0 && answer["program_language"] == own;
        assert!(answers.iter().filter(in_own).count() >= least, "{directory}");
    }
}

#[test]
fn a_fence_has_thread_label_and_line() {
    let answer = weir(&["fences", "--format", "json", STORE_BUFFERING]).json();
    let places = |answer: &serde_json::Value| -> Vec<serde_json::Value> {
        let mut fences = answer["fences"].as_array().expect("fences").clone();
        for fence in &mut fences {
            let reason = fence.as_object_mut().and_then(|fence| fence.remove("reason")).expect("a reason");
            assert!(reason["store"]["line"].is_u64() && reason["load"]["line"].is_u64(), "{reason:#}");
        }
        fences
    };
    let expected = [json!({"thread": "P0", "line": 13, "column": 5}), json!({"thread": "P1", "line": 18, "column": 5})];
    assert_eq!(places(&answer), expected);
    assert_eq!((&answer["cost"], &answer["aim"]), (&2.into(), &"robust".into()));
    let labelled = weir_with_input(
        &["fences", "--format", "json", "-"],
        b"shared x, y; thread P[2] { x = 1; here: let r = y; y = 1; } thread Q { y = 2; let s = x; }",
    );
    let answer = labelled.json();
    let fence = |thread: &str| json!({"thread": thread, "label": "here", "line": 1, "column": 41});
    let all = places(&answer);
    assert!(all.contains(&fence("P[0]")) && all.contains(&fence("P[1]")), "{answer:#}");
}

#[test]
fn all_sets_are_listed_and_cost_the_same() {
    let answer = weir(&["fences", "--all", "--format", "json", &sample("four-places")]).json();
    let sets = answer["sets"].as_array().expect("sets");
    assert!(sets.len() > 1, "{answer:#}");
    assert!(sets.contains(&answer["fences"]));
    assert!(sets.iter().all(|set| set.as_array().map(Vec::len) == Some(1)), "{answer:#}");
}

#[test]
fn costs_move_fences() {
    let directory = scratch("fence-costs");
    let line = |costs: &str| {
        let costs = write(&directory, "costs", costs);
        let answer = weir(&["fences", "--format", "json", "--cost", &costs, &sample("four-places")]).json();
        (answer["fences"][0]["line"].as_u64(), answer["cost"].as_u64())
    };
    assert_eq!(line("6 5\n7 5\n8 5\n"), (Some(10), Some(1)));
    assert_eq!(line("6 5\n7 3 # less\n8 5\n10 5\n"), (Some(7), Some(3)));
}

#[test]
fn a_fence_outside_a_loop_is_cheaper() {
    let program = b"shared x, y; thread P { x = 1; let i = 0; while i < 2 { let r = y; i = i + 1; } } thread Q { y = 1; fence; let s = x; }";
    let answer = weir_with_input(&["fences", "--format", "json", "--cost", "loops", "-"], program).json();
    assert_eq!(answer["cost"], 1, "{answer:#}");
}

#[test]
fn against_races_it_can_take_more() {
    let file = "examples/papers/triangular-race.weir";
    assert_eq!(fences(&weir(&["fences", "--format", "json", file]).json()), 0);
    let answer = weir(&["fences", "--format", "json", "--write", "--aim", "trf", file]).json();
    assert_eq!((fences(&answer), &answer["checked"]), (1, &true.into()));
    let text = answer["program"].as_str().expect("a text");
    let free = weir_with_input(&["robust", "-q", "--method", "trf", "-"], text.as_bytes());
    assert_eq!(free.status, Some(0), "{free:?}");
}

#[test]
fn statistics_add_up() {
    for file in [STORE_BUFFERING, "examples/mutex/dekker.weir", "tests/litmus/sb.litmus"] {
        let answer = weir(&["fences", "--format", "json", "--stats", file]).json();
        let table = &answer["table"];
        let number = |field: &str| table[field].as_u64().unwrap_or_else(|| panic!("{field} in {table:#}"));
        assert_eq!(number("questions"), number("by_control_flow") + number("by_search") + number("feasible"));
        assert_eq!(number("fences"), fences(&answer) as u64);
        assert_eq!(answer["attacks"]["feasible"], table["feasible"]);
        assert!(number("feasible") > 0 && number("threads") == 2 && number("labels") > 4 && number("instructions") > 3);
        assert!(table["wall_seconds"].is_f64());
    }
}

#[test]
fn a_limit_leaves_it_open() {
    let ran = weir(&["fences", "--states", "1000", &sample("endless")]);
    ran.assert_no_bug();
    assert_eq!(ran.status, Some(3), "{ran:?}");
    let ran = weir(&["fences", "--write", "--states", "1000", &sample("endless")]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(3), ""), "nothing but programs is printed there");
    assert!(ran.stderr.contains("unknown"), "{ran:?}");
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_workers() {
    let cost = |jobs: &str| {
        weir(&["fences", "--format", "json", "--jobs", jobs, "examples/mutex/dekker.weir"]).json()["cost"].clone()
    };
    assert_eq!(cost("1"), cost("3"));
}

/// A program with fences that are needed, and some that are not.
const OVERFENCED: &str = "shared x, y, z;
thread P {
    z = 1;
    fence;
    x = 1;
    fence;
    let _r = y;
}
thread Q(i)[2] {
    xchg(y, 1);
    let _s = x;
    xchg(z, 2);
}
";

#[test]
fn fences_that_are_not_needed_are_found() {
    let answer = weir_with_input(&["fences", "--remove", "--format", "json", "-"], OVERFENCED.as_bytes()).json();
    let list = |name: &str| {
        let all = answer[name].as_array().expect("a list").iter();
        all.map(|fence| (fence["thread"].as_str().expect("a name").to_owned(), fence["line"].as_u64())).collect()
    };
    let named = |all: &[(&str, u64)]| -> Vec<(String, Option<u64>)> {
        all.iter().map(|&(thread, line)| (thread.to_owned(), Some(line))).collect()
    };
    let removed: Vec<_> = list("removed");
    assert_eq!(removed, named(&[("P", 4), ("Q[0]", 12), ("Q[1]", 12)]));
    let kept: Vec<_> = list("fences");
    assert_eq!(kept, named(&[("P", 6), ("Q[0]", 10), ("Q[1]", 10)]));
    assert_eq!(answer["removed"][0]["instead"], "nothing");
    assert_eq!(answer["removed"][1]["instead"], "store");
    assert_eq!((&answer["verdict"], &answer["checked"]), (&"fenced".into(), &true.into()));
}

#[test]
fn the_program_without_them_is_printed() {
    // What cannot be taken out of the text is printed anew.
    let text = b"X86 S\n{ }\n P0         ;\n MOV [x],$1 ;\n MFENCE     ;\n MOV [y],$1 ;\nexists (x=1)\n";
    let ran = weir_with_input(&["fences", "--remove", "--write", "--from", "litmus", "-"], text);
    assert!(!ran.stdout.contains("fence") && ran.stdout.contains("thread P0"), "{}", ran.stdout);
    assert!(ran.stderr.contains("cannot be changed"), "{}", ran.stderr);
    let ran = weir_with_input(&["fences", "--remove", "--write", "-"], OVERFENCED.as_bytes());
    let expected = OVERFENCED.replacen("    fence;\n", "", 1).replace("xchg(z, 2);", "z = 2;");
    assert_eq!((ran.status, &ran.stdout), (Some(0), &expected));
    let again = weir_with_input(&["fences", "--remove", "-"], ran.stdout.as_bytes());
    assert!(again.stdout.starts_with("both fences are needed: "), "{}", again.stdout);
}

#[test]
fn too_few_fences_are_no_answer() {
    let text = OVERFENCED.replace("    x = 1;\n    fence;", "    x = 1;");
    let ran = weir_with_input(&["fences", "--remove", "-"], text.as_bytes());
    assert_eq!(ran.status, Some(1));
    assert!(ran.stdout.starts_with("too few fences: the program is not robust, even with all its fences"));
    assert!(ran.stdout.contains("`weir fences` finds those that are missing"), "{}", ran.stdout);
    let answer = weir_with_input(&["fences", "--remove", "--format", "json", "-"], b"shared x; thread P { x = 1; }");
    assert_eq!((answer.status, answer.json()["removed"].as_array().map(Vec::len)), (Some(0), Some(0)));
    let ran = weir_with_input(&["fences", "--remove", "--states", "2", "-"], OVERFENCED.as_bytes());
    assert_eq!(ran.status, Some(3), "{}", ran.stdout);
}

#[test]
fn every_number_of_threads_keeps_the_same_fences() {
    let text = OVERFENCED.replace("Q(i)[2]", "Q[*]");
    let answer = weir_with_input(&["fences", "--remove", "--format", "json", "-"], text.as_bytes()).json();
    assert_eq!(answer["removed"].as_array().map(Vec::len), Some(2), "{answer}");
    assert_eq!(answer["copies"]["every_number"], true, "{answer}");
}

//! `weir cover` on nets and thread transition systems.

use crate::json::answers;
use crate::support::{root, scratch, weir, weir_with_input, write};
use crate::tampering::{changed_leaf, leaves, removable, removed};

/// The line of a file that starts with `# NAME:`.
fn header(text: &str, name: &str) -> Option<String> {
    let prefix = format!("# {name}: ");
    text.lines().find_map(|line| Some(line.strip_prefix(&prefix)?.to_owned()))
}

#[test]
fn examples_answer_as_their_headers_say() {
    let files = std::fs::read_dir(root().join("examples/nets")).expect("examples");
    let mut count = 0;
    for path in files.map(|entry| entry.expect("an entry").path()) {
        let text = std::fs::read_to_string(&path).expect("a text");
        let expected = header(&text, "expect").unwrap_or_else(|| panic!("{}", path.display()));
        let path = path.to_str().expect("UTF-8");
        let target = header(&text, "target");
        let mut arguments = vec!["cover", "--format", "json", path];
        arguments.extend(target.iter().flat_map(|target| ["--target", target.as_str()]));
        let ran = weir(&arguments);
        let status = if expected == "reachable" { 1 } else { 0 };
        let answers = answers(&ran);
        assert_eq!((ran.status, answers[0]["verdict"].as_str()), (Some(status), Some(expected.as_str())), "{path}");
        count += 1;
    }
    assert!(count >= 10, "{count} examples");
}

#[test]
fn standard_input_and_other_extensions_are_read() {
    let text = b"vars x rules x >= 1 -> x' = x + 1; init x = 1 target x >= 5";
    assert_eq!(weir_with_input(&["cover", "-q", "-"], text).status, Some(1));
    let folder = scratch("cover-names");
    let net = write(&folder, "net.txt", "2 1\n0 0 -> 1 0\n");
    let refused = weir(&["cover", &net]);
    assert!(refused.status == Some(2) && refused.stderr.contains("--from tts"), "{refused:?}");
    assert_eq!(weir(&["cover", "-q", "--from", "tts", "--target", "1|", &net]).status, Some(1));
}

#[test]
fn targets_of_thread_transition_systems_are_given_or_beside_them() {
    let folder = scratch("cover-targets");
    let net = write(&folder, "net.tts", "2 2\n0 0 -> 1 1\n");
    let nothing = weir(&["cover", &net]);
    assert!(nothing.status == Some(2) && nothing.stderr.contains("--target"), "{nothing:?}");
    let of = |target: &str| weir(&["cover", "-q", "--target", target, &net]).status;
    assert_eq!((of("1|1"), of("1|1,1"), of("0|1"), of("1|")), (Some(1), Some(0), Some(0), Some(1)));
    assert_eq!((of("2|0"), of("1|2"), of("1"), of("1|x")), (Some(2), Some(2), Some(2), Some(2)));
    let started = |init: &str| weir(&["cover", "-q", "--init", init, "--target", "1|0,1", &net]).status;
    assert_eq!((started("0|0"), started("0|0,0"), started("0|/0")), (Some(0), Some(1), Some(1)));
    write(&folder, "net.prop", "# two of them\n1|1,1\n");
    assert_eq!(weir(&["cover", "-q", &net]).status, Some(0));
    write(&folder, "net.tts.prop", "1|1\n");
    assert_eq!(weir(&["cover", "-q", &net]).status, Some(1));
}

#[test]
fn limits_end_it_without_an_answer() {
    let net = "vars x rules true -> x' = x + 2; init x = 0 target x = 7";
    let ran = weir_with_input(&["cover", "--format", "json", "--states", "20", "-"], net.as_bytes());
    let answer = ran.json();
    assert_eq!((ran.status, answer["limit"].as_str()), (Some(3), Some("states")), "{answer}");
    let facts = weir_with_input(&["cover", "--engine", "facts", "-"], b"vars x rules init x >= 1 target x >= 5");
    assert!(facts.status == Some(3) && facts.stdout.contains("--engine auto"), "{facts:?}");
}

/// Every example that is unreachable has a proof that is accepted for this net and this question only; changed in any
/// one place, it is accepted only if it is still a proof.
#[test]
fn proofs_are_saved_and_checked() {
    let folder = scratch("cover-certificates");
    let proof = folder.join("proof").to_str().expect("UTF-8").to_owned();
    let files = std::fs::read_dir(root().join("examples/nets")).expect("examples");
    let mut files: Vec<_> = files.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let (mut accepted, mut kinds) = (0, std::collections::BTreeSet::new());
    for path in &files {
        let text = std::fs::read_to_string(path).expect("a text");
        let target = header(&text, "target");
        let path = path.to_str().expect("UTF-8");
        let with = |start: &[&str]| {
            let mut arguments: Vec<String> = start.iter().map(|&text| text.to_owned()).collect();
            arguments.extend(target.iter().flat_map(|target| ["--target".to_owned(), target.clone()]));
            weir(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        for engine in ["auto", "enlarge", "forward"] {
            let _ = std::fs::remove_file(&proof);
            let ran = with(&["cover", "--engine", engine, "--timeout", "5s", "--certificate", &proof, path]);
            if ran.status != Some(0) {
                assert!(!std::path::Path::new(&proof).exists(), "{path} {ran:?}");
                continue;
            }
            let ran = with(&["replay", path, &proof]);
            assert!(ran.status == Some(0) && ran.stdout.starts_with("ok: "), "{path} {ran:?}");
            let saved: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&proof).expect("saved")).expect("JSON");
            kinds.extend(saved["proof"].as_object().expect("a proof").keys().cloned());
            accepted += 1;
        }
    }
    assert!(accepted >= 10 && kinds.len() == 3, "{accepted} {kinds:?}");
}

#[test]
fn forged_proofs_about_nets_are_refused() {
    let folder = scratch("cover-forged");
    let text = "vars free a b rules free >= 1 -> free' = free - 1, a' = a + 1; a >= 1 -> a' = a - 1, b' = b + 1; \
                b >= 1 -> b' = b - 1, free' = free + 1; init free = 1, a = 0, b = 0 target a >= 1, b >= 1";
    let net = write(&folder, "net.spec", text);
    let proof = folder.join("proof").to_str().expect("UTF-8").to_owned();
    let read =
        || -> serde_json::Value { serde_json::from_slice(&std::fs::read(&proof).expect("saved")).expect("JSON") };
    let replayed = |document: &serde_json::Value, net: &str| {
        std::fs::write(&proof, document.to_string()).expect("it can be written");
        weir(&["replay", net, &proof]).status
    };
    for engine in ["auto", "enlarge", "forward"] {
        assert_eq!(
            weir(&["cover", "-q", "--engine", engine, "--certificate", &proof, &net]).status,
            Some(0),
            "{engine}"
        );
        let saved = read();
        assert_eq!(replayed(&saved, &net), Some(0));
        let mut refused = 0;
        for place in removable(&saved) {
            let status = replayed(&removed(&saved, &place), &net);
            // What is never marked, or a fact that excludes nothing, may be left out.
            assert!(status != Some(0) || place.starts_with("/proof/backward"), "{engine} {place}");
            refused += usize::from(status != Some(0));
        }
        for place in leaves(&saved) {
            let status = replayed(&changed_leaf(&saved, &place), &net);
            let is_claim =
                place.starts_with("/proof") || ["/metadata/producer", "/metadata/version"].contains(&&*place);
            assert!(status != Some(0) || is_claim, "{engine} {place}");
            refused += usize::from(status != Some(0));
        }
        assert!(refused >= 10, "{engine}: {refused}");
        for other in [text.replace("free = 1", "free = 2"), text.replace("a >= 1, b >= 1", "a >= 1")] {
            let other = write(&folder, "other.spec", other);
            assert_eq!(replayed(&saved, &other), Some(1), "{engine}");
        }
    }
    // The same text with another question.
    let threads = write(&folder, "threads.tts", "2 2\n0 0 -> 1 1\n1 1 -> 0 0\n");
    let ran = weir(&["cover", "-q", "--target", "1|1,1", "--certificate", &proof, &threads]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(weir(&["replay", "--target", "1|1,1", &threads, &proof]).status, Some(0));
    let other = weir(&["replay", "--target", "1|1", &threads, &proof]);
    assert!(other.status == Some(1) && other.stdout.contains("another target"), "{other:?}");
    let refused = weir(&["cover", "--certificate", &proof, &net, &net]);
    assert!(refused.status == Some(2) && refused.stderr.contains("exactly one FILE"), "{refused:?}");
}

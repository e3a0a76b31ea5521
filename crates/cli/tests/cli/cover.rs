//! `weir cover` on nets and thread transition systems.

use crate::json::answers;
use crate::support::{root, scratch, weir, weir_with_input, write};

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

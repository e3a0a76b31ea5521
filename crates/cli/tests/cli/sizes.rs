//! Programs as large as the documented limits allow, and one larger: the first are answered, with limits on time and
//! memory that hold, the second are refused by name.

use std::time::Duration;

use crate::support::{Ran, weir_with_input};

/// A size limit: its name in `weir limits`, a program of a given size, and what is said beyond the limit.
struct Size {
    name: &'static str,
    text: fn(usize) -> String,
    beyond: &'static str,
}

const SIZES: [Size; 6] = [
    Size { name: "bytes of source", text: bytes, beyond: "maximum size of 32 MiB" },
    Size { name: "bytes of a name", text: name, beyond: "this name is too long" },
    Size { name: "nested blocks and expressions", text: nested, beyond: "nested more than 200" },
    Size { name: "threads", text: threads, beyond: "more than 1024 threads" },
    Size { name: "shared cells", text: cells, beyond: "more than 1048576 shared cells" },
    Size { name: "steps of all threads, with procedures inlined", text: steps, beyond: "more than 1000000 steps" },
];

const PLAIN: &str = "shared x; thread P { x = 1; } forbid x == 7;\n";

fn bytes(size: usize) -> String {
    format!("{PLAIN}//{}", "x".repeat(size - PLAIN.len() - 2))
}

fn name(size: usize) -> String {
    let name = "n".repeat(size);
    format!("shared {name}; thread P {{ {name} = 1; }} forbid {name} == 7;")
}

/// The body of the thread is the first block, and the statement in the middle is the last level.
fn nested(size: usize) -> String {
    let depth = size - 2;
    format!("shared x; thread P {{ {} x = 1; {} }} forbid x == 7;", "if x {".repeat(depth), "}".repeat(depth))
}

fn threads(size: usize) -> String {
    format!("shared x; thread P[{size}] {{ x = 1; }} forbid x == 7;")
}

fn cells(size: usize) -> String {
    format!("shared x[{size}]; thread P {{ x[0] = 1; }} forbid x[0] == 7;")
}

fn steps(size: usize) -> String {
    format!("shared x; thread P {{ {} }} forbid x == 7;", "skip;".repeat(size))
}

fn ask(text: &str, timeout: &str) -> Ran {
    let limits = ["--timeout", timeout, "--memory", "2GB", "--states", "1000"];
    let ran = weir_with_input(&[&["reach", "-q"], &limits[..], &["-"]].concat(), text.as_bytes());
    ran.assert_no_bug();
    assert!(ran.took < Duration::from_secs(30), "it took {:?}", ran.took);
    ran
}

#[test]
fn programs_at_the_documented_limits_are_answered_and_larger_ones_refused() {
    for Size { name, text, beyond } in SIZES {
        let at = ask(&text(limit(name)), "3s");
        assert!(matches!(at.status, Some(0 | 3)), "{name}: {} {}", at.stdout, at.stderr);
        assert!(!at.stdout.contains("error"), "{name}: {}", at.stdout);
        // Reading ends at limits, too, which must not hide the refusal on a busy machine.
        let over = ask(&text(limit(name) + 1), "20s");
        let said = over.stdout.clone() + &over.stderr;
        assert!(matches!(over.status, Some(2 | 3)) && said.contains(beyond), "{name}: {:.2000}", said);
    }
}

/// The value of a limit that is built in.
fn limit(name: &str) -> usize {
    let table = crate::support::weir(&["limits"]).stdout;
    let row = table.lines().find_map(|line| line.trim().strip_suffix(name)).unwrap_or_else(|| panic!("{name}"));
    row.trim().replace(',', "").parse().unwrap_or_else(|_| panic!("{name}: {row}"))
}

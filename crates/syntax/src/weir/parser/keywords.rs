//! Names where a keyword was expected: misspelt keywords, and those of other languages.

use weir_ir::nearest;

use super::super::token::Kind;

/// How to write in Weir what other languages have a keyword for.
const ELSEWHERE: [(&[&str], &str); 9] = [
    (&["foreach"], "`for each other j { … }` is about the other copies of a thread; to count, use a `while` loop"),
    (&["do"], "there is no `do`: use `loop { … if … { break; } }`"),
    (&["switch", "match", "case"], "use `if` and `else`"),
    (&["mfence", "sync", "barrier"], "`fence;` drains the store buffer"),
    (
        &["lfence", "sfence", "pause", "nop"],
        "on x86 this does not drain the store buffer: leave it out, or write `skip;`",
    ),
    (
        &["int", "long", "bool", "char", "auto", "var", "mut", "unsigned"],
        "`let r;` declares a register, `shared x;` a cell",
    ),
    (&["wait", "sleep", "yield"], "`await x == 1;` waits for a condition"),
    (&["print", "printf", "println"], "a model prints nothing: leave it out"),
    (&["exit", "abort"], "`terminate;` ends a thread, `assert false;` is a violation"),
];

/// Beginnings of files in languages that Weir does not read.
const FOREIGN_ITEMS: [&str; 16] = [
    "void",
    "int",
    "static",
    "struct",
    "typedef",
    "extern",
    "include",
    "define",
    "fn",
    "pub",
    "use",
    "impl",
    "mod",
    "class",
    "namespace",
    "template",
];

/// What was probably meant by a name that stands where a statement begins.
pub(super) fn statement(name: &str) -> Option<String> {
    let elsewhere = ELSEWHERE.iter().find(|(names, _)| names.contains(&name));
    if let Some((_, advice)) = elsewhere {
        return Some((*advice).to_owned());
    }
    misspelt(name, Kind::begins_statement)
}

/// What was probably meant by a name that stands where an item begins.
pub(super) fn item(name: &str) -> Option<String> {
    if FOREIGN_ITEMS.contains(&name) {
        return Some(
            "this looks like source code of another language; docs/from-code.md says how to write a model of it"
                .to_owned(),
        );
    }
    misspelt(name, Kind::begins_item)
}

/// The keyword of this kind that the name is close to.
fn misspelt(name: &str, is_candidate: impl Fn(Kind) -> bool) -> Option<String> {
    // Short names are close to some keyword by accident.
    const SHORTEST: usize = 4;
    let candidates = Kind::FIXED.iter().filter(|&&kind| is_candidate(kind)).filter_map(|kind| kind.text());
    let near = if name.len() < SHORTEST { None } else { nearest(name, candidates) };
    near.map(|near| format!("did you mean `{near}`?"))
}

//! No input makes the parser or the formatter panic, and formatting is stable on whatever can be formatted.
//!
//! Seeded, so that a failure repeats. `WEIR_FUZZ_ROUNDS` sets how many inputs of each kind are tried.

use std::fmt::Write;

use crate::dump::whole;
use crate::examples::examples;
use weir_ir::Source;
use weir_syntax::weir::{Options, format, parse};

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }
}

fn rounds(default: u64) -> u64 {
    std::env::var("WEIR_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(default)
}

/// Reads and formats a text; what can be formatted is formatted for good, and means the same.
fn survive(text: &str) {
    let source = Source::new("fuzz", text);
    let read = |source: &Source| parse(source, &Options::default());
    let before = read(&source);
    if let Err(errors) = &before {
        assert!(!errors.is_empty());
        let length = text.len() as u32;
        let spans = errors.iter().flat_map(|error| std::iter::once(&error.primary).chain(&error.secondary));
        assert!(spans.into_iter().all(|label| label.span.start <= label.span.end && label.span.end <= length));
    }
    if let Ok(parsed) = &before {
        assert_eq!(weir_ir::validate(&parsed.program), [], "{text}");
    }
    let Ok(once) = format(&source) else { return };
    let bare = |text: &str| text.replace(|letter: char| letter.is_whitespace() || letter == '\u{feff}', "");
    assert_eq!(bare(text), bare(&once), "only blanks may change");
    let again = Source::new("fuzz", once.as_str());
    assert_eq!(format(&again).as_deref(), Ok(once.as_str()), "of\n{text}");
    match (before, read(&again)) {
        (Ok(before), Ok(after)) => assert_eq!(whole(&before.program), whole(&after.program), "{text}"),
        (Err(before), Err(after)) => {
            let codes = |errors: &[weir_ir::Diagnostic]| errors.iter().map(|error| error.code).collect::<Vec<_>>();
            assert_eq!(codes(&before), codes(&after), "{text}");
        }
        (before, after) => panic!("{text}\n{:?}\n{:?}", before.is_ok(), after.is_ok()),
    }
}

const TOKENS: &[&str] = &[
    "const",
    "shared",
    "thread",
    "proc",
    "let",
    "if",
    "else",
    "while",
    "loop",
    "break",
    "continue",
    "goto",
    "jump",
    "choose",
    "or",
    "any",
    "assume",
    "assert",
    "fence",
    "skip",
    "cas",
    "xchg",
    "fetch_add",
    "atomic",
    "lock",
    "unlock",
    "mem",
    "spawn",
    "return",
    "terminate",
    "forbid",
    "exists",
    "always",
    "live",
    "deadlock",
    "stuck",
    "at",
    "count",
    "end",
    "weight",
    "cost",
    "true",
    "{",
    "}",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ";",
    ";",
    ",",
    ":",
    ".",
    "..",
    "@",
    "=",
    "+=",
    "||",
    "&&",
    "==",
    "<",
    "|",
    "&",
    "<<",
    "+",
    "-",
    "*",
    "/",
    "!",
    "~",
    "x",
    "y",
    "a",
    "r",
    "T",
    "f",
    "0",
    "1",
    "2",
    "3",
    "// c\n",
    "/* d */",
    "/* e\n */",
    "\n",
    "\n\n",
];

#[test]
fn random_tokens() {
    for seed in 0..rounds(3000) {
        let mut random = Random(seed);
        let length = 1 + random.below(60);
        let tokens: Vec<&str> = (0..length).map(|_| *random.pick(TOKENS)).collect();
        survive(&tokens.join(" "));
        survive(&format!("shared x, a[3]; proc f(r) {{ return r; }} thread T {{ y: {} }}", tokens.join(" ")));
    }
}

#[test]
fn random_bytes() {
    for seed in 0..rounds(1000) {
        let mut random = Random(seed);
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        survive(&String::from_utf8_lossy(&bytes));
        let ascii: Vec<u8> = bytes.iter().map(|byte| byte & 0x7f).collect();
        survive(&String::from_utf8_lossy(&ascii));
    }
}

/// A statement that is right as far as syntax goes, and often as far as meaning goes.
fn statement(random: &mut Random, depth: usize, text: &mut String) {
    let simple = [
        "skip;",
        "x = a[1] + r;",
        "r = x;",
        "let q = 1;",
        "fence;",
        "cas(x, r, 1);",
        "r = f(x, 2);",
        "g();",
        "break;",
        "continue;",
        "goto l;",
        "jump l;",
        "l:",
        "m:",
        "assume r == x || r > y;",
        "assert r != 3 && x;",
        "r = any 0..3;",
        "*r = mem[r + 1];",
        "a[r] ^= y;",
        "lock;",
        "unlock;",
        "terminate;",
        "end;",
        "r = -r % 3; // c\n",
        "/* b */",
        "\n\n",
        "r = r && x || f(1, y);",
        "h(r);",
        "spawn L;",
        "return;",
        "return r;",
        "if 0 { l: x = a[7]; }",
    ];
    let choice = random.below(simple.len() + 8);
    if let Some(simple) = simple.get(choice) {
        text.push_str(simple);
        return;
    }
    if depth == 0 {
        text.push_str("skip;");
        return;
    }
    let opener =
        *random.pick(&["loop", "while x == r", "if r", "if i == 0 && a[i] == 1", "choose", "atomic", "", "choose"]);
    let _ = write!(text, "{opener} {{ ");
    block(random, depth - 1, text);
    text.push('}');
    let follow = match opener {
        "choose" => " or {",
        keyword if keyword.starts_with("if") => " else {",
        _ => return,
    };
    if random.below(2) == 0 {
        text.push_str(follow);
        block(random, depth - 1, text);
        text.push('}');
    }
}

fn block(random: &mut Random, depth: usize, text: &mut String) {
    for _ in 0..random.below(4) {
        statement(random, depth, text);
        text.push(' ');
    }
}

#[test]
fn random_programs() {
    let mut right = 0;
    for seed in 0..rounds(3000) {
        let mut random = Random(seed);
        let mut text = "const i = 0; shared x, y, a[3]; proc f(p, q) { return p + y; } proc g() { let r; ".to_string();
        let depth = random.below(4);
        block(&mut random, depth, &mut text);
        text.push_str("} proc h(n) { if n { h(n - 1); } } thread L[0] { skip; } thread T { let r; ");
        block(&mut random, depth, &mut text);
        text.push_str("skip; } forbid T at l || T.r == x;");
        survive(&text);
        right += u64::from(parse(&Source::new("fuzz", text.as_str()), &Options::default()).is_ok());
    }
    assert!(right > 0, "no generated program was right: the test tests nothing but errors");
}

/// A text with a few stretches removed, doubled, swapped or overwritten.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut tokens: Vec<&str> = text.split_inclusive(|letter: char| !letter.is_alphanumeric()).collect();
    for _ in 0..1 + random.below(4) {
        if tokens.is_empty() {
            break;
        }
        let (at, other) = (random.below(tokens.len()), random.below(tokens.len()));
        match random.below(5) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[other]),
            2 => tokens.swap(at, other),
            3 => tokens[at] = *random.pick(TOKENS),
            _ => tokens.truncate(at),
        }
    }
    tokens.concat()
}

#[test]
fn mutated_examples() {
    let mut texts: Vec<String> = examples().into_iter().map(|(_, text)| text).collect();
    texts.push(include_str!("all.weir").to_string());
    for (number, text) in texts.iter().enumerate() {
        for seed in 0..rounds(30) {
            let mut random = Random(seed ^ (number as u64) << 32);
            survive(&mutated(text, &mut random));
        }
    }
}

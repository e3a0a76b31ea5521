//! No text makes a reader panic, and what is read is well formed. Seeded, so that a failure repeats. `WEIR_FUZZ_ROUNDS`
//! sets how many inputs of each kind are tried.

use weir_ir::Source;
use weir_testkit::Rng;

use crate::support::Language;

const RMM: &[&str] = &[
    "forbidden",
    "data",
    "process",
    "process(2)",
    "registers",
    "text",
    "x",
    "y",
    "$r",
    "$s",
    "A",
    "A:",
    "B:",
    "0",
    "1",
    "2",
    "99",
    "=",
    ":=",
    ":",
    ";",
    ";",
    ";",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    "*",
    "[0:1]",
    "Z",
    "nop",
    "read:",
    "write:",
    "syncwr:",
    "syncrd:",
    "fence",
    "ssfence",
    "locked",
    "slocked",
    "cas(x, 0, 1)",
    "either{",
    "or",
    "if",
    "then",
    "else",
    "while",
    "do",
    "goto A",
    "assume:",
    "true",
    "not",
    "&&",
    "||",
    "<",
    "!=",
    "-",
    "+",
    "x[my]",
    "x[0]",
    "[$r]",
    "macro f(v)",
    "endmacro",
    "f(x)",
    "/* c */",
    "predicates",
    "locked{",
    "write: x := 1",
    "read: x = 0",
    "read: $r := y",
    "$r := $r + 1",
    "me",
    "@",
];

const TRENCHER: &[&str] = &[
    "thread",
    "t",
    "u",
    "initial",
    "final",
    "q0",
    "q1",
    "transition",
    "transition q0 q1",
    "end",
    "\nend\n",
    "\nthread v\n",
    "\ninitial q0\n",
    "read",
    "write",
    "local",
    "check",
    "mfence",
    "lock",
    "unlock",
    "noop",
    "r",
    "s",
    "0",
    "1",
    "-1",
    "1x",
    "99999999999",
    "+",
    "-",
    "==",
    "&&",
    "!",
    "^",
    "#",
    "\n",
    "\n",
    "memory_size",
    "\ntransition q0 q1 noop\n",
];

fn rounds(default: u64) -> u64 {
    std::env::var("WEIR_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(default)
}

fn pick<'t>(rng: &mut Rng, tokens: &[&'t str]) -> &'t str {
    tokens[rng.below(tokens.len())]
}

/// Reads a text; says whether it is right.
fn survive(language: Language, text: &str) -> bool {
    let source = Source::new("fuzz", text);
    match language.parse(&source) {
        Ok(parsed) => {
            assert_eq!(weir_ir::validate(&parsed.program), [], "{text}");
            weir_ir::lint(&parsed.program);
            weir_syntax::weir::print::print(&parsed.program);
            true
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            let labels = errors.iter().flat_map(|error| std::iter::once(&error.primary).chain(&error.secondary));
            let length = text.len() as u32;
            assert!(labels.into_iter().all(|label| label.span.start <= label.span.end && label.span.end <= length));
            false
        }
    }
}

fn tokens(rng: &mut Rng, tokens: &[&str], most: usize) -> String {
    let count = 1 + rng.below(most);
    (0..count).map(|_| pick(rng, tokens)).collect::<Vec<_>>().join(" ")
}

#[test]
fn random_tokens() {
    for seed in 0..rounds(3000) {
        let mut rng = Rng::new(seed);
        let text = tokens(&mut rng, RMM, 60);
        survive(Language::Rmm, &text);
        let in_a_process = format!(
            "forbidden A * data x = 0 : [0:1] y = * process(2) registers $r = 0 : [0:3] $s = * data x = 1 text A: {text}"
        );
        survive(Language::Rmm, &in_a_process);
        let text = tokens(&mut rng, TRENCHER, 40);
        survive(Language::Trencher, &text);
        survive(Language::Trencher, &format!("thread t\ninitial q0\ntransition q0 q1 {text}\nend\n"));
    }
}

#[test]
fn random_bytes() {
    for seed in 0..rounds(1000) {
        let mut rng = Rng::new(seed);
        let length = rng.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
        let ascii: Vec<u8> = bytes.iter().map(|byte| byte & 0x7f).collect();
        for text in [String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&ascii)] {
            survive(Language::Rmm, &text);
            survive(Language::Trencher, &text);
        }
    }
}

/// A text with a few stretches removed, doubled, swapped or overwritten.
fn mutated(text: &str, tokens: &[&str], rng: &mut Rng) -> String {
    let mut parts: Vec<&str> = text.split_inclusive(|letter: char| !letter.is_alphanumeric()).collect();
    for _ in 0..1 + rng.below(3) {
        if parts.is_empty() {
            break;
        }
        let (at, other) = (rng.below(parts.len()), rng.below(parts.len()));
        match rng.below(5) {
            0 => drop(parts.remove(at)),
            1 => parts.insert(at, parts[other]),
            2 => parts.swap(at, other),
            3 => parts[at] = pick(rng, tokens),
            _ => parts.truncate(at),
        }
    }
    parts.concat()
}

#[test]
fn mutated_programs() {
    for (language, tokens) in [(Language::Rmm, RMM), (Language::Trencher, TRENCHER)] {
        let mut right = 0;
        for (nth, (_, text)) in language.own_programs().iter().enumerate() {
            assert!(survive(language, text));
            for seed in 0..rounds(100) {
                let mut rng = Rng::new(seed ^ (nth as u64) << 32);
                right += u32::from(survive(language, &mutated(text, tokens, &mut rng)));
            }
        }
        assert!(right > 0, "{language:?}: no mutated program is right");
    }
}

#[test]
fn truncated_programs_are_read_or_refused() {
    for language in [Language::Rmm, Language::Trencher] {
        for (_, text) in language.own_programs() {
            for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)).step_by(7) {
                survive(language, &text[..end]);
            }
        }
    }
}

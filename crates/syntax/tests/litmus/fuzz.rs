//! Texts that nobody would write.

use weir_testkit::Rng;

use crate::{read, samples};

/// Reading comes to an end, and errors point into the text.
fn check(text: &str) {
    if let Err(errors) = read(text) {
        assert!(!errors.is_empty());
        for error in errors {
            assert!(error.primary.span.range().end <= text.len() + 1, "{error:?}\n{text}");
            assert!(!error.message.is_empty());
        }
    }
}

#[test]
fn every_beginning_of_a_test_is_read_or_refused() {
    for text in samples() {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            check(&text[..end]);
        }
    }
}

#[test]
fn tests_with_something_taken_out_doubled_or_swapped_are_read_or_refused() {
    let rounds = std::env::var("WEIR_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20_000);
    let samples = samples();
    let tokens: Vec<&str> = samples.iter().flat_map(|text| text.split_inclusive([' ', ',', ';', '|', '='])).collect();
    let mut rng = Rng::new(7);
    for _ in 0..rounds {
        let mut parts: Vec<&str> = rng.pick(&samples).split_inclusive([' ', ',', ';', '|', '=']).collect();
        for _ in 0..rng.between(1, 4) {
            let (at, other) = (rng.below(parts.len()), rng.below(parts.len()));
            match rng.below(4) {
                0 => drop(parts.remove(at)),
                1 => parts.insert(at, parts[at]),
                2 => parts[at] = *rng.pick(&tokens),
                _ => parts.swap(at, other),
            }
            if parts.is_empty() {
                break;
            }
        }
        check(&parts.concat());
    }
}

#[test]
fn long_and_deep_tests_do_not_exhaust_the_stack() {
    let deep = |open: &str, close: &str| {
        format!("X86 t\n{{ }}\n P0 ;\nexists {}x=1{}", open.repeat(100_000), close.repeat(100_000))
    };
    for text in [deep("(", ")"), deep("~", ""), deep("x=1 => ", ""), deep("x=1 /\\ ", ""), deep("(*", "*)")] {
        check(&text);
    }
    let chain = format!("X86 t\n{{ }}\n P0 ;\nexists (x=0{})", " \\/ x=1 /\\ y=0".repeat(20_000));
    assert!(read(&chain).is_ok());
    let rows = format!("X86 t\n{{ }}\n P0 ;\n{}exists (x=0)", " MOV [x],$1 ;\n".repeat(20_000));
    assert!(read(&rows).is_ok());
}

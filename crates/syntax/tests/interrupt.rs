//! Reading ends soon after it is interrupted, wherever that happens, and what was read so far is never taken for the
//! program.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use weir_ir::{Edge, Interrupt, PropertyKind, Source};
use weir_syntax::{Language, ParseError, Parsed, weir};

/// Says yes once, at this question, and counts the questions.
struct Once {
    at: u32,
    asked: AtomicU32,
}

impl Once {
    fn at(at: u32) -> Self {
        Self { at, asked: AtomicU32::new(0) }
    }
}

impl Interrupt for Once {
    fn is_over(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) == self.at
    }
}

/// Calls `read` with an interrupt at the first question, the second, and so on until it is not interrupted any more.
/// Returns how often it was.
fn interruptions<T: PartialEq + std::fmt::Debug>(
    whole: &T,
    read: impl Fn(&dyn Interrupt) -> Result<T, ParseError>,
) -> u32 {
    for at in 0.. {
        let once = Once::at(at);
        match read(&once) {
            Err(ParseError::Interrupted) => assert_eq!(once.asked.load(Ordering::Relaxed), at + 1, "it ends at once"),
            Ok(read) => {
                assert!(once.asked.load(Ordering::Relaxed) <= at, "an interrupt at question {at} was ignored");
                assert!(read == *whole, "something else is read");
                return at;
            }
            Err(error) => panic!("question {at}: {error}"),
        }
    }
    unreachable!("reading asks finitely many questions")
}

/// A program with many statements in each language, and the least number of stages in which reading it can be
/// interrupted.
fn programs() -> Vec<(Language, String, u32)> {
    let count = 1_100;
    let mut properties = String::new();
    (0..count).for_each(|_| properties.push_str("forbid x == 7;\n"));
    let native = format!("shared x;\nthread P {{\n{}}}\n{properties}", "    x = 1;\n".repeat(count));
    let litmus = format!("X86 many\n{{ }}\n P0 ;\n{}exists (x=0)\n", " MOV [x],$1 ;\n".repeat(count));
    let rmm = format!("forbidden\n  L\ndata\n  x = 0\nprocess\ntext\n{}  L: nop\n", "  write: x := 1;\n".repeat(count));
    let mut trencher = String::from("thread t\ninitial q0\n");
    for number in 0..count {
        let _ = writeln!(trencher, "transition q{number} q{} write 1 1", number + 1);
    }
    trencher.push_str("end\n");
    // Tokens, trees and automata; litmus tests have few threads, and Trencher's programs are automata from the start.
    vec![
        (Language::Weir, native, 21),
        (Language::Litmus, litmus, 14),
        (Language::Rmm, rmm, 19),
        (Language::Trencher, trencher, 5),
    ]
}

#[test]
fn reading_can_be_interrupted_in_every_stage() {
    for (language, text, least) in programs() {
        let source = Source::new("many", text.as_str());
        let whole = language.parse(&source, &[]).unwrap_or_else(|errors| panic!("{language:?}: {errors:#?}"));
        let whole = parts(&whole);
        let read =
            |interrupt: &dyn Interrupt| language.parse_until(&source, &[], interrupt).map(|parsed| parts(&parsed));
        let count = interruptions(&whole, read);
        assert!(count >= least, "{language:?} asks only {count} times");
    }
}

#[test]
fn formatting_can_be_interrupted() {
    let (_, text, _) = programs().swap_remove(0);
    let source = Source::new("many", text.as_str());
    let whole = weir::format(&source).expect("it is correct");
    assert!(interruptions(&whole, |interrupt| weir::format_until(&source, interrupt)) >= 17);
}

#[test]
fn places_for_fences_can_be_interrupted() {
    let (language, text, _) = programs().swap_remove(0);
    let program = language.parse(&Source::new("many", text.as_str()), &[]).expect("it is correct").program;
    let sites = |interrupt: &dyn Interrupt| Ok(language.fence_sites(&program, &[], interrupt)?.sites);
    let whole = sites(&weir_ir::Uninterrupted).expect("it is correct");
    assert!(interruptions(&whole, sites) >= 17);
}

/// What programs are compared by.
fn parts(parsed: &Parsed) -> (Vec<Vec<Edge>>, Vec<PropertyKind>) {
    let program = &parsed.program;
    let edges = program.threads.iter().map(|thread| thread.body.edges().to_vec());
    (edges.collect(), program.properties.iter().map(|property| property.kind.clone()).collect())
}

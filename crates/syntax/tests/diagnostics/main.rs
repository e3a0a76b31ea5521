//! What is said about texts, in full: code, place, message, labels, other places and the way out, for every kind of
//! error and warning of each language. The texts and what is said of them are in the files beside this one. To accept
//! what is said now: `WEIR_BLESS=1 cargo test -p weir-syntax --test diagnostics`, and read the difference.

use std::fmt::Write as _;
use std::path::Path;

use weir_ir::{Diagnostic, Severity, Source, Span};
use weir_syntax::ParseError;
use weir_syntax::nets::{NetFormat, ThreadQuestion};
use weir_syntax::weir::Options;

type Said = Result<Vec<Diagnostic>, Vec<Diagnostic>>;

/// `1:8-1:12`, from the first character to behind the last.
fn place(source: &Source, span: Span) -> String {
    let (start, end) = (source.line_column(span.start), source.line_column(span.end));
    format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column)
}

fn shown(source: &Source, diagnostic: &Diagnostic) -> String {
    let mut text = match diagnostic.severity {
        Severity::Error => String::new(),
        other => format!("{other:?} "),
    };
    let _ = write!(text, "{} {} {}", place(source, diagnostic.primary.span), diagnostic.code, diagnostic.message);
    if !diagnostic.primary.text.is_empty() {
        let _ = write!(text, "\n    here: {}", diagnostic.primary.text);
    }
    for other in &diagnostic.secondary {
        let _ = write!(text, "\n    {}: {}", place(source, other.span), other.text);
    }
    if let Some(help) = &diagnostic.help {
        let _ = write!(text, "\n    help: {help}");
    }
    text
}

fn check(file: &str, least: usize, read: impl Fn(&Source) -> Said) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics").join(file);
    let stored = std::fs::read_to_string(&path).expect("the texts are in the repository");
    let mut found = String::new();
    let mut count = 0;
    for entry in stored.split("=====\n").skip(1) {
        let (text, _) = entry.split_once("-----\n").expect("a text, and what is said of it");
        let source = Source::new("test", text);
        let said = read(&source).unwrap_or_else(|errors| errors);
        let said: Vec<String> = said.iter().map(|one| shown(&source, one) + "\n").collect();
        let _ = write!(found, "=====\n{text}-----\n{}", said.concat());
        count += 1;
    }
    assert!(count >= least, "{count} texts in {file}");
    if std::env::var_os("WEIR_BLESS").is_some() {
        return std::fs::write(&path, &found).expect("writable");
    }
    assert!(found == stored, "{}", difference(&stored, &found));
}

/// The first entry that differs.
fn difference(stored: &str, found: &str) -> String {
    let mut pairs = stored.split("=====\n").zip(found.split("=====\n"));
    let differs = pairs.find(|(left, right)| left != right);
    differs.map_or("the files end differently".into(), |(left, right)| format!("expected\n{left}\nfound\n{right}"))
}

#[test]
fn of_weir_programs() {
    check("weir.txt", 200, |source| weir_syntax::weir::parse(source, &Options::default()).map(|read| read.warnings));
}

#[test]
fn of_memorax_programs() {
    check("rmm.txt", 100, |source| weir_syntax::rmm::parse(source).map(|read| read.warnings));
}

#[test]
fn of_trencher_programs() {
    check("trencher.txt", 30, |source| weir_syntax::trencher::parse(source).map(|read| read.warnings));
}

#[test]
fn of_litmus_tests() {
    check("litmus.txt", 90, |source| weir_syntax::litmus::parse(source).map(|_| Vec::new()));
}

fn of_net(source: &Source, format: NetFormat) -> Said {
    let read = format.parse_until(source, &ThreadQuestion::default(), &weir_ir::Uninterrupted);
    read.map(|read| read.warnings).map_err(|error| match error {
        ParseError::Invalid(errors) => errors,
        _ => unreachable!("nothing interrupts it"),
    })
}

#[test]
fn of_petri_nets() {
    check("spec.txt", 18, |source| of_net(source, NetFormat::Spec));
}

#[test]
fn of_thread_transition_systems() {
    check("tts.txt", 10, |source| of_net(source, NetFormat::Tts));
}

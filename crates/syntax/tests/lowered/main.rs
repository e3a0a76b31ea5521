//! What each text becomes, in full: cells, registers, places, steps, properties, each with the piece of text it came
//! from; and how Trencher's language says the same as a `.weir` program, or why it cannot. The texts and what becomes of them are in the files
//! beside this one. To accept what becomes of them now: `WEIR_BLESS=1 cargo test -p weir-syntax --test lowered`, and read
//! the difference.

use std::fmt::Write as _;
use std::path::Path;

use weir_ir::{Body, Diagnostic, LocId, Multiplicity, Program, Shared, Source, Span, StateExpr, body_instruction_text};
use weir_syntax::Language;
use weir_syntax::litmus::Litmus;
use weir_syntax::{rmm, trencher, weir};

/// `1:8-1:12`, from the first character to behind the last.
fn place(source: &Source, span: Span) -> String {
    if span == Span::default() {
        return "nowhere".into();
    }
    let (start, end) = (source.line_column(span.start), source.line_column(span.end));
    format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column)
}

fn shared(source: &Source, cell: &Shared) -> String {
    let Shared { name, address, is_array, initial, range, width, span } = cell;
    let brackets = if *is_array { "[]" } else { "" };
    let range = range.map_or(String::new(), |range| format!(": {}..={}", range.low, range.high));
    let width = width.map_or(String::new(), |width| format!(": {}", width.name()));
    format!("{name}{brackets} @ {address}{range}{width} = {initial:?}  [{}]\n", place(source, *span))
}

/// A place of a thread, with its labels.
fn location(body: &Body, loc: LocId) -> String {
    let labels = &body.locations[loc.index()].labels;
    if labels.is_empty() { loc.0.to_string() } else { format!("{}({})", loc.0, labels.join(",")) }
}

fn body(program: &Program, body: &Body) -> String {
    let source = &program.source;
    let mut text = String::new();
    for register in &body.registers {
        let temporary = if register.is_temporary { " temporary" } else { "" };
        let _ = writeln!(text, "  {}{temporary}  [{}]", register.name, place(source, register.span));
    }
    let failed = body.failed.map_or(String::new(), |failed| format!(", fails at {}", location(body, failed)));
    let _ = writeln!(text, "  enters at {}{failed}", location(body, body.entry));
    let places: Vec<String> = body.locations.iter().map(|one| place(source, one.span)).collect();
    let _ = writeln!(text, "  places: {}", places.join(" "));
    for edge in body.edges() {
        let instruction = body_instruction_text(program, body, &edge.instruction);
        let (from, to) = (location(body, edge.from), location(body, edge.to));
        let _ = writeln!(text, "  {from} -> {to}: {instruction}  [{}]", place(source, edge.span));
    }
    text
}

fn whole(program: &Program) -> String {
    let source = &program.source;
    let mut text = String::new();
    for (name, value) in &program.constants {
        let _ = writeln!(text, "const {name} = {value}");
    }
    program.shared.iter().for_each(|cell| text.push_str(&shared(source, cell)));
    for thread in &program.threads {
        let (family, number) = &thread.family;
        let number = number.map_or(String::new(), |number| format!("({number})"));
        let multiplicity = match thread.multiplicity {
            Multiplicity::One => "",
            Multiplicity::Spawned => " spawned",
            Multiplicity::Arbitrary => " [*]",
        };
        let of = format!("{} of {family}{number}{multiplicity} weight {}", thread.name, thread.weight);
        let _ =
            writeln!(text, "thread {of}  [{}]\n{}", place(source, thread.span), body(program, &thread.body).trim_end());
    }
    for procedure in &program.procedures {
        let _ =
            writeln!(text, "proc {}{:?}  [{}]", procedure.name, procedure.parameters, place(source, procedure.span));
        text.push_str(&body(program, &procedure.body));
    }
    for property in &program.properties {
        let _ = writeln!(text, "{}  [{}]", program.property_text(property), place(source, property.span));
    }
    for rule in &program.costs {
        let _ = writeln!(text, "cost {:?} = {}  [{}]", rule.subject, rule.cost, place(source, rule.span));
    }
    text
}

/// The program, and how Trencher's language says it.
fn both(language: Language, program: &Program) -> String {
    whole(program) + &fences(language, program) + &in_trencher_s_language(program)
}

fn in_trencher_s_language(program: &Program) -> String {
    match trencher::print::print(program) {
        Ok(text) => format!("trencher:\n{text}"),
        Err(errors) => errors.iter().map(|error| format!("trencher: {}\n", said(&program.source, error))).collect(),
    }
}

/// Where fences can stand, each with the piece of text that follows, and whether it can be written there.
fn fences(language: Language, program: &Program) -> String {
    let found = language.fence_sites(program, &[]).expect("it was read before");
    let mut text = String::from("fences:");
    for site in &found.sites {
        let at = program.source.line_column(site.offset);
        let locations: Vec<String> =
            site.locations.iter().map(|(thread, loc)| format!("{}.{}", thread.0, loc.0)).collect();
        let after: Vec<String> = site.after.iter().map(|(thread, edge)| format!("{}.{}", thread.0, edge.0)).collect();
        let written = if site.is_in_text { "" } else { "!" };
        let _ = write!(text, " {}:{}{written}({};{})", at.line, at.column, locations.join(","), after.join(","));
    }
    text + "\n"
}

fn said(source: &Source, error: &Diagnostic) -> String {
    let others: String = error.secondary.iter().map(|one| format!(", {}", place(source, one.span))).collect();
    format!("{} {} [{}{others}]", error.code, error.message, place(source, error.primary.span))
}

fn test(litmus: &Litmus) -> String {
    let text = |condition: &StateExpr| litmus.program.condition_text(condition);
    let mut all = format!("{:?} {} {:?} {:?}\n", litmus.architecture, litmus.name, litmus.info, litmus.addresses);
    let _ = writeln!(all, "{:?} {} | {}", litmus.quantifier, text(&litmus.condition), litmus.condition_text);
    if let Some(filter) = &litmus.filter {
        let _ = writeln!(all, "filter {}", text(filter));
    }
    for one in &litmus.observed {
        let sign = if one.is_unsigned { " without sign" } else { "" };
        let kind = if one.is_cell { "cell" } else { "register" };
        let _ = writeln!(all, "{kind} {}{sign} = {}", one.name, text(&one.value));
    }
    all + &whole(&litmus.program) + &fences(Language::Litmus, &litmus.program)
}

fn check(file: &str, least: usize, lower: impl Fn(&Source) -> Result<String, Vec<Diagnostic>>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lowered").join(file);
    let stored = std::fs::read_to_string(&path).expect("the texts are in the repository");
    let mut found = String::new();
    let mut count = 0;
    for entry in stored.split("=====\n").skip(1) {
        let (text, _) = entry.split_once("-----\n").expect("a text, and what becomes of it");
        let lowered = lower(&Source::new("test", text)).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
        let _ = write!(found, "=====\n{text}-----\n{lowered}");
        count += 1;
    }
    assert!(count >= least, "{count} texts in {file}");
    if std::env::var_os("WEIR_BLESS").is_some() {
        return std::fs::write(&path, &found).expect("writable");
    }
    let mut pairs = stored.split("=====\n").zip(found.split("=====\n"));
    let differs = pairs.find(|(left, right)| left != right);
    assert!(differs.is_none() && stored == found, "expected and found: {differs:#?}");
}

#[test]
fn weir_programs() {
    check("weir.txt", 60, |source| Ok(both(Language::Weir, &weir::parse(source, &weir::Options::default())?.program)));
}

#[test]
fn memorax_programs() {
    check("rmm.txt", 39, |source| {
        let program = rmm::parse(source)?.program;
        Ok(whole(&program) + &fences(Language::Rmm, &program))
    });
}

#[test]
fn litmus_tests() {
    check("litmus.txt", 40, |source| Ok(test(&weir_syntax::litmus::parse(source)?)));
}

#[test]
fn trencher_programs() {
    check("trencher.txt", 9, |source| Ok(both(Language::Trencher, &trencher::parse(source)?.program)));
}

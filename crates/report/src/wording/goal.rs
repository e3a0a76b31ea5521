//! Properties as people read them.

use weir_ir::{Program, Property, Span};
use weir_witness::Goal;

/// A goal in words: the property as it is written, or whose assertions.
pub fn text(program: &Program, goal: Goal) -> String {
    match goal {
        Goal::Property(id) => {
            program.properties.get(id.index()).map_or_else(String::new, |property| property_text(program, property))
        }
        Goal::Assertion(thread) => format!("assertions of {}", program.thread(thread).name),
        Goal::NotRobust => "a run that sequential consistency forbids".to_owned(),
    }
}

/// The line a goal is stated on; for assertions, that of the thread.
pub fn line(program: &Program, goal: Goal) -> u32 {
    program.source.line(span(program, goal))
}

/// The same as people look it up. None if it is no line of theirs: properties of compiled code are claimed elsewhere.
pub fn written_line(program: &Program, goal: Goal) -> Option<u32> {
    let (source, span) = (&program.source, span(program, goal));
    let is_compiled = !program.options.is_empty();
    (!is_compiled || !std::ptr::eq(source.origin(span).0, source)).then(|| source.line(span))
}

/// Where a goal is stated: the file, and the line if it has one.
pub fn place(program: &Program, goal: Goal) -> String {
    let file = program.source.name();
    written_line(program, goal).map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}

fn span(program: &Program, goal: Goal) -> Span {
    let span = match goal {
        Goal::Property(id) => program.properties.get(id.index()).map(|property| property.span),
        Goal::Assertion(thread) => Some(program.thread(thread).span),
        Goal::NotRobust => None,
    };
    span.unwrap_or_default()
}

/// A property as the user wrote it, on one line. The program's own rendering stands in where the source has
/// comments in between, or is no source of properties.
fn property_text(program: &Program, property: &Property) -> String {
    let written = program.source.slice(property.span);
    // A `live` about several instances of a thread is one property for each of them.
    let is_shared = program.properties.iter().filter(|other| other.span == property.span).count() > 1;
    if is_shared || written.is_empty() || written.contains("//") || written.contains("/*") {
        return program.property_text(property);
    }
    let words: Vec<&str> = written.trim_end().trim_end_matches(';').split_whitespace().collect();
    words.join(" ")
}

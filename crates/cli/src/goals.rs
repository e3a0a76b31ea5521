//! What a search looks for, as the command line names it and as people read it.

use weir::reach::all_goals;
use weir_ir::{Program, Property, PropertyId, PropertyKind};
use weir_witness::Goal;

use crate::render::clean::clean;
use crate::trouble::Trouble;

/// The goals that the command line names; all if it names none.
pub(crate) fn select(program: &Program, names: &[String]) -> Result<Vec<Goal>, Trouble> {
    if names.is_empty() {
        return Ok(all_goals(program));
    }
    let mut goals = Vec::new();
    for name in names {
        let found = named(program, name);
        if found.is_empty() {
            return Err(unknown_goal(program, name));
        }
        goals.extend(found);
    }
    goals.sort();
    goals.dedup();
    Ok(goals)
}

/// The goals of one name.
fn named(program: &Program, name: &str) -> Vec<Goal> {
    let mut goals = all_goals(program);
    let number = name.parse::<usize>().ok();
    goals.retain(|&goal| match goal {
        Goal::Property(id) => number == Some(id.index() + 1) || name == "deadlock" && is_deadlock(program, id),
        Goal::Assertion(thread) => {
            let thread = program.thread(thread);
            name == "assert" || name == thread.name || name == thread.family.0
        }
        Goal::NotRobust => false,
    });
    goals
}

fn is_deadlock(program: &Program, id: PropertyId) -> bool {
    program.properties.get(id.index()).is_some_and(|property| property.kind == PropertyKind::ForbidDeadlock)
}

fn unknown_goal(program: &Program, name: &str) -> Trouble {
    let known = all_goals(program);
    let help = if known.is_empty() {
        "the program has no properties".to_owned()
    } else {
        let describe = |&goal: &Goal| match goal {
            Goal::Property(id) => format!("{} ({})", id.index() + 1, text(program, goal)),
            Goal::Assertion(thread) => format!("{} ({})", program.thread(thread).name, text(program, goal)),
            Goal::NotRobust => text(program, goal),
        };
        let shown: Vec<String> = known.iter().take(10).map(describe).collect();
        let more = if known.len() > shown.len() { ", …" } else { "" };
        format!("properties of this program: {}{more}", shown.join(", "))
    };
    Trouble::input_with_help(format!("there is no property `{}`", clean(name)), help)
}

/// A goal in words: the property as it is written, or whose assertions.
pub(crate) fn text(program: &Program, goal: Goal) -> String {
    match goal {
        Goal::Property(id) => {
            program.properties.get(id.index()).map_or_else(String::new, |property| property_text(program, property))
        }
        Goal::Assertion(thread) => format!("assertions of {}", program.thread(thread).name),
        Goal::NotRobust => "a run that sequential consistency forbids".to_owned(),
    }
}

/// The line a goal is stated on; for assertions, that of the thread.
pub(crate) fn line(program: &Program, goal: Goal) -> u32 {
    let span = match goal {
        Goal::Property(id) => program.properties.get(id.index()).map(|property| property.span),
        Goal::Assertion(thread) => Some(program.thread(thread).span),
        Goal::NotRobust => None,
    };
    program.source.line(span.unwrap_or_default())
}

/// A property as the user wrote it, on one line. The program's own rendering stands in where the source has
/// comments in between, or is no source of properties.
fn property_text(program: &Program, property: &Property) -> String {
    let written = program.source.slice(property.span);
    if written.is_empty() || written.contains("//") || written.contains("/*") {
        return program.property_text(property);
    }
    let words: Vec<&str> = written.trim_end().trim_end_matches(';').split_whitespace().collect();
    words.join(" ")
}

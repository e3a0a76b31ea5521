//! The properties that the command line selects.

use weir::reach::all_goals;
use weir_ir::{Program, PropertyId, PropertyKind};
use weir_report::wording::clean::clean;
use weir_report::wording::goal::text;
use weir_witness::Goal;

use crate::error::Error;

/// The goals that the command line names; all if it names none.
pub(crate) fn select(program: &Program, names: &[String]) -> Result<Vec<Goal>, Error> {
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
    goals.sort_unstable();
    goals.dedup();
    Ok(goals)
}

/// The goals of one name.
fn named(program: &Program, name: &str) -> Vec<Goal> {
    let mut goals = all_goals(program);
    let number = name.parse::<usize>().ok();
    goals.retain(|&goal| match goal {
        Goal::Property(id) => {
            number == Some(id.index() + 1) || kind_named(name).is_some_and(|kind| is(program, id, &kind))
        }
        Goal::Assertion(thread) => {
            let thread = program.thread(thread);
            name == "assert" || name == thread.name || name == thread.family.0
        }
        Goal::NotRobust => false,
    });
    goals
}

/// The kind of property that has a name of its own.
fn kind_named(name: &str) -> Option<PropertyKind> {
    match name {
        "deadlock" => Some(PropertyKind::ForbidDeadlock),
        "stuck" => Some(PropertyKind::ForbidStuck),
        _ => None,
    }
}

fn is(program: &Program, id: PropertyId, kind: &PropertyKind) -> bool {
    program.properties.get(id.index()).is_some_and(|property| property.kind == *kind)
}

fn unknown_goal(program: &Program, name: &str) -> Error {
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
    Error::input_with_help(format!("there is no property `{}`", clean(name)), help)
}

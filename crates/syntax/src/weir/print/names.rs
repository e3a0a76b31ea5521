//! Names that `.weir` accepts, for programs whose names came from elsewhere: `Worker[0]` becomes
//! `Worker_0`, `f.a` becomes `f_a`, a keyword gets a number, and a long name is cut off. Names that are fine stay as
//! they are.
//!
//! Shared cells, procedures and threads share one space of names, which registers may not hide. Labels
//! have a space of their own; they are unique in each body, and the cost of a label goes to whatever the
//! label is now called.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Body, CostRule, CostSubject, Gather, Program};

use crate::limits::MAX_NAME_BYTES;
use crate::parsing::split;
use crate::weir::token::Kind;

/// Names of kinds of steps after `cost`, which no label can have.
const COST_WORDS: [&str; 4] = ["load", "store", "rmw", "local"];

/// The same program with valid names, and the labels that are taken, so that more can be made up.
pub(super) fn with_valid_names(program: &Program) -> (Program, Names) {
    let mut named = program.clone();
    let mut globals = rename_globals(&mut named);
    rename_thread_locals(&mut named, &mut globals);
    let bodies = named.threads.iter_mut().map(|thread| &mut thread.body);
    for body in bodies.chain(named.procedures.iter_mut().map(|procedure| &mut procedure.body)) {
        let mut names = globals.clone();
        let own = body.registers.iter_mut().filter(|register| !register.is_thread_local);
        let registers = own.map(|register| &mut register.name);
        names.rename_all(registers.collect(), "r");
    }
    let labels = rename_labels(&mut named);
    (named, labels)
}

fn rename_globals(program: &mut Program) -> Names {
    let mut names = Names::new(&[]);
    let shared = program.shared.iter_mut().map(|shared| &mut shared.name);
    let procedures = program.procedures.iter_mut().map(|procedure| &mut procedure.name);
    let threads = program.threads.iter_mut().map(|thread| &mut thread.name);
    names.rename_all(shared.chain(procedures).chain(threads).collect(), "n");
    names
}

/// A thread-local variable is called the same in all bodies.
fn rename_thread_locals(program: &mut Program, globals: &mut Names) {
    let threads = program.threads.iter_mut().map(|thread| &mut thread.body);
    let bodies = threads.chain(program.procedures.iter_mut().map(|procedure| &mut procedure.body));
    let registers = bodies.flat_map(|body| &mut body.registers).filter(|register| register.is_thread_local);
    let names: Vec<&mut String> = registers.map(|register| &mut register.name).collect();
    let mut called: BTreeMap<String, String> = names.iter().map(|name| (name.to_string(), name.to_string())).gather();
    globals.rename_all(called.values_mut().collect(), "v");
    for name in names {
        name.clone_from(&called[name.as_str()]);
    }
}

fn rename_labels(program: &mut Program) -> Names {
    let mut labels = Labels { names: Names::new(&COST_WORDS), called: BTreeMap::new() };
    let threads = program.threads.iter().map(|thread| &thread.body);
    for body in threads.chain(program.procedures.iter().map(|procedure| &procedure.body)) {
        labels.keep_valid(body);
    }
    let threads = program.threads.iter_mut().map(|thread| &mut thread.body);
    for body in threads.chain(program.procedures.iter_mut().map(|procedure| &mut procedure.body)) {
        labels.rename(body);
    }
    program.costs = labels.costs(&program.costs);
    labels.names
}

/// Labels by the name they had, and what they are called now: several names where one body had the
/// label several times.
struct Labels {
    names: Names,
    called: BTreeMap<String, Vec<String>>,
}

impl Labels {
    fn keep_valid(&mut self, body: &Body) {
        for label in body.locations.iter().flat_map(|location| &location.labels) {
            if self.names.is_valid(label) {
                self.names.taken.insert(label.clone());
                self.called.entry(label.clone()).or_insert_with(|| vec![label.clone()]);
            }
        }
    }

    /// Gives the n-th location of a label the n-th name for it.
    fn rename(&mut self, body: &mut Body) {
        let mut met: BTreeMap<String, usize> = BTreeMap::new();
        for label in body.locations.iter_mut().flat_map(|location| &mut location.labels) {
            let nth = met.entry(label.clone()).or_default();
            let called = self.called.entry(label.clone()).or_default();
            if *nth == called.len() {
                called.push(self.names.make(label, "l"));
            }
            label.clone_from(&called[*nth]);
            *nth += 1;
        }
    }

    fn costs(&self, rules: &[CostRule]) -> Vec<CostRule> {
        let spread = |rule: &CostRule| match &rule.subject {
            CostSubject::Label(label) => {
                let called = self.called.get(label).map_or(&[][..], Vec::as_slice);
                let subjects = called.iter().map(|name| CostSubject::Label(name.clone()));
                subjects.map(|subject| CostRule { subject, ..rule.clone() }).collect()
            }
            _ => vec![rule.clone()],
        };
        rules.iter().flat_map(spread).collect()
    }
}

/// A space of names.
#[derive(Clone)]
pub(crate) struct Names {
    reserved: BTreeSet<String>,
    taken: BTreeSet<String>,
    /// Where to go on counting for each stem, so that many equal names take linear time.
    next: BTreeMap<String, usize>,
}

impl Names {
    fn new(reserved: &[&str]) -> Self {
        let reserved: BTreeSet<String> = reserved.iter().map(ToString::to_string).gather();
        Self { taken: reserved.clone(), reserved, next: BTreeMap::new() }
    }

    /// A new name: the stem and a number, from 1.
    pub(crate) fn fresh(&mut self, stem: &str) -> String {
        self.numbered(stem, 1)
    }

    fn numbered(&mut self, stem: &str, from: usize) -> String {
        let number = self.next.entry(stem.to_string()).or_insert(from);
        loop {
            let name = format!("{stem}{number}");
            *number += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// A new name like `wanted`; `stem` stands in where nothing of it can be kept.
    fn make(&mut self, wanted: &str, stem: &str) -> String {
        let base = cleaned(wanted, stem);
        let is_free = is_name(&base) && self.taken.insert(base.clone());
        if is_free { base } else { self.numbered(&format!("{base}_"), 2) }
    }

    /// Makes names valid and different from each other; valid ones have the first choice.
    fn rename_all(&mut self, mut names: Vec<&mut String>, stem: &str) {
        let mut pending = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if !(self.is_valid(name) && self.taken.insert(name.to_string())) {
                pending.push(at);
            }
        }
        for at in pending {
            *names[at] = self.make(names[at], stem);
        }
    }

    fn is_valid(&self, name: &str) -> bool {
        is_name(name) && !self.reserved.contains(name)
    }
}

/// Whether the whole text is one token, not a keyword, and short enough to be read.
fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES && split(text).next() == Some((Ok(Kind::Name), 0..text.len()))
}

/// What is kept of a name that is too long: a number that tells it from others still fits.
const KEPT_BYTES: usize = 200;

/// The name with what is not allowed turned into underscores, and cut off if it is too long.
fn cleaned(name: &str, stem: &str) -> String {
    let kept = (0..=KEPT_BYTES).rev().find(|&at| name.is_char_boundary(at)).unwrap_or(0);
    let name = if name.len() > MAX_NAME_BYTES { &name[..kept] } else { name };
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || character == '_';
    if name.chars().all(is_allowed) && !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()) {
        return name.to_string();
    }
    let replaced: String = name.chars().map(|character| if is_allowed(character) { character } else { '_' }).collect();
    let trimmed = replaced.trim_matches('_');
    match trimmed.chars().next() {
        None => stem.to_string(),
        Some(first) if first.is_ascii_digit() => format!("{stem}{trimmed}"),
        Some(_) => trimmed.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_off_and_stay_different() {
        let long = |last: &str| "n".repeat(300) + last;
        let (mut one, mut other, mut third) = (long("a"), long("b"), "é".repeat(200));
        Names::new(&[]).rename_all(vec![&mut one, &mut other, &mut third], "n");
        assert!([&one, &other, &third].iter().all(|name| is_name(name)), "{one} {other} {third}");
        assert_ne!(one, other);
        let mut fine = "n".repeat(MAX_NAME_BYTES);
        Names::new(&[]).rename_all(vec![&mut fine], "n");
        assert_eq!(fine.len(), MAX_NAME_BYTES);
    }
}

//! Statements as lines of text, four spaces a level.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Body, Comments, Gather, LocId, Program, RegExpr, Register, body_instruction_text, expr_text};

use super::layout::Item;
use super::names::Names;

/// Where lists of names go on in the next line.
const WIDTH: usize = 100;

/// The text of one body under construction.
pub(super) struct BodyText<'p> {
    program: &'p Program,
    comments: &'p Comments,
    body: &'p Body,
    /// Labels that were made up.
    made_up: BTreeMap<LocId, String>,
    text: String,
    level: usize,
}

impl<'p> BodyText<'p> {
    /// Starts a text; `wanted` places get a label even if nothing jumps there.
    pub(super) fn new(
        (program, comments): (&'p Program, &'p Comments),
        body: &'p Body,
        statements: &[Item],
        wanted: &[LocId],
        labels: &mut Names,
    ) -> Self {
        let mut named: BTreeSet<LocId> = wanted.iter().copied().gather();
        each_item(statements, &mut |item| named.extend(if let Item::Jump(to) = item { Some(*to) } else { None }));
        named.retain(|loc| body.locations[loc.index()].labels.is_empty());
        let mut made_up = BTreeMap::new();
        // Numbered as they appear.
        each_item(statements, &mut |item| {
            if let Item::Place(loc) = item
                && named.contains(loc)
            {
                made_up.insert(*loc, labels.fresh("l"));
            }
        });
        Self { program, comments, body, made_up, text: String::new(), level: 0 }
    }

    /// The text, and the labels that were made up.
    pub(super) fn finish(self) -> (String, Vec<(LocId, String)>) {
        (self.text, self.made_up.into_iter().collect())
    }

    /// One line. Braces at its ends change the level.
    pub(super) fn line(&mut self, line: &str) {
        self.level -= usize::from(line.starts_with('}'));
        self.text.push_str(&"    ".repeat(self.level));
        self.text.push_str(line);
        self.text.push('\n');
        self.level += usize::from(line.ends_with('{'));
    }

    /// `let a, b;`, which takes no step.
    pub(super) fn declare(&mut self, registers: &[&Register]) {
        let names: Vec<String> = registers.iter().map(|register| register.name.clone()).collect();
        for line in wrapped("let ", &names).lines() {
            self.line(line);
        }
    }

    /// Statements, one after the other.
    pub(super) fn statements(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Place(loc) => self.place(*loc),
            Item::Step(instruction) => {
                let text = body_instruction_text(self.program, self.body, instruction);
                self.line(&format!("{text};"));
            }
            Item::If(condition, then, otherwise) => self.branches(condition, then, otherwise),
            Item::While(condition, body) => {
                let head = format!("while {} {{", expr_text(self.body, condition));
                self.block(&head, body);
            }
            Item::Loop(body) => self.block("loop {", body),
            Item::Choose(branches) => self.choose(branches),
            Item::Jump(to) => {
                let label = self.labels(*to).next().unwrap_or_default().to_string();
                self.line(&format!("jump {label};"));
            }
            Item::Break => self.line("break;"),
            Item::Continue => self.line("continue;"),
            Item::Fail => self.line("assert false;"),
            Item::End => self.line("end;"),
        }
    }

    fn labels(&self, loc: LocId) -> impl Iterator<Item = &str> {
        let own = self.body.locations[loc.index()].labels.iter();
        own.chain(self.made_up.get(&loc)).map(String::as_str)
    }

    /// Labels stand one level out, so that they are easy to find.
    fn place(&mut self, loc: LocId) {
        let mut lines: Vec<String> = Vec::new();
        for label in self.labels(loc) {
            lines.extend(self.comments.at(label).map(|comment| format!("// {comment}")));
            lines.push(format!("{label}:"));
        }
        self.level -= 1;
        for line in lines {
            self.line(&line);
        }
        self.level += 1;
    }

    fn block(&mut self, head: &str, body: &[Item]) {
        let close = self.open_block(head, body);
        self.line(&close);
    }

    /// Whether nothing would be written.
    fn is_blank(&self, items: &[Item]) -> bool {
        items.iter().all(|item| matches!(item, Item::Place(loc) if self.labels(*loc).next().is_none()))
    }

    fn choose(&mut self, branches: &[Vec<Item>]) {
        let mut head = "choose {";
        for branch in branches {
            self.line(head);
            self.statements(branch);
            head = "} or {";
        }
        self.line("}");
    }

    fn branches(&mut self, condition: &RegExpr, then: &[Item], otherwise: &[Item]) {
        let (mut then, mut otherwise) = (then, otherwise);
        let mut head = format!("if {} {{", expr_text(self.body, condition));
        loop {
            let close = self.open_block(&head, then);
            // An `if` alone in an `else`, at a place without a name, needs no braces of its own.
            match otherwise {
                [Item::Place(loc), Item::If(condition, next_then, next_otherwise)]
                    if self.labels(*loc).next().is_none() =>
                {
                    head = format!("{close} else if {} {{", expr_text(self.body, condition));
                    (then, otherwise) = (next_then, next_otherwise);
                }
                [] => return self.line(&close),
                _ => {
                    self.line(&format!("{close} else {{"));
                    self.statements(otherwise);
                    return self.line("}");
                }
            }
        }
    }

    /// A block up to its closing brace, which is returned, behind all of the block if that is empty.
    fn open_block(&mut self, head: &str, items: &[Item]) -> String {
        if self.is_blank(items) {
            return format!("{head} }}");
        }
        self.line(head);
        self.statements(items);
        "}".to_string()
    }
}

/// A list of names after a keyword, in as many statements as it takes.
pub(super) fn wrapped(keyword: &str, names: &[String]) -> String {
    let mut text = String::new();
    let mut rest = names;
    while let Some((first, more)) = rest.split_first() {
        let mut line = format!("{keyword}{first}");
        rest = more;
        while let Some((next, more)) = rest.split_first() {
            if line.len() + next.len() + 3 > WIDTH {
                break;
            }
            line.push_str(", ");
            line.push_str(next);
            rest = more;
        }
        text.push_str(&line);
        text.push_str(";\n");
    }
    text
}

fn each_item(items: &[Item], visit: &mut impl FnMut(&Item)) {
    for item in items {
        visit(item);
        match item {
            Item::If(_, then, otherwise) => {
                each_item(then, visit);
                each_item(otherwise, visit);
            }
            Item::While(_, body) | Item::Loop(body) => each_item(body, visit),
            Item::Choose(branches) => branches.iter().for_each(|branch| each_item(branch, visit)),
            _ => {}
        }
    }
}

//! Conditions about a program that do not come from its text but, say, from the command line:
//! `P0 at critical && P1.r == 0`.
//!
//! They are written like those of properties, but are resolved against the program itself, so they work for programs in
//! every language.

use weir_ir::{
    BinaryOp, Diagnostic, Expr as Tree, LocId, Poll, Program, Source, Span, StateAtom, StateExpr, ThreadId,
    Uninterrupted, Value, nearest,
};

use super::ast::{Expr, ExprKind, Name, PlaceExpr, ThreadRef};
use super::{lexer, parser};
use crate::sink::Sink;

/// Reads a condition about `program`.
///
/// # Errors
/// All that is wrong with the text.
pub fn condition(program: &Program, text: &Source) -> Result<StateExpr, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    // It comes from a command line, so it is short.
    let poll = Poll::new(&Uninterrupted);
    let Some(lexed) = lexer::lex(text, &mut sink, &poll) else { return Err(sink.finish().err().unwrap_or_default()) };
    let mut read = Tree::Const(0);
    if let Some(expression) = parser::parse_condition(text, &lexed, &mut sink, &poll)
        && !sink.failed()
    {
        read = Resolver { program, sink: &mut sink }.condition(&expression);
    }
    sink.finish().map(|_| read)
}

struct Resolver<'p, 's> {
    program: &'p Program,
    sink: &'s mut Sink,
}

impl Resolver<'_, '_> {
    fn condition(&mut self, expression: &Expr<'_>) -> StateExpr {
        match &expression.kind {
            ExprKind::Number(value) => Tree::Const(*value),
            ExprKind::Malformed => Tree::Const(0),
            ExprKind::Name(name) => self.named(*name, 0),
            ExprKind::Index(name, index) => match self.constant(index) {
                Some(index) => self.named(*name, index),
                None => Tree::Const(0),
            },
            ExprKind::Memory(address) => match self.constant(address) {
                Some(address) => Tree::Leaf(StateAtom::Cell(address)),
                None => Tree::Const(0),
            },
            ExprKind::Unary(op, operand) => Tree::unary(*op, self.condition(operand)),
            ExprKind::Binary(op, left, right) => {
                let left = self.condition(left);
                Tree::binary(*op, left, self.condition(right))
            }
            ExprKind::At(place) => self.place(place, BinaryOp::Or),
            ExprKind::Count(place) => self.place(place, BinaryOp::Add),
            ExprKind::Register(thread, register) => self.register(thread, *register),
            ExprKind::AddressOf(..) | ExprKind::Call(..) | ExprKind::ReadModifyWrite(..) | ExprKind::Any(_) => {
                let help = "a condition refers to places (`T at label`, `T at end`), registers (`T.r`) and cells (`x`)";
                self.wrong("bad-target", "this is not allowed in a condition", expression.span, help)
            }
        }
    }

    fn wrong(&mut self, code: &'static str, what: impl Into<String>, span: Span, help: impl Into<String>) -> StateExpr {
        self.sink.error(Diagnostic::error(code, what, span).help(help));
        Tree::Const(0)
    }

    fn constant(&mut self, expression: &Expr<'_>) -> Option<Value> {
        let value = self.condition(expression);
        let mut leaves = false;
        value.for_each_leaf(&mut |_| leaves = true);
        if leaves {
            self.wrong("not-constant", "this must be a constant", expression.span, "write a number");
            return None;
        }
        Some(value.eval(&mut |_| 0))
    }

    fn named(&mut self, name: Name<'_>, index: Value) -> StateExpr {
        if let Some(&(_, value)) = self.program.constants.iter().find(|(known, _)| known == name.text) {
            return Tree::Const(value);
        }
        if let Some(shared) = self.program.shared(name.text) {
            let cell = usize::try_from(index).ok().and_then(|index| shared.addresses().nth(index));
            let help = format!("it has {} cells, numbered from 0", shared.initial.len());
            return match cell {
                Some(address) => Tree::Leaf(StateAtom::Cell(address)),
                None => self.wrong("no-such-cell", format!("`{}` has no cell {index}", name.text), name.span, help),
            };
        }
        if self.program.threads.iter().any(|thread| thread.family.0 == name.text) {
            let (thread, message) = (name.text, format!("`{}` is a thread, not a value", name.text));
            let help = format!("write `{thread} at label` for a place, or `{thread}.r` for a register");
            return self.wrong("not-a-value", message, name.span, help);
        }
        let known = self.program.shared.iter().map(|shared| shared.name.as_str());
        let help = suggestion(name.text, known, "write a register with its thread: `T.r`");
        self.wrong("unknown-name", format!("there is no cell or constant `{}`", name.text), name.span, help)
    }

    fn threads(&mut self, reference: &ThreadRef<'_>) -> Vec<ThreadId> {
        let index = match &reference.index {
            Some(index) => match self.constant(index) {
                Some(index) => Some(index),
                None => return Vec::new(),
            },
            None => None,
        };
        let name = reference.name.text;
        let program = self.program;
        let is_meant = |&thread: &ThreadId| {
            let thread = program.thread(thread);
            let (family, number) = (&thread.family.0, thread.family.1.map(Value::from));
            (family == name && (index.is_none() || number == index)) || (index.is_none() && thread.name == name)
        };
        let found: Vec<ThreadId> = program.thread_ids().filter(is_meant).collect();
        if found.is_empty() {
            let known = program.threads.iter().map(|thread| thread.name.as_str());
            let listed: Vec<&str> = known.clone().take(8).collect();
            let help = suggestion(name, known, &format!("the threads are: {}", listed.join(", ")));
            let shown = index.map_or(name.to_owned(), |index| format!("{name}[{index}]"));
            self.wrong("unknown-name", format!("there is no thread `{shown}`"), reference.span, help);
        }
        found
    }

    fn place(&mut self, place: &PlaceExpr<'_>, join: BinaryOp) -> StateExpr {
        let threads = self.threads(&place.thread);
        let (mut atoms, mut labels) = (Vec::new(), Vec::new());
        for &thread in &threads {
            let body = self.program.body(thread);
            let locations: Vec<LocId> = match &place.label {
                None => body.location_ids().filter(|&loc| body.is_done(loc)).collect(),
                Some(label) => {
                    let of = label.procedure.map_or(String::new(), |procedure| format!("{}.", procedure.text));
                    body.labelled(&format!("{of}{}", label.label.text))
                }
            };
            labels.extend(body.locations.iter().flat_map(|location| location.labels.iter().map(String::as_str)));
            if !locations.is_empty() {
                atoms.push(Tree::Leaf(StateAtom::At { thread, locations }));
            }
        }
        if atoms.is_empty() && !threads.is_empty() {
            return self.nowhere(place, &labels);
        }
        atoms.into_iter().reduce(|left, right| Tree::binary(join, left, right)).unwrap_or(Tree::Const(0))
    }

    fn nowhere(&mut self, place: &PlaceExpr<'_>, labels: &[&str]) -> StateExpr {
        let thread = place.thread.name.text;
        let Some(label) = &place.label else {
            let help = "use one of its labels instead";
            return self.wrong("never-ends", format!("thread `{thread}` never ends"), place.thread.span, help);
        };
        let listed: Vec<String> = labels.iter().take(8).map(|label| format!("`{label}`")).collect();
        let otherwise = match listed.is_empty() {
            true => "it has no labels; `T at end` means that thread `T` is done".to_owned(),
            false => format!("its labels are: {}", listed.join(", ")),
        };
        let help = suggestion(label.label.text, labels.iter().copied(), &otherwise);
        let what = format!("thread `{thread}` has no label `{}`", label.label.text);
        self.wrong("unknown-label", what, label.span(), help)
    }

    fn register(&mut self, reference: &ThreadRef<'_>, register: Name<'_>) -> StateExpr {
        let threads = self.threads(reference);
        let [thread] = threads[..] else {
            if threads.len() > 1 {
                let name = reference.name.text;
                let what = format!("`{name}` is several threads, so `{}` is ambiguous", register.text);
                self.wrong("which-instance", what, reference.span, format!("write `{name}[0].{}`", register.text));
            }
            return Tree::Const(0);
        };
        let body = self.program.body(thread);
        if let Some(found) = body.register(register.text) {
            return Tree::Leaf(StateAtom::Register { thread, register: found });
        }
        let known: Vec<&str> =
            body.registers.iter().filter(|known| !known.is_temporary).map(|known| known.name.as_str()).collect();
        let listed: Vec<&str> = known.iter().copied().take(8).collect();
        let otherwise = if listed.is_empty() {
            "it has no registers".to_owned()
        } else {
            format!("its registers are: {}", listed.join(", "))
        };
        let help = suggestion(register.text, known.iter().copied(), &otherwise);
        let name = &self.program.thread(thread).name;
        self.wrong(
            "unknown-register",
            format!("thread `{name}` has no register `{}`", register.text),
            register.span,
            help,
        )
    }
}

fn suggestion<'n>(name: &str, known: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    match nearest(name, known.take(1_000)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise.to_owned(),
    }
}

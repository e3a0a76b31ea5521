//! Properties over the program's own variables and lines: `producer at queue.c:41 && q.len > 4`.

mod parse;

use weir_ir::{
    BinaryOp, Body, Expr, Property, PropertyKind, Source, Span, StateAtom, StateExpr, ThreadId, UnaryOp, Value,
};

use crate::call;
use crate::cells::Cells;
use crate::debug::Returned;
use crate::objects::{Objects, Part};
use crate::ops::{Reg, cut, shift_right, signed};
use crate::refusal::Refusal;
use parse::Tree;

/// What must hold, as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) text: String,
    word: Word,
    condition: Option<Tree>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    Forbid,
    Always,
    Exists,
    Live,
    Deadlock,
    Stuck,
}

/// Something that a condition looks at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Name {
    /// A variable, or a thread and one of its registers.
    Path(String),
    /// A thread, a file and a line.
    At(String, String, u32),
}

/// A thread by its names.
#[derive(Clone, Copy)]
pub(crate) struct NamedThread<'p> {
    pub(crate) name: &'p str,
    /// What its function returns, if that is known.
    pub(crate) result: Option<Returned>,
    pub(crate) body: &'p Body,
}

impl Written {
    /// Reads a property: `forbid CONDITION`, `always CONDITION`, and so on.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let text = text.trim().trim_end_matches(';').trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let word = match (word, rest) {
            ("forbid", "deadlock") => Word::Deadlock,
            ("forbid", "stuck") => Word::Stuck,
            ("forbid", _) => Word::Forbid,
            ("always", _) => Word::Always,
            ("exists", _) => Word::Exists,
            ("live", _) => Word::Live,
            _ => {
                return Err(Refusal::new("malformed-property", format!("`{text}` is not a property")).help(
                    "write `forbid CONDITION`, `always CONDITION`, `exists CONDITION`, `live CONDITION`, \
                           `forbid deadlock` or `forbid stuck`",
                ));
            }
        };
        let condition = match word {
            Word::Deadlock | Word::Stuck => None,
            _ => Some(parse::condition(rest)?),
        };
        Ok(Self { text: text.to_owned(), word, condition })
    }

    /// The places in memory that it looks at: address and size.
    pub(crate) fn observed(&self, objects: &Objects, threads: &[&str]) -> Result<Vec<(Value, u32)>, Refusal> {
        let mut found = Vec::new();
        let mut failed = None;
        if let Some(condition) = &self.condition {
            condition.for_each_leaf(&mut |name| {
                let Name::Path(path) = name else { return };
                if register(path, threads).is_some() {
                    return;
                }
                match place(path, objects) {
                    Ok(place) => found.push(place),
                    Err(refusal) => failed = Some(refusal),
                }
            });
        }
        failed.map_or(Ok(found), Err)
    }

    /// The registers of a thread that it looks at.
    pub(crate) fn registers(&self, threads: &[&str], thread: usize) -> Vec<Reg> {
        let mut found = Vec::new();
        if let Some(condition) = &self.condition {
            condition.for_each_leaf(&mut |name| {
                if let Name::Path(path) = name
                    && let Some((at, reg, _)) = register(path, threads)
                    && at == thread
                {
                    found.push(reg);
                }
            });
        }
        found
    }

    /// The property of the program.
    pub(crate) fn lower(
        &self,
        source: &Source,
        threads: &[NamedThread<'_>],
        (objects, cells): (&Objects, &Cells),
        span: Span,
    ) -> Result<Property, Refusal> {
        let scope = Scope { source, threads, objects, cells };
        let condition = match (&self.condition, self.word) {
            // All threads have ended.
            (Some(condition), Word::Always | Word::Exists) => Some(scope.lower(condition)?),
            (Some(condition), _) => Some(scope.surely(condition, true)?),
            (None, _) => None,
        };
        let condition = condition.unwrap_or(Expr::Const(0));
        let kind = match self.word {
            Word::Forbid => PropertyKind::Forbid(condition),
            Word::Always => PropertyKind::Always(condition),
            Word::Exists => PropertyKind::Exists(condition),
            Word::Live => PropertyKind::Live(condition),
            Word::Deadlock => PropertyKind::ForbidDeadlock,
            Word::Stuck => PropertyKind::ForbidStuck,
        };
        Ok(Property { kind, span })
    }
}

/// What a thread returned: the thread, the register, and how many bytes of it count if the name says so.
fn register(path: &str, threads: &[&str]) -> Option<(usize, Reg, Option<u32>)> {
    let (thread, name) = path.rsplit_once('.')?;
    let thread = threads.iter().position(|known| *known == thread)?;
    match name {
        "result" => Some((thread, Reg::AX, None)),
        "rax" => Some((thread, Reg::AX, Some(8))),
        "eax" => Some((thread, Reg::AX, Some(4))),
        _ => None,
    }
}

/// Where a variable is, and how many bytes it has.
fn place(path: &str, objects: &Objects) -> Result<(Value, u32), Refusal> {
    for object in objects.iter() {
        let is_named = |part: &&Part| part.name == path || part.name == object.without_path(path);
        if let Some(part) = object.parts.iter().find(is_named) {
            return Ok((object.address.wrapping_add(part.offset) as Value, part.size));
        }
    }
    match objects.named(path) {
        Some(object) if object.parts.is_empty() && [1, 2, 4, 8].contains(&object.size) => {
            Ok((object.address as Value, object.size as u32))
        }
        Some(object) => {
            let parts: Vec<String> = object.parts.iter().take(6).map(|part| format!("`{}`", part.name)).collect();
            let help = if parts.is_empty() {
                "compile with `-g`, so that its parts have names".to_owned()
            } else {
                format!("name a part of it, such as {}", parts.join(", "))
            };
            Err(Refusal::new("not-a-number", format!("`{path}` is not a number")).help(help))
        }
        None => Err(call::unknown(path, objects)),
    }
}

/// What names in conditions refer to.
struct Scope<'p> {
    source: &'p Source,
    threads: &'p [NamedThread<'p>],
    objects: &'p Objects,
    cells: &'p Cells,
}

impl Scope<'_> {
    /// A condition that is looked at when all threads have ended.
    fn lower(&self, condition: &Tree) -> Result<StateExpr, Refusal> {
        let mut failed = None;
        let lowered = condition.map(&mut |name| {
            self.name(name).unwrap_or_else(|refusal| {
                failed.get_or_insert(refusal);
                Expr::Const(0)
            })
        });
        failed.map_or(Ok(lowered), Err)
    }

    /// A condition that is looked at in all states: where it certainly holds, or where it certainly does not. Before a
    /// thread has ended, a comparison with its result does neither.
    fn surely(&self, condition: &Tree, holds: bool) -> Result<StateExpr, Refusal> {
        let ends = self.ends(condition)?;
        match condition {
            _ if ends.is_empty() => {
                let lowered = self.lower(condition)?;
                Ok(if holds { lowered } else { lowered.negated() })
            }
            Expr::Unary(UnaryOp::Not, inner) => self.surely(inner, !holds),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let is_and = (*op == BinaryOp::And) == holds;
                let op = if is_and { BinaryOp::And } else { BinaryOp::Or };
                Ok(Expr::binary(op, self.surely(left, holds)?, self.surely(right, holds)?))
            }
            _ => {
                let lowered = self.lower(condition)?;
                let lowered = if holds { lowered } else { lowered.negated() };
                Ok(ends.into_iter().rev().fold(lowered, |rest, end| Expr::binary(BinaryOp::And, end, rest)))
            }
        }
    }

    /// The ends of the threads whose results a condition looks at.
    fn ends(&self, condition: &Tree) -> Result<Vec<StateExpr>, Refusal> {
        let mut found = Vec::new();
        let mut failed = None;
        condition.for_each_leaf(&mut |name| {
            if let Name::Path(path) = name
                && let Some((thread, ..)) = register(path, &self.names())
            {
                match self.end(thread) {
                    Ok(end) if !found.contains(&end) => found.push(end),
                    Ok(_) => {}
                    Err(refusal) => failed = Some(refusal),
                }
            }
        });
        failed.map_or(Ok(found), Err)
    }

    /// A thread has ended.
    fn end(&self, thread: usize) -> Result<StateExpr, Refusal> {
        let NamedThread { name, body, .. } = self.threads[thread];
        let locations: Vec<_> = body.location_ids().filter(|&location| body.is_done(location)).collect();
        if locations.is_empty() {
            return Err(Refusal::new("no-result", format!("`{name}` never returns, so that it has no result"))
                .help("name a variable or a line of the program"));
        }
        Ok(Expr::Leaf(StateAtom::At { thread: ThreadId::new(thread), locations }))
    }

    fn names(&self) -> Vec<&str> {
        self.threads.iter().map(|thread| thread.name).collect()
    }

    fn name(&self, name: &Name) -> Result<StateExpr, Refusal> {
        match name {
            Name::At(thread, file, line) => at(thread, file, *line, self.source, self.threads),
            Name::Path(path) => match register(path, &self.names()) {
                Some((thread, reg, size)) => self.register(thread, reg, size),
                None => self.variable(path),
            },
        }
    }

    /// What a thread has returned: so many bytes of it, or what its function is declared to return.
    fn register(&self, thread: usize, reg: Reg, size: Option<u32>) -> Result<StateExpr, Refusal> {
        let NamedThread { name, result, body } = self.threads[thread];
        let atom = |register| Expr::Leaf(StateAtom::Register { thread: ThreadId::new(thread), register });
        let value = body.register(&reg.name()).map_or(Expr::Const(0), atom);
        match (size, result) {
            (None, Some(Returned::Nothing)) => {
                Err(Refusal::new("no-result", format!("`{name}` returns nothing, so that it has no result"))
                    .help("name a variable of the program, or have the function return something"))
            }
            (None, Some(Returned::Number { size, is_signed: false })) if size < 8 => Ok(cut(value, size)),
            (None, Some(Returned::Number { size, is_signed: true })) | (Some(size), _) if size < 8 => {
                Ok(signed(value, size))
            }
            _ => Ok(value),
        }
    }

    fn variable(&self, path: &str) -> Result<StateExpr, Refusal> {
        let (address, size) = place(path, self.objects)?;
        let Some(cell) = self.cells.containing(address, size) else { return Err(call::unknown(path, self.objects)) };
        let whole = Expr::Leaf(StateAtom::Cell(cell.address));
        let part = match cell.size == size {
            true => whole,
            false => cut(shift_right(whole, 8 * (address - cell.address) as u32), size),
        };
        let object = self.objects.at(address);
        let is_signed = object.and_then(|object| object.part(address)).is_some_and(|part| part.is_signed);
        Ok(if is_signed { signed(part, size) } else { part })
    }
}

/// `THREAD at FILE:LINE`.
fn at(thread: &str, file: &str, line: u32, source: &Source, threads: &[NamedThread<'_>]) -> Result<StateExpr, Refusal> {
    let Some(number) = threads.iter().position(|known| known.name == thread) else {
        let names: Vec<String> = threads.iter().map(|thread| format!("`{}`", thread.name)).collect();
        return Err(Refusal::new("unknown-thread", format!("there is no thread `{thread}`"))
            .help(format!("the threads are {}", names.join(", "))));
    };
    let body = threads[number].body;
    let is_file = |name: &str| name == file || name.ends_with(&format!("/{file}"));
    let mut others = Vec::new();
    let mut locations = Vec::new();
    for edge in body.edges() {
        let (origin, span) = source.origin(edge.span);
        if !is_file(origin.name()) {
            continue;
        }
        let here = origin.line(span);
        others.push(here);
        if here == line {
            locations.push(edge.from);
        }
    }
    locations.sort_unstable();
    locations.dedup();
    if locations.is_empty() {
        others.sort_unstable();
        others.dedup();
        let shown: Vec<String> = others.iter().map(u32::to_string).collect();
        let help = if shown.is_empty() {
            "compile with `-g`, and name the file as the compiler was given it".to_owned()
        } else {
            format!("it has code on these lines: {}", shown.join(", "))
        };
        return Err(Refusal::new("no-step", format!("`{thread}` has no step at {file}:{line}")).help(help));
    }
    Ok(Expr::Leaf(StateAtom::At { thread: ThreadId::new(number), locations }))
}

/// Operators, the longest first.
const OPERATORS: [(&str, BinaryOp); 18] = [
    ("&&", BinaryOp::And),
    ("||", BinaryOp::Or),
    ("==", BinaryOp::Equal),
    ("!=", BinaryOp::NotEqual),
    ("<=", BinaryOp::LessEqual),
    (">=", BinaryOp::GreaterEqual),
    ("<<", BinaryOp::ShiftLeft),
    (">>", BinaryOp::ShiftRight),
    ("<", BinaryOp::Less),
    (">", BinaryOp::Greater),
    ("+", BinaryOp::Add),
    ("-", BinaryOp::Subtract),
    ("*", BinaryOp::Multiply),
    ("/", BinaryOp::Divide),
    ("%", BinaryOp::Remainder),
    ("&", BinaryOp::BitAnd),
    ("|", BinaryOp::BitOr),
    ("^", BinaryOp::BitXor),
];

const PREFIXES: [(char, UnaryOp); 3] = [('!', UnaryOp::Not), ('-', UnaryOp::Negate), ('~', UnaryOp::Complement)];

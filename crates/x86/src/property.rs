//! Properties over the program's own variables and lines: `producer at queue.c:41 && q.len > 4`.

mod parse;

use weir_ir::{
    BinaryOp, Body, Expr, Property, PropertyKind, RegId, Source, Span, StateAtom, StateExpr, ThreadId, UnaryOp, Value,
};

use crate::call;
use crate::cells::Cells;
use crate::objects::Objects;
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
pub(crate) struct NamedThread<'p> {
    pub(crate) name: &'p str,
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
        let mut failed = None;
        let condition = self.condition.as_ref().map(|condition| {
            condition.map(&mut |name| {
                lower(name, source, threads, objects, cells).unwrap_or_else(|refusal| {
                    failed.get_or_insert(refusal);
                    Expr::Const(0)
                })
            })
        });
        if let Some(refusal) = failed {
            return Err(refusal);
        }
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

/// A thread's register: the thread, the register, and how many bytes of it count.
fn register(path: &str, threads: &[&str]) -> Option<(usize, Reg, u32)> {
    let (thread, name) = path.rsplit_once('.')?;
    let thread = threads.iter().position(|known| *known == thread)?;
    match name {
        "result" | "rax" => Some((thread, Reg::AX, 8)),
        "eax" => Some((thread, Reg::AX, 4)),
        _ => None,
    }
}

/// Where a variable is, and how many bytes it has.
fn place(path: &str, objects: &Objects) -> Result<(Value, u32), Refusal> {
    for object in objects.iter() {
        if let Some(part) = object.parts.iter().find(|part| part.name == path) {
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

fn lower(
    name: &Name,
    source: &Source,
    threads: &[NamedThread<'_>],
    objects: &Objects,
    cells: &Cells,
) -> Result<StateExpr, Refusal> {
    match name {
        Name::Path(path) => {
            let names: Vec<&str> = threads.iter().map(|thread| thread.name).collect();
            if let Some((number, reg, size)) = register(path, &names) {
                let id: Option<RegId> = threads[number].body.register(&reg.name());
                let atom =
                    id.map(|register| Expr::Leaf(StateAtom::Register { thread: ThreadId::new(number), register }));
                return Ok(atom.map_or(Expr::Const(0), |value| if size < 8 { signed(value, size) } else { value }));
            }
            let (address, size) = place(path, objects)?;
            let Some(cell) = cells.containing(address, size) else { return Err(call::unknown(path, objects)) };
            let whole = Expr::Leaf(StateAtom::Cell(cell.address));
            let part = match cell.size == size {
                true => whole,
                false => cut(shift_right(whole, 8 * (address - cell.address) as u32), size),
            };
            let is_signed =
                objects.at(address).and_then(|object| object.part(address)).is_some_and(|part| part.is_signed);
            Ok(if is_signed { signed(part, size) } else { part })
        }
        Name::At(thread, file, line) => at(thread, file, *line, source, threads),
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

//! Words to programs.
//!
//! The language has no lines, only words. Still, an instruction that lacks an operand is told from one that
//! goes on in the next line by the word that follows: a directive at the beginning of a line is no operand.

use std::collections::HashMap;

use weir_ir::{
    BinaryOp, Body, Diagnostic, Edge, Expr, Instruction, LocId, Location, Multiplicity, Program, Property,
    PropertyKind, RegExpr, RegId, Register, Source, Span, StateAtom, StateExpr, Thread, ThreadId, UnaryOp, Value,
    nearest,
};

use super::words::{DIRECTIVES, Word, Words};
use super::{cells, numbers, states};
use crate::Parsed;
use crate::limits::{MAX_EDGES, MAX_NESTING, MAX_THREADS};
use crate::raw_text::unreadable;
use crate::sink::Sink;

const INSTRUCTIONS: [&str; 8] = ["read", "write", "local", "check", "mfence", "lock", "unlock", "noop"];

/// The largest exponent of `^`: powers are written out as products.
const MAX_EXPONENT: Value = 64;

/// The error was reported already.
struct Failed;

type Read<T> = Result<T, Failed>;

/// Reads a program in Trencher's language.
///
/// # Errors
/// All that is wrong with the source, in its order.
pub fn parse(source: &Source) -> Result<Parsed, Vec<Diagnostic>> {
    if let Some(problem) = unreadable(source.text(), ".trencher") {
        return Err(vec![problem]);
    }
    let words = Words::new(source);
    let mut reader = Reader { words, sink: Sink::default(), threads: Vec::new(), finals: Vec::new(), edges: 0 };
    let memory_size = reader.file();
    let Reader { mut sink, threads, finals, .. } = reader;
    let shared = cells::declared(&threads);
    let properties = final_states(&finals).into_iter().collect();
    let program = Program { source: source.clone(), shared, threads, properties, ..Program::default() };
    for cell in memory_size.iter().flat_map(|&size| cells::beyond(&program, size)) {
        let message = format!("address {} is beyond the declared memory size", cell.address);
        let help = "Weir has a cell for every address, but Trencher does not";
        sink.warning(Diagnostic::warning("beyond-memory", message, cell.span).help(help));
    }
    sink.finish().map(|warnings| Parsed { program, warnings })
}

/// `final` names the state that Trencher's search for a state looks for: all of them at once.
fn final_states(finals: &[(ThreadId, LocId, Span)]) -> Option<Property> {
    let span = finals.first()?.2;
    let at =
        |&(thread, loc, _): &(ThreadId, LocId, Span)| StateExpr::Leaf(StateAtom::At { thread, locations: vec![loc] });
    let all = finals.iter().map(at).reduce(|left, right| Expr::binary(BinaryOp::And, left, right))?;
    Some(Property { kind: PropertyKind::Forbid(all), span })
}

struct Reader<'s> {
    words: Words<'s>,
    sink: Sink,
    threads: Vec<Thread>,
    finals: Vec<(ThreadId, LocId, Span)>,
    edges: usize,
}

impl<'s> Reader<'s> {
    /// Reads everything; gives the memory size that was stated.
    fn file(&mut self) -> Option<Value> {
        let mut memory_size = None;
        while let Some(word) = self.words.peek() {
            match word.text {
                _ if word.is_comment() => self.words.skip_line(),
                "thread" if self.threads.len() >= MAX_THREADS => {
                    let message = format!("more than {MAX_THREADS} threads");
                    self.sink.error(Diagnostic::error("too-many-threads", message, word.span));
                    return memory_size;
                }
                "thread" => self.thread(),
                "memory_size" => {
                    self.words.next();
                    memory_size = self.memory_size().ok();
                }
                _ => {
                    let message = format!("expected `thread`, found `{}`", shown(word.text));
                    let error = Diagnostic::error("unexpected-word", message, word.span);
                    let help = "a program is a list of `thread NAME … end`; comments start with `#`";
                    let guess = nearest(word.text, ["thread", "memory_size"]);
                    self.sink.error(error.help(guess.map_or(help.into(), |guess| format!("did you mean `{guess}`?"))));
                    self.words.skip_line();
                    self.words.skip_to_directive();
                }
            }
        }
        if self.threads.is_empty() && !self.sink.failed() {
            let error = Diagnostic::error("no-thread", "the program has no threads", self.words.place());
            self.sink.error(error.help("a thread consists of `thread NAME`, `initial STATE`, transitions and `end`"));
        }
        memory_size
    }

    fn memory_size(&mut self) -> Read<Value> {
        let word = self.operand("the number of cells")?;
        if numbers::is_meant(word.text) { self.number(word) } else { Err(self.unexpected(word, "a number")) }
    }

    fn thread(&mut self) {
        let start = self.words.next().map_or(Span::default(), |word| word.span);
        let (name, span) = match self.operand("a thread name") {
            Ok(word) => (word.text, start.to(word.span)),
            Err(Failed) => ("", start),
        };
        if let Some(other) = self.threads.iter().find(|thread| thread.name == name) {
            let error = Diagnostic::error("duplicate-name", format!("two threads are named `{}`", shown(name)), span);
            self.sink.error(error.also(other.span, "the first one").help("rename one of them"));
        }
        let mut automaton = Automaton::default();
        let errors = self.sink.errors();
        self.directives(name, start, &mut automaton);
        // Where part of a thread is missing, complaints about the rest are noise.
        let is_whole = self.sink.errors() == errors;
        let Some((entry, initial)) = automaton.initial else {
            if !is_whole {
                return;
            }
            let error = Diagnostic::error("no-initial", format!("thread `{}` has no initial state", shown(name)), span);
            self.sink.error(error.help("add `initial STATE`"));
            return;
        };
        let id = ThreadId::new(self.threads.len());
        self.finals.extend(automaton.last.map(|(loc, span)| (id, loc, span)));
        let Automaton { registers, locations, edges, .. } = automaton;
        let body = Body::new(registers.items, locations.items, entry, None, edges);
        if is_whole {
            states::check(name, &body, initial, &mut self.sink);
        }
        let family = (name.to_string(), None);
        self.threads.push(Thread { name: name.into(), family, multiplicity: Multiplicity::One, weight: 1, body, span });
    }

    /// Reads up to `end`.
    fn directives(&mut self, name: &str, start: Span, automaton: &mut Automaton) {
        while let Some(word) = self.words.peek() {
            if word.is_comment() {
                self.words.skip_line();
                continue;
            }
            let read = match word.text {
                "thread" => break,
                "end" => {
                    self.words.next();
                    return;
                }
                "initial" | "final" => self.marked_state(automaton),
                "transition" => self.transition(automaton),
                _ => {
                    self.words.next();
                    let failed = self.unexpected(word, "`initial`, `transition` or `end`");
                    if self.words.peek().is_some_and(|next| next.starts_line) { Ok(()) } else { Err(failed) }
                }
            };
            if read.is_err() {
                self.words.skip_to_directive();
            }
        }
        let found = self.words.peek().map_or("the end of the file".to_string(), |word| format!("`{}`", word.text));
        let message = format!("thread `{}` is not closed: expected `end`, found {found}", shown(name));
        let error = Diagnostic::error("missing-end", message, self.words.place());
        self.sink.error(error.also(start, "the thread starts here").help("close it with `end`"));
    }

    /// `initial STATE` or `final STATE`.
    fn marked_state(&mut self, automaton: &mut Automaton) -> Read<()> {
        let Some(directive) = self.words.next() else { return Err(Failed) };
        let state = self.operand("a state")?;
        let loc = automaton.state(state);
        let place = if directive.text == "initial" { &mut automaton.initial } else { &mut automaton.last };
        if let Some((_, first)) = place.replace((loc, state.span)) {
            let message = format!("the thread has more than one `{}`", directive.text);
            let error = Diagnostic::error("duplicate-initial", message, state.span).also(first, "the first one");
            self.sink.error(error.help("remove one of them"));
        }
        Ok(())
    }

    fn transition(&mut self, automaton: &mut Automaton) -> Read<()> {
        let start = self.words.place();
        self.words.next();
        let from = self.operand("the source state")?;
        let to = self.operand("the target state")?;
        let (from, to) = (automaton.state(from), automaton.state(to));
        let instruction = self.instruction(automaton)?;
        self.edges += 1;
        if self.edges == MAX_EDGES + 1 {
            let message = format!("the program is too large: more than {MAX_EDGES} transitions");
            self.sink.error(Diagnostic::error("program-too-large", message, start).help("make it smaller"));
        }
        if self.edges <= MAX_EDGES {
            automaton.edges.push(Edge { from, to, instruction, span: start.to(self.words.previous()) });
        }
        Ok(())
    }

    fn instruction(&mut self, automaton: &mut Automaton) -> Read<Instruction> {
        let name = self.operand("an instruction")?;
        Ok(match name.text {
            "read" => {
                let register = self.register(automaton)?;
                Instruction::Load { register, address: self.expr(automaton, "an address", 0)? }
            }
            "write" => {
                let value = self.expr(automaton, "a value", 0)?;
                Instruction::Store { address: self.expr(automaton, "an address", 0)?, value }
            }
            "local" => {
                let register = self.register(automaton)?;
                Instruction::Assign { register, value: self.expr(automaton, "a value", 0)? }
            }
            "check" => Instruction::Assume(self.expr(automaton, "a condition", 0)?),
            "mfence" => Instruction::Fence,
            "lock" => Instruction::Lock,
            "unlock" => Instruction::Unlock,
            "noop" => Instruction::Skip,
            other => {
                let message = format!("there is no instruction `{}`", shown(other));
                let error = Diagnostic::error("unknown-instruction", message, name.span);
                let help = match nearest(other, INSTRUCTIONS) {
                    Some(guess) => format!("did you mean `{guess}`?"),
                    None => format!("instructions are `{}`", INSTRUCTIONS.join("`, `")),
                };
                self.sink.error(error.help(help));
                return Err(Failed);
            }
        })
    }

    /// The register that an instruction sets.
    fn register(&mut self, automaton: &mut Automaton) -> Read<RegId> {
        let word = self.operand("a register")?;
        if numbers::is_meant(word.text) || operator(word.text).is_some() {
            let kind = if numbers::is_meant(word.text) { "number" } else { "operator" };
            let message = format!("`{}` is a {kind}, not a register", shown(word.text));
            let error = Diagnostic::error("not-a-register", message, word.span);
            self.sink.error(error.help("`read` and `local` take the register first"));
            return Err(Failed);
        }
        Ok(automaton.register(word))
    }

    fn expr(&mut self, automaton: &mut Automaton, what: &str, depth: usize) -> Read<RegExpr> {
        let word = self.operand(what)?;
        if depth > MAX_NESTING {
            let message = format!("nested more than {MAX_NESTING} deep");
            let error = Diagnostic::error("too-deep", message, word.span);
            self.sink.error(error.help("compute it in several steps, using registers"));
            return Err(Failed);
        }
        if numbers::is_meant(word.text) {
            return self.number(word).map(Expr::Const);
        }
        let mut operand = |reader: &mut Self, nth: &str| {
            reader.expr(automaton, &format!("the {nth}operand of `{}`", word.text), depth + 1)
        };
        match operator(word.text) {
            None => Ok(Expr::Leaf(automaton.register(word))),
            Some(Operator::Not) => Ok(Expr::unary(UnaryOp::Not, operand(self, "")?)),
            Some(Operator::Binary(op)) => {
                let left = operand(self, "first ")?;
                Ok(Expr::binary(op, left, operand(self, "second ")?))
            }
            Some(Operator::Power) => {
                let base = operand(self, "first ")?;
                let exponent = operand(self, "second ")?;
                self.power(&base, &exponent, word)
            }
        }
    }

    /// `^ BASE N`, for a number N: a product. Only of a register or number, so that nesting cannot multiply it.
    fn power(&mut self, base: &RegExpr, exponent: &RegExpr, word: Word<'_>) -> Read<RegExpr> {
        let count = exponent.constant().filter(|count| (0..=MAX_EXPONENT).contains(count));
        let (Some(count), Expr::Const(_) | Expr::Leaf(_)) = (count, base) else {
            let message = format!("`^` takes a register or number and an exponent from 0 to {MAX_EXPONENT}");
            self.sink.error(Diagnostic::error("bad-power", message, word.span).help("write out the product"));
            return Err(Failed);
        };
        let factors = (0..count).map(|_| base.clone());
        let product = factors.reduce(|left, right| Expr::binary(BinaryOp::Multiply, left, right));
        Ok(product.unwrap_or(Expr::Const(1)))
    }

    fn number(&mut self, word: Word<'_>) -> Read<Value> {
        numbers::value(word).map_err(|error| {
            self.sink.error(*error);
            Failed
        })
    }

    /// The next word, where one is needed.
    fn operand(&mut self, what: &str) -> Read<Word<'s>> {
        let found = match self.words.peek() {
            Some(word) if word.begins_line_anew() => format!("`{}` on a new line", shown(word.text)),
            Some(word) => {
                self.words.next();
                return Ok(word);
            }
            None => "the end of the file".to_string(),
        };
        let behind = self.words.previous();
        let message = format!("expected {what}, found {found}");
        let error = Diagnostic::error("unexpected-word", message, Span { start: behind.end, end: behind.end });
        self.sink.error(error.label(format!("expected {what} here")));
        Err(Failed)
    }

    fn unexpected(&mut self, word: Word<'_>, expected: &str) -> Failed {
        let message = format!("expected {expected}, found `{}`", shown(word.text));
        let error = Diagnostic::error("unexpected-word", message, word.span);
        let error = match nearest(word.text, DIRECTIVES) {
            Some(guess) => error.help(format!("did you mean `{guess}`?")),
            None if word.starts_line => error,
            None => error.help("the instruction may have too many operands"),
        };
        self.sink.error(error);
        Failed
    }
}

enum Operator {
    Not,
    Power,
    Binary(BinaryOp),
}

fn operator(text: &str) -> Option<Operator> {
    use BinaryOp::{Add, And, BitAnd, Equal, Greater, GreaterEqual, Less, LessEqual, Multiply, NotEqual, Or, Subtract};
    const KNOWN: [BinaryOp; 12] =
        [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Or, Add, Subtract, Multiply, BitAnd];
    match text {
        "!" => Some(Operator::Not),
        "^" => Some(Operator::Power),
        _ => KNOWN.into_iter().find(|op| op.symbol() == text).map(Operator::Binary),
    }
}

/// A word as messages show it: any word is a name, even a long one.
fn shown(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

/// Things with names, numbered as they come.
struct Numbered<T> {
    items: Vec<T>,
    numbers: HashMap<String, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { items: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T> Numbered<T> {
    fn of(&mut self, name: &str, make: impl FnOnce() -> T) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.items.push(make());
        self.numbers.insert(name.to_string(), self.items.len() - 1);
        self.items.len() - 1
    }
}

/// A thread while it is read.
#[derive(Default)]
struct Automaton {
    registers: Numbered<Register>,
    locations: Numbered<Location>,
    edges: Vec<Edge>,
    initial: Option<(LocId, Span)>,
    last: Option<(LocId, Span)>,
}

impl Automaton {
    fn state(&mut self, word: Word<'_>) -> LocId {
        let location = || Location { labels: vec![word.text.to_string()], span: word.span };
        LocId::new(self.locations.of(word.text, location))
    }

    fn register(&mut self, word: Word<'_>) -> RegId {
        let register = || Register { name: word.text.to_string(), is_temporary: false, span: word.span };
        RegId::new(self.registers.of(word.text, register))
    }
}

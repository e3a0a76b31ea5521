//! Tokens to programs.
//!
//! The language has no lines, only tokens. Still, the token that follows distinguishes an instruction that lacks an
//! operand from one that continues on the next line: a directive at the start of a line is never an operand.

use std::collections::HashMap;

use weir_ir::{
    BinaryOp, Body, Diagnostic, Edge, Expr, Instruction, LocId, Location, Multiplicity, Poll, Program, Property,
    PropertyKind, RegExpr, RegId, Register, Source, Span, StateAtom, StateExpr, Thread, ThreadId, UnaryOp,
    Uninterrupted, Value, nearest,
};

use super::tokens::{Kind, Token, directives, lex, shown};
use super::{cells, numbers, states};
use crate::limits::{MAX_EDGES, MAX_EXPONENT, MAX_THREADS};
use crate::parsed::Parsed;
use crate::parsing::raw_text::unreadable;
use crate::parsing::{Cursor, Descent, Failed, Parse, too_deep, unexpected};
use crate::sink::Sink;

const INSTRUCTIONS: [&str; 8] = ["read", "write", "local", "check", "mfence", "lock", "unlock", "noop"];

/// Reads a program in Trencher's language.
///
/// # Errors
/// All that is wrong with the source, in its order.
pub fn parse(source: &Source) -> Result<Parsed, Vec<Diagnostic>> {
    read(source, &Poll::new(&Uninterrupted))
}

/// Reads a program. Once the poll is over, the result is of no use.
pub(crate) fn read(source: &Source, poll: &Poll<'_>) -> Result<Parsed, Vec<Diagnostic>> {
    if let Some(problem) = unreadable(source.text(), ".trencher") {
        return Err(vec![problem]);
    }
    let (tokens, end) = lex(source);
    let cursor = Cursor::new(&tokens, end, poll);
    let mut parser = Parser { cursor, sink: Sink::default(), threads: Vec::new(), finals: Vec::new(), edges: 0 };
    let memory_size = parser.file();
    let Parser { mut sink, threads, finals, .. } = parser;
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

struct Parser<'s, 'p> {
    cursor: Cursor<'p, Token<'s>>,
    sink: Sink,
    threads: Vec<Thread>,
    finals: Vec<(ThreadId, LocId, Span)>,
    edges: usize,
}

impl<'s: 'p, 'p> Descent<'p> for Parser<'s, 'p> {
    type Token = Token<'s>;

    fn cursor(&self) -> &Cursor<'p, Token<'s>> {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<'p, Token<'s>> {
        &mut self.cursor
    }

    fn shown(&self, token: Token<'s>) -> String {
        shown(token.text)
    }

    fn error(&mut self, error: Diagnostic) -> Failed {
        self.sink.error(error);
        Failed
    }

    /// At the operand that was just taken.
    fn too_deep(&mut self) -> Failed {
        self.error(too_deep(self.previous(), "compute it in several steps, using registers"))
    }
}

impl<'s> Parser<'s, '_> {
    /// Reads everything; returns the memory size that was stated.
    fn file(&mut self) -> Option<Value> {
        let mut memory_size = None;
        loop {
            let token = self.token();
            match token.kind {
                Kind::Eof => break,
                Kind::Comment => self.skip_line(),
                Kind::Thread if self.threads.len() >= MAX_THREADS => {
                    let message = format!("more than {MAX_THREADS} threads");
                    self.error(Diagnostic::error("too-many-threads", message, token.span));
                    return memory_size;
                }
                Kind::Thread => self.thread(),
                Kind::MemorySize => {
                    self.bump();
                    memory_size = self.memory_size().ok();
                }
                _ => {
                    let help = "a program is a list of `thread NAME … end`; comments start with `#`";
                    let guess = nearest(token.text, ["thread", "memory_size"]);
                    let help = guess.map_or(help.into(), |guess| format!("did you mean `{guess}`?"));
                    self.error(self.unexpected("`thread`").help(help));
                    self.skip_line();
                    self.skip_to_directive();
                }
            }
        }
        if self.threads.is_empty() && !self.sink.failed() {
            let error = Diagnostic::error("no-thread", "the program has no threads", self.token().span);
            self.error(error.help("a thread consists of `thread NAME`, `initial STATE`, transitions and `end`"));
        }
        memory_size
    }

    /// Skips the rest of the line.
    fn skip_line(&mut self) {
        self.bump();
        self.skip_to(|parser| parser.token().starts_line);
    }

    /// Skips to the next directive at the start of a line.
    fn skip_to_directive(&mut self) {
        self.skip_to(|parser| parser.token().is_line_of_its_own());
    }

    /// The span of the last token taken.
    fn previous(&self) -> Span {
        self.cursor.behind(1).map_or(Span::default(), |token| token.span)
    }

    fn memory_size(&mut self) -> Parse<Value> {
        let token = self.operand("the number of cells")?;
        if numbers::is_meant(token.text) { self.number(token) } else { Err(self.no_directive(token, "a number")) }
    }

    fn thread(&mut self) {
        let start = self.bump().span;
        let (name, span) = match self.operand("a thread name") {
            Ok(token) => (token.text, start.to(token.span)),
            Err(Failed) => ("", start),
        };
        if let Some(other) = self.threads.iter().find(|thread| thread.name == name) {
            let error = Diagnostic::error("duplicate-name", format!("two threads are named `{}`", shown(name)), span);
            self.error(error.also(other.span, "the first one").help("rename one of them"));
        }
        let mut automaton = Automaton::default();
        let errors = self.sink.errors();
        self.directives(name, start, &mut automaton);
        // Where part of a thread is missing, errors about the rest are noise.
        let is_whole = self.sink.errors() == errors;
        let Some((entry, initial)) = automaton.initial else {
            if !is_whole {
                return;
            }
            let error = Diagnostic::error("no-initial", format!("thread `{}` has no initial state", shown(name)), span);
            self.error(error.help("add `initial STATE`"));
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
        loop {
            let token = self.token();
            let parsed = match token.kind {
                Kind::Comment => {
                    self.skip_line();
                    Ok(())
                }
                Kind::Thread | Kind::Eof => break,
                Kind::End => {
                    self.bump();
                    return;
                }
                Kind::Initial | Kind::Final => self.marked_state(automaton),
                Kind::Transition => self.transition(automaton),
                Kind::MemorySize | Kind::Other => {
                    let failed = self.no_directive(token, "`initial`, `transition` or `end`");
                    self.bump();
                    // At the end of the file there is nothing to skip, either.
                    if self.token().starts_line { Ok(()) } else { Err(failed) }
                }
            };
            if parsed.is_err() {
                self.skip_to_directive();
            }
        }
        let message = format!("thread `{}` is not closed: expected `end`, found {}", shown(name), self.found());
        let error = Diagnostic::error("missing-end", message, self.token().span);
        self.error(error.also(start, "the thread starts here").help("close it with `end`"));
    }

    /// `initial STATE` or `final STATE`.
    fn marked_state(&mut self, automaton: &mut Automaton) -> Parse<()> {
        let directive = self.bump();
        let state = self.operand("a state")?;
        let loc = automaton.state(state);
        let place = if directive.kind == Kind::Initial { &mut automaton.initial } else { &mut automaton.last };
        if let Some((_, first)) = place.replace((loc, state.span)) {
            let message = format!("the thread has more than one `{}`", directive.text);
            let error = Diagnostic::error("duplicate-initial", message, state.span).also(first, "the first one");
            self.error(error.help("remove one of them"));
        }
        Ok(())
    }

    fn transition(&mut self, automaton: &mut Automaton) -> Parse<()> {
        let start = self.bump().span;
        let from = self.operand("the source state")?;
        let to = self.operand("the target state")?;
        let (from, to) = (automaton.state(from), automaton.state(to));
        let instruction = self.instruction(automaton)?;
        self.edges += 1;
        if self.edges == MAX_EDGES + 1 {
            let message = format!("the program is too large: more than {MAX_EDGES} transitions");
            self.error(Diagnostic::error("program-too-large", message, start).help("make it smaller"));
        }
        if self.edges <= MAX_EDGES {
            automaton.edges.push(Edge { from, to, instruction, span: start.to(self.previous()) });
        }
        Ok(())
    }

    fn instruction(&mut self, automaton: &mut Automaton) -> Parse<Instruction> {
        let name = self.operand("an instruction")?;
        Ok(match name.text {
            "read" => {
                let register = self.register(automaton)?;
                Instruction::Load { register, address: self.expr(automaton, "an address")? }
            }
            "write" => {
                let value = self.expr(automaton, "a value")?;
                Instruction::Store { address: self.expr(automaton, "an address")?, value }
            }
            "local" => {
                let register = self.register(automaton)?;
                Instruction::Assign { register, value: self.expr(automaton, "a value")? }
            }
            "check" => Instruction::Assume(self.expr(automaton, "a condition")?),
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
                return Err(self.error(error.help(help)));
            }
        })
    }

    /// The register that an instruction sets.
    fn register(&mut self, automaton: &mut Automaton) -> Parse<RegId> {
        let token = self.operand("a register")?;
        if numbers::is_meant(token.text) || operator(token.text).is_some() {
            let kind = if numbers::is_meant(token.text) { "number" } else { "operator" };
            let message = format!("`{}` is a {kind}, not a register", shown(token.text));
            let error = Diagnostic::error("not-a-register", message, token.span);
            return Err(self.error(error.help("`read` and `local` take the register first")));
        }
        Ok(automaton.register(token))
    }

    fn expr(&mut self, automaton: &mut Automaton, what: &str) -> Parse<RegExpr> {
        let first = self.operand(what)?;
        self.expr_from(automaton, first)
    }

    /// The expression whose first token was taken: expressions are written in prefix notation.
    fn expr_from(&mut self, automaton: &mut Automaton, token: Token<'s>) -> Parse<RegExpr> {
        if numbers::is_meant(token.text) {
            return self.number(token).map(Expr::Const);
        }
        let mut operand = |parser: &mut Self, nth: &str| {
            let first = parser.operand(&format!("the {nth}operand of `{}`", token.text))?;
            parser.nested(|parser| parser.expr_from(automaton, first))
        };
        match operator(token.text) {
            None => Ok(Expr::Leaf(automaton.register(token))),
            Some(Operator::Not) => Ok(Expr::unary(UnaryOp::Not, operand(self, "")?)),
            Some(Operator::Binary(op)) => {
                let left = operand(self, "first ")?;
                Ok(Expr::binary(op, left, operand(self, "second ")?))
            }
            Some(Operator::Power) => {
                let base = operand(self, "first ")?;
                let exponent = operand(self, "second ")?;
                self.power(&base, &exponent, token)
            }
        }
    }

    /// `^ BASE N`, for a number N: a product. Only of a register or number, so that nesting cannot multiply it.
    fn power(&mut self, base: &RegExpr, exponent: &RegExpr, token: Token<'_>) -> Parse<RegExpr> {
        let count = exponent.constant().filter(|count| (0..=MAX_EXPONENT).contains(count));
        let (Some(count), Expr::Const(_) | Expr::Leaf(_)) = (count, base) else {
            let message = format!("`^` takes a register or number and an exponent from 0 to {MAX_EXPONENT}");
            let error = Diagnostic::error("bad-power", message, token.span);
            return Err(self.error(error.help("write out the product")));
        };
        let factors = (0..count).map(|_| base.clone());
        let product = factors.reduce(|left, right| Expr::binary(BinaryOp::Multiply, left, right));
        Ok(product.unwrap_or(Expr::Const(1)))
    }

    fn number(&mut self, token: Token<'_>) -> Parse<Value> {
        numbers::value(token).map_err(|error| self.error(*error))
    }

    /// Takes the next token, unless it begins a line of its own.
    fn operand(&mut self, what: &str) -> Parse<Token<'s>> {
        let token = self.token();
        let found = match token.kind {
            Kind::Eof => self.found(),
            _ if token.is_line_of_its_own() => format!("{} on a new line", self.found()),
            _ => return Ok(self.bump()),
        };
        let end = self.previous().end;
        let error = unexpected(what, &found, Span { start: end, end });
        Err(self.error(error.label(format!("expected {what} here"))))
    }

    /// Reports a token that is not what was expected, and hardly a name.
    fn no_directive(&mut self, token: Token<'s>, expected: &str) -> Failed {
        let error = self.unexpected_token(token, expected);
        let error = match nearest(token.text, directives()) {
            Some(guess) => error.help(format!("did you mean `{guess}`?")),
            None if token.starts_line => error,
            None => error.help("the instruction may have too many operands"),
        };
        self.error(error)
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

/// Named items, numbered in the order of their first occurrence.
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
    fn number_of(&mut self, name: &str, make: impl FnOnce() -> T) -> usize {
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
    fn state(&mut self, token: Token<'_>) -> LocId {
        let location = || Location { labels: vec![token.text.to_string()], span: token.span };
        LocId::new(self.locations.number_of(token.text, location))
    }

    fn register(&mut self, token: Token<'_>) -> RegId {
        let register =
            || Register { name: token.text.to_string(), is_temporary: false, is_thread_local: false, span: token.span };
        RegId::new(self.registers.number_of(token.text, register))
    }
}

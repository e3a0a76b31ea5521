//! Tokens of a `.spec` file to a net.
//!
//! ```text
//! vars       x y z
//! rules      x >= 1, y >= 2 -> x' = x - 1, z' = z + y + 3, y' = 0;
//! init       x >= 1, y = 0, z in [0, 5]
//! target     z >= 2, x >= 1
//!            y >= 7
//! invariants x = 1, z = 2
//! ```
//!
//! A rule that keeps every counter apart from a constant is a transition of a Petri net. `z' = z + y, y' = 0` is a
//! transfer and `y' = 0` alone a reset. Constraints without a comma between them are alternatives. A variable that
//! `init` does not mention can start with any number, as in mist. An invariant lists the weights of a sum of counters.

use std::collections::HashMap;

use weir_ir::net::{
    Count, CoverTarget, InitialMarkings, InvariantClaim, MAX_TOKENS, Net, NetTransition, Place, Tokens,
};
use weir_ir::sort::sort_by_key;
use weir_ir::{ControlId, Diagnostic, PlaceId, Poll, Source, Span, nearest};

use super::effect::{Assignment, Effect, Unsupported};
use super::parsed::ParsedNet;
use super::spec_tokens::{Kind, Token, lex};
use crate::limits::MAX_NET_PLACES;
use crate::parsing::{self, Cursor, Descent, Failed, Parse, TokenKind, too_deep};
use crate::sink::Sink;

/// More characters of a token than this are left out of messages.
const MAX_SHOWN: usize = 40;

/// With more variables than this, nothing is suggested for an unknown one.
const MAX_COMPARED: usize = 10_000;

/// Reads a net. Once the poll is over, the result is of no use.
pub(super) fn read(source: &Source, poll: &Poll<'_>) -> Result<ParsedNet, Vec<Diagnostic>> {
    let tokens = lex(source, poll)?;
    let end = source.text().len();
    let end = Token { kind: Kind::Eof, span: Span::new(end, end) };
    let mut parser = Parser {
        source,
        cursor: Cursor::new(&tokens, end, poll),
        sink: Sink::default(),
        names: HashMap::new(),
        net: Net { source: source.clone(), controls: vec![String::new()], ..Net::default() },
    };
    // What is wrong was reported where it was found.
    let _ = parser.file();
    let Parser { sink, net, .. } = parser;
    sink.finish().map(|warnings| ParsedNet { net, warnings })
}

struct Parser<'s, 'p> {
    source: &'s Source,
    cursor: Cursor<'p, Token>,
    sink: Sink,
    names: HashMap<&'s str, PlaceId>,
    net: Net,
}

impl<'p> Descent<'p> for Parser<'_, 'p> {
    type Token = Token;

    fn cursor(&self) -> &Cursor<'p, Token> {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<'p, Token> {
        &mut self.cursor
    }

    fn shown(&self, token: Token) -> String {
        parsing::shown(self.source.slice(token.span), MAX_SHOWN)
    }

    fn error(&mut self, error: Diagnostic) -> Failed {
        if self.cursor.is_first_failure() {
            self.sink.error(error);
        }
        Failed
    }

    fn too_deep(&mut self) -> Failed {
        let error = too_deep(self.token().span, "a net does not nest");
        self.error(error)
    }
}

/// A bound on a variable, as it is written.
struct Constraint {
    place: PlaceId,
    count: Count,
    span: Span,
}

impl<'s> Parser<'s, '_> {
    fn file(&mut self) -> Parse<()> {
        self.section(Kind::Vars)?;
        self.variables()?;
        self.section(Kind::Rules)?;
        while !self.is_at_section() {
            if self.rule().is_err() {
                self.skip_to(|parser| parser.is_at_section() || parser.peek() == Kind::Semicolon);
                self.eat(Kind::Semicolon);
            }
        }
        let init = self.section(Kind::Init)?;
        self.initial(init.span)?;
        let target = self.section(Kind::Target)?;
        self.targets(target.span)?;
        if self.eat(Kind::Invariants) {
            while self.peek() == Kind::Name {
                self.invariant()?;
            }
        }
        if self.peek() != Kind::Eof { self.expected("the end of the file") } else { Ok(()) }
    }

    /// The keyword that begins a section.
    fn section(&mut self, kind: Kind) -> Parse<Token> {
        if self.peek() == kind {
            return Ok(self.bump());
        }
        let help =
            "a file has the sections `vars`, `rules`, `init`, `target` and, if wanted, `invariants`, in this order";
        let error = self.unexpected(&kind.describe()).help(help);
        Err(self.give_up(error))
    }

    fn is_at_section(&self) -> bool {
        matches!(self.peek(), Kind::Vars | Kind::Rules | Kind::Init | Kind::Target | Kind::Invariants | Kind::Eof)
    }

    fn text(&self, span: Span) -> &'s str {
        self.source.slice(span)
    }

    fn variables(&mut self) -> Parse<()> {
        while self.peek() == Kind::Name {
            let span = self.bump().span;
            if self.net.places.len() >= MAX_NET_PLACES {
                let message = format!("more than {MAX_NET_PLACES} variables");
                let error = Diagnostic::error("too-many-places", message, span).help("make the net smaller");
                return Err(self.give_up(error));
            }
            let name = self.text(span);
            if let Some(&before) = self.names.get(name) {
                let first = self.net.places[before.index()].span;
                let message = format!("variable `{name}` is declared twice");
                let error = Diagnostic::error("duplicate-name", message, span).also(first, "first here");
                self.sink.error(error.help("remove one of them"));
                continue;
            }
            self.names.insert(name, PlaceId::new(self.net.places.len()));
            self.net.places.push(Place { name: name.to_owned(), span });
        }
        Ok(())
    }

    /// A variable, at the next token.
    fn variable(&mut self) -> Parse<PlaceId> {
        let span = self.expect(Kind::Name)?.span;
        let name = self.text(span);
        if let Some(&place) = self.names.get(name) {
            return Ok(place);
        }
        if self.sink.wants("unknown-name", span) {
            // Comparing with very many names takes long, and nobody wrote those by hand.
            let is_small = self.names.len() <= MAX_COMPARED;
            let near = if is_small { nearest(name, self.names.keys().copied()) } else { None };
            let help = near.map_or_else(
                || "declare it under `vars`".to_owned(),
                |near| format!("did you mean `{near}`? Otherwise declare it under `vars`"),
            );
            let message = format!("unknown variable `{name}`");
            self.sink.error(Diagnostic::error("unknown-name", message, span).help(help));
        }
        Err(Failed)
    }

    fn number(&mut self) -> Parse<u64> {
        let span = self.expect(Kind::Number)?.span;
        let text = self.text(span);
        if text.bytes().any(|byte| !byte.is_ascii_digit()) {
            let message = format!("`{}` is not a number", parsing::shown(text, MAX_SHOWN));
            let error = Diagnostic::error("bad-number", message, span);
            self.sink.error(error.help("a number consists of digits; names begin with a letter"));
            return Err(Failed);
        }
        match text.parse() {
            Ok(number) if number <= MAX_TOKENS => Ok(number),
            _ => {
                let error = Diagnostic::error("number-too-large", "this number is too large", span);
                self.sink.error(error.help(format!("numbers of tokens are at most {MAX_TOKENS}")));
                Err(Failed)
            }
        }
    }

    /// `x >= 2`, `x = 2` or `x in [2, 5]`.
    fn constraint(&mut self) -> Parse<Constraint> {
        let first = self.token().span;
        let place = self.variable()?;
        let count = match self.peek() {
            Kind::AtLeast => {
                self.bump();
                Count { low: self.number()?, high: None }
            }
            Kind::Equal => {
                self.bump();
                let number = self.number()?;
                Count { low: number, high: Some(number) }
            }
            Kind::In => {
                self.bump();
                let open = self.expect(Kind::OpenBracket)?;
                let low = self.number()?;
                self.expect(Kind::Comma)?;
                let high = self.number()?;
                self.close(Kind::CloseBracket, open)?;
                Count { low, high: Some(high) }
            }
            _ => return self.expected("`>=`, `=` or `in`"),
        };
        let span = self.cursor.span_from(first);
        if count.high.is_some_and(|high| high < count.low) {
            let error = Diagnostic::error("empty-range", "no number lies between these bounds", span);
            self.sink.error(error.help("the lower bound comes first"));
        }
        Ok(Constraint { place, count, span })
    }

    /// Constraints with commas between them: all bounds, by variable.
    fn constraints(&mut self) -> Parse<Vec<(PlaceId, Count)>> {
        let mut found: Vec<(PlaceId, Count)> = Vec::new();
        loop {
            let Constraint { place, count, span } = self.constraint()?;
            found.push((place, count));
            if !self.eat(Kind::Comma) {
                sort_by_key(&mut found, |&(place, _)| place);
                let before = found.len();
                found.dedup_by(|next, kept| {
                    let is_same = next.0 == kept.0;
                    if is_same {
                        kept.1 = both(kept.1, next.1);
                    }
                    is_same
                });
                let is_empty = |count: Count| count.high.is_some_and(|high| high < count.low);
                if found.len() < before && found.iter().any(|&(_, count)| is_empty(count)) {
                    let error = Diagnostic::error("empty-range", "these constraints contradict each other", span);
                    self.sink.error(error.help("remove one of those about the same variable"));
                }
                return Ok(found);
            }
        }
    }

    fn rule(&mut self) -> Parse<()> {
        let first = self.token().span;
        let needs = self.guard()?;
        self.expect(Kind::Arrow)?;
        let mut effect = Effect::new(needs);
        while self.peek() == Kind::Name {
            self.assignment(&mut effect)?;
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if self.peek() != Kind::Semicolon {
            let error = self.unexpected("`,` or `;`").help("a rule ends with `;`");
            return Err(self.error(error));
        }
        self.bump();
        let span = self.cursor.span_from(first);
        match effect.finish() {
            Ok((needs, takes, moves, gives)) => {
                let (from, to) = (ControlId(0), ControlId(0));
                self.net.transitions.push(NetTransition { from, to, needs, takes, moves, gives, span });
            }
            Err(reason) => self.refuse(reason),
        }
        Ok(())
    }

    fn guard(&mut self) -> Parse<Vec<Tokens>> {
        let mut needs = Vec::new();
        loop {
            if !self.eat(Kind::True) {
                let Constraint { place, count, span } = self.constraint()?;
                if count.high.is_some() {
                    let name = self.text(self.net.places[place.index()].span);
                    let message = format!("this guard bounds `{name}` from above");
                    let error = Diagnostic::error("zero-test", message, span)
                        .label("a zero test, or inhibitor arc")
                        .help("with such tests coverability is undecidable; without the bound, the net can do more");
                    self.sink.error(error);
                }
                needs.push((place, count.low));
            }
            if !self.eat(Kind::Comma) {
                return Ok(needs);
            }
        }
    }

    /// `x' = y + z - 2`, or `x' = 2`.
    fn assignment(&mut self, effect: &mut Effect) -> Parse<()> {
        let first = self.token().span;
        let place = self.variable()?;
        self.expect(Kind::Prime)?;
        self.expect(Kind::Equal)?;
        let (mut sources, mut change, mut is_minus) = (Vec::new(), 0i64, false);
        loop {
            let token = self.token();
            match token.kind {
                Kind::Name if is_minus => {
                    let error = Diagnostic::error("subtracted-variable", "a variable cannot be subtracted", token.span);
                    self.sink.error(error.help("only a number can be subtracted, as in `x' = x - 1`"));
                    return Err(Failed);
                }
                Kind::Name => sources.push((self.variable()?, token.span)),
                Kind::Number => {
                    let number = self.number()? as i64;
                    change = change.saturating_add(if is_minus { -number } else { number });
                }
                _ => return self.expected("the name of a variable or a number"),
            }
            match self.peek() {
                Kind::Plus => is_minus = false,
                Kind::Minus => is_minus = true,
                _ => break,
            }
            self.bump();
        }
        let span = self.cursor.span_from(first);
        if change.unsigned_abs() > MAX_TOKENS {
            let error = Diagnostic::error("number-too-large", "these numbers add up to too much", span);
            self.sink.error(error.help(format!("numbers of tokens are at most {MAX_TOKENS}")));
            return Err(Failed);
        }
        if let Err(reason) = effect.assign(place, Assignment { sources, change, span }) {
            self.refuse(reason);
        }
        Ok(())
    }

    /// Reports what a rule does that a net cannot do.
    fn refuse(&mut self, reason: Unsupported) {
        let name = |parser: &Self, place: PlaceId| parser.net.places[place.index()].name.clone();
        let error = match reason {
            Unsupported::AssignedTwice { place, span, first } => {
                let message = format!("`{}` is assigned twice", name(self, place));
                Diagnostic::error("assigned-twice", message, span).also(first, "first here").help("remove one of them")
            }
            Unsupported::Copied { place, span } => {
                let name = name(self, place);
                let message = format!("this copies the value of `{name}`, which is more than a transfer");
                let help = format!(
                    "a variable can occur in one new value only; if all of `{name}` is to move, add `{name}' = 0`"
                );
                Diagnostic::error("copied-count", message, span).help(help)
            }
            Unsupported::Unguarded { place, lacking, span } => {
                let name = name(self, place);
                let message = format!("the new value of `{name}` could be negative");
                let help =
                    format!("require at least {lacking} more in the guard, from the variables that are added up");
                Diagnostic::error("unguarded-decrease", message, span).help(help)
            }
            Unsupported::Negative { place, span } => {
                let message = format!("the new value of `{}` is negative", name(self, place));
                Diagnostic::error("negative-count", message, span).help("a variable counts, and is never below 0")
            }
        };
        self.sink.error(error);
    }

    fn initial(&mut self, span: Span) -> Parse<()> {
        let mut counts = vec![Count::default(); self.net.places.len()];
        for (place, count) in self.constraints()? {
            counts[place.index()] = count;
        }
        let span = self.cursor.span_from(span);
        self.net.initial = InitialMarkings { control: ControlId(0), counts, span };
        if self.peek() == Kind::Name {
            let error =
                self.unexpected("`,` or `target`").help("all constraints on the start hold together: add a `,`");
            return Err(self.give_up(error));
        }
        Ok(())
    }

    fn targets(&mut self, target: Span) -> Parse<()> {
        if self.peek() != Kind::Name {
            let error = self.unexpected("the name of a variable").also(target, "what the target consists of");
            return Err(self.error(error));
        }
        while self.peek() == Kind::Name {
            let first = self.token().span;
            let constraints = self.constraints()?;
            let at_least =
                constraints.iter().filter(|(_, count)| count.low > 0).map(|&(place, count)| (place, count.low));
            let at_most = constraints.iter().filter_map(|&(place, count)| Some((place, count.high?)));
            let (at_least, at_most) = (at_least.collect(), at_most.collect());
            let span = self.cursor.span_from(first);
            self.net.targets.push(CoverTarget { control: None, at_least, at_most, span });
        }
        Ok(())
    }

    fn invariant(&mut self) -> Parse<()> {
        let first = self.token().span;
        let mut weights: Vec<Tokens> = Vec::new();
        loop {
            let place = self.variable()?;
            self.expect(Kind::Equal)?;
            weights.push((place, self.number()?));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        weights.sort_unstable();
        weights.dedup_by_key(|weight| weight.0);
        weights.retain(|&(_, weight)| weight > 0);
        let claim = InvariantClaim { weights, span: self.cursor.span_from(first) };
        if let Some(transition) = self.net.contradicts(&claim) {
            let warning = Diagnostic::warning("no-invariant", "this sum can change", claim.span)
                .also(self.net.transition(transition).span, "this rule changes it")
                .help("claims are not relied upon; constraints without a comma between them are separate claims");
            self.sink.warning(warning);
        }
        self.net.invariants.push(claim);
        Ok(())
    }
}

/// What satisfies both.
fn both(one: Count, other: Count) -> Count {
    let high = match (one.high, other.high) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    Count { low: one.low.max(other.low), high }
}

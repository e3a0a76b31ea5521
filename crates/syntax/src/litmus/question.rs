//! What a test asks: `locations`, `filter`, and the condition on final states.
//!
//! `\/` binds weakest, then `/\`, then `=>`, then `~`, as in the grammar of the herd tools.

use weir_ir::{Diagnostic, Span};

use super::Refused;
use super::cursor::Cursor;
use super::place::{constant, constants, is_register, place};
use super::token::Kind;
use super::tree::{Atom, Comparand, Place, Proposition, Quantifier, Question};
use crate::weir::limits::MAX_NESTING;

/// Reads to the end of the test.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Question, Refused> {
    let locations = if cursor.eat_word("locations") { locations(cursor)? } else { Vec::new() };
    let filter = if cursor.eat_word("filter") { Some(Parser::new(cursor).or()?) } else { None };
    let start = cursor.peek();
    let (quantifier, condition) = constraint(cursor)?;
    let span = if start.kind == Kind::End { start.span } else { cursor.since(start) };
    cursor.eat(Kind::Semicolon);
    skip_kinds(cursor)?;
    if cursor.peek().kind != Kind::End {
        return Err(cursor.expected("`/\\`, `\\/` or the end of the test").into());
    }
    Ok(Question { locations, filter, quantifier, condition, span })
}

/// `locations [x; 0:EAX; y int;]`. Types there tell how to print; Weir prints by the declared ones.
fn locations(cursor: &mut Cursor<'_>) -> Result<Vec<(Place, Span)>, Refused> {
    cursor.expect(Kind::LeftBracket, "`[`")?;
    let mut locations = Vec::new();
    while !cursor.eat(Kind::RightBracket) {
        let start = cursor.peek();
        let place = place(cursor)?;
        locations.push((place, cursor.since(start)));
        while cursor.eat(Kind::Star) || cursor.peek().kind == Kind::Name {
            if cursor.peek().kind == Kind::Name {
                cursor.next();
            }
        }
        if !cursor.eat(Kind::Semicolon) && cursor.peek().kind != Kind::RightBracket {
            return Err(cursor.expected("`;` or `]`").into());
        }
    }
    Ok(locations)
}

fn constraint(cursor: &mut Cursor<'_>) -> Result<(Quantifier, Proposition), Refused> {
    if cursor.peek().kind == Kind::End {
        // Without a condition, a test asks nothing, and every final state will do.
        return Ok((Quantifier::Forall, Proposition::And(Vec::new())));
    }
    let is_negated = cursor.eat(Kind::Not) || cursor.eat_word("not");
    let quantifier = match (is_negated, cursor.eat_word("exists")) {
        (true, true) => Quantifier::NotExists,
        (true, false) => return Err(cursor.expected("`exists`").into()),
        (false, true) => Quantifier::Exists,
        (false, false) if cursor.eat_word("forall") => Quantifier::Forall,
        (false, false) => {
            cursor.eat_word("final");
            Quantifier::Exists
        }
    };
    if cursor.is_word("observed") {
        return Err(cursor
            .expected("`exists`, `~exists` or `forall`")
            .help("lists of observed states are not supported")
            .into());
    }
    Ok((quantifier, Parser::new(cursor).or()?))
}

/// `with model: exists; …`, which old tests use to say what to expect of other models.
fn skip_kinds(cursor: &mut Cursor<'_>) -> Result<(), Refused> {
    if !cursor.eat_word("with") {
        return Ok(());
    }
    while cursor.peek().kind != Kind::End {
        cursor.expect(Kind::Name, "a model name")?;
        cursor.expect(Kind::Colon, "`:`")?;
        cursor.eat(Kind::Not);
        if !cursor.eat_word("exists") && !cursor.eat_word("forall") {
            return Err(cursor.expected("`exists`, `~exists` or `forall`").into());
        }
        if !cursor.eat(Kind::Semicolon) {
            break;
        }
    }
    Ok(())
}

struct Parser<'c, 's> {
    cursor: &'c mut Cursor<'s>,
    depth: usize,
}

impl<'c, 's> Parser<'c, 's> {
    fn new(cursor: &'c mut Cursor<'s>) -> Self {
        Self { cursor, depth: 0 }
    }

    fn or(&mut self) -> Result<Proposition, Refused> {
        let mut parts = vec![self.and()?];
        while self.cursor.eat(Kind::Or) {
            parts.push(self.and()?);
        }
        Ok(single_or(parts, Proposition::Or))
    }

    fn and(&mut self) -> Result<Proposition, Refused> {
        let mut parts = vec![self.implies()?];
        while self.cursor.eat(Kind::And) {
            parts.push(self.implies()?);
        }
        Ok(single_or(parts, Proposition::And))
    }

    fn implies(&mut self) -> Result<Proposition, Refused> {
        let left = self.negation()?;
        if !self.cursor.eat(Kind::Implies) {
            return Ok(left);
        }
        let right = self.deeper(Self::implies)?;
        Ok(Proposition::Implies(Box::new(left), Box::new(right)))
    }

    fn negation(&mut self) -> Result<Proposition, Refused> {
        if self.cursor.eat(Kind::Not) || self.cursor.eat_word("not") {
            let inner = self.deeper(Self::negation)?;
            return Ok(Proposition::Not(Box::new(inner)));
        }
        if self.cursor.eat(Kind::LeftParen) {
            let inner = self.deeper(Self::or)?;
            self.cursor.expect(Kind::RightParen, "`/\\`, `\\/` or `)`")?;
            return Ok(inner);
        }
        if self.cursor.eat_word("true") {
            return Ok(Proposition::And(Vec::new()));
        }
        if self.cursor.eat_word("false") {
            return Ok(Proposition::Or(Vec::new()));
        }
        self.atom()
    }

    /// Recursion is only as deep as this allows.
    fn deeper(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Proposition, Refused>,
    ) -> Result<Proposition, Refused> {
        if self.depth == MAX_NESTING {
            let message = format!("the condition is nested more than {MAX_NESTING} deep");
            return Err(Diagnostic::error("too-deep", message, self.cursor.peek().span)
                .help("use fewer parentheses")
                .into());
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn atom(&mut self) -> Result<Proposition, Refused> {
        let start = self.cursor.peek();
        if self.cursor.is_word("fault") && self.cursor.ahead(1).kind == Kind::LeftParen {
            let error =
                Diagnostic::error("unsupported-condition", "conditions on faults are not supported", start.span);
            return Err(error.help("conditions compare registers and cells with values, as in `0:EAX=1`").into());
        }
        let left = place(self.cursor)?;
        let is_negated = match self.cursor.peek().kind {
            Kind::Equal => false,
            Kind::NotEqual => true,
            _ => return Err(self.cursor.expected("`=` or `!=`").into()),
        };
        self.cursor.next();
        let right = comparand(self.cursor)?;
        let atom = Proposition::Atom(Atom { left, right, span: self.cursor.since(start) });
        Ok(if is_negated { Proposition::Not(Box::new(atom)) } else { atom })
    }
}

fn single_or(mut parts: Vec<Proposition>, combine: fn(Vec<Proposition>) -> Proposition) -> Proposition {
    if parts.len() == 1 { parts.remove(0) } else { combine(parts) }
}

/// A bare name means an address; what a cell holds is written `[x]` or `*x`.
fn comparand(cursor: &mut Cursor<'_>) -> Result<Comparand, Refused> {
    if cursor.peek().kind == Kind::LeftBrace {
        return Ok(Comparand::Elements(constants(cursor)?));
    }
    if cursor.eat(Kind::Star) || cursor.peek().kind == Kind::LeftBracket || is_register(cursor) {
        return Ok(Comparand::Place(place(cursor)?));
    }
    Ok(Comparand::Constant(constant(cursor)?))
}

//! What a test asks: `locations`, `filter`, and the condition on final states.
//!
//! `\/` binds weakest, then `/\`, then `=>`, then `~`, as in the grammar of the herd tools.

use weir_ir::{Diagnostic, Span};

use super::parser::Parser;
use super::place::{constant, constants, is_register, place};
use super::token::Kind;
use super::tree::{Atom, Comparand, Place, Proposition, Quantifier, Question};
use crate::parsing::{Descent, Parse};

/// Reads to the end of the test.
pub(super) fn read(parser: &mut Parser<'_, '_>) -> Parse<Question> {
    let locations = if parser.eat_keyword("locations") { locations(parser)? } else { Vec::new() };
    let filter = if parser.eat_keyword("filter") { Some(or(parser)?) } else { None };
    let start = parser.token();
    let (quantifier, condition) = constraint(parser)?;
    let span = if start.kind == Kind::End { start.span } else { parser.since(start) };
    parser.eat(Kind::Semicolon);
    skip_expectations(parser)?;
    parser.expect_as(Kind::End, "`/\\`, `\\/` or the end of the test")?;
    Ok(Question { locations, filter, quantifier, condition, span })
}

/// `locations [x; 0:EAX; y int;]`. Types there tell how to print; Weir prints by the declared ones.
fn locations(parser: &mut Parser<'_, '_>) -> Parse<Vec<(Place, Span)>> {
    parser.expect(Kind::LeftBracket)?;
    let mut locations = Vec::new();
    while !parser.eat(Kind::RightBracket) {
        let start = parser.token();
        let place = place(parser)?;
        locations.push((place, parser.since(start)));
        while parser.eat(Kind::Star) || parser.peek() == Kind::Name {
            if parser.peek() == Kind::Name {
                parser.bump();
            }
        }
        if !parser.eat(Kind::Semicolon) && parser.peek() != Kind::RightBracket {
            return parser.expected("`;` or `]`");
        }
    }
    Ok(locations)
}

fn constraint(parser: &mut Parser<'_, '_>) -> Parse<(Quantifier, Proposition)> {
    if parser.peek() == Kind::End {
        // Without a condition, a test asks nothing, and every final state will do.
        return Ok((Quantifier::Forall, Proposition::And(Vec::new())));
    }
    let is_negated = parser.eat(Kind::Not) || parser.eat_keyword("not");
    let quantifier = match (is_negated, parser.eat_keyword("exists")) {
        (true, true) => Quantifier::NotExists,
        (true, false) => return parser.expected("`exists`"),
        (false, true) => Quantifier::Exists,
        (false, false) if parser.eat_keyword("forall") => Quantifier::Forall,
        (false, false) => {
            parser.eat_keyword("final");
            Quantifier::Exists
        }
    };
    if parser.is_keyword("observed") {
        let error = parser.unexpected("`exists`, `~exists` or `forall`");
        return Err(parser.error(error.help("lists of observed states are not supported")));
    }
    Ok((quantifier, or(parser)?))
}

/// `with model: exists; …`, which old tests use to say what to expect of other models.
fn skip_expectations(parser: &mut Parser<'_, '_>) -> Parse<()> {
    if !parser.eat_keyword("with") {
        return Ok(());
    }
    while parser.peek() != Kind::End {
        parser.expect_as(Kind::Name, "a model name")?;
        parser.expect(Kind::Colon)?;
        parser.eat(Kind::Not);
        if !parser.eat_keyword("exists") && !parser.eat_keyword("forall") {
            return parser.expected("`exists`, `~exists` or `forall`");
        }
        if !parser.eat(Kind::Semicolon) {
            break;
        }
    }
    Ok(())
}

fn or(parser: &mut Parser<'_, '_>) -> Parse<Proposition> {
    let mut parts = vec![and(parser)?];
    while parser.eat(Kind::Or) {
        parts.push(and(parser)?);
    }
    Ok(single_or(parts, Proposition::Or))
}

fn and(parser: &mut Parser<'_, '_>) -> Parse<Proposition> {
    let mut parts = vec![implies(parser)?];
    while parser.eat(Kind::And) {
        parts.push(implies(parser)?);
    }
    Ok(single_or(parts, Proposition::And))
}

fn implies(parser: &mut Parser<'_, '_>) -> Parse<Proposition> {
    let left = negation(parser)?;
    if !parser.eat(Kind::Implies) {
        return Ok(left);
    }
    let right = parser.nested(implies)?;
    Ok(Proposition::Implies(Box::new(left), Box::new(right)))
}

fn negation(parser: &mut Parser<'_, '_>) -> Parse<Proposition> {
    if parser.eat(Kind::Not) || parser.eat_keyword("not") {
        let inner = parser.nested(negation)?;
        return Ok(Proposition::Not(Box::new(inner)));
    }
    if parser.eat(Kind::LeftParen) {
        let inner = parser.nested(or)?;
        parser.expect_as(Kind::RightParen, "`/\\`, `\\/` or `)`")?;
        return Ok(inner);
    }
    if parser.eat_keyword("true") {
        return Ok(Proposition::And(Vec::new()));
    }
    if parser.eat_keyword("false") {
        return Ok(Proposition::Or(Vec::new()));
    }
    atom(parser)
}

fn atom(parser: &mut Parser<'_, '_>) -> Parse<Proposition> {
    let start = parser.token();
    if parser.is_keyword("fault") && parser.peek_ahead(1) == Kind::LeftParen {
        let error = Diagnostic::error("unsupported-condition", "conditions on faults are not supported", start.span);
        let help = "conditions compare registers and cells with values, as in `0:EAX=1`";
        return Err(parser.error(error.help(help)));
    }
    let left = place(parser)?;
    let is_negated = match parser.peek() {
        Kind::Equal => false,
        Kind::NotEqual => true,
        _ => return parser.expected("`=` or `!=`"),
    };
    parser.bump();
    let right = comparand(parser)?;
    let atom = Proposition::Atom(Atom { left, right, span: parser.since(start) });
    Ok(if is_negated { Proposition::Not(Box::new(atom)) } else { atom })
}

fn single_or(mut parts: Vec<Proposition>, combine: fn(Vec<Proposition>) -> Proposition) -> Proposition {
    if parts.len() == 1 { parts.remove(0) } else { combine(parts) }
}

/// A bare name means an address; what a cell holds is written `[x]` or `*x`.
fn comparand(parser: &mut Parser<'_, '_>) -> Parse<Comparand> {
    if parser.peek() == Kind::LeftBrace {
        return Ok(Comparand::Elements(constants(parser)?));
    }
    if parser.eat(Kind::Star) || parser.peek() == Kind::LeftBracket || is_register(parser) {
        return Ok(Comparand::Place(place(parser)?));
    }
    Ok(Comparand::Constant(constant(parser)?))
}

//! The initial state: `{ x=1; int y; 0:EAX=2; 1:RBX=x; int *p=&x; int a[2]={1,2}; }`.

use weir_ir::{Diagnostic, Span};

use super::Refused;
use super::parser::Parser;
use super::place::{constant, constants, place};
use super::token::Kind;
use super::tree::{Constant, Initial, Place};
use super::types::{self, Type};
use crate::limits::MAX_LITMUS_ELEMENTS;
use crate::parsing::{Descent, Parse};

/// Reads up to the closing brace.
pub(super) fn read(parser: &mut Parser<'_, '_>, address_size: u32, brace: Span) -> Parse<Vec<Initial>> {
    let mut initial = Vec::new();
    loop {
        while parser.eat(Kind::Semicolon) {}
        if parser.eat(Kind::RightBrace) {
            return Ok(initial);
        }
        if parser.peek() == Kind::End {
            let error = Diagnostic::error("unclosed-brace", "the initial state is not closed", brace);
            let error = error.also(parser.token().span, "the test ends here").help("close it with `}`");
            return Err(parser.error(error));
        }
        initial.push(item(parser, address_size)?);
        if !matches!(parser.peek(), Kind::Semicolon | Kind::RightBrace) {
            return parser.expected("`;` or `}`");
        }
    }
}

fn item(parser: &mut Parser<'_, '_>, address_size: u32) -> Parse<Initial> {
    let start = parser.token();
    let mut declared = declared_type(parser, address_size)?;
    if parser.eat(Kind::Star) {
        declared = Some(Type { size: address_size, is_signed: true });
    }
    let (place, length) = as_array(place(parser)?, declared);
    let values = if parser.eat(Kind::Equal) { values(parser)? } else { Vec::new() };
    let span = parser.since(start);
    check_length(&place, length, &values, span).map_err(|error| parser.error(*error))?;
    Ok(Initial { place, declared, length, values, span })
}

/// `int x[2]` declares an array of two; only an element can be meant without a type.
fn as_array(place: Place, declared: Option<Type>) -> (Place, Option<usize>) {
    match place {
        Place::Cell(mut cell) if declared.is_some() && cell.index.is_some() => {
            let length = cell.index.take();
            (Place::Cell(cell), length)
        }
        other => (other, None),
    }
}

fn declared_type(parser: &mut Parser<'_, '_>, address_size: u32) -> Parse<Option<Type>> {
    let is_atomic = parser.eat_keyword("_Atomic");
    let token = parser.token();
    let known = if token.kind == Kind::Name { types::lookup(parser.text(token), address_size) } else { None };
    let is_type = match parser.peek_ahead(1) {
        Kind::Name | Kind::Star | Kind::Number(_) => token.kind == Kind::Name,
        Kind::LeftBracket => known.is_some(),
        _ => false,
    };
    if !is_type {
        return if is_atomic { parser.expected("a type") } else { Ok(None) };
    }
    parser.bump();
    let unknown = || {
        let message = format!("there is no type `{}`", parser.text(token));
        Diagnostic::error("unknown-type", message, token.span)
            .help("types are `char`, `short`, `int`, `long`, `int8_t` to `int64_t` and `uint8_t` to `uint64_t`, and pointers to them")
    };
    if known.is_some() { Ok(known) } else { Err(parser.error(unknown())) }
}

fn values(parser: &mut Parser<'_, '_>) -> Parse<Vec<Constant>> {
    if parser.peek() == Kind::LeftBrace { constants(parser) } else { Ok(vec![constant(parser)?]) }
}

fn check_length(place: &Place, length: Option<usize>, values: &[Constant], span: Span) -> Result<(), Refused> {
    let fail = |message: String, help: &str| Err(Diagnostic::error("wrong-array", message, span).help(help).into());
    match (place, length) {
        (Place::Cell(cell), None) if cell.index.is_some() => {
            fail("a single element cannot be initialized".into(), "initialize all elements, as in `int x[2]={1,2}`")
        }
        (_, Some(0)) => fail("an array needs at least one element".into(), "give the number of elements"),
        (_, Some(length)) if length > MAX_LITMUS_ELEMENTS => {
            fail(format!("an array can have at most {MAX_LITMUS_ELEMENTS} elements"), "use a smaller number")
        }
        (_, Some(length)) if !values.is_empty() && values.len() != length => {
            fail(format!("{} values for {length} elements", values.len()), "give one value per element")
        }
        (_, None) if values.len() > 1 => {
            fail("several values for a single register or cell".into(), "declare an array, as in `int x[2]={1,2}`")
        }
        _ => Ok(()),
    }
}

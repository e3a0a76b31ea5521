//! The initial state: `{ x=1; int y; 0:EAX=2; 1:RBX=x; int *p=&x; int a[2]={1,2}; }`.

use weir_ir::{Diagnostic, Span};

use super::Refused;
use super::cursor::Cursor;
use super::place::{constant, constants, place};
use super::token::Kind;
use super::tree::{Constant, Initial, Place};
use super::types::{self, Type};

/// More elements than any litmus test has.
const MOST_ELEMENTS: usize = 4096;

/// Reads up to the closing brace.
pub(super) fn read(cursor: &mut Cursor<'_>, word: u32, brace: Span) -> Result<Vec<Initial>, Refused> {
    let mut initial = Vec::new();
    loop {
        while cursor.eat(Kind::Semicolon) {}
        if cursor.eat(Kind::RightBrace) {
            return Ok(initial);
        }
        if cursor.peek().kind == Kind::End {
            let error = Diagnostic::error("unclosed-brace", "the initial state is not closed", brace);
            return Err(error.also(cursor.peek().span, "the test ends here").help("close it with `}`").into());
        }
        initial.push(item(cursor, word)?);
        if !matches!(cursor.peek().kind, Kind::Semicolon | Kind::RightBrace) {
            return Err(cursor.expected("`;` or `}`").into());
        }
    }
}

fn item(cursor: &mut Cursor<'_>, word: u32) -> Result<Initial, Refused> {
    let start = cursor.peek();
    let mut declared = declared_type(cursor, word)?;
    if cursor.eat(Kind::Star) {
        declared = Some(Type { size: word, is_signed: true });
    }
    let (place, length) = as_array(place(cursor)?, declared);
    let values = if cursor.eat(Kind::Equal) { values(cursor)? } else { Vec::new() };
    let span = cursor.since(start);
    check_length(&place, length, &values, span)?;
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

fn declared_type(cursor: &mut Cursor<'_>, word: u32) -> Result<Option<Type>, Refused> {
    let is_atomic = cursor.eat_word("_Atomic");
    let token = cursor.peek();
    let known = if token.kind == Kind::Name { types::lookup(cursor.text(token), word) } else { None };
    let is_type = match cursor.ahead(1).kind {
        Kind::Name | Kind::Star | Kind::Number(_) => token.kind == Kind::Name,
        Kind::LeftBracket => known.is_some(),
        _ => false,
    };
    if !is_type {
        return if is_atomic { Err(cursor.expected("a type").into()) } else { Ok(None) };
    }
    cursor.next();
    let unknown = || {
        let message = format!("there is no type `{}`", cursor.text(token));
        Diagnostic::error("unknown-type", message, token.span)
            .help("types are `char`, `short`, `int`, `long`, `int8_t` to `int64_t` and `uint8_t` to `uint64_t`, and pointers to them")
    };
    known.map(Some).ok_or_else(|| unknown().into())
}

fn values(cursor: &mut Cursor<'_>) -> Result<Vec<Constant>, Refused> {
    if cursor.peek().kind == Kind::LeftBrace { constants(cursor) } else { Ok(vec![constant(cursor)?]) }
}

fn check_length(place: &Place, length: Option<usize>, values: &[Constant], span: Span) -> Result<(), Refused> {
    let fail = |message: String, help: &str| Err(Diagnostic::error("wrong-array", message, span).help(help).into());
    match (place, length) {
        (Place::Cell(cell), None) if cell.index.is_some() => {
            fail("a single element cannot be initialized".into(), "initialize all elements, as in `int x[2]={1,2}`")
        }
        (_, Some(0)) => fail("an array needs at least one element".into(), "give the number of elements"),
        (_, Some(length)) if length > MOST_ELEMENTS => {
            fail(format!("an array can have at most {MOST_ELEMENTS} elements"), "use a smaller number")
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

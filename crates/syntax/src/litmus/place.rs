//! Registers, cells and values, as initial states and conditions name them.

use weir_ir::Diagnostic;

use super::Refused;
use super::cursor::Cursor;
use super::register::{self, Base, RegisterName};
use super::token::{Kind, Token};
use super::tree::{CellName, Constant, Place};

/// The number in `P0`.
pub(super) fn thread_number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('P')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

/// Whether a register comes next: `0:EAX` or `P0:EAX`.
pub(super) fn is_register(cursor: &Cursor<'_>) -> bool {
    let first = cursor.peek();
    let is_thread = match first.kind {
        Kind::Number(_) => true,
        Kind::Name => thread_number(cursor.text(first)).is_some(),
        _ => false,
    };
    is_thread && cursor.ahead(1).kind == Kind::Colon
}

/// `0:EAX`, `P0:EAX`, `x`, `[x]`, `x[1]`.
pub(super) fn place(cursor: &mut Cursor<'_>) -> Result<Place, Refused> {
    if is_register(cursor) {
        return register(cursor);
    }
    if cursor.eat(Kind::LeftBracket) {
        let cell = cell(cursor)?;
        cursor.expect(Kind::RightBracket, "`]`")?;
        return Ok(Place::Cell(cell));
    }
    if cursor.peek().kind == Kind::Register {
        let error = Diagnostic::error("no-thread", "this register does not name its thread", cursor.peek().span);
        return Err(error.help("put the number of the thread before it, as in `0:EAX`").into());
    }
    Ok(Place::Cell(cell(cursor)?))
}

fn register(cursor: &mut Cursor<'_>) -> Result<Place, Refused> {
    let first = cursor.next();
    let number = match first.kind {
        Kind::Number(number) => usize::try_from(number).ok(),
        _ => thread_number(cursor.text(first)),
    };
    let number = number.ok_or_else(|| {
        Diagnostic::error("no-thread", "this is not a thread number", first.span).help("threads are numbered from 0")
    })?;
    cursor.expect(Kind::Colon, "`:`")?;
    let token = cursor.peek();
    let name = register_name(cursor, token).ok_or_else(|| {
        let error = cursor.expected("a register name");
        error.help("use an x86 register, such as `EAX`, `rbx` or `r8d`, or a symbolic one, such as `%a`")
    })?;
    cursor.next();
    Ok(Place::Register(number, name))
}

/// The register that a word names.
pub(super) fn register_name(cursor: &Cursor<'_>, token: Token) -> Option<RegisterName> {
    match token.kind {
        Kind::Name => register::lookup(cursor.text(token)),
        Kind::Register => {
            let name = cursor.text(token).trim_start_matches('%');
            let symbolic = || RegisterName { base: Base::Symbolic(name.to_owned()), part: None };
            Some(register::lookup(name).unwrap_or_else(symbolic))
        }
        _ => None,
    }
}

fn cell(cursor: &mut Cursor<'_>) -> Result<CellName, Refused> {
    let token = cursor.expect(Kind::Name, "a cell name, such as `x`, or a register, such as `0:EAX`")?;
    let name = cursor.text(token).to_owned();
    let index = if cursor.peek().kind == Kind::LeftBracket {
        cursor.next();
        let index = cursor.count("an element number")?;
        cursor.expect(Kind::RightBracket, "`]`")?;
        Some(index)
    } else {
        None
    };
    Ok(CellName { name, index })
}

/// A number, or a cell whose address is meant.
pub(super) fn constant(cursor: &mut Cursor<'_>) -> Result<Constant, Refused> {
    let is_address = cursor.eat(Kind::Ampersand);
    match cursor.peek().kind {
        Kind::Number(value) if !is_address => {
            cursor.next();
            Ok(Constant::Number(value))
        }
        Kind::Name => Ok(Constant::Address(cell(cursor)?)),
        _ => Err(cursor.expected("a number or a cell name").into()),
    }
}

/// `{1, 2, 3}`.
pub(super) fn constants(cursor: &mut Cursor<'_>) -> Result<Vec<Constant>, Refused> {
    cursor.expect(Kind::LeftBrace, "`{`")?;
    let mut values = vec![constant(cursor)?];
    while cursor.eat(Kind::Comma) {
        values.push(constant(cursor)?);
    }
    cursor.expect(Kind::RightBrace, "`,` or `}`")?;
    Ok(values)
}

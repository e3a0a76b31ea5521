//! Registers, cells and values, as initial states and conditions name them.

use weir_ir::Diagnostic;

use super::parser::Parser;
use super::register::{self, Base, RegisterName};
use super::token::{Kind, Token};
use super::tree::{CellName, Constant, Place};
use crate::parsing::{Descent, Parse};

/// The number in `P0`.
pub(super) fn thread_number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('P')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

/// Whether a register comes next: `0:EAX` or `P0:EAX`.
pub(super) fn is_register(parser: &Parser<'_, '_>) -> bool {
    let first = parser.token();
    let is_thread = match first.kind {
        Kind::Number(_) => true,
        Kind::Name => thread_number(parser.text(first)).is_some(),
        _ => false,
    };
    is_thread && parser.peek_ahead(1) == Kind::Colon
}

/// `0:EAX`, `P0:EAX`, `x`, `[x]`, `x[1]`.
pub(super) fn place(parser: &mut Parser<'_, '_>) -> Parse<Place> {
    if is_register(parser) {
        return register(parser);
    }
    if parser.eat(Kind::LeftBracket) {
        let cell = cell(parser)?;
        parser.expect(Kind::RightBracket)?;
        return Ok(Place::Cell(cell));
    }
    if parser.peek() == Kind::Register {
        let error = Diagnostic::error("no-thread", "this register does not name its thread", parser.token().span);
        return Err(parser.error(error.help("put the number of the thread before it, as in `0:EAX`")));
    }
    Ok(Place::Cell(cell(parser)?))
}

fn register(parser: &mut Parser<'_, '_>) -> Parse<Place> {
    let first = parser.bump();
    let number = match first.kind {
        Kind::Number(number) => usize::try_from(number).ok(),
        _ => thread_number(parser.text(first)),
    };
    let Some(number) = number else {
        let error = Diagnostic::error("no-thread", "this is not a thread number", first.span);
        return Err(parser.error(error.help("threads are numbered from 0")));
    };
    parser.expect(Kind::Colon)?;
    let token = parser.token();
    let Some(name) = register_name(parser, token) else {
        let help = "use an x86 register, such as `EAX`, `rbx` or `r8d`, or a symbolic one, such as `%a`";
        return Err(parser.error(parser.unexpected("a register name").help(help)));
    };
    parser.bump();
    Ok(Place::Register(number, name))
}

/// The register that a token names.
pub(super) fn register_name(parser: &Parser<'_, '_>, token: Token) -> Option<RegisterName> {
    match token.kind {
        Kind::Name => register::lookup(parser.text(token)),
        Kind::Register => {
            let name = parser.text(token).trim_start_matches('%');
            let symbolic = || RegisterName { base: Base::Symbolic(name.to_owned()), part: None };
            Some(register::lookup(name).unwrap_or_else(symbolic))
        }
        _ => None,
    }
}

fn cell(parser: &mut Parser<'_, '_>) -> Parse<CellName> {
    let token = parser.expect_as(Kind::Name, "a cell name, such as `x`, or a register, such as `0:EAX`")?;
    let name = parser.text(token).to_owned();
    let index = if parser.peek() == Kind::LeftBracket {
        parser.bump();
        let index = parser.count("an element number")?;
        parser.expect(Kind::RightBracket)?;
        Some(index)
    } else {
        None
    };
    Ok(CellName { name, index })
}

/// A number, or a cell whose address is meant.
pub(super) fn constant(parser: &mut Parser<'_, '_>) -> Parse<Constant> {
    let is_address = parser.eat(Kind::Ampersand);
    match parser.peek() {
        Kind::Number(value) if !is_address => {
            parser.bump();
            Ok(Constant::Number(value))
        }
        Kind::Name => Ok(Constant::Address(cell(parser)?)),
        _ => parser.expected("a number or a cell name"),
    }
}

/// `{1, 2, 3}`.
pub(super) fn constants(parser: &mut Parser<'_, '_>) -> Parse<Vec<Constant>> {
    parser.expect(Kind::LeftBrace)?;
    let mut values = vec![constant(parser)?];
    while parser.eat(Kind::Comma) {
        values.push(constant(parser)?);
    }
    parser.expect_as(Kind::RightBrace, "`,` or `}`")?;
    Ok(values)
}

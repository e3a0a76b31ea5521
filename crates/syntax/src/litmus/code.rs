//! The code: a table with one column per thread. `|` separates the cells of a row, and `;` ends it.

use weir_ir::{Diagnostic, Span};

use super::header::Architecture;
use super::instruction;
use super::parser::Parser;
use super::place::thread_number;
use super::token::Kind;
use super::tree::Column;
use crate::limits::MAX_LITMUS_THREADS;
use crate::parsing::{Descent, Parse};

/// Keywords that end the code.
const QUESTION: [&str; 6] = ["exists", "forall", "final", "observed", "locations", "filter"];

/// Reads the table, up to the question about final states. After an error it goes on with the next column or row, and
/// fails only if there is no table.
pub(super) fn read(parser: &mut Parser<'_, '_>, architecture: Architecture) -> Parse<Vec<Column>> {
    parser.eat(Kind::Semicolon);
    let mut columns = head(parser)?;
    while !at_question(parser) {
        row(parser, architecture, &mut columns);
    }
    Ok(columns)
}

/// Skips what follows an error, up to a token of one of these kinds, the question or the end.
fn skip_to(parser: &mut Parser<'_, '_>, kinds: &[Kind]) {
    parser.skip_to(|parser| kinds.contains(&parser.peek()) || is_question_keyword(parser));
}

fn is_question_keyword(parser: &Parser<'_, '_>) -> bool {
    QUESTION.iter().any(|keyword| parser.is_keyword(keyword))
}

fn at_question(parser: &Parser<'_, '_>) -> bool {
    match parser.peek() {
        Kind::End | Kind::Not => true,
        // A condition can stand without `exists`: `(0:EAX=1)`.
        Kind::LeftParen => true,
        Kind::Name => {
            let is_label = parser.peek_ahead(1) == Kind::Colon;
            !is_label && (is_question_keyword(parser) || parser.is_keyword("not") && ahead_exists(parser))
        }
        _ => false,
    }
}

fn ahead_exists(parser: &Parser<'_, '_>) -> bool {
    parser.text(parser.cursor().ahead(1)) == "exists"
}

/// `P0 | P1 ;`.
fn head(parser: &mut Parser<'_, '_>) -> Parse<Vec<Column>> {
    let mut columns: Vec<Column> = Vec::new();
    loop {
        let token = parser.token();
        let number = if token.kind == Kind::Name { thread_number(parser.text(token)) } else { None };
        let Some(number) = number else { return parser.expected("a thread name, such as `P0`") };
        if let Some(first) = columns.iter().find(|column| column.number == number) {
            let error = Diagnostic::error("duplicate-thread", format!("two columns are named `P{number}`"), token.span);
            let error = error.also(first.span, "the first one").help("number the threads `P0`, `P1`, …");
            return Err(parser.error(error));
        }
        if columns.len() == MAX_LITMUS_THREADS {
            let message = format!("more than {MAX_LITMUS_THREADS} threads");
            let error = Diagnostic::error("too-many-threads", message, token.span);
            return Err(parser.error(error.help("use fewer threads")));
        }
        parser.bump();
        columns.push(Column { number, span: token.span, labels: Vec::new(), instructions: Vec::new() });
        if parser.eat(Kind::Semicolon) {
            return Ok(columns);
        }
        parser.expect_as(Kind::Bar, "`|` or `;`")?;
    }
}

/// One row, with its `;`.
fn row(parser: &mut Parser<'_, '_>, architecture: Architecture, columns: &mut [Column]) {
    if cells(parser, architecture, columns).is_err() {
        skip_to(parser, &[Kind::Semicolon]);
    }
    parser.eat(Kind::Semicolon);
}

/// One instruction or nothing per thread.
fn cells(parser: &mut Parser<'_, '_>, architecture: Architecture, columns: &mut [Column]) -> Parse<()> {
    let start = parser.token();
    let (mut filled, mut is_whole) = (0, true);
    loop {
        let Some(column) = columns.get_mut(filled) else {
            let error = wrong_arity(filled + 1, columns, parser.token().span);
            return Err(parser.error(error));
        };
        if cell(parser, architecture, column).is_err() {
            is_whole = false;
            skip_to(parser, &[Kind::Bar, Kind::Semicolon]);
        }
        filled += 1;
        match parser.peek() {
            Kind::Bar if is_whole || filled < columns.len() => parser.bump(),
            Kind::Semicolon => break,
            // What is missing may be part of what was left out.
            _ if !is_whole => {
                skip_to(parser, &[Kind::Semicolon]);
                return Ok(());
            }
            Kind::End => {
                let error = parser.unexpected("`;` at the end of the row");
                return Err(parser.error(error.help("every row of code ends with `;`")));
            }
            _ => return parser.expected("`|` or `;` after the instruction"),
        };
    }
    if filled != columns.len() && is_whole {
        let span = start.span.to(parser.token().span);
        return Err(parser.error(wrong_arity(filled, columns, span)));
    }
    Ok(())
}

fn wrong_arity(found: usize, columns: &[Column], span: Span) -> Diagnostic {
    let threads = columns.len();
    let more = if found > threads { "or more " } else { "" };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let (columns_end, threads_end) = (plural(found), plural(threads));
    let message =
        format!("this row has {found} {more}column{columns_end}, but there are {threads} thread{threads_end}");
    Diagnostic::error("wrong-arity", message, span)
        .also(columns[0].span.to(columns[threads - 1].span), "the threads")
        .help("separate columns with `|`; leave a column empty where a thread does nothing")
}

fn cell(parser: &mut Parser<'_, '_>, architecture: Architecture, column: &mut Column) -> Parse<()> {
    while parser.peek() == Kind::Name && parser.peek_ahead(1) == Kind::Colon {
        let token = parser.bump();
        parser.bump();
        let name = parser.text(token).to_owned();
        if let Some((_, _, first)) = column.labels.iter().find(|(known, _, _)| *known == name) {
            let error =
                Diagnostic::error("duplicate-label", format!("the label `{name}` is defined twice"), token.span);
            let error = error.also(*first, "the first one").help("rename one of them");
            return Err(parser.error(error));
        }
        column.labels.push((name, column.instructions.len(), token.span));
    }
    if !matches!(parser.peek(), Kind::Bar | Kind::Semicolon | Kind::End) {
        column.instructions.push(instruction::read(parser, architecture)?);
    }
    Ok(())
}

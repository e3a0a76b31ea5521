//! The code: a table with one column a thread, cells parted by `|`, rows ended by `;`.

use weir_ir::{Diagnostic, Span};

use super::Refused;
use super::cursor::Cursor;
use super::header::Architecture;
use super::instruction;
use super::place::thread_number;
use super::token::Kind;
use super::tree::Column;
use crate::sink::Sink;

/// More threads than any litmus test has.
const MOST_THREADS: usize = 256;

/// Words that end the code.
const QUESTION: [&str; 6] = ["exists", "forall", "final", "observed", "locations", "filter"];

/// Reads the table, up to the question about final states. After an error it goes on with the next column or row.
///
/// # Errors
/// If there is no table. What is wrong in the table goes to `sink`.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    architecture: Architecture,
    sink: &mut Sink,
) -> Result<Vec<Column>, Refused> {
    cursor.eat(Kind::Semicolon);
    let mut columns = head(cursor)?;
    while !at_question(cursor) {
        row(cursor, architecture, &mut columns, sink);
    }
    Ok(columns)
}

/// Leaves out what follows an error, up to one of these kinds, the question or the end.
fn skip_to(cursor: &mut Cursor<'_>, kinds: &[Kind]) {
    let is_question = |cursor: &Cursor<'_>| QUESTION.iter().any(|word| cursor.is_word(word));
    while cursor.peek().kind != Kind::End && !kinds.contains(&cursor.peek().kind) && !is_question(cursor) {
        cursor.next();
    }
}

fn at_question(cursor: &Cursor<'_>) -> bool {
    match cursor.peek().kind {
        Kind::End | Kind::Not => true,
        // A condition can stand without `exists`: `(0:EAX=1)`.
        Kind::LeftParen => true,
        Kind::Name => {
            let is_label = cursor.ahead(1).kind == Kind::Colon;
            !is_label
                && (QUESTION.iter().any(|word| cursor.is_word(word)) || cursor.is_word("not") && ahead_exists(cursor))
        }
        _ => false,
    }
}

fn ahead_exists(cursor: &Cursor<'_>) -> bool {
    cursor.text(cursor.ahead(1)) == "exists"
}

/// `P0 | P1 ;`.
fn head(cursor: &mut Cursor<'_>) -> Result<Vec<Column>, Refused> {
    let mut columns: Vec<Column> = Vec::new();
    loop {
        let token = cursor.peek();
        let number = if token.kind == Kind::Name { thread_number(cursor.text(token)) } else { None };
        let number = number.ok_or_else(|| cursor.expected("a thread name, such as `P0`"))?;
        if let Some(first) = columns.iter().find(|column| column.number == number) {
            let error = Diagnostic::error("duplicate-thread", format!("two columns are named `P{number}`"), token.span);
            return Err(error.also(first.span, "the first one").help("number the threads `P0`, `P1`, …").into());
        }
        if columns.len() == MOST_THREADS {
            let message = format!("more than {MOST_THREADS} threads");
            return Err(Diagnostic::error("too-many-threads", message, token.span).help("use fewer threads").into());
        }
        cursor.next();
        columns.push(Column { number, span: token.span, labels: Vec::new(), instructions: Vec::new() });
        if cursor.eat(Kind::Semicolon) {
            return Ok(columns);
        }
        cursor.expect(Kind::Bar, "`|` or `;`")?;
    }
}

/// One row, with its `;`.
fn row(cursor: &mut Cursor<'_>, architecture: Architecture, columns: &mut [Column], sink: &mut Sink) {
    if let Err(error) = cells(cursor, architecture, columns, sink) {
        sink.error(*error);
        skip_to(cursor, &[Kind::Semicolon]);
    }
    cursor.eat(Kind::Semicolon);
}

/// One instruction or nothing for each thread.
fn cells(
    cursor: &mut Cursor<'_>,
    architecture: Architecture,
    columns: &mut [Column],
    sink: &mut Sink,
) -> Result<(), Refused> {
    let start = cursor.peek();
    let (mut filled, mut is_whole) = (0, true);
    loop {
        let Some(column) = columns.get_mut(filled) else {
            return Err(wrong_arity(filled + 1, columns, cursor.peek().span).into());
        };
        if let Err(error) = cell(cursor, architecture, column) {
            sink.error(*error);
            is_whole = false;
            skip_to(cursor, &[Kind::Bar, Kind::Semicolon]);
        }
        filled += 1;
        match cursor.peek().kind {
            Kind::Bar if is_whole || filled < columns.len() => cursor.next(),
            Kind::Semicolon => break,
            // What is missing may be part of what was left out.
            _ if !is_whole => {
                skip_to(cursor, &[Kind::Semicolon]);
                return Ok(());
            }
            Kind::End => {
                return Err(cursor
                    .expected("`;` at the end of the row")
                    .help("every row of code ends with `;`")
                    .into());
            }
            _ => return Err(cursor.expected("`|` or `;` after the instruction").into()),
        };
    }
    if filled != columns.len() && is_whole {
        let span = start.span.to(cursor.peek().span);
        return Err(wrong_arity(filled, columns, span).into());
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

fn cell(cursor: &mut Cursor<'_>, architecture: Architecture, column: &mut Column) -> Result<(), Refused> {
    while cursor.peek().kind == Kind::Name && cursor.ahead(1).kind == Kind::Colon {
        let token = cursor.next();
        cursor.next();
        let name = cursor.text(token).to_owned();
        if let Some((_, _, first)) = column.labels.iter().find(|(known, _, _)| *known == name) {
            let error =
                Diagnostic::error("duplicate-label", format!("the label `{name}` is defined twice"), token.span);
            return Err(error.also(*first, "the first one").help("rename one of them").into());
        }
        column.labels.push((name, column.instructions.len(), token.span));
    }
    if !matches!(cursor.peek().kind, Kind::Bar | Kind::Semicolon | Kind::End) {
        column.instructions.push(instruction::read(cursor, architecture)?);
    }
    Ok(())
}

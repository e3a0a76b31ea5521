//! Litmus tests of x86 (`.litmus`), as herd7, litmus7 and diy7 write and read them.
//!
//! A test is a program with a question about its final states. [`parse`] gives both: the program as all analyses
//! take it, with the question as a property, and the question in the form that the tools of litmus tests report on.
//!
//! The meaning of instructions is the processor's. In two places herd7 differs, and Weir does not follow: its flags
//! after a comparison are approximate (there, `JL` jumps on equal values, and the carry is never set). Cells are whole:
//! tests that access the same bytes with different sizes are refused.

mod code;
pub(crate) mod fences;
mod header;
mod initial;
mod instruction;
mod lower;
mod mnemonic;
mod parser;
mod place;
pub mod print;
mod question;
mod register;
mod results;
mod token;
mod tree;
mod types;

use weir_ir::{Address, Diagnostic, Interrupt, Poll, Program, Source, Span, StateExpr, Uninterrupted, Value};

use crate::parsed::ParseError;
use crate::parsing::Parse;
pub use header::Architecture;
use header::Header;
use parser::Parser;
pub use results::{Observation, Results};
pub use tree::Quantifier;

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// The name in its first line.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The instruction set.
    pub architecture: Architecture,
    /// The lines `Key=Value` before the initial state.
    pub info: Vec<(String, String)>,
    /// What the threads do. Its property says what the question asks for.
    pub program: Program,
    /// How the condition is meant.
    pub quantifier: Quantifier,
    /// The condition on a final state.
    pub condition: StateExpr,
    /// The condition as the herd tools print it, without quantifier and parentheses around it.
    pub condition_text: String,
    /// Only final states that meet this count.
    pub filter: Option<StateExpr>,
    /// What tells final states apart: what the condition and `locations` mention; registers first.
    pub observed: Vec<Observable>,
    /// Addresses that are values in this test, with the names of their cells, ascending. Empty if there are none.
    pub addresses: Vec<(Address, String)>,
}

/// Something that a test observes in its final states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observable {
    /// `0:EAX`, or `x`.
    pub name: String,
    /// Whether it is a cell.
    pub is_cell: bool,
    /// Its value.
    pub value: StateExpr,
    /// Whether it has 64 bits and no sign, so that a negative value stands for one beyond the greatest [`Value`].
    pub is_unsigned: bool,
}

fn number_text(value: Value, is_unsigned: bool) -> String {
    if is_unsigned { (value as u64).to_string() } else { value.to_string() }
}

impl Litmus {
    /// A value as results show it: the name of a cell where the value is its address.
    pub fn value_text(&self, observable: &Observable, value: Value) -> String {
        match self.address_name(value) {
            Some(name) => name.to_owned(),
            None => number_text(value, observable.is_unsigned),
        }
    }

    /// The name of the cell at this address, if addresses are values in this test.
    pub fn address_name(&self, value: Value) -> Option<&str> {
        let found = self.addresses.binary_search_by_key(&value, |(address, _)| *address).ok()?;
        self.addresses.get(found).map(|(_, name)| name.as_str())
    }
}

/// Reads a litmus test.
///
/// # Errors
/// The first error in the header, the tokens, the initial state or the names of the threads; or else all errors in the
/// code and the question; or else the first error per thread about what its instructions mean.
pub fn parse(source: &Source) -> Result<Litmus, Vec<Diagnostic>> {
    read(source, &Poll::new(&Uninterrupted))
}

/// As [`parse`], unless it is interrupted.
///
/// # Errors
/// As [`parse`].
pub fn parse_until(source: &Source, interrupt: &dyn Interrupt) -> Result<Litmus, ParseError> {
    let poll = Poll::later(interrupt);
    ParseError::unless_over(&poll, read(source, &poll))
}

/// Reads a litmus test. Once the poll is over, the result is of no use.
pub(crate) fn read(source: &Source, poll: &Poll<'_>) -> Result<Litmus, Vec<Diagnostic>> {
    tree(source, poll).and_then(|test| lower::lower(source, test, poll))
}

/// Why a test cannot be read; in a box, since it is rare and large.
type Refused = Box<Diagnostic>;

fn tree(source: &Source, poll: &Poll<'_>) -> Result<tree::Test, Vec<Diagnostic>> {
    let only = |error: Refused| vec![*error];
    let header = header::read(source).map_err(only)?;
    let (tokens, end) = token::lex(source, header.body, poll).map_err(only)?;
    let mut parser = Parser::new(source, &tokens, end, poll);
    let body = body(&mut parser, &header);
    let errors = parser.sink.finish().err().unwrap_or_default();
    match body {
        Ok((initial, threads, question)) if errors.is_empty() => Ok(tree::Test { header, initial, threads, question }),
        _ => Err(errors),
    }
}

/// All that follows the header.
fn body(
    parser: &mut Parser<'_, '_>,
    header: &Header,
) -> Parse<(Vec<tree::Initial>, Vec<tree::Column>, tree::Question)> {
    let initial = initial::read(parser, header.architecture.address_size(), header.brace)?;
    let threads = code::read(parser, header.architecture)?;
    let question = question::read(parser)?;
    Ok((initial, threads, question))
}

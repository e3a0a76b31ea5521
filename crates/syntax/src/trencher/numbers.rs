//! Numbers: C's `int`, as Trencher reads them, except that it reads as far as it can and guesses the rest
//! (`1x` is 1 there, and a number too large is whatever the library makes of it). Here those are errors.

use weir_ir::{Diagnostic, Value};

use super::tokens::Token;

/// Whether a token is meant as a number: it starts like one.
pub(super) fn is_meant(text: &str) -> bool {
    text.strip_prefix(['-', '+']).unwrap_or(text).starts_with(|first: char| first.is_ascii_digit())
}

/// The value of a token that is meant as a number.
pub(super) fn value(token: Token<'_>) -> Result<Value, Box<Diagnostic>> {
    let text = token.text;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let error = Diagnostic::error("bad-number", format!("`{text}` is not a number"), token.span);
        let help = "Trencher would read the digits and ignore the rest; a name must not start with a digit";
        return Err(Box::new(error.label("starts like a number").help(help)));
    }
    text.parse::<i32>().map(Value::from).map_err(|_| {
        let message = format!("`{text}` does not fit in Trencher's 32-bit values");
        let help = format!("numbers range from {} to {}", i32::MIN, i32::MAX);
        Box::new(Diagnostic::error("number-too-large", message, token.span).help(help))
    })
}

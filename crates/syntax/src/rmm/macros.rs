//! Macros: names that expand to tokens, wherever they stand.
//!
//! `macro NAME(parameters) tokens endmacro` can stand between any two tokens and defines a macro for what follows. A
//! call gives one sequence of tokens per parameter. The expansion of a call may contain calls of other macros, but not
//! of the same one.

use std::collections::HashMap;
use std::rc::Rc;

use weir_ir::{Diagnostic, Label, Poll, Source, Span};

use super::token::{Kind, Token};
use crate::limits::{MAX_MACRO_NESTING, MAX_WORK};
use crate::parsing::{self, found};

/// The tokens of a program with all macros expanded.
pub(super) struct Expanded<'s> {
    pub(super) tokens: Vec<Token<'s>>,
    /// What follows the last token.
    pub(super) end: Token<'s>,
    /// For each expanded call: where it is written, and the call in whose expansion it stands (0: none).
    calls: Vec<(Span, u32)>,
    /// Why the tokens are not complete.
    pub(super) too_large: Option<Box<Diagnostic>>,
}

impl Expanded<'_> {
    /// The calls of the macros that produced a token, inner ones first.
    pub(super) fn calls_around(&self, frame: u32) -> impl Iterator<Item = Span> {
        let mut frame = frame;
        std::iter::from_fn(move || {
            let (span, around) = *self.calls.get((frame as usize).checked_sub(1)?)?;
            frame = around;
            Some(span)
        })
    }
}

/// Expands all macros, until the poll is over.
pub(super) fn expand<'s>(
    source: &'s Source,
    tokens: &[Token<'s>],
    poll: &Poll<'_>,
) -> Result<Expanded<'s>, Vec<Diagnostic>> {
    let text = source.text();
    let end = Token { kind: Kind::Eof, text: "", span: Span::new(text.len(), text.len()), frame: 0 };
    let mut expander = Expander { macros: HashMap::new(), calls: Vec::new(), too_large: None };
    let tokens = expander.all(tokens, end, poll).map_err(|error| vec![*error])?;
    Ok(Expanded { tokens, end, calls: expander.calls, too_large: expander.too_large })
}

type Expand<T> = Result<T, Box<Diagnostic>>;

struct Macro<'s> {
    parameters: Vec<Token<'s>>,
    body: Vec<Token<'s>>,
    span: Span,
}

/// Tokens still to be expanded: the rest of a file or of a macro.
struct Pending<'s> {
    tokens: Rc<[Token<'s>]>,
    at: usize,
    /// The macro that the tokens come from.
    name: Option<&'s str>,
}

struct Expander<'s> {
    macros: HashMap<&'s str, Rc<Macro<'s>>>,
    calls: Vec<(Span, u32)>,
    too_large: Option<Box<Diagnostic>>,
}

impl<'s> Expander<'s> {
    fn all(&mut self, tokens: &[Token<'s>], end: Token<'s>, poll: &Poll<'_>) -> Expand<Vec<Token<'s>>> {
        let mut stack = vec![Pending { tokens: tokens.into(), at: 0, name: None }];
        let mut expanded = Vec::new();
        while let Some(token) = next(&mut stack).filter(|_| !poll.is_over()) {
            match token.kind {
                Kind::Macro => self.define(token, &mut stack, end)?,
                Kind::EndMacro => {
                    return Err(error("unexpected-token", "`endmacro` without a `macro` before it", token.span));
                }
                Kind::Name if self.macros.contains_key(token.text) => self.call(token, &mut stack, end)?,
                _ => expanded.push(token),
            }
            if expanded.len() > MAX_WORK {
                self.too_large = Some(too_large(token, !self.calls.is_empty()));
                break;
            }
        }
        Ok(expanded)
    }

    fn define(&mut self, start: Token<'s>, stack: &mut Vec<Pending<'s>>, end: Token<'s>) -> Expand<()> {
        if stack.len() > 1 {
            return Err(error("macro-in-macro", "a macro cannot be defined inside another macro", start.span));
        }
        let name = wanted(stack, Kind::Name, "a macro name", end)?;
        if let Some(first) = self.macros.get(name.text) {
            let message = format!("macro `{}` is defined twice", name.text);
            return Err(also(error("duplicate-name", message, name.span), first.span, "the first one"));
        }
        let parameters = self.parameters(stack, end)?;
        let mut body = Vec::new();
        loop {
            let token = next(stack).unwrap_or(end);
            match token.kind {
                Kind::EndMacro => break,
                Kind::Macro => {
                    return Err(error("macro-in-macro", "a macro cannot be defined inside another macro", token.span));
                }
                Kind::Eof => {
                    let message = format!("macro `{}` is never closed", name.text);
                    let error = also(error("missing-endmacro", message, end.span), start.span, "it starts here");
                    return Err(Box::new(error.help("close it with `endmacro`")));
                }
                _ => body.push(token),
            }
        }
        self.macros.insert(name.text, Rc::new(Macro { parameters, body, span: name.span }));
        Ok(())
    }

    fn parameters(&mut self, stack: &mut Vec<Pending<'s>>, end: Token<'s>) -> Expand<Vec<Token<'s>>> {
        wanted(stack, Kind::OpenParen, "`(` and the parameters", end)?;
        let mut parameters: Vec<Token<'s>> = Vec::new();
        let mut token = next(stack).unwrap_or(end);
        if token.kind == Kind::CloseParen {
            return Ok(parameters);
        }
        loop {
            if token.kind != Kind::Name {
                return Err(unexpected("a parameter name", token));
            }
            if let Some(first) = parameters.iter().find(|first| first.text == token.text) {
                let message = format!("parameter `{}` is declared twice", token.text);
                return Err(also(error("duplicate-name", message, token.span), first.span, "the first one"));
            }
            parameters.push(token);
            let separator = next(stack).unwrap_or(end);
            match separator.kind {
                Kind::CloseParen => return Ok(parameters),
                Kind::Comma => token = next(stack).unwrap_or(end),
                _ => return Err(unexpected("`,` or `)`", separator)),
            }
        }
    }

    /// Puts the expansion of a call before what is still to be expanded.
    fn call(&mut self, name: Token<'s>, stack: &mut Vec<Pending<'s>>, end: Token<'s>) -> Expand<()> {
        let called = Rc::clone(&self.macros[name.text]);
        if stack.iter().any(|pending| pending.name == Some(name.text)) {
            let message = format!("macro `{}` calls itself", name.text);
            return Err(error("macro-cycle", message, name.span));
        }
        let arguments = self.arguments(name, stack, end)?;
        if arguments.len() != called.parameters.len() {
            let (wanted, given) = (called.parameters.len(), arguments.len());
            let message = format!("macro `{}` takes {wanted} arguments, not {given}", name.text);
            return Err(also(error("wrong-arity", message, name.span), called.span, "defined here"));
        }
        if stack.len() >= MAX_MACRO_NESTING || self.calls.len() >= MAX_WORK {
            return Err(error("program-too-large", "macro calls are nested too deep or too numerous", name.span));
        }
        self.calls.push((name.span, name.frame));
        let frame = self.calls.len() as u32;
        let mut tokens = Vec::with_capacity(called.body.len());
        for &token in &called.body {
            let parameter = called.parameters.iter().position(|parameter| parameter.text == token.text);
            match parameter.filter(|_| token.kind == Kind::Name) {
                Some(nth) => tokens.extend_from_slice(&arguments[nth]),
                None => tokens.push(Token { frame, ..token }),
            }
            if tokens.len() > MAX_WORK {
                return Err(error("program-too-large", "the expansion of this call is too long", name.span));
            }
        }
        stack.push(Pending { tokens: tokens.into(), at: 0, name: Some(name.text) });
        Ok(())
    }

    fn arguments(&self, name: Token<'s>, stack: &mut Vec<Pending<'s>>, end: Token<'s>) -> Expand<Vec<Vec<Token<'s>>>> {
        wanted(stack, Kind::OpenParen, &format!("`(` and the arguments of macro `{}`", name.text), end)?;
        let mut arguments = Vec::new();
        let mut current = Vec::new();
        let mut open = 1usize;
        loop {
            let token = next(stack).unwrap_or(end);
            match token.kind {
                Kind::OpenParen => open += 1,
                Kind::CloseParen => open -= 1,
                Kind::Eof => {
                    let message = format!("the call of macro `{}` is never closed", name.text);
                    return Err(also(error("unexpected-token", message, end.span), name.span, "it starts here"));
                }
                Kind::Macro | Kind::EndMacro => return Err(unexpected("an argument", token)),
                _ => {}
            }
            let is_separator = token.kind == Kind::Comma && open == 1;
            if open > 0 && !is_separator {
                current.push(token);
                continue;
            }
            if current.is_empty() && (is_separator || !arguments.is_empty()) {
                return Err(error("empty-argument", "this argument is empty", token.span));
            }
            if !current.is_empty() {
                arguments.push(std::mem::take(&mut current));
            }
            if open == 0 {
                return Ok(arguments);
            }
        }
    }
}

/// The next token, from the innermost text that has one.
fn next<'s>(stack: &mut Vec<Pending<'s>>) -> Option<Token<'s>> {
    loop {
        let pending = stack.last_mut()?;
        if let Some(&token) = pending.tokens.get(pending.at) {
            pending.at += 1;
            return Some(token);
        }
        stack.pop();
    }
}

fn wanted<'s>(stack: &mut Vec<Pending<'s>>, kind: Kind, what: &str, end: Token<'s>) -> Expand<Token<'s>> {
    let token = next(stack).unwrap_or(end);
    if token.kind == kind { Ok(token) } else { Err(unexpected(what, token)) }
}

fn unexpected(what: &str, token: Token<'_>) -> Box<Diagnostic> {
    let mut error = parsing::unexpected(what, &found(token.kind, token.text), token.span);
    if token.kind.is_keyword() {
        error.help = Some(format!("`{}` is a keyword; choose another name", token.text));
    }
    Box::new(error)
}

fn too_large(token: Token<'_>, has_calls: bool) -> Box<Diagnostic> {
    let what = if has_calls { "after macro expansion, the program" } else { "the program" };
    let message = format!("{what} has more than {MAX_WORK} tokens");
    let error = Diagnostic::error("program-too-large", message, token.span);
    Box::new(error.help("make it smaller"))
}

fn error(code: &'static str, message: impl Into<String>, span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(code, message, span))
}

fn also(mut error: Box<Diagnostic>, span: Span, text: &str) -> Box<Diagnostic> {
    error.secondary.push(Label { span, text: text.to_string() });
    error
}

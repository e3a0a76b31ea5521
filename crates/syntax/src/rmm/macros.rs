//! Macros: words that stand for other words, wherever they are.
//!
//! `macro NAME(parameters) words endmacro` can stand between any two words and defines a macro for what follows.
//! A call gives one stretch of words for each parameter. What a call stands for may call further
//! macros, but not itself.

use std::collections::HashMap;
use std::rc::Rc;

use weir_ir::{Diagnostic, Label, Source, Span};

use super::token::{Kind, Token};
use crate::limits::MAX_WORK;

/// How deep calls may stand in what calls stand for.
const MAX_CALLS: usize = 100;

/// The words of a program with all macros expanded.
pub(super) struct Expanded<'s> {
    pub(super) words: Vec<Token<'s>>,
    /// Behind the last word.
    pub(super) end: Token<'s>,
    /// For each call that was expanded: where it is written, and the call it stands in (0: none).
    calls: Vec<(Span, u32)>,
    /// Why these are not all words.
    pub(super) too_large: Option<Box<Diagnostic>>,
}

impl Expanded<'_> {
    /// Where the macro was called that gave a word, if one did; outer calls after inner ones.
    pub(super) fn calls_around(&self, frame: u32) -> impl Iterator<Item = Span> {
        let mut frame = frame;
        std::iter::from_fn(move || {
            let (span, around) = *self.calls.get((frame as usize).checked_sub(1)?)?;
            frame = around;
            Some(span)
        })
    }
}

/// Expands all macros.
pub(super) fn expand<'s>(source: &'s Source, words: &[Token<'s>]) -> Result<Expanded<'s>, Vec<Diagnostic>> {
    let text = source.text();
    let end = Token { kind: Kind::Eof, text: "", span: Span::new(text.len(), text.len()), frame: 0 };
    let mut expander = Expander { macros: HashMap::new(), calls: Vec::new(), too_large: None };
    let words = expander.all(words, end).map_err(|error| vec![*error])?;
    Ok(Expanded { words, end, calls: expander.calls, too_large: expander.too_large })
}

type Expand<T> = Result<T, Box<Diagnostic>>;

struct Macro<'s> {
    parameters: Vec<Token<'s>>,
    body: Vec<Token<'s>>,
    span: Span,
}

/// Words that are still to be read: the rest of a file, of a macro or of an argument.
struct Pending<'s> {
    words: Rc<[Token<'s>]>,
    at: usize,
    /// The macro whose words these are.
    name: Option<&'s str>,
}

struct Expander<'s> {
    macros: HashMap<&'s str, Rc<Macro<'s>>>,
    calls: Vec<(Span, u32)>,
    too_large: Option<Box<Diagnostic>>,
}

impl<'s> Expander<'s> {
    fn all(&mut self, words: &[Token<'s>], end: Token<'s>) -> Expand<Vec<Token<'s>>> {
        let mut stack = vec![Pending { words: words.into(), at: 0, name: None }];
        let mut expanded = Vec::new();
        while let Some(word) = next(&mut stack) {
            match word.kind {
                Kind::Macro => self.define(word, &mut stack, end)?,
                Kind::EndMacro => {
                    return Err(error("unexpected-word", "`endmacro` without a `macro` before it", word.span));
                }
                Kind::Name if self.macros.contains_key(word.text) => self.call(word, &mut stack, end)?,
                _ => expanded.push(word),
            }
            if expanded.len() > MAX_WORK {
                self.too_large = Some(too_large(word, !self.calls.is_empty()));
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
            let word = next(stack).unwrap_or(end);
            match word.kind {
                Kind::EndMacro => break,
                Kind::Macro => {
                    return Err(error("macro-in-macro", "a macro cannot be defined inside another macro", word.span));
                }
                Kind::Eof => {
                    let message = format!("macro `{}` is never closed", name.text);
                    let error = also(error("missing-endmacro", message, end.span), start.span, "it starts here");
                    return Err(Box::new(error.help("close it with `endmacro`")));
                }
                _ => body.push(word),
            }
        }
        self.macros.insert(name.text, Rc::new(Macro { parameters, body, span: name.span }));
        Ok(())
    }

    fn parameters(&mut self, stack: &mut Vec<Pending<'s>>, end: Token<'s>) -> Expand<Vec<Token<'s>>> {
        wanted(stack, Kind::OpenParen, "`(` and the parameters", end)?;
        let mut parameters: Vec<Token<'s>> = Vec::new();
        let mut word = next(stack).unwrap_or(end);
        if word.kind == Kind::CloseParen {
            return Ok(parameters);
        }
        loop {
            if word.kind != Kind::Name {
                return Err(unexpected("a parameter name", word));
            }
            if let Some(first) = parameters.iter().find(|first| first.text == word.text) {
                let message = format!("parameter `{}` is declared twice", word.text);
                return Err(also(error("duplicate-name", message, word.span), first.span, "the first one"));
            }
            parameters.push(word);
            let behind = next(stack).unwrap_or(end);
            match behind.kind {
                Kind::CloseParen => return Ok(parameters),
                Kind::Comma => word = next(stack).unwrap_or(end),
                _ => return Err(unexpected("`,` or `)`", behind)),
            }
        }
    }

    /// Puts what a call stands for in front of what is still to be read.
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
        if stack.len() >= MAX_CALLS || self.calls.len() >= MAX_WORK {
            return Err(error("program-too-large", "macro calls are nested too deep or too numerous", name.span));
        }
        self.calls.push((name.span, name.frame));
        let frame = self.calls.len() as u32;
        let mut words = Vec::with_capacity(called.body.len());
        for &word in &called.body {
            let parameter = called.parameters.iter().position(|parameter| parameter.text == word.text);
            match parameter.filter(|_| word.kind == Kind::Name) {
                Some(nth) => words.extend_from_slice(&arguments[nth]),
                None => words.push(Token { frame, ..word }),
            }
            if words.len() > MAX_WORK {
                return Err(error("program-too-large", "the expansion of this call is too long", name.span));
            }
        }
        stack.push(Pending { words: words.into(), at: 0, name: Some(name.text) });
        Ok(())
    }

    fn arguments(&self, name: Token<'s>, stack: &mut Vec<Pending<'s>>, end: Token<'s>) -> Expand<Vec<Vec<Token<'s>>>> {
        wanted(stack, Kind::OpenParen, &format!("`(` and the arguments of macro `{}`", name.text), end)?;
        let mut arguments = Vec::new();
        let mut current = Vec::new();
        let mut open = 1usize;
        loop {
            let word = next(stack).unwrap_or(end);
            match word.kind {
                Kind::OpenParen => open += 1,
                Kind::CloseParen => open -= 1,
                Kind::Eof => {
                    let message = format!("the call of macro `{}` is never closed", name.text);
                    return Err(also(error("unexpected-word", message, end.span), name.span, "it starts here"));
                }
                Kind::Macro | Kind::EndMacro => return Err(unexpected("an argument", word)),
                _ => {}
            }
            let is_separator = word.kind == Kind::Comma && open == 1;
            if open > 0 && !is_separator {
                current.push(word);
                continue;
            }
            if current.is_empty() && (is_separator || !arguments.is_empty()) {
                return Err(error("empty-argument", "this argument is empty", word.span));
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

/// The next word, from the innermost text that has one.
fn next<'s>(stack: &mut Vec<Pending<'s>>) -> Option<Token<'s>> {
    loop {
        let pending = stack.last_mut()?;
        if let Some(&word) = pending.words.get(pending.at) {
            pending.at += 1;
            return Some(word);
        }
        stack.pop();
    }
}

fn wanted<'s>(stack: &mut Vec<Pending<'s>>, kind: Kind, what: &str, end: Token<'s>) -> Expand<Token<'s>> {
    let word = next(stack).unwrap_or(end);
    if word.kind == kind { Ok(word) } else { Err(unexpected(what, word)) }
}

fn unexpected(what: &str, word: Token<'_>) -> Box<Diagnostic> {
    let found = if word.kind.text().is_none() && word.kind != Kind::Eof {
        format!("`{}`", word.text)
    } else {
        word.kind.describe()
    };
    let mut error = error("unexpected-word", format!("expected {what}, found {found}"), word.span);
    if word.kind.text().is_some_and(|text| text.starts_with(|first: char| first.is_ascii_lowercase())) {
        error.help = Some(format!("`{}` is a keyword; choose another name", word.text));
    }
    error
}

fn too_large(word: Token<'_>, has_calls: bool) -> Box<Diagnostic> {
    let what = if has_calls { "after macro expansion, the program" } else { "the program" };
    let message = format!("{what} has more than {MAX_WORK} tokens");
    let error = Diagnostic::error("program-too-large", message, word.span);
    Box::new(error.help("make it smaller"))
}

fn error(code: &'static str, message: impl Into<String>, span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(code, message, span))
}

fn also(mut error: Box<Diagnostic>, span: Span, text: &str) -> Box<Diagnostic> {
    error.secondary.push(Label { span, text: text.to_string() });
    error
}

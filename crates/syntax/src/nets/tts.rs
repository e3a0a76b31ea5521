//! Thread transition systems, one transition per line, as BFC reads them.
//!
//! ```text
//! 3 4                 # shared states, local states: both are numbered from 0
//! 0 0 -> 1 1          # in shared state 0, a thread goes from local state 0 to 1; the shared state becomes 1
//! 1 1 +> 1 2          # a thread in local state 1 starts another one in 2
//! 1 2 -> 2 3 0 ~> 1   # a thread goes from 2 to 3, and all others that are in 0 go to 1
//! 2 1 ~> 0 0          # all threads in local state 1 go to 0
//! ```
//!
//! Shared states become control states of the net, and local states its places. A local state with several `~>` on a
//! line lets each of its threads go to any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::str::SplitWhitespace;

use weir_ir::net::{CoverTarget, Move, Net, NetTransition, Place};
use weir_ir::{ControlId, Diagnostic, PlaceId, Poll, Source, Span};

use super::parsed::ParsedNet;
use super::question::ThreadQuestion;
use crate::limits::{MAX_NET_PLACES, MAX_SHARED_STATES};
use crate::parsing;
use crate::parsing::raw_text::unreadable;
use crate::sink::Sink;

/// More characters of a token than this are left out of messages.
const MAX_SHOWN: usize = 40;

/// What a part of a line is, or what is wrong with it.
type Read<T> = Result<T, Box<Diagnostic>>;

/// Reads a thread transition system. Once the poll is over, the result is of no use.
pub(super) fn read(source: &Source, question: &ThreadQuestion, poll: &Poll<'_>) -> Result<ParsedNet, Vec<Diagnostic>> {
    if let Some(problem) = unreadable(source.text(), ".tts") {
        return Err(vec![problem]);
    }
    let mut sink = Sink::default();
    let mut net: Option<Net> = None;
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        if poll.is_over() {
            break;
        }
        let mut tokens = Tokens::new(source.text(), line, start);
        start += line.len();
        if tokens.peek().is_none() {
            continue;
        }
        let read = match &mut net {
            None => header(&mut tokens).map(|found| net = Some(found)),
            Some(net) => transition(&mut tokens, net).map(|found| net.transitions.push(found)),
        };
        if let Err(error) = read {
            sink.error(*error);
        }
        if net.is_none() {
            break;
        }
    }
    let Some(mut net) = net else {
        if !sink.failed() {
            let error = Diagnostic::error("no-states", "the file has no states", Span::default());
            sink.error(error.help("the first line has the numbers of shared and of local states, as in `3 4`"));
        }
        return Err(sink.finish().err().unwrap_or_default());
    };
    net.source = source.clone();
    ask(&mut net, question, &mut sink);
    sink.finish().map(|warnings| ParsedNet { net, warnings })
}

/// Puts the question into the net.
fn ask(net: &mut Net, question: &ThreadQuestion, sink: &mut Sink) {
    let (shared, locals) = (net.controls.len(), net.places.len());
    let problem = |message: String| {
        Diagnostic::error("bad-question", message, Span::default())
            .help("states are numbered from 0; the first line of the file says how many there are")
    };
    match question.start(locals) {
        Ok(initial) if initial.control.index() < shared => net.initial = initial,
        Ok(initial) => {
            let message = format!("the start names shared state {}, but there are only {shared}", initial.control.0);
            sink.error(problem(message));
        }
        Err(message) => sink.error(problem(message)),
    }
    for target in &question.targets {
        let is_known = |target: &CoverTarget| {
            target.control.is_none_or(|control| control.index() < shared)
                && target.at_least.iter().all(|(place, _)| place.index() < locals)
        };
        if is_known(target) {
            net.targets.push(target.clone());
        } else {
            let message = format!("the target names a state that is not there: {shared} shared, {locals} local states");
            sink.error(problem(message));
        }
    }
}

/// `3 4`.
fn header(tokens: &mut Tokens<'_>) -> Read<Net> {
    let shared = tokens.size("the number of shared states", MAX_SHARED_STATES)?;
    let locals = tokens.size("the number of local states", MAX_NET_PLACES)?;
    tokens.end("the end of the line")?;
    let place = |local: usize| Place { name: format!("l{local}"), span: Span::default() };
    let (controls, places) = ((0..shared).map(|state| format!("s{state}")), (0..locals).map(place));
    Ok(Net { controls: controls.collect(), places: places.collect(), ..Net::default() })
}

/// One of the lines shown above.
fn transition(tokens: &mut Tokens<'_>, net: &Net) -> Read<NetTransition> {
    let first = tokens.here();
    let (from, local) = (tokens.shared(net)?, tokens.local(net)?);
    let arrow = tokens.next("`->`, `+>` or `~>`")?;
    let kind = arrow.1;
    if !["->", "+>", "~>"].contains(&kind) {
        return Err(unexpected("`->`, `+>` or `~>`", arrow));
    }
    let (to, next) = (tokens.shared(net)?, tokens.local(net)?);
    let mut moves: BTreeMap<PlaceId, BTreeSet<PlaceId>> = BTreeMap::new();
    while tokens.peek().is_some() {
        if kind != "->" {
            tokens.end("the end of the line: only `->` can move other threads")?;
        }
        let from = tokens.local(net)?;
        let arrow = tokens.next("`~>`")?;
        if arrow.1 != "~>" {
            return Err(unexpected("`~>`", arrow));
        }
        moves.entry(from).or_default().insert(tokens.local(net)?);
    }
    if kind == "~>" {
        moves.entry(local).or_default().insert(next);
    }
    let moves = moves.into_iter().map(|(from, to)| Move { from, to: to.into_iter().collect() });
    let moves = moves.filter(|step| step.to != [step.from]).collect();
    let is_broadcast = kind == "~>";
    let needs = if is_broadcast { Vec::new() } else { vec![(local, 1)] };
    let takes = if kind == "->" { vec![(local, 1)] } else { Vec::new() };
    let gives = if is_broadcast { Vec::new() } else { vec![(next, 1)] };
    Ok(NetTransition { from, to, needs, takes, moves, gives, span: first.to(tokens.last) })
}

fn unexpected(expected: &str, (span, text): (Span, &str)) -> Box<Diagnostic> {
    Box::new(parsing::unexpected(expected, &format!("`{}`", parsing::shown(text, MAX_SHOWN)), span).help(LINE))
}

/// What a line looks like.
const LINE: &str = "a line is `S L -> S' L'` (a thread moves), `S L +> S' L'` (it starts another one) or \
                    `S L ~> S' L'` (all threads in L move), with shared states S and local states L";

/// The tokens of a line.
struct Tokens<'s> {
    tokens: std::iter::Peekable<SplitWhitespace<'s>>,
    text: &'s str,
    /// Where the line ends, apart from its comment.
    end: usize,
    /// The token taken last.
    last: Span,
}

impl<'s> Tokens<'s> {
    fn new(text: &'s str, line: &'s str, start: usize) -> Self {
        let line = line.split('#').next().unwrap_or_default();
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        let end = start + line.trim_end().len();
        Self { tokens: line.split_whitespace().peekable(), text, end, last: Span::new(end, end) }
    }

    fn peek(&mut self) -> Option<&'s str> {
        self.tokens.peek().copied()
    }

    /// Where the next token is.
    fn here(&mut self) -> Span {
        match self.peek() {
            Some(token) => {
                let at = token.as_ptr() as usize - self.text.as_ptr() as usize;
                Span::new(at, at + token.len())
            }
            None => Span::new(self.end, self.end),
        }
    }

    fn next(&mut self, expected: &str) -> Read<(Span, &'s str)> {
        let span = self.here();
        self.last = span;
        self.tokens
            .next()
            .map(|token| (span, token))
            .ok_or_else(|| Box::new(parsing::unexpected(expected, "the end of the line", span).help(LINE)))
    }

    fn end(&mut self, expected: &str) -> Read<()> {
        let span = self.here();
        self.peek().map_or(Ok(()), |token| Err(unexpected(expected, (span, token))))
    }

    fn size(&mut self, what: &str, most: usize) -> Read<usize> {
        let (span, token) = self.next(what)?;
        match token.parse() {
            Ok(0) => {
                let error = Diagnostic::error("no-states", format!("{what} is 0"), span);
                Err(Box::new(error.help("there must be one at least")))
            }
            Ok(size) if size <= most => Ok(size),
            _ if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) => {
                let error = Diagnostic::error("too-many-states", format!("{what} is too large"), span);
                Err(Box::new(error.help(format!("at most {most} are allowed"))))
            }
            _ => {
                let help = "the first line has the numbers of shared and of local states, as in `3 4`";
                let mut error = unexpected(what, (span, token));
                error.help = Some(help.to_owned());
                Err(error)
            }
        }
    }

    /// The number of a state, of which there are `count`.
    fn state(&mut self, what: &str, count: usize) -> Read<u32> {
        let (span, token) = self.next(what)?;
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(unexpected(what, (span, token)));
        }
        match token.parse::<u32>() {
            Ok(state) if (state as usize) < count => Ok(state),
            _ => {
                let message = format!("there is no state {}", parsing::shown(token, MAX_SHOWN));
                let help = format!("this is {what}, and there are {count}, numbered from 0");
                Err(Box::new(Diagnostic::error("unknown-state", message, span).help(help)))
            }
        }
    }

    fn shared(&mut self, net: &Net) -> Read<ControlId> {
        self.state("a shared state", net.controls.len()).map(ControlId)
    }

    fn local(&mut self, net: &Net) -> Read<PlaceId> {
        self.state("a local state", net.places.len()).map(PlaceId)
    }
}

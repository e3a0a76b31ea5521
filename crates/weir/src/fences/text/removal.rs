//! Fences that a program has and does not need.
//!
//! Without its fences, the program is one that fences are to be found for, with the places where they were as the only
//! candidates. The cheapest set of these is what must stay, and the rest can go.
//!
//! An exchange whose result nobody reads is a store with a fence behind it: both empty the buffer before the thread goes
//! on, and what the exchange reads orders nothing that its write does not order. Compilers emit it for a sequentially
//! consistent store. If the fence is not needed, a plain store is enough.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::flow::{live_registers, observed_registers};
use weir_ir::{Edge, EdgeId, Gather, Instruction, Program, Rmw, Source, Span, ThreadId, Value};
use weir_syntax::{Language, ParseError};

use super::{Chosen, FencedText, Site, Sites, without_each};
use crate::fences::{Aim, Fences, Options, Place, Report, achieves, recheck};
use crate::robust::{Attacks, ThreadEdge};
use crate::session::Session;
use crate::verdict::{Failure, Verdict};

/// The fences that a program has.
#[derive(Clone, Debug)]
pub struct Existing {
    /// The program without them, with the places where they were.
    pub sites: Sites,
    original: Program,
    spans: Vec<Span>,
}

impl Existing {
    /// All fences of a program that was read from this language with these constants; each costs 1.
    pub fn of(program: &Program, language: Language, constants: &[(String, Value)], aim: Aim) -> Self {
        let mut found: BTreeMap<Span, Vec<ThreadEdge>> = BTreeMap::new();
        for (step, span) in fence_steps(program, aim) {
            found.entry(span).or_default().push(step);
        }
        let site = |(span, after): (&Span, &Vec<ThreadEdge>)| Site {
            offset: span.start,
            locations: after.iter().map(|&(thread, edge)| (thread, program.body(thread).edge(edge).from)).collect(),
            place: Place { after: after.clone(), cost: 1 },
            is_in_text: false,
        };
        let list: Vec<Site> = found.iter().map(site).collect();
        let all = found.values().flatten().copied().gather();
        let sites = Sites { program: without(program, &all), list, language, constants: constants.to_vec() };
        Self { sites, original: program.clone(), spans: found.into_keys().collect() }
    }

    /// Where a fence stands in the text.
    pub fn span(&self, number: usize) -> Span {
        self.spans[number]
    }

    /// Whether it is an exchange.
    pub fn is_exchange(&self, number: usize) -> bool {
        let mut steps = self.sites.list[number].place.after.iter();
        steps.any(|&(thread, edge)| self.original.body(thread).edge(edge).instruction != Instruction::Fence)
    }

    /// Those that are not among the chosen ones.
    pub fn others(&self, chosen: &Chosen) -> Chosen {
        (0..self.sites.list.len()).filter(|number| !chosen.contains(number)).gather()
    }

    /// Checks whether the program with all its fences meets the aim. If it does not, or a limit was reached first, this
    /// is the answer, and no fences need be looked for.
    ///
    /// # Errors
    /// If the engine does not support the program, or if an invariant of Weir is broken.
    pub fn unless_enough(&self, options: &Options, session: &Session) -> Result<Option<Report>, Failure> {
        let fences = match achieves(&self.original, options, session)? {
            Verdict::Holds => return Ok(None),
            Verdict::Violated(()) => Fences::TooFew,
            Verdict::Unknown(limit) => Fences::Stopped(limit),
        };
        Ok(Some(Report::new(fences, Attacks::default())))
    }

    /// The text of the program with the chosen fences alone, checked: it meets the aim, and does not if one more of them
    /// is removed.
    ///
    /// # Errors
    /// As [`recheck`].
    pub fn write(&self, chosen: &Chosen, options: &Options, session: &Session) -> Result<FencedText, Failure> {
        let reduced: Vec<Program> = without_each(chosen).map(|fewer| self.with_only(&fewer)).collect();
        let edited = self.edited(chosen, session)?;
        let is_printed_anew = edited.is_none();
        let (text, language, program) = match edited {
            Some((text, program)) => (text, self.sites.language, program),
            None => {
                let program = self.with_only(chosen);
                let own = self.sites.language.print(&program).and_then(Result::ok);
                let language = if own.is_some() { self.sites.language } else { Language::Weir };
                (own.unwrap_or_else(|| weir_syntax::weir::print::print(&program)), language, program)
            }
        };
        let recheck = recheck(&program, reduced, options, session)?;
        Ok(FencedText { text, language, is_printed_anew, recheck })
    }

    fn with_only(&self, chosen: &Chosen) -> Program {
        let others = self.others(chosen);
        let steps = others.iter().flat_map(|&number| self.sites.list[number].place.after.iter().copied()).gather();
        without(&self.original, &steps)
    }

    /// The text as its author wrote it, without the other fences, and the program that it reads as. `None` if they
    /// cannot be taken out of it.
    fn edited(&self, chosen: &Chosen, session: &Session) -> Result<Option<(String, Program)>, Failure> {
        let others = self.others(chosen);
        let source = &self.original.source;
        if others.is_empty() {
            return Ok(Some((source.text().to_owned(), self.original.clone())));
        }
        if self.sites.language != Language::Weir {
            return Ok(None);
        }
        let Some(text) = cut(source.text(), others.iter().map(|&number| self.spans[number])) else { return Ok(None) };
        let edited = Source::new(source.name(), text.as_str());
        match self.sites.language.parse_until(&edited, &self.sites.constants, session) {
            Ok(parsed) => Ok(Some((text, parsed.program))),
            Err(ParseError::Interrupted) => Err(Failure::Stopped(session.ended_by())),
            Err(_) => Ok(None),
        }
    }
}

/// The steps that are fences and nothing else, or stores with a fence.
fn fence_steps(program: &Program, aim: Aim) -> Vec<(ThreadEdge, Span)> {
    let mut steps = Vec::new();
    for thread in program.thread_ids() {
        let body = program.body(thread);
        let live = live_registers(body, &observed_registers(program, thread));
        for (id, edge) in (0..).map(EdgeId).zip(body.edges()) {
            let is_fence = match &edge.instruction {
                Instruction::Fence => true,
                // To triangular races, whether a write is part of an exchange makes a difference of its own.
                Instruction::ReadModifyWrite { register, operation: Rmw::Exchange(_), .. } => {
                    let is_read = register.is_some_and(|register| live.at(edge.to).contains(register));
                    aim != Aim::RaceFree && !is_read
                }
                _ => false,
            };
            if is_fence {
                steps.push(((thread, id), edge.span));
            }
        }
    }
    steps
}

/// The program without the fences of these steps. Steps and locations keep their numbers.
fn without(program: &Program, steps: &BTreeSet<(ThreadId, EdgeId)>) -> Program {
    let mut changed = program.clone();
    for thread in program.thread_ids() {
        let mut ids = (0..).map(EdgeId);
        let body = program.body(thread).map_edges(|edge| {
            let is_removed = ids.next().is_some_and(|id| steps.contains(&(thread, id)));
            if is_removed { unfenced(edge) } else { edge.clone() }
        });
        changed.threads[thread.index()].body = body;
    }
    changed
}

fn unfenced(edge: &Edge) -> Edge {
    let instruction = match &edge.instruction {
        Instruction::ReadModifyWrite { address, operation: Rmw::Exchange(value), .. } => {
            Instruction::Store { address: address.clone(), value: value.clone() }
        }
        _ => Instruction::Skip,
    };
    Edge { instruction, ..edge.clone() }
}

/// A `.weir` text without the fences of these statements. A line goes with its fence, if nothing else is on it. `None` if
/// one of them is written in another way.
fn cut(text: &str, statements: impl DoubleEndedIterator<Item = Span>) -> Option<String> {
    let mut text = text.to_owned();
    for span in statements.rev() {
        let (start, end) = (span.start as usize, span.end as usize);
        let statement = text.get(start..end)?;
        let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let next = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
        let is_alone = text[line..start].trim().is_empty() && matches!(text[end..next].trim(), "" | ";");
        if let Some(store) = store(statement) {
            text.replace_range(start..end, &store);
        } else if is_alone {
            text.replace_range(line..next, "");
        } else {
            let statement = statement.replace("fence", "skip");
            text.replace_range(start..end, &statement);
        }
    }
    Some(text)
}

/// `x = v` for `xchg(x, v)`.
fn store(exchange: &str) -> Option<String> {
    let operands = exchange.trim_end_matches(';').trim().strip_prefix("xchg")?.trim();
    let operands = operands.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0;
    let comma = operands.char_indices().find(|&(_, character)| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    let (cell, value) = operands.split_at(comma?.0);
    let end = if exchange.ends_with(';') { ";" } else { "" };
    Some(format!("{} = {}{end}", cell.trim(), value.trim_start_matches(',').trim()))
}

#[cfg(test)]
mod tests;

//! Why each fence is needed, and how many fences other aims take, in words.

use weir::fences::{Aim, Fences};

use weir_ir::{Instruction, Program, Span};
use weir_syntax::Language;

use crate::answer::exchanges::exchanges;
use crate::answer::{AccessRecord, FencePlace, FencesAnswer, NeedCount, ReasonRecord};
use crate::wording::clean::clip;
use crate::wording::units::counted;

/// Longest list of a partner's accesses, in characters.
const PARTNERS_LIMIT: usize = 200;

/// The reason for a new fence below an excerpt of the source, and what could be there instead.
pub(super) fn below_source(answer: &FencesAnswer<'_>, place: &FencePlace) -> String {
    let width = answer.origin.subject.program.source.line_column(place.offset).line.to_string().len();
    let mut lines = reason_lines(answer, place);
    lines.extend(alternative(answer, place));
    lines.iter().map(|line| format!("{:width$} = {line}\n", "")).collect()
}

/// The same below a line of a list.
pub(super) fn below_line(answer: &FencesAnswer<'_>, place: &FencePlace) -> String {
    let alternative = alternative(answer, place).map(|line| format!("      {line}\n"));
    below_present(answer, place) + &alternative.unwrap_or_default()
}

/// The reason for a fence that is there below a line of a list.
pub(super) fn below_present(answer: &FencesAnswer<'_>, place: &FencePlace) -> String {
    reason_lines(answer, place).iter().map(|line| format!("      {line}\n")).collect()
}

/// What could be there instead of a needed `mfence` in compiled code, and what it costs, below a line of a list.
pub(super) fn cheaper(answer: &FencesAnswer<'_>, place: &FencePlace, fence: Span) -> String {
    let program = answer.origin.searched;
    let is_code = answer.origin.subject.language == Language::X86;
    if !is_code || program.source.text().get(fence.range()) != Some("mfence") {
        return String::new();
    }
    let exchange = stores(program, place).map(|(stores, _)| format!(", or {stores} as an `xchg` (`seq_cst`)"));
    let instead = "`lock or` of 0 to a word on the stack";
    format!("      or: {instead}{}: about half the cost on many processors\n", exchange.unwrap_or_default())
}

/// In compiled code, what can be there instead of the fence, and the cost where each fence costs one.
fn alternative(answer: &FencesAnswer<'_>, place: &FencePlace) -> Option<String> {
    let (stores, count) = stores(answer.origin.searched, place)?;
    let fences = counted(place.threads.len() as u64, "fence");
    let instead = counted(count as u64, "exchange");
    Some(format!("or: {stores} as an `xchg` (`seq_cst`): {instead} for {fences}"))
}

/// The stores that can be exchanges instead of a fence, in words, and how many they are in all threads.
fn stores(program: &Program, place: &FencePlace) -> Option<(String, usize)> {
    let exchanged = exchanges(program, place);
    let (first, ..) = exchanged.first()?;
    let mut stores: Vec<String> = Vec::new();
    for &(thread, edge) in &exchanged {
        let edge = program.body(thread).edge(edge);
        let Instruction::Store { address, .. } = &edge.instruction else { continue };
        let to = address.constant().map(|address| format!(" to `{}`", program.cell_name(address)));
        let text = format!("the store{} (line {})", to.unwrap_or_default(), program.source.line(edge.span));
        // Of code that several threads run, one of them is the example.
        if thread == *first && !stores.contains(&text) {
            stores.push(text);
        }
    }
    let each = if stores.len() > 1 { " each" } else { "" };
    Some((format!("{}{each}", stores.join(" and ")), exchanged.len()))
}

fn reason_lines(answer: &FencesAnswer<'_>, place: &FencePlace) -> Vec<String> {
    let Some(reason) = &place.reason else { return Vec::new() };
    let ReasonRecord { store, load, partners } = ReasonRecord::new(answer.origin.searched, reason);
    // Of code that several threads run, one of them is the example.
    let whose = if place.threads.len() > 1 { format!("{}: ", store.thread) } else { String::new() };
    let mut lines = vec![format!("{whose}keeps the {} before the {}", access(&store), access(&load))];
    if !partners.is_empty() {
        lines.push(clip(&partners_text(&partners), PARTNERS_LIMIT));
    }
    lines
}

/// `store to `x` (line 12)`.
fn access(access: &AccessRecord) -> String {
    let (preposition, what) = match access.action {
        "load" => ("of", "load"),
        "rmw" => ("of", "read-modify-write"),
        _ => ("to", "store"),
    };
    format!("{what} {preposition} `{}` (line {})", access.cell, access.line)
}

/// The accesses of other threads, in order: `partner: P1, store to `y` (line 17), load of `x` (line 18)`.
fn partners_text(partners: &[AccessRecord]) -> String {
    let mut threads: Vec<(&str, Vec<String>)> = Vec::new();
    for partner in partners {
        match threads.last_mut() {
            Some((thread, accesses)) if *thread == partner.thread => accesses.push(access(partner)),
            _ => threads.push((&partner.thread, vec![access(partner)])),
        }
    }
    let each = threads.iter().map(|(thread, accesses)| format!("{thread}, {}", accesses.join(", ")));
    let title = if threads.len() == 1 { "partner" } else { "partners" };
    format!("{title}: {}", each.collect::<Vec<_>>().join("; "))
}

/// How many fences other aims take, a line each.
pub(super) fn needs_text(answer: &FencesAnswer<'_>) -> String {
    answer.origin.needs.iter().map(|need| format!("{} (`--for {}`)\n", need_text(need), need.aim.name())).collect()
}

fn need_text(need: &NeedCount) -> String {
    let for_what = if need.aim == Aim::Safe { "for the properties" } else { "for robustness" };
    match &need.fences {
        Fences::Cheapest(_) if need.copies == 0 => format!("{for_what}: no fences needed"),
        Fences::Cheapest(_) if need.cost == need.copies => format!("{for_what}: {}", counted(need.copies, "fence")),
        Fences::Cheapest(_) => format!("{for_what}: {}, cost {}", counted(need.copies, "fence"), need.cost),
        Fences::NotByFences(_) => format!("{for_what}: no fence helps"),
        Fences::Nowhere(_) | Fences::NoPlace(_) => format!("{for_what}: a fence is needed where none can be placed"),
        Fences::TooFew | Fences::Stopped(_) => format!("{for_what}: undecided in a quick search"),
    }
}

//! The answer of `weir fences` for people.

mod difference;
pub(crate) mod json;
mod table;

use weir::Limit;
use weir_syntax::Language;

use super::diagnostic::render_place;
use super::robust::{open_attacks, place, place_at};
use super::text::{Tone, emphasized, headline, help, limit_text, more, statistics};
use crate::args::{AimName, CostChoice};
use crate::commands::fences::{Finding, Outcome};
use crate::console::Console;
use crate::fences::{Repair, Site};
use crate::units::{counted, grouped};

/// At most this many sets are shown.
const SHOWN_SETS: usize = 20;
/// At most this many threads are named at a place.
const SHOWN_THREADS: usize = 8;

/// Prints the answer; only its first line if the console is quiet.
pub(crate) fn show(finding: &Finding<'_>, console: &mut Console) {
    let mut text = first_line(finding);
    if !console.is_quiet() {
        text += &explanation(finding);
    }
    text += &table::text(finding);
    if let (true, Some(report)) = (finding.options.verbose, &finding.report) {
        text += &statistics(&report.statistics);
    }
    console.answer(&text);
}

/// Prints the program with its fences. What else there is to say does not go where the program goes.
pub(crate) fn write(finding: &Finding<'_>, console: &mut Console) {
    let Outcome::Found { repairs, unchecked } = &finding.outcome else {
        let quiet = console.is_quiet();
        let text = first_line(finding) + &if quiet { String::new() } else { explanation(finding) };
        console.complain(text.trim_end());
        return;
    };
    let Some(repair) = repairs.first() else { return };
    if !repair.is_own_language {
        console.remark(
            "note: the fences cannot be inserted into the original text; printing the program in `.weir` instead",
        );
    }
    if let Some(limit) = unchecked {
        console.remark(&format!("note: {}", not_checked(finding, *limit)));
    }
    console.answer(&repair.text);
}

/// The answer in one line.
fn first_line(finding: &Finding<'_>) -> String {
    let file = finding.program.source.name();
    match &finding.outcome {
        Outcome::Found { repairs, unchecked } => {
            let checked = if unchecked.is_none() { " (checked)" } else { "" };
            match repairs.first().map_or(0, |repair| copies(finding, repair)) {
                0 => {
                    let is = match finding.options.aim {
                        AimName::Robust => "the program is already robust",
                        AimName::Safe => "the program is already safe",
                        AimName::Trf => "the program has no triangular races",
                    };
                    format!("{}: {is}{checked}: {file}\n", emphasized(Tone::Good, "no fences needed"))
                }
                count => {
                    let fences = emphasized(Tone::Good, &counted(count, "fence"));
                    let layout = repairs.first().map_or_else(String::new, |repair| layout(finding, repair));
                    let make = if count == 1 { "makes" } else { "make" };
                    let aim = aim(finding);
                    format!("{fences}{layout} {make} the program {aim}, and no cheaper set does{checked}: {file}\n")
                }
            }
        }
        Outcome::Hopeless(_) => headline(Tone::Bad, "no fence helps", &reason(finding).unwrap_or_default(), file),
        _ => headline(Tone::Open, "unknown", &reason(finding).unwrap_or_default(), file),
    }
}

fn aim(finding: &Finding<'_>) -> &'static str {
    match finding.options.aim {
        AimName::Robust => "robust",
        AimName::Safe => "safe",
        AimName::Trf => "free of triangular races",
    }
}

/// How many fences the program has then: one for each thread that runs the text.
pub(super) fn copies(finding: &Finding<'_>, repair: &Repair) -> u64 {
    sites(finding, repair).map(|site| finding.sites.threads(site).len() as u64).sum()
}

fn sites<'f>(finding: &'f Finding<'_>, repair: &'f Repair) -> impl Iterator<Item = &'f Site> + Clone {
    repair.chosen.iter().map(|&number| &finding.sites.list[number])
}

/// How many places of the text, if not one for each fence.
fn layout(finding: &Finding<'_>, repair: &Repair) -> String {
    let mut sizes = sites(finding, repair).map(|site| finding.sites.threads(site).len());
    let places = counted(repair.chosen.len() as u64, "place");
    match sizes.next() {
        Some(1) if sizes.clone().all(|size| size == 1) => String::new(),
        Some(first) if sizes.all(|size| size == first) => {
            let each = if repair.chosen.len() == 1 { "" } else { " each" };
            format!(" ({places}, {first} threads{each})")
        }
        _ => format!(" ({places}, some in several threads)"),
    }
}

/// Why the answer is not known, if it is not.
pub(super) fn reason(finding: &Finding<'_>) -> Option<String> {
    match &finding.outcome {
        Outcome::Found { .. } => None,
        Outcome::Nowhere(attack) => {
            let place = |edge| place(&finding.sites.program, attack.thread, edge);
            let thread = &finding.sites.program.thread(attack.thread).name;
            let (store, load) = (place(attack.store), place(attack.load));
            Some(format!("{thread} needs a fence between {store} and {load}, but none can be placed there"))
        }
        Outcome::Hopeless(goal) => {
            let goal = crate::goals::text(finding.program, *goal);
            Some(format!("this property is violated even without store buffers: {goal}"))
        }
        Outcome::NoPlace(goal) => {
            let goal = crate::goals::text(finding.program, *goal);
            Some(format!("no fence can be placed to prevent the violation of this property: {goal}"))
        }
        Outcome::Stopped(limit) => Some(limit_text(*limit, &finding.options.limits)),
        Outcome::Refused(diagnostic) => Some(diagnostic.message.clone()),
    }
}

fn explanation(finding: &Finding<'_>) -> String {
    match &finding.outcome {
        Outcome::Found { repairs, unchecked } => found(finding, repairs, *unchecked),
        Outcome::Nowhere(_) | Outcome::NoPlace(_) => {
            format!("\n{}", help("split the statement into several, so that a fence can be placed between them"))
        }
        Outcome::Hopeless(_) => format!("\n{}", help("`weir reach --model sc` shows how")),
        Outcome::Stopped(limit) => stopped(finding, *limit),
        Outcome::Refused(diagnostic) => format!("\n{}\n", render_place(&finding.program.source, diagnostic)),
    }
}

fn not_checked(finding: &Finding<'_>, limit: Limit) -> String {
    format!("not checked: {} before the fenced program could be verified", limit_text(limit, &finding.options.limits))
}

fn found(finding: &Finding<'_>, repairs: &[Repair], unchecked: Option<Limit>) -> String {
    let mut text = String::new();
    if let (Some(report), true) = (&finding.report, finding.options.cost != CostChoice::Unit) {
        text += &format!("cost: {}\n", grouped(report.cost));
    }
    if let Some(limit) = unchecked {
        text += &format!("{}\n", not_checked(finding, limit));
    }
    for (number, repair) in (1..).zip(repairs).take(SHOWN_SETS) {
        if repairs.len() > 1 {
            text += &format!("\nset {number} of {}:\n", grouped(repairs.len() as u64));
        }
        text += &shown(finding, repair);
    }
    if repairs.len() > SHOWN_SETS {
        text += &format!("\n… and {} more\n", counted((repairs.len() - SHOWN_SETS) as u64, "set"));
    }
    if repairs.iter().any(|repair| !repair.chosen.is_empty()) {
        text += &format!("\n{}", help("`--write` prints the program with the fences inserted"));
    }
    text
}

/// One set of fences.
fn shown(finding: &Finding<'_>, repair: &Repair) -> String {
    if repair.chosen.is_empty() {
        return String::new();
    }
    if finding.sites.language == Language::Weir {
        return sites(finding, repair).map(|site| difference::text(finding, site)).collect();
    }
    let line = |site: &Site| {
        let edge = site.locations.first().and_then(|&(thread, location)| {
            finding.program.body(thread).edges_from(location).map(|(_, edge)| edge.span).min()
        });
        let before = edge.map_or_else(String::new, |span| place_at(finding.program, span));
        format!("  {}: before {before}\n", threads(finding, site))
    };
    format!("\nfences:\n{}", sites(finding, repair).map(line).collect::<String>())
}

/// The threads that run the text of a place.
fn threads(finding: &Finding<'_>, site: &Site) -> String {
    let threads = finding.sites.threads(site);
    let name = |&thread: &weir_ir::ThreadId| finding.program.thread(thread).name.clone();
    let names: Vec<String> = threads.keys().take(SHOWN_THREADS).map(name).collect();
    match threads.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {} more", names.join(", "), grouped(more as u64)),
    }
}

fn stopped(finding: &Finding<'_>, limit: Limit) -> String {
    let mut text = String::new();
    if let Some(report) = &finding.report {
        let states = counted(report.statistics.states, "state");
        let searches = if report.searches == 1 { "one search".into() } else { format!("{} searches", report.searches) };
        text += &format!("explored {states} in {searches}\n");
        if finding.options.aim != AimName::Safe {
            text += &open_attacks(&finding.sites.program, &report.attacks);
        }
    }
    text + &format!("\n{}", help(&format!("{}, or make the model smaller", more(limit))))
}

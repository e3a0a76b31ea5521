//! The answer of `weir fences` for people, and the program with its fences.

use weir::Limit;
use weir::fences::{Aim, Fences};
use weir_ir::ThreadId;
use weir_syntax::Language;

use super::{difference, reasons, removal, table};
use crate::answer::exchanges::exchanges;
use crate::answer::{FencePlace, FencesAnswer, Repair};
use crate::text::diagnostic::render_place;
use crate::text::parts::{Tone, emphasized, headline, help, numbers_of_copies, statistics};
use crate::text::robust::open_attacks;
use crate::text::view::View;
use crate::wording::limit::{limit_text, more};
use crate::wording::place::place_at;
use crate::wording::units::{counted, grouped};

/// At most this many sets are shown.
const SHOWN_SETS: usize = 20;
/// At most this many threads are named at a place.
const SHOWN_THREADS: usize = 8;

/// The answer; only its first line if quiet.
pub(crate) fn render(answer: &FencesAnswer<'_>, view: &View) -> String {
    let mut text = brief(answer, view.is_quiet);
    text += &table::text(answer);
    if let (true, Ok(report)) = (view.is_verbose, &answer.origin.report) {
        text += &statistics(&report.statistics, answer.origin.subject.peak_memory);
    }
    text
}

fn brief(answer: &FencesAnswer<'_>, is_quiet: bool) -> String {
    let is_found = matches!(answer.origin.report.as_ref().map(|report| &report.fences), Ok(Fences::Cheapest(_)));
    let more = || numbers_of_copies(&answer.origin.subject, is_found, 1) + &explanation(answer);
    first_line(answer) + &if is_quiet { String::new() } else { more() }
}

/// The program with its fences, and remarks that do not belong into it.
pub struct Fenced<'a> {
    /// The text of the program.
    pub text: &'a str,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// The program with its fences.
///
/// # Errors
/// Why there are none, as the answer says it.
pub fn fenced<'a>(answer: &'a FencesAnswer<'_>, view: &View) -> Result<Fenced<'a>, String> {
    let origin = &answer.origin;
    let Some(repair) = answer.repair() else { return Err(brief(answer, view.is_quiet)) };
    let mut notes = Vec::new();
    let is_lost = repair.is_printed_anew && repair.language == Language::Weir;
    if is_lost {
        let what = "note: the original text cannot be changed accordingly; printing the program in `.weir` instead";
        notes.push(what.to_owned());
    }
    notes.extend(origin.unchecked.map(|limit| format!("note: {}", not_checked(answer, limit))));
    Ok(Fenced { text: &repair.text, notes })
}

/// The answer in one line.
pub(crate) fn first_line(answer: &FencesAnswer<'_>) -> String {
    let file = answer.origin.subject.program.source.name();
    let reason = answer.reason.as_deref().unwrap_or_default();
    match answer.origin.report.as_ref().map(|report| &report.fences) {
        Ok(Fences::Cheapest(_)) if answer.origin.options.remove => removal::first_line(answer, file),
        Ok(Fences::Cheapest(_)) => found_line(answer, file),
        Ok(Fences::TooFew) => headline(Tone::Bad, "too few fences", reason, file),
        Ok(Fences::NotByFences(_)) => headline(Tone::Bad, "no fence helps", reason, file),
        _ => headline(Tone::Open, "unknown", reason, file),
    }
}

fn found_line(answer: &FencesAnswer<'_>, file: &str) -> String {
    let aim = answer.origin.options.aim;
    let checked = if answer.origin.unchecked.is_none() { " (checked)" } else { "" };
    let Some((repair, count)) = answer.repair().map(|repair| (repair, repair.copies())).filter(|found| found.1 > 0)
    else {
        let is = match aim {
            Aim::Robust => "the program is already robust",
            Aim::States => "store buffers do not change which states the program reaches",
            Aim::Safe => "the program is already safe",
            Aim::RaceFree => "the program has no triangular races",
        };
        return format!("{}: {is}{checked}: {file}\n", emphasized(Tone::Good, "no fences needed"));
    };
    let fences = emphasized(Tone::Good, &counted(count, "fence"));
    let make = if count == 1 { "makes" } else { "make" };
    let achieve = match aim {
        Aim::Robust => format!("{make} the program robust"),
        Aim::States => format!("{make} the program reach the same states as without store buffers"),
        Aim::Safe => format!("{make} the program safe"),
        Aim::RaceFree => format!("{make} the program free of triangular races"),
    };
    let layout = layout(repair);
    format!("{fences}{layout} {achieve}, and no cheaper set does{checked}: {file}\n")
}

/// How many places of the text, if not one for each fence.
fn layout(repair: &Repair) -> String {
    let mut sizes = repair.places.iter().map(|place| place.threads.len());
    let places = counted(repair.places.len() as u64, "place");
    match sizes.next() {
        Some(1) if sizes.clone().all(|size| size == 1) => String::new(),
        Some(first) if sizes.all(|size| size == first) => {
            let each = if repair.places.len() == 1 { "" } else { " each" };
            format!(" ({places}, {first} threads{each})")
        }
        _ => format!(" ({places}, some in several threads)"),
    }
}

fn explanation(answer: &FencesAnswer<'_>) -> String {
    let report = match &answer.origin.report {
        Ok(report) => report,
        Err(diagnostic) => {
            return format!("\n{}\n", render_place(&answer.origin.subject.program.source, diagnostic));
        }
    };
    match &report.fences {
        Fences::Cheapest(_) => found(answer),
        Fences::TooFew => format!("\n{}", help(&removal::missing(answer.origin.options.aim))),
        Fences::Nowhere(_) | Fences::NoPlace(_) => {
            format!("\n{}", help("split the statement into several, so that a fence can be placed between them"))
        }
        Fences::NotByFences(_) => format!("\n{}", help("`weir check --model sc` shows how")),
        Fences::Stopped(limit) => stopped(answer, *limit),
    }
}

fn not_checked(answer: &FencesAnswer<'_>, limit: Limit) -> String {
    format!(
        "not checked: {} before the fenced program could be verified",
        limit_text(limit, &answer.origin.subject.limits)
    )
}

fn found(answer: &FencesAnswer<'_>) -> String {
    let repairs = answer.origin.repairs.as_slice();
    let mut text = String::new();
    if let (Some(cost), false) = (answer.cost, answer.origin.options.is_unit_cost) {
        text += &format!("cost: {}\n", grouped(cost));
    }
    if let Some(limit) = answer.origin.unchecked {
        text += &format!("{}\n", not_checked(answer, limit));
    }
    text += &reasons::needs_text(answer);
    for (number, repair) in (1..).zip(repairs).take(SHOWN_SETS) {
        if repairs.len() > 1 {
            text += &format!("\nset {number} of {}:\n", grouped(repairs.len() as u64));
        }
        text += &shown(answer, repair);
    }
    if repairs.len() > SHOWN_SETS {
        text += &format!("\n… and {} more\n", counted((repairs.len() - SHOWN_SETS) as u64, "set"));
    }
    if answer.origin.options.remove {
        if repairs.iter().any(|repair| !repair.removed.is_empty()) {
            text += &format!("\n{}", help("`--write` prints the program without them"));
        }
    } else if repairs.iter().any(|repair| !repair.places.is_empty()) {
        text += &format!("\n{}", help("`--write` prints the program with the fences inserted"));
        let mut places = repairs.iter().flat_map(|repair| &repair.places);
        if places.any(|place| !exchanges(answer.origin.searched, place).is_empty()) {
            let cheaper = "`lock or` of 0 to a word on the stack is a fence, too, and on many processors costs half as \
                           much as `mfence`; so does an `xchg`";
            text += &help(cheaper);
        }
    }
    text
}

/// One set of fences.
fn shown(answer: &FencesAnswer<'_>, repair: &Repair) -> String {
    let subject = &answer.origin.subject;
    if answer.origin.options.remove {
        return removal::lists(answer, repair);
    }
    if repair.places.is_empty() {
        return String::new();
    }
    if subject.language == Language::Weir {
        let one = |place: &FencePlace| {
            let difference = difference::text(&subject.program.source, place, &threads(answer, place));
            difference + &reasons::below_source(answer, place)
        };
        return repair.places.iter().map(one).collect();
    }
    let line = |place: &FencePlace| {
        let edge = place.location.and_then(|(thread, location)| {
            subject.program.body(thread).edges_from(location).map(|(_, edge)| edge.span).min()
        });
        let before = edge.map_or_else(String::new, |span| place_at(subject.program, span));
        format!("  {}: before {before}\n{}", threads(answer, place), reasons::below_line(answer, place))
    };
    format!("\nfences:\n{}", repair.places.iter().map(line).collect::<String>())
}

/// The threads that run the text of a place.
fn threads(answer: &FencesAnswer<'_>, place: &FencePlace) -> String {
    thread_names(answer, place.threads.keys())
}

pub(super) fn thread_names<'t>(
    answer: &FencesAnswer<'_>,
    threads: impl ExactSizeIterator<Item = &'t ThreadId>,
) -> String {
    let all = threads.len();
    let name = |&thread: &ThreadId| answer.origin.subject.program.thread(thread).name.clone();
    let names: Vec<String> = threads.take(SHOWN_THREADS).map(name).collect();
    match all - names.len() {
        0 => names.join(", "),
        more => format!("{} and {} more", names.join(", "), grouped(more as u64)),
    }
}

fn stopped(answer: &FencesAnswer<'_>, limit: Limit) -> String {
    let mut text = String::new();
    if let Ok(report) = &answer.origin.report {
        let states = counted(report.statistics.states, "state");
        let searches = if report.searches == 1 { "one search".into() } else { format!("{} searches", report.searches) };
        text += &format!("explored {states} in {searches}\n");
        if answer.origin.options.aim != Aim::Safe {
            text += &open_attacks(answer.origin.searched, &report.attacks);
        }
    }
    text + &format!("\n{}", help(&format!("{}, or make the model smaller", more(limit))))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use weir::fences::text::Sites;
    use weir::fences::{Options, fences};
    use weir::{Limits, Session};
    use weir_ir::Source;

    use super::*;
    use crate::answer::{FencesQuestion, Repairs, Subject};

    #[test]
    fn fences_that_were_not_checked_again_say_so() {
        let source = Source::new("test.weir", "shared x; thread P { x = 1; }");
        let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program");
        let sites = Sites::of(&parsed.program, Language::Weir, &[], &weir::Session::default()).expect("places");
        let text = |unchecked| {
            let report = fences(&sites.program, &sites.places(), &Options::default(), &Session::default());
            let subject = Subject {
                file: Path::new("test.weir"),
                program: &parsed.program,
                language: Language::Weir,
                warnings: &[],
                limits: Limits::default(),
                elapsed: Duration::ZERO,
                peak_memory: None,
                copies: None,
            };
            let options =
                FencesQuestion { aim: Aim::Robust, all: false, write: false, is_unit_cost: true, remove: false };
            let (places, removed) = (Vec::new(), Vec::new());
            let repairs =
                vec![Repair { places, removed, text: String::new(), language: Language::Weir, is_printed_anew: false }];
            let report = Ok(report.expect("an answer"));
            let searched = &sites.program;
            let (needs, census) = (Vec::new(), None);
            let repairs = Repairs { subject, options, searched, report, repairs, unchecked, needs, census };
            found(&FencesAnswer::new(repairs))
        };
        assert_eq!(text(None), "");
        let unchecked = text(Some(Limit::Interrupted));
        assert!(unchecked.starts_with("not checked: "), "{unchecked}");
        assert!(unchecked.ends_with(" before the fenced program could be verified\n"), "{unchecked}");
    }
}

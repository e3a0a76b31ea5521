//! `--remove`: which fences of the program are needed, and which are not, in words.

use weir::fences::Aim;

use super::reasons;
use super::show::thread_names;
use crate::answer::{FencePlace, FencesAnswer, RemovedFence, Repair};
use crate::text::parts::{Tone, emphasized};
use crate::wording::place::place_at;
use crate::wording::units::{counted, grouped};

/// The answer in one line.
pub(super) fn first_line(answer: &FencesAnswer<'_>, file: &str) -> String {
    let aim = answer.origin.options.aim;
    let checked = if answer.origin.unchecked.is_none() { " (checked)" } else { "" };
    let (needed, removed) = answer.repair().map_or((0, 0), |repair| (repair.places.len(), repair.removed.len()));
    let total = (needed + removed) as u64;
    let good = |text: &str| emphasized(Tone::Good, text);
    match (total, removed) {
        (0, _) => format!("{}: the program has no fences, and {}{checked}: {file}\n", good("none needed"), meets(aim)),
        (1, 0) => format!("{}: without it, {}{checked}: {file}\n", good("the only fence is needed"), breaks(aim)),
        (2, 0) => format!("{}: without either, {}{checked}: {file}\n", good("both fences are needed"), breaks(aim)),
        (_, 0) => {
            let all = format!("all {} are needed", counted(total, "fence"));
            format!("{}: without any one of them, {}{checked}: {file}\n", good(&all), breaks(aim))
        }
        (1, _) => format!("{}: without it, {}{checked}: {file}\n", good("the only fence is not needed"), meets(aim)),
        (2, 2) => format!("{}: without them, {}{checked}: {file}\n", good("neither fence is needed"), meets(aim)),
        (_, removed) if needed == 0 => {
            let none = format!("none of the {} fences is needed", grouped(removed as u64));
            format!("{}: without them, {}{checked}: {file}\n", good(&none), meets(aim))
        }
        (_, removed) => {
            let verb = if removed == 1 { "is" } else { "are" };
            let some = format!("{} of {} {verb} not needed", grouped(removed as u64), counted(total, "fence"));
            format!("{}: with the rest alone, {}{checked}: {file}\n", good(&some), meets(aim))
        }
    }
}

fn meets(aim: Aim) -> &'static str {
    match aim {
        Aim::Robust => "the program is robust",
        Aim::States => "the program reaches the same states as without store buffers",
        Aim::Safe => "the program is safe",
        Aim::RaceFree => "the program has no triangular races",
    }
}

fn breaks(aim: Aim) -> &'static str {
    match aim {
        Aim::Robust => "the program is not robust",
        Aim::States => "the program reaches states that SC does not reach",
        Aim::Safe => "the program is not safe",
        Aim::RaceFree => "the program has triangular races",
    }
}

/// What to do about fences that are missing.
pub(super) fn missing(aim: Aim) -> String {
    match aim {
        Aim::Robust => "`weir fences` finds those that are missing".to_owned(),
        aim => format!("`weir fences --for {}` finds those that are missing", aim.name()),
    }
}

/// The fences that can go, and those that must stay.
pub(super) fn lists(answer: &FencesAnswer<'_>, repair: &Repair) -> String {
    let program = answer.origin.subject.program;
    let removed = |fence: &RemovedFence| {
        let instead = if fence.is_exchange { ": a plain store is enough" } else { "" };
        format!("  {}: {}{instead}\n", thread_names(answer, fence.threads.keys()), place_at(program, fence.span))
    };
    let needed = |place: &FencePlace| {
        let edges = place.location.into_iter().flat_map(|(thread, at)| program.body(thread).edges_from(at));
        let span = edges.map(|(_, edge)| edge.span).find(|span| span.start == place.offset).unwrap_or_default();
        let line = format!("  {}: {}\n", thread_names(answer, place.threads.keys()), place_at(program, span));
        line + &reasons::below_present(answer, place) + &reasons::cheaper(answer, place, span)
    };
    let list = |title: &str, lines: String| {
        if lines.is_empty() { lines } else { format!("\n{title}:\n{lines}") }
    };
    list("not needed", repair.removed.iter().map(removed).collect())
        + &list("needed", repair.places.iter().map(needed).collect())
}

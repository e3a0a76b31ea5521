//! The answer of `weir robust` for people.

use weir::Limit;
use weir::robust::{Attack, Attacks, Race};
use weir_ir::{EdgeId, Program, Span, ThreadId};
use weir_witness::render::{LaneOptions, lanes};

use super::clean::{clean, clip};
use super::diagnostic::{illustrate, render_place};
use super::text::{Tone, diagnostics, evidence, headline, help, more, reason, statistics};
use crate::args::Method;
use crate::commands::analysis::Conclusion;
use crate::commands::robust::Finding;
use crate::console::Console;
use crate::coverage;
use crate::evidence::Evidence;
use crate::race::Racing;
use crate::units::{counted, grouped};

/// At most this many attacks that are still open are listed.
const LISTED: usize = 10;
/// Longest text of an instruction in that list, in characters.
const LISTED_LIMIT: usize = 40;

/// Prints the answer; only its first line if the console is quiet.
pub(crate) fn show(finding: &Finding<'_>, console: &mut Console) {
    let mut text = first_line(finding);
    if !console.is_quiet() {
        text += &match &finding.conclusion {
            Conclusion::Holds => how(finding) + &never_seen(finding),
            Conclusion::Violated(found) => violated(finding.program, found, console.width()),
            Conclusion::Stopped(limit) => stopped(finding, *limit),
            Conclusion::Refused(diagnostic) => format!("\n{}\n", render_place(&finding.program.source, diagnostic)),
            Conclusion::Raced(race) => raced(finding.program, race, console.width()),
        };
    }
    if finding.options.common.verbose {
        text += &statistics(&finding.statistics);
    }
    console.answer(&text);
}

/// The answer in one line.
pub(crate) fn first_line(finding: &Finding<'_>) -> String {
    let (program, file) = (finding.program, finding.program.source.name());
    match &finding.conclusion {
        Conclusion::Holds => {
            headline(Tone::Good, "robust", "store buffers do not change the program's behaviour", file)
        }
        Conclusion::Violated(found) => match found.overtaking() {
            Some(overtaking) => {
                let place = format!("{file}:{}", overtaking.store.line(program));
                headline(Tone::Bad, "not robust", &overtaking.text(program), &place)
            }
            None => headline(Tone::Bad, "not robust", "a run that sequential consistency forbids", file),
        },
        Conclusion::Raced(race) => {
            let race = Racing::new(race).map_or_else(String::new, |racing| racing.text(program));
            headline(Tone::Open, "unknown", &format!("there is a triangular race: {race}"), file)
        }
        Conclusion::Stopped(_) | Conclusion::Refused(_) => {
            let why = reason(&finding.conclusion, &finding.options.common.limits).unwrap_or_default();
            headline(Tone::Open, "unknown", &why, file)
        }
    }
}

/// A triangular race, and what to do about it.
fn raced(program: &Program, race: &Race, width: usize) -> String {
    let labels = Racing::new(race).map(|racing| racing.labels());
    let place = labels.map_or_else(String::new, |labels| format!("\n{}\n", illustrate(&program.source, &labels)));
    let steps = counted(race.run().steps.len() as u64, "step");
    let picture = lanes(program, race.replay(), &LaneOptions { line_width: width, ..LaneOptions::default() });
    let next = help("`weir robust` without `--method trf` decides whether the race breaks robustness")
        + &help("`weir fences --for trf` finds the cheapest fences that prevent all such races");
    format!("{place}\na run up to the race (replayed, {steps}):\n\n{}\n\n{next}", picture.trim_end_matches('\n'))
}

/// How it is known that the program is robust.
fn how(finding: &Finding<'_>) -> String {
    if finding.options.method == Method::Trf {
        let states = counted(finding.statistics.states, "state");
        return format!(
            "there is no triangular race: no load races with a write while an earlier store is delayed ({states})\n"
        );
    }
    let Some(attacks) = &finding.attacks else { return String::new() };
    let (total, open) = (attacks.total as u64, attacks.open.len() as u64);
    let by_flow = "ruled out by control flow and fences";
    let by_search = format!("by exhaustive search ({})", counted(finding.statistics.states, "state"));
    let all = match total {
        1 => "the only pair of a store and a load is".to_owned(),
        2 => "both pairs of a store and a load are".to_owned(),
        _ => format!("all {} of a store and a load are", counted(total, "pair")),
    };
    match (total, open) {
        (0, _) => "no store can be delayed past a load: no thread has both\n".to_owned(),
        (_, 0) => format!("no store can be delayed past a load: {all} {by_flow}\n"),
        _ if open >= total => format!("{UNNOTICED}{all} ruled out {by_search}\n"),
        _ => {
            let (flow, open, total) = (grouped(total - open), grouped(open), grouped(total));
            format!("{UNNOTICED}of {total} pairs of a store and a load, {flow} are {by_flow}, {open} {by_search}\n")
        }
    }
}

/// What no run executes: the program may be robust by accident.
fn never_seen(finding: &Finding<'_>) -> String {
    let Some(seen) = &finding.coverage else { return String::new() };
    diagnostics(finding.program, &coverage::warnings(finding.program, seen))
}

/// Some stores can be delayed past loads, but it does not show.
const UNNOTICED: &str = "no delay of a store past a load can be observed: ";

fn violated(program: &Program, found: &Evidence, width: usize) -> String {
    let next = help("`weir fences` finds the cheapest repair");
    format!("{}\n{next}", evidence(program, found, width))
}

fn stopped(finding: &Finding<'_>, limit: Limit) -> String {
    let statistics = &finding.statistics;
    let (states, depth) = (counted(statistics.states, "state"), counted(statistics.depth, "step"));
    let mut text = format!("explored {states} in runs of up to {depth}; no violation so far\n");
    text += &finding.attacks.as_ref().map_or_else(String::new, |attacks| open_attacks(finding.program, attacks));
    text += &format!("\n{}", help(&format!("{}, or make the model smaller", more(limit))));
    text += &help("a fence between the store and the load of a pair rules it out");
    text
}

/// What the search had not decided yet.
pub(crate) fn open_attacks(program: &Program, attacks: &Attacks) -> String {
    let open = attacks.open.len();
    let mut text = format!(
        "\nundecided: {} of {} of a store and a load that it might be delayed past\n",
        grouped(open as u64),
        counted(attacks.total as u64, "pair")
    );
    for attack in attacks.open.iter().take(LISTED) {
        let Attack { thread, store, load } = *attack;
        let place = |edge| place(program, thread, edge);
        text += &format!("  {}: {} past {}\n", program.thread(thread).name, place(store), place(load));
    }
    if open > LISTED {
        text += &format!("  … and {} more\n", grouped((open - LISTED) as u64));
    }
    text
}

/// An instruction as it is written, with its line.
pub(crate) fn place(program: &Program, thread: ThreadId, edge: EdgeId) -> String {
    place_at(program, program.body(thread).edge(edge).span)
}

/// A part of the source as it is written, with its line.
pub(crate) fn place_at(program: &Program, span: Span) -> String {
    let written: Vec<&str> = program.source.slice(span).split_whitespace().collect();
    format!("`{}` (line {})", clean(&clip(&written.join(" "), LISTED_LIMIT)), program.source.line(span))
}

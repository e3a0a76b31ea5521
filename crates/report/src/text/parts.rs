//! The parts that answers for people are made of.

use anstyle::{AnsiColor, Style};
use weir::reach::{Reduction, Statistics};
use weir_ir::{Diagnostic, Program};
use weir_witness::Replay;

use super::diagnostic::{illustrate, render_all};
use super::lanes::{LaneOptions, lanes};
use crate::answer::{CopiesRecord, Subject};
use crate::run::cycle_text::cycle_text;
use crate::run::{ContinuationsRecord, Evidence};
use crate::wording::clean::clip;
use crate::wording::units::{counted, grouped, size_text, time_text};

const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// Longest text of a goal in the first line, in characters.
const GOAL_LIMIT: usize = 200;

/// Lines shorter than this are narrow.
const NARROW: usize = 100;
/// The narrowest lane in narrow lines.
const LEAST_NARROW_LANE: usize = 22;

/// A verdict and its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tone {
    Good,
    Bad,
    Open,
}

/// The first line: `verdict: what (where)`.
pub(super) fn headline(tone: Tone, verdict: &str, what: &str, place: &str) -> String {
    format!("{}: {} ({place})\n", emphasized(tone, verdict), clip(what, GOAL_LIMIT))
}

/// For which numbers of threads an answer with so many violations holds, if there are arbitrarily many.
pub(super) fn numbers_of_copies(subject: &Subject<'_>, is_decided: bool, violations: usize) -> String {
    subject.copies.filter(|_| is_decided).map(|copies| CopiesRecord::text(copies, violations)).unwrap_or_default()
}

/// A text in the colour of a verdict.
pub(super) fn emphasized(tone: Tone, text: &str) -> String {
    let style = match tone {
        Tone::Good => GREEN,
        Tone::Bad => RED,
        Tone::Open => YELLOW,
    };
    format!("{style}{text}{style:#}")
}

/// A run, and why it is possible, in lines of at most `width` characters where that can be done.
pub(super) fn evidence(program: &Program, evidence: &Evidence, width: usize) -> String {
    let checked = &evidence.checked;
    let mut text = String::new();
    if let Some(overtaking) = evidence.overtaking() {
        text += &format!("\n{}\n", illustrate(&program.source, &overtaking.labels()));
    }
    let which = match (evidence.cycle.is_some(), checked.continuations().is_some()) {
        (true, _) => "a run that sequential consistency forbids",
        (false, true) => "a run into a state without a way out",
        (false, false) => "a run that reaches it",
    };
    text += &run(which, program, checked.replay(), width);
    if let Some(left) = checked.continuations() {
        text += &ContinuationsRecord::new(program, left).text();
    }
    if let Some(cycle) = &evidence.cycle {
        let cycle = clip(&cycle_text(program, checked.happens_before(), cycle), 2_000);
        text += &format!("\ncycle: {cycle}\n");
        text += "each of these happens before the next, so without store buffers none of them could come first\n";
    }
    text
}

/// A replayed run under a title.
pub(super) fn run(title: &str, program: &Program, replay: &Replay, width: usize) -> String {
    let steps = counted(replay.events().len() as u64, "step");
    let default = LaneOptions::default();
    // On a narrow terminal a list of the steps tells more than lanes in which most steps are cut.
    let least_lane_width = if width < NARROW { LEAST_NARROW_LANE } else { default.least_lane_width };
    let picture = lanes(program, replay, &LaneOptions { line_width: width, least_lane_width, ..default });
    format!("\n{title} (replayed, {steps}):\n\n{}\n", picture.trim_end_matches('\n'))
}

/// Without colours.
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// What to do next.
pub(super) fn help(text: &str) -> String {
    format!("{CYAN}help{CYAN:#}: {text}\n")
}

/// Diagnostics as a part of the answer.
pub(super) fn diagnostics(program: &Program, diagnostics: &[Diagnostic]) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    let all: Vec<&Diagnostic> = diagnostics.iter().collect();
    format!("\n{}\n", render_all(&program.source, &all))
}

/// What a search took.
pub(super) fn statistics(statistics: &Statistics, peak_memory: Option<u64>) -> String {
    let rate = statistics.states as f64 / statistics.elapsed.as_secs_f64().max(1e-6);
    let stored = size_text(statistics.stored_bytes);
    let rows = [
        ("states", format!("{}{}", grouped(statistics.states), reduction(statistics))),
        ("transitions", grouped(statistics.transitions)),
        ("depth", grouped(statistics.depth)),
        ("state", format!("{}; {stored} for all stored states", counted(statistics.state_bytes, "byte"))),
        ("memory", peak_memory.map_or_else(|| "unknown".to_owned(), |peak| format!("{} peak", size_text(peak)))),
        ("time", format!("{} ({} states/s)", time_text(statistics.elapsed), grouped(rate as u64))),
    ];
    let lines = rows.map(|(name, value)| format!("  {name:<12} {value}\n"));
    format!("\nstatistics:\n{}", lines.concat())
}

/// How states were counted, if not one by one.
pub(super) fn reduction(statistics: &Statistics) -> String {
    let mut text = String::new();
    text += match statistics.reduction {
        Reduction::None => "",
        Reduction::Local => ", with local steps fused",
        Reduction::Persistent => ", with local steps fused and steps restricted to persistent sets",
        Reduction::Dynamic => {
            ", with local steps fused and dynamic partial order reduction, which goes depth-first and without symmetry"
        }
        Reduction::Cartesian => ", with steps fused that do not interfere (persistent sets, cartesian vectors)",
        // Statistics name the reduction that was chosen.
        Reduction::Auto => "",
    };
    if statistics.up_to_symmetry {
        text += ", up to the numbering of interchangeable threads";
    }
    text
}

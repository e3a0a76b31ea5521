//! Answers for people: the answer in the first line, the source underneath, the run as a person would draw it,
//! the next thing to do last.

use anstyle::{AnsiColor, Style};
use weir::Limit;
use weir::reach::Statistics;
use weir_ir::{Diagnostic, Program};
use weir_witness::Model;
use weir_witness::render::{LaneOptions, cycle_text, lanes};

use super::clean::clip;
use super::diagnostic::{illustrate, render_all};
use crate::args::LimitOptions;
use crate::commands::analysis::Conclusion;
use crate::evidence::Evidence;
use crate::memory;
use crate::units::{counted, grouped, size_text, time_text};

const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();

/// Longest text of a goal in the first line, in characters.
const GOAL_LIMIT: usize = 200;

/// A verdict and its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tone {
    Good,
    Bad,
    Open,
}

/// The first line: `verdict: what (where)`.
pub(crate) fn headline(tone: Tone, verdict: &str, what: &str, place: &str) -> String {
    format!("{}: {} ({place})\n", emphasized(tone, verdict), clip(what, GOAL_LIMIT))
}

/// A text in the colour of a verdict.
pub(crate) fn emphasized(tone: Tone, text: &str) -> String {
    let style = match tone {
        Tone::Good => GREEN,
        Tone::Bad => RED,
        Tone::Open => YELLOW,
    };
    format!("{style}{text}{style:#}")
}

/// The name of a model in running text.
pub(crate) fn model_name(model: Model) -> &'static str {
    match model {
        Model::Sc => "SC",
        Model::Tso => "TSO",
    }
}

/// A run, and why it is possible, in lines of at most `width` characters where that can be done.
pub(crate) fn evidence(program: &Program, evidence: &Evidence, width: usize) -> String {
    let checked = &evidence.checked;
    let mut text = String::new();
    if let Some(overtaking) = evidence.overtaking() {
        text += &format!("\n{}\n", illustrate(&program.source, &overtaking.labels()));
    }
    let steps = counted(checked.run().steps.len() as u64, "step");
    let which =
        if evidence.cycle.is_some() { "a run that sequential consistency forbids" } else { "a run that reaches it" };
    let picture = lanes(program, checked.replay(), &LaneOptions { line_width: width, ..LaneOptions::default() });
    text += &format!("\n{which} (replayed, {steps}):\n\n{}\n", picture.trim_end_matches('\n'));
    if let Some(cycle) = &evidence.cycle {
        let cycle = clip(&cycle_text(program, checked.happens_before(), cycle), 2_000);
        text += &format!("\ncycle: {cycle}\n");
        text += "each of these happens before the next, so without store buffers none of them could come first\n";
    }
    text
}

/// Why the answer is not known, if it is not.
pub(crate) fn reason(conclusion: &Conclusion, limits: &LimitOptions) -> Option<String> {
    match conclusion {
        Conclusion::Holds | Conclusion::Violated(_) => None,
        Conclusion::Refused(diagnostic) => Some(diagnostic.message.clone()),
        Conclusion::Stopped(limit) => Some(limit_text(*limit, limits)),
        Conclusion::Raced(_) => Some("there is a triangular race, so this method is inconclusive".to_owned()),
    }
}

/// Which limit ended a search.
pub(crate) fn limit_text(limit: Limit, limits: &LimitOptions) -> String {
    match limit {
        Limit::Time => {
            let time = limits.timeout.map(time_text).unwrap_or_default();
            format!("the time limit of {time} was reached")
        }
        Limit::Memory => format!("the memory limit of {} was reached", size_text(limits.memory)),
        Limit::States => {
            let states = limits.states.map_or(0, std::num::NonZeroU64::get);
            format!("the limit of {} was reached", counted(states, "state"))
        }
        Limit::Interrupted => "interrupted".to_owned(),
        Limit::Extensions => limit.to_string(),
        Limit::Alarm => "the over-approximation raised an alarm that no run confirms".to_owned(),
    }
}

/// How to get further than a limit let the search come.
pub(crate) fn more(limit: Limit) -> &'static str {
    match limit {
        Limit::Time => "allow more time with `--timeout`",
        Limit::Memory => "allow more memory with `--memory`",
        Limit::States => "raise the limit with `--states`",
        Limit::Extensions => "allow more rounds with `--lazy-rounds`, use another engine",
        Limit::Interrupted => "let it run longer; `--timeout` and `--memory` limit a search automatically",
        Limit::Alarm => "use a more precise engine",
    }
}

/// Without colours.
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// What to do next.
pub(crate) fn help(text: &str) -> String {
    format!("{CYAN}help{CYAN:#}: {text}\n")
}

/// Diagnostics as a part of the answer.
pub(crate) fn diagnostics(program: &Program, diagnostics: &[Diagnostic]) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    let all: Vec<&Diagnostic> = diagnostics.iter().collect();
    format!("\n{}\n", render_all(&program.source, &all))
}

/// What a search took.
pub(crate) fn statistics(statistics: &Statistics) -> String {
    let rate = statistics.states as f64 / statistics.elapsed.as_secs_f64().max(1e-6);
    let stored = size_text(statistics.stored_bytes);
    let rows = [
        ("states", grouped(statistics.states)),
        ("transitions", grouped(statistics.transitions)),
        ("depth", grouped(statistics.depth)),
        ("state", format!("{}; {stored} for all stored states", counted(statistics.state_bytes, "byte"))),
        ("memory", memory::peak().map_or_else(|| "unknown".to_owned(), |peak| format!("{} peak", size_text(peak)))),
        ("time", format!("{} ({} states/s)", time_text(statistics.elapsed), grouped(rate as u64))),
    ];
    let lines = rows.map(|(name, value)| format!("  {name:<12} {value}\n"));
    format!("\nstatistics:\n{}", lines.concat())
}

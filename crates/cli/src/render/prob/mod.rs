//! The answer of `weir prob` for people.

pub(crate) mod curve;
pub(crate) mod json;
mod number;
mod table;

use weir::prob::{Certainty, Cost, DrainedState, Estimate, Interval, Obstacle, Probability, Qualitative};
use weir_witness::Replay;
use weir_witness::render::{LaneOptions, lanes};

use super::clean::clip;
use super::text::{Tone, diagnostics, emphasized, help, limit_text, more};
use crate::args::{LimitOptions, QuestionName};
use crate::commands::prob::{CONFIDENCE, Finding, Gap, Outcome};
use crate::console::Console;
use crate::units::{counted, grouped};
use number::{enclosed, fraction, percent};

/// Prints the answer.
pub(crate) fn show(finding: &Finding<'_>, console: &mut Console) {
    let mut text = first_line(finding);
    if !console.is_quiet() {
        text += &details(finding, console.width());
        text += &table::text(finding);
    }
    text += &gaps(finding, !console.is_quiet());
    if !console.is_quiet() {
        text += &advice(finding);
    }
    console.answer(&text);
}

/// What is looked for, as a person would say it.
fn target(finding: &Finding<'_>) -> String {
    clip(&finding.program.condition_text(finding.target), 200)
}

fn first_line(finding: &Finding<'_>) -> String {
    let (target, again) = (target(finding), if finding.options.repeated { " infinitely often" } else { "" });
    let unknown = |reason: String| format!("{}: {reason}\n", emphasized(Tone::Open, "unknown"));
    let limits = &finding.options.limits;
    match &finding.outcome {
        Outcome::Refused(diagnostic) => unknown(diagnostic.message.clone()),
        Outcome::Almost(answer) => {
            let surely = finding.options.question == QuestionName::AlmostSure;
            let word = if surely { "almost surely" } else { "almost never" };
            match &answer.certainty {
                Certainty::Holds { .. } => {
                    format!("{}: `{target}`\n", emphasized(Tone::Good, &format!("{word} reached{again}")))
                }
                Certainty::Fails(_) => {
                    format!("{}: `{target}`\n", emphasized(Tone::Bad, &format!("not {word} reached{again}")))
                }
                Certainty::Unknown(obstacle) => unknown(reason(*obstacle, limits)),
            }
        }
        Outcome::Probability(Probability { interval, obstacle, .. }) => {
            let what = format!("the probability of reaching `{target}`{again}");
            line(&what, *interval, obstacle.map(|obstacle| reason(obstacle, limits)))
        }
        Outcome::Exact(Err(obstacle)) => unknown(exact_reason(*obstacle, limits)),
        Outcome::Exact(Ok(exact)) => exact_line(finding, exact, &target, again),
        Outcome::Cost(Cost { cost: None, .. }) => {
            format!("{}: no run reaches `{target}`, so there is no expected cost\n", emphasized(Tone::Bad, "never"))
        }
        Outcome::Cost(Cost { cost: Some(cost), obstacle, .. }) => {
            let what = format!("the expected cost of reaching `{target}`");
            line(&what, *cost, obstacle.map(|obstacle| reason(obstacle, limits)))
        }
        Outcome::Simulated(estimate, _) => simulated(finding, estimate, &target),
    }
}

fn line(what: &str, interval: Interval, obstacle: Option<String>) -> String {
    match obstacle {
        Some(reason) => format!("{}: {what} is {}; {reason}\n", emphasized(Tone::Open, "unknown"), enclosed(interval)),
        None => format!("{what} is {}\n", emphasized(Tone::Good, &enclosed(interval))),
    }
}

/// What a comparison leaves open. This is part of the answer, also of a quiet one.
fn gaps(finding: &Finding<'_>, is_apart: bool) -> String {
    let one = |gap: Gap<'_>| {
        let what = format!("{} in {}", gap.what, gap.file);
        line(&what, gap.interval, Some(reason(gap.obstacle, &finding.options.limits)))
    };
    let lines: String = finding.gaps().map(one).collect();
    if is_apart && !lines.is_empty() { format!("\n{lines}") } else { lines }
}

fn exact_line(finding: &Finding<'_>, exact: &weir::prob::Exact, target: &str, again: &str) -> String {
    if finding.options.question != QuestionName::Cost {
        let value = fraction(&exact.probability);
        return format!("the probability of reaching `{target}`{again} is {}\n", emphasized(Tone::Good, &value));
    }
    match &exact.cost {
        Some(cost) => {
            format!("the expected cost of reaching `{target}` is {}\n", emphasized(Tone::Good, &fraction(cost)))
        }
        None => {
            format!("{}: no run reaches `{target}`, so there is no expected cost\n", emphasized(Tone::Bad, "never"))
        }
    }
}

fn simulated(finding: &Finding<'_>, estimate: &Estimate, target: &str) -> String {
    let share = percent(estimate.hits as f64 / estimate.runs.max(1) as f64);
    let word = emphasized(Tone::Good, &share);
    let runs = counted(estimate.runs, "random run");
    let stopped = match estimate.limit {
        Some(limit) => format!(" ({})", limit_text(limit, &finding.options.limits)),
        None => String::new(),
    };
    format!("{word} of {runs} reach `{target}`{stopped}\n")
}

fn details(finding: &Finding<'_>, width: usize) -> String {
    match &finding.outcome {
        Outcome::Refused(diagnostic) => diagnostics(finding.program, std::slice::from_ref(diagnostic.as_ref())),
        Outcome::Almost(answer) => certainty(finding, answer, width),
        Outcome::Probability(answer) => met(finding, answer.configurations, answer.is_complete),
        Outcome::Exact(Ok(exact)) => met(finding, exact.configurations, true),
        Outcome::Exact(Err(_)) => String::new(),
        Outcome::Cost(answer) => costs(answer) + &met(finding, answer.configurations, answer.is_complete),
        Outcome::Simulated(estimate, sample) => estimated(estimate) + &run("one of these runs", finding, sample, width),
    }
}

fn met(finding: &Finding<'_>, configurations: usize, is_complete: bool) -> String {
    if !finding.options.verbose {
        return String::new();
    }
    let rest = if is_complete { " (all)" } else { "; the interval accounts for the others" };
    format!("\nexplored {}{rest}\n", counted(configurations as u64, "configuration"))
}

fn certainty(finding: &Finding<'_>, answer: &Qualitative, width: usize) -> String {
    let again = finding.options.repeated;
    match &answer.certainty {
        Certainty::Unknown(_) => String::new(),
        Certainty::Holds { drained: plain, shown } => {
            let surely = finding.options.question == QuestionName::AlmostSure;
            let why = match (surely, again) {
                (true, _) => "the target is reachable from each, and runs visit them infinitely often",
                (false, false) => "the target is unreachable from each",
                (false, true) => "runs almost surely end where the target is unreachable",
            };
            let listed = shown.len().min(3);
            let rest = match plain.saturating_sub(listed) {
                0 => String::new(),
                more => format!("   … and {} more\n", grouped(more as u64)),
            };
            let plain = counted(*plain as u64, "drained configuration");
            let listed: String = shown.iter().take(listed).map(configuration).collect();
            format!("\n{plain} ({why}):\n{listed}{rest}")
        }
        Certainty::Fails(sample) => {
            let what = match (finding.options.question, again) {
                (QuestionName::AlmostSure, _) => "a run after which the target is unreachable",
                (_, false) => "a run that reaches the target",
                (_, true) => "a run after which the target is almost surely reached infinitely often",
            };
            run(what, finding, sample, width)
        }
    }
}

fn configuration(plain: &DrainedState) -> String {
    let places: Vec<String> = plain.places.iter().map(|(thread, place)| format!("{thread} at {place}")).collect();
    let values = plain.registers.iter().chain(&plain.cells);
    let values: Vec<String> = values.map(|(name, value)| format!("{name} = {value}")).collect();
    let values = if values.is_empty() { String::new() } else { format!("; {}", values.join(", ")) };
    format!("   {}{values}\n", places.join(", "))
}

fn run(what: &str, finding: &Finding<'_>, sample: &Replay, width: usize) -> String {
    let picture = lanes(finding.program, sample, &LaneOptions { line_width: width, ..LaneOptions::default() });
    let steps = counted(sample.events().len() as u64, "step");
    format!("\n{what} (replayed, {steps}):\n\n{}\n", picture.trim_end_matches('\n'))
}

fn costs(answer: &Cost) -> String {
    let mut text = format!("\nthe probability of reaching it is {}\n", enclosed(answer.probability));
    if !answer.visits.is_empty() {
        text += "\nexpected visits on the way, over the runs that reach the target:\n";
        let widest = answer.visits.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        for (label, visits) in &answer.visits {
            text += &format!("   {label:<widest$}   {}\n", enclosed(*visits));
        }
    }
    text
}

fn estimated(estimate: &Estimate) -> String {
    let sure = percent(CONFIDENCE);
    let mut text = format!("\nthe probability is {} (confidence {sure})\n", enclosed(estimate.probability));
    if let Some((mean, interval)) = estimate.cost {
        text += &format!(
            "the mean cost of runs that reach the target is {mean:.4}; the expected cost is {} (same confidence)\n",
            enclosed(interval)
        );
    }
    if estimate.undecided > 0 {
        let undecided = grouped(estimate.undecided);
        text += &format!(
            "{undecided} runs reached the limit of `--steps` undecided; the interval allows for both outcomes\n"
        );
    }
    text
}

/// Why a number is not known as precisely as was asked for.
pub(crate) fn reason(obstacle: Obstacle, limits: &LimitOptions) -> String {
    match obstacle {
        Obstacle::Limit(limit) => limit_text(limit, limits),
        Obstacle::Choices => "some configuration has too many successors to follow them all".to_owned(),
        Obstacle::Odds => "in some configuration, the flush probabilities exceed the range of integers".to_owned(),
        Obstacle::Fractions => {
            "the program has too many configurations or too large loops for exact fractions".to_owned()
        }
        Obstacle::Precision => "floating-point precision does not suffice".to_owned(),
        Obstacle::Unbounded => "nothing could be proved about runs with large buffers".to_owned(),
    }
}

/// Why there is no exact value.
pub(crate) fn exact_reason(obstacle: Obstacle, limits: &LimitOptions) -> String {
    match obstacle {
        Obstacle::Limit(limit) => limit_text(limit, limits),
        _ => reason(Obstacle::Fractions, limits),
    }
}

fn advice(finding: &Finding<'_>) -> String {
    let next = match finding.outcome.obstacle().or_else(|| finding.gaps().next().map(|gap| gap.obstacle)) {
        Some(Obstacle::Limit(limit)) => more(limit).to_owned(),
        _ if matches!(finding.outcome, Outcome::Exact(Err(_))) => "leave out `--exact` to get an interval".to_owned(),
        Some(Obstacle::Choices) => "narrow the ranges of `any`".to_owned(),
        Some(Obstacle::Odds) => {
            "give probabilities with fewer digits, increase `--epsilon`, or use `--question simulate`".to_owned()
        }
        Some(Obstacle::Fractions) => "leave out `--exact` to get an interval".to_owned(),
        Some(Obstacle::Precision) => "increase `--epsilon`, or ask for a fraction with `--exact`".to_owned(),
        Some(Obstacle::Unbounded) => "use `--question simulate` for an estimate".to_owned(),
        None => return String::new(),
    };
    format!("\n{}", help(&next))
}

//! The answer of `weir prob` for people.

use weir::prob::{Certainty, Cost, DrainedState, Estimate, ExactAnswer, Interval, Obstacle, Probability, Qualitative};

use super::number::{enclosed, fraction, percent};
use super::table;
use super::target::named;
use crate::answer::odds::Gap;
use crate::answer::{CONFIDENCE, Odds, Outcome, ProbAnswer, ProbQuestion};
use crate::text::diagnostic::render_place;
use crate::text::parts::{Tone, emphasized, help, run};
use crate::text::view::View;
use crate::wording::growth::growth_help;
use crate::wording::limit::{limit_text, more};
use crate::wording::units::{counted, grouped};

/// The answer; only what it says itself if quiet.
pub(crate) fn render(answer: &ProbAnswer<'_>, view: &View) -> String {
    let odds = &answer.origin;
    let mut text = first_line(odds);
    if !view.is_quiet {
        text += &details(odds, view);
        text += &table::text(odds);
    }
    text += &gaps(odds, !view.is_quiet);
    if !view.is_quiet {
        text += &advice(odds);
    }
    text
}

/// The answer in one line.
pub(crate) fn first_line(odds: &Odds<'_>) -> String {
    let (target, again) = (named(odds), if odds.question.repeated { " infinitely often" } else { "" });
    let unknown = |reason: String| format!("{}: {reason}\n", emphasized(Tone::Open, "unknown"));
    match &odds.outcome {
        Outcome::Refused(diagnostic) => unknown(diagnostic.message.clone()),
        Outcome::Almost(answer) => {
            let surely = odds.question.kind == ProbQuestion::AlmostSure;
            let word = if surely { "almost surely" } else { "almost never" };
            match &answer.certainty {
                Certainty::Holds { .. } => {
                    format!("{}: {target}\n", emphasized(Tone::Good, &format!("{word} reached{again}")))
                }
                Certainty::Fails(_) => {
                    format!("{}: {target}\n", emphasized(Tone::Bad, &format!("not {word} reached{again}")))
                }
                Certainty::Unknown(obstacle) => unknown(odds.reason(*obstacle)),
            }
        }
        Outcome::Probability(Probability { interval, obstacle, .. }) => {
            let what = format!("the probability of reaching {target}{again}");
            line(&what, *interval, obstacle.map(|obstacle| odds.reason(obstacle)))
        }
        Outcome::Exact(ExactAnswer::Unknown(obstacle)) => unknown(odds.exact_reason(*obstacle)),
        Outcome::Exact(ExactAnswer::Known(exact)) => exact_line(odds, exact, &target, again),
        Outcome::Cost(Cost { cost: None, .. }) => {
            format!("{}: no run reaches {target}, so there is no expected cost\n", emphasized(Tone::Bad, "never"))
        }
        Outcome::Cost(Cost { cost: Some(cost), obstacle, .. }) => {
            let what = format!("the expected cost of reaching {target}");
            line(&what, *cost, obstacle.map(|obstacle| odds.reason(obstacle)))
        }
        Outcome::Simulated(estimate, _) => simulated(odds, estimate, &target),
    }
}

fn line(what: &str, interval: Interval, obstacle: Option<String>) -> String {
    match obstacle {
        Some(reason) => format!("{}: {what} is {}; {reason}\n", emphasized(Tone::Open, "unknown"), enclosed(interval)),
        None => format!("{what} is {}\n", emphasized(Tone::Good, &enclosed(interval))),
    }
}

/// What a comparison leaves open. This is part of the answer, also of a quiet one.
fn gaps(odds: &Odds<'_>, is_apart: bool) -> String {
    let one = |gap: Gap<'_>| {
        let what = format!("{} in {}", gap.what, gap.file);
        line(&what, gap.interval, Some(odds.reason(gap.obstacle)))
    };
    let lines: String = odds.gaps().map(one).collect();
    if is_apart && !lines.is_empty() { format!("\n{lines}") } else { lines }
}

fn exact_line(odds: &Odds<'_>, exact: &weir::prob::Exact, target: &str, again: &str) -> String {
    if odds.question.kind != ProbQuestion::Cost {
        let value = fraction(&exact.probability);
        return format!("the probability of reaching {target}{again} is {}\n", emphasized(Tone::Good, &value));
    }
    match &exact.cost {
        Some(cost) => {
            format!("the expected cost of reaching {target} is {}\n", emphasized(Tone::Good, &fraction(cost)))
        }
        None => {
            format!("{}: no run reaches {target}, so there is no expected cost\n", emphasized(Tone::Bad, "never"))
        }
    }
}

fn simulated(odds: &Odds<'_>, estimate: &Estimate, target: &str) -> String {
    let share = percent(estimate.hits as f64 / estimate.runs.max(1) as f64);
    let word = emphasized(Tone::Good, &share);
    let runs = counted(estimate.runs, "random run");
    let stopped = match estimate.limit {
        Some(limit) => format!(" ({})", limit_text(limit, &odds.subject.limits)),
        None => String::new(),
    };
    format!("{word} of {runs} reach {target}{stopped}\n")
}

fn details(odds: &Odds<'_>, view: &View) -> String {
    match &odds.outcome {
        Outcome::Refused(diagnostic) => format!("\n{}\n", render_place(&odds.subject.program.source, diagnostic)),
        Outcome::Almost(answer) => certainty(odds, answer, view.width),
        Outcome::Probability(answer) => met(view, answer.configurations, (answer.is_complete, answer.up_to_symmetry)),
        Outcome::Exact(ExactAnswer::Known(exact)) => met(view, exact.configurations, (true, exact.up_to_symmetry)),
        Outcome::Exact(ExactAnswer::Unknown(_)) => String::new(),
        Outcome::Cost(answer) => costs(answer) + &met(view, answer.configurations, (answer.is_complete, false)),
        Outcome::Simulated(estimate, sample) => {
            estimated(estimate) + &run("one of these runs", odds.subject.program, sample, view.width)
        }
    }
}

fn met(view: &View, configurations: usize, (is_complete, up_to_symmetry): (bool, bool)) -> String {
    if !view.is_verbose {
        return String::new();
    }
    let rest = if is_complete { " (all)" } else { "; the interval accounts for the others" };
    let lumped = if up_to_symmetry { ", up to the numbering of interchangeable threads" } else { "" };
    format!("\nexplored {}{rest}{lumped}\n", counted(configurations as u64, "configuration"))
}

fn certainty(odds: &Odds<'_>, answer: &Qualitative, width: usize) -> String {
    let again = odds.question.repeated;
    match &answer.certainty {
        Certainty::Unknown(_) => String::new(),
        Certainty::Holds { drained: plain, shown } => {
            let surely = odds.question.kind == ProbQuestion::AlmostSure;
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
            let what = match (odds.question.kind, again) {
                (ProbQuestion::AlmostSure, _) => "a run after which the target is unreachable",
                (_, false) => "a run that reaches the target",
                (_, true) => "a run after which the target is almost surely reached infinitely often",
            };
            run(what, odds.subject.program, sample, width)
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

fn advice(odds: &Odds<'_>) -> String {
    let next = match odds.outcome.obstacle().or_else(|| odds.gaps().next().map(|gap| gap.obstacle)) {
        Some(Obstacle::Limit(limit)) => growth_help(&odds.growth).unwrap_or_else(|| more(limit).to_owned()),
        _ if matches!(odds.outcome, Outcome::Exact(ExactAnswer::Unknown(_))) => {
            "leave out `--exact` to get an interval".to_owned()
        }
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

//! Probabilities, costs, curves and what is almost sure, with odds of every kind.

use std::num::NonZeroUsize;

use weir::prob::{
    Almost, Certainty, ExactAnswer, Fraction, Interval, Question, Settings, Simulation, UpdatePolicy, almost, cost,
    curve, exact_cost, exact_probability, frequencies, probability, simulate, simulated_frequencies,
};
use weir::{Limits, Session};
use weir_ir::{Program, PropertyKind};

use crate::{digest, failure, steps};

fn session() -> Session {
    Session::new(Limits { states: Some(400), ..Limits::default() })
}

fn fraction(numerator: u64, denominator: u64) -> Fraction {
    Fraction { numerator, denominator }
}

fn odds() -> [(&'static str, Settings); 4] {
    let geometric = UpdatePolicy::Geometric(fraction(3, 4));
    [
        ("uniform", Settings::default()),
        ("single", Settings { updates: UpdatePolicy::Single, ..Settings::default() }),
        ("geometric", Settings { updates: geometric, ..Settings::default() }),
        ("sticky", Settings { stickiness: Some(fraction(9, 2)), ..Settings::default() }),
    ]
}

/// Nine digits are the same on every machine.
fn number(value: f64) -> String {
    format!("{value:.8e}")
}

fn interval(interval: Interval) -> String {
    format!("[{}, {}]", number(interval.lower), number(interval.upper))
}

fn exact(answer: Result<ExactAnswer, weir::Failure>) -> String {
    match answer {
        Err(what) => failure(&what),
        Ok(ExactAnswer::Unknown(obstacle)) => format!("{obstacle:?}"),
        Ok(ExactAnswer::Known(known)) => {
            let shown = |text: String| if text.len() > 60 { digest(&text) } else { text };
            let cost = known.cost.map_or(String::new(), |cost| format!(" {}", shown(cost.to_string())));
            format!("{}{cost} of {}", shown(known.probability.to_string()), known.configurations)
        }
    }
}

fn certainty(program: &Program, asked: &Question, which: Almost) -> String {
    match almost(program, asked, which, &session()) {
        Err(what) => failure(&what),
        Ok(answer) => {
            let said = match &answer.certainty {
                Certainty::Holds { drained, shown } => format!("holds, {drained} drained {}", digest(shown)),
                Certainty::Fails(replay) => format!("fails after {} steps", replay.events().len()),
                Certainty::Unknown(obstacle) => format!("{obstacle:?}"),
            };
            format!("{said} of {}", answer.configurations)
        }
    }
}

fn quantities(program: &Program, asked: &Question) -> Vec<String> {
    let mut lines = Vec::new();
    lines.push(match probability(program, asked, 1e-6, &session()) {
        Err(what) => failure(&what),
        Ok(found) => {
            let whole = if found.is_complete { "all " } else { "" };
            format!("p {} {whole}{} {:?}", interval(found.interval), found.configurations, found.obstacle)
        }
    });
    lines.push(format!("exact {}", exact(exact_probability(program, asked, &session()))));
    for which in [Almost::Surely, Almost::Never] {
        lines.push(format!("almost {which:?}: {}", certainty(program, asked, which)));
    }
    lines
}

/// What is said of reaching the target once only.
fn once(program: &Program, asked: &Question) -> Vec<String> {
    let Question { target, settings, .. } = asked;
    let mut lines = vec![format!("exact cost {}", exact(exact_cost(program, target, settings, &session())))];
    lines.push(match cost(program, target, settings, 1e-6, &session()) {
        Err(what) => failure(&what),
        Ok(found) => {
            let whole = if found.is_complete { "all " } else { "" };
            let visits: Vec<String> =
                found.visits.iter().map(|(name, visits)| format!("{name} {}", interval(*visits))).collect();
            let cost = found.cost.map_or(String::new(), interval);
            let (count, obstacle) = (found.configurations, found.obstacle);
            format!("cost {cost} {} {visits:?} {whole}{count} {obstacle:?}", interval(found.probability))
        }
    });
    lines.push(match curve(program, target, settings, 9, &session()) {
        Err(what) => failure(&what),
        Ok(found) => {
            let points: Vec<String> = found.points.into_iter().map(interval).collect();
            format!("curve {} {:?}", points.join(" "), found.obstacle)
        }
    });
    let jobs = NonZeroUsize::MIN;
    let simulation = Simulation { runs: 60, seed: 7, most_steps: 40, doubt: 0.05, jobs };
    lines.push(match simulate(program, target, settings, &simulation, &session()) {
        Err(what) => failure(&what),
        Ok(found) => {
            let cost =
                found.cost.map_or(String::new(), |(mean, around)| format!("{} {}", number(mean), interval(around)));
            let (hits, undecided) = (found.hits, found.undecided);
            let sample = steps(&found.sample);
            format!("simulated {hits} {undecided} {} {} {cost} {sample}", found.steps, interval(found.probability))
        }
    });
    lines
}

fn how_often(program: &Program, settings: &Settings) -> Vec<String> {
    let text = |found: Vec<String>| found.join(" ");
    let computed = match frequencies(program, settings, 7, 20_000, &session()) {
        Err(what) => failure(&what),
        Ok(None) => "too many".to_owned(),
        Ok(Some(found)) => text(found.into_iter().map(|(_, count)| interval(count)).collect()),
    };
    let simulation = Simulation { runs: 40, seed: 3, most_steps: 12, doubt: 0.05, jobs: NonZeroUsize::MIN };
    let simulated = match simulated_frequencies(program, settings, &simulation, &session()) {
        Err(what) => failure(&what),
        Ok(found) => text(found.into_iter().map(|(_, count)| number(count)).collect()),
    };
    vec![format!("edges {computed}"), format!("edges, simulated {simulated}")]
}

#[test]
fn of_every_kind() {
    crate::check("chances.txt", 1_000, |program| {
        let mut lines = Vec::new();
        for (name, settings) in odds() {
            for property in &program.properties {
                let PropertyKind::Forbid(target) = &property.kind else { continue };
                for repeated in [false, true] {
                    let asked = Question { target: target.clone(), repeated, settings: settings.clone() };
                    let mut found = quantities(program, &asked);
                    if !repeated {
                        found.extend(once(program, &asked));
                    }
                    let again = if repeated { " again" } else { "" };
                    lines.extend(found.into_iter().map(|line| format!("{name}{again}: {line}")));
                }
            }
            lines.extend(how_often(program, &settings).into_iter().map(|line| format!("{name}: {line}")));
        }
        lines
    });
}

//! The answers of `weir replay` for people.

use std::path::Path;

use weir_witness::{Goal, ONE};

use super::parts::{Tone, evidence, headline, help};
use super::view::View;
use crate::answer::{CertificateAnswer, NetCertificateAnswer, ReplayAnswer};
use crate::saved::SavedGoal;
use crate::wording::clean::display_name;
use crate::wording::model_name;
use crate::wording::units::counted;

/// The answer about a run; only its first line if quiet.
pub(super) fn render(answer: &ReplayAnswer<'_>, view: &View) -> String {
    let mut text = first_line(answer);
    if view.is_quiet {
        return text;
    }
    let origin = &answer.origin;
    text += &match &origin.result {
        Ok(found) => evidence(origin.program, found, view.width),
        Err(_) => {
            let is_robustness = origin.saved.metadata.specification.contains(&SavedGoal::NotRobust);
            let finder = if is_robustness { "robust" } else { "reach" };
            let advice = format!("if the program has changed since, `weir {finder}` finds a new run");
            format!("\n{}", help(&advice))
        }
    };
    text
}

/// The answer about a run in one line.
pub(super) fn first_line(answer: &ReplayAnswer<'_>) -> String {
    let origin = &answer.origin;
    let file = origin.program.source.name();
    let found = match &origin.result {
        Ok(found) => found,
        Err(mismatch) => return headline(Tone::Bad, "no", &mismatch.text("step"), file),
    };
    let (steps, model) = (counted(answer.steps, "step"), model_name(found.checked.run().model));
    let what = match found.checked.goal() {
        Goal::NotRobust => format!("a run of {steps} under {model} that sequential consistency forbids"),
        _ => format!("a run of {steps} under {model} reaches this: {}", answer.goal),
    };
    headline(Tone::Good, "ok", &what, file)
}

/// The answer about a certificate; only its first line if quiet.
pub(super) fn render_certificate(answer: &CertificateAnswer<'_>, view: &View) -> String {
    let text = certificate_line(answer);
    if view.is_quiet || answer.origin.complaint.is_none() {
        return text;
    }
    // Some complaints say themselves what to do.
    if answer.origin.complaint.as_ref().is_some_and(|complaint| complaint.contains("`--")) {
        return text;
    }
    let command = match answer.cost {
        Some(_) => "fences",
        None if answer.lower.is_some() => "prob",
        None if is_about_robustness(answer) => "robust",
        None => "reach",
    };
    let advice = format!("the program may have changed since; `weir {command} --certificate` saves a new proof");
    let next = help(&advice);
    format!("{text}\n{next}")
}

fn is_about_robustness(answer: &CertificateAnswer<'_>) -> bool {
    answer.origin.saved.metadata.specification.contains(&SavedGoal::NotRobust)
}

/// The answer about a certificate in one line.
pub(super) fn certificate_line(answer: &CertificateAnswer<'_>) -> String {
    let origin = &answer.origin;
    let file = origin.program.source.name();
    if let Some(complaint) = &origin.complaint {
        return headline(Tone::Bad, "no", complaint, file);
    }
    let (what, count) = origin.saved.size();
    let states = counted(count, what);
    if let Some(cost) = answer.cost {
        let robust = is_about_robustness(answer);
        let what = match (cost, robust) {
            (0, true) => "robust without further fences".to_owned(),
            (0, false) => "its properties hold without further fences".to_owned(),
            (_, true) => format!("fences of cost {cost} make it robust, and no cheaper ones do, proved by {states}"),
            (_, false) => {
                format!("fences of cost {cost} make its properties hold, and no cheaper ones do, proved by {states}")
            }
        };
        return headline(Tone::Good, "ok", &what, file);
    }
    if is_about_robustness(answer) {
        return headline(Tone::Good, "ok", &format!("robust, proved by {states} with a monitor for attacks"), file);
    }
    if let (Some(chance), Some((lower, upper))) = (&origin.saved.chance, answer.lower.zip(answer.upper)) {
        let often = if chance.repeated { " infinitely often" } else { "" };
        let what = match (chance.lower, chance.upper) {
            (ONE, _) => format!("almost surely reached{often}, proved by {states}"),
            (_, 0) => format!("almost never reached{often}, proved by {states}"),
            _ => {
                format!("reached{often} with a probability of at least {lower} and at most {upper}, proved by {states}")
            }
        };
        return headline(Tone::Good, "ok", &format!("{what}: `{}`", answer.goals.join(", ")), file);
    }
    let model = model_name(origin.saved.metadata.model.into());
    let goals = match answer.goals.as_slice() {
        [only] => only.clone(),
        [_, _] => "both properties hold".to_owned(),
        several => format!("all {} properties hold", several.len()),
    };
    headline(Tone::Good, "ok", &format!("unreachable under {model}, proved by {states}: {goals}"), file)
}

/// The answer about a proof that a net cannot cover its targets.
pub(super) fn net_certificate_line(answer: &NetCertificateAnswer) -> String {
    let file = display_name(Path::new(&answer.head.file));
    if let Some(reason) = &answer.reason {
        return headline(Tone::Bad, "no", reason, &file);
    }
    let (markings, facts) = (counted(answer.markings, "marking"), counted(answer.facts, "linear fact"));
    headline(Tone::Good, "ok", &format!("no target can be covered, proved by {markings} and {facts}"), &file)
}

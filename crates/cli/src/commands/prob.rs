//! `weir prob`: how likely, how soon and how costly is it to reach a target?

mod compare;

use std::path::Path;
use std::time::Duration;

use weir::prob::{
    Almost, Certainty, Claimed, Curve, Qualitative, Question, Simulation, Target, almost, cost, curve, exact_cost,
    exact_probability, growth, probability, simulate,
};
use weir::{Failure, Limits, Session};
use weir_ir::Program;
use weir_report::answer::{Answer, Asked, CONFIDENCE, CommandName, Odds, Outcome, ProbAnswer, ProbQuestion};
use weir_report::wording::clean::display_name;
use weir_report::wording::limit::obstacle_text;
use weir_report::{csv, svg};
use weir_witness::{Model, replay};

use super::task::{Allowance, Task, Work};
use super::{analysis, certificate, model_limit};
use crate::args::ProbOptions;
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::load::load;
use crate::output;
use crate::prob::{add_costs, target};

/// Runs it.
pub(super) fn run(options: &'static ProbOptions, console: &mut Console) -> Status {
    let work = Work {
        command: CommandName::Prob,
        format: options.format,
        files: &options.files,
        limits: Allowance::of(&options.limits),
        is_spaced: true,
        one: |task: &Task<'_>, console: &mut Console| one(task, options, console),
    };
    work.run(console)
}

fn one(task: &Task<'_>, options: &ProbOptions, console: &mut Console) -> Result<Status, Error> {
    let mut loaded = load(task.file, &options.program, &task.session)?;
    model_limit::no_run_passes(&loaded, Model::Tso, &task.session)?;
    add_costs(&mut loaded.program, options.costs.as_deref())?;
    let program = &loaded.program;
    let target = target(program, options.target.as_deref(), "--target");
    if !task.is_json() {
        console.diagnostics(&program.source, &loaded.warnings);
    }
    let target = target?;
    let variant = compare::variant(options, program, &target, &task.session)?;
    let (outcome, compared, points) = analysis::watched(task, console, |session| {
        let outcome = answer(options, program, &target, session)?;
        let compared = match &variant {
            Some(variant) if !matches!(outcome, Outcome::Refused(_)) => {
                compare::compare(options, (task.file, program, &target), (variant, &outcome), session)?
            }
            _ => Vec::new(),
        };
        let points = options.curve.as_deref().map(|_| {
            let steps = options.steps.unwrap_or(200) as usize;
            curve(program, &target, &options.settings(), steps, &session.another())
                .map_err(|failure| Error::of(program, failure))
        });
        Ok::<_, Error>((outcome, compared, points.transpose()?))
    })?;
    let claimed = claimed(options, &outcome);
    let answer = ProbAnswer::new(Odds {
        subject: task.subject(&loaded),
        question: asked(options),
        target: &target,
        growth: match outcome.obstacle() {
            // The time for the question may be used up; what takes longer than this is not said.
            Some(_) => {
                let limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
                growth(program, &target, &Session::new(limits))
            }
            None => Vec::new(),
        },
        outcome,
        compared,
    });
    let curve = options.curve.as_deref().zip(points.as_ref());
    let curve = curve.map(|(path, points)| (path, points, text(path, points, &answer)));
    let status = task.answer(&Answer::Prob(Box::new(answer)), options.verbose, console);
    let saved = curve.map_or(Status::Holds, |(path, points, text)| save(path, points, &text, options, console));
    let certified = match &options.certificate {
        Some(path) => {
            let question = question(options, &target);
            certificate::save_chance(task, path, &loaded, (&question, options.question, claimed), console)?
        }
        None => Status::Holds,
    };
    Ok(status.and(saved).and(certified))
}

/// What an answer claims that a proof can show.
fn claimed(options: &ProbOptions, outcome: &Outcome) -> Option<Claimed> {
    match outcome {
        Outcome::Almost(Qualitative { certainty: Certainty::Holds { .. }, .. }) => {
            Some(if options.question == ProbQuestion::AlmostSure { Claimed::One } else { Claimed::Zero })
        }
        Outcome::Probability(found) if found.obstacle.is_none() => Some(Claimed::Within(options.epsilon)),
        _ => None,
    }
}

/// The question about the target.
fn question(options: &ProbOptions, target: &Target) -> Question {
    Question { target: target.clone(), repeated: options.repeated, settings: options.settings() }
}

fn asked(options: &ProbOptions) -> Asked {
    Asked { kind: options.question, repeated: options.repeated, epsilon: options.epsilon, seed: options.seed }
}

fn answer(options: &ProbOptions, program: &Program, target: &Target, session: &Session) -> Result<Outcome, Error> {
    let settings = options.settings();
    let question = question(options, target);
    let found = match options.question {
        ProbQuestion::AlmostSure => almost(program, &question, Almost::Surely, session).map(Outcome::Almost),
        ProbQuestion::AlmostNever => almost(program, &question, Almost::Never, session).map(Outcome::Almost),
        ProbQuestion::Probability if options.exact => {
            exact_probability(program, &question, session).map(Outcome::Exact)
        }
        ProbQuestion::Cost if options.exact => exact_cost(program, target, &settings, session).map(Outcome::Exact),
        ProbQuestion::Probability => {
            probability(program, &question, options.epsilon, session).map(Outcome::Probability)
        }
        ProbQuestion::Cost => cost(program, target, &settings, options.epsilon, session).map(Outcome::Cost),
        ProbQuestion::Simulate => simulated(options, program, target, session),
    };
    Ok(Error::unless_refused(found)?.unwrap_or_else(Outcome::Refused))
}

fn simulated(options: &ProbOptions, program: &Program, target: &Target, session: &Session) -> Result<Outcome, Failure> {
    let simulation = Simulation {
        runs: options.runs,
        seed: options.seed,
        most_steps: options.steps.unwrap_or(10_000),
        doubt: 1.0 - CONFIDENCE,
        jobs: options.limits.workers(),
    };
    let estimate = simulate(program, target, &options.settings(), &simulation, session)?;
    let sample = replay(program, &estimate.sample)
        .map_err(|error| Failure::Bug(format!("a random run cannot be replayed: {error}")))?;
    Ok(Outcome::Simulated(estimate, Box::new(sample)))
}

/// The curve as the name of the file asks for it.
fn text(path: &Path, points: &Curve, answer: &ProbAnswer<'_>) -> String {
    let is_picture = path.extension().is_some_and(|extension| extension == "svg");
    if is_picture { svg::curve(answer, points) } else { csv::curve(points) }
}

fn save(path: &Path, points: &Curve, text: &str, options: &ProbOptions, console: &mut Console) -> Status {
    if let Some(obstacle) = points.obstacle {
        let reason = obstacle_text(obstacle, &options.limits.limits());
        console.remark(&format!("note: the curve ends after {} steps: {reason}", points.points.len() - 1));
    }
    match output::write(path, text) {
        Ok(()) => Status::Holds,
        Err(error) => {
            console.complain(&format!("error: cannot write the curve {}: {error}", display_name(path)));
            Status::Bad
        }
    }
}

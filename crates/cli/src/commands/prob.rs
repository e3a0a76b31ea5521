//! `weir prob`: how likely, how soon and how costly is it to reach a target?

mod compare;

use std::fs;
use std::path::Path;

use weir::prob::{
    Almost, Cost, Curve, Estimate, Exact, Obstacle, Probability, Qualitative, Question, Simulation, almost, cost,
    curve, exact_cost, exact_probability, probability, simulate,
};
use weir::{Failure, Session};
use weir_ir::{Diagnostic, Program, Source, StateExpr};
use weir_witness::{Replay, replay};

use super::Task;
use super::analysis;
use crate::args::{PlainFormat, ProbOptions, QuestionName, RunFormat};
use crate::console::Console;
use crate::exit::Status;
use crate::input::display_name;
use crate::json::CommandName;
use crate::load::load;
use crate::prob::{add_costs, default_target};
use crate::render;
use crate::trouble::Trouble;
pub(crate) use compare::{Compared, Gap, Variant};

/// How sure the intervals of simulations are.
pub(crate) const CONFIDENCE: f64 = 0.999;

/// Everything known about one file, for the renderers.
pub(crate) struct Finding<'a> {
    /// What was asked.
    pub(crate) options: &'a ProbOptions,
    /// The program.
    pub(crate) program: &'a Program,
    /// What was looked for.
    pub(crate) target: &'a StateExpr,
    /// Warnings and notes about the program.
    pub(crate) warnings: &'a [Diagnostic],
    /// The answer.
    pub(crate) outcome: Outcome,
    /// This program and another, side by side.
    pub(crate) compared: Vec<Compared>,
    /// The other.
    pub(crate) variant: Option<Variant>,
}

/// An answer.
pub(crate) enum Outcome {
    Almost(Qualitative),
    Probability(Probability),
    Exact(Result<Exact, Obstacle>),
    Cost(Cost),
    Simulated(Estimate, Box<Replay>),
    /// The analysis cannot handle something in the program.
    Refused(Box<Diagnostic>),
}

impl Outcome {
    /// What kept the answer from being (precisely) known, if anything did.
    pub(crate) fn obstacle(&self) -> Option<Obstacle> {
        match self {
            Self::Almost(answer) => match &answer.certainty {
                weir::prob::Certainty::Unknown(obstacle) => Some(*obstacle),
                _ => None,
            },
            Self::Probability(answer) => answer.obstacle,
            Self::Exact(answer) => answer.as_ref().err().copied(),
            Self::Cost(answer) => answer.obstacle,
            Self::Simulated(estimate, _) => estimate.limit.map(Obstacle::Limit),
            Self::Refused(_) => None,
        }
    }
}

impl Finding<'_> {
    /// What the process exits with.
    pub(crate) fn status(&self) -> Status {
        let compared = if self.gaps().next().is_some() { Status::Unknown } else { Status::Holds };
        self.own_status().and(compared)
    }

    fn own_status(&self) -> Status {
        match &self.outcome {
            Outcome::Refused(_) => Status::Unknown,
            outcome if outcome.obstacle().is_some() => Status::Unknown,
            Outcome::Almost(answer) if matches!(answer.certainty, weir::prob::Certainty::Fails(_)) => Status::Violated,
            _ if self.is_never() => Status::Violated,
            _ => Status::Holds,
        }
    }

    /// Whether there is no cost because no run reaches the target.
    pub(crate) fn is_never(&self) -> bool {
        match &self.outcome {
            Outcome::Cost(answer) => answer.cost.is_none(),
            Outcome::Exact(Ok(answer)) => self.options.question == QuestionName::Cost && answer.cost.is_none(),
            _ => false,
        }
    }
}

/// Runs it.
pub(super) fn run(options: &ProbOptions, console: &mut Console) -> Status {
    let format = match options.format {
        PlainFormat::Text => RunFormat::Text,
        PlainFormat::Json => RunFormat::Json,
    };
    analysis::each_file(CommandName::Prob, (&options.files, format), console, |task, console| {
        one(task, options, console)
    })
}

fn one(task: &Task<'_>, options: &ProbOptions, console: &mut Console) -> Result<Status, Trouble> {
    let mut loaded = load(task.file, &options.program)?;
    add_costs(&mut loaded.program, options.costs.as_deref())?;
    let program = &loaded.program;
    let target = target(program, options.target.as_deref(), "--target").map(|(target, left_out)| {
        loaded.warnings.extend(left_out);
        target
    });
    if !task.is_json {
        console.diagnostics(&program.source, &loaded.warnings);
    }
    let target = target?;
    let variant = compare::variant(options, program, &target)?;
    if let (Some(variant), false) = (&variant, task.is_json) {
        console.diagnostics(&variant.program.source, &variant.warnings);
    }
    let (outcome, compared, points) = analysis::watched(task, &options.limits, console, |session| {
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
                .map_err(|failure| Trouble::of(program, failure))
        });
        Ok::<_, Trouble>((outcome, compared, points.transpose()?))
    })?;
    let warnings = loaded.warnings.as_slice();
    let finding = Finding { options, program, target: &target, warnings, outcome, compared, variant };
    match options.format {
        PlainFormat::Json => console.json(&render::prob::json::answer(task, &finding)),
        PlainFormat::Text => render::prob::show(&finding, console),
    }
    let saved = save_curve(options.curve.as_deref(), points.as_ref(), &finding, console);
    Ok(finding.status().and(saved))
}

/// The condition that is looked for, and what of the program's properties it leaves out.
fn target(program: &Program, text: Option<&str>, option: &str) -> Result<(StateExpr, Vec<Diagnostic>), Trouble> {
    let Some(text) = text else { return default_target(program) };
    let source = Source::new(option, text);
    let condition = weir_syntax::weir::condition(program, &source).map_err(|errors| Trouble::Source(source, errors))?;
    Ok((condition, Vec::new()))
}

fn answer(options: &ProbOptions, program: &Program, target: &StateExpr, session: &Session) -> Result<Outcome, Trouble> {
    let settings = options.settings();
    let question = Question { target: target.clone(), repeated: options.repeated, settings: settings.clone() };
    let found = match options.question {
        QuestionName::AlmostSure => almost(program, &question, Almost::Surely, session).map(Outcome::Almost),
        QuestionName::AlmostNever => almost(program, &question, Almost::Never, session).map(Outcome::Almost),
        QuestionName::Probability if options.exact => {
            exact_probability(program, &question, session).map(Outcome::Exact)
        }
        QuestionName::Cost if options.exact => exact_cost(program, target, &settings, session).map(Outcome::Exact),
        QuestionName::Probability => {
            probability(program, &question, options.epsilon, session).map(Outcome::Probability)
        }
        QuestionName::Cost => cost(program, target, &settings, options.epsilon, session).map(Outcome::Cost),
        QuestionName::Simulate => simulated(options, program, target, session),
    };
    match found {
        Ok(outcome) => Ok(outcome),
        Err(Failure::Refused(diagnostic)) => Ok(Outcome::Refused(diagnostic)),
        Err(Failure::Bug(what)) => Err(Trouble::Bug(what)),
    }
}

fn simulated(
    options: &ProbOptions,
    program: &Program,
    target: &StateExpr,
    session: &Session,
) -> Result<Outcome, Failure> {
    let simulation = Simulation {
        runs: options.runs,
        seed: options.seed,
        most_steps: options.steps.unwrap_or(10_000),
        doubt: 1.0 - CONFIDENCE,
        jobs: analysis::jobs(&options.limits),
    };
    let estimate = simulate(program, target, &options.settings(), &simulation, session)?;
    let sample = replay(program, &estimate.sample)
        .map_err(|error| Failure::Bug(format!("a random run cannot be replayed: {error}")))?;
    Ok(Outcome::Simulated(estimate, Box::new(sample)))
}

fn save_curve(path: Option<&Path>, points: Option<&Curve>, finding: &Finding<'_>, console: &mut Console) -> Status {
    let (Some(path), Some(curve)) = (path, points) else { return Status::Holds };
    let is_picture = path.extension().is_some_and(|extension| extension == "svg");
    let text = if is_picture { render::prob::curve::svg(finding, curve) } else { render::prob::curve::csv(curve) };
    if let Some(obstacle) = curve.obstacle {
        let reason = render::prob::reason(obstacle, &finding.options.limits);
        console.remark(&format!("note: the curve ends after {} steps: {reason}", curve.points.len() - 1));
    }
    match fs::write(path, text) {
        Ok(()) => Status::Holds,
        Err(error) => {
            console.complain(&format!("error: cannot write the curve {}: {error}", display_name(path)));
            Status::Bad
        }
    }
}

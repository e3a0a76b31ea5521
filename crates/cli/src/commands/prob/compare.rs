//! A program and a variant of it, side by side.

use std::path::Path;

use weir::Session;
use weir::prob::{ExactAnswer, Probability, Question, Target, cost, probability};
use weir_ir::Program;
use weir_report::answer::{Compared, Outcome, ProbQuestion};
use weir_report::wording::clean::display_name;
use weir_witness::Model;

use super::super::model_limit;
use crate::args::ProbOptions;
use crate::error::Error;
use crate::load::load;
use crate::prob::{add_costs, target};

/// What a program is compared with.
pub(super) struct Variant {
    pub(super) program: Program,
    target: Target,
    until: Target,
    /// Up to where the costs of the program itself are counted.
    first_until: Target,
}

/// Reads the variant, if there is one. This comes before any work: mistakes are told at once.
pub(super) fn variant(
    options: &ProbOptions,
    program: &Program,
    bad: &Target,
    session: &Session,
) -> Result<Option<Variant>, Error> {
    let Some(path) = options.compare.as_deref() else { return Ok(None) };
    let until = |program: &Program, target_: &Target, name: &str| match options.until.as_deref() {
        Some(text) => target(program, Some(text), name),
        None => Ok(target_.clone()),
    };
    let first_until = until(program, bad, "--until")?;
    let file = display_name(path);
    let read = || {
        let loaded = load(path, &options.program, session)?;
        model_limit::no_run_passes(&loaded, Model::Tso, session)?;
        let mut program = loaded.program;
        add_costs(&mut program, options.costs.as_deref())?;
        let target = target(&program, options.target.as_deref(), &format!("--target (variant {file})"))?;
        let until = until(&program, &target, &format!("--until (variant {file})"))?;
        Ok(Variant { program, target, until, first_until })
    };
    read().map(Some).map_err(|error| about_the_variant(error, &file))
}

/// Errors without a place are told as if they were the program's.
fn about_the_variant(error: Error, file: &str) -> Error {
    match error {
        Error::Input { reason, help } => Error::Input { reason: format!("the variant {file}: {reason}"), help },
        other => other,
    }
}

/// The program and its variant. What the answer says already is not worked out again.
pub(super) fn compare(
    options: &ProbOptions,
    (file, program, bad): (&Path, &Program, &Target),
    (variant, outcome): (&Variant, &Outcome),
    session: &Session,
) -> Result<Vec<Compared>, Error> {
    let other = options.compare.as_deref().unwrap_or(file);
    let sides = [
        (file, program, bad, &variant.first_until, known(options, outcome)),
        (other, &variant.program, &variant.target, &variant.until, None),
    ];
    let one = |(file, program, bad, until, known): (&Path, &Program, &Target, &Target, Option<Probability>)| {
        let question = Question { target: bad.clone(), repeated: false, settings: options.settings() };
        let refused = |failure| Error::of(program, failure);
        let is_given = known.is_some();
        let probability = match known {
            Some(known) => known,
            None => probability(program, &question, options.epsilon, &session.another()).map_err(refused)?,
        };
        let cost =
            cost(program, until, &question.settings, options.epsilon.max(1e-3), &session.another()).map_err(refused)?;
        Ok(Compared { file: display_name(file), probability, until: until.text(program), cost, is_given })
    };
    sides.into_iter().map(one).collect()
}

/// The probability of the target, if the answer is about that.
fn known(options: &ProbOptions, outcome: &Outcome) -> Option<Probability> {
    match outcome {
        Outcome::Probability(found) => Some(*found),
        Outcome::Exact(ExactAnswer::Known(exact)) if options.question == ProbQuestion::Probability => {
            Some(exact.as_interval())
        }
        _ => None,
    }
}

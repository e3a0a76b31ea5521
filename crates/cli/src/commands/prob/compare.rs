//! A program and a variant of it, side by side.

use std::path::Path;

use weir::Session;
use weir::prob::{Cost, Interval, Obstacle, Probability, Question, cost, probability};
use weir_ir::{Diagnostic, Program, StateExpr};

use super::{Finding, Outcome, target};
use crate::args::{ProbOptions, QuestionName};
use crate::input::display_name;
use crate::load::load;
use crate::prob::{add_costs, around};
use crate::trouble::Trouble;

/// What a program is compared with.
pub(crate) struct Variant {
    pub(crate) program: Program,
    target: StateExpr,
    until: StateExpr,
    /// What of its properties is not looked for.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Up to where the costs of the program itself are counted.
    first_until: StateExpr,
}

/// One program of a comparison.
pub(crate) struct Compared {
    pub(crate) file: String,
    pub(crate) probability: Probability,
    /// Up to where costs are counted.
    pub(crate) until: String,
    pub(crate) cost: Cost,
    /// The answer itself is this probability.
    is_told: bool,
}

/// A number of a comparison that is not known precisely.
pub(crate) struct Gap<'a> {
    pub(crate) file: &'a str,
    /// Which number.
    pub(crate) what: String,
    /// What is known of it.
    pub(crate) interval: Interval,
    pub(crate) obstacle: Obstacle,
}

impl Compared {
    /// The numbers that are not known precisely, but for what the answer itself says.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = Gap<'_>> {
        let gap = |what: String, interval, obstacle| Gap { file: &self.file, what, interval, obstacle };
        let probability = self.probability.obstacle.filter(|_| !self.is_told);
        let probability = probability.map(|obstacle| {
            gap("the probability of reaching the target".to_owned(), self.probability.interval, obstacle)
        });
        let cost = self.cost.cost.zip(self.cost.obstacle);
        let cost = cost
            .map(|(interval, obstacle)| gap(format!("the expected cost up to `{}`", self.until), interval, obstacle));
        probability.into_iter().chain(cost)
    }
}

impl Finding<'_> {
    /// The numbers of the comparison that are not known precisely, but for what the answer itself says.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = Gap<'_>> {
        self.compared.iter().flat_map(Compared::gaps)
    }
}

/// Reads the variant, if there is one. This comes before any work: mistakes are told at once.
pub(super) fn variant(options: &ProbOptions, program: &Program, bad: &StateExpr) -> Result<Option<Variant>, Trouble> {
    let Some(path) = options.compare.as_deref() else { return Ok(None) };
    let until = |program: &Program, target_: &StateExpr, name: &str| match options.until.as_deref() {
        Some(text) => target(program, Some(text), name).map(|(until, _)| until),
        None => Ok(target_.clone()),
    };
    let first_until = until(program, bad, "--until")?;
    let file = display_name(path);
    let read = || {
        let mut program = load(path, &options.program)?.program;
        add_costs(&mut program, options.costs.as_deref())?;
        let (target, warnings) = target(&program, options.target.as_deref(), &format!("--target (variant {file})"))?;
        let until = until(&program, &target, &format!("--until (variant {file})"))?;
        Ok(Variant { program, target, until, warnings, first_until })
    };
    read().map(Some).map_err(|trouble| about_the_variant(trouble, &file))
}

/// Troubles without a place are told as if they were the program's.
fn about_the_variant(trouble: Trouble, file: &str) -> Trouble {
    match trouble {
        Trouble::Input { reason, help } => Trouble::Input { reason: format!("the variant {file}: {reason}"), help },
        other => other,
    }
}

/// The program and its variant. What the answer says already is not worked out again.
pub(super) fn compare(
    options: &ProbOptions,
    (file, program, bad): (&Path, &Program, &StateExpr),
    (variant, outcome): (&Variant, &Outcome),
    session: &Session,
) -> Result<Vec<Compared>, Trouble> {
    let other = options.compare.as_deref().unwrap_or(file);
    let sides = [
        (file, program, bad, &variant.first_until, known(options, outcome)),
        (other, &variant.program, &variant.target, &variant.until, None),
    ];
    let one = |(file, program, bad, until, known): (&Path, &Program, &StateExpr, &StateExpr, Option<Probability>)| {
        let question = Question { target: bad.clone(), repeated: false, settings: options.settings() };
        let refused = |failure| Trouble::of(program, failure);
        let is_told = known.is_some();
        let probability = match known {
            Some(known) => known,
            None => probability(program, &question, options.epsilon, &session.another()).map_err(refused)?,
        };
        let cost =
            cost(program, until, &question.settings, options.epsilon.max(1e-3), &session.another()).map_err(refused)?;
        Ok(Compared { file: display_name(file), probability, until: program.condition_text(until), cost, is_told })
    };
    sides.into_iter().map(one).collect()
}

/// The probability of the target, if the answer is about that.
fn known(options: &ProbOptions, outcome: &Outcome) -> Option<Probability> {
    match outcome {
        Outcome::Probability(found) => Some(*found),
        Outcome::Exact(Ok(exact)) if options.question == QuestionName::Probability => Some(Probability {
            interval: around(&exact.probability),
            obstacle: None,
            configurations: exact.configurations,
            is_complete: true,
        }),
        _ => None,
    }
}

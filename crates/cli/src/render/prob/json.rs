//! The answer of `weir prob` in JSON.

use weir::prob::{Certainty, Interval, Obstacle, Plain};

use super::super::json::{limit_record, warnings};
use super::{exact_reason, reason};
use crate::args::QuestionName;
use crate::commands::Task;
use crate::commands::prob::{CONFIDENCE, Compared, Finding, Outcome};
use crate::exit::Status;
use crate::json::{
    ComparedRecord, EstimateRecord, IntervalRecord, LimitRecord, PlainRecord, ProbAnswer, ProbVerdict, VisitsRecord,
};
use crate::witness_file::step_records;

/// The answer.
pub(crate) fn answer(task: &Task<'_>, finding: &Finding<'_>) -> ProbAnswer {
    let (options, program) = (finding.options, finding.program);
    let verdict = match finding.outcome.status() {
        Status::Holds => ProbVerdict::Ok,
        Status::Violated => ProbVerdict::No,
        _ => ProbVerdict::Unknown,
    };
    let mut answer = ProbAnswer {
        head: task.head(verdict),
        question: options.question.name(),
        target: program.condition_text(finding.target),
        repeated: options.repeated,
        holds: None,
        lower: None,
        upper: None,
        exact: None,
        probability: None,
        visits: Vec::new(),
        epsilon: options.epsilon,
        estimate: None,
        steps: None,
        plain: Vec::new(),
        plain_count: None,
        compared: finding.compared.iter().map(compared).collect(),
        configurations: None,
        complete: None,
        reason: None,
        limit: None,
        warnings: warnings(program, finding.warnings, refusal(finding)),
    };
    fill(&mut answer, finding);
    if let Some(obstacle) = finding.outcome.obstacle() {
        let is_exact = matches!(finding.outcome, Outcome::Exact(_));
        let text = if is_exact { exact_reason } else { reason };
        answer.reason = Some(text(obstacle, &options.limits));
        answer.limit = if let Obstacle::Limit(limit) = obstacle { Some(limit_record(limit)) } else { None };
    }
    answer
}

fn refusal<'a>(finding: &'a Finding<'_>) -> Option<&'a weir_ir::Diagnostic> {
    if let Outcome::Refused(diagnostic) = &finding.outcome { Some(diagnostic) } else { None }
}

fn fill(answer: &mut ProbAnswer, finding: &Finding<'_>) {
    match &finding.outcome {
        Outcome::Refused(diagnostic) => {
            answer.reason = Some(diagnostic.message.clone());
            answer.limit = Some(LimitRecord::Refused);
        }
        Outcome::Almost(found) => {
            answer.configurations = Some(found.configurations as u64);
            match &found.certainty {
                Certainty::Holds { plain, shown } => {
                    answer.holds = Some(true);
                    answer.plain_count = Some(*plain as u64);
                    answer.plain = shown.iter().map(record).collect();
                }
                Certainty::Fails(run) => {
                    answer.holds = Some(false);
                    answer.steps = Some(step_records(finding.program, run));
                }
                Certainty::Unknown(_) => {}
            }
        }
        Outcome::Probability(found) => {
            enclose(answer, found.interval);
            answer.configurations = Some(found.configurations as u64);
            answer.complete = Some(found.is_complete);
        }
        Outcome::Exact(Ok(found)) => {
            let asked = if finding.options.question == QuestionName::Cost {
                found.cost.as_ref()
            } else {
                Some(&found.probability)
            };
            answer.exact = asked.map(ToString::to_string);
            answer.configurations = Some(found.configurations as u64);
        }
        Outcome::Exact(Err(_)) => {}
        Outcome::Cost(found) => {
            if let Some(cost) = found.cost {
                enclose(answer, cost);
            } else {
                answer.reason = Some("no run reaches the target".to_owned());
            }
            answer.probability = Some(interval(found.probability));
            let visits =
                |(label, visits): &(String, Interval)| VisitsRecord { label: label.clone(), visits: interval(*visits) };
            answer.visits = found.visits.iter().map(visits).collect();
            answer.configurations = Some(found.configurations as u64);
            answer.complete = Some(found.is_complete);
        }
        Outcome::Simulated(estimate, sample) => {
            enclose(answer, estimate.probability);
            answer.steps = Some(step_records(finding.program, sample));
            answer.estimate = Some(EstimateRecord {
                runs: estimate.runs,
                seed: finding.options.seed,
                hits: estimate.hits,
                undecided: estimate.undecided,
                steps: estimate.steps,
                confidence: CONFIDENCE,
                mean_cost: estimate.cost.map(|(mean, _)| mean),
                cost: estimate.cost.map(|(_, found)| interval(found)),
            });
        }
    }
}

fn enclose(answer: &mut ProbAnswer, found: Interval) {
    let IntervalRecord { lower, upper } = interval(found);
    answer.lower = Some(lower);
    answer.upper = upper;
}

fn interval(found: Interval) -> IntervalRecord {
    IntervalRecord { lower: found.lower, upper: found.upper.is_finite().then_some(found.upper) }
}

fn compared(found: &Compared) -> ComparedRecord {
    ComparedRecord {
        file: found.file.clone(),
        probability: interval(found.probability.interval),
        until: found.until.clone(),
        cost: found.cost.cost.map(interval),
    }
}

fn record(plain: &Plain) -> PlainRecord {
    PlainRecord { places: plain.places.iter().cloned().collect(), cells: plain.cells.iter().cloned().collect() }
}

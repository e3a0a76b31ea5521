//! The answer of `weir prob` in JSON.

use weir::prob::{Certainty, DrainedState, Interval, Obstacle};

use super::super::json::{limit_record, warnings};
use super::{exact_reason, reason};
use crate::args::QuestionName;
use crate::commands::Task;
use crate::commands::prob::{CONFIDENCE, Compared, Finding, Gap, Outcome};
use crate::exit::Status;
use crate::json::{
    ComparedRecord, DiagnosticRecord, EstimateRecord, IntervalRecord, LimitRecord, PlainRecord, ProbAnswer,
    ProbVerdict, VisitsRecord,
};
use crate::prob::around;
use crate::witness_file::step_records;

/// The answer.
pub(crate) fn answer(task: &Task<'_>, finding: &Finding<'_>) -> ProbAnswer {
    let (options, program) = (finding.options, finding.program);
    let verdict = match finding.status() {
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
        compared: finding.compared.iter().map(|found| compared(found, finding)).collect(),
        configurations: None,
        complete: None,
        reason: None,
        limit: None,
        warnings: warnings(program, finding.warnings, refusal(finding)),
    };
    fill(&mut answer, finding);
    if finding.is_never() {
        answer.reason = Some("no run reaches the target".to_owned());
    }
    if let Some(variant) = &finding.variant {
        let (source, file) = (&variant.program.source, program.source.name());
        answer.warnings.extend(DiagnosticRecord::all_in_answer(source, &variant.warnings, file));
    }
    if let Some(obstacle) = finding.outcome.obstacle() {
        let is_exact = matches!(finding.outcome, Outcome::Exact(_));
        let text = if is_exact { exact_reason } else { reason };
        answer.reason = Some(text(obstacle, &options.limits));
        answer.limit = limit(obstacle);
    } else if verdict == ProbVerdict::Unknown && answer.reason.is_none() {
        answer.reason = reasons(finding.gaps(), |gap| format!("{} in {}", gap.what, gap.file), finding);
        answer.limit = finding.gaps().find_map(|gap| limit(gap.obstacle));
    }
    answer
}

fn limit(obstacle: Obstacle) -> Option<LimitRecord> {
    if let Obstacle::Limit(limit) = obstacle { Some(limit_record(limit)) } else { None }
}

/// Why numbers are not known precisely; `None` if all are.
fn reasons<'g>(
    gaps: impl Iterator<Item = Gap<'g>>,
    name: impl Fn(&Gap<'g>) -> String,
    finding: &Finding<'_>,
) -> Option<String> {
    let one = |gap: Gap<'g>| format!("{}: {}", name(&gap), reason(gap.obstacle, &finding.options.limits));
    gaps.map(one).reduce(|all, next| format!("{all}; {next}"))
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
                Certainty::Holds { drained: plain, shown } => {
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
            if let Some(value) = asked {
                answer.exact = Some(value.to_string());
                enclose(answer, around(value));
            }
            answer.configurations = Some(found.configurations as u64);
        }
        Outcome::Exact(Err(_)) => {}
        Outcome::Cost(found) => {
            if let Some(cost) = found.cost {
                enclose(answer, cost);
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

/// Zero has no sign.
fn interval(found: Interval) -> IntervalRecord {
    IntervalRecord { lower: found.lower + 0.0, upper: found.upper.is_finite().then_some(found.upper) }
}

fn compared(found: &Compared, finding: &Finding<'_>) -> ComparedRecord {
    ComparedRecord {
        file: found.file.clone(),
        probability: interval(found.probability.interval),
        until: found.until.clone(),
        cost: found.cost.cost.map(interval),
        reason: reasons(found.gaps(), |gap| gap.what.clone(), finding),
    }
}

fn record(plain: &DrainedState) -> PlainRecord {
    let DrainedState { places, registers, cells } = plain.clone();
    PlainRecord {
        places: places.into_iter().collect(),
        registers: registers.into_iter().collect(),
        cells: cells.into_iter().collect(),
    }
}

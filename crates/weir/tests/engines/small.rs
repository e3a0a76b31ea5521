//! Small programs get answers: `check`, `robust` and `prob` are asked about random programs of up to three threads with
//! up to six instructions each, whose values are bounded or not.
//!
//! With `WEIR_SMALL_PROGRAMS=1000`, so many programs are asked about, and every question without an answer is listed.

use std::time::Duration;

use weir::check::{self, Judgement};
use weir::prob::{Alternative, Question, Settings, Target, probability};
use weir::reach::all_goals;
use weir::robust::{self, robust};
use weir::{Failure, Limits, Session, Verdict};
use weir_ir::{Body, Edge, Instruction, Program, Property, PropertyKind, Span, StateAtom};
use weir_testkit::dump;
use weir_testkit::random::{Config, program};

/// How long one question may take: a few milliseconds are usual, and CI machines are busy.
const TIME: Duration = Duration::from_secs(20);

/// The next programs of up to six instructions per thread, with a property each.
fn small_programs() -> impl Iterator<Item = (u64, Program)> {
    let is_small = |program: &Program| program.threads.iter().all(|thread| instructions(&thread.body) <= 6);
    let all = (0..).map(|seed| (seed, program(seed, &Config::small())));
    all.filter(move |(_, program)| is_small(program)).map(|(seed, mut program)| {
        if all_goals(&program).is_empty() {
            program.properties.push(Property { kind: PropertyKind::ForbidDeadlock, span: Span::default() });
        }
        (seed, program)
    })
}

/// Tests of `if` and `while` are part of these.
fn instructions(body: &Body) -> usize {
    let is_test = |edge: &&Edge| matches!(edge.instruction, Instruction::Assume(_));
    body.edges().iter().filter(|edge| !is_test(edge)).count()
}

fn session() -> Session {
    Session::new(Limits { time: Some(TIME), memory: Some(2 << 30), ..Limits::default() })
}

/// Why `check` cannot tell, if it cannot.
fn unknown_to_check(program: &Program) -> Option<String> {
    let report = check::check(program, &check::Options::default(), &session());
    let report = report.unwrap_or_else(|failure| panic!("{failure}\n{}", dump(program)));
    let open = report.properties.iter().filter_map(|one| match one.judgement {
        Judgement::Unknown(limit) => Some(format!("{:?}: {limit}", one.goal)),
        _ => None,
    });
    open.reduce(|all, next| format!("{all}; {next}")).map(|why| format!("{why}; growing: {:?}", report.growth))
}

fn unknown_to_robust(program: &Program) -> Option<String> {
    let report = robust(program, &robust::Options::default(), &session());
    let report = report.unwrap_or_else(|failure| panic!("{failure}\n{}", dump(program)));
    match report.verdict {
        Verdict::Unknown(limit) => Some(format!("{limit}; growing: {:?}", report.growth)),
        _ => None,
    }
}

/// The probability that anything happens that the properties rule out or ask for.
fn unknown_to_prob(program: &Program) -> Option<String> {
    let states = program.properties.iter().filter(|property| !property.kind.is_liveness());
    let wanted = states.map(|property| match property.kind.condition() {
        Some(condition) => Alternative::Condition(condition.clone()),
        None => Alternative::Deadlock,
    });
    let failed = |thread| Some(StateAtom::At { thread, locations: vec![program.body(thread).failed?] });
    let asserted = program.running_threads().filter_map(failed).map(weir_ir::Expr::Leaf).map(Alternative::Condition);
    let target = Target::any_of(wanted.chain(asserted));
    let question = Question { target, repeated: false, settings: Settings::default() };
    match probability(program, &question, 1e-6, &session()) {
        Ok(found) => found.obstacle.map(|obstacle| format!("{obstacle:?}, {:?}", found.interval)),
        Err(Failure::Refused(why) | Failure::TooLarge(why)) => Some(why.message.clone()),
        Err(failure) => panic!("{failure}\n{}", dump(program)),
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "which programs have no answer is what the command is for")]
fn small_programs_get_answers() {
    let count = std::env::var("WEIR_SMALL_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let mut open = Vec::new();
    for (seed, program) in small_programs().take(count) {
        type Ask = fn(&Program) -> Option<String>;
        let asked: [(&str, Ask); 3] =
            [("check", unknown_to_check), ("robust", unknown_to_robust), ("prob", unknown_to_prob)];
        for (command, ask) in asked {
            if let Some(why) = ask(&program) {
                println!("{command}, seed {seed}: unknown: {why}\n{}", dump(&program));
                open.push((command, seed));
            }
        }
    }
    println!("{} of {} questions have no answer: {open:?}", open.len(), 3 * count);
    assert!(open.len() * 1_000 < 3 * count.max(334), "{open:?}");
}

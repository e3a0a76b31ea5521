//! What every engine says about every goal, and the portfolio about all of them.

use std::num::NonZeroUsize;

use weir::check::{self, Judgement, check};
use weir::reach::{Coverage, Engine, Form, LazyOptions, Options, Search, all_goals, certify, certify_backward, reach};
use weir::{Limits, Session, Verdict};
use weir_ir::Program;
use weir_witness::{Checked, Goal, Model};

use crate::{digest, failure, steps, work};

fn session() -> Session {
    Session::new(Limits { states: Some(3_000), ..Limits::default() })
}

/// Engines and options, with names.
fn ways(goals: &[Goal]) -> Vec<(&'static str, Options)> {
    let plain = Options { goals: goals.to_vec(), ..Options::default() };
    let of = |engine, bound| Options { engine, bound, ..plain.clone() };
    let lazy = |form| Options { lazy: LazyOptions { form, rounds: 6 }, ..of(Engine::Lazy, None) };
    vec![
        ("sc", Options { model: Model::Sc, ..plain.clone() }),
        ("tso", plain.clone()),
        ("tso, two workers", Options { jobs: NonZeroUsize::MIN.saturating_add(1), ..plain.clone() }),
        ("depth first", Options { search: Search::DepthFirst, ..plain.clone() }),
        ("dead registers", Options { keep_dead_registers: true, ..plain.clone() }),
        ("lazy", lazy(Form::Keep)),
        ("first", lazy(Form::First)),
        ("dual", of(Engine::Dual, None)),
        ("set", of(Engine::Set, None)),
        ("multiset", of(Engine::Multiset, None)),
        ("multiset 1", of(Engine::Multiset, Some(1))),
        ("coherence 1", of(Engine::Coherence, Some(1))),
        ("coherence", of(Engine::Coherence, None)),
    ]
}

fn evidence(found: &Checked) -> String {
    format!("{:?} by {}", found.goal(), steps(found.run()))
}

fn coverage(seen: &Coverage) -> String {
    let edges = |edges: &[(weir_ir::ThreadId, weir_ir::EdgeId)]| {
        edges.iter().map(|(thread, edge)| format!("{}.{}", thread.0, edge.0)).collect::<Vec<_>>().join(",")
    };
    let immobile: Vec<u32> = seen.immobile.iter().map(|thread| thread.0).collect();
    format!("not {} {immobile:?} blocked {} {}", edges(&seen.unexecuted), edges(&seen.out_of_range), seen.approximate)
}

fn answer(program: &Program, options: &Options) -> String {
    let report = match reach(program, options, &session()) {
        Ok(report) => report,
        Err(what) => return failure(&what),
    };
    let verdict = match &report.verdict {
        Verdict::Holds => format!("holds, {}", coverage(&report.coverage)),
        Verdict::Violated(found) => evidence(found),
        Verdict::Unknown(limit) => format!("unknown: {limit:?} {:?}", report.alarm),
    };
    let rounds = if report.rounds.is_empty() { String::new() } else { format!(" rounds {}", digest(&report.rounds)) };
    let buffering = report.buffering.map_or(String::new(), |buffering| format!(" {buffering:?}"));
    // Two workers may see different numbers of states before the first of them finds a goal.
    let work = if options.jobs.get() > 1 && report.verdict != Verdict::Holds {
        String::new()
    } else {
        work(&report.statistics)
    };
    format!("{verdict}; {work}{rounds}{buffering}{}", certificate(program, options, &report))
}

fn certificate(program: &Program, options: &Options, report: &weir::reach::Report) -> String {
    if report.verdict != Verdict::Holds || !(options.engine.approximates() || options.engine == Engine::Dual) {
        return String::new();
    }
    if options.engine == Engine::Dual {
        let proof = certify_backward(program, options, &session()).expect("it was answered").expect("it holds");
        let (classes, count) = (proof.classes.iter().map(Vec::len).sum::<usize>(), proof.configurations.len());
        return format!(" proof of {classes} classes, {count} configurations {}", digest(&proof));
    }
    let Some(buffering) = report.buffering else { return String::new() };
    let states = certify(program, options, buffering, &session()).expect("it was answered");
    format!(" states {}", digest(&states))
}

fn portfolio(program: &Program, model: Model) -> Vec<String> {
    let options = check::Options { model, ..check::Options::default() };
    let report = match check(program, &options, &session()) {
        Ok(report) => report,
        Err(what) => return vec![format!("check: {}", failure(&what))],
    };
    let one = |one: &check::PropertyReport| {
        let judgement = match &one.judgement {
            Judgement::Violated(found) | Judgement::Met(found) => evidence(found),
            Judgement::Unknown(limit) => format!("{limit:?}"),
            Judgement::Holds | Judgement::NotMet => String::new(),
        };
        let name = one.judgement.name();
        format!(
            "check {model:?}: {:?} {name} {judgement}; {:?} {:?} {:?}",
            one.goal, one.member, one.buffering, one.vacuity
        )
    };
    let mut lines: Vec<String> = report.properties.iter().map(one).collect();
    let verdict = match &report.verdict {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Violated(violation) => format!("violated: {:?}", violation.goal()),
        Verdict::Unknown(limit) => format!("{limit:?}"),
    };
    // What a member did does not depend on the speed of the machine.
    let attempt = |one: &check::Attempt| {
        let end = if let check::End::Refused(why) = &one.end { why.code.to_owned() } else { format!("{:?}", one.end) };
        format!("{} {} {end} {}", one.round, one.member.name(), work(&one.statistics))
    };
    let attempts: Vec<String> = report.attempts.iter().map(attempt).collect();
    lines.push(format!("check {model:?}: {verdict} {:?}: {}", report.member(), attempts.join(", ")));
    lines
}

#[test]
fn of_every_engine() {
    crate::check("reaching.txt", 500, |program| {
        let goals = all_goals(program);
        let mut lines = Vec::new();
        for (number, goal) in goals.iter().enumerate() {
            for (name, options) in ways(&[*goal]) {
                lines.push(format!("{number} {name}: {}", answer(program, &options)));
            }
        }
        for (name, options) in ways(&[]) {
            lines.push(format!("all {name}: {}", answer(program, &options)));
        }
        lines.extend(portfolio(program, Model::Tso));
        lines.extend(portfolio(program, Model::Sc));
        lines
    });
}

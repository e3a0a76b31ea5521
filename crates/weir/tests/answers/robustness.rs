//! What every method says about robustness, and which fences are proposed.

use std::num::NonZeroUsize;

use weir::fences::{self, Aim, Fences, LoopCosts, Place, at_locations, fences, unit_cost};
use weir::outcomes::outcomes;
use weir::robust::{self, Method, robust, triangular_races};
use weir::{Limits, Session, Verdict};
use weir_ir::{Expr, Program, StateAtom, StateExpr};
use weir_witness::Model;

use crate::{digest, failure, steps, work};

fn session() -> Session {
    Session::new(Limits { states: Some(20_000), ..Limits::default() })
}

fn method(program: &Program, method: Method) -> String {
    let options = robust::Options { method, ..robust::Options::default() };
    match robust(program, &options, &session()) {
        Err(what) => failure(&what),
        Ok(report) => {
            let verdict = match &report.verdict {
                Verdict::Holds => "robust".to_owned(),
                Verdict::Violated(found) => steps(found.run()),
                Verdict::Unknown(limit) => format!("{limit:?}"),
            };
            let seen = report.coverage.as_ref().map_or(String::new(), |seen| format!(" {}", digest(seen)));
            format!("{verdict}; {} attacks {}{seen}", work(&report.statistics), digest(&report.attacks))
        }
    }
}

fn races(program: &Program) -> String {
    match triangular_races(program, NonZeroUsize::MIN, &session()) {
        Err(what) => failure(&what),
        Ok(report) => match &report.verdict {
            Verdict::Holds => format!("none; {}", work(&report.statistics)),
            Verdict::Violated(race) => {
                let ends = [race.store(), race.load(), race.write()];
                format!("{} {ends:?} {}; {}", steps(race.run()), race.address(), work(&report.statistics))
            }
            Verdict::Unknown(limit) => format!("{limit:?}"),
        },
    }
}

fn cheapest(program: &Program, aim: Aim, cost: impl Fn(&[robust::ThreadEdge]) -> u64) -> String {
    let places: Vec<Place> =
        at_locations(program).into_iter().map(|at| Place { cost: cost(&at.place.after), ..at.place }).collect();
    let options = fences::Options { aim, all: true, ..fences::Options::default() };
    match fences(program, &places, &options, &session()) {
        Err(what) => failure(&what),
        Ok(report) => {
            let found = match &report.fences {
                Fences::Cheapest(sets) => format!("{sets:?}"),
                Fences::NotByFences(goal) => format!("not by fences: {goal:?}"),
                other => format!("{other:?}"),
            };
            let feasible = digest(&report.seen_feasible);
            format!(
                "{found} at {}, {} searches, {feasible}; {}",
                report.cost,
                report.searches,
                work(&report.statistics)
            )
        }
    }
}

/// What all declared cells and all registers with names hold in the end.
fn ends(program: &Program, model: Model) -> String {
    let cells = program.shared.iter().map(|cell| Expr::Leaf(StateAtom::Cell(cell.address)));
    let registers = program.running_threads().flat_map(|thread| {
        let named = |register: &weir_ir::RegId| !program.body(thread).registers[register.index()].is_temporary;
        let all = (0..program.body(thread).registers.len()).map(weir_ir::RegId::new);
        all.filter(named).map(|register| Expr::Leaf(StateAtom::Register { thread, register })).collect::<Vec<_>>()
    });
    let observed: Vec<StateExpr> = cells.chain(registers).collect();
    match outcomes(program, &observed, model, &session()) {
        Err(what) => failure(&what),
        Ok(report) => format!("{:?} {:?} {}", report.end, report.outcomes, report.states),
    }
}

#[test]
fn of_every_method() {
    crate::check("robustness.txt", 250, |program| {
        let mut lines = Vec::new();
        for one in [Method::Attacks, Method::Instrumented, Method::Single] {
            lines.push(format!("{}: {}", one.name(), method(program, one)));
        }
        lines.push(format!("races: {}", races(program)));
        let loops = LoopCosts::new(program);
        for aim in [Aim::Robust, Aim::RaceFree, Aim::Safe] {
            lines.push(format!("fences, {}: {}", aim.name(), cheapest(program, aim, unit_cost)));
            lines.push(format!(
                "fences by loops, {}: {}",
                aim.name(),
                cheapest(program, aim, |after| loops.cost(after))
            ));
        }
        for model in [Model::Sc, Model::Tso] {
            lines.push(format!("ends {model:?}: {}", ends(program, model)));
        }
        lines
    });
}

//! Replay against the reference interpreter, state by state: the same steps, to the same states; every other step is
//! refused, for a reason that is true.

use std::collections::BTreeSet;

use weir_ir::{EdgeId, Value};
use weir_testkit::View;
use weir_testkit::random::{self, Config};

use super::*;
use crate::testing::family;
use crate::testing::walk::{Visit, walk};

/// Addresses that some test program uses, and two that none does.
fn addresses(program: &Program) -> Vec<weir_ir::Address> {
    program.shared.iter().flat_map(weir_ir::Shared::addresses).chain([0, 77]).collect()
}

/// Whether the replayed state is that of the reference interpreter, in all its parts.
fn assert_same(program: &Program, state: &State, view: &View, run: &Run) {
    for thread in program.thread_ids() {
        let own = state.thread(thread);
        assert_eq!(own.is_present, view.location(thread).is_some());
        if !own.is_present {
            continue;
        }
        assert_eq!(Some(own.location), view.location(thread), "{run:?}");
        assert_eq!(own.registers, view.registers(thread), "{run:?}");
        let waiting: Vec<_> = own.buffer.iter().map(|store| (store.address, store.value)).collect();
        assert_eq!(waiting, view.buffer(thread), "{run:?}");
        assert_eq!(state.is_done(program, thread), program.body(thread).is_done(own.location));
        for address in addresses(program) {
            let newest = own.buffer.iter().rev().find(|store| store.address == address);
            assert_eq!(own.newest_buffered(address), newest, "{run:?}");
        }
    }
    for address in addresses(program) {
        let held = view.memory().get(&address).copied().unwrap_or_else(|| program.initial_value(address));
        assert_eq!(state.cell(program, address), held, "{run:?}");
    }
    assert_eq!(state.lock_holder(), view.holder(), "{run:?}");
    assert_eq!(state.is_drained(), view.is_drained());
    assert_eq!(
        state.present_threads().map(|(thread, _)| thread).collect::<Vec<_>>(),
        view.threads().collect::<Vec<_>>()
    );
}

/// Every step that names a thread and an edge of the program, or that nearly does.
fn conceivable(program: &Program) -> Vec<Step> {
    let threads = (0..=program.threads.len()).map(ThreadId::new);
    let of_thread = |thread: ThreadId| {
        let edges = program.threads.get(thread.index()).map_or(0, |thread| thread.body.edges().len());
        let choices = |edge: usize| (-3..=2).map(move |choice| Action::Execute { edge: EdgeId::new(edge), choice });
        let actions = (0..=edges).flat_map(choices).chain([Action::Flush]);
        actions.map(|action| Step { thread, action }).collect::<Vec<_>>()
    };
    threads.flat_map(of_thread).collect()
}

/// Whether what the refusal says is so.
fn is_true(program: &Program, model: Model, view: &View, step: Step, refusal: &Refusal) -> bool {
    let Some(thread) = program.threads.get(step.thread.index()) else { return *refusal == Refusal::UnknownThread };
    let Some(here) = view.location(step.thread) else { return *refusal == Refusal::NotStarted };
    let waiting = view.buffer(step.thread).len();
    let is_elsewhere = view.holder().filter(|&holder| holder != step.thread);
    let Action::Execute { edge: id, choice } = step.action else {
        return match *refusal {
            Refusal::FlushUnderSc => model == Model::Sc,
            Refusal::NothingToFlush => model == Model::Tso && waiting == 0,
            Refusal::LockedBy(holder) => is_elsewhere == Some(holder),
            _ => false,
        };
    };
    let Some(edge) = thread.body.edges().get(id.index()) else { return *refusal == Refusal::UnknownEdge(id) };
    if edge.from != here {
        return *refusal == Refusal::Elsewhere(here);
    }
    let registers = view.registers(step.thread);
    let eval = |expr: &weir_ir::RegExpr| expr.eval(&mut |register| registers[register.index()]);
    let cell = |address| view.memory().get(&address).copied().unwrap_or_else(|| program.initial_value(address));
    let what = &edge.instruction;
    let is_rmw = matches!(what, Instruction::ReadModifyWrite { .. });
    let reads =
        matches!(what, Instruction::Load { .. } | Instruction::Snapshot(_) | Instruction::Await { .. }) || is_rmw;
    match *refusal {
        Refusal::StrayChoice(value) => value == choice && choice != 0 && !matches!(what, Instruction::Havoc { .. }),
        Refusal::ChoiceOutsideRange(value, range) => {
            value == choice
                && matches!(what, Instruction::Havoc { range: own, .. } if *own == range && !own.contains(value))
        }
        Refusal::BufferNotEmpty(count) => {
            let drains = is_rmw
                || matches!(
                    what,
                    Instruction::Fence | Instruction::Membarrier | Instruction::Lock | Instruction::Unlock
                );
            drains && count == waiting && count > 0
        }
        Refusal::OtherBufferNotEmpty(other, count) => {
            let others = view.buffer(other).len();
            matches!(what, Instruction::Membarrier) && other != step.thread && count == others && count > 0
        }
        Refusal::LockedBy(holder) => {
            let touches = reads || matches!(what, Instruction::Lock);
            let touches = touches || model == Model::Sc && matches!(what, Instruction::Store { .. });
            touches && is_elsewhere == Some(holder)
        }
        Refusal::LockedAlready => matches!(what, Instruction::Lock) && view.holder() == Some(step.thread),
        Refusal::NotLocked => matches!(what, Instruction::Unlock) && view.holder() != Some(step.thread),
        Refusal::AssumptionFails => match what {
            Instruction::Assume(condition) => eval(condition) == 0,
            Instruction::Await { loads, condition } => {
                let buffer = view.buffer(step.thread);
                let seen = |address| {
                    let own = buffer.iter().rev().find(|store| store.0 == address);
                    own.map_or_else(|| cell(address), |store| store.1)
                };
                let mut after = registers.to_vec();
                for (register, address) in loads {
                    after[register.index()] = seen(eval(address));
                }
                is_elsewhere.is_none() && condition.eval(&mut |register| after[register.index()]) == 0
            }
            _ => false,
        },
        Refusal::OutsideRange(address, value) => {
            !program.admits(address, value)
                && match what {
                    Instruction::Store { address: to, value: stored } => (eval(to), eval(stored)) == (address, value),
                    Instruction::ReadModifyWrite { address: to, operation, .. } => {
                        eval(to) == address && possible_writes(operation, cell(address), eval).contains(&value)
                    }
                    _ => false,
                }
        }
        _ => false,
    }
}

fn possible_writes(operation: &Rmw, held: Value, eval: impl Fn(&weir_ir::RegExpr) -> Value) -> Vec<Value> {
    match operation {
        Rmw::CompareAndSwap { expected, new } | Rmw::CompareExchange { expected, new } => {
            if eval(expected) == held {
                vec![eval(new)]
            } else {
                vec![]
            }
        }
        Rmw::Exchange(new) => vec![eval(new)],
        Rmw::Fetch(how, operand) => vec![how.operator().apply(held, eval(operand))],
    }
}

/// Whether the event says who did what, and where.
fn assert_tells(program: &Program, event: &Event, step: Step, events: &[Event]) {
    assert_eq!(event.thread, step.thread);
    match (step.action, &event.effect) {
        (Action::Flush, Effect::Flush { address, value, store }) => {
            let stored = &events[store.index()];
            assert_eq!((event.edge, event.from), (None, event.to));
            assert_eq!((stored.thread, stored.span), (event.thread, event.span));
            assert_eq!(stored.effect, Effect::Store { address: *address, value: *value, buffered: true });
            assert_eq!(event.label(program), None);
        }
        (Action::Execute { edge: id, .. }, effect) => {
            let body = program.body(step.thread);
            let edge = body.edge(id);
            let to = if *effect == (Effect::Assert { holds: false }) { body.failed } else { Some(edge.to) };
            assert_eq!((event.edge, event.from, Some(event.to)), (Some(id), edge.from, to));
            assert_eq!((event.span, event.line(program)), (edge.span, program.source.line(edge.span)));
            let labels = &body.locations[edge.from.index()].labels;
            assert_eq!(event.label(program), labels.first().map(String::as_str));
        }
        other => panic!("{other:?}"),
    }
}

/// Looks at one state: returns how many steps there were, and how many were refused.
fn compare(program: &Program, Visit { view, run, next }: &Visit) -> (usize, usize) {
    let Replay { last: state, events, .. } = replay(program, run).unwrap_or_else(|error| panic!("{error}\n{run:?}"));
    assert_same(program, &state, view, run);
    assert_eq!(events.len(), run.steps.len());
    for (event, step) in events.iter().zip(&run.steps) {
        assert_tells(program, event, *step, &events);
    }
    assert_eq!(enabled_steps(program, run.model, &state), Ok(one_per_edge(program, next)), "{run:?}");
    let possible: BTreeSet<Step> = next.iter().map(|(step, _)| *step).collect();
    let mut refused = 0;
    for step in conceivable(program) {
        match interpret(program, run.model, &state, step) {
            Ok(_) => assert!(possible.contains(&step), "{step:?} after {run:?}"),
            Err(refusal) => {
                assert!(!possible.contains(&step), "{step:?} after {run:?}: {refusal:?}");
                assert!(is_true(program, run.model, view, step, &refusal), "{step:?} after {run:?}: {refusal:?}");
                refused += 1;
            }
        }
    }
    (next.len(), refused)
}

/// The steps as they are listed: of `any` just the one with the lowest value.
fn one_per_edge(program: &Program, next: &[(Step, View)]) -> Vec<Step> {
    let mut steps: Vec<Step> = next.iter().map(|(step, _)| *step).collect();
    steps.dedup_by(|later, first| match (first.action, later.action) {
        (Action::Execute { edge: left, .. }, Action::Execute { edge: right, .. }) => {
            let is_any = matches!(program.body(first.thread).edge(left).instruction, Instruction::Havoc { .. });
            first.thread == later.thread && left == right && is_any
        }
        _ => false,
    });
    steps
}

fn compare_all(programs: impl IntoIterator<Item = Program>, limit: usize) -> (usize, usize) {
    let mut counts = (0, 0);
    for program in programs {
        for model in BOTH {
            walk(&program, model, limit, |visit| {
                let (taken, refused) = compare(&program, visit);
                counts = (counts.0 + taken, counts.1 + refused);
            });
        }
    }
    counts
}

#[test]
fn every_instruction_does_what_the_definition_says_in_every_situation() {
    let (taken, refused) = compare_all(family::programs(), 1_000);
    assert!(taken > 20_000 && refused > 100_000, "{taken} steps, {refused} refused");
}

#[test]
fn random_programs_are_replayed_as_the_definition_says() {
    let configs = [Config::acyclic(), Config::cyclic(), Config::locking(), Config::crowded(), Config::wild_data()];
    let programs = (0..100).map(|seed| random::program(seed, &configs[seed as usize % configs.len()]));
    let (taken, refused) = compare_all(programs, 60);
    assert!(taken > 5_000 && refused > 50_000, "{taken} steps, {refused} refused");
}

//! By definition: a fence stops a run if the run cannot be taken with the fence in it, and a bound holds if no set of
//! places beats it.

use weir_ir::EdgeId;
use weir_testkit::small::{Random, X, Y, load, program, random_program, sequence, store};

use super::*;
use crate::replay::{enabled_steps, replay};
use crate::run::{Action, Goal, Run, Step};
use crate::state::State;
use crate::testing::run;

/// A random run.
fn random_run(program: &Program, random: &mut Random, length: usize) -> Run {
    let mut steps: Vec<Step> = Vec::new();
    let mut state = State::initial(program);
    for number in 0..length {
        let Ok(mut enabled) = enabled_steps(program, Model::Tso, &state) else { break };
        // Stores should wait for a while.
        if random.below(3) > 0 && enabled.iter().any(|step| step.action != Action::Flush) {
            enabled.retain(|step| step.action != Action::Flush);
        }
        if enabled.is_empty() {
            break;
        }
        let step = enabled[random.below(enabled.len())];
        let event = crate::interpret::interpret(program, Model::Tso, &state, step).expect("enabled");
        state.apply(crate::event::StepId::new(number), &event);
        steps.push(step);
    }
    Run { model: Model::Tso, steps }
}

/// Whether the run can be taken with fences after these steps: each thread takes a fence right before its next step.
fn is_possible(fenced: &Program, original: &Program, run: &Run) -> bool {
    let count = |thread: ThreadId| original.body(thread).edges().len();
    let mut at: Vec<LocId> = fenced.thread_ids().map(|thread| fenced.body(thread).entry).collect();
    let mut steps = Vec::new();
    for step in &run.steps {
        if let Action::Execute { edge, .. } = step.action {
            let body = fenced.body(step.thread);
            let here = &mut at[step.thread.index()];
            if let Some((fence, taken)) = body.edges_from(*here).find(|(id, _)| id.index() >= count(step.thread)) {
                steps.push(Step { thread: step.thread, action: Action::Execute { edge: fence, choice: 0 } });
                *here = taken.to;
            }
            *here = body.edge(edge).to;
        }
        steps.push(*step);
    }
    replay(fenced, &Run { model: Model::Tso, steps }).is_ok()
}

/// A run as a demand; what it shows does not matter here.
fn demand(program: &mut Program, run: Run) -> Checked {
    let condition = weir_ir::StateExpr::Const(1);
    let (with, goal) = crate::testing::with_property(program.clone(), PropertyKind::Forbid(condition));
    *program = with;
    // Conditions are judged at drained states.
    let last = replay(program, &run).expect("possible").last().clone();
    let waiting = |thread: ThreadId| vec![Step { thread, action: Action::Flush }; last.thread(thread).buffer.len()];
    let flushes: Vec<Step> = program.thread_ids().flat_map(waiting).collect();
    let steps = run.steps.into_iter().chain(flushes).collect();
    Checked::new(program, Run { model: Model::Tso, steps }, goal).expect("a run to a drained state")
}

#[test]
fn a_fence_stops_a_run_that_cannot_be_taken_with_it() {
    let (mut stopped, mut possible) = (0, 0);
    for seed in 0..150 {
        let mut random = Random(seed);
        let mut program = random_program(&mut random);
        program.properties.clear();
        let run = random_run(&program, &mut random, 14);
        if replay(&program, &run).expect("possible").last().lock_holder().is_some() {
            continue;
        }
        let checked = demand(&mut program, run.clone());
        let stopping = stopping(&checked);
        for thread in program.thread_ids() {
            for edge in (0..program.body(thread).edges().len()).map(EdgeId::new) {
                let after = BTreeSet::from([(thread, edge)]);
                let fenced = with_fences(&program, &after);
                let can = is_possible(&fenced, &program, checked.run());
                assert_eq!(can, stopping.is_disjoint(&after), "seed {seed}: {after:?} {run:?}");
                *(if can { &mut possible } else { &mut stopped }) += 1;
            }
        }
        let rest: BTreeSet<ThreadEdge> = program
            .thread_ids()
            .flat_map(|thread| (0..program.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge))))
            .filter(|step| !stopping.contains(step))
            .collect();
        assert!(is_possible(&with_fences(&program, &rest), &program, checked.run()), "seed {seed}: all others");
    }
    assert!(stopped > 100 && possible > 500, "{stopped} {possible}");
}

/// What hitting all cores costs, by trying all sets.
fn cheapest(costs: &[u64], cores: &[BTreeSet<usize>]) -> Option<u64> {
    let hits = |bits: u32| cores.iter().all(|core| core.iter().any(|place| bits >> place & 1 == 1));
    let cost = |bits: u32| (0..costs.len()).filter(|place| bits >> place & 1 == 1).map(|place| costs[place]).sum();
    (0..1u32 << costs.len()).filter(|&bits| hits(bits)).map(cost).min()
}

fn some(random: &mut Random, bound: usize, most: usize) -> BTreeSet<usize> {
    (0..1 + random.below(most)).map(|_| random.below(bound)).collect()
}

#[test]
fn no_bound_beats_the_cheapest_set() {
    let (mut accepted, mut tight) = (0, 0);
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let places = 1 + random.below(4);
        let costs: Vec<u64> = (0..places).map(|_| 1 + random.below(3) as u64).collect();
        let cores: Vec<_> = (0..1 + random.below(3)).map(|_| some(&mut random, places, 3)).collect();
        let step = |random: &mut Random| match random.below(3) {
            0 => BoundStep::Cases(random.below(cores.len())),
            _ => {
                let amount = |random: &mut Random| (random.below(cores.len()), 1 + random.below(2) as u64);
                BoundStep::Amounts((0..random.below(3)).map(|_| amount(random)).collect())
            }
        };
        let steps = (0..1 + random.below(4)).map(|_| step(&mut random)).collect();
        let counted = some(&mut random, cores.len(), 3);
        let bound = CostBound { cores: counted.clone(), least: random.below(5) as u64, steps };
        if bound.check(&costs, &cores, &weir_ir::Uninterrupted).is_ok() {
            let cores: Vec<_> = counted.iter().map(|&core| cores[core].clone()).collect();
            let least = cheapest(&costs, &cores).expect("cores are not empty");
            assert!(bound.least <= least, "seed {seed}: {costs:?} {cores:?} {bound:?}");
            accepted += 1;
            tight += usize::from(bound.least == least && least > 1);
        }
    }
    assert!(accepted > 500 && tight > 20, "{accepted} {tight}");
}

/// Store buffering: each thread needs a fence.
fn store_buffering() -> CheapestFences {
    let mut program = program(vec![sequence(vec![store(X, 1), load(0, Y)]), sequence(vec![store(Y, 1), load(0, X)])]);
    program.properties.clear();
    let scripts = ["0 0 1 1f 1 0f", "1 1 0 0f 0 1f"];
    let demands = scripts.map(|script| Checked::new(&program, run(&program, Model::Tso, script), Goal::NotRobust));
    let demands = demands.map(|demand| demand.expect("not robust")).to_vec();
    let place = |thread: u32| FencePlace { after: vec![(ThreadId(thread), EdgeId(0))], cost: 2 };
    let amounts = BoundStep::Amounts(vec![(0, 2), (1, 2)]);
    let bounds = vec![CostBound { cores: BTreeSet::from([0, 1]), least: 4, steps: vec![amounts] }];
    CheapestFences { places: vec![place(0), place(1)], chosen: BTreeSet::from([0, 1]), demands, bounds }
}

#[test]
fn what_does_not_follow_is_refused() {
    let program = program(vec![sequence(vec![store(X, 1), load(0, Y)]), sequence(vec![store(Y, 1), load(0, X)])]);
    let proof = store_buffering();
    let check = |change: &dyn Fn(&mut CheapestFences)| {
        let mut changed = proof.clone();
        change(&mut changed);
        changed.check(&program, &weir_ir::Uninterrupted)
    };
    assert_eq!(check(&|_| {}), Ok(()));
    assert_eq!(check(&|proof| proof.places[0].cost = 3), Err(FencesFault::Cheaper));
    assert_eq!(check(&|proof| proof.places[0].cost = 1), Err(FencesFault::Bound(0)));
    assert_eq!(check(&|proof| proof.bounds[0].least = 5), Err(FencesFault::Bound(0)));
    assert_eq!(check(&|proof| proof.bounds[0].steps.clear()), Err(FencesFault::Bound(0)));
    assert_eq!(check(&|proof| proof.bounds.push(proof.bounds[0].clone())), Err(FencesFault::Shared(1)));
    assert_eq!(check(&|proof| proof.bounds.clear()), Err(FencesFault::Cheaper));
    assert_eq!(check(&|proof| proof.demands.truncate(1)), Err(FencesFault::Bound(0)));
    assert_eq!(check(&|proof| proof.chosen = BTreeSet::from([0, 2])), Err(FencesFault::NoPlace(2)));
    assert_eq!(check(&|proof| proof.places[1].after = vec![(ThreadId(0), EdgeId(9))]), Err(FencesFault::NoStep(1)));
    assert_eq!(check(&|proof| proof.places[1].after = vec![(ThreadId(7), EdgeId(0))]), Err(FencesFault::NoStep(1)));
    // A fence behind the load does not stop the run.
    assert_eq!(check(&|proof| proof.places[1].after = vec![(ThreadId(1), EdgeId(1))]), Ok(()));
    // Fewer are no proof of being enough; that is for the proof about the program with them to show.
    assert_eq!(check(&|proof| proof.chosen = BTreeSet::from([0])), Ok(()));
}

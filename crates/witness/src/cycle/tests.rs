use std::collections::BTreeSet;

use weir_ir::{Instruction, Program, ThreadId, Value};

use super::*;
use crate::event::Event;
use crate::interpret::interpret;
use crate::replay::{Replay, replay};
use crate::run::{Action, Model, Run, Step};
use crate::state::State;
use crate::testing::*;

/// A cycle in one line: `P0 store x → P0 load y → … → P0 store x`.
fn cycle_text(program: &Program, graph: &HappensBefore, cycle: &Cycle) -> String {
    let name = |id: NodeId| {
        let node = graph.node(id);
        let cell = node.address.map_or_else(String::new, |address| format!(" {}", program.cell_name(address)));
        format!("{} {}{cell}", program.thread(node.thread).name, node.kind.name())
    };
    let arrow = |relation| if relation == Relation::Section { " —in one step with→ " } else { " → " };
    let nodes = cycle.edges().map(|(from, relation, _)| name(from) + arrow(relation));
    nodes.collect::<String>() + &name(cycle.links()[0].0)
}

/// The cycle of a run in shorthand, in words.
fn cycle_of(program: &Program, model: Model, script: &str) -> Option<String> {
    let graph = HappensBefore::new(&accept(program, model, script));
    let cycle = graph.cycle();
    assert_eq!(graph.is_cyclic(), cycle.is_some());
    cycle.map(|cycle| cycle_text(program, &graph, &cycle))
}

fn store_buffering(between: Option<Instruction>) -> Program {
    let thread =
        |mine, other| sequence([store(mine, 1)].into_iter().chain(between.clone()).chain([load(0, other)]).collect());
    program(vec![thread(X, Y), thread(Y, X)])
}

#[test]
fn store_buffering_has_the_cycle_of_the_paper() {
    let program = store_buffering(None);
    let expected = "P0 store x → P0 load y → P1 store y → P1 load x → P0 store x";
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 1 1f 1 0f").as_deref(), Some(expected));
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 1 1").as_deref(), Some(expected), "drained or not");
    let expected = "P1 store y → P1 load x → P0 store x → P0 load y → P1 store y";
    assert_eq!(cycle_of(&program, Model::Tso, "1 1 0 0 0f 1f").as_deref(), Some(expected));
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 0f 1 1 1f"), None);
    assert_eq!(cycle_of(&program, Model::Sc, "0 1 0 1"), None);
}

#[test]
fn what_lies_between_on_a_thread_is_not_part_of_the_cycle() {
    let program = store_buffering(Some(load(1, Z)));
    let expected = "P0 store x → P0 load y → P1 store y → P1 load x → P0 store x";
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 0 1 1 1 0f 1f").as_deref(), Some(expected));
}

#[test]
fn an_early_look_at_the_own_buffer_can_make_a_cycle() {
    // P0 reads its own store early, then y; so its store was overtaken although it was read.
    let first = sequence(vec![store(X, 1), load(0, X), load(1, Y)]);
    let program = program(vec![first, sequence(vec![store(Y, 1), store(X, 2)])]);
    let expected = "P0 store x → P0 load y → P1 store y → P1 store x → P0 store x";
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 0 1 1 1f 1f 0f").as_deref(), Some(expected));
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 0 1 1 0f 1f 1f"), None);
}

#[test]
fn a_delayed_store_alone_is_no_cycle() {
    let program = program(vec![sequence(vec![store(X, 1), store(Y, 1)]), sequence(vec![load(0, Y), load(1, X)])]);
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 1 1 0f 0f"), None);
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 0f 1 1 0f"), None);
}

#[test]
fn a_read_modify_write_stands_for_its_store_and_its_load() {
    let second = sequence(vec![exchange(0, Y, 1), load(1, X)]);
    let program = program(vec![sequence(vec![store(X, 1), load(0, Y)]), second]);
    let expected = "P0 store x → P0 load y → P1 rmw y → P1 load x → P0 store x";
    assert_eq!(cycle_of(&program, Model::Tso, "0 0 1 1 0f").as_deref(), Some(expected));
}

#[test]
fn a_locked_section_may_be_left_before_it_was_entered() {
    // P0 reads z = 0 and then sets y, in one section; P1 sets z and yet reads y = 0. Under SC the section
    // comes before z = 1 or after it; so r = 0 in both threads is impossible, with no access repeated.
    let section = sequence(vec![Instruction::Lock, load(0, Z), store(Y, 1), Instruction::Unlock]);
    let locked = program(vec![section, sequence(vec![store(Z, 1), load(0, Y)])]);
    let expected = "P1 store z → P1 load y → P0 store y —in one step with→ P0 load z → P1 store z";
    assert_eq!(cycle_of(&locked, Model::Tso, "1 1 0 0 0 0f 0 1f").as_deref(), Some(expected));
    let unlocked = program(vec![sequence(vec![load(0, Z), store(Y, 1)]), sequence(vec![store(Z, 1), load(0, Y)])]);
    assert_eq!(cycle_of(&unlocked, Model::Tso, "1 1 0 0 0f 1f"), None, "without the lock SC can do the same");
}

#[test]
fn the_loads_of_a_snapshot_are_one_step() {
    // P0 sees y = 1 but not x = 1, P1 the other way round: under SC one store is first. Both see their own store early.
    let both = program(vec![sequence(vec![store(X, 1), snapshot(X, Y)]), sequence(vec![store(Y, 1), snapshot(Y, X)])]);
    let expected = "P0 store x → P0 load y → P1 store y → P1 load x → P0 store x";
    assert_eq!(cycle_of(&both, Model::Tso, "0 0 1 1 0f 1f").as_deref(), Some(expected));
    // The cycle names the cell by which it leaves the snapshot, and none if the store landed in time.
    let seen = program(vec![
        sequence(vec![store(Z, 1), snapshot(X, Y)]),
        sequence(vec![store(X, 1), Instruction::Fence, load(0, Z)]),
    ]);
    let expected = "P0 store z → P0 load x → P1 store x → P1 load z → P0 store z";
    assert_eq!(cycle_of(&seen, Model::Tso, "0 0 1 1f 1 1 0f").as_deref(), Some(expected));
    assert_eq!(cycle_of(&seen, Model::Tso, "0 0 0f 1 1f 1 1"), None);
}

#[test]
fn sections_are_not_ordered_by_the_lock_alone() {
    let lock = |instruction| sequence(vec![Instruction::Lock, instruction, Instruction::Unlock]);
    let delayer = sequence(vec![store(Z, 1), load(0, Y)]);
    let program = program(vec![lock(store(Y, 1)), lock(load(0, Z)), delayer]);
    // P0's section comes first, but SC could as well begin with P1's.
    assert_eq!(cycle_of(&program, Model::Tso, "2 2 0 0 0f 0 1 1 1 2f"), None);
}

#[test]
fn runs_under_sc_have_no_cycle() {
    let mut random = Random(7);
    for _ in 0..2_000 {
        let program = random_program(&mut random);
        let run = random_run(&program, Model::Sc, &mut random, 60);
        let graph = HappensBefore::new(&replay(&program, &run).unwrap());
        assert_eq!(graph.cycle(), None, "{run:?}");
        assert!(!graph.is_cyclic());
    }
}

/// Thread and position: no schedule changes them.
type NodeName = (ThreadId, usize);

/// What makes two runs have the same trace: the order of stores to each cell and the source of each load.
#[derive(PartialEq, Eq, Debug)]
struct Trace {
    stores: Vec<Vec<NodeName>>,
    sources: BTreeSet<(NodeName, Option<NodeName>)>,
}

fn trace(replay: &Replay) -> Trace {
    let graph = HappensBefore::new(replay);
    let name = |node: NodeId| (graph.node(node).thread, graph.thread_position(node));
    let stores = [X, Y, Z].map(|address| graph.stores(address).iter().map(|&store| name(store)).collect());
    let loads = (0..graph.nodes().len()).map(NodeId::new).filter(|&node| graph.node(node).read.is_some());
    let sources = loads.map(|load| (name(load), graph.source(load).map(name))).collect();
    Trace { stores: stores.to_vec(), sources }
}

/// What a thread does in a run: its steps, each with what it reads.
type Script = Vec<(Step, Vec<Value>)>;

/// Whether some SC run does the same, thread by thread, and has this trace: tries every schedule in which
/// each load reads what it should.
fn has_sc_run(program: &Program, scripts: &[Script], wanted: &Trace) -> bool {
    let mut open = vec![(State::initial(program), vec![0; scripts.len()], Vec::new())];
    while let Some((state, taken, steps)) = open.pop() {
        let scripts = scripts.iter().enumerate();
        let moves: Vec<_> = scripts.filter_map(|(thread, script)| Some((thread, script.get(taken[thread])?))).collect();
        if moves.is_empty() {
            let run = Run { model: Model::Sc, steps: steps.clone() };
            if trace(&replay(program, &run).unwrap()) == *wanted {
                return true;
            }
        }
        for (thread, (step, read)) in moves {
            let Ok(event) = interpret(program, Model::Sc, &state, *step) else { continue };
            if values_read(&event) == *read {
                let (mut state, mut taken, mut steps) = (state.clone(), taken.clone(), steps.clone());
                state.apply(crate::event::StepId::new(steps.len()), &event);
                taken[thread] += 1;
                steps.push(*step);
                open.push((state, taken, steps));
            }
        }
    }
    false
}

fn values_read(event: &Event) -> Vec<Value> {
    let of_loads = event.effect.loads().iter().map(|loaded| loaded.value);
    let of_others = event.effect.read().filter(|_| event.effect.loads().is_empty());
    of_loads.chain(of_others).collect()
}

/// A random drained run, and what each thread does in it.
fn drained_run(program: &Program, random: &mut Random) -> Option<(Replay, Vec<Script>)> {
    let mut run = random_run(program, Model::Tso, random, 10);
    for thread in program.thread_ids() {
        loop {
            run.steps.push(Step { thread, action: Action::Flush });
            if replay(program, &run).is_err() {
                run.steps.pop();
                break;
            }
        }
    }
    let replayed = replay(program, &run).unwrap();
    let reads = replayed.events().iter().map(values_read);
    let steps: Script = run.steps.iter().copied().zip(reads).filter(|(step, _)| step.action != Action::Flush).collect();
    let script = |thread| steps.iter().filter(|(step, _)| step.thread == thread).cloned().collect();
    let scripts = program.thread_ids().map(script).collect();
    replayed.last().is_drained().then_some((replayed, scripts))
}

#[test]
fn a_run_has_a_cycle_exactly_if_no_sc_run_has_its_trace() {
    let mut random = Random(3);
    let mut counts = [0; 2];
    for _ in 0..2_000 {
        let program = random_program(&mut random);
        let Some((replay, scripts)) = drained_run(&program, &mut random) else { continue };
        let is_cyclic = HappensBefore::new(&replay).is_cyclic();
        counts[usize::from(is_cyclic)] += 1;
        assert_eq!(has_sc_run(&program, &scripts, &trace(&replay)), !is_cyclic, "{:?}", replay.events());
    }
    assert!(counts[0] > 100 && counts[1] > 20, "both kinds are among the runs: {counts:?}");
}

/// The relations of the definition, written out in full, that lead from one block to another.
fn block_edges(graph: &HappensBefore, blocks: &Blocks) -> BTreeSet<(usize, usize)> {
    let ids = || (0..graph.nodes().len()).map(NodeId::new);
    let pairs = ids().flat_map(|from| ids().map(move |to| (from, to)));
    let related = pairs.filter(|&(from, to)| {
        graph.later_in_thread(from).contains(&to)
            || graph.later_stores(from).contains(&to)
            || graph.source(to) == Some(from)
            || graph.conflict(from) == Some(to)
    });
    related.map(|(from, to)| (blocks.of(from), blocks.of(to))).filter(|(from, to)| from != to).collect()
}

/// The number of blocks on a shortest cycle, by walking from each block in all ways at once.
fn shortest_length(edges: &BTreeSet<(usize, usize)>, blocks: usize) -> Option<usize> {
    let length_through = |start: usize| {
        let mut reached = BTreeSet::from([start]);
        (1..=blocks).find(|_| {
            reached = edges.iter().filter(|(from, _)| reached.contains(from)).map(|&(_, to)| to).collect();
            reached.contains(&start)
        })
    };
    (0..blocks).filter_map(length_through).min()
}

fn assert_is_cycle(graph: &HappensBefore, cycle: &Cycle) {
    for (from, relation, to) in cycle.edges() {
        let holds = match relation {
            Relation::ProgramOrder => graph.later_in_thread(from).contains(&to),
            Relation::StoreOrder => graph.later_stores(from).contains(&to),
            Relation::Source => graph.source(to) == Some(from),
            Relation::Conflict => graph.conflict(from) == Some(to),
            Relation::Section => {
                let section = graph.node(from).section;
                section.is_some() && section == graph.node(to).section
            }
            Relation::Start => graph.started(from) == Some(to),
        };
        assert!(holds, "{from:?} {relation:?} {to:?}");
    }
    let smallest = cycle.links().iter().map(|(node, _)| *node).min();
    assert_eq!(smallest, cycle.links().first().map(|(node, _)| *node), "starts with what is executed first");
}

#[test]
fn the_cycle_is_a_cycle_and_as_short_as_can_be() {
    let mut random = Random(11);
    let (mut cyclic, mut through_sections) = (0, 0);
    for _ in 0..1_500 {
        let program = random_program(&mut random);
        let length = 10 + random.below(30);
        let run = random_run(&program, Model::Tso, &mut random, length);
        let graph = HappensBefore::new(&replay(&program, &run).unwrap());
        let blocks = Blocks::new(&graph);
        let expected = shortest_length(&block_edges(&graph, &blocks), blocks.members.len());
        let cycle = graph.cycle();
        cyclic += usize::from(cycle.is_some());
        assert_eq!(graph.is_cyclic(), cycle.is_some());
        let between_blocks =
            |cycle: &Cycle| cycle.edges().filter(|edge| blocks.of(edge.0) != blocks.of(edge.2)).count();
        assert_eq!(cycle.as_ref().map(between_blocks), expected, "{run:?}");
        cycle.iter().for_each(|cycle| assert_is_cycle(&graph, cycle));
        let is_section = |cycle: &Cycle| cycle.links().iter().any(|(_, relation)| *relation == Relation::Section);
        through_sections += usize::from(cycle.as_ref().is_some_and(is_section));
    }
    assert!(cyclic > 100 && through_sections > 0, "{cyclic} {through_sections}");
}

#[test]
fn with_hardly_any_effort_it_is_still_a_cycle() {
    let program = store_buffering(Some(load(1, Z)));
    let graph = HappensBefore::new(&accept(&program, Model::Tso, "0 0 0 1 1 1 0f 1f"));
    assert_is_cycle(&graph, &graph.cycle_within(0).unwrap());
}

/// There is a cycle through a store and a later load exactly if some walk leads from the load's block back to the
/// store.
#[test]
fn the_cycle_through_a_pair_is_a_cycle_through_it() {
    let mut random = Random(5);
    let mut counts = [0; 2];
    for _ in 0..400 {
        let program = random_program(&mut random);
        let length = 10 + random.below(20);
        let run = random_run(&program, Model::Tso, &mut random, length);
        let graph = HappensBefore::new(&replay(&program, &run).unwrap());
        let blocks = Blocks::new(&graph);
        let edges = block_edges(&graph, &blocks);
        let is_store = |id: &NodeId| graph.node(*id).kind == NodeKind::Store && graph.node(*id).section.is_none();
        for store in (0..graph.nodes().len()).map(NodeId::new).filter(is_store) {
            for &load in graph.later_in_thread(store).iter().filter(|&&id| graph.node(id).kind == NodeKind::Load) {
                let mut reached = BTreeSet::from([blocks.of(load)]);
                for _ in 0..blocks.members.len() {
                    let next = edges.iter().filter(|(from, _)| reached.contains(from)).map(|&(_, to)| to);
                    reached.extend(next.collect::<Vec<_>>());
                }
                let cycle = graph.cycle_through(store, load);
                counts[usize::from(cycle.is_some())] += 1;
                assert_eq!(cycle.is_some(), reached.contains(&blocks.of(store)), "{run:?}");
                let Some(cycle) = cycle else { continue };
                assert_is_cycle(&graph, &cycle);
                let nodes: Vec<NodeId> = cycle.from_node(store).collect();
                assert_eq!((nodes[0], nodes.len()), (store, cycle.links().len()));
                assert_eq!(blocks.of(nodes[1]), blocks.of(load), "{run:?}");
            }
        }
    }
    assert!(counts[0] > 100 && counts[1] > 20, "{counts:?}");
}

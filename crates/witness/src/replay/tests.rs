use weir_ir::{BinaryRmw, EdgeId, Expr, Instruction, LocId, Multiplicity, ProcId, Range, RegId, Rmw, Value};

use super::*;
use crate::event::{Effect, Loaded, ReadFrom};
use crate::testing::*;

mod definition;

const BOTH: [Model; 2] = [Model::Sc, Model::Tso];

fn store_buffering() -> Program {
    program(vec![sequence(vec![store(X, 1), load(0, Y)]), sequence(vec![store(Y, 1), load(0, X)])])
}

/// What the registers `r` of all threads hold in the end.
fn results(replay: &Replay) -> Vec<weir_ir::Value> {
    replay.last().present_threads().map(|(_, own)| own.registers[0]).collect()
}

#[test]
fn under_sc_a_store_is_in_memory_at_once() {
    let program = store_buffering();
    let replay = accept(&program, Model::Sc, "0 0 1 1");
    assert_eq!(results(&replay), [0, 1]);
    assert_eq!(replay.events()[0].effect, Effect::Store { address: X, value: 1, buffered: false });
    assert!(replay.last().is_drained());
    assert_eq!(refuse(&program, Model::Sc, "0 0f"), "step 2: P0 cannot flush: there are no buffers under SC");
}

#[test]
fn under_tso_both_loads_of_store_buffering_may_read_0() {
    let program = store_buffering();
    let replay = accept(&program, Model::Tso, "0 0 1 1 0f 1f");
    assert_eq!(results(&replay), [0, 0]);
    assert_eq!(replay.events()[4].effect, Effect::Flush { address: X, value: 1, store: StepId(0) });
    assert_eq!(replay.events()[4].line(&program), 1, "a flush has the line of its store");
    assert_eq!((replay.last().cell(&program, X), replay.last().cell(&program, Y)), (1, 1));
}

#[test]
fn a_load_takes_the_newest_store_of_its_own_buffer() {
    let stores = [store(X, 1), store(Y, 5), store(X, 2)];
    let program = program(vec![sequence(stores.into_iter().chain([load(0, X), load(0, X), load(0, X)]).collect())]);
    let replay = accept(&program, Model::Tso, "0 0 0 0 0f 0 0f 0f 0");
    let loads = |from| Effect::Load(Loaded { register: RegId(0), address: X, value: 2, from });
    assert_eq!(replay.events()[3].effect, loads(ReadFrom::Buffer(StepId(2))));
    assert_eq!(replay.events()[5].effect, loads(ReadFrom::Buffer(StepId(2))), "with the older one flushed");
    assert_eq!(replay.events()[8].effect, loads(ReadFrom::Memory), "with both flushed");
}

#[test]
fn a_load_does_not_see_the_buffers_of_others() {
    let program = program(vec![sequence(vec![store(X, 1)]), sequence(vec![load(0, X), load(1, X)])]);
    let replay = accept(&program, Model::Tso, "0 1 0f 1");
    assert_eq!(replay.last().thread(ThreadId(1)).registers[..2], [0, 1]);
}

#[test]
fn buffers_are_first_in_first_out() {
    let program = program(vec![sequence(vec![store(X, 1), store(Y, 1)]), sequence(vec![load(0, Y), load(1, X)])]);
    let replay = accept(&program, Model::Tso, "0 0 0f 1 1");
    assert_eq!(replay.last().thread(ThreadId(1)).registers[..2], [0, 1]);
    assert_eq!(refuse(&program, Model::Tso, "0f"), "step 1: P0 cannot flush: its buffer is empty");
}

#[test]
fn what_orders_memory_needs_the_own_buffer_empty() {
    let last: [(Instruction, &str); 6] = [
        (Instruction::Fence, "fence"),
        (Instruction::Membarrier, "membarrier"),
        (Instruction::Lock, "lock"),
        (exchange(0, Y, 1), "r = xchg(y, 1)"),
        (compare_and_swap(0, Y, 7, 1), "r = cas(y, 7, 1)"),
        (rmw(0, Y, Rmw::Fetch(BinaryRmw::Add, number(1))), "r = fetch_add(y, 1)"),
    ];
    for (instruction, text) in last {
        let program = program(vec![sequence(vec![store(X, 1), store(X, 2), instruction])]);
        let message = format!("step 3: P0 cannot take `{text}` (line 3): its buffer holds 2 stores");
        assert_eq!(refuse(&program, Model::Tso, "0 0 0"), message);
        accept(&program, Model::Tso, "0 0 0f 0f 0");
        accept(&program, Model::Sc, "0 0 0");
    }
    let program = program(vec![sequence(vec![Instruction::Lock, store(X, 1), Instruction::Unlock])]);
    let message = "step 3: P0 cannot take `unlock` (line 3): its buffer holds 1 store";
    assert_eq!(refuse(&program, Model::Tso, "0 0 0"), message);
    accept(&program, Model::Tso, "0 0 0f 0");
}

#[test]
fn a_snapshot_takes_own_stores_from_the_buffer_and_flushes_nothing() {
    let program = program(vec![sequence(vec![store(X, 1), store(X, 2), snapshot(X, Y)]), sequence(vec![store(Y, 5)])]);
    let replay = accept(&program, Model::Tso, "0 0 1 1f 0");
    assert_eq!(replay.last().thread(ThreadId(0)).registers[..2], [2, 5]);
    assert_eq!(replay.last().thread(ThreadId(0)).buffer.len(), 2);
    let origins: Vec<_> = replay.events()[4].effect.loads().iter().map(|loaded| loaded.from).collect();
    assert_eq!(origins, [ReadFrom::Buffer(StepId(1)), ReadFrom::Memory]);
}

#[test]
fn the_addresses_of_a_snapshot_are_those_before_it() {
    let loads = vec![(RegId(0), number(X)), (RegId(1), reg(0))];
    let program = program(vec![sequence(vec![assign(0, number(Y)), Instruction::Snapshot(loads)])]);
    let replay = accept(&program, Model::Sc, "0 0");
    assert_eq!(replay.events()[1].effect.addresses().collect::<Vec<_>>(), [X, Y]);
}

#[test]
fn the_buffers_of_others_do_not_hinder_a_fence() {
    let program = program(vec![sequence(vec![store(X, 1)]), sequence(vec![Instruction::Fence, exchange(0, X, 2)])]);
    let replay = accept(&program, Model::Tso, "0 1 1 0f");
    assert_eq!(replay.last().cell(&program, X), 1);
}

#[test]
fn while_another_thread_holds_the_lock_memory_is_out_of_reach() {
    let others = [
        (load(0, X), "r = x"),
        (snapshot(X, Y), "r, s = x, y"),
        (exchange(0, X, 1), "r = xchg(x, 1)"),
        (compare_and_swap(0, X, 5, 1), "r = cas(x, 5, 1)"),
        (Instruction::Lock, "lock"),
    ];
    for (instruction, text) in others {
        let holder = sequence(vec![Instruction::Lock, Instruction::Unlock]);
        let program = program(vec![holder, sequence(vec![instruction])]);
        for model in BOTH {
            let message = format!("step 2: P1 cannot take `{text}` (line 3): P0 holds the lock");
            assert_eq!(refuse(&program, model, "0 1"), message);
            accept(&program, model, "0 0 1");
        }
    }
}

#[test]
fn under_the_lock_of_another_a_store_is_buffered_but_not_flushed_and_under_sc_waits() {
    let holder = sequence(vec![Instruction::Lock, Instruction::Unlock]);
    let program = program(vec![holder, sequence(vec![store(X, 1)])]);
    accept(&program, Model::Tso, "0 1 0 1f");
    assert_eq!(refuse(&program, Model::Tso, "0 1 1f"), "step 3: P1 cannot flush: P0 holds the lock");
    assert_eq!(refuse(&program, Model::Sc, "0 1"), "step 2: P1 cannot take `x = 1` (line 3): P0 holds the lock");
    accept(&program, Model::Sc, "0 0 1");
}

#[test]
fn under_the_lock_of_another_local_steps_and_fences_go_on() {
    let local = vec![
        Instruction::Skip,
        assign(0, number(3)),
        Instruction::Assume(number(1)),
        Instruction::Assert(number(1)),
        havoc(1, 0, 3),
        Instruction::Fence,
        Instruction::Terminate,
    ];
    let program = program(vec![sequence(vec![Instruction::Lock]), sequence(local)]);
    for model in BOTH {
        let replay = accept(&program, model, "0 1 1 1 1 1=3 1 1");
        assert_eq!(replay.last().thread(ThreadId(1)).registers[..2], [3, 3]);
        assert_eq!(replay.last().lock_holder(), Some(ThreadId(0)));
    }
}

#[test]
fn the_holder_of_the_lock_reads_writes_and_flushes() {
    let section = vec![Instruction::Lock, store(X, 1), load(0, X), exchange(1, X, 2), Instruction::Unlock];
    let program = program(vec![sequence(section)]);
    accept(&program, Model::Sc, "0 0 0 0 0");
    let replay = accept(&program, Model::Tso, "0 0 0 0f 0 0");
    assert_eq!(replay.last().thread(ThreadId(0)).registers[..2], [1, 1]);
    assert_eq!(replay.last().lock_holder(), None);
}

#[test]
fn the_lock_is_not_reentrant_and_only_its_holder_unlocks() {
    let again = program(vec![sequence(vec![Instruction::Lock, Instruction::Lock])]);
    let stolen = program(vec![sequence(vec![Instruction::Lock]), sequence(vec![Instruction::Unlock])]);
    for model in BOTH {
        let message = "step 2: P0 cannot take `lock` (line 2): it already holds the lock";
        assert_eq!(refuse(&again, model, "0 0"), message);
        let message = "step 2: P1 cannot take `unlock` (line 2): it does not hold the lock";
        assert_eq!(refuse(&stolen, model, "0 1"), message);
        let message = "step 1: P1 cannot take `unlock` (line 2): it does not hold the lock";
        assert_eq!(refuse(&stolen, model, "1"), message);
    }
}

#[test]
fn a_read_modify_write_reads_and_writes_in_one_step() {
    let swap = |expected, new| Rmw::CompareAndSwap { expected: number(expected), new: number(new) };
    let exchange = |expected, new| Rmw::CompareExchange { expected: number(expected), new: number(new) };
    let fetch = |how, value| Rmw::Fetch(how, number(value));
    let cases = [
        (swap(5, 8), 1, 8),
        (swap(4, 8), 0, 5),
        (exchange(5, 8), 5, 8),
        (exchange(4, 8), 5, 5),
        (Rmw::Exchange(number(8)), 5, 8),
        (fetch(BinaryRmw::Add, 2), 5, 7),
        (fetch(BinaryRmw::Subtract, 2), 5, 3),
        (fetch(BinaryRmw::And, 6), 5, 4),
        (fetch(BinaryRmw::Or, 2), 5, 7),
        (fetch(BinaryRmw::Xor, 6), 5, 3),
    ];
    for (operation, result, cell) in cases {
        let mut program = program(vec![sequence(vec![rmw(0, X, operation.clone())])]);
        program.shared[0].initial = vec![5];
        for model in BOTH {
            let replay = accept(&program, model, "0");
            assert_eq!(results(&replay), [result], "{operation:?}");
            assert_eq!(replay.last().cell(&program, X), cell, "{operation:?}");
            assert_eq!(replay.events()[0].effect.written(), (cell != 5).then_some(cell));
        }
    }
}

#[test]
fn a_value_outside_the_range_of_its_cell_is_not_stored() {
    let ranged = |instruction| {
        let mut program = program(vec![sequence(vec![instruction])]);
        program.shared[0].range = Some(Range { low: 0, high: 3 });
        program
    };
    for model in BOTH {
        let message = "step 1: P0 cannot take `x = 4` (line 1): 4 is outside the range of `x`";
        assert_eq!(refuse(&ranged(store(X, 4)), model, "0"), message);
        let message = "step 1: P0 cannot take `r = xchg(x, -1)` (line 1): -1 is outside the range of `x`";
        assert_eq!(refuse(&ranged(exchange(0, X, -1)), model, "0"), message);
        accept(&ranged(store(X, 3)), model, "0");
        accept(&ranged(store(Y, 4)), model, "0");
        accept(&ranged(compare_and_swap(0, X, 9, 4)), model, "0");
    }
}

#[test]
fn addresses_are_computed_from_registers_and_need_no_declaration() {
    let write = Instruction::Store { address: reg(0), value: reg(1) };
    let read = Instruction::Load { register: RegId(1), address: reg(0) };
    let program = program(vec![sequence(vec![assign(0, number(-7)), assign(1, number(9)), write, read])]);
    let replay = accept(&program, Model::Tso, "0 0 0 0f 0");
    assert_eq!(replay.last().cell(&program, -7), 9);
    assert_eq!(replay.events()[4].effect.address(), Some(-7));
}

#[test]
fn an_assumption_that_does_not_hold_stops_the_thread() {
    let edges = vec![(0, 1, Instruction::Assume(equal(reg(0), number(1)))), (0, 2, Instruction::Skip)];
    let program = program(vec![edges]);
    let message = "step 1: P0 cannot take `assume r == 1` (line 1): the condition does not hold";
    assert_eq!(refuse(&program, Model::Tso, "0"), message);
    accept(&program, Model::Tso, "0.1");
}

#[test]
fn an_assertion_that_does_not_hold_leads_to_the_failed_location() {
    let program = program(vec![sequence(vec![Instruction::Assert(reg(0)), Instruction::Skip])]);
    let replay = accept(&program, Model::Tso, "0");
    assert_eq!(replay.events()[0].effect, Effect::Assert { holds: false });
    assert_eq!(Some(replay.last().thread(ThreadId(0)).location), program.body(ThreadId(0)).failed);
    assert_eq!(enabled_steps(&program, Model::Tso, replay.last()), Ok(vec![]));
}

#[test]
fn any_takes_what_the_run_says_within_its_range() {
    let program = program(vec![sequence(vec![havoc(0, -1, 2), Instruction::Skip])]);
    assert_eq!(results(&accept(&program, Model::Sc, "0=-1")), [-1]);
    let message = "step 1: P0 cannot take `r = any -1..2` (line 1): 3 is not in -1..2";
    assert_eq!(refuse(&program, Model::Sc, "0=3"), message);
    let message = "step 2: P0 cannot take `skip` (line 2): only `any` takes a value, but 3 was given";
    assert_eq!(refuse(&program, Model::Sc, "0=2 0=3"), message);
}

#[test]
fn a_run_that_names_what_is_not_there_is_refused_politely() {
    let program = store_buffering();
    let step =
        |thread, edge| Step { thread: ThreadId(thread), action: Action::Execute { edge: EdgeId(edge), choice: 0 } };
    let refused = |step| replay(&program, &Run { model: Model::Tso, steps: vec![step] }).unwrap_err().to_string();
    assert_eq!(refused(step(7, 0)), "step 1: thread number 7 cannot take a step: the program has 2 threads");
    assert_eq!(refused(step(0, 9)), "step 1: P0 cannot take edge number 9: it has 2 edges, numbered from 0");
    assert_eq!(refused(step(0, 1)), "step 1: P0 cannot take `r = y` (line 2): it is at line 1");
    let flush = Step { thread: ThreadId(u32::MAX), action: Action::Flush };
    assert_eq!(refused(flush), "step 1: thread number 4294967295 cannot take a step: the program has 2 threads");
}

#[test]
fn the_error_names_the_step_and_the_place_in_the_source() {
    let program = program(vec![sequence(vec![store(X, 1), Instruction::Fence])]);
    let error = replay(&program, &run(&program, Model::Tso, "0 0")).unwrap_err();
    assert_eq!(error.step, Some(StepId(1)));
    assert_eq!(error.refusal, Refusal::BufferNotEmpty(1));
    assert_eq!(error.span, Some(program.body(ThreadId(0)).edge(EdgeId(1)).span));
}

#[test]
fn a_thread_that_only_spawn_starts_does_not_run() {
    let mut program = store_buffering();
    program.threads[1].multiplicity = Multiplicity::Spawned;
    let replay = accept(&program, Model::Tso, "0 0 0f");
    assert_eq!(enabled_steps(&program, Model::Tso, replay.last()), Ok(vec![]));
    assert_eq!(
        refuse(&program, Model::Tso, "1"),
        "step 1: P1 cannot take `y = 1` (line 3): only `spawn` starts it, and none has"
    );
}

/// A procedure that counts down: each frame has its own register, and the caller gets what is returned.
#[test]
fn calls_have_frames_of_their_own_and_return_in_order() {
    let recursive = |depth: Value| Instruction::Call {
        procedure: ProcId(0),
        arguments: vec![Expr::binary(weir_ir::BinaryOp::Add, reg(0), number(depth))],
        register: Some(RegId(1)),
    };
    let names = ["n", "r"].map(|name| weir_ir::Register {
        name: name.into(),
        is_temporary: false,
        is_thread_local: false,
        span: Span::default(),
    });
    let edge = |from: u32, to: u32, instruction| weir_ir::Edge {
        from: weir_ir::LocId(from),
        to: weir_ir::LocId(to),
        instruction,
        span: Span::default(),
    };
    // 0 -call-> 1 -return r + n-> 2, or 0 -return n-> 2
    let sum = Expr::binary(weir_ir::BinaryOp::Add, reg(1), reg(0));
    let edges =
        vec![edge(0, 1, recursive(10)), edge(0, 2, Instruction::Return(reg(0))), edge(1, 2, Instruction::Return(sum))];
    let body = weir_ir::Body::new(names.to_vec(), vec![Default::default(); 3], weir_ir::LocId(0), None, edges);
    let procedure = weir_ir::Procedure { name: "f".into(), parameters: vec![RegId(0)], body, span: Span::default() };
    let first = Instruction::Call { procedure: ProcId(0), arguments: vec![number(1)], register: Some(RegId(0)) };
    let mut program = program(vec![sequence(vec![first])]);
    program.procedures = vec![procedure];
    let linked = program.linked(1);
    let step = |edge: u32| Step { thread: ThreadId(0), action: Action::Execute { edge: EdgeId(edge), choice: 0 } };
    // Two calls inside the first: 1, 11, 21; then 21, 21 + 11, 32 + 1.
    let run = |edges: &[u32]| Run { model: Model::Sc, steps: edges.iter().map(|&edge| step(edge)).collect() };
    let replayed = replay(&linked, &run(&[0, 1, 1, 2, 3, 3])).unwrap();
    let own = replayed.last().thread(ThreadId(0));
    assert_eq!((own.registers[0], own.callers.len()), (33, 0));
    assert!(linked.body(ThreadId(0)).is_done(own.location));
    let inside = replay(&linked, &run(&[0, 1, 1, 2])).unwrap();
    let own = inside.last().thread(ThreadId(0));
    let frame = linked.body(ThreadId(0)).frames[0].as_ref().expect("linked");
    let values: Vec<Value> = frame.registers.iter().map(|register| own.registers[register.index()]).collect();
    assert_eq!((values, own.callers.len()), (vec![11, 21], 2));
    assert!(replay(&linked, &run(&[0, 1, 3])).is_err(), "the call has not returned");
    assert!(replay(&program, &run(&[0])).is_err(), "without the procedure there is nothing to call");
}

#[test]
fn spawn_starts_the_next_instance_and_leaves_buffers_alone() {
    let mut program = program(vec![
        sequence(vec![store(X, 1), Instruction::Spawn(ThreadId(1)), Instruction::Spawn(ThreadId(1))]),
        sequence(vec![load(0, X)]),
    ]);
    program.threads[1].multiplicity = Multiplicity::Spawned;
    let linked = program.linked(2);
    assert_eq!(linked.threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(), ["P0", "P1", "P1[1]"]);
    let replayed = accept(&linked, Model::Tso, "0 0 1 0 0f 2");
    let loaded = |thread: u32| replayed.last().thread(ThreadId(thread)).registers[0];
    assert_eq!((loaded(1), loaded(2)), (0, 1));
    assert!(refuse(&linked, Model::Tso, "0 0 2").contains("only `spawn` starts it"));
    assert!(refuse(&program, Model::Tso, "0 0 0").contains("instances"));
}

#[test]
fn what_is_not_handled_is_refused_by_name() {
    let call = Instruction::Call { procedure: ProcId(0), arguments: vec![], register: None };
    let cases = [
        (call, "calls of recursive procedures"),
        (Instruction::Return(number(0)), "returns from recursive procedures"),
        (Instruction::Spawn(ThreadId(0)), "more `spawn`s of a thread than there are instances of it"),
    ];
    for (instruction, text) in cases {
        let program = program(vec![sequence(vec![Instruction::Skip, instruction])]);
        accept(&program, Model::Tso, "0");
        let message = refuse(&program, Model::Tso, "0 0");
        assert!(message.starts_with("step 2: P0 cannot take `"), "{message}");
        assert!(message.ends_with(&format!("(line 2): {text} cannot be replayed")), "{message}");
        let state = accept(&program, Model::Tso, "0");
        assert!(enabled_steps(&program, Model::Tso, state.last()).is_err());
    }
    let mut program = store_buffering();
    // The first of several is named.
    program.threads[1].span = weir_ir::Span { start: 5, end: 6 };
    program.threads.iter_mut().for_each(|thread| thread.multiplicity = Multiplicity::Arbitrary);
    let error = replay(&program, &Run { model: Model::Tso, steps: vec![] }).unwrap_err();
    assert_eq!(error.to_string(), "arbitrarily many threads (`[*]`) cannot be replayed (line 1)");
    assert_eq!((error.step, error.span), (None, Some(program.threads[0].span)));
}

#[test]
fn the_enabled_steps_are_exactly_those_that_replay() {
    let mut random = Random(1);
    for _ in 0..200 {
        let program = random_program(&mut random);
        let model = BOTH[random.below(2)];
        let run = random_run(&program, model, &mut random, 20);
        let enabled = enabled_steps(&program, model, replay(&program, &run).unwrap().last()).unwrap();
        for thread in program.thread_ids() {
            let edges = (0..program.body(thread).edges().len()).map(EdgeId::new);
            let actions = edges.map(|edge| Action::Execute { edge, choice: 0 }).chain([Action::Flush]);
            for step in actions.map(|action| Step { thread, action }) {
                let mut longer = run.clone();
                longer.steps.push(step);
                assert_eq!(replay(&program, &longer).is_ok(), enabled.contains(&step), "{step:?}");
            }
        }
    }
}

#[test]
fn the_states_shown_are_those_of_the_replay() {
    let program = store_buffering();
    let whole = run(&program, Model::Tso, "0 1 0 1f 1 0f");
    let replayed = replay(&program, &whole).unwrap();
    let mut count = 0;
    replayed.for_each_state(&program, |step, event, state| {
        let steps = whole.steps[..step.number()].to_vec();
        let prefix = replay(&program, &Run { model: Model::Tso, steps }).unwrap();
        assert_eq!((prefix.events().last(), prefix.last()), (Some(event), state));
        count += 1;
    });
    assert_eq!(count, 6);
}

#[test]
fn an_event_knows_the_label_it_left() {
    let program = store_buffering();
    let replay = accept(&program, Model::Tso, "0 0 0f");
    let labels: Vec<_> = replay.events().iter().map(|event| event.label(&program)).collect();
    assert_eq!(labels, [None, Some("one"), None]);
    assert_eq!((replay.events()[1].from, replay.events()[1].to), (LocId(1), LocId(2)));
}

#[test]
fn of_several_labels_the_first_is_named() {
    let mut program = store_buffering();
    program.threads[0].body.locations[1].labels.push("later".to_owned());
    let replay = accept(&program, Model::Tso, "0 0");
    assert_eq!(replay.events()[1].label(&program), Some("one"));
}

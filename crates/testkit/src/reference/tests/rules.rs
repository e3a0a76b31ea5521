//! The rules of the semantics, one by one.

use weir_ir::{
    BinaryRmw, Expr, Instruction, LocId, Multiplicity, ProcId, PropertyKind, Range, RegId, Rmw, Shared, ThreadId,
};

use super::*;
use crate::sketch::{all_of, at, cell_value, equal, exchange, load, register, register_of, rmw, store};

/// Whether a state without steps in which not all threads are done can be reached.
fn deadlocks<const N: usize>(bodies: [Vec<Instruction>; N], model: Model) -> bool {
    first_goal(&with_properties(bodies, vec![PropertyKind::ForbidDeadlock]), model).is_some()
}

fn assign(target: u32, value: Value) -> Instruction {
    Instruction::Assign { register: RegId(target), value: Expr::Const(value) }
}

/// Whether a thread can be kept from executing `instruction` forever by one that takes the lock and keeps it.
fn is_blocked_by_the_lock(instruction: Instruction, model: Model) -> bool {
    deadlocks([vec![Instruction::Lock], vec![instruction]], model)
}

#[test]
fn the_lock_blocks_memory_and_nothing_else() {
    let compare = Rmw::CompareAndSwap { expected: Expr::Const(5), new: Expr::Const(1) };
    let touch_memory = [load(0, X), exchange(0, X, 1), rmw(0, X, compare), Instruction::Lock];
    let havoc = Instruction::Havoc { register: RegId(0), range: Range { low: 0, high: 1 } };
    let are_local = [
        Instruction::Skip,
        Instruction::Fence,
        Instruction::Terminate,
        Instruction::Assume(Expr::Const(1)),
        Instruction::Assert(Expr::Const(1)),
        assign(0, 1),
        havoc,
    ];
    for model in Model::ALL {
        for instruction in &touch_memory {
            assert!(is_blocked_by_the_lock(instruction.clone(), model), "{instruction:?} under {model:?}");
        }
        for instruction in &are_local {
            assert!(!is_blocked_by_the_lock(instruction.clone(), model), "{instruction:?} under {model:?}");
        }
    }
}

#[test]
fn the_lock_lets_stores_into_buffers_but_not_into_memory() {
    assert!(is_blocked_by_the_lock(store(X, 1), Model::Sc));
    assert!(!is_blocked_by_the_lock(store(X, 1), Model::Tso));
    // The store is buffered, and cannot be flushed: a fence after it waits forever.
    assert!(deadlocks([vec![Instruction::Lock], vec![store(X, 1), Instruction::Fence]], Model::Tso));
    // Nor can the thread read its own buffer.
    assert!(deadlocks([vec![Instruction::Lock], vec![store(X, 1), load(0, X)]], Model::Tso));
}

#[test]
fn all_done_is_no_deadlock_even_if_a_store_can_never_be_flushed() {
    let program = with_properties([vec![Instruction::Lock], vec![store(X, 1)]], vec![PropertyKind::ForbidDeadlock]);
    assert_eq!(first_goal(&program, Model::Tso), None);
    // All final states are drained, so in all of them the store was flushed before the lock was taken.
    assert_eq!(memories(&program, Model::Tso, [X]), BTreeSet::from([[1]]));
}

#[test]
fn the_holder_may_do_everything_but_lock_again() {
    let inside = vec![Instruction::Lock, store(X, 1), load(0, X), exchange(1, X, 2), Instruction::Unlock];
    for model in Model::ALL {
        assert!(!deadlocks([inside.clone()], model));
        assert!(deadlocks([vec![Instruction::Lock, Instruction::Lock]], model));
    }
}

#[test]
fn only_the_holder_unlocks() {
    for model in Model::ALL {
        assert!(deadlocks([vec![Instruction::Unlock]], model));
        assert!(deadlocks([vec![Instruction::Lock], vec![Instruction::Unlock]], model));
    }
}

#[test]
fn fences_locks_unlocks_and_read_modify_writes_wait_for_the_own_buffer() {
    // One thread, so its states are a line: under TSO the flush is one more, at the only place it can be.
    for waiting in [Instruction::Fence, Instruction::Lock, exchange(0, Y, 1)] {
        let program = threads([vec![store(X, 1), waiting]]);
        assert_eq!(run(&program, Model::Sc).states, 3);
        assert_eq!(run(&program, Model::Tso).states, 4);
    }
    let program = threads([vec![Instruction::Lock, store(X, 1), Instruction::Unlock]]);
    assert_eq!(run(&program, Model::Sc).states, 4);
    assert_eq!(run(&program, Model::Tso).states, 5);
    // A load does not wait: it comes before or after the flush.
    assert_eq!(run(&threads([vec![store(X, 1), load(0, Y)]]), Model::Tso).states, 5);
}

#[test]
fn a_fence_does_not_wait_for_other_buffers() {
    let program = with_properties(
        [vec![store(X, 1)], vec![Instruction::Fence, load(0, X)]],
        vec![PropertyKind::Exists(equal(register_of(1, 0), 0))],
    );
    // Also with the store executed first: store, fence, load, flush.
    assert_eq!(first_goal(&program, Model::Tso), Some(4));
}

#[test]
fn a_membarrier_waits_for_all_buffers() {
    let program = with_properties(
        [vec![store(X, 1)], vec![Instruction::Membarrier, load(0, X)]],
        vec![PropertyKind::Exists(equal(register_of(1, 0), 0))],
    );
    // Only before the store: membarrier, store, load, flush.
    assert_eq!(first_goal(&program, Model::Tso), Some(4));
    let program = with_properties(
        [vec![store(X, 1), load(0, Y)], vec![store(Y, 1), Instruction::Membarrier, load(0, X)]],
        vec![PropertyKind::Exists(all_of([equal(register_of(0, 0), 0), equal(register_of(1, 0), 0)]))],
    );
    for model in Model::ALL {
        assert_eq!(first_goal(&program, model), None, "{model:?}");
    }
    // The holder of the lock waits forever if another thread has a store waiting; without one it goes on.
    let holder = || vec![Instruction::Lock, Instruction::Membarrier, Instruction::Unlock];
    assert!(deadlocks([holder(), vec![store(X, 1)]], Model::Tso));
    assert!(!deadlocks([holder(), vec![store(X, 1)]], Model::Sc));
    assert!(!deadlocks([holder(), vec![load(0, X)]], Model::Tso));
}

#[test]
fn read_modify_writes_return_and_write_what_they_should() {
    let constant = Expr::Const;
    let fetch = |combine, operand| Rmw::Fetch(combine, constant(operand));
    let swap = |expected, new| Rmw::CompareAndSwap { expected: constant(expected), new: constant(new) };
    let compare = |expected, new| Rmw::CompareExchange { expected: constant(expected), new: constant(new) };
    // The cell holds 6; each case: the operation, its result, what the cell holds then.
    let cases = [
        (Rmw::Exchange(constant(3)), 6, 3),
        (swap(6, 4), 1, 4),
        (swap(5, 4), 0, 6),
        (compare(6, 4), 6, 4),
        (compare(5, 4), 6, 6),
        (fetch(BinaryRmw::Add, 3), 6, 9),
        (fetch(BinaryRmw::Subtract, 8), 6, -2),
        (fetch(BinaryRmw::And, 3), 6, 2),
        (fetch(BinaryRmw::Or, 3), 6, 7),
        (fetch(BinaryRmw::Xor, 3), 6, 5),
    ];
    for model in Model::ALL {
        for (operation, result, held) in &cases {
            let program = threads([vec![exchange(0, X, 6), rmw(1, X, operation.clone())]]);
            assert_eq!(reads(&program, model), BTreeSet::from([vec![0, *result]]), "{operation:?}");
            assert_eq!(memories(&program, model, [X]), BTreeSet::from([[*held]]), "{operation:?}");
        }
    }
}

#[test]
fn operands_are_evaluated_before_the_result_arrives() {
    // r0 = xchg(x, r0) with r0 == 7, x == 0.
    let swap = Instruction::ReadModifyWrite {
        register: Some(RegId(0)),
        address: Expr::Const(X),
        operation: Rmw::Exchange(register(0)),
    };
    let program = threads([vec![assign(0, 7), swap]]);
    for model in Model::ALL {
        assert_eq!(memories(&program, model, [X]), BTreeSet::from([[7]]));
        assert_eq!(reads(&program, model), BTreeSet::from([vec![0]]));
    }
}

fn ranged(body: Vec<Instruction>) -> Program {
    let small = Shared { range: Some(Range { low: 0, high: 3 }), ..crate::sketch::cell("small", 9) };
    let thread = crate::sketch::straight("P0", body);
    crate::sketch::program(vec![small], vec![thread], vec![PropertyKind::ForbidDeadlock])
}

#[test]
fn a_store_outside_the_range_is_blocked_before_it_is_buffered() {
    for model in Model::ALL {
        let program = ranged(vec![store(9, 4)]);
        assert_eq!(first_goal(&program, model), Some(0));
        assert_eq!(run(&program, model).states, 1);
        assert_eq!(first_goal(&ranged(vec![store(9, 3)]), model), None);
        assert_eq!(first_goal(&ranged(vec![store(9, -1)]), model), Some(0));
    }
}

#[test]
fn a_read_modify_write_is_blocked_only_if_it_would_write_outside_the_range() {
    let swap = |expected| Rmw::CompareAndSwap { expected: Expr::Const(expected), new: Expr::Const(4) };
    for model in Model::ALL {
        assert_eq!(first_goal(&ranged(vec![exchange(0, 9, 4)]), model), Some(0));
        assert_eq!(first_goal(&ranged(vec![rmw(0, 9, swap(0))]), model), Some(0));
        assert_eq!(first_goal(&ranged(vec![rmw(0, 9, swap(1))]), model), None);
        let minus_one = Rmw::Fetch(BinaryRmw::Subtract, Expr::Const(1));
        assert_eq!(first_goal(&ranged(vec![rmw(0, 9, minus_one)]), model), Some(0));
    }
}

#[test]
fn a_failed_assertion_is_seen_at_once_and_is_not_the_end_of_the_thread() {
    let body = vec![store(X, 1), Instruction::Assert(Expr::Const(0)), store(Y, 1)];
    let outcome = run(&with_properties([body], vec![PropertyKind::ForbidDeadlock]), Model::Tso);
    // Store, assert; the store is still buffered. Then the flush, and nothing is possible any more.
    assert_eq!(outcome.goals.get(&Goal::Assertion(ThreadId(0))), Some(&2));
    assert_eq!(outcome.goals.get(&Goal::Property(PropertyId(0))), Some(&3));
    assert!(outcome.final_states.is_empty());
    let holds = run(&threads([vec![Instruction::Assert(Expr::Const(2))]]), Model::Tso);
    assert!(holds.goals.is_empty() && holds.final_states.len() == 1);
}

#[test]
fn forbid_is_judged_when_all_stores_have_landed() {
    let done_but_zero = crate::sketch::all_of([at(0, LocId(1)), equal(cell_value(X), 0)]);
    let program = with_properties([vec![store(X, 1)]], vec![PropertyKind::Forbid(done_but_zero)]);
    for model in Model::ALL {
        assert_eq!(first_goal(&program, model), None);
    }
    let between =
        with_properties([vec![store(X, 1), store(X, 2)]], vec![PropertyKind::Forbid(equal(cell_value(X), 1))]);
    assert_eq!(first_goal(&between, Model::Sc), Some(1));
    assert_eq!(first_goal(&between, Model::Tso), Some(2));
}

#[test]
fn exists_and_always_speak_of_final_states_only() {
    let is_one = || equal(cell_value(X), 1);
    let body = || vec![store(X, 1), Instruction::Fence, store(X, 2)];
    let exists = with_properties([body()], vec![PropertyKind::Exists(is_one())]);
    let always = with_properties([body()], vec![PropertyKind::Always(equal(cell_value(X), 2))]);
    let wrong = with_properties([body()], vec![PropertyKind::Always(is_one())]);
    for (model, steps) in [(Model::Sc, 3), (Model::Tso, 5)] {
        assert_eq!(first_goal(&exists, model), None);
        assert_eq!(first_goal(&always, model), None);
        assert_eq!(first_goal(&wrong, model), Some(steps));
    }
}

#[test]
fn havoc_takes_each_value_of_its_range() {
    let havoc = |low, high| vec![Instruction::Havoc { register: RegId(0), range: Range { low, high } }];
    let program = threads([havoc(-1, 1)]);
    assert_eq!(reads(&program, Model::Tso), BTreeSet::from([vec![-1], vec![0], vec![1]]));
    assert_eq!(run(&threads([havoc(Value::MAX, Value::MAX)]), Model::Sc).states, 2);
    let endless = explore(&threads([havoc(Value::MIN, Value::MAX)]), Model::Sc, 50).unwrap();
    assert_eq!((endless.complete, endless.states), (false, 50));
}

#[test]
fn any_value_is_an_address() {
    for address in [0, -1, 77, Address::MIN, Address::MAX] {
        let through = Instruction::Store { address: register(0), value: Expr::Const(5) };
        let program = threads([vec![assign(0, address), through, load(1, address)]]);
        for model in Model::ALL {
            assert_eq!(memories(&program, model, [address]), BTreeSet::from([[5]]));
            assert_eq!(reads(&program, model), BTreeSet::from([vec![address, 5]]));
        }
    }
}

#[test]
fn executed_edges_are_those_that_some_run_follows() {
    let body = vec![load(0, X), Instruction::Assume(register(0)), store(Y, 1)];
    let blocked = run(&threads([body.clone()]), Model::Tso);
    let edges =
        |outcome: &Outcome| outcome.executed.iter().map(|&(thread, edge)| (thread.0, edge.0)).collect::<Vec<_>>();
    assert_eq!(edges(&blocked), [(0, 0)]);
    let helped = run(&threads([body, vec![store(X, 1)]]), Model::Tso);
    assert_eq!(edges(&helped), [(0, 0), (0, 1), (0, 2), (1, 0)]);
}

#[test]
fn a_thread_that_nothing_starts_does_not_exist() {
    let mut program = with_properties(
        [vec![store(X, 1)], vec![store(X, 2)]],
        vec![PropertyKind::Forbid(at(0, LocId(0))), PropertyKind::ForbidDeadlock],
    );
    program.threads[0].multiplicity = Multiplicity::Spawned;
    let outcome = run(&program, Model::Tso);
    assert!(outcome.goals.is_empty());
    assert_eq!(outcome.states, 3);
    assert_eq!(outcome.final_states.len(), 1);
}

#[test]
fn what_is_not_interpreted_is_refused() {
    let call = Instruction::Call { procedure: ProcId(0), arguments: vec![], register: None };
    let refused = [call, Instruction::Return(Expr::Const(0)), Instruction::Spawn(ThreadId(0))];
    for (instruction, what) in refused.into_iter().zip(["call", "return", "spawn"]) {
        let mut program = threads([vec![], vec![Instruction::Skip, instruction]]);
        let error = explore(&program, Model::Tso, 10).unwrap_err();
        assert_eq!((error.what, error.span), (what, program.threads[1].body.edges()[1].span));
        // What does not exist is not refused.
        program.threads[1].multiplicity = Multiplicity::Spawned;
        assert!(explore(&program, Model::Tso, 10).is_ok());
    }
    let mut program = threads([vec![]]);
    program.threads[0].multiplicity = Multiplicity::Arbitrary;
    assert_eq!(explore(&program, Model::Sc, 10).unwrap_err().what, "arbitrarily many threads");
}

//! Proofs for every number of copies, against the definition: in the hands of a forger, who adds whatever the checker
//! misses, nothing that some instance does gets a proof.

use weir_ir::{Address, Instruction, Multiplicity, Program, PropertyId, ThreadId, Uninterrupted};
use weir_testkit::traces::{Bounds, is_robust};
use weir_testkit::{drained_states, dump, explore};

use super::*;
use crate::certificate::{AbstractState, AbstractThread, Fault};
use crate::testing::templates::{instance, template, template_of};
use crate::testing::*;

const PROPERTY: Goal = Goal::Property(PropertyId(0));

/// All registers, everywhere.
fn everything(program: &Program) -> ListedRegisters {
    let all = |thread: ThreadId| {
        let body = program.body(thread);
        let registers: Vec<RegId> = (0..body.registers.len()).map(RegId::new).collect();
        body.location_ids().map(|_| registers.clone()).collect()
    };
    super::rules::places(program).0.into_iter().map(all).collect()
}

fn closure(program: &Program, model: Model) -> Option<CopiesSystem> {
    copies_closure(program, model, &everything(program), 3_000, &Uninterrupted).expect("supported")
}

fn fault(program: &Program, proof: &CopiesProof) -> Option<Fault> {
    check_copies_proof(program, proof, &Uninterrupted).err().map(|error| error.fault)
}

/// Adds minimal states until the checker is content, or refuses for a reason that more of them cannot mend.
fn forged(program: &Program, model: Model, goals: &[Goal]) -> Option<Result<CopiesProof, Fault>> {
    let (system, listed) = (closure(program, model)?, everything(program));
    let targets = system.targets(program, (model, goals), &listed).expect("supported");
    let is_start = |one: &Minimal| one.shared == system.start && one.copies.is_empty();
    let is_above = |small: &Minimal, large: &Minimal| {
        let mut rest = large.copies.iter();
        small.shared == large.shared && small.copies.iter().all(|copy| rest.any(|other| other == copy))
    };
    let mut minimal: Vec<Minimal> = Vec::new();
    loop {
        let proof = system.proof(model, goals, &listed, &minimal);
        let fault = match fault(program, &proof) {
            None => return Some(Ok(proof)),
            Some(fault) if minimal.len() > 300 => return (fault != Fault::Enters).then_some(Err(fault)),
            Some(fault) => fault,
        };
        let wanted: Vec<Minimal> = match fault {
            Fault::Misses(_) => targets.iter().cloned().collect(),
            Fault::Enters => minimal.iter().flat_map(|one| before(&system, one)).collect(),
            fault => return Some(Err(fault)),
        };
        let count = minimal.len();
        for one in wanted.into_iter().filter(|one| !is_start(one)) {
            if !minimal.iter().any(|known| is_above(known, &one)) {
                minimal.push(one);
            }
        }
        if minimal.len() == count {
            return Some(Err(fault));
        }
    }
}

/// Everything from which a move leads above a minimal state, whether it can occur or not.
fn before(system: &CopiesSystem, after: &Minimal) -> Vec<Minimal> {
    let one = |step: &Move| {
        let mut copies = after.copies.clone();
        if let Some(at) = step.after.and_then(|moved| copies.iter().position(|&copy| copy == moved)) {
            copies.remove(at);
        }
        copies.extend(step.before.filter(|copy| !system.fresh.contains(copy)));
        copies.sort_unstable();
        Minimal { shared: step.from, copies }
    };
    system.moves_into[after.shared].iter().map(one).collect()
}

fn seeds(default: u64) -> u64 {
    std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Whether an instance with at most three copies of each thread violates the property; none if that is not known.
fn is_violated(program: &Program, model: weir_testkit::Model) -> Option<bool> {
    let goal = weir_testkit::Goal::Property(PropertyId::new(0));
    let outcomes = (0..=3).map(|copies| explore(&instance(program, copies), model, 4_000).expect("supported"));
    let outcomes: Vec<_> = outcomes.collect();
    let is_violated = outcomes.iter().any(|outcome| outcome.goals.contains_key(&goal));
    (is_violated || outcomes.iter().all(|outcome| outcome.complete)).then_some(is_violated)
}

#[test]
fn what_some_number_of_copies_does_under_sc_has_no_proof() {
    let (mut accepted, mut refused, mut beyond) = (0, 0, 0);
    for seed in 0..seeds(200) {
        let program = template(seed);
        let Some(forged) = forged(&program, Model::Sc, &[PROPERTY]) else { continue };
        match (forged, is_violated(&program, weir_testkit::Model::Sc)) {
            (Ok(_), Some(true)) => panic!("seed {seed} has a proof\n{}", dump(&program)),
            (Ok(_), _) => accepted += 1,
            (Err(_), Some(true)) => refused += 1,
            // More than three copies may be needed.
            (Err(_), _) => beyond += 1,
        }
    }
    let enough = |found: u64| found * 10 >= seeds(200);
    assert!(enough(accepted) && enough(refused) && beyond * 20 < seeds(200), "{accepted} {refused} {beyond}");
}

/// A proof about TSO is one of robustness as well, and of what the property says.
#[test]
fn what_some_number_of_copies_does_under_tso_has_no_proof() {
    let (mut accepted, mut refused, mut beyond) = (0, 0, 0);
    let bounds = Bounds { instructions: 8, ways: 20_000 };
    for seed in 0..seeds(100) {
        let program = template_of(if seed % 3 == 0 { seed } else { 4 * seed }, (3, 4));
        let is_not_robust = || (0..=2).any(|copies| is_robust(&instance(&program, copies), bounds) == Some(false));
        match forged(&program, Model::Tso, &[Goal::NotRobust]) {
            None => continue,
            Some(Ok(_)) => {
                assert!(!is_not_robust(), "seed {seed} has a proof of robustness\n{}", dump(&program));
                accepted += 1;
            }
            Some(Err(_)) if is_not_robust() => refused += 1,
            Some(Err(_)) => beyond += 1,
        }
        if let Some(Ok(_)) = forged(&program, Model::Tso, &[PROPERTY]) {
            let violated = is_violated(&program, weir_testkit::Model::Tso);
            assert_ne!(violated, Some(true), "seed {seed} has a proof of safety\n{}", dump(&program));
        }
    }
    // Few random programs of this size are not robust.
    let enough = |found: u64| found * 50 >= seeds(100);
    assert!(enough(accepted) && enough(refused) && beyond * 10 < seeds(100), "{accepted} {refused} {beyond}");
}

/// What can occur is at least what instances reach.
#[test]
fn what_instances_reach_can_occur() {
    let mut compared = 0;
    for seed in 0..seeds(60) {
        let program = template(seed);
        let Some(system) = closure(&program, Model::Sc) else { continue };
        let made = instance(&program, 2);
        let Some(states) = drained_states(&made, weir_testkit::Model::Sc, 2_000).expect("supported") else { continue };
        for state in states {
            let (shared, copies) = apart(&program, &state);
            let number = system.shared.iter().position(|known| *known == shared);
            let number = number.unwrap_or_else(|| panic!("seed {seed} lacks {shared:?}\n{}", dump(&program)));
            for copy in copies {
                let is_there = system.beside[number].iter().any(|&known| system.copies[known] == copy);
                assert!(is_there, "seed {seed} lacks {copy:?}\n{}", dump(&program));
            }
            compared += 1;
        }
    }
    assert!(compared as u64 > 5 * seeds(60), "{compared}");
}

/// A state of an instance with two copies: what all threads share, and the copies.
fn apart(program: &Program, state: &weir_testkit::Drained) -> (AbstractState, Vec<CopyState>) {
    let (mut threads, mut copies, mut holder, mut next) = (Vec::new(), Vec::new(), None, 0);
    for (of, thread) in super::rules::places(program).0.into_iter().enumerate() {
        let is_template = program.thread(thread).multiplicity == Multiplicity::Arbitrary;
        let body = program.body(thread);
        let zeros = (0..body.registers.len()).map(|register| (RegId::new(register), 0)).collect();
        let mut own = AbstractThread { location: body.entry, registers: zeros, buffer: Default::default() };
        for _ in 0..if is_template { 2 } else { 1 } {
            let id = ThreadId(next);
            let (location, registers) = (state.locations[&id], state.values.registers[&id].clone());
            let holds_lock = state.holder == Some(id);
            holder = holder.or(holds_lock.then_some(thread));
            next += 1;
            if is_template {
                copies.push(CopyState { of, location, registers, holds_lock, is_on_path: false });
            } else {
                own = AbstractThread { location, registers, buffer: Default::default() };
            }
        }
        threads.push(own);
    }
    let differs = |(address, value): &(&Address, &Value)| **value != program.initial_value(**address);
    let memory = state.values.memory.iter().filter(differs).map(|(&address, &value)| (address, value)).collect();
    (AbstractState { threads, memory, lock_holder: holder }, copies)
}

/// `x = 1; between; r = y;` beside the same with `x` and `y` exchanged, with any number of copies of both.
fn store_buffering(between: &Instruction) -> Program {
    let side = |own, other| sequence(vec![store(own, 1), between.clone(), load(0, other)]);
    let mut both = program(vec![side(X, Y), side(Y, X)]);
    both.threads.iter_mut().for_each(|thread| thread.multiplicity = Multiplicity::Arbitrary);
    both
}

/// Two copies are in a section that `xchg` guards.
fn mutual_exclusion(give_back: Instruction) -> Program {
    guarded(Instruction::Assume(equal(reg(0), number(0))), give_back)
}

fn guarded(taken: Instruction, give_back: Instruction) -> Program {
    let mut program = program(vec![sequence(vec![exchange(0, X, 1), taken, store(Y, 1), give_back])]);
    program.threads[0].multiplicity = Multiplicity::Arbitrary;
    let at = weir_ir::StateAtom::At { thread: ThreadId(0), locations: vec![LocId::new(2), LocId::new(3)] };
    let two = weir_ir::Expr::binary(weir_ir::BinaryOp::GreaterEqual, weir_ir::Expr::Leaf(at), weir_ir::Expr::Const(2));
    with_property(program, weir_ir::PropertyKind::Forbid(two)).0
}

fn accepted(program: &Program, model: Model, goal: Goal) -> CopiesProof {
    forged(program, model, &[goal]).expect("few states").expect("a proof")
}

#[test]
fn every_part_of_a_proof_is_needed() {
    let lock = mutual_exclusion(store(X, 0));
    let fenced = store_buffering(&Instruction::Fence);
    for (program, model, goal) in [(lock, Model::Sc, PROPERTY), (fenced, Model::Tso, Goal::NotRobust)] {
        let proof = accepted(&program, model, goal);
        // What can occur must be listed.
        for (shared, beside) in proof.beside.iter().enumerate() {
            for at in 0..beside.len() {
                let mut less = proof.clone();
                less.beside[shared].remove(at);
                let left = fault(&program, &less);
                assert!(matches!(left, Some(Fault::NoStart | Fault::Leaves(..))), "{left:?}");
            }
        }
        let mut fewer = proof.clone();
        fewer.copies.pop();
        assert_eq!(fault(&program, &fewer), Some(Fault::Malformed));
        // What cannot happen must be, too, but for minimal states that others stand for.
        let needed = (0..proof.minimal.len()).filter(|&at| {
            let mut less = proof.clone();
            less.minimal.remove(at);
            matches!(fault(&program, &less), Some(Fault::Misses(_) | Fault::Enters))
        });
        assert!(needed.count() * 2 >= proof.minimal.len());
        let change = |change: &dyn Fn(&mut CopiesProof)| {
            let mut forged = proof.clone();
            change(&mut forged);
            fault(&program, &forged)
        };
        assert_eq!(change(&|proof| proof.goals.clear()), Some(Fault::UnknownGoal));
        assert_eq!(change(&|proof| proof.goals[0] = Goal::Property(PropertyId(9))), Some(Fault::UnknownGoal));
        assert_eq!(change(&|proof| proof.beside[0].insert(0, 99)), Some(Fault::Malformed));
        assert_eq!(change(&|proof| drop(proof.beside.pop())), Some(Fault::Malformed));
        assert_eq!(change(&|proof| proof.copies[0].of = 9), Some(Fault::NoStart));
        let outside = Minimal { shared: 9_999, copies: Vec::new() };
        assert_eq!(change(&|proof| proof.minimal.push(outside.clone())), Some(Fault::Malformed));
        let unknown = Minimal { shared: 0, copies: vec![9_999] };
        assert_eq!(change(&|proof| proof.minimal.push(unknown.clone())), Some(Fault::Malformed));
        // Copies that have not moved are not counted, and a state without any copy is above nothing but itself.
        let fresh = closure(&program, model).expect("few states").fresh[0];
        let counted = Minimal { shared: 0, copies: vec![fresh] };
        assert_eq!(change(&|proof| proof.minimal.push(counted.clone())), Some(Fault::Malformed));
        let everything = |proof: &mut CopiesProof| {
            proof.minimal = (0..proof.beside.len()).map(|shared| Minimal { shared, copies: Vec::new() }).collect();
        };
        assert_eq!(change(&everything), Some(Fault::HoldsTheStart));
    }
}

/// A proof is about its program, its model and its goals, and no others.
#[test]
fn a_proof_is_no_proof_of_anything_else() {
    let lock = mutual_exclusion(store(X, 0));
    let proof = accepted(&lock, Model::Sc, PROPERTY);
    // Giving the lock back too early, or to nobody, changes what can occur.
    for other in [store(X, 2), store(Y, 0), exchange(0, X, 0)] {
        assert!(fault(&mutual_exclusion(other.clone()), &proof).is_some(), "{other:?}");
    }
    let robust = CopiesProof { goals: vec![Goal::NotRobust], ..proof.clone() };
    assert_eq!(fault(&lock, &robust), Some(Fault::UnknownGoal));
    // What holds under SC may not hold under TSO, and the proof does not say that it does.
    let (buffering, goal) =
        with_property(store_buffering(&Instruction::Skip), weir_ir::PropertyKind::Forbid(cell_is(X, 2)));
    let under_sc = accepted(&buffering, Model::Sc, goal);
    assert!(matches!(fault(&buffering, &CopiesProof { model: Model::Tso, ..under_sc }), Some(Fault::Leaves(..))));
    // Two numbers are one too many.
    let unguarded = mutual_exclusion(Instruction::Skip);
    let proof = accepted(&unguarded, Model::Sc, PROPERTY);
    let broken = guarded(Instruction::Skip, Instruction::Skip);
    assert!(fault(&broken, &proof).is_some());
    assert!(forged(&broken, Model::Sc, &[PROPERTY]).expect("few states").is_err());
    // The fences are what makes it robust.
    let proof = accepted(&store_buffering(&Instruction::Fence), Model::Tso, Goal::NotRobust);
    let unfenced = store_buffering(&Instruction::Skip);
    assert!(fault(&unfenced, &proof).is_some());
    assert!(forged(&unfenced, Model::Tso, &[Goal::NotRobust]).expect("few states").is_err());
}

#[test]
fn an_interrupted_check_says_so() {
    let program = store_buffering(&Instruction::Fence);
    let proof = accepted(&program, Model::Tso, Goal::NotRobust);
    let check = |asked: &Asked| check_copies_proof(&program, &proof, asked).map_err(|error| error.fault);
    assert!(refused_at_each_question(check, &Fault::Interrupted) > 1);
}

/// Nothing of the kind is proved by sets of this sort: a property that is no such goal is refused by name.
#[test]
fn other_properties_are_refused() {
    use weir_ir::PropertyKind;
    for kind in [PropertyKind::ForbidDeadlock, PropertyKind::ForbidStuck, PropertyKind::Exists(cell_is(X, 1))] {
        let (program, goal) = with_property(store_buffering(&Instruction::Fence), kind);
        let system = closure(&program, Model::Sc).expect("few states");
        let refused = system.targets(&program, (Model::Sc, &[goal]), &everything(&program));
        assert_eq!(refused.map_err(|error| error.fault), Err(Fault::Unsuitable(goal)));
    }
}

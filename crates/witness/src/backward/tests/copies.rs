//! Arbitrarily many copies of threads, against the definition: what some instance can reach has no proof, however it is
//! repaired; what has a proof no instance reaches.

use weir_ir::Multiplicity;
use weir_testkit::{dump, explore};

use super::exact::LARGEST;
use super::forger::{Forger, Outcome};
use super::*;
use crate::testing::templates::{instance, template};

/// Whether an instance with at most three copies of each thread violates the property; none if that is not known.
fn is_violated(program: &Program) -> Option<bool> {
    let goal = weir_testkit::Goal::Property(PropertyId::new(0));
    let mut is_complete = true;
    for copies in 0..=3 {
        let outcome = explore(&instance(program, copies), weir_testkit::Model::Tso, 4_000).expect("supported");
        if outcome.goals.contains_key(&goal) {
            return Some(true);
        }
        is_complete &= outcome.complete;
    }
    is_complete.then_some(false)
}

#[test]
fn what_some_number_of_copies_reaches_has_no_proof() {
    let (mut accepted, mut refused, mut beyond) = (0, 0, 0);
    let seeds = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        let program = template(seed);
        let Some(mut forger) = Forger::new(&program, vec![Goal::Property(PropertyId::new(0))], 40) else { continue };
        let (outcome, is_violated) = (forger.run(LARGEST / 10), is_violated(&program));
        match outcome {
            Outcome::Accepted => {
                assert_ne!(is_violated, Some(true), "seed {seed}: {:?}\n{}", forger.proof, dump(&program));
                accepted += 1;
            }
            Outcome::Refused if is_violated == Some(true) => refused += 1,
            // More than three copies may be needed.
            Outcome::Refused => beyond += 1,
            Outcome::GaveUp => {}
        }
    }
    let enough = |found: usize| found * 10 >= seeds as usize;
    assert!(enough(accepted) && enough(refused) && beyond * 50 < seeds as usize, "{accepted} {refused} {beyond}");
}

/// `x = 1; between; r = y; assume r == 0` beside the same with `x` and `y` exchanged, with any number of copies of both.
fn store_buffering(between: &Instruction) -> Program {
    let is_zero = Instruction::Assume(Expr::binary(BinaryOp::Equal, reg(0), number(0)));
    let side = |own, other| sequence(vec![store(own, 1), between.clone(), load(0, other), is_zero.clone()]);
    let mut both = program(vec![side(X, Y), side(Y, X)]);
    both.threads.iter_mut().for_each(|thread| thread.multiplicity = Multiplicity::Arbitrary);
    let at = |thread| Expr::Leaf(StateAtom::At { thread: ThreadId(thread), locations: vec![LocId::new(4)] });
    let condition = Expr::binary(BinaryOp::And, at(0), at(1));
    with_property(both, PropertyKind::Forbid(condition)).0
}

/// Ten ways to get a proof wrong.
#[test]
fn forged_proofs_are_refused() {
    let (program, goal) = (store_buffering(&Instruction::Fence), Goal::Property(PropertyId::new(0)));
    let mut forger = Forger::new(&program, vec![goal], 60).expect("few states");
    assert_eq!(forger.run(LARGEST), Outcome::Accepted);
    let proof = forger.proof.clone();
    type Change<'a> = &'a dyn Fn(&mut BackwardProof);
    let fault = |change: Change<'_>| {
        let mut forged = proof.clone();
        change(&mut forged);
        check_backward_proof(&program, &forged).err().map(|error| error.fault)
    };
    // Each configuration but those that others stand for is needed.
    let missing: Vec<_> =
        (0..proof.configurations.len()).map(|at| fault(&|proof| drop(proof.configurations.remove(at)))).collect();
    assert!(missing.iter().flatten().count() * 2 > missing.len(), "{missing:?}");
    let with_copy = proof.configurations.iter().position(|entry| !entry.copies.is_empty()).expect("copies");
    let with_message = |entry: &&mut Configuration| entry.threads.iter().any(|thread| !thread.messages.is_empty());
    let with_memory = |entry: &&mut Configuration| !entry.memory.is_empty();
    let forgeries: [(&str, Change<'_>); 10] = [
        ("no configuration", &|proof| proof.configurations.clear()),
        ("no goal", &|proof| proof.goals.clear()),
        ("a copy less", &|proof| {
            proof.configurations[with_copy].threads.pop();
            proof.configurations[with_copy].copies.pop();
        }),
        ("a copy too many", &|proof| {
            for entry in &mut proof.configurations {
                let copy = entry.threads.last().expect("a copy").clone();
                entry.threads.push(copy);
                entry.copies.push(*entry.copies.last().expect("a copy"));
            }
        }),
        ("a copy of no thread", &|proof| proof.configurations[with_copy].copies[0] = 2),
        ("a copy without its thread", &|proof| proof.configurations[with_copy].copies.truncate(0)),
        ("a copy in any state", &|proof| proof.configurations[with_copy].threads[0].class = None),
        ("a copy of the other thread", &|proof| {
            for entry in &mut proof.configurations {
                entry.copies.iter_mut().for_each(|copy| *copy = 1 - *copy);
            }
            proof.configurations.truncate(1);
        }),
        ("other values in memory", &|proof| {
            let entry = proof.configurations.iter_mut().find(with_memory).expect("memory");
            entry.memory.values_mut().for_each(|value| *value = 1 - *value);
        }),
        ("another message", &|proof| {
            let entry = proof.configurations.iter_mut().find(with_message).expect("a message");
            let messages = entry.threads.iter_mut().flat_map(|thread| &mut thread.messages);
            messages.for_each(|message| *message = Message::Own(X, 7));
        }),
    ];
    for (what, change) in forgeries {
        assert!(fault(change).is_some(), "{what} is accepted");
    }
    // The fences are what makes it true.
    let unfenced = store_buffering(&Instruction::Skip);
    assert!(check_backward_proof(&unfenced, &proof).is_err());
    let mut forger = Forger::new(&unfenced, vec![goal], 60).expect("few states");
    assert_eq!(forger.run(LARGEST), Outcome::Refused);
}

#![no_main]

// The states of a certificate as bytes that are not compressed; its other parts are right. The program is not safe.

include!("program.rs");

use weir_ir::{RegId, Uninterrupted};
use weir_witness::{Buffering, ClosedSet, Goal, Model, PackedStates, check_attack_proof, check_closed_set};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [count, kind, rows @ ..] = bytes else { return };
    let program = program();
    let all = |body: &weir_ir::Body| vec![vec![RegId(0)]; body.locations.len()];
    let listed = program.threads.iter().map(|thread| all(&thread.body)).collect();
    let Ok(states) = PackedStates::read(listed, usize::from(*count), rows.to_vec()) else { return };
    let buffering = match kind % 3 {
        0 => Buffering::EXACT,
        1 => Buffering::Coherence(1),
        _ => Buffering::Multiset(2),
    };
    assert!(check_attack_proof(&program, &states, &Uninterrupted).is_err(), "a false proof is accepted");
    let goals = vec![Goal::Property(weir_ir::PropertyId(0))];
    let set = ClosedSet { model: Model::Tso, buffering, goals, states };
    assert!(check_closed_set(&program, &set, &Uninterrupted).is_err(), "a false proof is accepted");
});

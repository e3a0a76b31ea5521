//! Attacks: which store of a thread might be delayed past which of its loads, as far as control flow tells.

use weir_ir::{Body, EdgeId, Instruction, Program, ThreadId};

/// A thread, a store of it, and a load of it past which the store might be delayed ("Checking and Enforcing
/// Robustness against TSO", Definition 1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Attack {
    /// The attacker.
    pub thread: ThreadId,
    /// Its store.
    pub store: EdgeId,
    /// Its load.
    pub load: EdgeId,
}

/// Whether the instruction waits until the buffer of its thread is empty, so that no store is delayed past it.
pub(crate) fn drains(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Fence | Instruction::ReadModifyWrite { .. } | Instruction::Lock | Instruction::Unlock => true,
        Instruction::Skip
        | Instruction::Load { .. }
        | Instruction::Snapshot(_)
        | Instruction::Store { .. }
        | Instruction::Assign { .. }
        | Instruction::Assume(_)
        | Instruction::Assert(_)
        | Instruction::Havoc { .. }
        | Instruction::Call { .. }
        | Instruction::Return(_)
        | Instruction::Spawn(_)
        | Instruction::Terminate => false,
    }
}

/// Whether the instruction loads without waiting. A snapshot is one load, of several cells.
fn is_load(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Load { .. } | Instruction::Snapshot(_))
}

/// The loads that can follow a store while it waits, as far as control flow tells.
fn loads_after(body: &Body, store: EdgeId) -> Vec<EdgeId> {
    let mut seen = vec![false; body.locations.len()];
    let mut work = vec![body.edge(store).to];
    let mut loads = Vec::new();
    while let Some(loc) = work.pop() {
        if std::mem::replace(&mut seen[loc.index()], true) {
            continue;
        }
        for (id, edge) in body.edges_from(loc) {
            if is_load(&edge.instruction) {
                loads.push(id);
            }
            if !drains(&edge.instruction) {
                work.push(edge.to);
            }
        }
    }
    loads.sort_unstable();
    loads
}

/// The attacks of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attacks {
    /// How many pairs of a store and a load of one thread there are.
    pub total: usize,
    /// Those that control flow alone does not rule out, in order of threads, stores, loads.
    pub open: Vec<Attack>,
}

/// Lists the attacks of these threads.
pub(crate) fn enumerate(program: &Program, threads: &[ThreadId]) -> Attacks {
    let mut attacks = Attacks::default();
    for &thread in threads {
        let body = program.body(thread);
        let is = |wanted: fn(&Instruction) -> bool| body.edges().iter().filter(move |edge| wanted(&edge.instruction));
        let loads = is(is_load).count();
        let stores = is(|instruction| matches!(instruction, Instruction::Store { .. })).count();
        attacks.total += stores * loads;
        for store in (0..body.edges().len()).map(EdgeId::new) {
            if matches!(body.edge(store).instruction, Instruction::Store { .. }) {
                let loads = loads_after(body, store);
                attacks.open.extend(loads.into_iter().map(|load| Attack { thread, store, load }));
            }
        }
    }
    attacks
}

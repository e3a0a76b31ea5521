//! Attacks: which store of a thread might be delayed past which of its loads, as far as control flow tells.

use weir_ir::{Body, EdgeId, Instruction, LocId, Program, ThreadId};

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

/// Where in a thread stores can be on their way while control passes.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    /// For each location: whether a load can be reached from it with stores still waiting.
    leads_to_load: Vec<bool>,
    /// For each edge: whether it can be taken with stores waiting that then still wait.
    passable: Vec<bool>,
}

impl Flow {
    /// The flow of a body. `fenced` holds the edges after which a fence is thought of.
    pub(crate) fn new(body: &Body, fenced: &impl Fn(EdgeId) -> bool) -> Self {
        let edges = body.edges().iter().enumerate();
        let passable: Vec<bool> =
            edges.map(|(index, edge)| !drains(&edge.instruction) && !fenced(EdgeId::new(index))).collect();
        let mut leads_to_load = vec![false; body.locations.len()];
        let mut incoming = vec![Vec::new(); body.locations.len()];
        let mut work = Vec::new();
        for (edge, &passable) in body.edges().iter().zip(&passable) {
            if passable {
                incoming[edge.to.index()].push(edge.from);
            }
            if matches!(edge.instruction, Instruction::Load { .. }) && !leads_to_load[edge.from.index()] {
                leads_to_load[edge.from.index()] = true;
                work.push(edge.from);
            }
        }
        while let Some(loc) = work.pop() {
            for &before in &incoming[loc.index()] {
                if !leads_to_load[before.index()] {
                    leads_to_load[before.index()] = true;
                    work.push(before);
                }
            }
        }
        Self { leads_to_load, passable }
    }

    /// Whether, after this edge with stores waiting, a load can still be reached before they must have landed.
    #[inline]
    pub(crate) fn goes_on(&self, edge: usize, to: usize) -> bool {
        self.passable[edge] && self.leads_to_load[to]
    }

    /// The loads that can follow a store while it waits.
    fn loads_after(&self, body: &Body, store: EdgeId) -> Vec<EdgeId> {
        let mut seen = vec![false; body.locations.len()];
        let mut work = Vec::new();
        let mut loads = Vec::new();
        let visit = |edge: EdgeId, seen: &mut Vec<bool>, work: &mut Vec<LocId>| {
            let to = body.edge(edge).to;
            if self.passable[edge.index()] && !std::mem::replace(&mut seen[to.index()], true) {
                work.push(to);
            }
        };
        visit(store, &mut seen, &mut work);
        while let Some(loc) = work.pop() {
            for (id, edge) in body.edges_from(loc) {
                if matches!(edge.instruction, Instruction::Load { .. }) {
                    loads.push(id);
                }
                visit(id, &mut seen, &mut work);
            }
        }
        loads.sort_unstable();
        loads
    }
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
        let flow = Flow::new(body, &|_| false);
        let is = |wanted: fn(&Instruction) -> bool| body.edges().iter().filter(move |edge| wanted(&edge.instruction));
        let loads = is(|instruction| matches!(instruction, Instruction::Load { .. })).count();
        let stores = is(|instruction| matches!(instruction, Instruction::Store { .. })).count();
        attacks.total += stores * loads;
        for store in (0..body.edges().len()).map(EdgeId::new) {
            if matches!(body.edge(store).instruction, Instruction::Store { .. }) {
                let loads = flow.loads_after(body, store);
                attacks.open.extend(loads.into_iter().map(|load| Attack { thread, store, load }));
            }
        }
    }
    attacks
}

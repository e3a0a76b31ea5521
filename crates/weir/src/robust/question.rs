//! The attacks in question, and what control flow says about them before any search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weir_ir::{Body, EdgeId, Gather, Program, ThreadId};

use super::covered::{Covered, Mark, OFF};
use crate::attack::{Attack, ThreadEdge};
use crate::search::partial_order::AmpleSets;
use crate::semantics::compile::Compiled;
use crate::semantics::state::Patch;

/// Is one of these attacks feasible, if there were fences after these steps? Only ways from store to load count that
/// are not covered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    pub(crate) attacks: BTreeSet<Attack>,
    pub(crate) fenced: BTreeSet<ThreadEdge>,
    pub(crate) covered: BTreeMap<ThreadId, Arc<Covered>>,
}

impl Question {
    /// Leaves out the attacks that control flow rules out, given the fences.
    pub(crate) fn narrow(&mut self, program: &Program) {
        // Attacks were listed with regard to the fences of the program itself.
        if self.fenced.is_empty() {
            return;
        }
        let mut flows: BTreeMap<(ThreadId, EdgeId), Flow> = BTreeMap::new();
        let fenced = &self.fenced;
        self.attacks.retain(|&Attack { thread, store, load }| {
            let body = program.body(thread);
            let flow = flows
                .entry((thread, load))
                .or_insert_with(|| Flow::new(body, &BTreeSet::from([load]), |edge| fenced.contains(&(thread, edge))));
            flow.goes_on(store.index(), body.edge(store).to.index())
        });
    }

    /// The loads in question, for each store of a thread.
    fn by_store(&self, thread: ThreadId) -> BTreeMap<EdgeId, BTreeSet<EdgeId>> {
        let mut stores: BTreeMap<EdgeId, BTreeSet<EdgeId>> = BTreeMap::new();
        for attack in self.attacks.iter().filter(|attack| attack.thread == thread) {
            stores.entry(attack.store).or_default().insert(attack.load);
        }
        stores
    }
}

/// Where control can pass with a store waiting that may yet be overtaken by one of some loads.
struct Flow {
    leads_to_load: Vec<bool>,
    passable: Vec<bool>,
}

impl Flow {
    fn new(body: &Body, loads: &BTreeSet<EdgeId>, fenced: impl Fn(EdgeId) -> bool) -> Self {
        let edges = body.edges().iter().enumerate();
        let passable: Vec<bool> =
            edges.map(|(index, edge)| !edge.instruction.drains() && !fenced(EdgeId::new(index))).collect();
        let mut incoming = vec![Vec::new(); body.locations.len()];
        for (edge, _) in body.edges().iter().zip(&passable).filter(|(_, passable)| **passable) {
            incoming[edge.to.index()].push(edge.from);
        }
        let mut leads_to_load = vec![false; body.locations.len()];
        let mut work: Vec<_> = loads.iter().map(|&load| body.edge(load).from).collect();
        while let Some(loc) = work.pop() {
            if !std::mem::replace(&mut leads_to_load[loc.index()], true) {
                work.extend_from_slice(&incoming[loc.index()]);
            }
        }
        Self { leads_to_load, passable }
    }

    #[inline]
    fn goes_on(&self, edge: usize, to: usize) -> bool {
        self.passable[edge] && self.leads_to_load[to]
    }
}

/// For each location whether control flow leads to a load from there, past nothing that drains the buffer.
pub(crate) fn leads_to_load(body: &Body) -> Vec<bool> {
    let is_load = |edge: &EdgeId| body.edge(*edge).instruction.is_load();
    let loads = (0..body.edges().len()).map(EdgeId::new).filter(is_load).gather();
    Flow::new(body, &loads, |_| false).leads_to_load
}

/// What is known about a thread before any search.
pub(super) struct Plan {
    /// Forgets location and registers.
    pub(super) forget: Patch,
    /// For each store in question: its loads, and where control can pass while it waits.
    stores: BTreeMap<u32, Arc<(BTreeSet<EdgeId>, Flow)>>,
    covered: Option<Arc<Covered>>,
}

impl Plan {
    /// Whether, when the thread takes `edge` to the location `to` while `store` waits, the store can still be
    /// overtaken.
    #[inline]
    pub(super) fn goes_on(&self, store: u32, edge: u32, to: usize) -> bool {
        self.stores.get(&store).is_some_and(|in_question| in_question.1.goes_on(edge as usize, to))
    }

    /// How much of the way of a delayed store is covered, once the thread has taken one more edge.
    #[inline]
    pub(super) fn mark_after(&self, mark: Mark, edge: u32) -> Mark {
        self.covered.as_ref().map_or(OFF, |covered| covered.after(mark, edge))
    }

    /// Whether the attack of this store and this load is in question.
    #[inline]
    pub(super) fn is_in_question(&self, store: u32, load: u32) -> bool {
        self.stores.get(&store).is_some_and(|in_question| in_question.0.contains(&EdgeId(load)))
    }
}

/// What is known about the threads before any search.
pub(super) struct Plans {
    /// Invisible steps go first.
    pub(super) ample: AmpleSets,
    pub(super) threads: Vec<Plan>,
}

impl Plans {
    pub(super) fn new(program: &Program, compiled: &Compiled, question: &Question) -> Self {
        let plan = |(position, &thread): (usize, &ThreadId)| {
            let body = program.body(thread);
            let (location, slots) = &compiled.machine.layout.threads[position];
            let mut forget = Patch::default();
            slots.iter().chain([location]).for_each(|&field| forget.clear(field));
            // Many stores have the same loads.
            let mut flows: BTreeMap<BTreeSet<EdgeId>, Arc<(BTreeSet<EdgeId>, Flow)>> = BTreeMap::new();
            let mut flow = |loads: BTreeSet<EdgeId>| {
                let made = flows.entry(loads).or_insert_with_key(|loads| {
                    let flow = Flow::new(body, loads, |edge| question.fenced.contains(&(thread, edge)));
                    Arc::new((loads.clone(), flow))
                });
                Arc::clone(made)
            };
            let stores = question.by_store(thread).into_iter().map(|(store, loads)| (store.0, flow(loads)));
            let stores = stores.gather();
            let covered = question.covered.get(&thread).cloned();
            Plan { forget, stores, covered }
        };
        let bodies = compiled.threads.iter().map(|&thread| program.body(thread));
        Self { ample: AmpleSets::new(bodies), threads: compiled.threads.iter().enumerate().map(plan).collect() }
    }
}

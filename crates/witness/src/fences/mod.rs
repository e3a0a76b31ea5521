//! A proof that some fences are enough, and that no cheaper ones are.
//!
//! That they are enough is for a certificate of the program [with them](with_fences) to show. That no cheaper ones are
//! takes runs of the program without them: a run that must not be is still possible with any fences, unless one of
//! them [stops](stopping) it. So every set of fences that is enough contains one of the places that stop the run, for
//! each run; and sets that do cost at least so much ([`CostBound`]).

mod bound;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use weir_ir::{
    Body, Edge, EdgeId, Expr, Gather, Instruction, Interrupt, LocId, Program, PropertyKind, StateAtom, ThreadId,
};

use crate::checked::Checked;
use crate::event::Effect;
use crate::run::Model;
pub use bound::{BoundFault, BoundStep, CostBound};

/// A step of a thread.
type ThreadEdge = (ThreadId, EdgeId);

/// A place where a fence can stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FencePlace {
    /// The steps that a fence there comes after.
    pub after: Vec<ThreadEdge>,
    /// What it costs.
    pub cost: u64,
}

/// A proof that no cheaper places than the chosen ones are enough.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheapestFences {
    /// All places.
    pub places: Vec<FencePlace>,
    /// The chosen ones, by number.
    pub chosen: BTreeSet<usize>,
    /// Runs of the program without further fences, none of which may be possible with fences that are enough.
    pub demands: Vec<Checked>,
    /// What it costs to stop all of them; of each bound, the cores are those of the runs, by number.
    pub bounds: Vec<CostBound>,
}

/// What can be wrong with such a proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FencesFault {
    /// There is no such place.
    NoPlace(usize),
    /// A fence cannot come after this step of a place: the program has none of this number.
    NoStep(usize),
    /// This run is not one under TSO.
    Model(usize),
    /// This bound does not follow from its steps.
    Bound(usize),
    /// This bound counts places that another one counts, too.
    Shared(usize),
    /// The bounds add up to less than what the chosen places cost.
    Cheaper,
    /// None was found yet: checking was interrupted.
    Interrupted,
}

impl fmt::Display for FencesFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlace(number) => write!(f, "there is no place number {number}"),
            Self::NoStep(place) => write!(f, "place {place} comes after a step that the program does not have"),
            Self::Model(run) => write!(f, "run {} is not one under TSO", run + 1),
            Self::Bound(bound) => write!(f, "bound {} on the cost does not follow from its steps", bound + 1),
            Self::Shared(bound) => write!(f, "bound {} counts places that another one counts, too", bound + 1),
            Self::Cheaper => write!(f, "the bounds do not rule out cheaper fences"),
            Self::Interrupted => write!(f, "checking was interrupted"),
        }
    }
}

impl CheapestFences {
    /// Checks that no cheaper places are enough. That the chosen ones are is for another proof to show, about the
    /// [program with them](Self::fenced).
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, program: &Program, interrupt: &dyn Interrupt) -> Result<(), FencesFault> {
        for (number, place) in self.places.iter().enumerate() {
            let is_step = |&(thread, edge): &ThreadEdge| {
                program.threads.get(thread.index()).is_some_and(|thread| edge.index() < thread.body.edges().len())
            };
            if !place.after.iter().all(is_step) {
                return Err(FencesFault::NoStep(number));
            }
        }
        if let Some(&number) = self.chosen.iter().find(|&&number| number >= self.places.len()) {
            return Err(FencesFault::NoPlace(number));
        }
        if let Some(run) = self.demands.iter().position(|demand| demand.run().model != Model::Tso) {
            return Err(FencesFault::Model(run));
        }
        let costs: Vec<u64> = self.places.iter().map(|place| place.cost).collect();
        let cores = self.cores();
        let (mut counted, mut least) = (BTreeSet::new(), 0u128);
        for (number, bound) in self.bounds.iter().enumerate() {
            let places = bound.check(&costs, &cores, interrupt).map_err(|fault| match fault {
                BoundFault::Unproved => FencesFault::Bound(number),
                BoundFault::Interrupted => FencesFault::Interrupted,
            })?;
            if !counted.is_disjoint(&places) {
                return Err(FencesFault::Shared(number));
            }
            counted.extend(places);
            least += u128::from(bound.least);
        }
        let cost: u128 = self.chosen.iter().map(|&place| u128::from(costs[place])).sum();
        if least < cost { Err(FencesFault::Cheaper) } else { Ok(()) }
    }

    /// For each run the places that stop it.
    pub fn cores(&self) -> Vec<BTreeSet<usize>> {
        let core = |demand: &Checked| {
            let stopping = stopping(demand);
            let stops = |place: &FencePlace| place.after.iter().any(|step| stopping.contains(step));
            (0..self.places.len()).filter(|&number| stops(&self.places[number])).gather()
        };
        self.demands.iter().map(core).collect()
    }

    /// The program with fences at the chosen places, which must be [checked](Self::check) ones.
    #[must_use]
    pub fn fenced(&self, program: &Program) -> Program {
        with_fences(program, &self.chosen.iter().flat_map(|&place| &self.places[place].after).copied().gather())
    }
}

/// The steps after which a fence would stop the run: the thread goes on behind them while one of its stores waits.
///
/// With fences anywhere else the run is still possible. Where the thread passes one of them its buffer is empty, at the
/// latest when it takes its next step, so it can take the fence just before that. Behind its last step it waits at the
/// fence, which is behind that step for all properties; if its buffer is empty, it can also go on.
pub fn stopping(checked: &Checked) -> BTreeSet<ThreadEdge> {
    let threads = checked.replay().last().thread_count();
    let (mut waiting, mut last) = (vec![0usize; threads], vec![None; threads]);
    let mut stopping = BTreeSet::new();
    for event in checked.replay().events() {
        let thread = event.thread.index();
        if let Effect::Flush { .. } = event.effect {
            waiting[thread] -= 1;
            continue;
        }
        if waiting[thread] > 0 {
            stopping.extend(last[thread].map(|edge| (event.thread, edge)));
        }
        last[thread] = event.edge;
        waiting[thread] += usize::from(matches!(event.effect, Effect::Store { buffered: true, .. }));
    }
    stopping
}

/// The program with a fence after each of these steps, all of which it must have. A thread that waits at one counts as
/// being where the step leads.
#[must_use]
pub fn with_fences(program: &Program, after: &BTreeSet<ThreadEdge>) -> Program {
    let mut fenced = program.clone();
    for (index, thread) in fenced.threads.iter_mut().enumerate() {
        let id = ThreadId::new(index);
        let (mut locations, mut edges) = (thread.body.locations.clone(), thread.body.edges().to_vec());
        let mut waits: Vec<(LocId, LocId)> = Vec::new();
        for &(_, edge) in after.iter().filter(|(of, _)| *of == id) {
            let (wait, step) = (LocId::new(locations.len()), edges[edge.index()].clone());
            let mut location = locations[step.to.index()].clone();
            location.labels.clear();
            locations.push(location);
            edges[edge.index()].to = wait;
            edges.push(Edge { from: wait, to: step.to, instruction: Instruction::Fence, span: step.span });
            waits.push((wait, step.to));
        }
        if waits.is_empty() {
            continue;
        }
        let (entry, failed) = (thread.body.entry, thread.body.failed);
        let (registers, frames) = (thread.body.registers.clone(), thread.body.frames.clone());
        thread.body = Body::new(registers, locations, entry, failed, edges).with_frames(frames);
        for property in &mut fenced.properties {
            widen(&mut property.kind, id, &waits);
        }
    }
    fenced
}

/// A thread that waits at a fence counts as being behind it.
fn widen(kind: &mut PropertyKind, id: ThreadId, waits: &[(LocId, LocId)]) {
    let mut widened = |atom: &StateAtom| match atom {
        StateAtom::At { thread, locations } if *thread == id => {
            let more = waits.iter().filter(|(_, to)| locations.contains(to)).map(|&(wait, _)| wait);
            Expr::Leaf(StateAtom::At { thread: id, locations: locations.iter().copied().chain(more).collect() })
        }
        _ => Expr::Leaf(atom.clone()),
    };
    *kind = kind.map_condition(|condition| condition.map(&mut widened));
}

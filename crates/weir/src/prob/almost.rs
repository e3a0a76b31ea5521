//! Almost surely, almost never: the paper's qualitative questions ("Probabilistic Total Store Ordering", §6).
//!
//! Both are about what is possible, not about how likely it is. *Almost surely* fails exactly if a configuration can be
//! reached, before a target, that is Prob0; *almost never* fails exactly if a Prob1 one can be reached
//! ([`prob01`](super::prob01)). Where the chain is infinite, the answer rests on drained configurations: every run
//! visits them forever, so it is enough that from each of them, all of which the abstraction lists and perhaps more,
//! the good side is within reach. What neither a look at small buffers nor the abstraction can tell, the exact engine
//! [decides](Task::settle).

use rustc_hash::FxHashSet;
use weir_ir::{Program, RegId, Value};
use weir_witness::{Model as MemoryModel, Replay, Run, Step, replay};

use crate::bounds::Bound;
use crate::semantics::layout::Storage;
use crate::semantics::state::{Field, Packed};
use crate::session::Session;
use crate::verdict::Failure;

use super::chain::{Chain, Visitor, with_chain};
use super::graph::Graph;
use super::impossible::is_impossible;
use super::model::Model;
use super::obstacle::Obstacle;
use super::paths::{ShortestPaths, follow};
use super::prob01::{Class, certainly, filtered};
use super::probability::{Part, Question};

/// Which of the two questions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Almost {
    /// Is the probability 1?
    Surely,
    /// Is the probability 0?
    Never,
}

/// A drained configuration: the places of threads, and the values of registers and cells.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct DrainedState {
    /// For each thread its name and place.
    pub places: Vec<(String, String)>,
    /// The registers that are still read and that the target depends on, such as `P0.r`, with their values.
    pub registers: Vec<(String, Value)>,
    /// The cells that change and that the target depends on, with their values.
    pub cells: Vec<(String, Value)>,
}

/// The answer to a qualitative question.
#[derive(Clone, PartialEq, Debug)]
pub enum Certainty {
    /// It holds. These are the drained configurations that the answer rests on, or the first of them if there are many.
    Holds {
        /// How many drained configurations were considered.
        drained: usize,
        /// The first of them.
        shown: Vec<DrainedState>,
    },
    /// It does not hold: this run has positive probability, and leads to a state that settles the question.
    Fails(Box<Replay>),
    /// Inconclusive.
    Unknown(Obstacle),
}

/// An answer, with statistics.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Qualitative {
    /// The answer.
    pub certainty: Certainty,
    /// Number of configurations explored.
    pub configurations: usize,
}

/// Answers a qualitative question.
///
/// # Errors
/// If the program is not supported, the settings are invalid, or an invariant of Weir is broken.
pub fn almost(
    program: &Program,
    question: &Question,
    which: Almost,
    session: &Session,
) -> Result<Qualitative, Failure> {
    let session = &session.doing("prob: expanding configurations");
    let model = Model::new(program, &question.target, &question.settings, session)?;
    let is_impossible = &|| is_impossible(program, &question.target, session);
    let task = Task { program, which, repeated: question.repeated, is_impossible, session };
    let (found, configurations) = with_chain(&model, task);
    model.fault()?;
    let certainty = match found? {
        Found::Holds { drained, shown } => Certainty::Holds { drained, shown },
        Found::Unknown(obstacle) => Certainty::Unknown(obstacle),
        Found::Fails(steps) => {
            let replayed = replay(program, &Run { model: MemoryModel::Tso, steps });
            let bug = |error| Failure::Bug(format!("a run that was found cannot be replayed: {error}"));
            Certainty::Fails(Box::new(replayed.map_err(bug)?))
        }
    };
    Ok(Qualitative { certainty, configurations })
}

enum Found {
    Holds { drained: usize, shown: Vec<DrainedState> },
    Fails(Vec<Step>),
    Unknown(Obstacle),
}

struct Task<'w> {
    program: &'w Program,
    which: Almost,
    repeated: bool,
    /// Whether there is a proof that no run reaches the target.
    is_impossible: &'w dyn Fn() -> Result<bool, Failure>,
    session: &'w Session,
}

/// Once this was not enough, the exact engine is asked.
const ENOUGH: usize = 2;

/// More drained configurations than this are only counted.
const MOST_SHOWN: usize = 10_000;

impl Visitor for Task<'_> {
    type Output = (Result<Found, Failure>, usize);

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
        let mut part = Part::new(chain, self.repeated);
        let mut limit = part.begin(self.session);
        let mut size = 0;
        loop {
            if let Some(found) = self.decide(&mut part) {
                return (Ok(found), part.graph.len());
            }
            if size == 0 && self.which == Almost::Never {
                match (self.is_impossible)() {
                    Ok(true) => {
                        let initial = part.graph.config(0).state;
                        return (Ok(self.holds(&part.graph, [initial].into_iter())), part.graph.len());
                    }
                    Ok(false) => {}
                    Err(failure) => return (Err(failure), part.graph.len()),
                }
            }
            if let Some(limit) = limit.or_else(|| self.session.exceeded_with(part.graph.bytes(), 0)) {
                return (Ok(Found::Unknown(Obstacle::Limit(limit))), part.graph.len());
            }
            if size as u64 > self.session.bound(Bound::ProbAlmostStores) {
                return (Ok(Found::Unknown(Obstacle::Unbounded)), part.graph.len());
            }
            if size == ENOUGH
                && let Some(found) = self.settle(&mut part)
            {
                return (Ok(found), part.graph.len());
            }
            limit = part.expand_drained(size, self.session);
            size += 1;
        }
    }
}

impl Task<'_> {
    fn decide<const N: usize>(&self, part: &mut Part<'_, '_, N>) -> Option<Found> {
        let classes = part.classifier.classes(&part.graph);
        let (good, bad) = match self.which {
            Almost::Surely => (Class::Prob1, Class::Prob0),
            Almost::Never => (Class::Prob0, Class::Prob1),
        };
        let reach = ShortestPaths::new(&part.graph, |number| !self.repeated && part.graph.is_target(number));
        if let Some(end) = reach.nearest(&part.graph, |number| classes[number] == bad) {
            let codes = reach.run_to(&part.graph, end)?;
            let compiled = &part.graph.chain.model.compiled;
            return Some(Found::Fails(codes.into_iter().map(|code| compiled.step(code)).collect()));
        }
        let open = |&number: &u32| classes[number as usize] == Class::Open && !part.graph.is_expanded(number as usize);
        if classes[0] == good || !reach.order.iter().any(open) {
            return Some(
                self.holds(&part.graph, reach.order.iter().map(|&number| part.graph.config(number as usize).state)),
            );
        }
        // Reaching a Prob0 configuration almost surely is not the same as never having met a target on the way.
        let is_enough = self.repeated || self.which == Almost::Surely;
        let abstraction =
            part.classifier.abstraction.as_ref().filter(|_| is_enough && part.graph.chain.model.always_drains())?;
        let backward = part.graph.backward(|_| true);
        let can = part.graph.can_reach(&backward, |number| classes[number] == good);
        let mut drained = abstraction.drained(part.graph.chain).map(|(_, state)| state);
        let all = drained.all(|state| certainly(&part.graph, state, &can));
        all.then(|| self.holds(&part.graph, abstraction.drained(part.graph.chain).map(|(_, state)| state)))
    }

    /// The paper's algorithms, with the exact engine. None if that cannot decide it.
    fn settle<const N: usize>(&self, part: &mut Part<'_, '_, N>) -> Option<Found> {
        part.classifier.add_oracle(&part.graph, self.session);
        let (graph, classifier) = (&part.graph, &part.classifier);
        let model = graph.chain.model;
        let oracle = classifier.oracle.as_ref()?;
        if !self.repeated && self.which == Almost::Never {
            let initial = graph.config(0).state;
            if !oracle.can_reach(model, &initial) {
                return Some(self.holds(graph, [initial].into_iter()));
            }
            let run = oracle.run_to_target(self.session)?;
            let path = follow(graph.chain, &run)?;
            return (path.meets_target && path.is_of_chain).then_some(Found::Fails(run));
        }
        let abstraction = classifier.abstraction.as_ref().filter(|_| model.always_drains())?;
        if self.which == Almost::Never && !classifier.knows_paths_to_prob0() {
            return None;
        }
        let is_bad = |state: &Packed<N>| match self.which {
            Almost::Surely => !oracle.can_reach(model, state),
            Almost::Never => classifier.avoids_prob0(graph, state),
        };
        let drained = || abstraction.drained(graph.chain).map(|(_, state)| state);
        let bad = filtered(drained(), is_bad, self.session)?;
        let Some(run) = oracle.run_to(model, &bad, self.session)? else {
            // What the program can reach, the chain might not.
            let holds = || self.holds(graph, drained().filter(|state| !is_bad(state)));
            return model.follows_every_run().then(holds);
        };
        let path = follow(graph.chain, &run)?;
        // If the target is about several threads, the run may have met it on the way; then nothing is shown.
        let is_bad_end = path.is_of_chain && model.is_drained(&path.end) && is_bad(&path.end);
        let shows = is_bad_end && (self.repeated || !path.meets_target);
        shows.then_some(Found::Fails(run))
    }

    fn holds<const N: usize>(&self, graph: &Graph<'_, '_, N>, states: impl Iterator<Item = Packed<N>>) -> Found {
        // Configurations may differ in who stepped last, which is of no interest here.
        let mut known = FxHashSet::default();
        let drained = states.filter(|state| graph.chain.model.is_drained(state) && known.insert(*state));
        let drained: Vec<Packed<N>> = drained.collect();
        let shown = drained.iter().take(MOST_SHOWN).map(|state| self.show(graph.chain, state)).collect();
        Found::Holds { drained: drained.len(), shown }
    }

    fn show<const N: usize>(&self, chain: &Chain<'_, N>, state: &Packed<N>) -> DrainedState {
        let compiled = &chain.model.compiled;
        let (mut places, mut registers) = (Vec::new(), Vec::new());
        for (position, (&thread, code)) in compiled.threads.iter().zip(&compiled.machine.threads).enumerate() {
            let (name, body) = (&self.program.thread(thread).name, self.program.body(thread));
            let place = weir_ir::LocId::new(state.raw(code.location) as usize);
            places.push((name.clone(), self.program.place_name(thread, place)));
            let matters = |(register, _): &(RegId, Field)| chain.model.sliced.has_register(thread, *register);
            let live = compiled.live_fields(position, place).filter(matters).map(|(register, field)| {
                (format!("{name}.{}", body.registers[register.index()].name), state.get(field))
            });
            registers.extend(live);
        }
        let cells = compiled.machine.layout.cells.iter().filter_map(|cell| match cell.storage {
            Storage::Field(field) if chain.model.sliced.has_cell(cell.address) => {
                Some((self.program.cell_name(cell.address), state.get(field)))
            }
            Storage::Field(_) | Storage::Constant => None,
        });
        DrainedState { places, registers, cells: cells.collect() }
    }
}

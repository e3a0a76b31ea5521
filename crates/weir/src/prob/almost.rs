//! Almost surely, almost never: the paper's qualitative questions ("Probabilistic Total Store Ordering", §6).
//!
//! Both are about what is possible, not about how likely it is. *Almost surely* fails exactly if a configuration can be reached, before a
//! target, from which the answer is no; *almost never* fails exactly if one can be reached from which it is yes ([`judge`](super::judge)). Where the chain is
//! infinite, the answer rests on drained configurations: every run visits them for ever, so it is enough that from each of them, all of which the
//! abstraction lists and perhaps more, the good side is within reach. What neither a look at small buffers nor the abstraction can tell, the exact
//! engine [decides](Approach::settle).

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use weir_ir::{Program, Value};
use weir_witness::{Action, Model as MemoryModel, Replay, Run, Step, replay};

use crate::control::Watch;
use crate::semantics::layout::Storage;
use crate::semantics::machine::MemoryModel as _;
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;
use crate::semantics::{StepCode, TransitionSystem};
use crate::{Control, Failure};

use super::chain::{Chain, Visitor, with_chain};
use super::graph::Graph;
use super::judge::{Role, certainly};
use super::model::{Model, NO_EDGE};
use super::probability::{Obstacle, Part, Question};

/// Which of the two questions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Almost {
    /// Is the probability 1?
    Surely,
    /// Is the probability 0?
    Never,
}

/// A drained configuration: where threads are, what they remember, and what memory holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Plain {
    /// For each thread its name and place.
    pub places: Vec<(String, String)>,
    /// The registers that are still read, such as `P0.r`, with their values.
    pub registers: Vec<(String, Value)>,
    /// The cells that change, with their values.
    pub cells: Vec<(String, Value)>,
}

/// The answer to a qualitative question.
#[derive(Clone, PartialEq, Debug)]
pub enum Certainty {
    /// It holds. These are the drained configurations that it rests on, or the first of them if there are very many.
    Holds {
        /// How many drained configurations were considered.
        plain: usize,
        /// The first of them.
        shown: Vec<Plain>,
    },
    /// It does not: this run has a positive probability, and after it the question is settled the other way.
    Fails(Box<Replay>),
    /// Not known.
    Unknown(Obstacle),
}

/// An answer, and what it took.
#[derive(Clone, PartialEq, Debug)]
pub struct Qualitative {
    /// The answer.
    pub certainty: Certainty,
    /// Configurations met.
    pub configurations: usize,
}

/// Answers a qualitative question.
///
/// # Errors
/// If the program has something that cannot be handled, the settings make no sense, or an invariant of Weir breaks.
pub fn almost(
    program: &Program,
    question: &Question,
    which: Almost,
    control: &Control,
) -> Result<Qualitative, Failure> {
    let model = Model::new(program, &question.target, &question.settings)?;
    let watch = Watch::start(control);
    let approach = Approach { program, which, repeated: question.repeated, watch: &watch };
    let (found, configurations) = with_chain(&model, approach);
    model.fault()?;
    let certainty = match found {
        Found::Holds { plain, shown } => Certainty::Holds { plain, shown },
        Found::Unknown(obstacle) => Certainty::Unknown(obstacle),
        Found::Fails(steps) => {
            let replayed = replay(program, &Run { model: MemoryModel::Tso, steps });
            let bug = |error| Failure::Bug(format!("a run that was found does not replay: {error}"));
            Certainty::Fails(Box::new(replayed.map_err(bug)?))
        }
    };
    Ok(Qualitative { certainty, configurations })
}

enum Found {
    Holds { plain: usize, shown: Vec<Plain> },
    Fails(Vec<Step>),
    Unknown(Obstacle),
}

struct Approach<'w> {
    program: &'w Program,
    which: Almost,
    repeated: bool,
    watch: &'w Watch<'w>,
}

/// Larger buffers than this are not looked into when nothing was found with smaller ones.
const LARGEST: usize = 8;

/// Once this was not enough, the exact engine is asked.
const ENOUGH: usize = 2;

/// More drained configurations than this are only counted.
const MOST_SHOWN: usize = 10_000;

impl Visitor for Approach<'_> {
    type Output = (Found, usize);

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
        let mut part = Part::new(chain, self.repeated);
        let mut limit = part.begin(self.watch);
        let mut size = 0;
        loop {
            if let Some(found) = self.decide(&mut part) {
                return (found, part.graph.len());
            }
            if let Some(limit) = limit.or_else(|| self.watch.exceeded(part.graph.bytes(), 0)) {
                return (Found::Unknown(Obstacle::Limit(limit)), part.graph.len());
            }
            if size > LARGEST {
                return (Found::Unknown(Obstacle::Unbounded), part.graph.len());
            }
            if size == ENOUGH
                && let Some(found) = self.settle(&mut part)
            {
                return (found, part.graph.len());
            }
            limit = part.expand_plain(size, self.watch);
            size += 1;
        }
    }
}

impl Approach<'_> {
    fn decide<const N: usize>(&self, part: &mut Part<'_, '_, N>) -> Option<Found> {
        let roles = part.judge.roles(&part.graph);
        let (good, bad) = match self.which {
            Almost::Surely => (Role::Yes, Role::No),
            Almost::Never => (Role::No, Role::Yes),
        };
        let reach = Reach::new(&part.graph, |number| !self.repeated && part.graph.is_target(number));
        if let Some(end) = reach.nearest(&part.graph, |number| roles[number] == bad) {
            let codes = reach.run_to(&part.graph, end)?;
            let compiled = &part.graph.chain.model.compiled;
            return Some(Found::Fails(codes.into_iter().map(|code| compiled.step(code)).collect()));
        }
        let open = |&number: &u32| roles[number as usize] == Role::Open && !part.graph.is_expanded(number as usize);
        if roles[0] == good || !reach.order.iter().any(open) {
            return Some(
                self.holds(&part.graph, reach.order.iter().map(|&number| part.graph.config(number as usize).state)),
            );
        }
        // Reaching a no almost surely is not the same as never having met a target on the way.
        let is_enough = self.repeated || self.which == Almost::Surely;
        let abstraction =
            part.judge.abstraction.as_ref().filter(|_| is_enough && part.graph.chain.model.always_drains())?;
        let backward = part.graph.backward(|_| true);
        let can = part.graph.can_reach(&backward, |number| roles[number] == good);
        let mut drained = abstraction.plain(part.graph.chain).map(|(_, state)| state);
        let all = drained.all(|state| certainly(&part.graph, state, &can));
        all.then(|| self.holds(&part.graph, abstraction.plain(part.graph.chain).map(|(_, state)| state)))
    }

    /// The paper's algorithms, with the exact engine. None if that cannot decide it.
    fn settle<const N: usize>(&self, part: &mut Part<'_, '_, N>) -> Option<Found> {
        part.judge.consult(&part.graph, self.watch);
        let (graph, judge) = (&part.graph, &part.judge);
        let model = graph.chain.model;
        let oracle = judge.oracle.as_ref()?;
        if !self.repeated && self.which == Almost::Never {
            let initial = graph.config(0).state;
            if !oracle.can_reach(model, &initial) {
                return Some(self.holds(graph, [initial].into_iter()));
            }
            return oracle.run_to_target(self.watch).map(Found::Fails);
        }
        let abstraction = judge.abstraction.as_ref().filter(|_| model.always_drains())?;
        let is_bad = |state: &Packed<N>| match self.which {
            Almost::Surely => !oracle.can_reach(model, state),
            Almost::Never => judge.never_loses(graph, state),
        };
        let drained = || abstraction.plain(graph.chain).map(|(_, state)| state);
        let bad: Vec<Packed<N>> = drained().filter(is_bad).collect();
        let Some(run) = oracle.run_to(model, &bad, self.watch)? else {
            return Some(self.holds(graph, drained().filter(|state| !is_bad(state))));
        };
        let way = follow(graph.chain, &run)?;
        // If the target is about several threads, the run may have met it on the way; then nothing is shown.
        let shows = is_bad(&way.end) && (self.repeated || !way.meets_target);
        shows.then_some(Found::Fails(run))
    }

    fn holds<const N: usize>(&self, graph: &Graph<'_, '_, N>, states: impl Iterator<Item = Packed<N>>) -> Found {
        // Configurations may differ in who stepped last, which is of no interest here.
        let mut known = FxHashSet::default();
        let plain = states.filter(|state| graph.chain.model.is_plain(state) && known.insert(*state));
        let plain: Vec<Packed<N>> = plain.collect();
        let shown = plain.iter().take(MOST_SHOWN).map(|state| self.show(graph.chain, state)).collect();
        Found::Holds { plain: plain.len(), shown }
    }

    fn show<const N: usize>(&self, chain: &Chain<'_, N>, state: &Packed<N>) -> Plain {
        let compiled = &chain.model.compiled;
        let (mut places, mut registers) = (Vec::new(), Vec::new());
        for (position, (&thread, code)) in compiled.threads.iter().zip(&compiled.machine.threads).enumerate() {
            let (name, body) = (&self.program.thread(thread).name, self.program.body(thread));
            let place = weir_ir::LocId::new(state.raw(code.location) as usize);
            places.push((name.clone(), self.program.place_name(thread, place)));
            let told = compiled.told(position, place).map(|(register, field)| {
                (format!("{name}.{}", body.registers[register.index()].name), state.get(field))
            });
            registers.extend(told);
        }
        let cells = compiled.machine.layout.cells.iter().filter_map(|cell| match cell.storage {
            Storage::Field(field) => Some((self.program.cell_name(cell.address), state.get(field))),
            Storage::Constant => None,
        });
        Plain { places, registers, cells: cells.collect() }
    }
}

/// What can be reached from the start, and by which way first.
struct Reach {
    /// In the order in which they were met.
    order: Vec<u32>,
    parent: Vec<u32>,
}

impl Reach {
    fn new<const N: usize>(graph: &Graph<'_, '_, N>, ends: impl Fn(usize) -> bool) -> Self {
        let mut parent = vec![u32::MAX; graph.len()];
        let (mut order, mut open) = (Vec::new(), VecDeque::from([0_u32]));
        parent[0] = 0;
        while let Some(number) = open.pop_front() {
            order.push(number);
            if ends(number as usize) {
                continue;
            }
            for entry in graph.row(number as usize) {
                if parent[entry.to as usize] == u32::MAX {
                    parent[entry.to as usize] = number;
                    open.push_back(entry.to);
                }
            }
        }
        Self { order, parent }
    }

    /// The nearest configuration of a kind, a drained one if there is any.
    fn nearest<const N: usize>(&self, graph: &Graph<'_, '_, N>, is_wanted: impl Fn(usize) -> bool) -> Option<u32> {
        let wanted = || self.order.iter().copied().filter(|&number| is_wanted(number as usize));
        wanted().find(|&number| graph.is_plain(number as usize)).or_else(|| wanted().next())
    }

    fn run_to<const N: usize>(&self, graph: &Graph<'_, '_, N>, end: u32) -> Option<Vec<StepCode>> {
        let mut way = vec![end];
        while let Some(&at) = way.last()
            && at != 0
        {
            way.push(self.parent[at as usize]);
        }
        way.reverse();
        let mut steps = Vec::new();
        for pair in way.windows(2) {
            steps.extend(steps_between(graph, pair[0] as usize, pair[1] as usize)?);
        }
        Some(steps)
    }
}

/// Where a run leads.
struct Way<const N: usize> {
    end: Packed<N>,
    /// Whether a configuration on the way or at the end is a target. A step of a thread and all flushes after it are one step of the chain.
    meets_target: bool,
}

/// None if the run cannot be followed.
fn follow<const N: usize>(chain: &Chain<'_, N>, run: &[Step]) -> Option<Way<N>> {
    let mut end = chain.initial().state;
    let mut meets_target = false;
    for step in run {
        meets_target |= step.action != Action::Flush && chain.model.is_target(&end);
        let mut next = None;
        chain.system.successors(&end, &mut |code, after| {
            next = next.or((chain.model.compiled.step(code) == *step).then_some(after));
            next.is_none()
        });
        end = next?;
    }
    meets_target |= chain.model.is_target(&end);
    Some(Way { end, meets_target })
}

/// The steps of a thread and of memory that one step of the chain stands for.
fn steps_between<const N: usize>(graph: &Graph<'_, '_, N>, from: usize, to: usize) -> Option<Vec<StepCode>> {
    let edge = graph.row(from).iter().find(|entry| entry.to as usize == to)?.edge;
    let (start, goal) = (graph.config(from).state, graph.config(to).state);
    if edge == NO_EDGE {
        return flushes_between(graph.chain, start, goal);
    }
    let choices = graph.chain.choices(&start)?;
    choices.into_iter().filter(|choice| choice.step.number == edge).find_map(|choice| {
        let flushes = flushes_between(graph.chain, choice.state, goal)?;
        Some([choice.step].into_iter().chain(flushes).collect())
    })
}

/// A shortest sequence of flushes from one state to another.
fn flushes_between<const N: usize>(chain: &Chain<'_, N>, start: Packed<N>, goal: Packed<N>) -> Option<Vec<StepCode>> {
    let mut met: Vec<(Packed<N>, usize, Option<StepCode>)> = vec![(start, 0, None)];
    let mut at = 0;
    while at < met.len() && met[at].0 != goal {
        let state = met[at].0;
        Tso::flushes(&chain.model.compiled.machine, &state, &mut |step, next| {
            if met.iter().all(|(known, _, _)| *known != next) {
                met.push((next, at, Some(step)));
            }
            true
        });
        at += 1;
    }
    met.get(at)?;
    let mut steps = Vec::new();
    while let Some(step) = met[at].2 {
        steps.push(step);
        at = met[at].1;
    }
    steps.reverse();
    Some(steps)
}

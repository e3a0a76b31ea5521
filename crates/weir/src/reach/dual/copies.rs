//! Arbitrarily many copies of threads.
//!
//! A configuration lists some copies with their states and load buffers, and stands for all instances with at least
//! these: copies that are not listed may be anywhere, if they do not hold the lock. They matter only through steps that
//! others notice (stores, read-modify-writes, unlocks), after which their own messages can be dropped at once; so,
//! backwards, such a step adds a copy with an empty buffer to the list. Copies in an initial state with an empty buffer
//! are left out: there are always more that have not moved. Finite multisets are well quasi-ordered by embedding if
//! their elements are, so the search terminates.

use weir_ir::{LocId, Program, PropertyKind, ThreadId};
use weir_witness::{BackwardProof, Goal};

use super::config::Config;
use super::goals::{self, GoalCover, Target, goal_covers};
use super::local_graph::{LocalGraphs, Symmetry};
use super::occurring::Occurring;
use super::predecessors::System;
use super::proof;
use super::well_structured::Search;
use super::{initial, local_graphs, no_condition, refused, system, too_large, too_many_ways, with_lock};
use crate::reach::counts::Counts;
use crate::session::Session;
use crate::verdict::{Failure, Statistics};
use crate::wsts::Outcome;

/// Whether a goal can be reached in some instance of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EveryNumber {
    /// In none.
    Unreachable,
    /// In one with at most so many copies.
    Reachable(usize),
}

/// Decides whether one of the goals can be reached under TSO in some instance.
///
/// # Errors
/// If the engine cannot handle the program or the goal, or at a limit.
pub(crate) fn reach_any_number(
    program: &Program,
    goals: &[Goal],
    most: u64,
    session: &Session,
) -> Result<(EveryNumber, Statistics), Failure> {
    let (found, statistics, _) = decide(program, goals, most, session, false)?;
    Ok((found, statistics))
}

/// The proof that no goal can be reached in any instance; none if one can be.
///
/// # Errors
/// As [`reach_any_number`].
pub(crate) fn certify_any_number(
    program: &Program,
    goals: &[Goal],
    most: u64,
    session: &Session,
) -> Result<Option<BackwardProof>, Failure> {
    Ok(decide(program, goals, most, session, true)?.2)
}

/// What can occur is computed in so many steps for each minimal configuration that may be found, at most: they take far
/// less time.
const STEPS_PER_CONFIGURATION: u64 = 20;

/// A question about all instances, in the load-buffer semantics.
pub(super) struct Question {
    pub(super) system: System,
    pub(super) initial: Config,
    /// The minimal configurations that show a goal.
    pub(super) goals: Vec<Config>,
    /// The maximum number of copies in one of them.
    most_in_goal: usize,
    local_graphs: LocalGraphs,
}

/// The question whether one of the goals can be reached.
pub(super) fn question(program: &Program, goals: &[Goal], session: &Session) -> Result<Question, Failure> {
    refuse_final_states(program, goals)?;
    let local_graphs = local_graphs(program, Symmetry::Reduce, session)?;
    let targets = goals::targets(program, &local_graphs, goals).ok_or_else(no_condition)?;
    let system = system(&local_graphs, &targets, session).map_err(Failure::Stopped)?;
    let system = system.ok_or_else(|| too_large(program))?;
    let (mut goals, mut most_in_goal) = (Vec::new(), 0);
    for target in &targets {
        for cover in covers(program, &system, &local_graphs, target, session)? {
            most_in_goal = most_in_goal.max(1 + cover.locals.len() - system.shape.threads);
            with_lock(&system, &cover, &mut |config| goals.push(config));
        }
    }
    let initial = initial(&system, &local_graphs);
    Ok(Question { system, initial, goals, most_in_goal, local_graphs })
}

impl Question {
    /// From now on, leaves out what cannot occur.
    pub(super) fn prune(&mut self, occurring: Occurring) {
        self.goals.retain(|config| occurring.is_possible(&self.system, config.view(&self.system.shape)));
        self.system.occurring = Some(occurring);
    }
}

fn decide(
    program: &Program,
    goals: &[Goal],
    most: u64,
    session: &Session,
    with_proof: bool,
) -> Result<(EveryNumber, Statistics, Option<BackwardProof>), Failure> {
    let began = session.elapsed();
    let mut question = question(program, goals, session)?;
    let initial = question.initial.clone();
    // The checker of proofs knows nothing of what can occur.
    if !with_proof {
        let most = most.saturating_mul(STEPS_PER_CONFIGURATION);
        let occurring = Occurring::of(&question.system, initial.view(&question.system.shape), most, session);
        if let Some(occurring) = occurring {
            question.prune(occurring);
        }
    }
    let mut search = Search::new(&question.system, Some(&initial.0)).keep(most);
    question.goals.iter().for_each(|config| search.add(config.0.clone(), None));
    let outcome = search.run(session, most);
    session.spend(search.basis.len() as u64);
    let statistics = Statistics {
        states: search.basis.len() as u64,
        transitions: search.steps,
        stored_bytes: search.basis.bytes(),
        elapsed: session.since(began),
        ..Statistics::default()
    };
    match outcome {
        Outcome::Saturated => {
            let proof = with_proof.then(|| proof::proof(&search, &question.local_graphs, goals));
            Ok((EveryNumber::Unreachable, statistics, proof))
        }
        Outcome::Stopped(limit) => Err(Failure::Stopped(limit)),
        Outcome::Covered(mut id) => {
            // Each step is one of a copy that was not seen before, at most.
            let mut copies = question.most_in_goal;
            while search.basis.parent(id) != id {
                id = search.basis.parent(id);
                copies += 1;
            }
            Ok((EveryNumber::Reachable(copies), statistics, None))
        }
    }
}

/// Final states are those in which all copies are done, which more copies can undo.
fn refuse_final_states(program: &Program, goals: &[Goal]) -> Result<(), Failure> {
    let asked = goals.iter().filter_map(|goal| match goal {
        Goal::Property(property) => program.properties.get(property.index()),
        Goal::Assertion(_) | Goal::NotRobust => None,
    });
    let Some(found) = asked.into_iter().find(|property| !matches!(property.kind, PropertyKind::Forbid(_))) else {
        return Ok(());
    };
    let what = "only `forbid` of a condition and `assert` can be decided for every number of threads".to_string();
    let help = "set the number of copies, as in `-D 'T[*]=3'`, or select other properties with `--goal`".to_string();
    Err(refused("arbitrary-threads", what, found.span, help))
}

/// The partial configurations that together cover a goal, states of copies after those of threads.
fn covers(
    program: &Program,
    system: &System,
    local_graphs: &LocalGraphs,
    target: &Target,
    session: &Session,
) -> Result<Vec<GoalCover>, Failure> {
    let too_many = || too_many_ways(program, target.goal);
    let counts = Counts::of(program, target.condition()).map_err(|_| too_many())?;
    let members: Vec<&[u32]> = system.automata.iter().map(|automaton| automaton.member.as_slice()).collect();
    let copies = Copies::new(system, local_graphs);
    let mut all = Vec::new();
    for numbers in counts.all_numbers() {
        let part = target.with_numbers(program, &counts, &numbers);
        let covers = goal_covers(local_graphs, &part, &members, session).map_err(Failure::Stopped)?;
        let covers = covers.ok_or_else(too_many)?;
        if covers.is_empty() {
            continue;
        }
        let is_at = |state, thread, locations: &[LocId]| copies.is_at(state, thread, locations);
        let choices = counts.choices(&numbers, &copies.states(), is_at).map_err(|_| too_many())?;
        for (cover, choice) in covers.iter().flat_map(|cover| choices.iter().map(move |choice| (cover, choice))) {
            let mut cover = cover.clone();
            cover.locals.extend(choice.iter().map(|&state| Some(state)));
            all.push(cover);
        }
    }
    Ok(all)
}

/// The states of copies: for each, the thread it is a copy of and where it is.
pub(super) struct Copies(Vec<(ThreadId, LocId)>);

impl Copies {
    pub(super) fn new(system: &System, local_graphs: &LocalGraphs) -> Self {
        let states = local_graphs.templates.iter().flat_map(|&(thread, graph)| {
            local_graphs.graphs[graph].states.iter().map(move |state| (thread, state.location))
        });
        let states: Vec<(ThreadId, LocId)> = states.collect();
        let members = system.automata.last().filter(|_| !system.starts_of_copies.is_empty());
        let members = members.into_iter().flat_map(|automaton| &automaton.member);
        Self(members.map(|&state| states[state as usize]).collect())
    }

    fn states(&self) -> Vec<u16> {
        (0..self.0.len() as u16).collect()
    }

    fn is_at(&self, state: u16, thread: ThreadId, locations: &[LocId]) -> bool {
        let (own, location) = self.0[usize::from(state)];
        own == thread && locations.contains(&location)
    }
}

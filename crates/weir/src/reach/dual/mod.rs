//! The exact engine: decides reachability under TSO with unbounded buffers, for programs with finitely many values.
//!
//! It uses the load-buffer semantics of TSO: instead of stores on their way to memory, each thread has a buffer of
//! values it may still read. A store writes memory at once; a thread may lag behind. The same drained states are
//! reachable ("A Load-Buffer Semantics for Total Store Ordering", Abdulla, Atig, Bouajjani and Ngo, 2018). With this
//! semantics, TSO is a well-structured transition system: configurations have a well-quasi-order, and larger ones can
//! do whatever smaller ones can. So [backward coverability](crate::wsts) decides reachability: it computes the minimal
//! basis of all configurations from which a goal can be reached, and saturation is guaranteed.
//!
//! Direction of error: none. `Holds` means that the initial configuration is not in the upward closure of that basis; a
//! violation is replayed. The deadlocked configurations are not upward-closed, so deadlocks are refused.

mod backwards;
mod bisimulation;
mod config;
mod copies;
mod counterexample;
mod goals;
mod local_graph;
mod occurring;
mod predecessors;
mod proof;
mod well_structured;

use std::time::Duration;

use weir_ir::{Diagnostic, EdgeId, Program, PropertyKind, Span};
use weir_witness::{BackwardProof, Checked, Goal};

use super::{Coverage, Options, Report, Statistics};
use crate::bounds::Bound;
use crate::semantics::refuse;
use crate::session::Session;
use crate::verdict::{Failure, Limit, Verdict};
use crate::wsts::{Id, Outcome};
pub(crate) use backwards::{Backwards, Drained, Region};
use bisimulation::{Automaton, bisimulation_quotient};
use config::{ANY, Config, FREE, Shape};
pub(crate) use config::{MOST_MESSAGES, MOST_SNAPSHOT_CELLS};
pub(crate) use copies::{EveryNumber, certify_any_number, reach_any_number};
use goals::{GoalCover, Target, goal_covers};
use local_graph::{GraphError, LocalGraphs, Symmetry, build};
use predecessors::System;
use well_structured::Search;

/// Decides whether a goal can be reached.
pub(super) fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    Ok(decide(program, options, session, false)?.0)
}

/// The proof that no goal can be reached. The inner error is the limit that was reached, or `None` if a goal can be
/// reached.
pub(super) fn certify(
    program: &Program,
    options: &Options,
    session: &Session,
) -> Result<Option<BackwardProof>, Failure> {
    let (report, proof) = decide(program, options, session, true)?;
    match (proof, report.verdict) {
        (None, Verdict::Unknown(limit)) => Err(Failure::Stopped(limit)),
        (proof, _) => Ok(proof),
    }
}

fn decide(
    program: &Program,
    options: &Options,
    session: &Session,
    with_proof: bool,
) -> Result<(Report, Option<BackwardProof>), Failure> {
    let began = session.elapsed();
    refuse::unsupported_by(program, refuse::Who::Engine("dual"))?;
    let goals = super::goals(program, options);
    refuse_deadlocks(program, &goals)?;
    let local_graphs = match local_graphs(program, Symmetry::Reduce, session) {
        Err(Failure::Stopped(limit)) => return Ok((stopped(limit, session.since(began)), None)),
        local_graphs => local_graphs?,
    };
    let targets = goals::targets(program, &local_graphs, &goals).ok_or_else(no_condition)?;
    let system = match system(&local_graphs, &targets, session) {
        Ok(system) => system.ok_or_else(|| too_large(program))?,
        Err(limit) => return Ok((stopped(limit, session.since(began)), None)),
    };
    let initial = initial(&system, &local_graphs);
    let mut search = Search::new(&system, Some(&initial.0)).keep(session.states_left());
    let basis = match goal_basis(&system, &local_graphs, &targets, session) {
        Ok(basis) => basis.map_err(|goal| too_many_ways(program, goal))?,
        Err(limit) => return Ok((stopped(limit, session.since(began)), None)),
    };
    for (_, config) in &basis {
        search.add(config.0.clone(), None);
    }
    let outcome = search.run(session, session.states_left());
    session.spend(search.basis.len() as u64);
    let is_proved = matches!(outcome, Outcome::Saturated);
    let verdict = match outcome {
        Outcome::Saturated => Verdict::Holds,
        Outcome::Stopped(limit) => Verdict::Unknown(limit),
        Outcome::Covered(id) => Verdict::Violated(Box::new(evidence(program, &search, &local_graphs, &basis, id)?)),
    };
    let statistics = Statistics {
        up_to_symmetry: false,
        reduction: crate::verdict::Reduction::None,
        states: search.basis.len() as u64,
        transitions: search.steps,
        stored_bytes: search.basis.bytes(),
        elapsed: session.since(began),
        ..Statistics::default()
    };
    let proof = (is_proved && with_proof).then(|| proof::proof(&search, &local_graphs, &goals));
    let coverage = coverage(program, &local_graphs);
    Ok((Report::new(verdict, statistics, coverage), proof))
}

/// The local state graphs of all threads.
fn local_graphs(program: &Program, symmetry: Symmetry, session: &Session) -> Result<LocalGraphs, Failure> {
    build(program, symmetry, session).map_err(|error| match error {
        GraphError::Limit(limit) => Failure::Stopped(limit),
        GraphError::Cell(address) => too_many_values(program, address, session),
        GraphError::Cells => too_many_cells(program, session),
        GraphError::Thread(thread) => too_many_states(program, thread),
    })
}

fn stopped(limit: Limit, elapsed: Duration) -> Report {
    let statistics = Statistics { elapsed, ..Statistics::default() };
    Report { statistics, ..Report::unknown(limit) }
}

/// The maximum number of threads: sets of threads are bits of a word.
pub(crate) const MOST_THREADS: usize = 60;

/// The program in the load-buffer semantics. None if it is too large.
fn system(local_graphs: &LocalGraphs, targets: &[Target], session: &Session) -> Result<Option<System>, Limit> {
    if local_graphs.threads.len() > MOST_THREADS {
        return Ok(None);
    }
    let observations = goals::observations(local_graphs, targets);
    let mut automata: Vec<Automaton> = Vec::new();
    for (graph, seen) in local_graphs.graphs.iter().zip(&observations) {
        match bisimulation_quotient(graph, seen, session)? {
            Some(automaton) => automata.push(automaton),
            None => return Ok(None),
        }
    }
    // The graphs of threads of which there are arbitrarily many are the last.
    let of_copies = automata.split_off(local_graphs.graphs.len() - local_graphs.templates.len());
    let members =
        |group| (0..local_graphs.threads.len()).filter(|&thread| local_graphs.group_of[thread] == group).collect();
    let groups = (0..automata.len()).map(members).collect();
    let values: Vec<usize> = local_graphs.cells.values.iter().map(Vec::len).collect();
    let snapshots = local_graphs.cells.snapshots.clone();
    let Some(shape) = Shape::new(groups, &values, &snapshots) else { return Ok(None) };
    let system = System::new(shape, automata, local_graphs.group_of.clone(), snapshots);
    Ok(with_copies(system, of_copies))
}

/// With copies of threads of which there are arbitrarily many, if there are such threads.
fn with_copies(system: System, automata: Vec<Automaton>) -> Option<System> {
    let (mut starts, mut states) = (Vec::new(), 0);
    for automaton in &automata {
        starts.push(automaton.initial.checked_add(states)?);
        states = states.checked_add(automaton.holds.len() as u16)?;
    }
    let mut rest = automata.into_iter();
    let Some(first) = rest.next() else { return Some(system) };
    let all = rest.try_fold(first, Automaton::beside)?;
    Some(system.with_copies(all, starts))
}

fn initial(system: &System, local_graphs: &LocalGraphs) -> Config {
    let locals: Vec<u16> = (0..local_graphs.threads.len()).map(|thread| system.automaton(thread).initial).collect();
    let mut config = Config::new(&system.shape, FREE, &locals, &vec![0; system.shape.cells]);
    config.sort(&system.shape);
    config
}

/// The minimal basis of the configurations that satisfy a goal. The inner error is a goal for which it is too large.
fn goal_basis(
    system: &System,
    local_graphs: &LocalGraphs,
    targets: &[Target],
    session: &Session,
) -> Result<Result<Vec<(Goal, Config)>, Goal>, Limit> {
    let members: Vec<&[u32]> = system.automata.iter().map(|automaton| automaton.member.as_slice()).collect();
    let mut basis = Vec::new();
    for target in targets {
        let covers = goal_covers(local_graphs, target, &members, session)?;
        let Some(covers) = covers else { return Ok(Err(target.goal)) };
        for cover in covers {
            with_lock(system, &cover, &mut |config| basis.push((target.goal, config)));
        }
    }
    Ok(Ok(basis))
}

/// Completes a cover by the holder of the lock: no thread, or one thread in a state in which it holds it.
fn with_lock(system: &System, cover: &GoalCover, emit: &mut impl FnMut(Config)) {
    let memory: Vec<u16> = cover.memory.iter().map(|value| value.unwrap_or(ANY)).collect();
    let mut locals: Vec<u16> = cover.locals.iter().map(|local| local.unwrap_or(ANY)).collect();
    let holds = |thread: usize, local: u16| system.automaton(thread).holds[usize::from(local)];
    let holders: Vec<usize> =
        (0..locals.len()).filter(|&thread| locals[thread] != ANY && holds(thread, locals[thread])).collect();
    match holders[..] {
        [holder] => emit(Config::new(&system.shape, holder as u16 + 1, &locals, &memory)),
        [] => {
            emit(Config::new(&system.shape, FREE, &locals, &memory));
            if !system.starts_of_copies.is_empty() {
                // It may be a copy of which nothing else is known.
                locals.push(ANY);
            }
            for thread in (0..locals.len()).filter(|&thread| locals[thread] == ANY) {
                let states = (0..system.automaton(thread).holds.len() as u16).filter(|&local| holds(thread, local));
                let is_listed = |other: usize| other < cover.locals.len() || other == thread;
                for local in states {
                    let mut locals: Vec<u16> = locals.clone();
                    locals[thread] = local;
                    let locals: Vec<u16> = (0..locals.len()).filter(|&at| is_listed(at)).map(|at| locals[at]).collect();
                    emit(Config::new(&system.shape, thread as u16 + 1, &locals, &memory));
                }
            }
        }
        // Two threads cannot hold it.
        _ => {}
    }
}

/// The run behind what the search found, replayed.
fn evidence(
    program: &Program,
    search: &Search<'_>,
    local_graphs: &LocalGraphs,
    basis: &[(Goal, Config)],
    id: Id,
) -> Result<Checked, Failure> {
    let lost = |what: &str| Failure::Bug(format!("no run can be constructed for a reachable goal: {what}"));
    let counterexample =
        counterexample::reconstruct(search, id).ok_or_else(|| lost("a step cannot be taken forwards"))?;
    let normal = |config: &Config| {
        let mut normal = config.clone();
        let order = search.system.normalized(&mut normal, |_, _| ());
        (normal, order)
    };
    let found = basis.iter().find_map(|(goal, config)| {
        let (normal, order) = normal(config);
        (normal == counterexample.root).then_some((*goal, order))
    });
    let (goal, order) = found.ok_or_else(|| lost("no goal"))?;
    // Position `to` of the root is position `order[to]` of the goal, and thread `thread` of the reconstructed run.
    let mut threads = vec![0; counterexample.thread_at.len()];
    for (to, &thread) in counterexample.thread_at.iter().enumerate() {
        threads[thread] = order.as_ref().map_or(to, |order| order[to]);
    }
    let steps = counterexample.run(search, local_graphs, &threads).ok_or_else(|| lost("a thread cannot follow"))?;
    Checked::new(program, counterexample::tso(steps), goal)
        .map_err(|error| Failure::Bug(format!("a run that was found cannot be replayed: {error}")))
}

/// What no thread can do, whatever the others do.
fn coverage(program: &Program, local_graphs: &LocalGraphs) -> Coverage {
    let mut unexecuted = Vec::new();
    let mut immobile = Vec::new();
    for (position, &thread) in local_graphs.threads.iter().enumerate() {
        let graph = local_graphs.of(position);
        let count = program.body(thread).edges().len();
        let mut taken = vec![false; count];
        graph.moves.iter().flatten().for_each(|step| taken[step.edge.index()] = true);
        if count > 0 && !taken.contains(&true) {
            immobile.push(thread);
        }
        unexecuted.extend((0..count).filter(|&edge| !taken[edge]).map(|edge| (thread, EdgeId::new(edge))));
    }
    Coverage { unexecuted, immobile, approximate: true, ..Coverage::default() }
}

fn refused(code: &'static str, what: String, span: Span, help: String) -> Failure {
    Failure::Refused(Box::new(Diagnostic::error(code, what, span).help(help)))
}

fn too_many_values(program: &Program, address: weir_ir::Address, session: &Session) -> Failure {
    let declared = program.shared_at(address).map(|(shared, _)| shared);
    let name = declared.map_or_else(|| format!("mem[{address}]"), |shared| shared.name.clone());
    let most = session.bound(Bound::DualValues);
    let count = if most == 1 { "1 value".to_owned() } else { format!("{most} values") };
    let what = format!("`{name}` takes more than {count}, perhaps without end; `dual` needs finitely many");
    let help = match declared {
        Some(shared) => format!("declare a range for it, as in `shared {}: 0..7;`", shared.name),
        None => "declare these cells with a range, as in `shared a[8]: 0..7;`".to_string(),
    };
    let help = format!("{help}, or allow more values with `--limit {}=N`", Bound::DualValues.name());
    refused("too-many-values", what, declared.map(|shared| shared.span).unwrap_or_default(), help)
}

fn too_many_cells(program: &Program, session: &Session) -> Failure {
    let most = session.bound(Bound::DualCells);
    let what = format!("the program accesses more than {most} cells; `dual` needs fewer");
    let span = program.threads.first().map(|thread| thread.span).unwrap_or_default();
    let help = format!(
        "use smaller arrays or another engine, or allow more cells with `--limit {}=N`",
        Bound::DualCells.name()
    );
    refused("too-many-cells", what, span, help)
}

fn too_many_states(program: &Program, thread: weir_ir::ThreadId) -> Failure {
    let thread = program.thread(thread);
    let what = format!(
        "`dual` needs finitely many states, but thread `{}` has too many on its own: its registers take too many values",
        thread.name
    );
    let help = "declare ranges for the cells it loads, or bound the values it computes (`r = (r + 1) % 8`)".to_string();
    refused("too-many-states", what, thread.span, help)
}

fn too_large(program: &Program) -> Failure {
    let span = program.threads.first().map(|thread| thread.span).unwrap_or_default();
    let what = "the program is too large for `dual`".to_string();
    let help = "use fewer threads, declare smaller ranges, or use another engine".to_string();
    refused("program-too-large", what, span, help)
}

/// Goals are listed as what threads and cells must be; a sum over many of them takes too long a list.
fn too_many_ways(program: &Program, goal: Goal) -> Failure {
    let stated = match goal {
        Goal::Property(property) => Some(program.properties[property.index()].span),
        Goal::Assertion(_) | Goal::NotRobust => None,
    };
    let what = "the property is too complex for `dual`: its condition can be satisfied in too many ways".to_string();
    let help = "state it over fewer threads, registers and cells, or use another engine".to_string();
    refused("goal-too-large", what, stated.unwrap_or_default(), help)
}

fn no_condition() -> Failure {
    let help = "use `weir robust` for robustness".to_string();
    refused("goal-not-supported", "`dual` decides conditions on states only".to_string(), Span::default(), help)
}

/// Said before anything is built, so that asking again without that property costs nothing.
fn refuse_deadlocks(program: &Program, goals: &[Goal]) -> Result<(), Failure> {
    let asked = goals.iter().filter_map(|goal| match goal {
        Goal::Property(property) => program.properties.get(property.index()),
        Goal::Assertion(_) | Goal::NotRobust => None,
    });
    let Some(found) = asked.into_iter().find(|property| property.kind == PropertyKind::ForbidDeadlock) else {
        return Ok(());
    };
    let what = "`dual` cannot decide deadlocks".to_string();
    let help = "use `--engine explicit` for this property, and select the others with `--goal`".to_string();
    Err(refused("deadlock-not-supported", what, found.span, help))
}

#[cfg(test)]
mod tests;

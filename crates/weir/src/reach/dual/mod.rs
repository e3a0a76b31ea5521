//! The exact engine: decides reachability under TSO with unbounded buffers, for programs with finitely many values.
//!
//! TSO seen from the other side: instead of stores that wait on their way to memory, each thread has a buffer of what it may still read. A
//! store writes memory at once; a thread may lag behind. The same states with empty buffers can be reached
//! ("A Load-Buffer Semantics for Total Store Ordering", Abdulla, Atig, Bouajjani and Ngo, 2018). Here configurations can be ordered so
//! that larger ones can do all that smaller ones can, without infinite sequences in which none is above an earlier one; so
//! going backwards from the goals, always keeping the least configurations only, comes to an end.
//!
//! Direction of error: none. `Holds` means that no goal's configurations can be reached from the initial one; a violation is
//! replayed. Deadlocks are not states that grow with buffers, and are refused.

mod automaton;
mod backwards;
mod config;
mod goals;
mod predecessors;
mod proof;
mod search;
mod unfold;
mod witness;

use std::time::Duration;

use weir_ir::{Diagnostic, EdgeId, Program, PropertyKind};
use weir_witness::{BackwardProof, Checked, Goal};

use super::{Coverage, Options, Report, Statistics, refuse};
use crate::{Failure, Limit, Session, Verdict};
use automaton::{Automaton, minimise};
pub(crate) use backwards::{Backwards, Drained, Region};
use config::{ANY, Config, FREE, Shape};
use goals::{Ask, Wanted, asks};
use predecessors::System;
use search::{Outcome, Search};
use unfold::{Trouble, Twins, Unfolded, unfold};

/// Decides whether a goal can be reached.
pub(super) fn reach(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    Ok(decide(program, options, session, false)?.0)
}

/// What proves that no goal can be reached. The inner result tells what stands in the way: a limit, or that one can.
pub(super) fn certify(
    program: &Program,
    options: &Options,
    session: &Session,
) -> Result<Result<BackwardProof, Option<Limit>>, Failure> {
    let (report, proof) = decide(program, options, session, true)?;
    Ok(proof.ok_or(if let Verdict::Unknown(limit) = report.verdict { Some(limit) } else { None }))
}

fn decide(
    program: &Program,
    options: &Options,
    session: &Session,
    wants_proof: bool,
) -> Result<(Report, Option<BackwardProof>), Failure> {
    let began = session.elapsed();
    refuse::unsupported(program)?;
    let goals = super::goals(program, options);
    let unfolded = match unfold(program, Twins::Interchangeable, session) {
        Ok(unfolded) => unfolded,
        Err(Trouble::Limit(limit)) => return Ok((stopped(limit, session.since(began)), None)),
        Err(Trouble::Cell(address)) => return Err(too_many_values(program, address)),
        Err(Trouble::Thread(thread)) => return Err(too_many_states(program, thread)),
    };
    let Some(wanted) = goals::wanted(program, &unfolded, &goals) else { return Err(deadlock(program, &goals)) };
    let system = match system(&unfolded, &wanted, session) {
        Ok(system) => system.ok_or_else(|| too_large(program))?,
        Err(limit) => return Ok((stopped(limit, session.since(began)), None)),
    };
    let initial = initial(&system, &unfolded);
    let mut search = Search::new(&system, Some(&initial));
    let targets = match targets(&system, &unfolded, &wanted, session) {
        Ok(targets) => targets.ok_or_else(|| too_many_ways(program, &goals))?,
        Err(limit) => return Ok((stopped(limit, session.since(began)), None)),
    };
    for (_, config) in &targets {
        search.add(config.clone(), None);
    }
    let outcome = search.run(session, session.states_left());
    session.spend(search.found.len() as u64);
    let is_proved = matches!(outcome, Outcome::Closed);
    let verdict = match outcome {
        Outcome::Closed => Verdict::Holds,
        Outcome::Stopped(limit) => Verdict::Unknown(limit),
        Outcome::Reached(id) => Verdict::Violated(Box::new(evidence(program, &search, &unfolded, &targets, id)?)),
    };
    let statistics = Statistics {
        states: search.found.len() as u64,
        transitions: search.steps,
        stored_bytes: search.found.bytes(),
        elapsed: session.since(began),
        ..Statistics::default()
    };
    let proof = (is_proved && wants_proof).then(|| proof::proof(&search, &unfolded, &goals));
    let report =
        Report { verdict, statistics, coverage: coverage(program, &unfolded), buffering: None, rounds: Vec::new() };
    Ok((report, proof))
}

fn stopped(limit: Limit, elapsed: Duration) -> Report {
    let statistics = Statistics { elapsed, ..Statistics::default() };
    Report { statistics, ..Report::unknown(limit) }
}

/// The load-buffer view of the program. None if something has no number.
fn system(unfolded: &Unfolded, wanted: &[Wanted], session: &Session) -> Result<Option<System>, Limit> {
    const MOST_THREADS: usize = 60;
    if unfolded.threads.len() > MOST_THREADS {
        return Ok(None);
    }
    let observations = goals::observations(unfolded, wanted);
    let mut automata: Vec<Automaton> = Vec::new();
    for (graph, seen) in unfolded.graphs.iter().zip(&observations) {
        match minimise(graph, seen, session)? {
            Some(automaton) => automata.push(automaton),
            None => return Ok(None),
        }
    }
    let members = |group| (0..unfolded.threads.len()).filter(|&thread| unfolded.group_of[thread] == group).collect();
    let groups = (0..unfolded.graphs.len()).map(members).collect();
    let values: Vec<usize> = unfolded.cells.values.iter().map(Vec::len).collect();
    let snapshots = unfolded.cells.snapshots.clone();
    let shape = Shape::new(groups, &values, &snapshots);
    Ok(shape.map(|shape| System::new(shape, automata, unfolded.group_of.clone(), snapshots)))
}

fn initial(system: &System, unfolded: &Unfolded) -> Config {
    let locals: Vec<u16> = (0..unfolded.threads.len()).map(|thread| system.automaton(thread).initial).collect();
    let mut config = Config::new(&system.shape, FREE, &locals, &vec![0; system.shape.cells]);
    config.sort(&system.shape);
    config
}

/// The least configurations that show a goal. None if they are too many.
fn targets(
    system: &System,
    unfolded: &Unfolded,
    wanted: &[Wanted],
    session: &Session,
) -> Result<Option<Vec<(Goal, Config)>>, Limit> {
    let members: Vec<&[u32]> = system.automata.iter().map(|automaton| automaton.member.as_slice()).collect();
    let mut targets = Vec::new();
    for goal in wanted {
        let Some(asks) = asks(unfolded, goal, &members, session)? else { return Ok(None) };
        for ask in asks {
            with_lock(system, &ask, &mut |config| targets.push((goal.goal, config)));
        }
    }
    Ok(Some(targets))
}

/// All ways in which the lock can be held: by nobody, or by one thread in a state in which it holds it.
fn with_lock(system: &System, ask: &Ask, emit: &mut impl FnMut(Config)) {
    let memory: Vec<u16> = ask.memory.iter().map(|value| value.unwrap_or(ANY)).collect();
    let locals: Vec<u16> = ask.locals.iter().map(|local| local.unwrap_or(ANY)).collect();
    let holds = |thread: usize, local: u16| system.automaton(thread).holds[usize::from(local)];
    let holders: Vec<usize> =
        (0..locals.len()).filter(|&thread| locals[thread] != ANY && holds(thread, locals[thread])).collect();
    match holders[..] {
        [holder] => emit(Config::new(&system.shape, holder as u16 + 1, &locals, &memory)),
        [] => {
            emit(Config::new(&system.shape, FREE, &locals, &memory));
            for thread in (0..locals.len()).filter(|&thread| locals[thread] == ANY) {
                let states = (0..system.automaton(thread).holds.len() as u16).filter(|&local| holds(thread, local));
                for local in states {
                    let mut locals = locals.clone();
                    locals[thread] = local;
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
    unfolded: &Unfolded,
    targets: &[(Goal, Config)],
    id: search::Id,
) -> Result<Checked, Failure> {
    let lost = |what: &str| Failure::Bug(format!("no run can be constructed for a reachable goal: {what}"));
    let tale = witness::retell(search, id).ok_or_else(|| lost("a step cannot be taken forwards"))?;
    let shape = &search.system.shape;
    let normal = |config: &Config| {
        let mut normal = config.clone();
        normal.strip(shape, |_, _| ());
        let order = normal.sort(shape);
        (normal, order)
    };
    let found = targets.iter().find_map(|(goal, config)| {
        let (normal, order) = normal(config);
        (normal == tale.root).then_some((*goal, order))
    });
    let (goal, order) = found.ok_or_else(|| lost("no goal"))?;
    // Position `to` of the root is thread `from` of the goal, and is played by this actor.
    let mut role = vec![0; tale.actors.len()];
    for (to, &actor) in tale.actors.iter().enumerate() {
        role[actor] = order.as_ref().map_or(to, |order| order[to]);
    }
    let steps = tale.run(search, unfolded, &role).ok_or_else(|| lost("a thread cannot follow"))?;
    Checked::new(program, witness::tso(steps), goal)
        .map_err(|error| Failure::Bug(format!("a run that was found cannot be replayed: {error}")))
}

/// What no thread can do, whatever the others do.
fn coverage(program: &Program, unfolded: &Unfolded) -> Coverage {
    let mut unexecuted = Vec::new();
    let mut immobile = Vec::new();
    for (position, &thread) in unfolded.threads.iter().enumerate() {
        let graph = &unfolded.graphs[unfolded.group_of[position]];
        let count = program.body(thread).edges().len();
        let mut taken = vec![false; count];
        graph.moves.iter().flatten().for_each(|step| taken[step.edge.index()] = true);
        if count > 0 && !taken.contains(&true) {
            immobile.push(thread);
        }
        unexecuted.extend((0..count).filter(|&edge| !taken[edge]).map(|edge| (thread, EdgeId::new(edge))));
    }
    Coverage { unexecuted, immobile, out_of_range: Vec::new(), approximate: true }
}

fn refused(code: &'static str, what: String, span: weir_ir::Span, help: String) -> Failure {
    Failure::Refused(Box::new(Diagnostic::error(code, what, span).help(help)))
}

fn too_many_values(program: &Program, address: weir_ir::Address) -> Failure {
    let declared = program.shared_at(address).map(|(shared, _)| shared);
    let name = declared.map_or_else(|| format!("mem[{address}]"), |shared| shared.name.clone());
    let what = format!("`dual` needs finitely many values, but those of `{name}` seem to be unbounded");
    let help = match declared {
        Some(shared) => format!("declare a range for it, as in `shared {}: 0..7;`", shared.name),
        None => "declare these cells with a range, as in `shared a[8]: 0..7;`".to_string(),
    };
    refused("too-many-values", what, declared.map(|shared| shared.span).unwrap_or_default(), help)
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
fn too_many_ways(program: &Program, goals: &[Goal]) -> Failure {
    let stated = goals.iter().find_map(|goal| match goal {
        Goal::Property(property) => Some(program.properties[property.index()].span),
        _ => None,
    });
    let what = "the property is too complex for `dual`: its condition can be satisfied in too many ways".to_string();
    let help = "state it over fewer threads, registers and cells, or use another engine".to_string();
    refused("goal-too-large", what, stated.unwrap_or_default(), help)
}

fn deadlock(program: &Program, goals: &[Goal]) -> Failure {
    let is_deadlock = |goal: &&Goal| {
        matches!(goal, Goal::Property(property)
            if program.properties[property.index()].kind == PropertyKind::ForbidDeadlock)
    };
    let span = goals.iter().find(is_deadlock).and_then(|goal| match goal {
        Goal::Property(property) => Some(program.properties[property.index()].span),
        _ => None,
    });
    let what = "`dual` cannot decide deadlocks".to_string();
    let help = "use `--engine explicit` for this property, and select the others with `--goal`".to_string();
    refused("deadlock-not-supported", what, span.unwrap_or_default(), help)
}

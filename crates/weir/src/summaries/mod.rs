//! Recursion of one thread, exactly: procedure summaries, for programs with finite data under SC.
//!
//! A program in which only one thread calls procedures, and no thread is started at run time, is a pushdown system: the
//! stack of that thread is the only part of a state without a bound. What happens between a call and its return depends
//! on the state at the call, without what the stack holds below, so each procedure is explored once per state in which
//! it is entered (memory, the lock, all other threads, and the arguments), and the states in which it returns are its
//! *summary*. Whoever calls it in that state goes on from each state of the summary. This is tabulation, as for
//! interprocedural data flow (Reps, Horwitz and Sagiv, POPL 1995); other threads step while the procedure runs, as the
//! state they are in is part of the shared one. If data is finite, there are finitely many such states, and the
//! exploration ends, however deep stacks may become. The paper "Getting Rid of Store-Buffers in TSO Analysis" names this
//! decidability in its conclusion.
//!
//! Under TSO the same holds for programs in which store buffers change nothing, as far as control flow tells
//! (`buffers.rs`).
//!
//! Direction of error: none. A state is only reached by steps, calls and returns that some run takes, and a run to it
//! can be rebuilt (`run.rs`), which `weir-witness` replays; nothing that a run does is left out.

mod buffers;
mod goals;
mod run;
mod tabulation;

use weir_ir::{Instruction, Multiplicity, Program, ThreadId};
use weir_witness::{Checked, Goal, Model, Run};

use crate::parameterized::step::Code;
use crate::session::Session;
use crate::verdict::{Coverage, Failure, Limit, Statistics};
use tabulation::Tabulation;

/// What an exploration with summaries has found out.
#[derive(Clone, Debug)]
pub(crate) struct Summarized {
    /// The goals that runs reach, with a run for each.
    pub(crate) reached: Vec<(Goal, Checked)>,
    /// Why the exploration is not complete, if it is not.
    pub(crate) limit: Option<Limit>,
    pub(crate) statistics: Statistics,
    pub(crate) coverage: Coverage,
}

/// The thread that calls procedures, if summaries decide these goals of a linked program under this memory model.
pub(crate) fn calling_thread(linked: &Program, model: Model, goals: &[Goal]) -> Option<ThreadId> {
    if linked.threads.iter().any(|thread| thread.multiplicity == Multiplicity::Arbitrary) {
        return None;
    }
    // What a procedure leaves in these would be part of its summary.
    if linked.threads.iter().any(|thread| thread.body.thread_locals().next().is_some()) {
        return None;
    }
    let does = |thread: ThreadId, is_meant: fn(&Instruction) -> bool| {
        linked.body(thread).edges().iter().any(|edge| is_meant(&edge.instruction))
    };
    let is_call = |instruction: &Instruction| matches!(instruction, Instruction::Call { .. });
    let is_spawn = |instruction: &Instruction| matches!(instruction, Instruction::Spawn(_));
    let mut calling = linked.running_threads().filter(|&thread| does(thread, is_call));
    let first = calling.next()?;
    let is_finite = calling.next().is_none() && !linked.running_threads().any(|thread| does(thread, is_spawn));
    (is_finite && (model == Model::Sc || buffers::change_nothing(linked, goals))).then_some(first)
}

/// Explores a linked program of which `calling` is the [calling thread](calling_thread). Ends as soon as all goals are
/// reached, or the first one.
///
/// # Errors
/// If a run that was found cannot be replayed.
pub(crate) fn explore(
    (linked, calling): (&Program, ThreadId),
    model: Model,
    goals: &[Goal],
    first_only: bool,
    session: &Session,
) -> Result<Summarized, Failure> {
    let began = session.elapsed();
    let session = session.doing("summaries: visiting states per call");
    let code = Code::new(linked, &|_, _| true, false);
    let mut tabulation = Tabulation::new(&code, calling, goals, first_only);
    let mut limit = tabulation.explore(&session);
    let mut reached = Vec::new();
    for (goal, at) in tabulation.reached() {
        let Some(steps) = tabulation.steps_to(at) else {
            // The run exists, but is too long to show.
            limit = limit.or(Some(Limit::Memory));
            continue;
        };
        let steps = if model == Model::Tso { buffers::flushed(linked, steps) } else { steps };
        let checked = Checked::new(linked, Run { model, steps }, goal)
            .map_err(|error| Failure::Bug(format!("a run that summaries stand for cannot be replayed: {error}")))?;
        reached.push((goal, checked));
    }
    let statistics = Statistics { elapsed: session.since(began), ..tabulation.statistics() };
    Ok(Summarized { reached, limit, statistics, coverage: tabulation.coverage() })
}

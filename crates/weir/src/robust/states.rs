//! Does the program reach the same drained states under TSO as under SC?
//!
//! Weaker than robustness of traces: stores may overtake loads as long as the states that come of it are ones that SC
//! reaches as well. What counts of a state is said in [`observed`](super::observed).
//!
//! *A robust program has the same drained states.* Let a run under TSO end in a drained state. If the program is
//! robust, some run under SC has the same trace. In both, each thread executes the same instructions and loads the
//! same values, so it ends at the same location with the same registers; the stores to each cell reach memory in the
//! same order, so the last one is the same, and with it memory; and the lock was taken and released by the same
//! threads. So the run under SC ends in that very state. Under SC every state is drained, and every run under SC is
//! also one under TSO in which each store is flushed at once (while another thread holds the lock, SC takes no store).
//! Hence trace robustness is tried first: it needs no buffers, and decides programs whose buffers grow without bound.
//!
//! Otherwise the states under SC are collected, and those under TSO are searched for a drained one that is not among
//! them. Direction of error: none. `Holds` means that both searches were complete. A violation is a run that
//! `weir-witness` has replayed to a drained state; its happens-before relation has a cycle, else a run under SC would
//! do the same. That *no* run under SC reaches the state rests on the search under SC, which was complete.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use weir_ir::Program;
use weir_witness::{Checked, Goal, Model, Run};

use super::observed::{Observed, Waits};
use super::{Options, Report, robust};
use crate::search::{Found, MOST_WORKERS, Outcome, WithGoals, breadth_first};
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::machine::{Machine, System};
use crate::semantics::refuse;
use crate::semantics::sc::Sc;
use crate::semantics::size::with_state_size;
use crate::semantics::state::{FlatState, Packed};
use crate::semantics::tso::Tso;
use crate::session::Session;
use crate::verdict::{Failure, Limit, Statistics, Verdict};

/// How many states were compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compared {
    /// States reached under SC that look different.
    pub sc: u64,
    /// States visited under TSO, drained or not.
    pub tso: u64,
}

/// Checks whether every drained state that `program` reaches under TSO is one that it reaches under SC.
///
/// # Errors
/// If the engine does not support the program, or if an invariant of Weir is broken.
///
/// ```
/// use weir::robust::{Options, robust, same_states};
/// use weir::{Language, Program, Session, Verdict};
///
/// // Each thread delays its store past its load, but nobody can tell: what is loaded is 0 in any case.
/// let text = "shared x, y;
///             thread P { x = 1; let r = y; r = 0; }
///             thread Q { y = 1; let s = x; s = 0; }";
/// let program = Program::parse(text, Language::Weir)?;
/// let (options, session) = (Options::default(), Session::default());
/// assert!(matches!(robust(&program, &options, &session)?.verdict, Verdict::Violated(_)));
/// assert!(matches!(same_states(&program, &options, &session)?.verdict, Verdict::Holds));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn same_states(program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
    let began = session.elapsed();
    let traces = robust(program, options, session)?;
    // Where a limit ended that, there is nothing left for more.
    if !matches!(traces.verdict, Verdict::Violated(_)) {
        return Ok(traces);
    }
    let found = compare(program, &Waits::new(), options.jobs, session)?;
    let mut statistics = traces.statistics;
    statistics.add(&found.statistics);
    statistics.elapsed = session.since(began);
    Ok(Report { verdict: found.verdict, statistics, compared: Some(found.compared), ..traces })
}

/// What a comparison found.
pub(crate) struct Comparison {
    pub(crate) verdict: Verdict<Box<Checked>>,
    pub(crate) compared: Compared,
    pub(crate) statistics: Statistics,
}

impl Comparison {
    fn stopped(limit: Limit, compared: Compared, statistics: Statistics) -> Self {
        Self { verdict: Verdict::Unknown(limit), compared, statistics }
    }
}

/// Compares the states by exploring them.
pub(crate) fn compare(
    program: &Program,
    waits: &Waits,
    jobs: NonZeroUsize,
    session: &Session,
) -> Result<Comparison, Failure> {
    refuse::unsupported_by(program, refuse::Who::Other("the comparison of states"))?;
    // One layout for both models, so that equal states are equal words. Which registers count is decided state by
    // state.
    let purpose = Purpose { keep_dead_registers: true, buffered: true, monitored: false, goals: &[], keeps_back: &[] };
    let compiled = match compile(program, purpose, session) {
        Err(Failure::Stopped(limit)) => {
            return Ok(Comparison::stopped(limit, Compared::default(), Statistics::default()));
        }
        compiled => compiled?,
    };
    let observed = Observed::new(program, &compiled, waits);
    with_state_size!(compiled.machine.layout.words, from 16, N => {
        compare_sized::<N>(program, &compiled, &observed, jobs, session)
    })
}

fn compare_sized<const N: usize>(
    program: &Program,
    compiled: &Compiled,
    observed: &Observed<'_>,
    jobs: NonZeroUsize,
    session: &Session,
) -> Result<Comparison, Failure> {
    let (machine, jobs) = (&compiled.machine, jobs.get().min(MOST_WORKERS));
    let words = machine.layout.words;
    let known = States::new();
    let collect = |state: &Packed<N>| {
        known.insert(observed.of(state));
        None
    };
    let kept_bytes = &|| known.bytes();
    let sc = WithGoals { system: System::<Sc, N>::new(machine), goal: collect, kept_bytes };
    let under_sc = breadth_first(&sc, session, jobs);
    let mut compared = Compared { sc: known.len(), tso: 0 };
    let mut statistics = under_sc.statistics(words);
    faultless(machine)?;
    if let Found::Stopped(limit) = under_sc.found {
        return Ok(Comparison::stopped(limit, compared, statistics));
    }
    let unknown = |state: &Packed<N>| {
        let is_new = machine.goals.all_drained.holds(state) && !known.contains(&observed.of(state));
        is_new.then_some(Goal::NotRobust)
    };
    let tso = WithGoals { system: System::<Tso, N>::new(machine), goal: unknown, kept_bytes };
    let under_tso = breadth_first(&tso, session, jobs);
    compared.tso = under_tso.states;
    statistics.add(&under_tso.statistics(words));
    faultless(machine)?;
    let verdict = verdict(program, compiled, under_tso)?;
    Ok(Comparison { verdict, compared, statistics })
}

fn faultless(machine: &Machine) -> Result<(), Failure> {
    machine.fault.get().map_or(Ok(()), |fault| Err(Failure::Bug(fault.clone())))
}

fn verdict(program: &Program, compiled: &Compiled, outcome: Outcome) -> Result<Verdict<Box<Checked>>, Failure> {
    Ok(match outcome.found {
        Found::Nothing => Verdict::Holds,
        Found::Stopped(limit) => Verdict::Unknown(limit),
        Found::Goal(_, steps) => {
            let steps = steps.into_iter().map(|step| compiled.step(step)).collect();
            let checked = Checked::new(program, Run { model: Model::Tso, steps }, Goal::NotRobust);
            Verdict::Violated(Box::new(checked.map_err(|error| {
                Failure::Bug(format!("a run to a state that SC does not reach cannot be confirmed: {error}"))
            })?))
        }
    })
}

/// States as they look, shared by all workers.
struct States<const N: usize> {
    shards: [Mutex<FxHashSet<Packed<N>>>; SHARDS],
    count: AtomicU64,
}

/// Workers seldom wait for each other with so many.
const SHARDS: usize = 16;

impl<const N: usize> States<N> {
    fn new() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()), count: AtomicU64::new(0) }
    }

    fn shard(&self, state: &Packed<N>) -> &Mutex<FxHashSet<Packed<N>>> {
        let mixed = state.words().iter().fold(0u64, |sum, word| sum.rotate_left(5) ^ word);
        let number = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        &self.shards[number as usize % SHARDS]
    }

    fn insert(&self, state: Packed<N>) {
        if self.shard(&state).lock().insert(state) {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn contains(&self, state: &Packed<N>) -> bool {
        self.shard(state).lock().contains(state)
    }

    fn len(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// A set is between half full and full after it has grown.
    fn bytes(&self) -> u64 {
        self.len() * 2 * size_of::<Packed<N>>() as u64
    }
}

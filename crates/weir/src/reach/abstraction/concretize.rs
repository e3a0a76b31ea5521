//! Is there a run under TSO that follows a run with approximated buffers?
//!
//! Each thread must take the same edges, and of a choice of values the same value, in the same order; how threads
//! interleave and when stores are flushed is free. So the search is finite. It goes depth-first, and prefers what the
//! approximate run did next; it gives up after a fixed number of states, which can only lose runs.

use weir_ir::sort::sort_by_key;

use rustc_hash::FxHashSet;
use weir_witness::Goal;

use crate::bounds::Bound;
use crate::semantics::machine::{Machine, System};
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;
use crate::semantics::{StepCode, TransitionSystem};
use crate::session::Session;

/// How often the clock is looked at.
const PERIOD: usize = 1024;

/// A goal, and a run under TSO that reaches it along the threads' paths of `run`.
pub(super) fn concretize<const N: usize>(
    machine: &Machine,
    run: &[StepCode],
    session: &Session,
) -> Option<(Goal, Vec<StepCode>)> {
    let mut search =
        Search::<N> { system: System::new(machine), guide: Guide::new(machine, run), seen: FxHashSet::default() };
    let start = search.system.initial();
    let progress = vec![0; 2 * machine.threads.len()];
    if let Some(goal) = search.goal(&start) {
        return Some((goal, Vec::new()));
    }
    search.is_new(&start, &progress);
    let mut stack = vec![Frame { step: None, todo: search.todo(&start, &progress), progress }];
    while let Some(frame) = stack.last_mut() {
        let Some((step, state)) = frame.todo.pop() else {
            stack.pop();
            continue;
        };
        let progress = search.guide.advanced(&search.system, &frame.progress, step);
        if !search.is_new(&state, &progress) {
            continue;
        }
        if let Some(goal) = search.goal(&state) {
            let steps = stack.iter().filter_map(|frame| frame.step).chain([step]).collect();
            return Some((goal, steps));
        }
        let visited = search.seen.len();
        if visited >= session.size_bound(Bound::ConcretizeStates)
            || visited.is_multiple_of(PERIOD) && session.exceeded().is_some()
        {
            return None;
        }
        stack.push(Frame { step: Some(step), todo: search.todo(&state, &progress), progress });
    }
    None
}

/// A state on the way, and what is still to be tried from it.
struct Frame<const N: usize> {
    step: Option<StepCode>,
    progress: Vec<u32>,
    /// The most promising last.
    todo: Vec<(StepCode, Packed<N>)>,
}

struct Search<'a, const N: usize> {
    system: System<'a, Tso, N>,
    guide: Guide,
    seen: FxHashSet<Box<[u64]>>,
}

impl<const N: usize> Search<'_, N> {
    /// Notes a state; `false` if it is known.
    fn is_new(&mut self, state: &Packed<N>, progress: &[u32]) -> bool {
        let words = state.0[..self.system.words()].iter().copied();
        self.seen.insert(words.chain(progress.iter().map(|&count| u64::from(count))).collect())
    }

    /// What the state shows: a goal of its own, or that nothing can follow.
    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.system.goal(state).or_else(|| {
            let goal = self.system.deadlock_goal(state)?;
            let mut can_step = false;
            self.system.each_successor(state, &mut |_, _| {
                can_step = true;
                false
            });
            (!can_step).then_some(goal)
        })
    }

    /// The steps that the guide admits.
    fn todo(&self, state: &Packed<N>, progress: &[u32]) -> Vec<(StepCode, Packed<N>)> {
        let mut todo = Vec::new();
        self.system.each_successor(state, &mut |step, next| {
            if let Some(moment) = self.guide.moment(&self.system, progress, step) {
                todo.push((moment, step, next));
            }
            true
        });
        sort_by_key(&mut todo, |&(moment, step, _)| std::cmp::Reverse((moment, step)));
        todo.into_iter().map(|(_, step, next)| (step, next)).collect()
    }
}

/// What each thread did in the approximate run, and when.
struct Guide {
    /// For each thread its edges, and then for each thread its flushes, with their moments.
    rows: Vec<Vec<(usize, StepCode)>>,
    edge_count: u32,
}

impl Guide {
    fn new(machine: &Machine, run: &[StepCode]) -> Self {
        // Whose step it is does not depend on the size of states.
        let system = System::<Tso, 1>::new(machine);
        let mut guide = Self { rows: vec![Vec::new(); 2 * machine.threads.len()], edge_count: machine.edge_count };
        for (moment, &step) in run.iter().enumerate() {
            let row = guide.row(&system, step);
            guide.rows[row].push((moment, step));
        }
        guide
    }

    fn row(&self, system: &impl TransitionSystem, step: StepCode) -> usize {
        let flushes = step.number >= self.edge_count;
        system.thread_of(step) + if flushes { self.rows.len() / 2 } else { 0 }
    }

    fn advanced(&self, system: &impl TransitionSystem, progress: &[u32], step: StepCode) -> Vec<u32> {
        let mut progress = progress.to_vec();
        progress[self.row(system, step)] += 1;
        progress
    }

    /// When the approximate run took this step, if it is one that may be taken now. Flushes always may.
    fn moment(&self, system: &impl TransitionSystem, progress: &[u32], step: StepCode) -> Option<usize> {
        let row = self.row(system, step);
        let expected = self.rows[row].get(progress[row] as usize);
        if step.number >= self.edge_count {
            return Some(expected.map_or(usize::MAX, |&(moment, _)| moment));
        }
        expected.filter(|(_, expected)| *expected == step).map(|&(moment, _)| moment)
    }
}

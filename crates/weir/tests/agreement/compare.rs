//! What agreement means: the same goals after as many steps, the same number of states, the same edges executed,
//! whatever the order of the search and the number of workers.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

use weir::reach::{Options, Reduction, Report, Search, all_goals, reach};
use weir::{Failure, Limit, Limits, Session, Verdict};
use weir_ir::{EdgeId, Expr, Multiplicity, Program, Property, PropertyKind, Span, ThreadId};
use weir_testkit::{Outcome, dump, explore, shrink};
use weir_witness::{Goal, Model, Step};

/// How thoroughly to compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How many states the reference visits at most.
    pub(crate) limit: usize,
    /// With which symmetries and reductions to try every search, too, with dead registers cleared.
    pub(crate) merging: &'static [(bool, Reduction)],
    /// Whether to try limits on states.
    pub(crate) budgets: bool,
    /// Whether to search depth-first, too.
    pub(crate) depth_first: bool,
    /// The numbers of workers that must give the same report as one does.
    pub(crate) jobs: &'static [usize],
}

/// All ways of merging states.
pub(crate) const ALL_MERGED: &[(bool, Reduction)] = &[
    (false, Reduction::None),
    (true, Reduction::None),
    (false, Reduction::Local),
    (true, Reduction::Local),
    (false, Reduction::Persistent),
    (true, Reduction::Persistent),
    (false, Reduction::Dynamic),
    (false, Reduction::Cartesian),
    (true, Reduction::Cartesian),
];

/// What one comparison saw, for claims about the comparisons as a whole.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Seen {
    /// Whether the reference visited every state.
    pub(crate) complete: bool,
    /// How many states the reference visited.
    pub(crate) states: usize,
    /// How deep they lie at most.
    pub(crate) depth: usize,
    /// How many goals can be reached.
    pub(crate) reached: usize,
    /// Whether the engine said that it cannot hold the states of the program: that is no disagreement.
    pub(crate) refused: bool,
}

/// Compares on one program.
///
/// # Panics
/// If there is a disagreement; with the smallest program that shows one.
pub(crate) fn check(name: &str, program: &Program, model: Model, effort: Effort) -> Seen {
    let disagreement = match compare(program, model, effort) {
        Ok(seen) => return seen,
        Err(disagreement) => disagreement,
    };
    let small = shrink(program, |smaller| compare(smaller, model, effort).is_err());
    let shrunk = compare(&small, model, effort).err().unwrap_or_default();
    panic!("{name} under {}: {disagreement}\nshrunk: {shrunk}\n{}", model.name(), dump(&small));
}

/// What the engines and the reference disagree about, if anything.
fn compare(program: &Program, model: Model, effort: Effort) -> Result<Seen, String> {
    let program = &with_impossible_goal(program);
    let reference = explore(program, to_testkit(model), effort.limit).map_err(|refused| format!("{refused:?}"))?;
    let judge = Judge { program, model, effort, reference: &reference };
    if judge.states_are_too_large()? {
        return Ok(Seen { refused: true, ..Seen::default() });
    }
    let (reached, unreached): (Vec<Goal>, Vec<Goal>) =
        all_goals(program).into_iter().partition(|goal| judge.steps_to(*goal).is_some());
    if reference.complete {
        judge.agree_on_all_states(&unreached)?;
        if effort.budgets {
            judge.agree_on_budgets(&unreached)?;
        }
    } else {
        judge.agree_on_incompleteness(&unreached)?;
    }
    for goal in &reached {
        judge.agree_on_goal(&[*goal])?;
    }
    if reached.len() > 1 {
        judge.agree_on_goal(&all_goals(program))?;
    }
    let Outcome { complete, states, depth, .. } = reference;
    Ok(Seen { complete, states, depth, reached: reached.len(), refused: false })
}

/// With a goal that no state shows, so that there is something to look for in vain.
fn with_impossible_goal(program: &Program) -> Program {
    let mut program = program.clone();
    program.properties.push(Property { kind: PropertyKind::Forbid(Expr::Const(0)), span: Span::default() });
    program
}

/// The model, as the reference calls it.
pub(crate) fn to_testkit(model: Model) -> weir_testkit::Model {
    match model {
        Model::Sc => weir_testkit::Model::Sc,
        Model::Tso => weir_testkit::Model::Tso,
    }
}

struct Judge<'a> {
    program: &'a Program,
    model: Model,
    effort: Effort,
    reference: &'a Outcome,
}

impl Judge<'_> {
    /// The least number of steps to a goal, if the reference reached it.
    fn steps_to(&self, goal: Goal) -> Option<usize> {
        let goal = match goal {
            Goal::Property(property) => weir_testkit::Goal::Property(property),
            Goal::Assertion(thread) => weir_testkit::Goal::Assertion(thread),
            Goal::NotRobust => unreachable!("`reach` does not look for it"),
        };
        self.reference.goals.get(&goal).copied()
    }

    fn options(&self, goals: &[Goal]) -> Options {
        let (model, goals) = (self.model, goals.to_vec());
        Options { model, goals, keep_dead_registers: true, symmetry: false, ..Options::default() }
    }

    /// No goal can be reached: every search visits everything, and so the same.
    fn agree_on_all_states(&self, unreached: &[Goal]) -> Result<(), String> {
        let options = self.options(unreached);
        let report = self.holds(&options)?;
        let Outcome { states, transitions, depth, .. } = *self.reference;
        same("states, transitions and depth", numbers(&report), [states, transitions, depth].map(|n| n as u64))?;
        if self.effort.depth_first {
            let deep = self.holds(&Options { search: Search::DepthFirst, ..options.clone() })?;
            same("states depth-first", deep.statistics.states, states as u64)?;
        }
        self.merged(&options).iter().try_for_each(|merged| self.agree_with_states_merged(merged))
    }

    /// The same search with states merged.
    fn merged(&self, options: &Options) -> Vec<Options> {
        let merged = |&(symmetry, reduction): &(bool, Reduction)| Options {
            keep_dead_registers: false,
            symmetry,
            reduction,
            ..options.clone()
        };
        self.effort.merging.iter().map(merged).collect()
    }

    /// Clearing dead registers merges states, and so does symmetry; both always the same ones.
    fn agree_with_states_merged(&self, options: &Options) -> Result<(), String> {
        let cleared = self.holds(options)?.statistics.states;
        if cleared > self.reference.states as u64 {
            return Err(format!("{options:?} makes {cleared} states of {}", self.reference.states));
        }
        if self.effort.depth_first {
            let deep = self.holds(&Options { search: Search::DepthFirst, ..options.clone() })?;
            same("states depth-first, some merged", deep.statistics.states, cleared)?;
        }
        Ok(())
    }

    /// The search ends, with no goal found; and it executed what can be executed.
    fn holds(&self, options: &Options) -> Result<Report, String> {
        let report = self.search(options, None)?;
        if !matches!(report.verdict, Verdict::Holds) {
            return Err(format!("no goal can be reached, but {:?} with {options:?}", answer(&report)));
        }
        let unexecuted: BTreeSet<_> = report.coverage.unexecuted.iter().copied().collect();
        same("edges not executed", unexecuted, self.unexecuted())?;
        same("threads that did nothing", report.coverage.immobile.clone(), self.immobile())?;
        let blocked: BTreeSet<_> = report.coverage.out_of_range.iter().copied().collect();
        same("stores out of range", &blocked, &self.reference.blocked)?;
        same("whether that is approximate", report.coverage.approximate, false)?;
        Ok(report)
    }

    /// The threads of which nothing was executed although there is something.
    fn immobile(&self) -> Vec<ThreadId> {
        let unexecuted = self.unexecuted();
        let edges = |thread: ThreadId| self.program.body(thread).edges().len();
        let none = |thread: &ThreadId| {
            edges(*thread) > 0 && unexecuted.iter().filter(|edge| edge.0 == *thread).count() == edges(*thread)
        };
        self.program.thread_ids().filter(none).collect()
    }

    fn unexecuted(&self) -> BTreeSet<(ThreadId, EdgeId)> {
        let runs = |thread: &ThreadId| self.program.thread(*thread).multiplicity == Multiplicity::One;
        let edges = |thread: ThreadId| {
            (0..self.program.body(thread).edges().len()).map(move |edge| (thread, EdgeId::new(edge)))
        };
        let all = self.program.thread_ids().filter(runs).flat_map(edges);
        all.filter(|edge| !self.reference.executed.contains(edge)).collect()
    }

    /// There are more states than the reference visited: no search that may visit only so many has seen all. It may
    /// have seen others than the reference, though, and a goal among them.
    fn agree_on_incompleteness(&self, unreached: &[Goal]) -> Result<(), String> {
        for options in self.searches(unreached) {
            let report = self.search(&options, Some(self.reference.states as u64))?;
            if matches!(report.verdict, Verdict::Holds) {
                return Err(format!("there are more states than {}", report.statistics.states));
            }
        }
        Ok(())
    }

    /// A budget that is just enough is no limit, and one state less is one.
    fn agree_on_budgets(&self, unreached: &[Goal]) -> Result<(), String> {
        let enough = self.reference.states as u64;
        for options in self.searches(unreached) {
            let report = self.search(&options, Some(enough))?;
            same("verdict when the limits is just enough", answer(&report), Verdict::Holds)?;
            if enough > 1 {
                let report = self.search(&options, Some(enough - 1))?;
                same("verdict when the limits is too small", answer(&report), Verdict::Unknown(Limit::States))?;
                same("states when the limits is too small", report.statistics.states, enough - 1)?;
            }
        }
        Ok(())
    }

    /// The orders of search to try.
    fn searches(&self, goals: &[Goal]) -> Vec<Options> {
        let depth_first = self.effort.depth_first.then_some(Search::DepthFirst);
        let searches = [Search::BreadthFirst].into_iter().chain(depth_first);
        searches.map(|search| Options { search, ..self.options(goals) }).collect()
    }

    /// One of the goals can be reached: breadth-first finds the one that takes fewest steps.
    fn agree_on_goal(&self, goals: &[Goal]) -> Result<(), String> {
        // The reference may have been stopped within the layer of states in which it saw the goal.
        let limits = Some(4 * self.effort.limit as u64 + 50_000);
        let fewest = goals.iter().filter_map(|goal| self.steps_to(*goal)).min();
        let options = self.options(goals);
        let (merged, fused): (Vec<Options>, Vec<Options>) =
            self.merged(&options).into_iter().partition(|merged| merged.reduction == Reduction::None);
        // Depth-first search may go on for ever where others find a goal.
        let ends = |options: &&Options| options.reduction != Reduction::Dynamic || self.reference.complete;
        for fused in fused.iter().filter(ends) {
            let (goal, steps) = self.violated(fused, limits)?;
            if self.reference.complete && self.steps_to(goal).is_none_or(|fewest| steps < fewest) {
                return Err(format!("with local steps fused, {goal:?} is reached in {steps} steps"));
            }
        }
        for options in [options].into_iter().chain(merged) {
            let (goal, steps) = self.violated(&options, limits)?;
            same(&format!("steps to {goals:?}"), Some(steps), fewest)?;
            same("steps to the goal that is claimed", self.steps_to(goal), fewest)?;
            if self.effort.depth_first && self.reference.complete {
                let (goal, steps) = self.violated(&Options { search: Search::DepthFirst, ..options }, limits)?;
                if self.steps_to(goal).is_none_or(|fewest| steps < fewest) {
                    return Err(format!("depth-first reaches {goal:?} in {steps} steps"));
                }
            }
        }
        Ok(())
    }

    /// The goal that a search finds, and the number of steps to it.
    fn violated(&self, options: &Options, limits: Option<u64>) -> Result<(Goal, usize), String> {
        match answer(&self.search(options, limits)?) {
            Verdict::Violated((goal, steps)) => Ok((goal, steps.len())),
            verdict => Err(format!("{:?} can be reached, but {verdict:?} with {options:?}", options.goals)),
        }
    }

    /// Searches with one worker, and then with others, which must not change anything.
    fn search(&self, options: &Options, states: Option<u64>) -> Result<Report, String> {
        let report = self.search_once(options, states)?;
        if options.search == Search::BreadthFirst {
            for &jobs in self.effort.jobs {
                let jobs = NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN);
                let other = self.search_once(&Options { jobs, ..options.clone() }, states)?;
                same(&format!("verdict with {jobs} workers"), answer(&other), answer(&report))?;
                same(&format!("numbers with {jobs} workers"), numbers(&other), numbers(&report))?;
                same(&format!("coverage with {jobs} workers"), &other.coverage, &report.coverage)?;
            }
        }
        Ok(report)
    }

    /// Whether the engine refuses the program because a state of it has no room.
    fn states_are_too_large(&self) -> Result<bool, String> {
        let options = self.options(&[]);
        match self.try_search(&options, Some(1))? {
            Err(Failure::Refused(diagnostic)) if diagnostic.code == "state-too-large" => Ok(true),
            Err(failure) => Err(format!("{failure} with {options:?}")),
            Ok(_) => Ok(false),
        }
    }

    fn search_once(&self, options: &Options, states: Option<u64>) -> Result<Report, String> {
        self.try_search(options, states)?.map_err(|failure| format!("{failure} with {options:?}"))
    }

    /// A panic is a disagreement, too: so it can be shrunk.
    fn try_search(&self, options: &Options, states: Option<u64>) -> Result<Result<Report, Failure>, String> {
        let limits = Limits { states, memory: Some(2 << 30), ..Limits::default() };
        let session = Session::new(limits);
        let result = catch_unwind(AssertUnwindSafe(|| reach(self.program, options, &session)));
        result.map_err(|_| format!("the engine panicked with {options:?}"))
    }
}

/// The verdict, with no more of a witness than what decides everything else about it.
fn answer(report: &Report) -> Verdict<(Goal, Vec<Step>)> {
    match &report.verdict {
        Verdict::Holds => Verdict::Holds,
        Verdict::Violated(witness) => Verdict::Violated((witness.goal(), witness.run().steps.clone())),
        Verdict::Unknown(limit) => Verdict::Unknown(*limit),
    }
}

/// States, transitions and depth.
fn numbers(report: &Report) -> [u64; 3] {
    let statistics = &report.statistics;
    [statistics.states, statistics.transitions, statistics.depth]
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, engine: T, expected: T) -> Result<(), String> {
    if engine == expected { Ok(()) } else { Err(format!("{what}: the engine has {engine:?}, expected {expected:?}")) }
}

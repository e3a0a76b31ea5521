//! Random runs: the cross-check of everything else, and the only way for programs that are too large for it.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weir_ir::{Expr, Program};
use weir_witness::{Model as MemoryModel, Run};

use crate::search::parallel::{Task, in_parallel};
use crate::session::{Progress, Session};
use crate::verdict::{Failure, Limit};

use super::abstraction::Abstraction;
use super::chain::{Chain, Visitor, with_chain};
use super::confidence::{Sums, for_mean, for_probability};
use super::frequency::Frequency;
use super::model::{Model, NO_EDGE};
use super::probability::Interval;
use super::rng::Rng;
use super::sampler::{Drawn, Sampler};
use super::settings::Settings;
use super::target::Target;

/// Options of a simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Simulation {
    /// Number of runs.
    pub runs: u64,
    /// The random seed: the same seed gives the same runs.
    pub seed: u64,
    /// Maximum number of steps: a run that has not reached the target by then stays undecided.
    pub most_steps: u64,
    /// The maximum probability that the true value lies outside an interval.
    pub doubt: f64,
    /// Number of workers. The result does not depend on it.
    pub jobs: NonZeroUsize,
}

/// The result of a simulation.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Estimate {
    /// Number of runs made: fewer than requested if a limit was reached first.
    pub runs: u64,
    /// Number of runs that reached the target.
    pub hits: u64,
    /// Number of undecided runs: `probability` allows for both outcomes.
    pub undecided: u64,
    /// Total number of steps.
    pub steps: u64,
    /// The confidence interval of the probability of reaching the target.
    pub probability: Interval,
    /// The mean cost of runs that reached the target, and its asymptotic confidence interval.
    pub cost: Option<(f64, Interval)>,
    /// The first run that reached the target; if none did, the first run.
    pub sample: Run,
    /// The limit that was reached before all runs were made, if any.
    pub limit: Option<Limit>,
}

/// Simulates random runs until they reach the target, can never reach it, or are too long.
///
/// # Errors
/// If the program is not supported, the settings are invalid, or an invariant of Weir is broken.
pub fn simulate(
    program: &Program,
    target: impl Into<Target>,
    settings: &Settings,
    simulation: &Simulation,
    session: &Session,
) -> Result<Estimate, Failure> {
    let session = &session.doing("prob: simulating");
    let model = Model::new(program, target, settings, session)?;
    let estimate = with_chain(&model, Runs { simulation, session });
    model.fault()?;
    Ok(estimate)
}

/// After so many steps of a run the limits are looked at.
const A_CHECK: u64 = 4_096;

/// Runs that can never reach the target are ended early if this many abstract states are enough to see it.
const MOST_ABSTRACT: usize = 20_000;

struct Runs<'w> {
    simulation: &'w Simulation,
    session: &'w Session,
}

/// Sums over runs. All of them are whole numbers, so that their order does not matter.
#[derive(Default)]
struct Tally {
    runs: AtomicU64,
    hits: AtomicU64,
    undecided: AtomicU64,
    steps: AtomicU64,
    costs: parking_lot::Mutex<Sums>,
    first_hit: AtomicU64,
    stop: AtomicBool,
}

/// How a run ended.
enum End {
    Hit {
        cost: u128,
    },
    Miss,
    Undecided,
    /// A limit was reached.
    Stopped,
}

impl Visitor for Runs<'_> {
    type Output = Estimate;

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Estimate {
        let abstraction = Abstraction::new(chain, false, MOST_ABSTRACT, self.session);
        let tally = Tally { first_hit: AtomicU64::new(u64::MAX), ..Tally::default() };
        let next = AtomicU64::new(0);
        let work = || {
            loop {
                let run = next.fetch_add(1, Ordering::Relaxed);
                if run >= self.simulation.runs || tally.stop.load(Ordering::Relaxed) {
                    return;
                }
                if run.is_multiple_of(64)
                    && self.session.exceeded_with(chain.model.compiled.machine.buffers.bytes(), 0).is_some()
                {
                    tally.stop.store(true, Ordering::Relaxed);
                    return;
                }
                if run.is_multiple_of(1024) {
                    self.session.report(Progress { states: run, unit: "runs", ..Progress::default() });
                }
                self.one(chain, abstraction.as_ref(), run, &tally);
            }
        };
        let workers = self.simulation.jobs.get().min(crate::search::MOST_WORKERS);
        in_parallel((0..workers).map(|_| Box::new(work) as Task<'_>).collect());
        self.estimate(chain, abstraction.as_ref(), &tally)
    }
}

impl Runs<'_> {
    fn one<const N: usize>(&self, chain: &Chain<'_, N>, abstraction: Option<&Abstraction<N>>, run: u64, tally: &Tally) {
        let mut steps = 0;
        let sampler = Sampler::new(chain, Rng::of_run(self.simulation.seed, run));
        let end = self.walk(sampler, (chain, abstraction), &mut steps, &mut |_| {});
        if let End::Stopped = end {
            tally.stop.store(true, Ordering::Relaxed);
            return;
        }
        tally.runs.fetch_add(1, Ordering::Relaxed);
        tally.steps.fetch_add(steps, Ordering::Relaxed);
        match end {
            End::Hit { cost } => {
                tally.hits.fetch_add(1, Ordering::Relaxed);
                tally.costs.lock().add(cost);
                tally.first_hit.fetch_min(run, Ordering::Relaxed);
            }
            End::Miss | End::Stopped => {}
            End::Undecided => {
                tally.undecided.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn walk<const N: usize>(
        &self,
        mut sampler: Sampler<'_, '_, N>,
        (chain, abstraction): (&Chain<'_, N>, Option<&Abstraction<N>>),
        steps: &mut u64,
        record: &mut impl FnMut(crate::semantics::StepCode),
    ) -> End {
        let (mut at, mut cost) = (chain.initial(), 0_u128);
        loop {
            if chain.model.is_target(&at.state) {
                return End::Hit { cost };
            }
            let is_prob0 = || abstraction.is_some_and(|abstraction| abstraction.is_prob0(chain, &at.state));
            if chain.model.is_drained(&at.state) && is_prob0() {
                return End::Miss;
            }
            if *steps >= self.simulation.most_steps {
                return End::Undecided;
            }
            if steps.is_multiple_of(A_CHECK)
                && *steps > 0
                && self.session.exceeded_with(chain.model.compiled.machine.buffers.bytes(), 0).is_some()
            {
                return End::Stopped;
            }
            match sampler.step(&at, record) {
                Drawn::Step(edge, next) => {
                    cost += if edge == NO_EDGE { 0 } else { u128::from(chain.model.costs[edge as usize]) };
                    at = next;
                    *steps += 1;
                }
                Drawn::DeadEnd => return End::Miss,
                Drawn::TooLarge => return End::Undecided,
            }
        }
    }

    fn estimate<const N: usize>(
        &self,
        chain: &Chain<'_, N>,
        abstraction: Option<&Abstraction<N>>,
        tally: &Tally,
    ) -> Estimate {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let (runs, hits, undecided) = (get(&tally.runs), get(&tally.hits), get(&tally.undecided));
        let shown = if hits > 0 { get(&tally.first_hit) } else { 0 };
        let mut codes = Vec::new();
        let sampler = Sampler::new(chain, Rng::of_run(self.simulation.seed, shown));
        self.walk(sampler, (chain, abstraction), &mut 0, &mut |step| codes.push(step));
        let steps = codes.into_iter().map(|code| chain.model.compiled.step(code)).collect();
        Estimate {
            runs,
            hits,
            undecided,
            steps: get(&tally.steps),
            probability: for_probability(hits, undecided, runs, self.simulation.doubt),
            cost: for_mean(&tally.costs.lock(), self.simulation.doubt),
            sample: Run { model: MemoryModel::Tso, steps },
            limit: tally.stop.load(Ordering::Relaxed).then(|| self.session.exceeded().unwrap_or(Limit::Memory)),
        }
    }
}

/// How often each edge is taken in a run of `simulation.most_steps` steps, on the average over random runs; in order of
/// threads and edges.
///
/// # Errors
/// If the program is not supported, or if an invariant of Weir is broken.
pub fn simulated_frequencies(
    program: &Program,
    settings: &Settings,
    simulation: &Simulation,
    session: &Session,
) -> Result<Vec<Frequency<f64>>, Failure> {
    let model = Model::new(program, Expr::Const(0), settings, session)?;
    let (counts, runs) = with_chain(&model, Counts { simulation, session });
    model.fault()?;
    let average =
        |(number, count): (usize, u64)| (model.compiled.edge(number as u32), count as f64 / runs.max(1) as f64);
    Ok(counts.into_iter().enumerate().map(average).collect())
}

struct Counts<'w> {
    simulation: &'w Simulation,
    session: &'w Session,
}

impl Visitor for Counts<'_> {
    type Output = (Vec<u64>, u64);

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
        let mut counts = vec![0; chain.model.costs.len()];
        for run in 0..self.simulation.runs {
            if run > 0 && self.session.exceeded().is_some() {
                return (counts, run);
            }
            let mut sampler = Sampler::new(chain, Rng::of_run(self.simulation.seed, run));
            let mut at = chain.initial();
            for _ in 0..self.simulation.most_steps {
                let Drawn::Step(edge, next) = sampler.step(&at, &mut |_| {}) else { break };
                if let Some(count) = counts.get_mut(edge as usize) {
                    *count += 1;
                }
                at = next;
            }
        }
        (counts, self.simulation.runs)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::prob::testing::read;
    use crate::session::Limits;

    /// P needs sixty coins in a row to fall on the same side: that can happen, so no run is given up early.
    #[test]
    fn a_limit_within_a_run_ends_it_and_is_reported() {
        let (program, target) = read(
            "thread P { let c = 0; loop { choose { c = 0; } or { c = c + 1; } if c == 60 { hit: skip; } } }
            forbid P at hit;",
        );
        let looks = AtomicU64::new(0);
        let clock = Arc::new(move || Duration::from_millis(looks.fetch_add(1, Ordering::Relaxed)));
        let limits = Limits { time: Some(Duration::from_millis(10)), ..Limits::default() };
        let session = Session::new(limits).with_clock(clock);
        let simulation = Simulation { runs: 1, seed: 1, most_steps: 1_000_000, doubt: 0.001, jobs: NonZeroUsize::MIN };
        let found =
            simulate(&program, &target, &Settings::default(), &simulation, &session).expect("it can be handled");
        assert_eq!((found.runs, found.hits, found.limit), (0, 0, Some(Limit::Time)));
    }
}

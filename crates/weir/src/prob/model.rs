//! A program made ready to be run by chance: who is scheduled how often, how stores leave buffers, what is looked for,
//! what steps cost.

use rustc_hash::FxHashSet;
use weir_ir::flow::{Cfg, Loops};
use weir_ir::{Body, CostSubject, Diagnostic, Edge, Instruction, Program, PropertyId, Span};
use weir_witness::Goal;

use crate::bounds::Bound;
use crate::reach::{self, Engine, liveness};
use crate::search::scalarsets::Renaming;
use crate::semantics::compile::{Compiled, Purpose, compile};
use crate::semantics::locks::longest_section;
use crate::semantics::machine::System;
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;
use crate::semantics::{TransitionSystem, refuse, scalarsets};
use crate::session::Session;
use crate::translate::Translation;
use crate::translate::slice::{Sliced, Slicer};
use crate::verdict::{Failure, Limit, Verdict};

use super::settings::{Settings, UpdatePolicy};
use super::target::{Alternative, Target};

/// The step of a configuration in which no thread can step: it stays as it is, and buffers may drain.
pub(super) const NO_EDGE: u32 = u32::MAX;

/// A program, a target and the odds.
pub(super) struct Model {
    /// The program with the target as its only property, without the values that the target does not depend on.
    pub(super) judged: Program,
    pub(super) sliced: Sliced,
    pub(super) compiled: Compiled,
    pub(super) settings: Settings,
    /// The scheduling weight of each present thread, for when it was not the last to step.
    pub(super) weights: Vec<u128>,
    /// The same for when it was.
    pub(super) sticky_weights: Vec<u128>,
    /// What is looked for: the target's alternatives, as goals.
    pub(super) goals: Vec<Goal>,
    /// For each of them whether it mentions cells: then it is judged at drained configurations, as properties are.
    judged_when_drained: Vec<bool>,
    /// The states in which a thread is stuck, as their words, if these are looked for.
    stuck: Option<FxHashSet<Box<[u64]>>>,
    /// Whether some thread takes the global lock, which keeps others from draining.
    pub(super) uses_lock: bool,
    /// The most steps that a thread makes while it holds the lock; none if it may hold it forever.
    longest_section: Option<usize>,
    /// Whether no thread stores in a loop, so that buffers have a bound.
    pub(super) is_bounded: bool,
    /// What each edge costs.
    pub(super) costs: Vec<u64>,
    /// For each edge, the group of edges that it is counted with when visits of labels are.
    pub(super) labels: Vec<Option<u32>>,
    /// The names of each group: a place may have several labels.
    pub(super) label_names: Vec<Vec<String>>,
    /// Configurations that differ only in the numbering of these threads count as one.
    pub(super) families: Vec<Renaming>,
}

/// Programs of at most so many edges are compiled even if a limit was reached before.
const SMALL: usize = 10_000;

/// The number of edges of a program.
fn size(program: &Program) -> usize {
    program.thread_ids().map(|thread| program.body(thread).edges().len()).sum()
}

impl Model {
    /// # Errors
    /// If the program has something that cannot be handled, or if the settings do not fit it.
    pub(super) fn new(
        program: &Program,
        target: impl Into<Target>,
        settings: &Settings,
        session: &Session,
    ) -> Result<Self, Failure> {
        refuse::unsupported_by(program, refuse::Who::Other("`prob`"))?;
        settings.check()?;
        modest_costs(program)?;
        let target = target.into();
        let judged = Program { properties: target.properties(), ..program.clone() };
        let alternatives = target.alternatives();
        let goals: Vec<Goal> = (0..alternatives.len()).map(|number| Goal::Property(PropertyId::new(number))).collect();
        let sliced = Slicer::new(&judged, session).without_values_but_of(&goals);
        let judged = sliced.program().clone();
        let purpose =
            Purpose { keep_dead_registers: false, buffered: true, monitored: false, goals: &goals, keeps_back: &[] };
        let compiled = match compile(&judged, purpose, session) {
            // Compiling this takes no time, so the answer is an interval, whatever the limits are.
            Err(Failure::Stopped(_)) if size(program) <= SMALL => compile(&judged, purpose, &Session::default())?,
            result => result?,
        };
        let conditions = alternatives.iter().filter(|wanted| matches!(wanted, Alternative::Condition(_)));
        let judged_when_drained = conditions.map(Alternative::is_judged_when_drained).collect();
        let stuck = alternatives.iter().zip(&goals).find(|(wanted, _)| **wanted == Alternative::Stuck);
        let stuck = stuck.map(|(_, &goal)| stuck_states(&judged, goal, &compiled, session)).transpose()?;
        let (plain, sticky) = settings.stickiness.map_or((1, 1), |factor| (factor.denominator, factor.numerator));
        let weight = |factor: u64| {
            let each = compiled.threads.iter().map(|&thread| u128::from(program.thread(thread).weight));
            each.map(|weight| weight * u128::from(factor)).collect::<Vec<u128>>()
        };
        let (weights, sticky_weights) = (weight(plain), weight(sticky));
        let edges: Vec<u32> = (0..compiled.machine.edge_count).collect();
        let costs = edges.iter().map(|&number| cost(program, &compiled, number)).collect();
        let (labels, label_names) = label_groups(program, &compiled);
        let uses_lock = compiled.machine.layout.lock.is_some();
        let settings = settings.clone();
        Ok(Self {
            judged,
            sliced,
            goals,
            compiled,
            settings,
            weights,
            sticky_weights,
            judged_when_drained,
            stuck,
            uses_lock,
            longest_section: longest_section(program),
            is_bounded: !program.running_threads().any(|thread| stores_in_a_loop(program.body(thread))),
            costs,
            labels,
            label_names,
            families: Vec::new(),
        })
    }

    /// Lumps configurations that differ only in the numbering of interchangeable threads of equal weight: they have the
    /// same probability to reach the target. What single threads do cannot be told from the lumped chain, and neither
    /// can who stepped last.
    #[must_use]
    pub(super) fn lumped(mut self) -> Self {
        if self.settings.symmetry && self.settings.stickiness.is_none() && !self.seeks_stuck() {
            let mut symmetry = scalarsets::symmetry(&self.judged, &self.compiled, &self.goals);
            symmetry.families.retain(|family| {
                let weight = |number: &usize| self.weights[family.threads[*number]];
                family.classes.iter().all(|class| class.iter().all(|one| weight(one) == weight(&class[0])))
            });
            self.families = Renaming::all(&self.judged, &self.compiled, &symmetry);
        }
        self
    }

    /// Whether the state is one that is looked for.
    pub(super) fn is_target<const N: usize>(&self, state: &Packed<N>) -> bool {
        let goals = &self.compiled.machine.goals;
        let is_drained = goals.all_drained.holds(state);
        let mut judged = goals.drained.iter().zip(&self.judged_when_drained);
        judged.any(|((_, condition), when_drained)| (is_drained || !when_drained) && condition.eval(state) != 0)
            || self.is_deadlock(state)
            || self.is_stuck(state)
    }

    /// Whether deadlocks are among what is looked for.
    pub(super) fn seeks_deadlocks(&self) -> bool {
        self.compiled.machine.goals.deadlock.is_some()
    }

    /// Whether states in which a thread is stuck are among what is looked for. No state shows by itself that it is one,
    /// and those with [over-approximated buffers](super::abstraction) are not among those that are known.
    pub(super) fn seeks_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    fn is_stuck<const N: usize>(&self, state: &Packed<N>) -> bool {
        let words = self.compiled.machine.layout.words;
        self.stuck.as_ref().is_some_and(|known| known.contains(&state.0[..words]))
    }

    /// Whether the state is a deadlock, if these are looked for.
    fn is_deadlock<const N: usize>(&self, state: &Packed<N>) -> bool {
        if self.compiled.machine.goals.deadlock_goal(state).is_none() {
            return false;
        }
        let mut can_step = false;
        System::<Tso, N>::new(&self.compiled.machine).each_successor(state, &mut |_, _| {
            can_step = true;
            false
        });
        !can_step
    }

    /// The alternatives of the target that count whatever waits in buffers.
    pub(super) fn goals_met_at_once(&self) -> Vec<Goal> {
        let goals = self.compiled.machine.goals.drained.iter().zip(&self.judged_when_drained);
        goals.filter(|(_, when_drained)| !**when_drained).map(|(&(goal, _), _)| goal).collect()
    }

    /// Whether all of the target is judged at drained configurations only.
    pub(super) fn is_judged_when_drained(&self) -> bool {
        !self.seeks_deadlocks()
            && !self.seeks_stuck()
            && self.judged_when_drained.iter().all(|&when_drained| when_drained)
    }

    /// Whether all buffers are empty.
    pub(super) fn is_drained<const N: usize>(&self, state: &Packed<N>) -> bool {
        self.compiled.machine.goals.all_drained.holds(state)
    }

    /// How many stores wait in all buffers together.
    pub(super) fn size<const N: usize>(&self, state: &Packed<N>) -> usize {
        let machine = &self.compiled.machine;
        let numbers = machine.layout.buffers.iter().flatten().map(|&field| state.raw(field));
        numbers.map(|number| machine.buffers.entries(number).count()).sum()
    }

    /// Whether every run visits drained configurations forever, almost surely. With the lock, buffers of others wait
    /// while it is held; uniform updates make up for that as soon as it is released, and other policies need not.
    pub(super) fn always_drains(&self) -> bool {
        !self.uses_lock || (self.longest_section.is_some() && self.settings.updates == UpdatePolicy::Uniform)
    }

    /// Whether every run of the program is one of the chain. Where an update keeps to one buffer, stores of two of them
    /// cannot leave between two steps; so what the program can do may be out of the chain's reach.
    pub(super) fn follows_every_run(&self) -> bool {
        let buffers = self.compiled.machine.layout.buffers.iter().flatten().count();
        self.settings.updates != UpdatePolicy::Single || buffers <= 1
    }

    /// The expected number of steps until all buffers are empty is at most this, whatever the program and the scheduler
    /// do; `None` if no bound is known. See `docs/probability.md` for the proofs.
    pub(super) fn steps_to_drain(&self, size: usize) -> Option<f64> {
        if !self.always_drains() {
            return None;
        }
        // A hair more than what is proved, so that rounding errs to the safe side.
        let more = 1.0 + 1e-9;
        match self.settings.updates {
            UpdatePolicy::Uniform if self.uses_lock => {
                let around = 1.0 + self.steps_to_unlock(self.longest_section?);
                Some((around + 2.0 * (size as f64 + around) + (1.5 * around + 0.5).powi(2)) * more)
            }
            UpdatePolicy::Uniform => Some(if size == 0 { 0.0 } else { size as f64 + 3.0 }),
            UpdatePolicy::Geometric(p) => {
                let p = p.to_f64();
                Some(size as f64 / (p + p * p - 1.0) * more)
            }
            UpdatePolicy::Single => None,
        }
    }

    /// An upper bound on the average number of steps until the lock is released.
    fn steps_to_unlock(&self, section: usize) -> f64 {
        let all = || self.weights.iter().zip(&self.sticky_weights);
        let least = all().map(|(&plain, &sticky)| plain.min(sticky)).min().unwrap_or(1) as f64;
        let total: f64 = all().map(|(&plain, &sticky)| plain.max(sticky) as f64).sum();
        section as f64 * (total / least + section as f64 + 3.0)
    }

    /// Why the program gave no answer, if an invariant broke on the way.
    pub(super) fn fault(&self) -> Result<(), Failure> {
        self.compiled.machine.fault.get().map_or(Ok(()), |fault| Err(Failure::Bug(fault.clone())))
    }
}

/// The states in which a thread is stuck: all of them, or none if there is a proof that there are none.
fn stuck_states(
    program: &Program,
    goal: Goal,
    compiled: &Compiled,
    session: &Session,
) -> Result<FxHashSet<Box<[u64]>>, Failure> {
    let most = session.bound(Bound::ProbStuckStates);
    match liveness::stuck_states(program, compiled, &session.part(Some(most))) {
        Ok(found) => Ok(found),
        Err(Limit::States) if session.states_left() > most => {
            let options = reach::Options { engine: Engine::Dual, goals: vec![goal], ..reach::Options::default() };
            match reach::reach(program, &options, session) {
                Ok(report) if report.verdict == Verdict::Holds => Ok(FxHashSet::default()),
                Err(bug @ Failure::Bug(_)) => Err(bug),
                _ => Err(too_many_for_stuck(most)),
            }
        }
        Err(limit) => Err(Failure::Stopped(limit)),
    }
}

fn too_many_for_stuck(most: u64) -> Failure {
    let what = format!("`stuck` as a target needs all states, and there are more than {most}");
    let help = "`--limit prob-stuck-states=N` allows more, `--target` selects another target, and `weir check` decides \
        whether `forbid stuck` holds, also where buffers grow without bound";
    Failure::Refused(Box::new(Diagnostic::error("too-many-states", what, Span::default()).help(help)))
}

fn stores_in_a_loop(body: &Body) -> bool {
    let loops = Loops::of(&Cfg::of(body));
    let is_in_a_loop = |edge: &Edge| loops.depth(edge.from) > 0 && loops.depth(edge.to) > 0;
    body.edges().iter().any(|edge| edge.instruction.is_store() && is_in_a_loop(edge))
}

/// A step that costs more than this is refused: sums over long runs must stay whole numbers.
pub(crate) const MOST_COST: i64 = 1_000_000_000;

fn modest_costs(program: &Program) -> Result<(), Failure> {
    let Some(rule) = program.costs.iter().find(|rule| rule.cost > MOST_COST) else { return Ok(()) };
    let what = format!("this step costs {}, but the maximum cost is {MOST_COST}", rule.cost);
    let error = Diagnostic::error("cost-too-large", what, rule.span).help("use larger units of cost");
    Err(Failure::Refused(Box::new(error)))
}

/// What a step costs: the last rule that applies, else 1.
fn cost(program: &Program, compiled: &Compiled, number: u32) -> u64 {
    let (thread, edge) = compiled.edge(number);
    let body = program.body(thread);
    let edge = body.edge(edge);
    let labels = &body.locations[edge.from.index()].labels;
    let applies = |subject: &CostSubject| match subject {
        CostSubject::Label(label) => labels.contains(label),
        kind => *kind == kind_of(&edge.instruction),
    };
    let rule = program.costs.iter().rev().find(|rule| applies(&rule.subject));
    rule.map_or(1, |rule| u64::try_from(rule.cost).unwrap_or(0))
}

fn kind_of(instruction: &Instruction) -> CostSubject {
    match instruction {
        Instruction::Load { .. } | Instruction::Snapshot(_) | Instruction::Await { .. } => CostSubject::Load,
        Instruction::Store { .. } => CostSubject::Store,
        Instruction::Fence | Instruction::Membarrier => CostSubject::Fence,
        Instruction::ReadModifyWrite { .. } => CostSubject::ReadModifyWrite,
        Instruction::Lock | Instruction::Unlock => CostSubject::Lock,
        _ => CostSubject::Local,
    }
}

/// Edges by the labels of the location that they leave: `P0 at critical`.
fn label_groups(program: &Program, compiled: &Compiled) -> (Vec<Option<u32>>, Vec<Vec<String>>) {
    let mut groups: Vec<Vec<String>> = Vec::new();
    let of_edge = |number: u32| {
        let (thread, edge) = compiled.edge(number);
        let body = program.body(thread);
        let labels = &body.locations[body.edge(edge).from.index()].labels;
        let thread = &program.thread(thread).name;
        let names: Vec<String> = labels.iter().map(|label| format!("{thread} at {label}")).collect();
        if names.is_empty() {
            return None;
        }
        let known = groups.iter().position(|known| *known == names);
        Some(known.unwrap_or_else(|| {
            groups.push(names);
            groups.len() - 1
        }) as u32)
    };
    ((0..compiled.machine.edge_count).map(of_edge).collect(), groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prob::settings::Fraction;
    use crate::prob::testing::model;

    const WRITER: &str = "shared x; thread P { loop { x = 1; } } forbid x == 1;";

    fn geometric(numerator: u64, denominator: u64) -> Settings {
        let updates = UpdatePolicy::Geometric(Fraction { numerator, denominator });
        Settings { updates, ..Settings::default() }
    }

    /// The expected number of steps until one buffer is empty, if each step adds a store: by iteration, with lengths up
    /// to 60.
    fn steps_to_empty(size: usize, stays: impl Fn(usize, usize) -> f64) -> f64 {
        let mut steps = vec![0.0; 61];
        for _ in 0..3_000 {
            for length in 1..60 {
                steps[length] = 1.0 + (1..=length + 1).map(|left| stays(length + 1, left) * steps[left]).sum::<f64>();
            }
        }
        steps[size]
    }

    #[test]
    fn buffers_drain_within_the_bound_that_was_proved() {
        let uniform = model(WRITER, &Settings::default());
        for size in 1..20 {
            let bound = uniform.steps_to_drain(size).expect("it is known");
            assert!(steps_to_empty(size, |from, _| 1.0 / (from + 1) as f64) <= bound, "{size} {bound}");
            assert_eq!(bound, size as f64 + 3.0);
        }
        assert_eq!(uniform.steps_to_drain(0), Some(0.0));
        for (above, below) in [(3, 4), (9, 10)] {
            let p = above as f64 / below as f64;
            let geometric = model(WRITER, &geometric(above, below));
            for size in 1..20 {
                let bound = geometric.steps_to_drain(size).expect("it is known");
                let stays = |from: usize, left: usize| (1.0 - p) * p.powi((from - left) as i32);
                assert!(steps_to_empty(size, stays) <= bound, "{size} {bound}");
                let proved = size as f64 / (p + p * p - 1.0);
                assert!(proved <= bound && bound <= 1.000_001 * proved, "{bound} {proved}");
            }
        }
        let single = Settings { updates: UpdatePolicy::Single, ..Settings::default() };
        assert_eq!(model(WRITER, &single).steps_to_drain(1), None);
    }

    #[test]
    fn locks_that_are_given_back_make_draining_slower() {
        // L = 3 steps with the lock; all weights over the least; T = L(w + L + 3), τ = 1 + T, τ + 2(n + τ) + (1.5τ +
        // 0.5)².
        let text = |p: u32, l: u32| {
            format!(
                "shared x; thread P weight {p} {{ loop {{ x = 1; }} }}
                thread L weight {l} {{ loop {{ lock; skip; unlock; }} }} forbid x == 1;"
            )
        };
        let sticky = |numerator, denominator| Settings {
            stickiness: Some(Fraction { numerator, denominator }),
            ..Settings::default()
        };
        for (text, settings, share) in [
            (text(1, 1), Settings::default(), 2.0),
            (text(5, 2), Settings::default(), 3.5),
            (text(1, 1), sticky(9, 1), 18.0),
            (text(2, 1), sticky(1, 3), 9.0),
        ] {
            let model = model(&text, &settings);
            let around = 1.0 + 3.0 * (share + 6.0);
            for size in [0, 1, 7] {
                let proved = around + 2.0 * (size as f64 + around) + (1.5 * around + 0.5) * (1.5 * around + 0.5);
                let bound = model.steps_to_drain(size).expect("it is known");
                assert!(proved <= bound && bound <= 1.000_001 * proved, "{bound} {proved} {settings:?}");
            }
            assert!(model.always_drains() && model.uses_lock);
        }
    }

    #[test]
    fn nothing_is_known_of_buffers_where_the_lock_may_be_kept() {
        let given_back = "shared x; thread P { loop { x = 1; } } thread L { lock; unlock; } forbid x == 1;";
        let kept = "shared x; thread P { loop { x = 1; } } thread L { lock; } forbid x == 1;";
        let single = Settings { updates: UpdatePolicy::Single, ..Settings::default() };
        for (text, settings, drains) in [
            (WRITER, Settings::default(), true),
            (WRITER, geometric(3, 4), true),
            (WRITER, single.clone(), true),
            (given_back, Settings::default(), true),
            (given_back, geometric(3, 4), false),
            (given_back, single, false),
            (kept, Settings::default(), false),
        ] {
            let model = model(text, &settings);
            assert_eq!(model.always_drains(), drains, "{settings:?} {text}");
            if !drains {
                assert_eq!(model.steps_to_drain(1), None, "{settings:?} {text}");
            }
        }
    }

    #[test]
    fn buffers_have_a_bound_where_no_loop_stores() {
        for (body, is_bounded) in [
            ("x = 1; x = 2;", true),
            ("x = 1; loop { skip; }", true),
            ("loop { x = 1; }", false),
            ("loop { x = 1; fence; }", false),
            ("loop { skip; choose { skip; break; } or { skip; } } x = 1;", true),
            ("let r = 0; while r == 0 { r = x; loop { x = 3; choose { skip; break; } or { skip; } } }", false),
            ("let r; loop { r = xchg(x, 1); }", true),
        ] {
            let text = format!("shared x; thread P {{ {body} }} thread Q {{ x = 7; }} forbid x == 1;");
            assert_eq!(model(&text, &Settings::default()).is_bounded, is_bounded, "{body}");
        }
    }

    #[test]
    fn alternatives_are_distinguished_by_whether_they_speak_of_cells() {
        let with = |target: &str| {
            model(&format!("shared x; thread P {{ x = 1; a: x = 2; }} forbid {target};"), &Settings::default())
        };
        for (target, alternatives, at_once) in [
            ("P at a", 1, 1),
            ("x == 1", 1, 0),
            ("P at a && x == 1", 1, 0),
            ("P at a || x == 1", 2, 1),
            ("x == 1 || P at a || x == 2", 3, 1),
            ("(P at a || P at end) && x == 1", 1, 0),
        ] {
            let model = with(target);
            assert_eq!((model.goals.len(), model.goals_met_at_once().len()), (alternatives, at_once), "{target}");
            assert_eq!(model.is_judged_when_drained(), at_once == 0, "{target}");
        }
    }

    #[test]
    fn costs_have_a_limit_where_they_are_stated() {
        let with = |cost: i64| {
            let (mut program, target) = crate::prob::testing::read(WRITER);
            let subject = CostSubject::Fence;
            program.costs.push(weir_ir::CostRule { subject, cost, span: weir_ir::Span::default() });
            Model::new(&program, &target, &Settings::default(), &crate::session::Session::default()).is_ok()
        };
        assert!(with(1_000_000_000) && !with(1_000_000_001));
    }

    #[test]
    fn only_updates_of_one_buffer_leave_runs_out() {
        let two = "shared x; thread P { x = 1; } thread Q { x = 2; } forbid x == 1;";
        let single = Settings { updates: UpdatePolicy::Single, ..Settings::default() };
        assert!(model(WRITER, &single).follows_every_run() && !model(two, &single).follows_every_run());
        assert!(
            model(two, &Settings::default()).follows_every_run() && model(two, &geometric(3, 4)).follows_every_run()
        );
    }
}

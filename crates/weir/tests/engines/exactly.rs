//! Exactly the drained states that the reference finds can be reached: each way of asking is asked for some of them,
//! for near misses, and whether there are any others.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Address, Expr, LocId, Program, Property, PropertyKind, Span, StateAtom, StateExpr, UnaryOp, Value};
use weir_testkit::reference::{self, Drained, Outcome, drained_states, explore};
use weir_testkit::sketch::{all_of, equal};
use weir_testkit::{Model, Rng, dump};
use weir_witness::Goal;

use crate::ways::{Answer, Way, ask};

/// How many states the reference may visit, and an engine store.
pub(crate) const LIMITS: (usize, u64) = (3_000, 5_000);

/// How a way of asking did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Tally {
    pub(crate) asked: u64,
    pub(crate) holds: u64,
    pub(crate) reached: u64,
    pub(crate) alarms: u64,
    pub(crate) refused: u64,
}

impl Tally {
    /// How many questions had an answer.
    pub(crate) fn answered(&self) -> u64 {
        self.holds + self.reached
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.asked += other.asked;
        self.holds += other.holds;
        self.reached += other.reached;
        self.alarms += other.alarms;
        self.refused += other.refused;
    }
}

/// How each way of asking did.
pub(crate) type Tallies = BTreeMap<Way, Tally>;

/// The program with properties about its drained states; where there are too many of them, about those under SC.
pub(crate) fn questioned(program: &Program, seed: u64) -> Program {
    let mut program = program.clone();
    let drained = |model| drained_states(&program, model, LIMITS.0).expect("the reference can");
    let sc = drained(Model::Sc).unwrap_or_default();
    let states = drained(Model::Tso).unwrap_or_else(|| sc.clone());
    if states.is_empty() {
        return program;
    }
    let mut rng = Rng::new(seed);
    let seen = Observed::new(&program, &states, &mut rng);
    let views: BTreeSet<Vec<Value>> = states.iter().map(|state| seen.values(&program, state)).collect();
    let under_sc: BTreeSet<Vec<Value>> = sc.iter().map(|state| seen.values(&program, state)).collect();
    let mut conditions = Vec::new();
    // Few enough that the condition is not too deep.
    if views.len() <= 60 {
        let none = views.iter().map(|view| Expr::unary(UnaryOp::Not, seen.is(view)));
        conditions.push(all_of(none.collect::<Vec<_>>()));
    }
    let only_tso: Vec<&Vec<Value>> = views.difference(&under_sc).collect();
    let all: Vec<&Vec<Value>> = views.iter().collect();
    let drawn = |list: &[&Vec<Value>], rng: &mut Rng| seen.is(list[rng.below(list.len())]);
    if !only_tso.is_empty() {
        conditions.push(drawn(&only_tso, &mut rng));
    }
    conditions.extend(near_miss(&views, &mut rng).map(|view| seen.is(&view)));
    let mut kinds: Vec<PropertyKind> = conditions.into_iter().map(PropertyKind::Forbid).collect();
    // The same kind of view, at the end or anywhere.
    let one = drawn(&all, &mut rng);
    kinds.push(match rng.below(3) {
        0 => PropertyKind::Forbid(one),
        1 => PropertyKind::Exists(one),
        _ => PropertyKind::Always(Expr::unary(UnaryOp::Not, one)),
    });
    kinds.push(PropertyKind::ForbidDeadlock);
    program.properties = kinds.into_iter().map(|kind| Property { kind, span: Span::default() }).collect();
    program
}

/// A view that differs from one of these in one place, and is none of these.
fn near_miss(views: &BTreeSet<Vec<Value>>, rng: &mut Rng) -> Option<Vec<Value>> {
    let all: Vec<&Vec<Value>> = views.iter().collect();
    for _ in 0..20 {
        let mut view = (*rng.pick(&all)).clone();
        if view.is_empty() {
            return None;
        }
        let at = rng.below(view.len());
        view[at] = rng.pick(&all)[at] + i64::from(rng.chance(10));
        if !views.contains(&view) {
            return Some(view);
        }
    }
    None
}

/// The part of a state that the questions mention: what they do not mention may be dropped or merged by an engine.
struct Observed(Vec<StateAtom>);

impl Observed {
    fn new(program: &Program, states: &BTreeSet<Drained>, rng: &mut Rng) -> Self {
        let mut atoms = Vec::new();
        for (&thread, &location) in states.iter().flat_map(|state| &state.locations) {
            atoms.push(StateAtom::At { thread, locations: vec![location] });
        }
        for (&thread, registers) in states.iter().take(1).flat_map(|state| &state.values.registers) {
            atoms.extend(registers.keys().map(|&register| StateAtom::Register { thread, register }));
        }
        let declared = program.shared.iter().flat_map(|shared| shared.addresses());
        let touched = states.iter().flat_map(|state| state.values.memory.keys().copied());
        let cells: BTreeSet<Address> = declared.chain(touched).collect();
        atoms.extend(cells.into_iter().map(StateAtom::Cell));
        atoms.sort();
        atoms.dedup();
        let kept = *rng.pick(&[100, 60, 30]);
        atoms.retain(|_| rng.chance(kept));
        Self(atoms)
    }

    fn values(&self, program: &Program, state: &Drained) -> Vec<Value> {
        self.0.iter().map(|atom| value(program, state, atom)).collect()
    }

    /// The condition that the state looks like this.
    fn is(&self, view: &[Value]) -> StateExpr {
        all_of(self.0.iter().zip(view).map(|(atom, &value)| equal(Expr::Leaf(atom.clone()), value)))
    }
}

fn value(program: &Program, state: &Drained, atom: &StateAtom) -> Value {
    match atom {
        StateAtom::At { thread, locations } => {
            Value::from(state.locations.get(thread).is_some_and(|at: &LocId| locations.contains(at)))
        }
        StateAtom::Register { thread, register } => state.values.registers[thread][register],
        StateAtom::Cell(address) => {
            state.values.memory.get(address).copied().unwrap_or_else(|| program.initial_value(*address))
        }
    }
}

/// What the reference says about each model, explored when somebody needs it.
pub(crate) struct Truth<'a> {
    program: &'a Program,
    outcomes: BTreeMap<Model, Outcome>,
}

impl<'a> Truth<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        Self { program, outcomes: BTreeMap::new() }
    }

    /// Whether the goal can be reached, if that is known.
    pub(crate) fn is_reachable(&mut self, model: Model, goal: Goal) -> Option<bool> {
        let explored = || explore(self.program, model, LIMITS.0).expect("the reference can");
        let outcome = self.outcomes.entry(model).or_insert_with(explored);
        let seen = outcome.goals.contains_key(&to_testkit(goal));
        (seen || outcome.complete).then_some(seen)
    }
}

pub(crate) fn to_testkit(goal: Goal) -> reference::Goal {
    match goal {
        Goal::Property(property) => reference::Goal::Property(property),
        Goal::Assertion(thread) => reference::Goal::Assertion(thread),
        Goal::NotRobust => unreachable!("`reach` does not look for it"),
    }
}

/// Asks all goals of a program in each of these ways; what is wrong, if anything.
pub(crate) fn compare(program: &Program, ways: &[Way]) -> Result<Tallies, String> {
    let mut truth = Truth::new(program);
    let mut tallies = Tallies::new();
    for &way in ways {
        let tally = tallies.entry(way).or_default();
        for goal in weir::reach::all_goals(program) {
            let answer = ask(program, way, vec![goal], LIMITS.1);
            judge(&mut truth, way, goal, &answer).map_err(|wrong| format!("{way:?}, {goal:?}: {wrong}"))?;
            tally.asked += 1;
            match answer {
                Answer::Holds => tally.holds += 1,
                Answer::Reached => tally.reached += 1,
                Answer::Alarm => tally.alarms += 1,
                Answer::Refused(_) => tally.refused += 1,
                Answer::Stopped(_) => {}
            }
        }
    }
    Ok(tallies)
}

/// What is wrong with an answer, if anything.
pub(crate) fn judge(truth: &mut Truth<'_>, way: Way, goal: Goal, answer: &Answer) -> Result<(), String> {
    let real = if way == Way::Sc { Model::Sc } else { Model::Tso };
    let is_real = truth.is_reachable(real, goal);
    let explored = way.explores().and_then(|model| truth.is_reachable(model, goal));
    match answer {
        Answer::Holds if is_real == Some(true) => Err("holds, but can be reached".to_owned()),
        Answer::Holds if explored == Some(true) => Err("holds, but the approximation reaches it".to_owned()),
        Answer::Reached if is_real == Some(false) => Err("reached, but cannot be".to_owned()),
        Answer::Alarm if !way.is_approximate() => Err("an alarm of an exact engine".to_owned()),
        Answer::Alarm if explored == Some(false) => Err("an alarm that the rules do not raise".to_owned()),
        Answer::Refused(code) if !MAY_REFUSE.contains(code) => Err(format!("refused: {code}")),
        _ => Ok(()),
    }
}

/// Why engines may refuse these programs.
const MAY_REFUSE: [&str; 6] = [
    "deadlock-with-locks",
    "deadlock-not-supported",
    "several-loads",
    "too-many-values",
    "too-many-states",
    "goal-too-large",
];

/// Compares a program, and adds to the tallies.
///
/// # Panics
/// If something is wrong; with a smaller program that shows it.
pub(crate) fn check(name: &str, program: &Program, ways: &[Way], tallies: &mut Tallies) {
    match compare(program, ways) {
        Ok(more) => more.iter().for_each(|(way, tally)| tallies.entry(*way).or_default().add(tally)),
        Err(wrong) => {
            let small = weir_testkit::shrink(program, |smaller| compare(smaller, ways).is_err());
            let shrunk = compare(&small, ways).err().unwrap_or_default();
            panic!("{name}: {wrong}\nshrunk: {shrunk}\n{}", dump(&small));
        }
    }
}

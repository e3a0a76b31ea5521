//! Probabilities and expected costs under chance, naively: every scheduler step and every single sequence of flushes, in exact
//! fractions, for programs without loops. What comes back to the same state at once (waiting) is summed up as the series it is.

use std::collections::{BTreeMap, HashMap};

use dashu_ratio::RBig;
use weir_ir::{BinaryOp, EdgeId, Expr, Program, StateAtom, StateExpr, ThreadId, Value};

use super::Model;
use super::state::State;
use super::steps::{Action, successors};

/// What the enumeration found out.
#[derive(Clone, PartialEq, Debug)]
pub struct Chance {
    /// The probability to reach the target.
    pub probability: RBig,
    /// The expected cost up to the target, with runs that miss it counted as 0.
    pub cost: RBig,
}

/// The probability to reach a state that meets `target`, and the expected cost on the way, where `cost` tells what each edge costs. Of what `||` joins
/// in a target, each part that speaks of cells counts in states with empty buffers only. `None` if the program has loops, or too many states.
pub fn chance(
    program: &Program,
    target: &StateExpr,
    cost: &dyn Fn(ThreadId, EdgeId) -> u64,
    most_states: usize,
) -> Option<Chance> {
    let mut all = Enumeration { program, target, cost, most_states, known: HashMap::new() };
    all.from(&State::initial(program), 0)
}

struct Enumeration<'a> {
    program: &'a Program,
    target: &'a StateExpr,
    cost: &'a dyn Fn(ThreadId, EdgeId) -> u64,
    most_states: usize,
    /// `None` while a state is being looked at: whoever comes back to it is in a loop.
    known: HashMap<State, Option<Chance>>,
}

/// Programs without loops do not get deeper than this.
const DEEPEST: usize = 2_000;

impl Enumeration<'_> {
    fn from(&mut self, state: &State, depth: usize) -> Option<Chance> {
        if let Some(known) = self.known.get(state) {
            return known.clone();
        }
        if self.known.len() > self.most_states || depth > DEEPEST {
            return None;
        }
        if self.meets(state, self.target) {
            return Some(Chance { probability: RBig::ONE, cost: RBig::ZERO });
        }
        self.known.insert(state.clone(), None);
        let (mut probability, mut cost, mut stays) = (RBig::ZERO, RBig::ZERO, RBig::ZERO);
        for (share, price, after) in self.scheduled(state) {
            let mut ends = Vec::new();
            sequences(self.program, &after, &mut ends);
            let each = share / RBig::from(ends.len());
            for end in ends {
                if end == *state {
                    stays += &each;
                    continue;
                }
                let next = self.from(&end, depth + 1)?;
                cost += &each * (RBig::from(price) * &next.probability + &next.cost);
                probability += &each * &next.probability;
            }
        }
        let leaves = RBig::ONE - stays;
        let found = if leaves == RBig::ZERO {
            Chance { probability: RBig::ZERO, cost: RBig::ZERO }
        } else {
            Chance { probability: probability / &leaves, cost: cost / &leaves }
        };
        self.known.insert(state.clone(), Some(found.clone()));
        Some(found)
    }

    /// Who may step, with which probability and at what cost, and the state right after.
    fn scheduled(&self, state: &State) -> Vec<(RBig, u64, State)> {
        let mut threads: BTreeMap<ThreadId, BTreeMap<EdgeId, Vec<State>>> = BTreeMap::new();
        for (thread, action, next) in successors(self.program, Model::Tso, state, usize::MAX) {
            if let Action::Execute(edge) = action {
                threads.entry(thread).or_default().entry(edge).or_default().push(next);
            }
        }
        if threads.is_empty() {
            return vec![(RBig::ONE, 0, state.clone())];
        }
        let weight = |thread: ThreadId| RBig::from(self.program.thread(thread).weight);
        let total = threads.keys().map(|&thread| weight(thread)).fold(RBig::ZERO, |sum, weight| sum + weight);
        let mut all = Vec::new();
        for (thread, edges) in threads {
            let of_thread = weight(thread) / &total / RBig::from(edges.len());
            for (edge, values) in edges {
                let each = &of_thread / RBig::from(values.len());
                all.extend(values.into_iter().map(|next| (each.clone(), (self.cost)(thread, edge), next)));
            }
        }
        all
    }

    fn meets(&self, state: &State, wanted: &StateExpr) -> bool {
        if let Expr::Binary(BinaryOp::Or, left, right) = wanted {
            return self.meets(state, left) || self.meets(state, right);
        }
        let mut speaks_of_cells = false;
        wanted.for_each_leaf(&mut |atom| speaks_of_cells |= matches!(atom, StateAtom::Cell(_)));
        if speaks_of_cells && !state.is_drained() {
            return false;
        }
        let leaf = |atom: &StateAtom| -> Value {
            match atom {
                StateAtom::At { thread, locations } => {
                    let own = state.threads.get(thread);
                    Value::from(own.is_some_and(|own| locations.contains(&own.location)))
                }
                StateAtom::Register { thread, register } => {
                    state.threads.get(thread).map_or(0, |own| own.registers[register])
                }
                StateAtom::Cell(address) => state.read_memory(self.program, *address),
            }
        };
        wanted.eval(&mut { leaf }) != 0
    }
}

/// Where each sequence of flushes ends, the empty one included: one entry a sequence.
fn sequences(program: &Program, state: &State, ends: &mut Vec<State>) {
    ends.push(state.clone());
    for (_, action, next) in successors(program, Model::Tso, state, usize::MAX) {
        if action == Action::Flush {
            sequences(program, &next, ends);
        }
    }
}

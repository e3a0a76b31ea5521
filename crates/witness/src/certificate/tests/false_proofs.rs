//! Proofs of what is not so. A certificate of a safe program is taken to a program that is not safe, and is repaired as
//! long as the checker complains: what it misses is added, what it objects to is dropped. It must never be content.

use weir_testkit::random::{self, Config};

use super::definition::ALL;
use super::naive::{start, steps};
use super::reference::{closure, shows};
use super::*;
use crate::testing::family;

/// How often a certificate is repaired at most.
const ROUNDS: usize = 3_000;

/// A certificate in the hands of someone who wants it accepted.
struct Forger<'a> {
    program: &'a Program,
    certificate: Certificate,
    known: BTreeSet<AbstractState>,
    /// States that the checker objects to, or that lead to one.
    banned: BTreeSet<AbstractState>,
}

impl<'a> Forger<'a> {
    fn new(program: &'a Program, certificate: Certificate) -> Self {
        let known = certificate.states.iter().cloned().collect();
        Self { program, certificate, known, banned: BTreeSet::new() }
    }

    /// Whether the checker accepts it in the end.
    fn succeeds(&mut self) -> bool {
        for _ in 0..ROUNDS {
            let Err(error) = check_certificate(self.program, &self.certificate) else { return true };
            let is_repaired = match (error.fault, error.state) {
                (Fault::NoStart, _) => self.add(start(self.program)),
                (Fault::Leaves(thread, edge), Some(at)) => self.follow(at, thread, edge),
                (_, Some(at)) => self.drop(at),
                _ => false,
            };
            if !is_repaired {
                return false;
            }
        }
        panic!("no end of complaints")
    }

    fn add(&mut self, state: AbstractState) -> bool {
        if self.banned.contains(&state) {
            return false;
        }
        if self.known.insert(state.clone()) {
            self.certificate.states.push(state);
        }
        true
    }

    fn drop(&mut self, at: usize) -> bool {
        let state = self.certificate.states.remove(at);
        self.known.remove(&state);
        self.banned.insert(state);
        true
    }

    /// Adds where the step leads, and whatever that needs in turn. If it leads to what must not be there, then neither
    /// must the state itself.
    fn follow(&mut self, at: usize, thread: ThreadId, edge: Option<weir_ir::EdgeId>) -> bool {
        let Some(steps) = self.steps(at) else { return self.drop(at) };
        let asked = steps.into_iter().filter(|step| (step.0, step.1) == (thread, edge));
        let next: Vec<AbstractState> = asked.flat_map(|step| step.2).collect();
        if next.iter().any(|next| self.banned.contains(next)) {
            return self.drop(at);
        }
        let mut at = self.certificate.states.len();
        next.into_iter().for_each(|next| assert!(self.add(next)));
        while at < self.certificate.states.len() {
            let steps = self.steps(at).unwrap_or_default();
            for next in steps.into_iter().flat_map(|step| step.2) {
                self.add(next);
            }
            at += 1;
        }
        true
    }

    fn steps(&self, at: usize) -> Option<Vec<naive::Step>> {
        steps(self.program, self.certificate.buffering, &self.certificate.states[at])
    }
}

fn to_goal(goal: weir_testkit::Goal) -> Goal {
    match goal {
        weir_testkit::Goal::Property(id) => Goal::Property(id),
        weir_testkit::Goal::Assertion(thread) => Goal::Assertion(thread),
    }
}

/// Tries to have it accepted that goals cannot be reached which can. Returns how often that was tried.
fn forge(program: &Program, proof: &[AbstractState], buffering: Buffering) -> usize {
    let outcome = weir_testkit::explore(program, weir_testkit::Model::Tso, 2_000).expect("supported");
    let goals: Vec<Goal> = outcome.goals.keys().copied().map(to_goal).collect();
    for &goal in &goals {
        let certificate =
            Certificate { model: crate::Model::Tso, buffering, goals: vec![goal], states: proof.to_vec() };
        let mut forger = Forger::new(program, certificate);
        assert!(!forger.succeeds(), "{goal:?} {:?}\n{}", forger.certificate, weir_testkit::dump(program));
    }
    goals.len()
}

fn forge_all(programs: impl IntoIterator<Item = Program>, largest: usize) -> usize {
    let mut tried = 0;
    for (number, program) in programs.into_iter().enumerate() {
        let buffering = ALL[number % ALL.len()];
        if program.threads.iter().any(|thread| thread.multiplicity != weir_ir::Multiplicity::One) {
            continue;
        }
        let Some(proof) = closure(&program, buffering, largest) else { continue };
        let variants = weir_testkit::variants(&program);
        // Of many variants a few are enough; which ones differs from program to program.
        for variant in variants.iter().skip(number % 3).step_by(3).chain([&program]) {
            tried += forge(variant, &proof, buffering);
        }
    }
    tried
}

#[test]
fn no_false_certificate_of_a_small_program_is_accepted() {
    let tried = forge_all(family::programs().into_iter().step_by(3), 60);
    assert!(tried > 500, "{tried}");
}

#[test]
fn no_false_certificate_of_a_random_program_is_accepted() {
    let configs = [Config::acyclic(), Config::locking(), Config::cyclic(), Config::wild_data()];
    let programs = (0..120).map(|seed| {
        let config = Config { threads: (2, 2), statements: (1, 3), registers: 1, ..configs[seed as usize % 4].clone() };
        random::program(seed, &config)
    });
    let tried = forge_all(programs, 60);
    assert!(tried > 100, "{tried}");
}

/// The mutual exclusion of two threads that raise a flag, fence, and look at the other's.
fn dekker(between: &Instruction) -> Program {
    let body = |mine, other| {
        let guard = Instruction::Assume(equal(reg(0), number(0)));
        sequence(vec![store(mine, 1), between.clone(), load(0, other), guard])
    };
    let critical = family::both(family::at(0, vec![LocId(4)]), family::at(1, vec![LocId(4)]));
    with_property(program(vec![body(X, Y), body(Y, X)]), PropertyKind::Forbid(critical)).0
}

#[test]
fn the_fence_is_what_proves_mutual_exclusion() {
    let goals = vec![Goal::Property(weir_ir::PropertyId(0))];
    for buffering in [Buffering::Coherence(0), Buffering::Coherence(2), Buffering::Multiset(1)] {
        let states = closure(&dekker(&Instruction::Fence), buffering, 1_000).expect("a small set");
        let certificate = Certificate { model: crate::Model::Tso, buffering, goals: goals.clone(), states };
        assert_eq!(fault(&dekker(&Instruction::Fence), &certificate), None);
        for between in [Instruction::Skip, store(Z, 1)] {
            let program = dekker(&between);
            let mut forger = Forger::new(&program, certificate.clone());
            assert!(!forger.succeeds(), "{buffering:?} {between:?}");
        }
    }
}

#[test]
fn neither_nothing_nor_all_that_is_harmless_is_a_certificate() {
    for program in family::programs().into_iter().step_by(9) {
        let buffering = Buffering::Coherence(1);
        let states = closure(&program, buffering, 1_000).expect("a small set");
        for goal in (0..11).map(|id| Goal::Property(weir_ir::PropertyId(id))) {
            let empty = Certificate { model: crate::Model::Tso, buffering, goals: vec![goal], states: Vec::new() };
            assert_eq!(fault(&program, &empty), Some(Fault::NoStart));
            let harmless = |state: &&AbstractState| shows(&program, buffering, state, goal) == Some(false);
            let harmless: Vec<AbstractState> = states.iter().filter(harmless).cloned().collect();
            let is_safe = harmless.len() == states.len();
            let certificate = Certificate { model: crate::Model::Tso, buffering, goals: vec![goal], states: harmless };
            assert_eq!(fault(&program, &certificate).is_none(), is_safe);
            // Without the first state, what is left may well be closed: it still proves nothing.
            let rest = Certificate { states: certificate.states.into_iter().skip(1).collect(), ..empty };
            assert!(fault(&program, &rest).is_some());
        }
    }
}

//! The cheapest set of places that hits every core: weighted minimum hitting set, solved to a proved optimum.
//!
//! Minimize Σ weight(p)·x(p) such that each core contains a chosen place. A SAT solver finds a choice, then a cheaper
//! one, until it proves that there is none.

use std::collections::BTreeSet;

use rustsat::encodings::pb::{BinaryAdder, BoundUpper, GeneralizedTotalizer};
use rustsat::instances::{BasicVarManager, ManageVars};
use rustsat::solvers::{Solve, SolveIncremental, SolverResult};
use rustsat::types::{Clause, Lit, TernaryVal, Var};
use rustsat_batsat::BasicSolver;
use weir_ir::Gather;

/// With more different weights than this there may be too many different sums.
const FEW_KINDS_OF_COSTS: usize = 3;

/// A set of places, by number.
pub(super) type Choice = BTreeSet<usize>;

/// The hitting set problem.
#[derive(Clone, Debug, Default)]
pub(super) struct HittingSets {
    /// The cost of each place; at least 1.
    pub(super) costs: Vec<u64>,
    /// What tells choices of the same cost apart, the most significant first: of each, the sum over the places of a
    /// choice should be small. The numbers should be small, too, since the encoding grows with the sums.
    pub(super) preferences: Vec<Vec<u64>>,
    /// The cores: of each of these sets, one place must be chosen.
    pub(super) cores: Vec<Choice>,
    /// None of these sets may be chosen as a whole.
    pub(super) excluded: Vec<Choice>,
}

impl HittingSets {
    pub(super) fn cost(&self, choice: &Choice) -> u64 {
        choice.iter().map(|&place| self.costs[place]).fold(0, u64::saturating_add)
    }

    /// The best choice of least cost, or none if there is no choice at all.
    ///
    /// # Errors
    /// What the solver complains about.
    pub(super) fn cheapest(&self) -> Result<Option<Choice>, String> {
        // What is excluded may concern places that no core joins.
        if !self.excluded.is_empty() {
            return self.solve();
        }
        let mut choice = Choice::new();
        for cores in self.independent_parts() {
            let part = HittingSets { cores, excluded: Vec::new(), ..self.clone() };
            match part.solve()? {
                Some(chosen) => choice.extend(chosen),
                None => return Ok(None),
            }
        }
        Ok(Some(choice))
    }

    /// The cores, grouped so that no two groups share a place: mostly one group per thread.
    fn independent_parts(&self) -> Vec<Vec<Choice>> {
        let mut parts: Vec<(Choice, Vec<Choice>)> = Vec::new();
        for core in &self.cores {
            let (touching, mut rest): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|(places, _)| !places.is_disjoint(core));
            let mut joined = (core.clone(), vec![core.clone()]);
            for (places, cores) in touching {
                joined.0.extend(places);
                joined.1.extend(cores);
            }
            rest.push(joined);
            parts = rest;
        }
        parts.into_iter().map(|(_, cores)| cores).collect()
    }

    /// Minimizes the cost, then one preference after the other, each without giving up what was reached before.
    fn solve(&self) -> Result<Option<Choice>, String> {
        let mut solver = BasicSolver::default();
        let mut variables = BasicVarManager::from_next_free(Var::new(self.costs.len() as u32));
        self.add_clauses(&mut solver)?;
        let mut best = match solver.solve().map_err(failed)? {
            SolverResult::Sat => self.solution(&solver)?,
            SolverResult::Unsat => return Ok(None),
            SolverResult::Interrupted => return Err("the solver stopped".into()),
        };
        let places: Choice = self.cores.iter().flatten().copied().gather();
        for weights in [&self.costs].into_iter().chain(&self.preferences) {
            let kinds: BTreeSet<u64> = places.iter().map(|&place| weights[place]).gather();
            let parts = places.iter().filter(|&&place| weights[place] > 0);
            let parts = parts.map(|&place| (literal(place), weights[place] as usize));
            let level = Level { problem: self, weights };
            // A totalizer makes the solver's work easy, but has a variable for each sum that there can be.
            if kinds.len() <= FEW_KINDS_OF_COSTS {
                level.minimize(parts.collect::<GeneralizedTotalizer>(), &mut solver, &mut variables, &mut best)?;
            } else {
                level.minimize(parts.collect::<BinaryAdder>(), &mut solver, &mut variables, &mut best)?;
            }
        }
        Ok(Some(best))
    }

    fn add_clauses(&self, solver: &mut BasicSolver) -> Result<(), String> {
        for core in &self.cores {
            let clause: Clause = core.iter().map(|&place| literal(place)).collect();
            solver.add_clause(clause).map_err(failed)?;
        }
        for excluded in &self.excluded {
            let clause: Clause = excluded.iter().map(|&place| !literal(place)).collect();
            solver.add_clause(clause).map_err(failed)?;
        }
        Ok(())
    }

    /// The choice that the solver found, without what no core needs.
    fn solution(&self, solver: &BasicSolver) -> Result<Choice, String> {
        let mut choice = Choice::new();
        for place in self.cores.iter().flatten().copied().gather::<Choice>() {
            if solver.lit_val(literal(place)).map_err(failed)? == TernaryVal::True {
                choice.insert(place);
            }
        }
        Ok(choice)
    }
}

/// One of the sums that are minimized.
struct Level<'a> {
    problem: &'a HittingSets,
    weights: &'a [u64],
}

impl Level<'_> {
    fn sum(&self, choice: &Choice) -> usize {
        choice.iter().map(|&place| self.weights[place]).fold(0, u64::saturating_add) as usize
    }

    /// Finds a choice with the least sum, and keeps the solver from going beyond it from now on.
    fn minimize(
        &self,
        mut encoding: impl BoundUpper,
        solver: &mut BasicSolver,
        variables: &mut BasicVarManager,
        best: &mut Choice,
    ) -> Result<(), String> {
        while let Some(less) = self.sum(best).checked_sub(1) {
            let assumptions = at_most(&mut encoding, less, solver, variables)?;
            match solver.solve_assumps(&assumptions).map_err(failed)? {
                SolverResult::Sat => *best = self.problem.solution(solver)?,
                SolverResult::Unsat => break,
                SolverResult::Interrupted => return Err("the solver stopped".into()),
            }
        }
        for bound in at_most(&mut encoding, self.sum(best), solver, variables)? {
            solver.add_clause(Clause::from_iter([bound])).map_err(failed)?;
        }
        Ok(())
    }
}

/// What to assume for the sum to be at most this.
fn at_most(
    encoding: &mut impl BoundUpper,
    most: usize,
    solver: &mut BasicSolver,
    variables: &mut BasicVarManager,
) -> Result<Vec<Lit>, String> {
    encoding.encode_ub(most..=most, solver, variables as &mut dyn ManageVars).map_err(failed)?;
    encoding.enforce_ub(most).map_err(failed)
}

fn literal(place: usize) -> Lit {
    Lit::positive(place as u32)
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("the solver failed: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_costs(costs: Vec<u64>, cores: Vec<Choice>) -> HittingSets {
        HittingSets { costs, cores, ..HittingSets::default() }
    }

    /// Against trying all choices: least cost, then the preferences in their order.
    #[test]
    fn among_choices_of_the_same_cost_the_preferred_one_is_taken() {
        let mut differing = 0;
        for seed in 1..150u64 {
            let mut rng = weir_testkit::Rng::new(seed);
            let mut numbers = |least, most| (0..7).map(|_| rng.between(least, most) as u64).collect::<Vec<_>>();
            let (costs, preferences) = (numbers(1, 2), vec![numbers(0, 1), numbers(0, 900), (0..7).collect()]);
            let core = |rng: &mut weir_testkit::Rng| (0..7).filter(|_| rng.chance(40)).collect::<Choice>();
            let cores: Vec<Choice> = (0..4).map(|_| core(&mut rng)).filter(|core| !core.is_empty()).collect();
            let problem = HittingSets { costs, preferences, cores, excluded: Vec::new() };
            let all = (0..128usize).map(|set| (0..7).filter(|place| set >> place & 1 == 1).collect::<Choice>());
            let valid = all.filter(|choice| problem.cores.iter().all(|core| !core.is_disjoint(choice)));
            let key = |choice: &Choice| {
                let sum = |weights: &Vec<u64>| choice.iter().map(|&place| weights[place]).sum::<u64>();
                [&problem.costs].into_iter().chain(&problem.preferences).map(sum).collect::<Vec<u64>>()
            };
            let expected = valid.map(|choice| key(&choice)).min().expect("all places meet all cores");
            let found = problem.cheapest().expect("the solver works").expect("there is a choice");
            assert_eq!(key(&found), expected, "{problem:?}");
            let careless = HittingSets { preferences: Vec::new(), ..problem.clone() };
            differing += usize::from(careless.cheapest().expect("the solver works") != Some(found));
        }
        assert!(differing > 20, "preferences changed {differing} choices");
    }

    fn cheapest(costs: &[u64], cores: &[&[usize]]) -> Option<(u64, Choice)> {
        let cores = cores.iter().map(|core| core.iter().copied().collect()).collect();
        let problem = by_costs(costs.to_vec(), cores);
        problem.cheapest().expect("the solver works").map(|choice| (problem.cost(&choice), choice))
    }

    #[test]
    fn one_place_for_two_cores_is_cheaper_than_two() {
        assert_eq!(cheapest(&[1, 1, 1], &[&[0, 1], &[1, 2]]), Some((1, Choice::from([1]))));
        assert_eq!(cheapest(&[1, 3, 1], &[&[0, 1], &[1, 2]]), Some((2, Choice::from([0, 2]))));
    }

    #[test]
    fn nothing_is_needed_without_cores_and_nothing_helps_against_an_empty_one() {
        assert_eq!(cheapest(&[1, 1], &[]), Some((0, Choice::new())));
        assert_eq!(cheapest(&[1, 1], &[&[]]), None);
    }

    #[test]
    fn errors_of_the_solver_are_reported() {
        assert_eq!(failed("out of memory"), "the solver failed: out of memory");
    }

    /// Against trying all choices, on cores made from the bits of numbers.
    #[test]
    fn the_optimum_is_that_of_trying_all() {
        let costs = [3, 1, 4, 1, 5, 9];
        for seed in 1..200u64 {
            let bits = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let core = |at: u64| (0..6).filter(|place| bits >> (at * 6 + place) & 1 == 1).map(|p| p as usize).collect();
            let cores: Vec<Choice> = (0..8).map(core).collect();
            let problem = by_costs(costs.to_vec(), cores);
            let all = (0..64usize).map(|set| (0..6).filter(|place| set >> place & 1 == 1).collect::<Choice>());
            let valid = all.filter(|choice| problem.cores.iter().all(|core| !core.is_disjoint(choice)));
            let expected = valid.map(|choice| problem.cost(&choice)).min();
            let found = problem.cheapest().expect("the solver works").map(|choice| problem.cost(&choice));
            assert_eq!(found, expected, "{:?}", problem.cores);
        }
    }

    /// Costs that are all different and large must not make the encoding large.
    #[test]
    fn many_different_costs_keep_the_encoding_small() {
        let number = |seed: u64| (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as usize;
        let costs = (1..=40).map(|place| 100_000 + number(place) as u64 % 900_000).collect();
        let core = |at: u64| (0..5).map(|member| number(1000 * at + member) % 40).collect();
        let problem = by_costs(costs, (1..=40).map(core).collect());
        let choice = problem.cheapest().expect("the solver works").expect("there is a choice");
        assert!(problem.cores.iter().all(|core| !core.is_disjoint(&choice)));
        let dearer = |place: &usize| {
            let fewer: Choice = choice.iter().copied().filter(|other| other != place).collect();
            problem.cores.iter().any(|core| core.is_disjoint(&fewer))
        };
        assert!(choice.iter().all(dearer), "a place is not needed");
    }

    /// All choices of least cost, one after the other, each excluded once it is found: as when all cheapest sets are
    /// asked for.
    #[test]
    fn all_optima_come_one_after_the_other() {
        let mut several = 0;
        for seed in 1..120u64 {
            let mut rng = weir_testkit::Rng::new(seed);
            // Few kinds of costs and many: they are added up in different ways.
            let kinds = if seed % 2 == 0 { 2 } else { 9 };
            let costs: Vec<u64> = (0..7).map(|_| rng.between(1, kinds) as u64).collect();
            let core = |rng: &mut weir_testkit::Rng| (0..7).filter(|_| rng.chance(40)).collect::<Choice>();
            let cores: Vec<Choice> = (0..4).map(|_| core(&mut rng)).filter(|core| !core.is_empty()).collect();
            let mut problem = by_costs(costs, cores);
            let all = (0..128usize).map(|set| (0..7).filter(|place| set >> place & 1 == 1).collect::<Choice>());
            let valid: Vec<Choice> =
                all.filter(|choice| problem.cores.iter().all(|core| !core.is_disjoint(choice))).collect();
            let least = valid.iter().map(|choice| problem.cost(choice)).min().expect("all places meet all cores");
            let expected: BTreeSet<&Choice> = valid.iter().filter(|choice| problem.cost(choice) == least).collect();
            let mut found = Vec::new();
            while let Some(choice) = problem.cheapest().expect("the solver works") {
                if problem.cost(&choice) > least || found.len() > 128 {
                    break;
                }
                found.push(choice.clone());
                if choice.is_empty() {
                    break;
                }
                problem.excluded.push(choice);
            }
            assert_eq!(found.len(), expected.len(), "{problem:?}");
            assert_eq!(found.iter().collect::<BTreeSet<_>>(), expected, "{problem:?}");
            several += usize::from(expected.len() > 1);
        }
        assert!(several > 30, "{several} with several optima");
    }

    /// No two parts share a place, no core is lost, and no part falls apart further.
    #[test]
    fn parts_are_independent() {
        for seed in 1..100u64 {
            let mut rng = weir_testkit::Rng::new(seed);
            let core = |rng: &mut weir_testkit::Rng| (0..12).filter(|_| rng.chance(15)).collect::<Choice>();
            let cores: Vec<Choice> = (0..6).map(|_| core(&mut rng)).filter(|core| !core.is_empty()).collect();
            let problem = by_costs(vec![1; 12], cores);
            let parts = problem.independent_parts();
            assert_eq!(parts.iter().flatten().collect::<BTreeSet<_>>(), problem.cores.iter().collect());
            assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), problem.cores.len());
            for (number, part) in parts.iter().enumerate() {
                let places: Choice = part.iter().flatten().copied().collect();
                let others = parts.iter().enumerate().filter(|(other, _)| *other != number).flat_map(|(_, part)| part);
                assert!(others.flatten().all(|place| !places.contains(place)), "{parts:?}");
                let mut joined = part[0].clone();
                for _ in 0..part.len() {
                    let touching = part.iter().filter(|core| !core.is_disjoint(&joined)).flatten().copied();
                    joined = joined.iter().copied().chain(touching).collect();
                }
                assert_eq!(joined, places, "{parts:?}");
            }
        }
    }
}

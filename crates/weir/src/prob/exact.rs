//! Probabilities and costs as exact fractions, for chains that are finite and whose loops are not large.

use dashu_ratio::RBig;
use weir_ir::Program;

use crate::bounds::Bound;
use crate::session::Session;
use crate::verdict::Failure;

use super::chain::{Chain, Visitor, with_chain};
use super::graph::Graph;
use super::model::{Model, NO_EDGE};
use super::obstacle::Obstacle;
use super::prob01::Class;
use super::probability::{Part, Probability, Question};
use super::rational::Rational;
use super::settings::Settings;
use super::target::Target;
use super::visits::Loops;

/// An exact answer.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Exact {
    /// The probability.
    pub probability: Rational,
    /// The expected cost over the runs that reach the target; `None` if none do, or if it was not requested.
    pub cost: Option<Rational>,
    /// Number of configurations explored.
    pub configurations: usize,
    /// Whether configurations that differ only in the numbering of interchangeable threads count as one.
    pub up_to_symmetry: bool,
}

impl Exact {
    /// The probability as an interval of floating-point numbers.
    pub fn as_interval(&self) -> Probability {
        Probability {
            interval: self.probability.interval(),
            obstacle: None,
            configurations: self.configurations,
            up_to_symmetry: self.up_to_symmetry,
            is_complete: true,
        }
    }
}

/// An exact answer, or why there is none.
#[derive(Clone, PartialEq, Debug)]
pub enum ExactAnswer {
    /// The answer.
    Known(Exact),
    /// It cannot be computed exactly.
    Unknown(Obstacle),
}

impl ExactAnswer {
    /// The answer, if there is one.
    pub fn known(self) -> Option<Exact> {
        match self {
            Self::Known(exact) => Some(exact),
            Self::Unknown(_) => None,
        }
    }

    /// Why there is no answer, if there is none.
    pub fn obstacle(&self) -> Option<Obstacle> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(obstacle) => Some(*obstacle),
        }
    }
}

/// The exact probability, or why it cannot be computed.
///
/// # Errors
/// If the program is not supported, the settings are invalid, or an invariant of Weir is broken.
pub fn exact_probability(program: &Program, question: &Question, session: &Session) -> Result<ExactAnswer, Failure> {
    solve(program, &question.target, &question.settings, (question.repeated, false), session)
}

/// The exact expected cost, or why it cannot be computed.
///
/// # Errors
/// If the program is not supported, the settings are invalid, or an invariant of Weir is broken.
pub fn exact_cost(
    program: &Program,
    target: impl Into<Target>,
    settings: &Settings,
    session: &Session,
) -> Result<ExactAnswer, Failure> {
    solve(program, target, settings, (false, true), session)
}

fn solve(
    program: &Program,
    target: impl Into<Target>,
    settings: &Settings,
    (repeated, costly): (bool, bool),
    session: &Session,
) -> Result<ExactAnswer, Failure> {
    let session = &session.doing("prob: solving exactly");
    let model = Model::new(program, target, settings, session)?;
    // Costs and visits are those of single threads.
    let model = if costly { model } else { model.lumped() };
    let answer = with_chain(&model, Task { repeated, costly, session });
    model.fault()?;
    Ok(answer.map_or_else(ExactAnswer::Unknown, ExactAnswer::Known))
}

struct Task<'w> {
    repeated: bool,
    costly: bool,
    session: &'w Session,
}

impl Visitor for Task<'_> {
    type Output = Result<Exact, Obstacle>;

    fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
        let mut part = Part::new(chain, self.repeated);
        if let Some(limit) = part.begin_with(self.session.size_bound(Bound::ProbExactStates), self.session) {
            return Err(Obstacle::Limit(limit));
        }
        let classes = part.classifier.classes(&part.graph);
        let system = Equations::new(&part.graph, &classes, self.session)?;
        let chances = system.solve(|_, p, to| p * system.known(to), self.session)?;
        let value = |to: usize| chances[to].clone().unwrap_or_else(|| system.known(to));
        let probability = value(0);
        let costs = &chain.model.costs;
        let price = |edge: u32| if edge == NO_EDGE { 0 } else { costs[edge as usize] };
        let cost = if self.costly && probability != RBig::ZERO {
            let costs = system.solve(|edge, p, to| p * RBig::from(price(edge)) * value(to), self.session)?;
            Some(costs[0].clone().unwrap_or(RBig::ZERO) / &probability)
        } else {
            None
        };
        let (probability, cost) = (Rational::new(probability), cost.map(Rational::new));
        let up_to_symmetry = !chain.model.families.is_empty();
        Ok(Exact { probability, cost, configurations: part.graph.len(), up_to_symmetry })
    }
}

/// A transition with its exact probability: the edge, the probability, the target.
type Path = (u32, RBig, usize);

/// The equations of the open configurations, all of which must be expanded.
struct Equations<'r> {
    classes: &'r [Class],
    loops: Loops,
    rows: Vec<Vec<Path>>,
}

impl<'r> Equations<'r> {
    fn new<const N: usize>(
        graph: &Graph<'_, '_, N>,
        classes: &'r [Class],
        session: &Session,
    ) -> Result<Self, Obstacle> {
        let is_open = |number: usize| classes[number] == Class::Open;
        if (0..graph.len()).any(|number| is_open(number) && !graph.is_expanded(number)) {
            return Err(Obstacle::Fractions);
        }
        let loops = Loops::new(graph, classes);
        // Fractions grow with every step of the elimination.
        let largest = session.size_bound(Bound::ProbExactComponent);
        if loops.members.iter().any(|members| members.len() > largest) {
            return Err(Obstacle::Fractions);
        }
        let row = |number: usize| -> Option<Vec<Path>> {
            if !is_open(number) {
                return Some(Vec::new());
            }
            let moves = graph.chain.moves(graph.config(number)).ok()?;
            let way = |p: RBig, edge, to| Some((edge, p, graph.number_of(&to)?));
            let p = |numerator: u128, denominator: u128| RBig::from_parts(numerator.into(), denominator.into());
            moves.into_iter().map(|one| way(p(one.numerator, one.denominator), one.edge, one.to)).collect()
        };
        let rows: Option<Vec<Vec<Path>>> = (0..graph.len()).map(row).collect();
        Ok(Self { classes, loops, rows: rows.ok_or(Obstacle::Fractions)? })
    }

    /// The value of a settled configuration.
    fn known(&self, number: usize) -> RBig {
        if self.classes[number] == Class::Prob1 { RBig::ONE } else { RBig::ZERO }
    }

    /// Solves x = d + Px over open configurations, where `d` is what each way yields at once.
    fn solve(
        &self,
        yields: impl Fn(u32, RBig, usize) -> RBig,
        session: &Session,
    ) -> Result<Vec<Option<RBig>>, Obstacle> {
        let mut values: Vec<Option<RBig>> = vec![None; self.rows.len()];
        for members in self.loops.members.iter().rev() {
            if let Some(limit) = session.exceeded() {
                return Err(Obstacle::Limit(limit));
            }
            let place = |number: usize| members.iter().position(|&member| member as usize == number);
            let mut matrix = vec![vec![RBig::ZERO; members.len() + 1]; members.len()];
            for (row, &member) in matrix.iter_mut().zip(members) {
                for (edge, p, to) in &self.rows[member as usize] {
                    row[members.len()] += yields(*edge, p.clone(), *to);
                    match (&values[*to], place(*to)) {
                        (Some(value), _) => row[members.len()] += p * value,
                        (None, Some(at)) => row[at] -= p,
                        (None, None) => {}
                    }
                }
            }
            matrix.iter_mut().enumerate().for_each(|(at, row)| row[at] += RBig::ONE);
            for (value, &member) in eliminate(matrix, session)?.into_iter().zip(members) {
                values[member as usize] = Some(value);
            }
        }
        Ok(values)
    }
}

/// Gaussian elimination. The matrix is that of a system which almost surely ends, so no pivot is 0.
fn eliminate(mut matrix: Vec<Vec<RBig>>, session: &Session) -> Result<Vec<RBig>, Obstacle> {
    let count = matrix.len();
    for at in 0..count {
        if let Some(limit) = session.exceeded() {
            return Err(Obstacle::Limit(limit));
        }
        let mut pivot = std::mem::take(&mut matrix[at]);
        let scale = pivot[at].clone();
        if scale == RBig::ZERO {
            return Err(Obstacle::Fractions);
        }
        pivot[at..].iter_mut().filter(|value| **value != RBig::ZERO).for_each(|value| *value /= &scale);
        for row in matrix.iter_mut().filter(|row| !row.is_empty() && row[at] != RBig::ZERO) {
            let factor = row[at].clone();
            for column in (at..=count).filter(|&column| pivot[column] != RBig::ZERO) {
                row[column] -= &factor * &pivot[column];
            }
        }
        matrix[at] = pivot;
    }
    Ok(matrix.into_iter().map(|mut row| row.pop().unwrap_or(RBig::ZERO)).collect())
}

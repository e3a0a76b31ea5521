//! All configurations of a program, and all transitions of each.

use std::collections::BTreeMap;

use dashu_ratio::RBig;
use weir_ir::{Program, Property, PropertyKind, Span, StateExpr, ThreadId};

use super::super::Model;
use super::super::liveness::lost_in;
use super::super::state::State;
use super::relation::Relation;
use super::scheduler::schedule;
use super::target::meets;
use super::updates::update;
use super::{Odds, ThreadEdge};
use crate::hash::Map;

/// A transition.
#[derive(Clone, PartialEq, Debug)]
pub struct Move {
    /// The edge that is taken; none if no thread can step.
    pub edge: Option<ThreadEdge>,
    /// Which configuration follows.
    pub to: usize,
    /// How likely it is.
    pub p: RBig,
}

/// A configuration: a state, and who stepped last if the scheduler remembers.
type Config = (State, Option<ThreadId>);

/// The Markov chain of a program, with a target. Configuration 0 is the initial one.
#[derive(Clone, Debug)]
pub struct Chain {
    pub(super) program: Program,
    pub(super) configs: Vec<Config>,
    /// For each configuration, all transitions; their probabilities add up to 1.
    pub(super) rows: Vec<Vec<Move>>,
    pub(super) is_target: Vec<bool>,
    pub(super) relation: Relation,
}

impl Chain {
    /// None if there are more than `most` configurations, or too many stores wait in one of them.
    pub fn new(program: &Program, target: &StateExpr, odds: &Odds, most: usize) -> Option<Self> {
        let initial = (State::initial(program), None);
        let mut numbers: Map<Config, usize> = Map::from_iter([(initial.clone(), 0)]);
        let mut configs = vec![initial];
        let mut rows = Vec::new();
        while let Some((state, last)) = configs.get(rows.len()).cloned() {
            if configs.len() > most || waiting(&state) > MOST_WAITING {
                return None;
            }
            let mut row: BTreeMap<(Option<ThreadEdge>, usize), RBig> = BTreeMap::new();
            for scheduled in schedule(program, odds, &state, last) {
                let stepped = scheduled.edge.map(|(thread, _)| thread).or(last);
                let last = stepped.filter(|_| odds.stickiness != RBig::ONE);
                for (end, p) in update(program, &odds.updates, &scheduled.after) {
                    let config = (end, last);
                    let to = *numbers.entry(config.clone()).or_insert_with(|| {
                        configs.push(config);
                        configs.len() - 1
                    });
                    *row.entry((scheduled.edge, to)).or_insert(RBig::ZERO) += p * &scheduled.p;
                }
            }
            rows.push(row.into_iter().map(|((edge, to), p)| Move { edge, to, p }).collect());
        }
        let is_target = configs.iter().map(|(state, _)| meets(program, state, target)).collect();
        let next = |row: &Vec<Move>| row.iter().map(|one| one.to).collect::<Vec<usize>>();
        let relation = Relation::new(&rows.iter().map(next).collect::<Vec<_>>());
        Some(Self { program: program.clone(), configs, rows, is_target, relation })
    }

    /// The same chain, with another target.
    #[must_use]
    pub fn with_target(mut self, target: &StateExpr) -> Self {
        self.is_target = self.configs.iter().map(|(state, _)| meets(&self.program, state, target)).collect();
        self
    }

    /// The same chain, with the states as targets in which some thread is stuck: it can never again leave a wait or a
    /// loop, in any continuation of the program.
    #[must_use]
    pub fn with_stuck_target(mut self) -> Self {
        let stuck = Property { kind: PropertyKind::ForbidStuck, span: Span::default() };
        let program = Program { properties: vec![stuck], ..self.program.clone() };
        let is_stuck =
            |state: &State| lost_in(&program, Model::Tso, state, usize::MAX).is_some_and(|lost| !lost.is_empty());
        self.is_target = self.configs.iter().map(|(state, _)| is_stuck(state)).collect();
        self
    }

    /// How many configurations there are.
    pub fn size(&self) -> usize {
        self.rows.len()
    }

    /// All ways on from a configuration.
    pub fn row(&self, config: usize) -> &[Move] {
        &self.rows[config]
    }
}

/// With more stores than this on their way, there are too many sequences of flushes to list.
const MOST_WAITING: usize = 7;

fn waiting(state: &State) -> usize {
    state.threads.values().map(|thread| thread.buffer.len()).sum()
}

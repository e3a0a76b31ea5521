//! Numbers of copies in conditions: how many copies of a thread are at some places, of which there are arbitrarily many.

use std::collections::BTreeSet;

use weir_ir::{BinaryOp, Expr, LocId, Multiplicity, Program, StateAtom, StateExpr, ThreadId, UnaryOp, Value};

/// A number of copies: those of a thread at one of some locations.
pub(crate) type Count = (ThreadId, Vec<LocId>);

/// Numbers are distinguished up to this one.
const MOST_COUNTED: Value = 8;

/// More combinations of numbers than this are too many.
const MOST_WAYS: Value = 10_000;

/// More ways to have some numbers than this are too many.
pub(crate) const MOST_CHOICES: usize = 100_000;

/// Why a condition cannot be decided for all instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Obstacle {
    /// It computes with numbers of copies, or compares them with large or unknown ones.
    Arithmetic,
    /// There are too many ways to satisfy it.
    TooMany,
}

/// The numbers of copies that a condition mentions.
#[derive(Debug)]
pub(crate) struct Counts {
    list: Vec<Count>,
    /// Numbers from this one on satisfy the same comparisons.
    enough: Value,
}

impl Counts {
    pub(crate) fn of(program: &Program, condition: &StateExpr) -> Result<Self, Obstacle> {
        let mut counts = Self { list: Vec::new(), enough: 1 };
        counts.read(program, condition, true)?;
        counts.list.sort_unstable();
        counts.list.dedup();
        match (counts.enough + 1).checked_pow(counts.list.len() as u32) {
            Some(ways) if ways <= MOST_WAYS => Ok(counts),
            _ => Err(Obstacle::TooMany),
        }
    }

    /// Collects the numbers of copies. Each must be compared with a constant, or taken for a truth value.
    fn read(&mut self, program: &Program, expr: &StateExpr, is_truth_value: bool) -> Result<(), Obstacle> {
        match expr {
            Expr::Leaf(atom) => match count(program, atom) {
                Some(count) if is_truth_value => self.list.push(count),
                Some(_) => return Err(Obstacle::Arithmetic),
                None => {}
            },
            Expr::Const(_) => {}
            Expr::Unary(op, operand) => self.read(program, operand, *op == UnaryOp::Not)?,
            Expr::Binary(op, left, right) => {
                use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
                let is_comparison = matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual);
                match (&**left, &**right) {
                    (Expr::Leaf(atom), Expr::Const(bound)) | (Expr::Const(bound), Expr::Leaf(atom))
                        if is_comparison && count(program, atom).is_some() =>
                    {
                        self.list.extend(count(program, atom));
                        if *bound >= MOST_COUNTED {
                            return Err(Obstacle::Arithmetic);
                        }
                        self.enough = self.enough.max(bound.saturating_add(1));
                    }
                    _ => {
                        let is_logical = matches!(op, BinaryOp::And | BinaryOp::Or);
                        self.read(program, left, is_logical)?;
                        self.read(program, right, is_logical)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What an atom is with these numbers, if it is one of them.
    pub(crate) fn number(&self, program: &Program, atom: &StateAtom, numbers: &[Value]) -> Option<Value> {
        let count = count(program, atom)?;
        Some(self.list.iter().position(|other| *other == count).map_or(0, |at| numbers[at]))
    }

    /// The minimal numbers of copies with which something holds.
    ///
    /// If more copies can make it false again, these are the minimal numbers of the least upward-closed set around those
    /// with which it holds.
    pub(crate) fn minimal_numbers(&self, holds: impl Fn(&[Value]) -> bool) -> Vec<Vec<Value>> {
        let mut minimal: Vec<Vec<Value>> = Vec::new();
        for numbers in self.all_numbers() {
            let is_above = |least: &Vec<Value>| least.iter().zip(&numbers).all(|(least, number)| least <= number);
            if !minimal.iter().any(is_above) && holds(&numbers) {
                minimal.retain(|other| !numbers.iter().zip(other).all(|(least, number)| least <= number));
                minimal.push(numbers);
            }
        }
        minimal
    }

    /// All numbers that can be told apart, small ones first.
    pub(crate) fn all_numbers(&self) -> impl Iterator<Item = Vec<Value>> {
        let enough = self.enough;
        std::iter::successors(Some(vec![0; self.list.len()]), move |numbers: &Vec<Value>| {
            let at = numbers.iter().position(|&number| number < enough)?;
            let mut next = numbers.clone();
            next[at] += 1;
            next[..at].fill(0);
            Some(next)
        })
    }

    /// The minimal ways to have these numbers of copies, by the states of copies, ascending. `is_at` says whether a copy
    /// in this state is one of the thread at one of the locations.
    pub(crate) fn choices<L: Copy + Ord>(
        &self,
        numbers: &[Value],
        states: &[L],
        is_at: impl Fn(L, ThreadId, &[LocId]) -> bool,
    ) -> Result<BTreeSet<Vec<L>>, Obstacle> {
        let counts = |(thread, locations): &Count, state: L| is_at(state, *thread, locations);
        let (mut complete, mut partial) = (BTreeSet::new(), BTreeSet::from([Vec::new()]));
        while let Some(copies) = partial.pop_first() {
            let missing = self.list.iter().zip(numbers).find(|(count, number)| {
                (copies.iter().filter(|&&state| counts(count, state)).count() as Value) < **number
            });
            let Some((missing, _)) = missing else {
                complete.insert(copies);
                continue;
            };
            for &state in states.iter().filter(|&&state| counts(missing, state)) {
                let mut more: Vec<L> = copies.clone();
                more.insert(more.partition_point(|&other| other < state), state);
                partial.insert(more);
            }
            if partial.len() + complete.len() > MOST_CHOICES {
                return Err(Obstacle::TooMany);
            }
        }
        Ok(complete)
    }
}

/// The number of copies that an atom stands for, if it does.
fn count(program: &Program, atom: &StateAtom) -> Option<Count> {
    match atom {
        StateAtom::At { thread, locations } if program.thread(*thread).multiplicity == Multiplicity::Arbitrary => {
            Some((*thread, locations.clone()))
        }
        _ => None,
    }
}

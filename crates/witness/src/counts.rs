//! Conditions that speak of numbers of copies.

use std::collections::BTreeSet;

use weir_ir::{BinaryOp, Expr, LocId, Multiplicity, Program, StateAtom, StateExpr, ThreadId, UnaryOp, Value};

use crate::limits::{MOST_CASES, MOST_COUNTED};

/// Why a proof cannot speak about the numbers of copies in a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Uncountable {
    /// It computes with them.
    Arithmetic,
    /// There are too many combinations.
    TooMany,
}

/// A number of copies of a thread, at some places.
pub(crate) type Count = (ThreadId, Vec<LocId>);

/// What a condition says about numbers of copies: it compares each with a constant, or asks whether it is 0.
pub(crate) struct Counts {
    counts: BTreeSet<Count>,
    /// No comparison tells numbers apart that are at least this large.
    enough: Value,
}

impl Counts {
    pub(crate) fn of(program: &Program, condition: &StateExpr) -> Result<Self, Uncountable> {
        let mut counts = Self { counts: BTreeSet::new(), enough: 1 };
        // A part of the condition, and whether only its being 0 matters.
        let mut open = vec![(condition, true)];
        while let Some((part, is_truth)) = open.pop() {
            match part {
                Expr::Const(_) => {}
                Expr::Leaf(atom) => match count(program, atom) {
                    Some(count) if is_truth => counts.insert(count, 0)?,
                    Some(_) => return Err(Uncountable::Arithmetic),
                    None => {}
                },
                Expr::Unary(op, operand) => open.push((operand, *op == UnaryOp::Not)),
                Expr::Binary(op, left, right) => match (compared(program, left, right), compared(program, right, left))
                {
                    (Some((count, bound)), _) | (_, Some((count, bound))) if compares(*op) => {
                        counts.insert(count, bound)?;
                    }
                    _ => {
                        let is_truth = matches!(op, BinaryOp::And | BinaryOp::Or);
                        open.extend([(&**left, is_truth), (&**right, is_truth)]);
                    }
                },
            }
        }
        Ok(counts)
    }

    fn insert(&mut self, count: Count, bound: Value) -> Result<(), Uncountable> {
        if bound >= MOST_COUNTED {
            return Err(Uncountable::Arithmetic);
        }
        self.counts.insert(count);
        self.enough = self.enough.max(bound.saturating_add(1));
        Ok(())
    }

    /// All combinations of numbers that comparisons tell apart.
    pub(crate) fn numbers(&self) -> Result<Vec<Vec<Value>>, Uncountable> {
        let mut all: Vec<Vec<Value>> = vec![Vec::new()];
        for _ in &self.counts {
            let with = |numbers: &Vec<Value>| {
                let numbers = numbers.clone();
                (0..=self.enough).map(move |next| [&numbers[..], &[next]].concat())
            };
            all = all.iter().flat_map(with).collect();
            if all.len() > MOST_CASES / 1_000 {
                return Err(Uncountable::TooMany);
            }
        }
        Ok(all)
    }

    /// The condition with these numbers.
    pub(crate) fn fixed(&self, program: &Program, condition: &StateExpr, numbers: &[Value]) -> StateExpr {
        condition.map(&mut |atom| {
            let number = count(program, atom).and_then(|count| {
                self.counts.iter().zip(numbers).find(|(other, _)| **other == count).map(|(_, number)| *number)
            });
            number.map_or_else(|| Expr::Leaf(atom.clone()), Expr::Const)
        })
    }

    /// Sets of copies such that at least one of them is among any copies with these numbers. A copy is one of `kinds`:
    /// a thread, and the places where it may be.
    pub(crate) fn choices(&self, numbers: &[Value], kinds: &[Count]) -> Result<BTreeSet<Vec<usize>>, Uncountable> {
        let fits = |(thread, locations): &Count, kind: usize| {
            let (own, at) = &kinds[kind];
            own == thread && at.iter().any(|location| locations.contains(location))
        };
        let mut all = BTreeSet::from([Vec::new()]);
        for (count, &number) in self.counts.iter().zip(numbers) {
            let mut next = BTreeSet::new();
            while let Some(copies) = all.pop_first() {
                if copies.iter().filter(|&&kind| fits(count, kind)).count() as Value >= number {
                    next.insert(copies);
                    continue;
                }
                for kind in (0..kinds.len()).filter(|&kind| fits(count, kind)) {
                    let mut more = copies.clone();
                    more.push(kind);
                    more.sort_unstable();
                    all.insert(more);
                }
                if all.len() + next.len() > MOST_CASES / 100 {
                    return Err(Uncountable::TooMany);
                }
            }
            all = next;
        }
        Ok(all)
    }
}

fn compares(op: BinaryOp) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
}

/// A number of copies that is compared with a constant.
fn compared(program: &Program, left: &StateExpr, right: &StateExpr) -> Option<(Count, Value)> {
    match (left, right) {
        (Expr::Leaf(atom), Expr::Const(bound)) => Some((count(program, atom)?, *bound)),
        _ => None,
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

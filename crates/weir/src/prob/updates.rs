//! What one update step makes of a state: every outcome with its share, in whole numbers.
//!
//! The paper's policy ("Probabilistic Total Store Ordering", §4.3) takes every sequence of flushes as equally likely. The sequences
//! that lead to one state are counted level by level: those of length n + 1 are those of length n with one flush more.

use crate::semantics::machine::{Machine, MemoryModel};
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;

use super::settings::{Fraction, UpdatePolicy};

/// The outcomes of an update: state and share. The shares add up to `total`.
pub(super) struct Outcomes<const N: usize> {
    pub(super) list: Vec<(Packed<N>, u128)>,
    pub(super) total: u128,
}

/// All outcomes of an update step; `None` if the numbers become too large.
pub(super) fn outcomes<const N: usize>(
    machine: &Machine,
    policy: UpdatePolicy,
    from: &Packed<N>,
) -> Option<Outcomes<N>> {
    match policy {
        UpdatePolicy::Uniform => uniform(machine, from),
        UpdatePolicy::Geometric(p) => geometric(machine, p, from),
        UpdatePolicy::Single => single(machine, from),
    }
}

/// The states one flush away, at most one for each thread.
fn flushed<const N: usize>(machine: &Machine, from: &Packed<N>) -> Vec<Packed<N>> {
    let mut next = Vec::new();
    Tso::flushes(machine, from, &mut |_, state| {
        next.push(state);
        true
    });
    next
}

/// Adds to the share of a state among those from `start` on.
fn add<const N: usize>(list: &mut Vec<(Packed<N>, u128)>, start: usize, state: Packed<N>, share: u128) -> Option<()> {
    match list[start..].iter_mut().find(|(known, _)| *known == state) {
        Some((_, known)) => *known = known.checked_add(share)?,
        None => list.push((state, share)),
    }
    Some(())
}

fn uniform<const N: usize>(machine: &Machine, from: &Packed<N>) -> Option<Outcomes<N>> {
    let mut list = vec![(*from, 1_u128)];
    let (mut at, mut end) = (0, 1);
    while at < end {
        for position in at..end {
            let (state, count) = list[position];
            for next in flushed(machine, &state) {
                add(&mut list, end, next, count)?;
            }
        }
        (at, end) = (end, list.len());
    }
    let total = list.iter().try_fold(0_u128, |sum, &(_, count)| sum.checked_add(count))?;
    Some(Outcomes { list, total })
}

/// Shares at depth d are numbers over (q·l)^d, where p = n/q and l is a multiple of every possible number of buffers.
fn geometric<const N: usize>(machine: &Machine, p: Fraction, from: &Packed<N>) -> Option<Outcomes<N>> {
    let buffers = machine.layout.buffers.iter().flatten().count() as u128;
    let common = (1..=buffers.max(1)).try_fold(1_u128, lcm)?;
    let unit = common.checked_mul(u128::from(p.denominator))?;
    let stops = common.checked_mul(u128::from(p.denominator - p.numerator))?;
    let mut mass = vec![(*from, 1_u128)];
    let mut depths = vec![0_u32];
    let mut has_ended = Vec::new();
    let (mut at, mut end, mut depth) = (0, 1, 0);
    while at < end {
        depth += 1;
        for position in at..end {
            let (state, share) = mass[position];
            let next = flushed(machine, &state);
            has_ended.push(next.is_empty());
            let each = share.checked_mul(u128::from(p.numerator))?.checked_mul(common / (next.len() as u128).max(1))?;
            for state in next {
                add(&mut mass, end, state, each)?;
            }
        }
        (at, end) = (end, mass.len());
        depths.resize(end, depth);
    }
    let deepest = depths.last().copied().unwrap_or(0) + 1;
    let total = unit.checked_pow(deepest)?;
    let mut list = Vec::with_capacity(mass.len());
    for (((state, share), depth), has_ended) in mass.into_iter().zip(depths).zip(has_ended) {
        let (here, left) = if has_ended { (1, deepest - depth) } else { (stops, deepest - depth - 1) };
        list.push((state, share.checked_mul(here)?.checked_mul(unit.checked_pow(left)?)?));
    }
    Some(Outcomes { list, total })
}

fn single<const N: usize>(machine: &Machine, from: &Packed<N>) -> Option<Outcomes<N>> {
    let lengths: Vec<(usize, u128)> = (machine.layout.buffers.iter().enumerate())
        .filter_map(|(thread, field)| Some((thread, from.raw((*field)?))))
        .filter(|&(thread, _)| !machine.locked_out(from, thread))
        .map(|(thread, number)| (thread, machine.buffers.entries(number).count() as u128))
        .filter(|&(_, length)| length > 0)
        .collect();
    let all: u128 = lengths.iter().map(|&(_, length)| length).sum();
    if all == 0 {
        return Some(Outcomes { list: vec![(*from, 1)], total: 1 });
    }
    let common = lengths.iter().try_fold(1_u128, |common, &(_, length)| lcm(common, length + 1))?;
    let mut list = Vec::new();
    for (thread, length) in lengths {
        let share = length.checked_mul(common / (length + 1))?;
        let mut state = *from;
        for left in (0..=length).rev() {
            add(&mut list, 0, state, share)?;
            if left > 0 {
                state = flush_of(machine, &state, thread)?;
            }
        }
    }
    Some(Outcomes { list, total: all.checked_mul(common)? })
}

fn flush_of<const N: usize>(machine: &Machine, from: &Packed<N>, thread: usize) -> Option<Packed<N>> {
    let mut found = None;
    Tso::flushes(machine, from, &mut |step, state| {
        if step.number - machine.edge_count == thread as u32 {
            found = Some(state);
        }
        true
    });
    found
}

fn lcm(left: u128, right: u128) -> Option<u128> {
    let (mut a, mut b) = (left, right);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (left / a).checked_mul(right)
}

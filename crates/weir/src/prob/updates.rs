//! What one update step makes of a state: every outcome with its share, in whole numbers.
//!
//! The paper's policy ("Probabilistic Total Store Ordering", §4.3) takes every sequence of flushes as equally likely.
//! The sequences that lead to one state are counted level by level: those of length n + 1 are those of length n with
//! one flush more.

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

#[cfg(test)]
mod tests {
    use dashu_ratio::RBig;

    use super::*;
    use crate::prob::chain::{Chain, Visitor, with_chain};
    use crate::prob::settings::Settings;
    use crate::prob::testing::model;

    /// Buffers of these lengths, in which no two stores are equal, and what an update makes of them: how likely each
    /// row of lengths is.
    struct After<'a> {
        lengths: &'a [usize],
        policy: UpdatePolicy,
    }

    impl Visitor for After<'_> {
        type Output = Option<Vec<(Vec<usize>, RBig)>>;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> Self::Output {
            let mut state = chain.initial().state;
            for (thread, &length) in self.lengths.iter().enumerate() {
                for _ in 0..length {
                    let choices = chain.choices(&state).expect("few");
                    state = choices.into_iter().find(|choice| choice.thread == thread).expect("one more store").state;
                }
            }
            let machine = &chain.model.compiled.machine;
            let Outcomes { list, total } = outcomes(machine, self.policy, &state)?;
            let lengths = |state: &Packed<N>| {
                let numbers = machine.layout.buffers.iter().flatten().map(|&field| state.raw(field));
                numbers.map(|number| machine.buffers.entries(number).count()).collect::<Vec<usize>>()
            };
            let sum: u128 = list.iter().map(|&(_, share)| share).sum();
            assert_eq!(sum, total, "the shares make up the whole");
            let p = |share: u128| RBig::from_parts(share.into(), total.into());
            Some(list.iter().map(|(state, share)| (lengths(state), p(*share))).collect())
        }
    }

    fn after(lengths: &[usize], policy: UpdatePolicy) -> Option<Vec<(Vec<usize>, RBig)>> {
        let threads = (0..lengths.len()).map(|number| {
            let stores: String = (0..60).map(|value| format!("x{number} = {value};")).collect();
            format!("shared x{number}; thread T{number} {{ {stores} }}")
        });
        let text = threads.collect::<String>() + "forbid x0 == 99;";
        with_chain(&model(&text, &Settings::default()), After { lengths, policy })
    }

    /// How likely each end is if `ways` lists every way an update can go.
    fn added_up(ways: Vec<(Vec<usize>, RBig)>) -> Vec<(Vec<usize>, RBig)> {
        let mut all = std::collections::BTreeMap::new();
        for (end, p) in ways {
            *all.entry(end).or_insert(RBig::ZERO) += p;
        }
        all.into_iter().collect()
    }

    /// Every sequence of flushes: where it ends.
    fn sequences(lengths: &[usize], ends: &mut Vec<Vec<usize>>) {
        ends.push(lengths.to_vec());
        for at in (0..lengths.len()).filter(|&at| lengths[at] > 0) {
            let mut shorter = lengths.to_vec();
            shorter[at] -= 1;
            sequences(&shorter, ends);
        }
    }

    fn repeated(lengths: &[usize], p: &RBig, share: RBig, ways: &mut Vec<(Vec<usize>, RBig)>) {
        let able: Vec<usize> = (0..lengths.len()).filter(|&at| lengths[at] > 0).collect();
        if able.is_empty() {
            ways.push((lengths.to_vec(), share));
            return;
        }
        ways.push((lengths.to_vec(), &share * (RBig::ONE - p)));
        for &at in &able {
            let mut shorter = lengths.to_vec();
            shorter[at] -= 1;
            repeated(&shorter, p, &share * p / RBig::from(able.len()), ways);
        }
    }

    const BUFFERS: [&[usize]; 10] =
        [&[0, 0], &[1, 0], &[3, 0], &[1, 1], &[2, 1], &[1, 3], &[2, 2], &[1, 1, 1], &[2, 0, 1], &[3, 1, 2]];

    #[test]
    fn uniform_updates_are_those_of_all_sequences() {
        for lengths in BUFFERS {
            let mut ends = Vec::new();
            sequences(lengths, &mut ends);
            let each = RBig::ONE / RBig::from(ends.len());
            let wanted = added_up(ends.into_iter().map(|end| (end, each.clone())).collect());
            assert_eq!(added_up(after(lengths, UpdatePolicy::Uniform).expect("small numbers")), wanted, "{lengths:?}");
        }
    }

    #[test]
    fn geometric_updates_are_those_of_their_definition() {
        for (numerator, denominator) in [(3, 4), (5, 7), (9, 10)] {
            let p = RBig::from(numerator) / RBig::from(denominator);
            let policy = UpdatePolicy::Geometric(Fraction { numerator, denominator });
            for lengths in BUFFERS {
                let mut ways = Vec::new();
                repeated(lengths, &p, RBig::ONE, &mut ways);
                assert_eq!(added_up(after(lengths, policy).expect("small numbers")), added_up(ways), "{lengths:?}");
            }
        }
    }

    #[test]
    fn single_updates_are_those_of_their_definition() {
        for lengths in BUFFERS {
            let total: usize = lengths.iter().sum();
            let mut ways = if total == 0 { vec![(lengths.to_vec(), RBig::ONE)] } else { Vec::new() };
            for at in 0..lengths.len() {
                for left in (0..=lengths[at]).filter(|_| lengths[at] > 0) {
                    let mut shorter = lengths.to_vec();
                    shorter[at] = left;
                    ways.push((shorter, RBig::from(lengths[at]) / RBig::from(total * (lengths[at] + 1))));
                }
            }
            assert_eq!(added_up(after(lengths, UpdatePolicy::Single).expect("small numbers")), added_up(ways));
        }
    }

    #[test]
    fn numbers_that_are_too_large_are_no_numbers() {
        let fine = UpdatePolicy::Geometric(Fraction { numerator: 999_999_999, denominator: 1_000_000_000 });
        assert!(after(&[2, 0], fine).is_some());
        assert!(after(&[5, 0], fine).is_none());
        // Two buffers of n stores have more than 4^n sequences.
        assert!(after(&[20, 20], UpdatePolicy::Uniform).is_some());
    }

    #[test]
    fn multiples_are_least() {
        assert_eq!((lcm(4, 6), lcm(1, 7), lcm(5, 5), lcm(3, 8)), (Some(12), Some(7), Some(5), Some(24)));
        assert_eq!(lcm(u128::MAX, 2), None);
    }
}

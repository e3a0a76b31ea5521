//! One random step after the other.

use rustc_hash::FxHashMap;

use crate::semantics::StepCode;
use crate::semantics::machine::MemoryModel;
use crate::semantics::state::Packed;
use crate::semantics::tso::Tso;

use super::chain::{Chain, Choice, Config};
use super::model::NO_EDGE;
use super::rng::Rng;
use super::settings::UpdatePolicy;

/// Draws steps of a chain.
pub(super) struct Sampler<'c, 'a, const N: usize> {
    chain: &'c Chain<'a, N>,
    pub(super) rng: Rng,
    /// For lengths of buffers, in ascending order, how many sequences of flushes there are.
    counts: FxHashMap<Vec<u32>, u128>,
}

/// What became of one step of the chain.
pub(super) enum Drawn<const N: usize> {
    /// This edge was taken.
    Step(u32, Config<N>),
    /// Nothing can ever happen again.
    DeadEnd,
    /// More choices or larger numbers than can be handled.
    TooLarge,
}

impl<'c, 'a, const N: usize> Sampler<'c, 'a, N> {
    pub(super) fn new(chain: &'c Chain<'a, N>, rng: Rng) -> Self {
        Self { chain, rng, counts: FxHashMap::default() }
    }

    /// One step of the chain. Everything that happens is also told to `record`, in order.
    pub(super) fn step(&mut self, from: &Config<N>, record: &mut impl FnMut(StepCode)) -> Drawn<N> {
        let Some(choices) = self.chain.choices(&from.state) else { return Drawn::TooLarge };
        let (edge, last, state) = if choices.is_empty() {
            if self.flushes(&from.state).is_empty() {
                return Drawn::DeadEnd;
            }
            (NO_EDGE, from.last, from.state)
        } else {
            let Choice { thread, step, state } = self.schedule(&choices, from.last);
            record(step);
            (step.number, self.chain.remembered(thread), state)
        };
        match self.update(state, record) {
            Some(state) => Drawn::Step(edge, Config { state, last }),
            None => Drawn::TooLarge,
        }
    }

    fn schedule(&mut self, choices: &[Choice<N>], last: u32) -> Choice<N> {
        let threads: Vec<&[Choice<N>]> = choices.chunk_by(|left, right| left.thread == right.thread).collect();
        let weight = |of: &[Choice<N>]| self.chain.weight(of[0].thread, last);
        let total = threads.iter().map(|of| weight(of)).sum();
        let mut drawn = self.rng.below(total);
        let mut chosen = threads[0];
        for of in &threads {
            let weight = self.chain.weight(of[0].thread, last);
            chosen = of;
            if drawn < weight {
                break;
            }
            drawn -= weight;
        }
        let edges: Vec<&[Choice<N>]> = chosen.chunk_by(|left, right| left.step.number == right.step.number).collect();
        let edge = edges[self.rng.below(edges.len() as u128) as usize];
        edge[self.rng.below(edge.len() as u128) as usize]
    }

    fn flushes(&self, state: &Packed<N>) -> Vec<(StepCode, Packed<N>)> {
        let mut next = Vec::new();
        Tso::flushes(&self.chain.model.compiled.machine, state, &mut |step, state| {
            next.push((step, state));
            true
        });
        next
    }

    fn update(&mut self, mut state: Packed<N>, record: &mut impl FnMut(StepCode)) -> Option<Packed<N>> {
        let policy = self.chain.model.settings.updates;
        if policy == UpdatePolicy::Single {
            return Some(self.update_one(state, record));
        }
        loop {
            let flushes = self.flushes(&state);
            let Some(at) = self.next_flush(policy, &state, &flushes)? else { return Some(state) };
            record(flushes[at].0);
            state = flushes[at].1;
        }
    }

    /// Which flush comes next, if any. The outer `None`: the numbers are too large.
    fn next_flush(
        &mut self,
        policy: UpdatePolicy,
        state: &Packed<N>,
        flushes: &[(StepCode, Packed<N>)],
    ) -> Option<Option<usize>> {
        if flushes.is_empty() {
            return Some(None);
        }
        if let UpdatePolicy::Geometric(p) = policy {
            let goes_on = self.rng.below(u128::from(p.denominator)) < u128::from(p.numerator);
            return Some(goes_on.then(|| self.rng.below(flushes.len() as u128) as usize));
        }
        // Of all sequences, one stops here; the others begin with one of these flushes.
        let lengths: Vec<u32> = flushes.iter().map(|&(step, _)| self.length(state, step)).collect();
        let total = self.sequences(&lengths)?;
        let mut drawn = self.rng.below(total);
        if drawn == 0 {
            return Some(None);
        }
        drawn -= 1;
        for at in 0..flushes.len() {
            let mut shorter = lengths.clone();
            shorter[at] -= 1;
            let count = self.sequences(&shorter)?;
            if drawn < count {
                return Some(Some(at));
            }
            drawn -= count;
        }
        None
    }

    fn length(&self, state: &Packed<N>, flush: StepCode) -> u32 {
        let machine = &self.chain.model.compiled.machine;
        let thread = (flush.number - machine.edge_count) as usize;
        machine.layout.buffers[thread].map_or(0, |field| machine.buffers.entries(state.raw(field)).count() as u32)
    }

    /// How many sequences of flushes there are for buffers of these lengths: the empty one, and for each buffer those
    /// that begin with it.
    fn sequences(&mut self, lengths: &[u32]) -> Option<u128> {
        let mut key: Vec<u32> = lengths.iter().copied().filter(|&length| length > 0).collect();
        key.sort_unstable();
        match key[..] {
            [] => return Some(1),
            [length] => return Some(u128::from(length) + 1),
            _ => {}
        }
        if let Some(&known) = self.counts.get(&key) {
            return Some(known);
        }
        // Shorter ones first, so that nothing is nested deeply.
        let mut open = vec![key.clone()];
        while let Some(lengths) = open.last().cloned() {
            let mut sum = Some(1_u128);
            let mut missing = Vec::new();
            for at in 0..lengths.len() {
                let mut shorter = lengths.clone();
                shorter[at] -= 1;
                shorter.retain(|&length| length > 0);
                shorter.sort_unstable();
                let count = match shorter[..] {
                    [length] => Some(u128::from(length) + 1),
                    _ => self.counts.get(&shorter).copied(),
                };
                match count {
                    Some(count) => sum = sum.and_then(|sum| sum.checked_add(count)),
                    None => missing.push(shorter),
                }
            }
            if missing.is_empty() {
                self.counts.insert(lengths, sum?);
                open.pop();
            } else {
                open.extend(missing);
            }
        }
        self.counts.get(&key).copied()
    }

    fn update_one(&mut self, mut state: Packed<N>, record: &mut impl FnMut(StepCode)) -> Packed<N> {
        let flushes = self.flushes(&state);
        let lengths: Vec<u128> = flushes.iter().map(|&(step, _)| u128::from(self.length(&state, step))).collect();
        let mut drawn = self.rng.below(lengths.iter().sum());
        for (&(step, _), &length) in flushes.iter().zip(&lengths) {
            if drawn >= length {
                drawn -= length;
                continue;
            }
            for _ in 0..self.rng.below(length + 1) {
                let next = self.flushes(&state).into_iter().find(|(other, _)| other.number == step.number);
                let Some((_, next)) = next else { break };
                record(step);
                state = next;
            }
            break;
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use weir_testkit::random::{self, Statement};

    use super::*;
    use crate::prob::chain::{Visitor, with_chain};
    use crate::prob::model::Model;
    use crate::prob::testing::{all_settings, model};

    /// Draws many steps from a configuration and compares how often each transition was drawn with its probability.
    fn compare<const N: usize>(
        chain: &Chain<'_, N>,
        from: &Config<N>,
        sampler: &mut Sampler<'_, '_, N>,
        context: &str,
    ) {
        const DRAWS: u32 = 1_500;
        let mut shares: FxHashMap<(u32, Config<N>), f64> = FxHashMap::default();
        for one in chain.moves(from).expect("few") {
            *shares.entry((one.edge, one.to)).or_default() += one.numerator as f64 / one.denominator as f64;
        }
        let mut drawn: FxHashMap<(u32, Config<N>), u32> = FxHashMap::default();
        for _ in 0..DRAWS {
            match sampler.step(from, &mut |_| {}) {
                Drawn::Step(edge, to) => *drawn.entry((edge, to)).or_default() += 1,
                Drawn::DeadEnd => {
                    assert_eq!(shares.len(), 1, "nothing else can happen: {context}");
                    assert!(shares.contains_key(&(NO_EDGE, *from)), "{context}");
                    return;
                }
                Drawn::TooLarge => panic!("{context}"),
            }
        }
        assert!(drawn.keys().all(|way| shares.contains_key(way)), "{context}");
        // Six standard deviations.
        for (way, p) in shares {
            let count = f64::from(drawn.get(&way).copied().unwrap_or(0));
            let mean = p * f64::from(DRAWS);
            let margin = 6.0 * (mean * (1.0 - p)).sqrt() + 1e-6;
            assert!((count - mean).abs() <= margin, "{count} instead of {mean}: {context}");
        }
    }

    /// Compares along a random run.
    struct Along<'a>(&'a str);

    impl Visitor for Along<'_> {
        type Output = usize;

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) -> usize {
            let mut sampler = Sampler::new(chain, Rng::of_run(5, 6));
            let mut at = chain.initial();
            for step in 0..7 {
                compare(chain, &at, &mut sampler, self.0);
                match sampler.step(&at, &mut |_| {}) {
                    Drawn::Step(_, next) => at = next,
                    _ => return step,
                }
            }
            7
        }
    }

    #[test]
    fn steps_are_drawn_as_likely_as_they_are() {
        let text = "shared x, y; thread P weight 3 { x = 1; x = 2; y = 1; x = 3; } thread Q { y = 2; y = 3; x = 4; }
            thread R weight 2 { let r; choose { r = any 0..2; } or { skip; } y = r; x = r; } forbid x == 9;";
        for settings in all_settings() {
            let steps = with_chain(&model(text, &settings), Along(text));
            assert_eq!(steps, 7, "{settings:?}");
        }
    }

    #[test]
    fn also_in_random_programs_with_locks() {
        let config = random::Config { threads: (2, 3), ..random::Config::locking() };
        let config = config.weighing(Statement::Store, 40);
        let mut steps = 0;
        for (seed, settings) in (0..27).zip(all_settings().into_iter().cycle()) {
            let program = random::program(seed, &config);
            let model = Model::new(&program, weir_ir::Expr::Const(0), &settings, &crate::session::Session::default())
                .expect("it can be handled");
            let context = format!("seed {seed} {settings:?}\n{}", weir_testkit::dump(&program));
            steps += with_chain(&model, Along(&context));
        }
        assert!(steps > 100, "{steps}");
    }

    /// Counts of sequences, for many lengths.
    struct Sequences;

    impl Visitor for Sequences {
        type Output = ();

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) {
            fn count(lengths: [u32; 3]) -> u128 {
                let shorter = (0..3).filter(|&at| lengths[at] > 0).map(|at| {
                    let mut shorter = lengths;
                    shorter[at] -= 1;
                    count(shorter)
                });
                1 + shorter.sum::<u128>()
            }
            let mut sampler = Sampler::new(chain, Rng::of_run(1, 1));
            for lengths in (0..64).map(|number: u32| [number & 3, number >> 2 & 3, number >> 4 & 3]) {
                assert_eq!(sampler.sequences(&lengths), Some(count(lengths)), "{lengths:?}");
            }
            assert_eq!(sampler.sequences(&[9]), Some(10));
            assert_eq!(sampler.sequences(&[200, 200]), None, "too large");
        }
    }

    #[test]
    fn sequences_are_counted() {
        with_chain(&model("shared x; thread P { x = 1; } forbid x == 9;", &Default::default()), Sequences);
    }
}

//! Random numbers: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). The same seed gives the same numbers
//! on every machine and with any number of workers.

/// A generator.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    /// The generator of one run: each run of a seed has its own.
    pub(super) fn of_run(seed: u64, run: u64) -> Self {
        let mut mixer = Self(seed);
        let base = mixer.bits();
        Self(base ^ Self(run.wrapping_mul(0xD134_2543_DE82_EF95)).bits())
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, all equally likely; 0 if `bound` is 0.
    pub(super) fn below(&mut self, bound: u128) -> u128 {
        if bound <= 1 {
            return 0;
        }
        // Numbers beyond the last multiple of the bound would make small ones likelier: they are drawn again.
        if let Ok(bound) = u64::try_from(bound) {
            let zone = u64::MAX - (u64::MAX - bound + 1) % bound;
            loop {
                let drawn = self.bits();
                if drawn <= zone {
                    return u128::from(drawn % bound);
                }
            }
        }
        let zone = u128::MAX - (u128::MAX - bound + 1) % bound;
        loop {
            let drawn = u128::from(self.bits()) << 64 | u128::from(self.bits());
            if drawn <= zone {
                return drawn % bound;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_turns_up_about_as_often() {
        let mut rng = Rng::of_run(1, 2);
        let mut counts = [0_u32; 5];
        for _ in 0..50_000 {
            counts[rng.below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
        let wide = 3 * (u128::from(u64::MAX) + 7);
        assert!((0..1_000).all(|_| rng.below(wide) < wide));
        assert_eq!((rng.below(0), rng.below(1)), (0, 0));
    }
}

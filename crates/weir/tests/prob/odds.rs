//! Odds, for the engine and for the naive chain.

use dashu_ratio::RBig;
use weir::prob::{Fraction, Settings, UpdatePolicy};
use weir_testkit::Rng;
use weir_testkit::chance::{Odds, Updates};

/// The same odds, told twice.
#[derive(Clone, Debug)]
pub(crate) struct BothOdds {
    pub(crate) stickiness: Option<(u64, u64)>,
    pub(crate) updates: Policy,
}

/// An update policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    Uniform,
    Geometric(u64, u64),
    Single,
}

pub(crate) const UNIFORM: BothOdds = BothOdds { stickiness: None, updates: Policy::Uniform };

impl BothOdds {
    pub(crate) fn settings(&self) -> Settings {
        let fraction = |(numerator, denominator)| Fraction { numerator, denominator };
        let updates = match self.updates {
            Policy::Uniform => UpdatePolicy::Uniform,
            Policy::Geometric(above, below) => UpdatePolicy::Geometric(fraction((above, below))),
            Policy::Single => UpdatePolicy::Single,
        };
        Settings { stickiness: self.stickiness.map(fraction), updates, ..Settings::default() }
    }

    pub(crate) fn naive(&self) -> Odds {
        let fraction = |(above, below): (u64, u64)| RBig::from(above) / RBig::from(below);
        let updates = match self.updates {
            Policy::Uniform => Updates::Uniform,
            Policy::Geometric(above, below) => Updates::Geometric(fraction((above, below))),
            Policy::Single => Updates::Single,
        };
        Odds { stickiness: self.stickiness.map_or(RBig::ONE, fraction), updates }
    }
}

/// Any odds.
pub(crate) fn odds(rng: &mut Rng) -> BothOdds {
    let factors = [(1, 3), (3, 1), (9, 1), (5, 2), (1, 9), (2, 1), (7, 3)];
    let stickiness = rng.chance(50).then(|| *rng.pick(&factors));
    let policies = [Policy::Uniform, Policy::Uniform, Policy::Single, Policy::Geometric(3, 4), Policy::Geometric(5, 7)];
    BothOdds { stickiness, updates: *rng.pick(&policies) }
}

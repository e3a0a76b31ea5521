//! A certified interval for a probability.
//!
//! Let p(c) be the probability from configuration c; so p = Pp on open configurations. For any numbers v on
//! expanded open configurations and the start s, let r = s + vP − v: what is there too much or too little. Then
//!
//! p(start) = s·p = (v − vP + r)·p = v·(p − Pp) + r·p = r·p, where vP also reaches settled and unexpanded
//! configurations.
//!
//! There p is 1, 0 or unknown in between. So p(start) is at least what v carries to Prob1 configurations less what is
//! missing elsewhere, and at most that plus what is left over elsewhere. This holds for all v, however they were found
//! and however infinite the chain is; only sums and products have to be rounded to the safe side.

use super::prob01::Class;
use super::rounding::{add_down, add_up, weighted_down, weighted_up};
use super::transitions::Transitions;
use super::visits::is_inner;

/// What given numbers of visits certify.
pub(super) struct Certificate {
    /// The probability is at least this.
    pub(super) lower: f64,
    /// The probability is at most this.
    pub(super) upper: f64,
    /// For each configuration what is left over there, at most; 0 for settled ones.
    pub(super) surplus: Vec<f64>,
    /// For each configuration what is missing there, at most; 0 for settled ones.
    pub(super) deficit: Vec<f64>,
}

/// What the numbers of visits certify from a start.
pub(super) fn certify(graph: &Transitions, classes: &[Class], start: &[(usize, f64)], visits: &[f64]) -> Certificate {
    let count = graph.len();
    let (mut low, mut high) = (vec![0.0_f64; count], vec![0.0_f64; count]);
    for &(number, mass) in start {
        low[number] = add_down(low[number], mass);
        high[number] = add_up(high[number], mass);
    }
    for number in (0..count).filter(|&number| is_inner(graph, classes, number) && visits[number] > 0.0) {
        for entry in graph.row(number) {
            let to = entry.to as usize;
            low[to] = add_down(low[to], weighted_down(visits[number], entry.p));
            high[to] = add_up(high[to], weighted_up(visits[number], entry.p));
        }
    }
    let (mut yes_low, mut yes_high) = (0.0, 0.0);
    let (mut left, mut missing) = (0.0, 0.0);
    let (mut surplus, mut deficit) = (vec![0.0; count], vec![0.0; count]);
    for number in 0..count {
        match classes[number] {
            Class::Prob0 => {}
            Class::Prob1 => {
                yes_low = add_down(yes_low, low[number]);
                yes_high = add_up(yes_high, high[number]);
            }
            Class::Open => {
                let visits = if is_inner(graph, classes, number) { visits[number] } else { 0.0 };
                surplus[number] = add_up(high[number], -visits).max(0.0);
                deficit[number] = add_up(visits, -low[number]).max(0.0);
                left = add_up(left, surplus[number]);
                missing = add_up(missing, deficit[number]);
            }
        }
    }
    let lower = add_down(yes_low, -missing).clamp(0.0, 1.0);
    let upper = add_up(yes_high, left).clamp(0.0, 1.0);
    Certificate { lower, upper, surplus, deficit }
}

#[cfg(test)]
mod tests {
    use dashu_ratio::RBig;
    use weir_testkit::Rng;

    use super::*;
    use crate::prob::chain::{Chain, Visitor, with_chain};
    use crate::prob::probability::Part;
    use crate::prob::settings::Settings;
    use crate::prob::testing::{iterate, model};
    use crate::session::Session;

    /// Guesses of every quality, over parts of the chain of every size.
    struct Guesses;

    impl Visitor for Guesses {
        type Output = ();

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) {
            let session = Session::default();
            let mut whole = Part::new(chain, false);
            assert!(whole.begin(&session).is_none());
            let classes = whole.classifier.classes(&whole.graph);
            let truth = iterate(&whole.graph, &classes, 0.0, |at| f64::from(u8::from(classes[at] == Class::Prob1)))[0];
            let mut rng = Rng::new(1);
            for few in [1, 3, 8, 1_000] {
                let mut part = Part::new(chain, false);
                let mut at = 0;
                while at < part.graph.len().min(few) {
                    part.graph.expand(at);
                    at += 1;
                }
                let classes = part.classifier.classes(&part.graph);
                let good = part.solve(&[(0, 1.0)], 1e-12, &session).visits;
                for noise in [0.0, 1e-6, 0.1, 3.0] {
                    let disturb = |visits: &f64| (visits + noise * (rng.below(2_001) as f64 / 1_000.0 - 1.0)).max(0.0);
                    let visits: Vec<f64> = good.iter().map(disturb).collect();
                    let found = certify(&part.graph, &classes, &[(0, 1.0)], &visits);
                    assert!(found.lower <= truth + 1e-12 && truth - 1e-12 <= found.upper, "{few} {noise} {truth}");
                    if few == 1_000 && noise == 0.0 {
                        assert!(found.upper - found.lower < 1e-9, "a good guess is certified");
                    }
                }
            }
        }
    }

    #[test]
    fn every_guess_certifies_what_is_true() {
        for text in [
            "shared x, y; thread P { x = 1; let r = y; } thread Q { y = 1; let s = x; }
                forbid P at end && P.r == 0 && Q at end && Q.s == 0;",
            "shared x; thread P { x = 1; } thread Q { let r = 0; while r == 0 { r = x; choose { skip; break; } or { skip; } } }
                forbid Q at end && Q.r == 1;",
        ] {
            with_chain(&model(text, &Settings::default()), Guesses);
        }
    }

    /// The exact sums for a guess.
    struct Residuals;

    impl Visitor for Residuals {
        type Output = ();

        fn visit<const N: usize>(self, chain: &Chain<'_, N>) {
            let session = Session::default();
            let mut part = Part::new(chain, false);
            assert!(part.begin(&session).is_none());
            let (graph, classes) = (&part.graph, part.classifier.classes(&part.graph));
            let mut rng = Rng::new(2);
            let visits: Vec<f64> = (0..graph.len()).map(|_| rng.below(1_000) as f64 / 500.0).collect();
            let start = [(0, 0.75), (1, 0.5), (1, 0.25)];
            let found = certify(graph, &classes, &start, &visits);
            let exact = |number: f64| RBig::try_from(number).expect("finite");
            for number in 0..graph.len() {
                let own = if is_inner(graph, &classes, number) { exact(visits[number]) } else { RBig::ZERO };
                let mut over = RBig::ZERO - own;
                start.iter().filter(|(at, _)| *at == number).for_each(|&(_, mass)| over += exact(mass));
                for from in (0..graph.len()).filter(|&from| is_inner(graph, &classes, from)) {
                    let ways = graph.row(from).iter().filter(|entry| entry.to as usize == number);
                    ways.for_each(|entry| over += exact(visits[from]) * exact(entry.p));
                }
                let (surplus, deficit) = (exact(found.surplus[number]), exact(found.deficit[number]));
                if classes[number] != Class::Open {
                    assert_eq!((surplus, deficit), (RBig::ZERO, RBig::ZERO));
                    continue;
                }
                assert!(over <= surplus && RBig::ZERO - &over <= deficit, "{number}");
                let near = exact(1e-12);
                let wider = |bound: RBig, value: RBig| bound <= near.clone() + value.max(RBig::ZERO);
                assert!(wider(surplus, over.clone()) && wider(deficit, RBig::ZERO - over), "{number}");
            }
        }
    }

    #[test]
    fn what_is_left_over_and_what_is_missing_add_up() {
        let text = "shared x; thread P { x = 1; } thread Q { let r = 0; while r == 0 { r = x; choose { skip; break; } or { skip; } } }
            forbid Q at end && Q.r == 1;";
        with_chain(&model(text, &Settings::default()), Residuals);
    }
}

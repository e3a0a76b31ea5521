//! On random costs and cores, compared with trying all sets.

use weir_ir::Uninterrupted;
use weir_testkit::Rng;

use super::*;

/// The cheapest set that hits all cores, by trying them all.
fn cheapest(costs: &[u64], cores: &[Choice]) -> Choice {
    let set = |bits: u32| (0..costs.len()).filter(|place| bits >> place & 1 == 1).collect::<Choice>();
    let sets = (0..1u32 << costs.len()).map(set).filter(|set| cores.iter().all(|core| !core.is_disjoint(set)));
    sets.min_by_key(|set| set.iter().map(|&place| costs[place]).sum::<u64>()).expect("all places hit all cores")
}

#[test]
fn the_optimum_is_proved_and_nothing_better() {
    let session = Session::default();
    let mut longest = 0;
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let places = rng.between(1, 9);
        let costs: Vec<u64> = (0..places).map(|_| rng.between(1, 4) as u64).collect();
        let core = |rng: &mut Rng| (0..rng.between(1, 3)).map(|_| rng.below(places)).collect::<Choice>();
        let cores: Vec<Choice> = (0..rng.between(0, 12)).map(|_| core(&mut rng)).collect();
        let chosen = cheapest(&costs, &cores);
        let bounds = cost_bounds(&costs, &cores, &chosen, 10_000, &session).expect("a proof");
        let mut counted = Choice::new();
        for bound in &bounds {
            let places =
                bound.check(&costs, &cores, &Uninterrupted).unwrap_or_else(|why| panic!("seed {seed}: {why:?}"));
            assert!(counted.is_disjoint(&places), "seed {seed}");
            counted.extend(places);
            longest = longest.max(bound.steps.len());
        }
        let cost = chosen.iter().map(|&place| costs[place]).sum::<u64>();
        assert_eq!(bounds.iter().map(|bound| bound.least).sum::<u64>(), cost, "seed {seed}");
        // A set that costs more is not proved to be the cheapest.
        if let Some(more) = (0..places).find(|place| !chosen.contains(place) && counted.contains(place)) {
            let dear = chosen.iter().copied().chain([more]).collect();
            assert_eq!(cost_bounds(&costs, &cores, &dear, 10_000, &session), Err(NoBound::Cheaper), "seed {seed}");
        }
        if bounds.iter().any(|bound| !bound.steps.is_empty()) {
            assert_eq!(cost_bounds(&costs, &cores, &chosen, 0, &session), Err(NoBound::TooLong), "seed {seed}");
        }
    }
    assert!(longest > 3, "{longest}");
}
